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
    best = _paying(regression, _independent(regression))
    coefficients = regression.coefficients(best)
    centres = np.array([terms[index].centre for index in best.terms])
    means = regression.means[best.terms] + centres
    intercept = float(regression.means[-1] + origin - coefficients @ means)
    model = LinearModel(
        intercept,
        tuple(terms[index] for index in best.terms),
        tuple(coefficients.tolist()),
    )
    return Fitted(model, best.squared_error)


@dataclass(frozen=True, slots=True)
class _Choice:
    """Some terms, their slopes where all deviations are 1, and Σw(y − prediction)²."""

    terms: list[int]
    slopes: Floats
    squared_error: float

    def without(self, index: int) -> list[int]:
        """Return the terms but for one of them."""
        return self.terms[:index] + self.terms[index + 1 :]


def _independent(regression: "_Regression") -> _Choice:
    """Return the terms that are left when none cancels another."""
    choice = regression.choose(regression.varying())
    while choice.terms:
        largest = _first_greatest(np.abs(choice.slopes))
        if abs(choice.slopes[largest]) <= COLLINEAR + CLOSE:
            break
        choice = regression.choose(choice.without(largest))
    return choice


def _paying(regression: "_Regression", choice: _Choice) -> _Choice:
    """Return the terms that are left when Akaike's score falls no further."""
    weight, n_full = regression.weight, len(choice.terms) + 1
    none = ROUNDING * regression.spread
    full = max(choice.squared_error, none)
    score = weight + n_full
    while choice.terms:
        smallest = _first_greatest(-np.abs(choice.slopes))
        fewer = regression.choose(choice.without(smallest))
        error = max(fewer.squared_error, none)
        later = error / full * (weight - n_full) + 2 * (len(fewer.terms) + 1)
        if not later < score - CLOSE:
            break
        choice, score = fewer, later
    return choice


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
            scale = np.where(self.deviations > 0, self.deviations, 1.0)
            self.standardised = self.spreads / scale[:, None] / scale

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

    def choose(self, terms: list[int]) -> _Choice:
        """Solve the equations of some terms."""
        if not terms:
            return _Choice(terms, np.zeros(0), max(self.spread, 0.0))
        indices = np.array([*terms, -1])
        equations = self.standardised[indices[:, None], indices]
        left = equations[:-1, :-1] + RIDGE * np.eye(len(terms))
        slopes = np.linalg.solve(left, equations[:-1, -1])
        weights = np.append(-slopes, 1.0)
        error = float(weights @ equations @ weights)
        return _Choice(terms, slopes, max(error * float(self.deviations[-1]) ** 2, 0.0))

    def coefficients(self, choice: _Choice) -> Floats:
        """Return the coefficients of the terms as they are."""
        by_target = choice.slopes * self.deviations[-1]
        return np.asarray(by_target / self.deviations[choice.terms])
