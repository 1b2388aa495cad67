"""From a tree to flat arrays, and from those to leaves, paths and probabilities.

A row travels as an entry (row, node, weight). At each step every entry that is
not at a leaf moves to a child; where its value is missing and the node divides
such rows, the entry becomes one entry a branch, its weight divided by shares::

    rows    0    1    2         0    1    2    2    2
    nodes   0    0    0    →    3    1    1    3    7        row 2 was missing
    weights 1    1    1         1    1   .2   .5   .3

All entries move together, so a step costs the same for one row or many, and a
tree of any depth is walked without recursion.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney.counts import TOLERANCE, Floats, Integers
from spinney.linear import FlatModels, flat_models
from spinney.split import Groups, Intervals
from spinney.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["Entries", "FlatTree", "flatten"]

BLOCK = 65_536


@dataclass(frozen=True, slots=True)
class Entries:
    """Rows at nodes, with the weight that each has there."""

    rows: Integers
    nodes: Integers
    weights: Floats


@dataclass(frozen=True, slots=True)
class FlatTree:
    """A tree as arrays, one entry a node; -1 stands for none.

    ``first`` and ``count`` say where a node's children are in ``children`` and
    ``shares``; ``first_code`` and ``codes`` where the branches of its codes are
    in ``lookup``. A threshold is the first of a node's cuts; ``first_cut`` and
    ``more_cuts`` say where the others are in ``cuts``.
    """

    attribute: Integers
    threshold: Floats
    missing: Integers
    first: Integers
    count: Integers
    first_code: Integers
    codes: Integers
    children: Integers
    shares: Floats
    lookup: Integers
    distribution: Floats
    first_cut: Integers
    more_cuts: Integers
    cuts: Floats
    models: FlatModels

    @property
    def needed(self) -> Integers:
        """The attributes that some node asks about, or some leaf's model reads."""
        leaves = np.repeat(self.attribute < 0, self.models.count)
        read = self.models.attribute[leaves]
        return np.union1d(self.attribute[self.attribute >= 0], read)

    def outputs(self, columns: Sequence[NDArray[Any]], n_rows: int) -> Floats:
        """Return what is predicted of each row: class shares, or one number."""
        result = np.zeros((n_rows, self.distribution.shape[1]))
        modelled = bool(self.models.has.any())
        gathered = self._gathered(columns, n_rows) if modelled else None
        for entries in self.leaves(columns, n_rows):
            found = self.distribution[entries.nodes]
            here = self.models.has[entries.nodes]
            if gathered is not None and here.any():
                nodes, rows = entries.nodes[here], entries.rows[here]
                found[here, 0] = self.models.values(nodes, rows, *gathered)
            np.add.at(result, entries.rows, found * entries.weights[:, None])
        return result

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

        nothing = Entries(_filled(0, 0), _filled(0, 0), np.zeros(0))
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
                yield _taken(entries, at_leaf)

    def visits(self, columns: Sequence[NDArray[Any]], n_rows: int) -> Iterator[Entries]:
        """Yield all entries of all rows, step by step, a block of rows at a time."""
        values, place = self._gathered(columns, n_rows)
        for start in range(0, max(n_rows, 1), BLOCK):
            rows = np.arange(start, min(start + BLOCK, n_rows))
            entries = Entries(rows, np.zeros_like(rows), np.ones(len(rows)))
            while len(entries.rows):
                yield entries
                inner = _taken(entries, self.attribute[entries.nodes] >= 0)
                entries = self._step(inner, values, place)

    def _gathered(
        self, columns: Sequence[NDArray[Any]], n_rows: int
    ) -> tuple[Floats, Integers]:
        """Return the needed columns side by side, NaN where missing."""
        needed = self.needed
        place = np.zeros(int(needed.max(initial=-1)) + 1, dtype=np.int64)
        place[needed] = np.arange(len(needed))
        values = np.empty((n_rows, len(needed)))
        for position, attribute in enumerate(needed):
            cells = np.asarray(columns[attribute])
            if cells.dtype.kind != "f":
                cells = np.where(cells < 0, np.nan, cells)
            values[:, position] = cells
        return values, place

    def _step(self, entries: Entries, values: Floats, place: Integers) -> Entries:
        """Move entries at inner nodes one step down."""
        nodes = entries.nodes
        value = values[entries.rows, place[self.attribute[nodes]]]
        branch = self._branches(nodes, value)
        branch = np.where(branch < 0, self.missing[nodes], branch)
        here = branch >= 0
        moved = self.children[self.first[nodes[here]] + branch[here]]
        if here.all():
            return Entries(entries.rows, moved, entries.weights)
        return self._divided(_taken(entries, ~here), _taken(entries, here), moved)

    def _branches(self, nodes: Integers, value: Floats) -> Integers:
        """Return the branch of each value at its node; -1 if missing or unseen."""
        absent = np.isnan(value)
        by_number = ~np.isnan(self.threshold[nodes])
        branch = (value > self.threshold[nodes]).astype(np.int64)
        for place in range(int(self.more_cuts.max(initial=0))):
            further = np.flatnonzero(self.more_cuts[nodes] > place)
            cut = self.cuts[self.first_cut[nodes[further]] + place]
            branch[further] += value[further] > cut
        code = np.where(absent | by_number, 0, value).astype(np.int64)
        seen = code < self.codes[nodes]
        found = self.lookup[np.where(seen, self.first_code[nodes] + code, -1)]
        branch = np.where(by_number, branch, np.where(seen, found, -1))
        return np.where(absent, -1, branch)

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


def _taken(entries: Entries, mask: NDArray[np.bool_]) -> Entries:
    return Entries(entries.rows[mask], entries.nodes[mask], entries.weights[mask])


def flatten(tree: Tree) -> FlatTree:
    """Lay a tree out as arrays."""
    n_nodes = len(tree)
    attribute, missing = _filled(n_nodes, -1), _filled(n_nodes, -1)
    first, count = _filled(n_nodes, 0), _filled(n_nodes, 0)
    first_code, codes = _filled(n_nodes, 0), _filled(n_nodes, 0)
    threshold = np.full(n_nodes, np.nan)
    children: list[int] = []
    shares: list[float] = []
    lookup: list[Integers] = [_filled(1, -1)]
    n_codes = 1
    first_cut, more_cuts = _filled(n_nodes, 0), _filled(n_nodes, 0)
    cuts: list[float] = []
    for node in tree:
        split = node.split
        if split is None:
            continue
        attribute[node.number] = split.attribute
        missing[node.number] = -1 if split.missing is None else split.missing
        first[node.number], count[node.number] = len(children), len(node.children)
        children.extend(node.children)
        shares.extend(split.shares)
        if isinstance(split, Groups):
            branches = split.lookup()
            lookup.append(branches)
            first_code[node.number], codes[node.number] = n_codes, len(branches)
            n_codes += len(branches)
        elif isinstance(split, Intervals):
            threshold[node.number], *rest = split.cuts
            first_cut[node.number], more_cuts[node.number] = len(cuts), len(rest)
            cuts.extend(rest)
        else:
            threshold[node.number] = split.threshold
    return FlatTree(
        attribute,
        threshold,
        missing,
        first,
        count,
        first_code,
        codes,
        np.array(children, dtype=np.int64),
        np.array(shares, dtype=np.float64),
        np.concatenate(lookup),
        np.array([node.distribution for node in tree]),
        first_cut,
        more_cuts,
        np.array(cuts, dtype=np.float64),
        flat_models([node.model for node in tree]),
    )


def _filled(size: int, value: int) -> Integers:
    return np.full(size, value, dtype=np.int64)
