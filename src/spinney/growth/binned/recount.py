"""The records of a grown tree over the same rows with other labels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, ramps
from spinney.growth.binned.binned_arrays import REASONS
from spinney.growth.binned.binned_rows import cells_of
from spinney.growth.binned.kernels.layout import ABSENT, BINS
from spinney.growth.binned.kernels.nodes import (
    ABOVE,
    ATTRIBUTE,
    CHILD,
    GAIN,
    HEIGHT,
    LINE,
    LINES,
    REASON,
    Lines,
    Shape,
)
from spinney.growth.binned.kernels.send import SentTree, send_all
from spinney.recipes import Recipe
from spinney.trees import CountTable, Reason, altered_priors

if TYPE_CHECKING:
    from spinney.sources.rows import TrainingSet

Costs = Sequence[Sequence[float]]

PURE, PRUNED = (
    REASONS.tolist().index(reason.code) for reason in (Reason.PURE, Reason.PRUNED)
)


def recount(
    shape: Shape,
    lines: Lines,
    training: "TrainingSet",
    recipe: Recipe,
    costs: Costs | None = None,
) -> tuple[Shape, Lines]:
    """Return the records of a tree of classes, counted on the true classes.

    The rows are those that it was grown on. Under ``costs`` gains are those of altered
    weights.
    """
    counter = _Counter(shape, lines, training)
    whole, real = shape.whole.copy(), shape.real.copy()
    leaf = whole[:, ATTRIBUTE] < 0
    leaves = counter.rows_at(np.flatnonzero(leaf))
    weights, counts = counter.tallied(*leaves, len(whole))
    for depth in range(int(whole[:, HEIGHT].max()), 0, -1):
        here = np.flatnonzero(whole[:, HEIGHT] == depth)
        np.add.at(weights, whole[here, ABOVE], weights[here])
        np.add.at(counts, whole[here, ABOVE], counts[here])
    # By code, or missing where it is asked for: at the other nodes nobody looks.
    lacking = (counter.cells.codes == ABSENT).any(axis=0)
    listed = whole[:, LINES] > 0
    asks = ~leaf & (listed | lacking[whole[:, ATTRIBUTE]])
    node, rows = counter.rows_at(np.flatnonzero(asks))
    code = counter.cells.codes[rows, whole[node, ATTRIBUTE]].astype(np.int64)
    away, coded = code == ABSENT, listed[node] & (code != ABSENT)
    absent = counter.tallied(node[away], rows[away], len(whole))
    line = _lines_of(shape, lines, node[coded], code[coded])
    by_code = counter.tallied(line, rows[coded], len(lines.codes))
    inner = np.flatnonzero(~leaf)
    children = whole[inner][:, [CHILD, CHILD + 1]]
    none = np.zeros(weights.shape[1]), np.zeros(weights.shape[1], np.int64)
    sides = CountTable(np.arange(2), weights[children], counts[children], *none)
    if costs is not None:
        sides = sides.scaled(altered_priors(weights[0], costs))
    criterion = recipe.measure(numeric=False)
    real[inner, GAIN] = criterion.gain(sides) if len(inner) else 0.0
    pure = (counts > 0).sum(axis=1) <= 1
    whole[leaf & ~pure & (whole[:, REASON] == PURE), REASON] = PRUNED
    whole[leaf & pure, REASON] = PURE
    both = (np.hstack(pair) for pair in zip((weights, counts), absent, strict=True))
    return Shape(whole, real, *both), Lines(lines.codes, *by_code)


class _Counter:
    """Rows that are sent down a tree, and counted by class."""

    def __init__(self, shape: Shape, lines: Lines, training: "TrainingSet") -> None:
        self.cells = cells_of(training.schema.attributes, training.columns)
        self.classes, self.width = training.classes, training.schema.n_classes
        self.weights, n_rows = training.own_weights, len(training.classes)
        self.rows = np.arange(n_rows, dtype=np.uint32)
        self.spans = np.zeros((len(shape.whole), 2), np.int64)
        self.spans[0] = 0, n_rows
        of_nodes = shape.whole, shape.real, lines.codes
        tree = SentTree(self.cells, *of_nodes, self.spans, self.rows)
        send_all(tree, np.zeros(BINS, np.int64), np.empty(n_rows, np.int64))

    def rows_at(self, nodes: Integers) -> tuple[Integers, NDArray[np.uint32]]:
        """Return the rows of nodes, and the node of each."""
        begin, end = self.spans[nodes].T
        sizes = end - begin
        return np.repeat(nodes, sizes), self.rows[
            np.repeat(begin, sizes) + ramps(sizes)
        ]

    def tallied(
        self, owner: Integers, rows: NDArray[np.uint32], n: int
    ) -> tuple[Floats, Integers]:
        """Return the weights and numbers of rows by their owners, and by class."""
        keys, shape = owner * self.width + self.classes[rows], (n, self.width)
        weights = np.bincount(keys, self.weights[rows], minlength=n * self.width)
        counts = np.bincount(keys, minlength=n * self.width)
        return weights.astype(np.float64).reshape(shape), counts.reshape(shape)


def _lines_of(shape: Shape, lines: Lines, node: Integers, code: Integers) -> Integers:
    """Return the lines of the codes of nodes."""
    own = shape.whole[:, LINES].astype(np.int64)
    nodes = np.repeat(np.arange(len(own)), own)
    line = np.repeat(shape.whole[:, LINE], own) + ramps(own)
    keys = nodes * BINS + lines.codes[line, 0]  # rising, as codes are
    return np.asarray(line[np.searchsorted(keys, node * BINS + code)])
