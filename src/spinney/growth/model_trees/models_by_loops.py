"""The models of a large tree by compiled loops, its subtrees side by side.

The twin is ``least_squares``, which fits the same models from the sums that any source
gives. Loops add up in another order: how terms vary is counted at leaves, and is the
sum of the children at any other node. So the last digits differ, and who fits is
decided by tree and rows alone, never by what a process has loaded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import run_all
from spinney.growth.model_trees.least_squares import Fits, Fitted, Mask
from spinney.growth.model_trees.loops.layout import (
    AskedTerms,
    LeafRows,
    NodeModels,
    room_for,
    sums_for,
)
from spinney.search import typical_value
from spinney.sources.rows import TrainingSet
from spinney.trees import Term, Tree

# Fewer nodes are fitted without loops before these are loaded; of a deeper tree the
# open nodes would take too much room.
FEWEST_NODES = 4_000
DEEPEST = 1_000
# Subtrees of at most one such part of the nodes are fitted side by side, those that
# have at least as small a part of that.
PARTS = 16


def fitted_by_loops(tree: Tree, rows: TrainingSet, most_terms: int) -> Fits | None:
    """Return the models of all nodes of a tree; None where loops do not fit them.

    They do where the tree is large and asks for thresholds of at most so many columns,
    of which no cell is missing.
    """
    arrays = tree.arrays
    if len(tree) < FEWEST_NODES or np.isnan(arrays.cut).any() or arrays.listed.any():
        return None
    columns = arrays.asked
    if len(columns) > most_terms or max(columns) >= len(rows.columns):
        return None
    cells = _cells(rows, columns)
    fitting = None if cells is None else _Fitting.of(tree, rows, columns, cells)
    if fitting is None or int(fitting.asked.depth.max()) > DEEPEST:
        return None
    return fitting.fits(Fits.of_means(tree))


def _cells(rows: TrainingSet, columns: Sequence[int]) -> Floats | None:
    """Return columns side by side; None if a cell is missing."""
    cells = np.empty((len(rows.classes), len(columns)))
    for place, index in enumerate(columns):
        own = rows.columns[index]
        known = np.isfinite(own) if own.dtype.kind == "f" else own >= 0
        if not known.all():
            return None
        cells[:, place] = own
    return cells


@dataclass(frozen=True, eq=False)
class _Fitting:
    """A tree, its rows, and the terms that it asks about."""

    asked: AskedTerms
    rows: LeafRows
    terms: list[Term]
    origin: float

    @classmethod
    def of(
        cls, tree: Tree, rows: TrainingSet, columns: Sequence[int], cells: Floats
    ) -> "_Fitting":
        """Return the walk over a tree whose rows have yet to be sent."""
        arrays, attributes = tree.arrays, tree.schema.attributes
        origin, weights = tree.schema.target.origin, rows.own_weights
        assert origin is not None
        terms = [
            Term(
                index,
                None,
                typical_value(rows.columns[index], weights, attributes[index].kind),
            )
            for index in columns
        ]
        links, n_nodes = arrays.links(), len(tree)
        child = np.zeros((n_nodes, 2), np.int64)
        child[arrays.parent[1:], links.branch[1:]] = np.arange(1, n_nodes)
        place = np.full(max(columns) + 2, -1)  # the last one is a leaf's
        place[columns] = np.arange(len(columns))
        asked = AskedTerms(
            arrays.parent.astype(np.int64),
            links.depth,
            place[arrays.attribute],
            arrays.cut,
            child,
            np.zeros((n_nodes, len(columns)), np.bool_),
        )
        sent = LeafRows(
            cells,
            np.array([term.centre for term in terms]),
            np.asarray(rows.classes, np.float64) - origin,
            np.asarray(weights, np.float64),
            np.zeros(n_nodes + 1, np.int64),
            np.zeros(len(cells), np.int64),
        )
        return cls(asked, sent, terms, origin)

    def fits(self, means: Fits) -> Fits:
        """Return the models, those of nodes that ask nothing as they are."""
        from spinney.growth.model_trees.loops.fit import send

        send(self.asked, self.rows, np.empty(len(self.rows.order), np.int64))
        n_terms = self.asked.below.sum(axis=1)
        models = NodeModels(
            means.squared_errors,
            means.n_parameters,
            np.zeros(len(n_terms)),
            n_terms.cumsum() - n_terms,
            np.zeros(n_terms.sum(), np.bool_),
            np.zeros(n_terms.sum()),
        )
        self.fit(models, means.scale)
        intercepts = models.intercepts + self.origin
        models = models._replace(intercepts=intercepts)
        return replace(means, linear=_LoopModels(models, self.asked.below, self.terms))

    def fit(self, models: NodeModels, scale: float) -> None:
        """Fit subtrees side by side, the largest first, and then what is above them."""
        from spinney.growth.model_trees.loops.fit import fit

        depth, width = self.asked.depth, len(self.terms) + 1
        sizes = _sizes(self.asked.parent)
        roots = _subtrees(self.asked.parent, sizes)
        slots, covered = np.full(len(sizes), -1), np.zeros(len(sizes) + 1, np.int64)
        slots[roots], known = np.arange(len(roots)), sums_for(len(roots), width)
        covered[roots + 1] += 1
        covered[roots + sizes[roots]] -= 1
        above = np.flatnonzero(covered.cumsum()[:-1] == 0)

        def work(nodes: Integers) -> None:
            n_levels = int((depth[nodes] - depth[nodes[0]]).max()) + 2
            room = room_for(n_levels, width)
            fit(self.asked, self.rows, models, room, nodes, known, slots, scale)

        largest_first = roots[np.argsort(-sizes[roots], kind="stable")].tolist()
        run_all([partial(work, np.arange(at, at + sizes[at])) for at in largest_first])
        work(above)


def _sizes(parent: Integers) -> Integers:
    """Return how many nodes each subtree has, of nodes in printing order.

    >>> _sizes(np.array([-1, 0, 1, 1, 0]))
    array([5, 3, 1, 1, 1])
    """
    sizes = np.ones(len(parent), np.int64).tolist()
    above = parent.tolist()
    for node in range(len(sizes) - 1, 0, -1):
        sizes[above[node]] += sizes[node]
    return np.array(sizes)


def _subtrees(parent: Integers, sizes: Integers) -> Integers:
    """Return the roots of subtrees to be fitted side by side."""
    most = len(sizes) // PARTS
    large = sizes > most
    under_large = np.append(False, large[parent[1:]])
    return np.flatnonzero(under_large & ~large & (sizes > most // PARTS))


@dataclass(frozen=True, eq=False)
class _LoopModels(Mapping[int, Fitted]):
    """The models that loops wrote, each made when somebody asks."""

    models: NodeModels
    below: Mask
    terms: list[Term]

    def __getitem__(self, node: int) -> Fitted:
        """Return the model of a node that has terms."""
        models, own = self.models, np.flatnonzero(self.below[node])
        if not len(own):
            raise KeyError(node)
        here = slice(models.first[node], models.first[node] + len(own))
        return Fitted(
            float(models.squared_errors[node]),
            int(models.n_parameters[node]),
            float(models.intercepts[node]),
            [self.terms[place] for place in own.tolist()],
            models.chosen[here],
            models.coefficients[here],
        )

    def __iter__(self) -> Iterator[int]:
        """Give the nodes that have terms."""
        return iter(np.flatnonzero(self.below.any(axis=1)).tolist())

    def __len__(self) -> int:
        """Return how many there are."""
        return int(np.count_nonzero(self.below.any(axis=1)))
