"""Leaves, paths and predictions of rows, from the arrays of a tree.

A row is represented by entries (row, node, weight). At each step every entry that is
not at a leaf moves to a child. If its value is missing and the node divides such rows,
it becomes one entry per branch, with proportions of its weight::

    rows    0    1    2         0    1    2    2    2
    nodes   0    0    0    →    3    1    1    3    7        row 2 was missing
    weights 1    1    1         1    1   .2   .5   .3

If a node has surrogates, an entry without a branch tries them in order first; if none
has a value, it goes whole to the node's default branch.

All entries move together, so a step takes the same time for one row or many, and no
recursion is needed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, ramps
from spinney._support.ties import TOLERANCE
from spinney.trees.tree import Tree
from spinney.trees.tree_arrays import Links, TreeArrays

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

BLOCK = 65_536


@dataclass(frozen=True, slots=True)
class Entries:
    """Rows at nodes, with their weights there."""

    rows: Integers
    nodes: Integers
    weights: Floats


@dataclass(frozen=True, eq=False)
class FlatTree:
    """Tree arrays with outputs and proportions, to predict rows."""

    arrays: TreeArrays

    @property
    def attribute(self) -> NDArray[np.integer]:
        """The attribute that each node splits on, -1 at a leaf."""
        return self.arrays.attribute

    @property
    def distribution(self) -> Floats:
        """The prediction of each node, nodes × outputs."""
        assert self.arrays.outputs is not None
        return self.arrays.outputs

    @cached_property
    def links(self) -> Links:
        """The children of all nodes."""
        return self.arrays.links()

    @cached_property
    def _missing(self) -> Integers:
        return self.arrays.fallback_branch

    @cached_property
    def needed(self) -> Integers:
        """The attributes that nodes, surrogates or models need."""
        return _distinct(self._required, self._surrogate_attributes)

    @property
    def optional(self) -> Integers:
        """The attributes that only surrogates need."""
        return self.needed[~np.isin(self.needed, self._required)]

    @cached_property
    def gathered(self) -> Integers:
        """The attributes to read; all of them until surrogates are found."""
        surrogates = self.arrays.surrogates
        if surrogates is None:
            return self.needed
        return _distinct(self._required, surrogates.possible_attributes)

    @cached_property
    def gathered_optional(self) -> Integers:
        """The attributes in ``gathered`` that only surrogates need."""
        return self.gathered[~np.isin(self.gathered, self._required)]

    @property
    def read(self) -> Integers:
        """The attributes in ``gathered``, and those of models of inner nodes.

        Such a model predicts if its node becomes a leaf.
        """
        models, gathered = self.arrays.models, self.gathered
        return gathered if models is None else _distinct(gathered, models.attribute)

    @property
    def _surrogate_attributes(self) -> Integers:
        surrogates = self.arrays.surrogates
        attributes = np.zeros(0) if surrogates is None else surrogates.attribute
        return attributes.astype(np.int64)

    @property
    def _required(self) -> Integers:
        """The attributes that nodes, or models of leaves, need."""
        inner, models = self.arrays.inner, self.arrays.models
        split_attributes = self.attribute[inner].astype(np.int64)
        if models is None:
            return _distinct(split_attributes)
        return _distinct(
            split_attributes, models.attribute[np.repeat(~inner, models.count)]
        )

    def outputs(
        self,
        columns: Sequence[NDArray[Any]],
        n_rows: int,
        *,
        roots: Integers | None = None,
    ) -> Floats:
        """Return the prediction of each row: class probabilities, or one number.

        If the arrays hold several trees, ``roots`` has the root for each row.
        """
        result = np.zeros((n_rows, self.distribution.shape[1]))
        gathered = self._model_columns(columns, n_rows, self.gathered)
        for entries in self.leaves(columns, n_rows, roots=roots):
            outputs = self._outputs_at(entries, gathered)
            np.add.at(result, entries.rows, outputs * entries.weights[:, None])
        return result

    def outputs_at(self, leaves: Integers, columns: Sequence[NDArray[Any]]) -> Floats:
        """Return the predictions of undivided rows at these leaves."""
        gathered = self._model_columns(columns, len(leaves), self.gathered)
        result = np.zeros((len(leaves), self.distribution.shape[1]))
        for start in range(0, len(leaves), BLOCK):
            nodes = leaves[start : start + BLOCK]
            rows = np.arange(start, start + len(nodes))
            entries = Entries(rows, nodes, np.ones(len(nodes)))
            result[rows] += self._outputs_at(entries, gathered)
        return result

    def as_leaves(
        self, columns: Sequence[NDArray[Any]], n_rows: int
    ) -> Iterator[tuple[Entries, Floats]]:
        """Yield all entries, step by step, with the predictions of their nodes."""
        gathered = self._model_columns(columns, n_rows, self.read)
        for entries in self.visits(columns, n_rows):
            yield entries, self._outputs_at(entries, gathered)

    def _outputs_at(
        self, entries: Entries, gathered: tuple[Floats, Integers] | None
    ) -> Floats:
        """Return the predictions of entries, by the models of their nodes if any."""
        outputs, models = self.distribution[entries.nodes], self.arrays.models
        if models is not None and gathered is not None:
            has_model = models.has[entries.nodes]
            nodes, rows = entries.nodes[has_model], entries.rows[has_model]
            outputs[has_model, 0] = models.values(nodes, rows, *gathered)
        return outputs

    def leaf_numbers(
        self,
        columns: Sequence[NDArray[Any]],
        n_rows: int,
        *,
        roots: Integers | None = None,
    ) -> Integers:
        """Return each row's leaf: the one with most of its weight, the first on ties.

        ``roots`` is as in :meth:`outputs`; leaves are numbered through all trees.
        """
        leaf = np.zeros(n_rows, dtype=np.int64)
        heaviest = np.full(n_rows, -1.0)
        for entries in self.leaves(columns, n_rows, roots=roots):
            rounded = entries.weights.round(12)
            order = np.lexsort((entries.nodes, -rounded, entries.rows))
            rows, first = np.unique(entries.rows[order], return_index=True)
            nodes, weights = entries.nodes[order][first], entries.weights[order][first]
            better = weights > heaviest[rows] + TOLERANCE
            better |= (weights > heaviest[rows] - TOLERANCE) & (nodes < leaf[rows])
            leaf[rows[better]], heaviest[rows[better]] = (
                nodes[better],
                weights[better],
            )
        return leaf

    def paths(self, columns: Sequence[NDArray[Any]], n_rows: int) -> "csr_matrix":
        """Return a sparse matrix, rows × nodes: the weight of each row at each node."""
        from scipy.sparse import csr_matrix

        nothing = Entries(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        visits = [nothing, *self.visits(columns, n_rows)]
        rows = np.concatenate([entries.rows for entries in visits])
        nodes = np.concatenate([entries.nodes for entries in visits])
        weights = np.concatenate([entries.weights for entries in visits])
        shape = (n_rows, len(self.attribute))
        return csr_matrix((weights, (rows, nodes)), shape=shape)

    def leaves(
        self,
        columns: Sequence[NDArray[Any]],
        n_rows: int,
        *,
        roots: Integers | None = None,
    ) -> Iterator[Entries]:
        """Yield the entries at leaves; a row may come in several entries."""
        for entries in self.visits(columns, n_rows, roots=roots):
            at_leaf = self.attribute[entries.nodes] < 0
            if at_leaf.any():
                yield _subset(entries, at_leaf)

    def visits(
        self,
        columns: Sequence[NDArray[Any]],
        n_rows: int,
        *,
        roots: Integers | None = None,
    ) -> Iterator[Entries]:
        """Yield all entries of all rows, step by step, a block of rows at a time."""
        values, column_of = self._gathered(columns, n_rows, self.gathered)
        for start in range(0, max(n_rows, 1), BLOCK):
            rows = np.arange(start, min(start + BLOCK, n_rows))
            nodes = np.zeros_like(rows) if roots is None else roots[rows]
            entries = Entries(rows, nodes, np.ones(len(rows)))
            while len(entries.rows):
                yield entries
                inner = _subset(entries, self.attribute[entries.nodes] >= 0)
                entries = self._step(inner, values, column_of)

    def step(
        self, entries: Entries, columns: Sequence[NDArray[Any]], n_rows: int
    ) -> Entries:
        """Return the entries one step further down; all are at inner nodes."""
        return self._step(entries, *self._gathered(columns, n_rows, self.gathered))

    def _model_columns(
        self, columns: Sequence[NDArray[Any]], n_rows: int, needed: Integers
    ) -> tuple[Floats, Integers] | None:
        """Return the columns that linear models need; None without models."""
        if self.arrays.models is None:
            return None
        return self._gathered(columns, n_rows, needed)

    def _gathered(
        self, columns: Sequence[NDArray[Any]], n_rows: int, needed: Integers
    ) -> tuple[Floats, Integers]:
        """Return the needed columns as a matrix, NaN for missing cells."""
        column_of = np.zeros(int(needed.max(initial=-1)) + 1, dtype=np.int64)
        column_of[needed] = np.arange(len(needed))
        values = np.empty((n_rows, len(needed)))
        for position, attribute in enumerate(needed):
            cells = np.asarray(columns[attribute])
            if cells.dtype.kind != "f":
                cells = np.where(cells < 0, np.nan, cells)
            values[:, position] = cells
        return values, column_of

    def _step(self, entries: Entries, values: Floats, column_of: Integers) -> Entries:
        """Return entries at inner nodes after one step down."""
        nodes = entries.nodes
        value = values[entries.rows, column_of[self.attribute[nodes]]]
        branch = self.arrays.branches_of(nodes, value)
        self._apply_surrogates(branch, entries, values, column_of)
        branch = np.where(branch < 0, self._missing[nodes], branch)
        sent = branch >= 0
        moved = self.links.children[self.links.first[nodes[sent]] + branch[sent]]
        if sent.all():
            return Entries(entries.rows, moved, entries.weights)
        return self._divided(_subset(entries, ~sent), _subset(entries, sent), moved)

    def _apply_surrogates(
        self, branch: Integers, entries: Entries, values: Floats, column_of: Integers
    ) -> None:
        """Set missing branches by surrogates, the best first."""
        surrogates, order = self.arrays.surrogates, 0
        undecided = np.flatnonzero(branch < 0)
        while surrogates is not None and len(undecided):  # else none have to be found
            nodes = entries.nodes[undecided]
            has_surrogate = order < surrogates.count[nodes]
            undecided, nodes = undecided[has_surrogate], nodes[has_surrogate]
            lines = surrogates.first[nodes] + order
            column = column_of[surrogates.attribute[lines]]
            value = values[entries.rows[undecided], column]
            branch[undecided] = surrogates.branches_of(lines, value)
            undecided = undecided[branch[undecided] < 0]
            order += 1

    def _divided(self, divided: Entries, whole: Entries, moved: Integers) -> Entries:
        """Return moved entries, followed by the parts of the divided ones."""
        assert self.arrays.shares is not None
        counts = self.links.count[divided.nodes]
        edge = np.repeat(self.links.first[divided.nodes], counts) + ramps(counts)
        part = np.repeat(divided.weights, counts) * self.arrays.shares[edge]
        is_positive = part > 0
        return Entries(
            np.concatenate([whole.rows, np.repeat(divided.rows, counts)[is_positive]]),
            np.concatenate([moved, self.links.children[edge][is_positive]]),
            np.concatenate([whole.weights, part[is_positive]]),
        )


def _distinct(*attributes: Integers) -> Integers:
    """Return the distinct attributes in order.

    ``np.unique`` would import NumPy's masked arrays, which takes longer than one row.
    """
    return np.flatnonzero(np.bincount(np.concatenate(attributes)))


def _subset(entries: Entries, mask: NDArray[np.bool_]) -> Entries:
    return Entries(entries.rows[mask], entries.nodes[mask], entries.weights[mask])


def flatten(tree: Tree) -> FlatTree:
    """Return a tree as arrays for predictions."""
    return FlatTree(tree.arrays)
