"""Linear models by least squares, from the products of terms and target.

The sums of a :class:`~spinney.sources.base.Products` give all that M5 needs: the
coefficients, the training error, and the choice of terms. As M5P does it, term by term:

- Terms are standardised, and the normal equations get a ridge of 1e-8, so that
  identical terms share their coefficient.
- While a standardised coefficient is above 1.5, the term of the largest is dropped:
  such a coefficient comes from terms that cancel each other.
- Then the term of the smallest standardised coefficient is dropped, repeatedly, as
  long as Akaike's score falls: SSE / SSE₀ · (n − p₀) + 2 p, where p counts terms and
  intercept and ₀ marks the model before dropping.

All nodes of a tree take these steps together. Nodes with similar numbers of terms form
one batch of equations. An absent term has only its ridge, so its slope is 0. The
results of a node do not depend on the rest of its batch.

Dropping a term takes k² steps; solving the equations again would take k³. With A the
equations of k terms and r their products with the target, a factor F of the inverse is
kept, and p = Fᵀr, the projections of the target on its columns::

    F Fᵀ = A⁻¹      slopes = F p      SSE = Σwy² − |p|² − ridge · |slopes|²

The same holds for F times any orthogonal H. To drop a term, H is the reflection that
leaves a single entry in the term's line of F. Without this line and the entry's column,
F H belongs to the equations of the other terms::

    F     [ f₀₀ f₀₁ f₀₂ ]           [ g₀₀  ·  g₀₂ ]
          [ f₁₀ f₁₁ f₁₂ ]   F H  =  [  0   ·   0  ]   without term 1
          [ f₂₀ f₂₁ f₂₂ ]           [ g₂₀  ·  g₂₂ ]

Reflections preserve precision. For nearly equal terms, the column of F for their
difference is 10⁴ times the others; in the inverse itself it would be 10⁸ times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import TOLERANCE
from spinney.sources import Products
from spinney.trees import (
    LinearModel,
    Term,
    Tree,
    spread_of,
)

MAX_COEFFICIENTS = 1 << 18  # of a batch, unless one node has more
# A ridge below this fraction of its diagonal entry would be rounded away, if rows are
# many or weigh much.
RIDGE, MIN_RIDGE = 1e-8, 2.0**-44
COLLINEAR = 1.5
# Rounding must not decide: squared errors below this fraction of the target's spread
# are 0, and standardised coefficients this close are equal, as are the errors of a leaf
# and of its branches. With the ridge, equations of collinear terms lose eight digits of
# sixteen.
ROUNDING = 1e-12
CLOSE = 1e-7

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model, and its squared error, summed over the weight of its rows.

    ``chosen`` marks the terms of the model; ``coefficients`` has entries for all terms.
    """

    squared_error: float
    n_parameters: int
    intercept: float
    terms: Sequence[Term]
    chosen: Mask
    coefficients: Floats

    @property
    def model(self) -> LinearModel:
        """The model."""
        chosen = np.flatnonzero(self.chosen).tolist()
        return LinearModel(
            self.intercept,
            tuple(self.terms[index] for index in chosen),
            tuple(float(self.coefficients[index]) for index in chosen),
        )


@dataclass(frozen=True, slots=True)
class Fits:
    """The models of all nodes of a tree, with the figures for pruning.

    Parameters
    ----------
    squared_errors, n_parameters : arrays
        The errors of each node's model, summed over the rows, and the number of its
        coefficients with the intercept.
    sizes : array
        The number of rows of each node, by weight.
    means : array
        The prediction of a node without terms.
    scale : float
        The number of rows that the weight 1 stands for.
    linear : mapping of int to Fitted
        The nodes that have terms.
    products : mapping of int to Products
        The sums behind those.
    """

    squared_errors: Floats
    n_parameters: Integers
    sizes: Floats
    means: Floats
    scale: float
    linear: Mapping[int, Fitted]
    products: Mapping[int, Products]

    @classmethod
    def of_means(cls, tree: Tree) -> "Fits":
        """Return the fits of nodes that predict their means."""
        arrays = tree.arrays
        moments = np.asarray(arrays.weights, np.float64)
        scale = max(1.0, float(arrays.rows[0] / moments[0, 0]))
        return cls(
            np.where(arrays.rows > 0, scale * spread_of(moments), 0.0),
            np.ones(len(tree), np.int64),
            moments[:, 0] * scale,
            tree.arrays.predicted,
            scale,
            {},
            {},
        )

    def model(self, node: int) -> LinearModel:
        """Return the model of a node."""
        if node in self.linear:
            return self.linear[node].model
        return LinearModel(float(self.means[node]))


