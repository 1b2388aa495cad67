"""From tree arrays to leaves, paths and probabilities of rows.

A row travels as an entry (row, node, weight). At each step every entry that is
not at a leaf moves to a child; where its value is missing and the node divides
such rows, the entry becomes one entry per branch, its weight divided by shares::

    rows    0    1    2         0    1    2    2    2
    nodes   0    0    0    →    3    1    1    3    7        row 2 was missing
    weights 1    1    1         1    1   .2   .5   .3

Where a node has surrogates, an entry without a branch asks them in order first; what
none of them sends goes whole to the node's last branch.

All entries move together, so a step costs the same for one row or many, and a
tree of any depth is walked without recursion.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import TOLERANCE
from spinney.trees.lazy_nodes import arrays_of
from spinney.trees.linear import FlatModels, no_models
from spinney.trees.tree import Tree
from spinney.trees.tree_arrays import (
    QuestionArrays,
    SurrogateArrays,
    TreeArrays,
    surrogate_arrays,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

BLOCK = 65_536

NO_SURROGATES = surrogate_arrays([])


@dataclass(frozen=True, slots=True)
class Entries:
    """Rows at nodes, with the weight that each has there."""

    rows: Integers
    nodes: Integers
    weights: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """Splits as arrays, one entry per split; an attribute of -1 stands for none.

    The branch of a code is in ``lookup``, at ``first_code`` and the code; a split has
    ``codes`` of them. A threshold is the first of a split's cuts; ``first_cut`` and
    ``more_cuts`` say where the others are in ``cuts``. The branches of a ``reversed``
    threshold are exchanged.
    """

    attribute: Integers
    threshold: Floats
    first_code: Integers
    codes: Integers
    reversed: NDArray[np.bool_]
    lookup: Integers
    first_cut: Integers
    more_cuts: Integers
    cuts: Floats

    def branches(self, lines: Integers, value: Floats) -> Integers:
        """Return the branch of each value by its split; -1 if missing or unseen."""
        absent = np.isnan(value)
        by_number = ~np.isnan(self.threshold[lines])
        branch = (value > self.threshold[lines]).astype(np.int64)
        for order in range(int(self.more_cuts.max(initial=0))):
            further = np.flatnonzero(self.more_cuts[lines] > order)
            cut = self.cuts[self.first_cut[lines[further]] + order]
            branch[further] += value[further] > cut
        branch = np.where(self.reversed[lines], 1 - branch, branch)
        code = np.where(absent | by_number, 0, value).astype(np.int64)
        seen = code < self.codes[lines]
        of_code = self.lookup[np.where(seen, self.first_code[lines] + code, -1)]
        branch = np.where(by_number, branch, np.where(seen, of_code, -1))
        return np.where(absent, -1, branch)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatTree:
    """Tree arrays to send rows down, one entry per node; -1 stands for none.

    ``first`` and ``count`` say where a node's children are in ``children`` and
    ``shares``; ``first_surrogate`` and ``surrogate_count`` where its surrogates are.
    """

    asked: Questions
    surrogates: Questions
    missing: Integers
    first: Integers
    count: Integers
    first_surrogate: Integers
    surrogate_count: Integers
    children: Integers
    shares: Floats
    distribution: Floats
    models: FlatModels

    @classmethod
    def of(cls, arrays: TreeArrays) -> "FlatTree":
        """Return a tree that has outputs and shares as arrays to send rows down."""
        assert arrays.outputs is not None
        assert arrays.shares is not None
        n = len(arrays)
        children, first, count = arrays.children()
        surrogates = arrays.surrogates
        asked = np.zeros(n, np.int64) if surrogates is None else surrogates.count
        return cls(
            asked=_questions(arrays),
            surrogates=_questions(NO_SURROGATES if surrogates is None else surrogates),
            missing=arrays.final_branch,
            first=first,
            count=count,
            first_surrogate=asked.cumsum() - asked,
            surrogate_count=asked,
            children=children,
            shares=arrays.shares,
            distribution=arrays.outputs,
            models=no_models(n) if arrays.models is None else arrays.models,
        )

    @property
    def attribute(self) -> Integers:
        """The attribute that each node asks about, -1 at a leaf."""
        return self.asked.attribute

    @property
    def needed(self) -> Integers:
        """The attributes that some node or surrogate asks about, or a model reads."""
        return np.union1d(self._demanded, self.surrogates.attribute)

    @property
    def optional(self) -> Integers:
        """The attributes that only surrogates ask about."""
        return np.setdiff1d(self.surrogates.attribute, self._demanded)

    @property
    def read(self) -> Integers:
        """The attributes needed, and those that only models of inner nodes read.

        Such a model predicts once its node is a leaf.
        """
        return np.union1d(self.needed, self.models.attribute)

    @property
    def _demanded(self) -> Integers:
        """The attributes that some node asks about, or some leaf's model reads."""
        leaves = np.repeat(self.attribute < 0, self.models.count)
        read = self.models.attribute[leaves]
        return np.union1d(self.attribute[self.attribute >= 0], read)

    def outputs(self, columns: Sequence[NDArray[Any]], n_rows: int) -> Floats:
        """Return what is predicted of each row: class shares, or one number."""
        result = np.zeros((n_rows, self.distribution.shape[1]))
        modelled = bool(self.models.has.any())
        gathered = self._gathered(columns, n_rows, self.needed) if modelled else None
        for entries in self.leaves(columns, n_rows):
            outputs = self._outputs_at(entries, gathered)
            np.add.at(result, entries.rows, outputs * entries.weights[:, None])
        return result

    def outputs_at(self, leaves: Integers, columns: Sequence[NDArray[Any]]) -> Floats:
        """Return what is predicted of rows that have come whole to these leaves."""
        if not self.models.has.any():
            return self.distribution[leaves]
        gathered = self._gathered(columns, len(leaves), self.needed)
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
        """Yield all entries, step by step, with what their nodes predict as leaves."""
        modelled = bool(self.models.has.any())
        gathered = self._gathered(columns, n_rows, self.read) if modelled else None
        for entries in self.visits(columns, n_rows):
            yield entries, self._outputs_at(entries, gathered)

    def _outputs_at(
        self, entries: Entries, gathered: tuple[Floats, Integers] | None
    ) -> Floats:
        """Return what the nodes of entries predict; by their models, if they have."""
        outputs = self.distribution[entries.nodes]
        here = self.models.has[entries.nodes]
        if gathered is not None and here.any():
            nodes, rows = entries.nodes[here], entries.rows[here]
            outputs[here, 0] = self.models.values(nodes, rows, *gathered)
        return outputs

    def leaf_numbers(self, columns: Sequence[NDArray[Any]], n_rows: int) -> Integers:
        """Return each row's leaf: where most of its weight is, the first of equals."""
        leaf = np.zeros(n_rows, dtype=np.int64)
        heaviest = np.full(n_rows, -1.0)
        for entries in self.leaves(columns, n_rows):
            rounded = entries.weights.round(12)
            order = np.lexsort((entries.nodes, -rounded, entries.rows))
            rows, first = np.unique(entries.rows[order], return_index=True)
            nodes, weights = entries.nodes[order][first], entries.weights[order][first]
            ahead = weights > heaviest[rows] + TOLERANCE
            ahead |= (weights > heaviest[rows] - TOLERANCE) & (nodes < leaf[rows])
            leaf[rows[ahead]], heaviest[rows[ahead]] = nodes[ahead], weights[ahead]
        return leaf

    def paths(self, columns: Sequence[NDArray[Any]], n_rows: int) -> "csr_matrix":
        """Return a sparse matrix (rows × nodes): the weight of a row at each node."""
        from scipy.sparse import csr_matrix

        nothing = Entries(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        visits = [nothing, *self.visits(columns, n_rows)]
        rows = np.concatenate([entries.rows for entries in visits])
        nodes = np.concatenate([entries.nodes for entries in visits])
        weights = np.concatenate([entries.weights for entries in visits])
        shape = (n_rows, len(self.attribute))
        return csr_matrix((weights, (rows, nodes)), shape=shape)

    def leaves(self, columns: Sequence[NDArray[Any]], n_rows: int) -> Iterator[Entries]:
        """Yield the entries that have come to leaves; a row may come in parts."""
        for entries in self.visits(columns, n_rows):
            at_leaf = self.attribute[entries.nodes] < 0
            if at_leaf.any():
                yield _subset(entries, at_leaf)

    def visits(self, columns: Sequence[NDArray[Any]], n_rows: int) -> Iterator[Entries]:
        """Yield all entries of all rows, step by step, a block of rows at a time."""
        values, column_of = self._gathered(columns, n_rows, self.needed)
        for start in range(0, max(n_rows, 1), BLOCK):
            rows = np.arange(start, min(start + BLOCK, n_rows))
            entries = Entries(rows, np.zeros_like(rows), np.ones(len(rows)))
            while len(entries.rows):
                yield entries
                inner = _subset(entries, self.attribute[entries.nodes] >= 0)
                entries = self._step(inner, values, column_of)

    def _gathered(
        self, columns: Sequence[NDArray[Any]], n_rows: int, needed: Integers
    ) -> tuple[Floats, Integers]:
        """Return the needed columns side by side, NaN where missing."""
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
        """Move entries at inner nodes one step down."""
        nodes = entries.nodes
        value = values[entries.rows, column_of[self.attribute[nodes]]]
        branch = self.asked.branches(nodes, value)
        self._stand_in(branch, entries, values, column_of)
        branch = np.where(branch < 0, self.missing[nodes], branch)
        here = branch >= 0
        moved = self.children[self.first[nodes[here]] + branch[here]]
        if here.all():
            return Entries(entries.rows, moved, entries.weights)
        return self._divided(_subset(entries, ~here), _subset(entries, here), moved)

    def _stand_in(
        self, branch: Integers, entries: Entries, values: Floats, column_of: Integers
    ) -> None:
        """Let surrogates say the branches that are not known yet, the best first."""
        open_ = np.flatnonzero(branch < 0)
        order = 0
        while len(open_):
            nodes = entries.nodes[open_]
            asking = order < self.surrogate_count[nodes]
            open_, nodes = open_[asking], nodes[asking]
            asked = self.first_surrogate[nodes] + order
            column = column_of[self.surrogates.attribute[asked]]
            value = values[entries.rows[open_], column]
            branch[open_] = self.surrogates.branches(asked, value)
            open_ = open_[branch[open_] < 0]
            order += 1

    def _divided(self, divided: Entries, whole: Entries, moved: Integers) -> Entries:
        """Return moved entries and, after them, the parts of the divided ones."""
        counts = self.count[divided.nodes]
        # 0, 1, 2 … within each divided entry: the number of the branch.
        branch = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts)
        edge = np.repeat(self.first[divided.nodes], counts) + branch
        part = np.repeat(divided.weights, counts) * self.shares[edge]
        kept = part > 0
        return Entries(
            np.concatenate([whole.rows, np.repeat(divided.rows, counts)[kept]]),
            np.concatenate([moved, self.children[edge][kept]]),
            np.concatenate([whole.weights, part[kept]]),
        )


def _subset(entries: Entries, mask: NDArray[np.bool_]) -> Entries:
    return Entries(entries.rows[mask], entries.nodes[mask], entries.weights[mask])


def flatten(tree: Tree) -> FlatTree:
    """Lay a tree out as arrays to send rows down."""
    return FlatTree.of(arrays_of(tree))


def _questions(arrays: QuestionArrays) -> Questions:
    """Return splits with what says where each finds its branches and cuts."""
    first_code, first_cut = arrays.starts()
    swapped = np.zeros(len(arrays), np.bool_)
    if isinstance(arrays, SurrogateArrays):
        swapped = arrays.reversed
    return Questions(
        attribute=arrays.attribute.astype(np.int64),
        threshold=arrays.cut,
        first_code=first_code + 1,
        codes=arrays.in_branches,
        reversed=swapped,
        lookup=np.append(-1, arrays.branches).astype(np.int64),
        first_cut=first_cut,
        more_cuts=arrays.in_cuts,
        cuts=arrays.cuts,
    )
