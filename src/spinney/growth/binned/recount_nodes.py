"""The records of a grown tree, counted over the same rows with other labels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, ramps
from spinney.growth.binned.binned_arrays import REASONS
from spinney.growth.binned.binned_dataset import encode_cells
from spinney.growth.binned.kernels.layout import BINS, MISSING_CODE
from spinney.growth.binned.kernels.nodes import (
    ATTRIBUTE,
    FIRST_LINE,
    GAIN,
    LEFT_CHILD,
    N_LINES,
    NODE_DEPTH,
    PARENT_NODE,
    REASON,
    CodeCounts,
    NodeRecords,
)
from spinney.growth.binned.kernels.route import RoutedTree, route_tree
from spinney.recipes import Recipe
from spinney.trees import CountTable, Reason, altered_priors

if TYPE_CHECKING:
    from spinney.sources.rows import TrainingSet

Costs = Sequence[Sequence[float]]

PURE, PRUNED = (
    REASONS.tolist().index(reason.code) for reason in (Reason.PURE, Reason.PRUNED)
)


def recount(
    records: NodeRecords,
    code_counts: CodeCounts,
    training: "TrainingSet",
    recipe: Recipe,
    costs: Costs | None = None,
) -> tuple[NodeRecords, CodeCounts]:
    """Return the records of a classification tree, counted on the true classes.

    The rows are the rows of ``training``. Under ``costs`` gains use altered weights.
    """
    counter = _RowCounter(records, code_counts, training)
    ints, floats = records.ints.copy(), records.floats.copy()
    leaf = ints[:, ATTRIBUTE] < 0
    leaves = counter.rows_at(np.flatnonzero(leaf))
    weights, counts = counter.tallied(*leaves, len(ints))
    for depth in range(int(ints[:, NODE_DEPTH].max()), 0, -1):
        nodes_at_depth = np.flatnonzero(ints[:, NODE_DEPTH] == depth)
        np.add.at(weights, ints[nodes_at_depth, PARENT_NODE], weights[nodes_at_depth])
        np.add.at(counts, ints[nodes_at_depth, PARENT_NODE], counts[nodes_at_depth])
    # By code, or missing where it is asked for: at the other nodes nobody looks.
    has_missing = (counter.cells.codes == MISSING_CODE).any(axis=0)
    listed = ints[:, N_LINES] > 0
    is_counted = ~leaf & (listed | has_missing[ints[:, ATTRIBUTE]])
    node, rows = counter.rows_at(np.flatnonzero(is_counted))
    code = counter.cells.codes[rows, ints[node, ATTRIBUTE]].astype(np.int64)
    is_missing, coded = code == MISSING_CODE, listed[node] & (code != MISSING_CODE)
    missing = counter.tallied(node[is_missing], rows[is_missing], len(ints))
    line = _code_lines(records, code_counts, node[coded], code[coded])
    by_code = counter.tallied(line, rows[coded], len(code_counts.codes))
    inner = np.flatnonzero(~leaf)
    children = ints[inner][:, [LEFT_CHILD, LEFT_CHILD + 1]]
    none = np.zeros(weights.shape[1]), np.zeros(weights.shape[1], np.int64)
    sides = CountTable(np.arange(2), weights[children], counts[children], *none)
    if costs is not None:
        sides = sides.scaled(altered_priors(weights[0], costs))
    criterion = recipe.measure(numeric=False)
    floats[inner, GAIN] = criterion.gain(sides) if len(inner) else 0.0
    pure = (counts > 0).sum(axis=1) <= 1
    ints[leaf & ~pure & (ints[:, REASON] == PURE), REASON] = PRUNED
    ints[leaf & pure, REASON] = PURE
    both = (np.hstack(pair) for pair in zip((weights, counts), missing, strict=True))
    return NodeRecords(ints, floats, *both), CodeCounts(code_counts.codes, *by_code)


class _RowCounter:
    """Rows routed down a tree, and counted by class."""

    def __init__(
        self, records: NodeRecords, code_counts: CodeCounts, training: "TrainingSet"
    ) -> None:
        self.cells = encode_cells(training.schema.attributes, training.columns)
        self.classes, self.width = training.classes, training.schema.n_classes
        self.weights, n_rows = training.sample_weights, len(training.classes)
        self.rows = np.arange(n_rows, dtype=np.uint32)
        self.spans = np.zeros((len(records.ints), 2), np.int64)
        self.spans[0] = 0, n_rows
        fields = records.ints, records.floats, code_counts.codes
        tree = RoutedTree(self.cells, *fields, self.spans, self.rows)
        route_tree(tree, np.zeros(BINS, np.int64), np.empty(n_rows, np.int64))

    def rows_at(self, nodes: Integers) -> tuple[Integers, NDArray[np.uint32]]:
        """Return the rows at some nodes, and the node of each row."""
        begin, end = self.spans[nodes].T
        sizes = end - begin
        return np.repeat(nodes, sizes), self.rows[
            np.repeat(begin, sizes) + ramps(sizes)
        ]

    def tallied(
        self, owner: Integers, rows: NDArray[np.uint32], n: int
    ) -> tuple[Floats, Integers]:
        """Return weights and numbers of rows, summed by owner and class."""
        keys, records = owner * self.width + self.classes[rows], (n, self.width)
        weights = np.bincount(keys, self.weights[rows], minlength=n * self.width)
        counts = np.bincount(keys, minlength=n * self.width)
        return weights.astype(np.float64).reshape(records), counts.reshape(records)


def _code_lines(
    records: NodeRecords, code_counts: CodeCounts, node: Integers, code: Integers
) -> Integers:
    """Return the lines of the codes of nodes."""
    n_lines = records.ints[:, N_LINES].astype(np.int64)
    nodes = np.repeat(np.arange(len(n_lines)), n_lines)
    line = np.repeat(records.ints[:, FIRST_LINE], n_lines) + ramps(n_lines)
    keys = nodes * BINS + code_counts.codes[line, 0]  # rising, as codes are
    return np.asarray(line[np.searchsorted(keys, node * BINS + code)])
