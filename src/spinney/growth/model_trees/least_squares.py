"""Linear models by least squares, from how terms and target vary together.

The sums of a :class:`~spinney.sources.base.Products` are enough for all that M5
does: the coefficients, the error on the rows behind the sums, and dropping terms.
As M5P does it, term by term:

- Terms are standardised, and the normal equations get a ridge of 1e-8, so that
  terms which say the same share their coefficient.
- While some standardised coefficient is above 1.5, the term of the greatest goes:
  so large a coefficient comes from terms that cancel each other.
- Then the term of the least standardised coefficient goes, again and again, as long
  as Akaike's score falls: SSE / SSE₀ · (n − p₀) + 2 p, where p counts terms and
  intercept and ₀ marks the model before dropping.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.ties import TOLERANCE
from spinney.sources import Products
from spinney.trees import LinearModel, Term

RIDGE = 1e-8
COLLINEAR = 1.5
# What rounding must not decide: squared errors below this share of the target's
# spread are none, and standardised coefficients this close are equal, as are the
# errors of a leaf and of the branches below it. With the ridge, equations of terms
# that say the same lose eight digits of sixteen.
ROUNDING = 1e-12
CLOSE = 1e-7


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model and its squared error, summed over the weight of its rows."""

    model: LinearModel
    squared_error: float

    @property
    def n_parameters(self) -> int:
        """How many coefficients there are, with the intercept."""
        return len(self.model.terms) + 1


def fitted(products: Products, terms: Sequence[Term], *, origin: float) -> Fitted:
    """Fit a model of these terms, and drop those that do not pay.

    Examples
    --------
    >>> x, y = np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0])
    >>> lines = np.stack([x - 1, y - 3])
    >>> products = Products(np.array([3.0]), np.array([[0.0, 3.0]]),
    ...                     np.array([lines @ lines.T]))
    >>> line = fitted(products, [Term(0, None, 1.0)], origin=0.0).model
    >>> round(line.intercept, 6), round(line.coefficients[0], 6)
    (1.0, 2.0)
    """
    regression = _Regression(products)
    selected = regression.varying()
    while selected:
        slopes = regression.slopes(selected)
        largest = _first_greatest(np.abs(slopes))
        if abs(slopes[largest]) <= COLLINEAR + CLOSE:
            break
        del selected[largest]
    selected = _paying(regression, selected)
    coefficients = regression.coefficients(selected)
    centres = np.array([terms[index].centre for index in selected])
    means = regression.means[selected] + centres
    intercept = float(regression.means[-1] + origin - coefficients @ means)
    model = LinearModel(
        intercept,
        tuple(terms[index] for index in selected),
        tuple(coefficients.tolist()),
    )
    return Fitted(model, regression.squared_error(selected))


def _paying(regression: "_Regression", selected: list[int]) -> list[int]:
    """Return the terms that are left when Akaike's score falls no further."""
    weight, n_full = regression.weight, len(selected) + 1
    none = ROUNDING * regression.spread
    full = max(regression.squared_error(selected), none)
    score = weight + n_full
    while selected:
        smallest = _first_greatest(-np.abs(regression.slopes(selected)))
        fewer = selected[:smallest] + selected[smallest + 1 :]
        error = max(regression.squared_error(fewer), none)
        later = error / full * (weight - n_full) + 2 * (len(fewer) + 1)
        if not later < score - CLOSE:
            break
        selected, score = fewer, later
    return selected


def _first_greatest(numbers: Floats) -> int:
    """Return the first index whose number is the greatest, or close to it."""
    return int(np.argmax(numbers >= numbers.max() - CLOSE))


class _Regression:
    """The normal equations of standardised terms, for any choice of them."""

    def __init__(self, products: Products) -> None:
        self.weight = float(products.weights[0])
        self.means, self.spreads = products.means[0], products.spreads[0]
        self.spread = float(self.spreads[-1, -1])
        freedom = max(self.weight - 1, TOLERANCE)
        with np.errstate(over="ignore", invalid="ignore"):
            self.deviations = np.sqrt(np.diag(self.spreads) / freedom)

    def varying(self) -> list[int]:
        """Return the terms that differ among the rows, if the target does."""
        spreads = np.diag(self.spreads)
        with np.errstate(over="ignore", invalid="ignore"):
            size = spreads + self.weight * self.means * self.means
            differ = (spreads > TOLERANCE * size) & np.isfinite(size)
            differ &= np.isfinite(self.spreads).all(axis=1)
        if not differ[-1]:
            return []
        return [int(index) for index in np.flatnonzero(differ[:-1])]

    def slopes(self, selected: Sequence[int]) -> Floats:
        """Return the coefficients where terms and target have deviation 1."""
        equations = self._standardised(selected)
        left = equations[:-1, :-1] + RIDGE * np.eye(len(selected))
        return np.asarray(np.linalg.solve(left, equations[:-1, -1]))

    def coefficients(self, selected: Sequence[int]) -> Floats:
        """Return the coefficients of the terms as they are."""
        if not selected:
            return np.zeros(0)
        slopes = self.slopes(selected)
        return np.asarray(
            slopes * self.deviations[-1] / self.deviations[list(selected)]
        )

    def squared_error(self, selected: Sequence[int]) -> float:
        """Return Σw(y − prediction)²."""
        if not selected:
            return max(self.spread, 0.0)
        weights = np.append(-self.slopes(selected), 1.0)
        error = float(weights @ self._standardised(selected) @ weights)
        return max(error * float(self.deviations[-1]) ** 2, 0.0)

    def _standardised(self, selected: Sequence[int]) -> Floats:
        """Return the spreads of some terms and the target, each of deviation 1."""
        indices = np.array([*selected, -1])
        scale = self.deviations[indices]
        spreads = self.spreads[np.ix_(indices, indices)]
        return np.asarray(spreads / scale[:, None] / scale)
