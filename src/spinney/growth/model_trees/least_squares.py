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

All nodes of a tree take these steps together. Those of about as many terms are one
stack of equations; of a term that a model does without nothing but the ridge is left,
so that its slope is 0. What is in a stack besides changes nothing for a node.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import TOLERANCE
from spinney.growth.model_trees.loops.layout import (
    CLOSE,
    COLLINEAR,
    LEAST_SHARE,
    RIDGE,
    ROUNDING,
)
from spinney.sources import Products
from spinney.trees import (
    LinearModel,
    Term,
    Tree,
    spread_of,
)

MOST_EQUATIONS = 1 << 20  # coefficients of a stack, unless one node has more

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model, and its squared error, summed over the weight of its rows.

    ``chosen`` says which of the terms are left; ``coefficients`` are of all of them.
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
        kept = np.flatnonzero(self.chosen).tolist()
        return LinearModel(
            self.intercept,
            tuple(self.terms[index] for index in kept),
            tuple(float(self.coefficients[index]) for index in kept),
        )


@dataclass(frozen=True, slots=True)
class Fits:
    """The models of all nodes of a tree, and what pruning asks of them.

    Parameters
    ----------
    squared_errors, n_parameters : arrays
        Of each node's model: its errors, summed over the rows, and its coefficients
        with the intercept.
    sizes : array
        For how many rows each node counts.
    means : array
        What a node predicts that has no terms.
    scale : float
        How many rows the weight 1 stands for.
    linear : mapping of int to Fitted
        The nodes that have terms.
    """

    squared_errors: Floats
    n_parameters: Integers
    sizes: Floats
    means: Floats
    scale: float
    linear: Mapping[int, Fitted]

    @classmethod
    def of_means(cls, tree: Tree) -> "Fits":
        """Return the fits of nodes that all predict their mean."""
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
) -> list[Fitted]:
    """Fit a model of its terms to each node, and drop those that do not pay.

    ``origin`` is the target's; a weight of 1 stands for ``scale`` rows.

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
    counts = np.array([len(own) for own in terms], dtype=np.int64)
    length = np.frexp(counts.astype(np.float64))[1]
    for size in np.unique(length).tolist():
        nodes = np.flatnonzero(length == size)
        width = int(counts[nodes].max()) + 1
        at_once = max(1, MOST_EQUATIONS // width**2)
        for first in range(0, len(nodes), at_once):
            some = nodes[first : first + at_once].tolist()
            stack = _Regressions([products[node] for node in some], width, scale)
            found = stack.fitted([terms[node] for node in some], origin)
            for node, each in zip(some, found, strict=True):
                fits[node] = each
    return [each for each in fits if each is not None]


class _Choice(NamedTuple):
    """For each node which terms, their slopes, and Σw(y − prediction)².

    Slopes are those of terms and target of deviation 1; 0 of a term that is not there.
    """

    terms: Mask
    slopes: Floats
    squared_error: Floats

    def replace_at(self, nodes: Integers, other: "_Choice") -> None:
        """Take another choice for some nodes."""
        for mine, new in zip(self, other, strict=True):
            mine[nodes] = new


class _Regressions:
    """The normal equations of standardised terms at many nodes, for any choice of them.

    The target is the last of ``width`` lines; where a node has fewer terms than the
    stack, the others do not vary.
    """

    def __init__(self, products: Sequence[Products], width: int, scale: float) -> None:
        n_nodes = len(products)
        self.means = np.zeros((n_nodes, width))
        self.spreads = np.zeros((n_nodes, width, width))
        for node, each in enumerate(products):
            n_terms = each.means.shape[1] - 1
            means, spreads = self.means[node], self.spreads[node]
            means[:n_terms], means[-1] = each.means[0, :-1], each.means[0, -1]
            spreads[:n_terms, :n_terms] = each.spreads[0, :-1, :-1]
            spreads[:n_terms, -1] = spreads[-1, :n_terms] = each.spreads[0, :-1, -1]
            spreads[-1, -1] = each.spreads[0, -1, -1]
        self.spreads *= scale
        self.weight = scale * np.array([each.weights[0] for each in products])
        self.spread = self.spreads[:, -1, -1]
        freedom = np.maximum(self.weight - 1, TOLERANCE)
        squares = self.spreads.diagonal(axis1=1, axis2=2)
        with np.errstate(over="ignore", invalid="ignore"):
            self.deviations = np.sqrt(squares / freedom[:, None])
            units = np.where(self.deviations > 0, self.deviations, 1.0)
            self.standardised = self.spreads / units[:, :, None] / units[:, None]

    def fitted(self, terms: Sequence[Sequence[Term]], origin: float) -> list[Fitted]:
        """Return the models of all nodes."""
        best = self.paying(self.independent())
        lists = {id(own): own for own in terms}  # many nodes share one
        measured = {at: [term.centre for term in own] for at, own in lists.items()}
        centres = np.zeros(best.slopes.shape)
        for line, own in zip(centres, terms, strict=True):
            line[: len(own)] = measured[id(own)]
        deviations = np.where(best.terms, self.deviations[:, :-1], 1.0)
        coefficients = best.slopes * self.deviations[:, -1:] / deviations
        means = np.where(best.terms, self.means[:, :-1] + centres, 0.0)
        inner = (coefficients * means).sum(axis=1)
        intercepts = self.means[:, -1] + origin - inner
        columns = (
            best.squared_error.tolist(),
            (1 + best.terms.sum(axis=1)).tolist(),
            intercepts.tolist(),
            terms,
            best.terms,
            coefficients,
        )
        return list(map(Fitted, *columns))

    def independent(self) -> _Choice:
        """Return the terms that are left when none cancels another."""
        varying = self.varying()
        choice = self.choose(np.arange(len(varying)), varying)
        open_ = np.flatnonzero(varying.any(axis=1))
        while len(open_):
            sizes = np.where(choice.terms[open_], np.abs(choice.slopes[open_]), -np.inf)
            largest, lines = _first_greatest(sizes), np.arange(len(open_))
            cancels = sizes[lines, largest] > COLLINEAR + CLOSE
            open_, largest = open_[cancels], largest[cancels]
            choice.replace_at(open_, self.without(choice, open_, largest))
            open_ = open_[choice.terms[open_].any(axis=1)]
        return choice

    def paying(self, choice: _Choice) -> _Choice:
        """Return the terms that are left when Akaike's score falls no further."""
        weight, n_full = self.weight, 1 + choice.terms.sum(axis=1)
        none = ROUNDING * self.spread
        full = np.maximum(choice.squared_error, none)
        score = weight + n_full
        open_ = np.flatnonzero(choice.terms.any(axis=1))
        while len(open_):
            sizes = np.where(choice.terms[open_], np.abs(choice.slopes[open_]), np.inf)
            fewer = self.without(choice, open_, _first_greatest(-sizes))
            share = np.maximum(fewer.squared_error, none[open_]) / full[open_]
            later = share * (weight - n_full)[open_]
            later += 2 * (1 + fewer.terms.sum(axis=1))
            pays = later < score[open_] - CLOSE
            open_ = open_[pays]
            choice.replace_at(open_, _Choice(*(each[pays] for each in fewer)))
            score[open_] = later[pays]
            open_ = open_[choice.terms[open_].any(axis=1)]
        return choice

    def varying(self) -> Mask:
        """Return the terms that differ among the rows, if the target does."""
        squares = self.spreads.diagonal(axis1=1, axis2=2)
        with np.errstate(over="ignore", invalid="ignore"):
            size = squares + self.weight[:, None] * self.means * self.means
            differ = (squares > TOLERANCE * size) & np.isfinite(size)
            differ &= np.isfinite(self.spreads).all(axis=2)
        return np.asarray(differ[:, :-1] & differ[:, -1:])

    def without(self, choice: _Choice, nodes: Integers, dropped: Integers) -> _Choice:
        """Solve the equations of some nodes, each without one more of its terms."""
        terms = choice.terms[nodes]
        terms[np.arange(len(nodes)), dropped] = False
        return self.choose(nodes, terms)

    def choose(self, nodes: Integers, terms: Mask) -> _Choice:
        """Solve the equations of some nodes, of some of their terms each."""
        lines = np.append(terms, np.ones((len(nodes), 1), bool), axis=1)
        both = lines[:, :, None] & lines[:, None]
        equations = np.where(both, self.standardised[nodes], 0.0)
        left = equations[:, :-1, :-1].copy()
        places = np.arange(terms.shape[1])
        ridge = np.maximum(RIDGE, LEAST_SHARE * left[:, places, places])
        left[:, places, places] += ridge
        slopes = np.linalg.solve(left, equations[:, :-1, -1:])
        weights = np.append(-slopes, np.ones((len(nodes), 1, 1)), axis=1)
        errors = (weights.swapaxes(1, 2) @ equations @ weights)[:, 0, 0]
        errors *= self.deviations[nodes, -1] ** 2
        errors = np.where(terms.any(axis=1), errors, self.spread[nodes])
        return _Choice(terms, slopes[:, :, 0], np.maximum(errors, 0.0))


def _first_greatest(numbers: Floats) -> Integers:
    """Return for each line the first index whose number is the greatest, or close."""
    most = numbers.max(axis=1, keepdims=True)
    return np.asarray(np.argmax(numbers >= most - CLOSE, axis=1))
