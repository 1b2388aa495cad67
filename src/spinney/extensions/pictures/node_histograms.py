"""Histograms of the attributes of splits over given rows, by class.

A model keeps the counts on the sides of a cut and no more, so a histogram needs rows.
Its bins are equally wide, and the first cut of a node is an edge between two of them: a
bar is on one side of it, and what is left of the cut is what takes the left branch.
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
        Where the first bin begins, and how wide each is; a number on an edge is in the
        bin that ends there.
    least, greatest : float
        The least and the greatest number of these rows.
    cuts : tuple of float
        Where the branches of the node part.
    weights : array
        Bins × classes, or bins × moments of a number that is predicted.
    missing : array
        The same of the rows that lack the number.
    """

    low: float
    step: float
    least: float
    greatest: float
    cuts: tuple[float, ...]
    weights: Floats
    missing: Floats

    def edges(self, at: int) -> tuple[float, float]:
        """Return where a bin begins and ends."""
        return self.low + at * self.step, self.low + (at + 1) * self.step

    @property
    def high(self) -> float:
        """The end of the last bin."""
        return self.low + len(self.weights) * self.step


def cuts_of(tree: Tree, node: Node) -> tuple[float, ...]:
    """Return where the branches of a node that asks for a number part; else nothing."""
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
    """Return histograms of rows at the nodes that ask for numbers, by node.

    Parameters
    ----------
    tree : Tree
        The tree.
    rows : EncodedRows
        They need the columns of ``FlatTree.read``. One that a missing value divides
        counts at each node with its part; one of an unknown class does not count.
    nodes : iterable of int, optional
        Of which nodes; of all, if not given.
    """
    wanted = range(len(tree)) if nodes is None else nodes
    cuts = {number: cuts_of(tree, tree.nodes[number]) for number in wanted}
    cuts = {number: each for number, each in cuts.items() if each}
    if not cuts:
        return {}
    sent = _SentRows(tree, rows, np.array(sorted(cuts)))
    made = {}
    for number, numbers, counted in sent.at_nodes():
        known = np.isfinite(numbers)
        if known.any():
            made[number] = _histogram(
                numbers[known], counted[known], counted[~known], cuts[number]
            )
    return made


def _histogram(
    numbers: Floats, counted: Floats, without: Floats, cuts: tuple[float, ...]
) -> Histogram:
    low, step, size = _bins(numbers, cuts[0])
    weights = np.zeros((size, counted.shape[1]))
    np.add.at(weights, bin_places(numbers, low, step, size, cuts[0]), counted)
    ends = float(numbers.min()), float(numbers.max())
    return Histogram(low, step, *ends, cuts, weights, without.sum(axis=0))


class _SentRows:
    """Rows on their way down a tree, kept at the nodes that are wanted."""

    def __init__(self, tree: Tree, rows: EncodedRows, nodes: Integers) -> None:
        self.tree, self.rows, self.nodes = tree, rows, nodes
        self.flat: FlatTree = flatten(tree)
        self.columns = tree.schema.completed(rows.columns, self.flat.read)
        self.target = self._columns_of_target()

    def _columns_of_target(self) -> Floats:
        """Return what each row of weight 1 adds to a line of counts."""
        target, values = self.tree.schema.target, np.asarray(self.rows.targets)
        if target.is_numeric:
            off = values.astype(np.float64) - (target.origin or 0.0)
            return np.column_stack([np.ones(len(off)), off, off**2])
        # One more line: class -1 is the last, and is nothing.
        lines: Floats = np.vstack([np.eye(target.width), np.zeros(target.width)])
        return np.asarray(lines[values])

    def at_nodes(self) -> Iterable[tuple[int, Floats, Floats]]:
        """Yield nodes with the numbers of their rows and what each row counts."""
        wanted = np.zeros(len(self.tree), np.bool_)
        wanted[self.nodes] = True
        kept: list[Entries] = []
        for each in self.flat.visits(self.columns, len(self.rows.targets)):
            at = np.flatnonzero(wanted[each.nodes])
            kept.append(Entries(each.rows[at], each.nodes[at], each.weights[at]))
        nodes = np.concatenate([each.nodes for each in kept])
        order = np.argsort(nodes, kind="stable")
        nodes = nodes[order]
        rows = np.concatenate([each.rows for each in kept])[order]
        parts = np.concatenate([each.weights for each in kept])[order]
        ends = np.flatnonzero(np.diff(nodes)) + 1
        for some in np.split(np.arange(len(nodes)), ends):
            if not len(some):
                continue
            number, members = int(nodes[some[0]]), rows[some]
            attribute = int(self.flat.attribute[number])
            numbers = np.asarray(self.columns[attribute], np.float64)[members]
            weights = parts[some] * self.rows.weights[members]
            yield number, numbers, self.target[members] * weights[:, None]


def _bins(numbers: Floats, cut: float) -> tuple[float, float, int]:
    """Return where the first bin begins, how wide bins are, and how many there are.

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


def bin_places(
    numbers: Floats, low: float, step: float, size: int, cut: float
) -> NDArray[Any]:
    """Return the bin of each number; no rounding takes one over the cut."""
    places = np.ceil((numbers - low) / step).astype(np.int64) - 1
    border = round((cut - low) / step)
    if 0 < border < size:
        left = np.minimum(places, border - 1)
        places = np.where(numbers <= cut, left, np.maximum(places, border))
    return np.clip(places, 0, size - 1)
