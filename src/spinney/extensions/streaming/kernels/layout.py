"""The arrays of stream kernels: nodes, and the count tables of active leaves.

Python creates and enlarges them; kernels write to them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers

N_BINS = 64
"""The most bins of a numeric attribute at a leaf."""

# The ``attribute`` of a leaf, and of a node that was removed.
LEAF, REMOVED = np.array([-1, -2])

# The entries of ``StreamNodes.errors``: all rows, and those up to the least and the
# greatest bound on their mean.
ALL_ROWS, ALL_WRONG, LOW_ROWS, LOW_WRONG, HIGH_ROWS, HIGH_WRONG = np.arange(6)

# The entries of ``StreamNodes.correct``, and of the last axis of
# ``StreamSlots.moments``.
BY_COUNTS, BY_BAYES = np.arange(2)
WEIGHT, MEAN, SQUARES = np.arange(3)

# The kinds of columns.
NUMBER, ORDINAL, NOMINAL = np.arange(3)

# Criteria.
ENTROPY, GINI = np.arange(2)

# The entries of ``Stream.state``: counts so far.
N_NODES, N_CODES, N_LEAVES, N_FREE, N_INACTIVE, N_ROWS, N_CORRECT, NEXT_ROW = np.arange(
    8
)
N_DRIFTS = np.int64(8)
STATE_SIZE = 9

# The entries of ``Stream.limits``.
(
    GRACE_PERIOD,
    MAX_DEPTH,
    MAX_LEAVES,
    MAX_ACTIVE_LEAVES,
    CRITERION,
    MAX_BRANCHES,
    RANK_EVERY,
) = np.arange(7)
DETECTS_DRIFT, IS_ADAPTIVE = np.array([7, 8])

# The entries of ``Stream.bounds``.
LOG_DELTA, TIE_THRESHOLD = np.arange(2)


class StreamColumns(NamedTuple):
    """The attributes: their kinds, and where their lines begin in a count table.

    An attribute has a line for each value, or bin of numbers, then one for missing
    cells. ``number`` counts the numeric attributes; -1 for others.
    """

    kind: Integers
    first: Integers
    n_lines: Integers
    number: Integers


class StreamNodes(NamedTuple):
    """The nodes, in the order in which they were made; the first is the root.

    Parameters
    ----------
    attribute : array
        The splitting attribute; ``LEAF``, or ``REMOVED`` below a node that was reset.
    cut : array of float64
        The threshold; NaN for a split with a branch for each value.
    child, n_branches : arrays
        The first child, and the number of children, which have consecutive indices.
    missing : array
        The branch of missing values, and of values that the node had not seen.
    codes : array
        Where the branches of a node's values begin in ``branch_by_code``; -1 without.
    parent, depth, slot, label : arrays
        The parent; the depth; the table of an active leaf, or -1; the majority class,
        -1 without rows.
    rows : array
        The number of rows at a leaf.
    weights : array of float64, nodes × classes
        The class weights at a leaf.
    errors : array of float64, nodes × 6
        The errors on rows that passed an inner node, for the detection of drift.
    correct : array of float64, nodes × 2
        The weight of rows predicted correctly at a leaf, by its counts and by naive
        Bayes.
    branch_by_code : array
        The branch of each code, or -1, for splits with a branch per value; the first
        ``N_CODES`` are in use.
    """

    attribute: Integers
    cut: Floats
    child: Integers
    n_branches: Integers
    missing: Integers
    codes: Integers
    parent: Integers
    depth: Integers
    slot: Integers
    label: Integers
    rows: Integers
    weights: Floats
    errors: Floats
    correct: Floats
    branch_by_code: Integers


class StreamSlots(NamedTuple):
    """The tables of active leaves, one slot for each.

    Parameters
    ----------
    counts : array, slots × lines × classes
        The weights by value, or bin, and class.
    rows : array, slots × lines
        The rows by value or bin.
    n_rows : array
        The number of rows since the leaf has the slot.
    edges : array, slots × numbers × (bins − 1)
        The greatest number of each bin but the last.
    n_edges : array, slots × numbers
    buffer, buffer_class, buffer_weight : arrays, slots × rows (× numbers)
        The first rows of a leaf, until it has bins.
    moments : array, slots × numbers × classes × 3
        Weight, mean and squares about the mean, for naive Bayes.
    totals : array, slots × classes
        The weight of each class.
    free : array
        The free slots; the first ``N_FREE`` are in use.
    """

    counts: Floats
    rows: Integers
    n_rows: Integers
    edges: Floats
    n_edges: Integers
    buffer: Floats
    buffer_class: Integers
    buffer_weight: Floats
    moments: Floats
    totals: Floats
    free: Integers


class StreamWorkspace(NamedTuple):
    """The workspace of one split attempt: numbers by class, and numbers to sort."""

    whole: Floats
    present: Floats
    left: Floats
    right: Floats
    missing: Floats
    scores: Floats
    product: Floats
    sorted: Floats


class Stream(NamedTuple):
    """A growing tree: attributes, nodes, count tables, settings and state."""

    columns: StreamColumns
    nodes: StreamNodes
    slots: StreamSlots
    work: StreamWorkspace
    state: Integers
    limits: Integers
    bounds: Floats


class StreamRows(NamedTuple):
    """Rows to learn: ``cells`` are numbers and codes, NaN where missing.

    ``predicted`` becomes the class that the tree predicted for each row, or -1, before
    it learned the row.
    """

    cells: Floats
    classes: Integers
    weights: Floats
    predicted: NDArray[np.int64]