def all_fitted(
    products: Sequence[Products],
    terms: Sequence[Sequence[Term]],
    *,
    origin: float,
    scale: float = 1.0,
    max_terms: int | None = None,
) -> list[Fitted]:
    """Fit a model of its terms to each node, and drop terms by Akaike's score.

    ``origin`` is the target's; a weight of 1 stands for ``scale`` rows.
    ``max_terms`` limits the terms of a model.

    Examples
    --------
    >>> x, y = np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0])
    >>> lines = np.stack([x - 1, y - 3])
    >>> products = Products(np.array([3.0]), np.array([[0.0, 3.0]]),
    ...                     np.array([lines @ lines.T]))
    >>> (line,) = all_fitted([products], [[Term(0, None, 1.0)]], origin=0.0)
    >>> round(line.model.intercept, 6), round(line.model.coefficients[0], 6)
    (1.0, 2.0)
    """
    fits: list[Fitted | None] = [None] * len(products)
    counts = np.array([len(node_terms) for node_terms in terms], dtype=np.int64)
    size_class = np.frexp(counts.astype(np.float64))[1]
    for size in np.unique(size_class).tolist():
        nodes = np.flatnonzero(size_class == size)
        width = int(counts[nodes].max()) + 1
        batch_size = max(1, MAX_COEFFICIENTS // width**2)
        for first in range(0, len(nodes), batch_size):
            batch = nodes[first : first + batch_size].tolist()
            regressions = Regressions([products[node] for node in batch], width, scale)
            models = regressions.fitted(
                [terms[node] for node in batch], origin, max_terms
            )
            for node, model in zip(batch, models, strict=True):
                fits[node] = model
    return [fit for fit in fits if fit is not None]


class Solved(NamedTuple):
    """The solved equations of some nodes, in a form that can drop terms.

    Slopes are for terms and target of standard deviation 1; an absent term has slope 0.
    """

    terms: Mask
    factors: Floats
    projected: Floats
    slopes: Floats

    @classmethod
    def by(cls, terms: Mask, factors: Floats, projected: Floats) -> "Solved":
        """Return the solved equations of factors and projections, with their slopes."""
        return cls(
            terms, factors, projected, (factors @ projected[:, :, None])[:, :, 0]
        )

    def subset(self, nodes: Integers | Mask) -> "Solved":
        """Return the equations of some of the nodes."""
        terms, factors, projected, slopes = self
        return Solved(terms[nodes], factors[nodes], projected[nodes], slopes[nodes])

    def replace_nodes(self, nodes: Integers, solved: "Solved") -> None:
        """Replace the equations of some nodes."""
        for target, values in zip(self, solved, strict=True):
            target[nodes] = values

    def without(self, dropped: Integers) -> "Solved":
        """Return the equations after dropping one term per node."""
        lines = np.arange(len(dropped))
        mirror = self.factors[lines, dropped]
        mirror /= np.sqrt((mirror * mirror).sum(axis=1, keepdims=True))
        mirror[lines, dropped] += np.copysign(1.0, mirror[lines, dropped])
        # |mirror|² is twice its entry, and a reflection takes 2 / |mirror|².
        scaled = mirror / np.abs(mirror[lines, dropped])[:, None]
        factors = self.factors - (self.factors @ mirror[:, :, None]) * scaled[:, None]
        projected = (
            self.projected
            - (self.projected * mirror).sum(axis=1, keepdims=True) * scaled
        )
        terms = self.terms.copy()
        terms[lines, dropped] = False
        factors[lines, dropped] = factors[lines, :, dropped] = 0.0
        projected[lines, dropped] = 0.0
        return Solved.by(terms, factors, projected)


class Regressions:
    """The normal equations of standardised terms at many nodes, for any terms.

    The target is the last of ``width`` lines; absent terms have variance 0.
    """

    def __init__(self, products: Sequence[Products], width: int, scale: float) -> None:
        n_nodes = len(products)
        self.means = np.zeros((n_nodes, width))
        self.spreads = np.zeros((n_nodes, width, width))
        for node, sums in enumerate(products):
            n_terms = sums.means.shape[1] - 1
            means, spreads = self.means[node], self.spreads[node]
            means[:n_terms] = sums.means[0, :-1]
            means[-1] = sums.means[0, -1]
            spreads[:n_terms, :n_terms] = sums.spreads[0, :-1, :-1]
            spreads[:n_terms, -1] = spreads[-1, :n_terms] = sums.spreads[0, :-1, -1]
            spreads[-1, -1] = sums.spreads[0, -1, -1]
        self.spreads *= scale
        self.weight = scale * np.array([sums.weights[0] for sums in products])
        self.spread = self.spreads[:, -1, -1]
        freedom = np.maximum(self.weight - 1, TOLERANCE)
        squares = self.spreads.diagonal(axis1=1, axis2=2)
        with np.errstate(over="ignore", invalid="ignore"):
            self.deviations = np.sqrt(squares / freedom[:, None])
            units = np.where(self.deviations > 0, self.deviations, 1.0)
            self.standardised = self.spreads / units[:, :, None] / units[:, None]
            diagonal = self.standardised.diagonal(axis1=1, axis2=2)[:, :-1]
        least = np.where(np.isfinite(diagonal), MIN_RIDGE * diagonal, 0.0)
        self.ridge = np.fmax(RIDGE, least)

    def fitted(
        self,
        terms: Sequence[Sequence[Term]],
        origin: float,
        max_terms: int | None = None,
    ) -> list[Fitted]:
        """Return the models of all nodes, each of at most ``max_terms`` terms."""
        solved = self.independent()
        if max_terms is not None:
            limit_terms(solved, max_terms)
        return self.with_terms(self.best_terms(solved), terms, origin)

    def with_terms(
        self, chosen: Mask, terms: Sequence[Sequence[Term]], origin: float
    ) -> list[Fitted]:
        """Return the models of all nodes with the chosen terms."""
        slopes, squared_errors = self.final(chosen)
        lists = {id(shared): shared for shared in terms}  # many nodes share one
        measured = {
            key: [term.centre for term in shared] for key, shared in lists.items()
        }
        centres = np.zeros(slopes.shape)
        for line, shared in zip(centres, terms, strict=True):
            line[: len(shared)] = measured[id(shared)]
        deviations = np.where(chosen, self.deviations[:, :-1], 1.0)
        coefficients = slopes * self.deviations[:, -1:] / deviations
        means = np.where(chosen, self.means[:, :-1] + centres, 0.0)
        inner = (coefficients * means).sum(axis=1)
        intercepts = self.means[:, -1] + origin - inner
        columns = (
            squared_errors.tolist(),
            (1 + chosen.sum(axis=1)).tolist(),
            intercepts.tolist(),
            terms,
            chosen,
            coefficients,
        )
        return list(map(Fitted, *columns))

    def independent(self) -> Solved:
        """Return the equations after dropping terms that cancel each other."""
        solved = self.solved(self.varying())
        remaining = np.flatnonzero(solved.terms.any(axis=1))
        while len(remaining):
            current = solved.subset(remaining)
            sizes = np.where(current.terms, np.abs(current.slopes), -np.inf)
            largest = _first_greatest(sizes)
            cancels = sizes[np.arange(len(remaining)), largest] > COLLINEAR + CLOSE
            remaining = remaining[cancels]
            solved.replace_nodes(
                remaining, current.subset(cancels).without(largest[cancels])
            )
            remaining = remaining[solved.terms[remaining].any(axis=1)]
        return solved

    def best_terms(self, solved: Solved) -> Mask:
        """Return the terms at which Akaike's score stops falling."""
        chosen = solved.terms.copy()
        n_full = 1 + chosen.sum(axis=1)
        full_errors, score = np.zeros(len(chosen)), self.weight + n_full
        remaining = np.flatnonzero(chosen.any(axis=1))
        solved = solved.subset(remaining)
        full_errors[remaining] = self.squared_errors(remaining, solved)
        while len(remaining):
            sizes = np.where(solved.terms, np.abs(solved.slopes), np.inf)
            solved = solved.without(_first_greatest(-sizes))
            ratio = self.squared_errors(remaining, solved) / full_errors[remaining]
            new_score = ratio * (self.weight - n_full)[remaining]
            new_score += 2 * (1 + solved.terms.sum(axis=1))
            better = new_score < score[remaining] - CLOSE
            remaining = remaining[better]
            chosen[remaining] = solved.terms[better]
            score[remaining] = new_score[better]
            has_terms = chosen[remaining].any(axis=1)
            remaining, solved = (
                remaining[has_terms],
                solved.subset(np.flatnonzero(better)[has_terms]),
            )
        return chosen

    def varying(self) -> Mask:
        """Return the terms that vary among the rows; none if the target is constant."""
        squares = self.spreads.diagonal(axis1=1, axis2=2)
        with np.errstate(over="ignore", invalid="ignore"):
            size = squares + self.weight[:, None] * self.means * self.means
            differ = (squares > TOLERANCE * size) & np.isfinite(size)
            differ &= np.isfinite(self.spreads).all(axis=2)
        return np.asarray(differ[:, :-1] & differ[:, -1:])

    def equations(self, terms: Mask) -> tuple[Floats, Floats]:
        """Return the equations of some terms of each node, without and with a ridge."""
        lines = np.append(terms, np.ones((len(terms), 1), bool), axis=1)
        both = lines[:, :, None] & lines[:, None]
        plain = np.where(both, self.standardised, 0.0)
        ridged, places = plain[:, :-1, :-1].copy(), np.arange(terms.shape[1])
        ridged[:, places, places] += self.ridge
        return plain, ridged

    def solved(self, terms: Mask) -> Solved:
        """Solve the equations of some terms of each node."""
        plain, ridged = self.equations(terms)
        factors = inverse_factors(ridged)
        projected = plain[:, -1:, :-1] @ factors
        return Solved.by(terms, factors, projected[:, 0])

    def squared_errors(self, nodes: Integers, solved: Solved) -> Floats:
        """Return Σw(y − prediction)² of some nodes, at least its rounding error."""
        projected, slopes = solved.projected, solved.slopes
        explained = (projected * projected).sum(axis=1)
        explained += (self.ridge[nodes] * slopes * slopes).sum(axis=1)
        error = self.spread[nodes] - explained * self.deviations[nodes, -1] ** 2
        return np.asarray(np.maximum(error, ROUNDING * self.spread[nodes]))

    def final(self, terms: Mask) -> tuple[Floats, Floats]:
        """Return slopes and Σw(y − prediction)², solved without factor updates."""
        plain, ridged = self.equations(terms)
        slopes = np.linalg.solve(ridged, plain[:, :-1, -1:])
        weights = np.append(-slopes, np.ones((len(terms), 1, 1)), axis=1)
        errors = (weights.swapaxes(1, 2) @ plain @ weights)[:, 0, 0]
        errors *= self.deviations[:, -1] ** 2
        errors = np.where(terms.any(axis=1), errors, self.spread)
        return np.asarray(slopes[:, :, 0]), np.maximum(errors, 0.0)


def limit_terms(solved: Solved, max_terms: int) -> None:
    """Drop terms of equations until each node has at most ``max_terms``.

    The term whose loss raises the squared error least goes first. The rise is its
    slope², divided by its diagonal entry of A⁻¹.
    """
    remaining = np.flatnonzero(solved.terms.sum(axis=1) > max_terms)
    while len(remaining):
        current = solved.subset(remaining)
        squares = (current.factors * current.factors).sum(axis=2)
        rise = current.slopes**2 / np.where(current.terms, squares, 1.0)
        rise = np.where(current.terms, rise, np.inf)
        least = _first_greatest(-rise)
        solved.replace_nodes(remaining, current.without(least))
        remaining = remaining[solved.terms[remaining].sum(axis=1) > max_terms]


def inverse_factors(equations: Floats) -> Floats:
    """Return for each matrix a factor F of its inverse, F Fᵀ."""
    try:
        halves = np.linalg.cholesky(equations)
    except np.linalg.LinAlgError:  # by rounding, if a hundred terms are collinear
        squares, axes = np.linalg.eigh(equations)
        least = np.finfo(np.float64).eps * squares[:, -1:]
        return np.asarray(axes / np.sqrt(np.maximum(squares, least))[:, None])
    return np.asarray(np.linalg.inv(halves).swapaxes(1, 2))


def _first_greatest(numbers: Floats) -> Integers:
    """Return for each line the first index of the greatest number, within rounding."""
    greatest = numbers.max(axis=1, keepdims=True)
    return np.asarray(np.argmax(numbers >= greatest - CLOSE, axis=1))
