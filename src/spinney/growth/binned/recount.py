"""The records of a grown tree over the same rows with other labels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney.growth.binned.binned_arrays import REASONS
from spinney.growth.binned.binned_rows import cells_of
from spinney.growth.binned.loops.layout import ABSENT, BINS
from spinney.growth.binned.loops.nodes import (
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
from spinney.growth.binned.loops.send import SentTree, send_all
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
    return _Counter(shape, lines, training).counted(recipe, costs)


class _Counter:
    """Rows in the order of the leaves, with the stretch of each node."""

    def __init__(self, shape: Shape, lines: Lines, training: "TrainingSet") -> None:
        self.shape, self.lines = shape, lines
        self.cells = cells_of(training.schema.attributes, training.columns)
        self.classes, self.width = training.classes, training.schema.n_classes
        self.weights = training.own_weights
        n_rows = len(self.classes)
        self.rows = np.arange(n_rows, dtype=np.uint32)
        self.spans = np.zeros((len(shape.whole), 2), np.int64)
        self.spans[0] = 0, n_rows
        of_nodes = (self.shape.whole, self.shape.real, self.lines.codes)
        tree = SentTree(self.cells, *of_nodes, self.spans, self.rows)
        send_all(tree, np.zeros(BINS, np.int64), np.empty(n_rows, np.int64))

    def counted(
        self, recipe: Recipe, costs: Costs | None = None
    ) -> tuple[Shape, Lines]:
        """Return the records of nodes with these counts."""
        weights, counts = self.totals()
        absent_weights, absent_counts = self.absent()
        whole, real = self.shape.whole.copy(), self.shape.real.copy()
        inner = np.flatnonzero(whole[:, ATTRIBUTE] >= 0)
        children = whole[inner][:, [CHILD, CHILD + 1]]
        sides = CountTable(
            np.arange(2),
            weights[children],
            counts[children],
            np.zeros(self.width),
            np.zeros(self.width, np.int64),
        )
        criterion = recipe.measure(numeric=False)
        if costs is not None:
            sides = sides.scaled(altered_priors(weights[0], costs))
        real[inner, GAIN] = criterion.gain(sides) if len(inner) else 0.0
        leaf, pure = whole[:, ATTRIBUTE] < 0, (counts > 0).sum(axis=1) <= 1
        whole[leaf & ~pure & (whole[:, REASON] == PURE), REASON] = PRUNED
        whole[leaf & pure, REASON] = PURE
        shape = Shape(
            whole,
            real,
            np.hstack([weights, absent_weights]),
            np.hstack([counts, absent_counts]),
        )
        return shape, self.by_code()

    def totals(self) -> tuple[Floats, NDArray[np.int64]]:
        """Return the weights and numbers of rows of all nodes, by class.

        Leaves are counted, and what is above them is added up from below.
        """
        whole, n = self.shape.whole, len(self.shape.whole)
        leaves = np.flatnonzero(whole[:, ATTRIBUTE] < 0)
        begin, end = self.spans[leaves].T
        nodes = np.repeat(leaves, end - begin)
        keys = nodes * self.width + self.classes[self.rows]
        own, size = self.weights[self.rows], n * self.width
        weights = np.bincount(keys, own, minlength=size).reshape(n, self.width)
        counts = np.bincount(keys, minlength=size).reshape(n, self.width)
        for depth in range(int(whole[:, HEIGHT].max()), 0, -1):
            here = np.flatnonzero(whole[:, HEIGHT] == depth)
            np.add.at(weights, whole[here, ABOVE], weights[here])
            np.add.at(counts, whole[here, ABOVE], counts[here])
        return weights.astype(np.float64), counts.astype(np.int64)

    def absent(self) -> tuple[Floats, NDArray[np.int64]]:
        """Return the same of the rows whose value is missing where it is asked for."""
        whole = self.shape.whole
        weights = np.zeros((len(whole), self.width))
        counts = np.zeros((len(whole), self.width), np.int64)
        lacking = (self.cells.codes == ABSENT).any(axis=0)
        asked = whole[:, ATTRIBUTE]
        for node in np.flatnonzero((asked >= 0) & lacking[asked]).tolist():
            rows = self.rows_of(node)
            rows = rows[self.cells.codes[rows, asked[node]] == ABSENT]
            self.tally(rows, np.zeros(len(rows), int), weights[node : node + 1])
            np.add.at(counts[node], self.classes[rows], 1)
        return weights, counts

    def by_code(self) -> Lines:
        """Return the lines of codes, which are the codes that they were."""
        whole, codes = self.shape.whole, self.lines.codes
        weights = np.zeros((len(codes), self.width))
        counts = np.zeros((len(codes), self.width), np.int64)
        for node in np.flatnonzero(whole[:, LINES] > 0).tolist():
            first, number = whole[node, [LINE, LINES]]
            lines = slice(first, first + number)
            rows = self.rows_of(node)
            own = self.cells.codes[rows, whole[node, ATTRIBUTE]]
            rows, own = rows[own != ABSENT], own[own != ABSENT]
            owners = np.searchsorted(codes[lines, 0], own)
            self.tally(rows, owners, weights[lines])
            np.add.at(counts[lines], (owners, self.classes[rows]), 1)
        return Lines(codes, weights, counts)

    def rows_of(self, node: int) -> NDArray[np.uint32]:
        """Return the rows of a node."""
        begin, end = self.spans[node]
        return self.rows[begin:end]

    def tally(
        self, rows: NDArray[np.uint32], owners: NDArray[np.int64], weights: Floats
    ) -> None:
        """Add the weights of rows to lines, by class."""
        np.add.at(weights, (owners, self.classes[rows]), self.weights[rows])
