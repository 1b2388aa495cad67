"""Histograms of the splitting attributes over a table's rows, by class.

A model stores only the counts on both sides of a cut, so a histogram needs rows. Bins
are equally wide, and the first cut of a node is an edge between two bins: the bars left
of the cut are the rows of the left branch.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.growth.prune import EncodedRows
from spinney.trees import Intervals, Node, Threshold, Tree
from spinney.trees.predict import Entries, FlatTree, flatten

BINS = 18


@dataclass(frozen=True, eq=False)
class Histogram:
    """The numbers of a split's attribute, over the rows at its node.

    Parameters
    ----------
    low, step : float
        The start of the first bin, and the width of bins; a number on an edge is in the
        bin that ends there.
    least, greatest : float
        The least and the greatest number of the rows.
    cuts : tuple of float
        The cuts between the branches of the node.
    weights : array
        Bins × classes, or bins × moments of a number that is predicted.
    missing : array
        The counts or moments of the rows without the number.
    """

    low: float
    step: float
    least: float
    greatest: float
    cuts: tuple[float, ...]
    weights: Floats
    missing: Floats

    def edges(self, at: int) -> tuple[float, float]:
        """Return the edges of a bin."""
        return self.low + at * self.step, self.low + (at + 1) * self.step

    @property
    def high(self) -> float:
        """The end of the last bin."""
        return self.low + len(self.weights) * self.step


def split_cuts(tree: Tree, node: Node) -> tuple[float, ...]:
    """Return the finite cuts of a numeric split of a node; else nothing."""
    if node.route is None:
        return ()
    split = node.route.described
    if tree.schema.attributes[split.attribute].kind != "numeric":
        return ()
    if isinstance(split, Threshold):
        cuts: Iterable[float] = (split.threshold,)
    else:
        cuts = split.cuts if isinstance(split, Intervals) else ()
    return tuple(cut for cut in cuts if np.isfinite(cut))


def node_histograms(
    tree: Tree, rows: EncodedRows, nodes: Iterable[int] | None = None
) -> Mapping[int, Histogram]:
    """Return histograms of rows at the nodes with numeric splits, by node.

    Parameters
    ----------
    tree : Tree
        The tree.
    rows : EncodedRows
        Rows with the columns of ``FlatTree.read``. A row divided by a missing value
        counts at each node with its weight there; a row of an unknown class is skipped.
    nodes : iterable of int, optional
        The nodes; all by default.
    """
    numbers = range(len(tree)) if nodes is None else nodes
    cuts = {number: split_cuts(tree, tree.nodes[number]) for number in numbers}
    cuts = {number: finite for number, finite in cuts.items() if finite}
    if not cuts:
        return {}
    at_nodes = _RowsAtNodes(tree, rows, np.array(sorted(cuts)))
    histograms = {}
    for number, cells, counts in at_nodes.rows_by_node():
        present = np.isfinite(cells)
        if present.any():
            missing = counts[~present].sum(axis=0)
            histograms[number] = _make_histogram(
                cells[present], counts[present], missing, cuts[number]
            )
    return histograms


def _make_histogram(
    numbers: Floats, counts: Floats, missing: Floats, cuts: tuple[float, ...]
) -> Histogram:
    low, step, size = _bin_layout(numbers, cuts[0])
    weights = np.zeros((size, counts.shape[1]))
    np.add.at(weights, bin_indices(numbers, low, step, size, cuts[0]), counts)
    ends = float(numbers.min()), float(numbers.max())
    return Histogram(low, step, *ends, cuts, weights, missing)


class _RowsAtNodes:
    """The rows at some nodes of a tree, with their weights there."""

    def __init__(self, tree: Tree, rows: EncodedRows, nodes: Integers) -> None:
        self.tree, self.rows, self.nodes = tree, rows, nodes
        self.flat: FlatTree = flatten(tree)
        self.columns = tree.schema.completed(rows.columns, self.flat.read)
        self.target = self._target_moments()

    def _target_moments(self) -> Floats:
        """Return the counts or moments of each row, for weight 1."""
        target, values = self.tree.schema.target, np.asarray(self.rows.targets)
        if target.is_numeric:
            off = values.astype(np.float64) - (target.origin or 0.0)
            return np.column_stack([np.ones(len(off)), off, off**2])
        # One more line: class -1 is the last, and is nothing.
        lines: Floats = np.vstack([np.eye(target.width), np.zeros(target.width)])
        return np.asarray(lines[values])

    def rows_by_node(self) -> Iterable[tuple[int, Floats, Floats]]:
        """Yield nodes with the indices of their rows, and each row's counts."""
        is_requested = np.zeros(len(self.tree), np.bool_)
        is_requested[self.nodes] = True
        levels: list[Entries] = []
        for level in self.flat.visits(self.columns, len(self.rows.targets)):
            at = np.flatnonzero(is_requested[level.nodes])
            levels.append(Entries(level.rows[at], level.nodes[at], level.weights[at]))
        nodes = np.concatenate([level.nodes for level in levels])
        order = np.argsort(nodes, kind="stable")
        nodes = nodes[order]
        rows = np.concatenate([level.rows for level in levels])[order]
        fractions = np.concatenate([level.weights for level in levels])[order]
        ends = np.flatnonzero(np.diff(nodes)) + 1
        for entries in np.split(np.arange(len(nodes)), ends):
            if not len(entries):
                continue
            number, members = int(nodes[entries[0]]), rows[entries]
            attribute = int(self.flat.attribute[number])
            numbers = np.asarray(self.columns[attribute], np.float64)[members]
            weights = fractions[entries] * self.rows.weights[members]
            yield number, numbers, self.target[members] * weights[:, None]


def _bin_layout(numbers: Floats, cut: float) -> tuple[float, float, int]:
    """Return the start of the first bin, the width of bins, and their number.

    A cut with numbers on both sides is an edge. Whole numbers have bins
    of whole widths, so that each bin holds as many of them.
    """
    least, greatest = float(numbers.min()), float(numbers.max())
    reach = greatest - least
    whole = bool((numbers == np.round(numbers)).all())
    if whole:
        step = float(max(ceil((reach + 1) / BINS), 1))
        least, greatest = least - 0.5, greatest + 0.5
    else:
        step = reach / BINS
    if not step > 0 or not np.isfinite(step):
        return least - 0.5, 1.0, 1
    low = least
    if least <= cut < greatest:
        low = cut - max(ceil((cut - least) / step), 1) * step
    return low, step, max(ceil((greatest - low) / step - 1e-9), 1)


def bin_indices(
    numbers: Floats, low: float, step: float, size: int, cut: float
) -> NDArray[Any]:
    """Return the bin of each number; rounding moves no number across the cut."""
    places = np.ceil((numbers - low) / step).astype(np.int64) - 1
    border = round((cut - low) / step)
    if 0 < border < size:
        left = np.minimum(places, border - 1)
        places = np.where(numbers <= cut, left, np.maximum(places, border))
    return np.clip(places, 0, size - 1)
