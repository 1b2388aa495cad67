"""What the kernels of streams work on: nodes, and the tables that growing leaves count.

All of it is made, and made larger, by Python; loops write to it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers

N_BINS = 64
"""Into how many bins a leaf puts the numbers of an attribute, at most."""

# What ``attribute`` says of a node that asks nothing, and of one that is no more.
LEAF, GONE = np.array([-1, -2])

# The entries of ``StreamNodes.errors``: all rows, and up to the least and the greatest
# bound on their mean.
ALL_ROWS, ALL_WRONG, LOW_ROWS, LOW_WRONG, HIGH_ROWS, HIGH_WRONG = np.arange(6)

# The entries of ``StreamNodes.right``, and of the last axis of ``StreamSlots.moments``.
BY_COUNTS, BY_BAYES = np.arange(2)
WEIGHT, MEAN, SQUARES = np.arange(3)

# How the cells of a column are counted.
NUMBER, ORDINAL, NOMINAL = np.arange(3)

# What a split gains.
ENTROPY, GINI = np.arange(2)

# The entries of ``Stream.at``: what there is so far.
N_NODES, N_CODES, N_LEAVES, N_FREE, N_IDLE, N_ROWS, N_RIGHT, NEXT_ROW = np.arange(8)
N_CHANGES = np.int64(8)
LENGTH_OF_AT = 9

# The entries of ``Stream.limits``.
GRACE, MAX_DEPTH, MAX_LEAVES, COUNTING, CRITERION, MOST_BRANCHES, RANK_EVERY = (
    np.arange(7)
)
WATCHES, ADAPTS = np.array([7, 8])

# The entries of ``Stream.bounds``.
LOG_DELTA, TIE = np.arange(2)


class StreamColumns(NamedTuple):
    """The attributes: what they are, and where their lines stand in a table.

    An attribute has a line for each value, or bin of numbers, and one after these for
    missing cells. ``number`` counts the numeric ones; -1 for others.
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
        What a node asks about; ``LEAF``, or ``GONE`` below a node that began anew.
    cut : array of float64
        The threshold; NaN where there is a branch for each value.
    child, n_branches : arrays
        The first of its children, which stand side by side, and how many there are.
    missing : array
        The branch of missing values, and of those that the node had not seen.
    codes : array
        Where the branches of its values begin in ``branch_of``; -1 if it has none.
    parent, depth, slot, label : arrays
        The node above; the questions above; the table that a leaf counts in, or -1; the
        commonest class, -1 where there is none.
    rows : array
        How many rows came to a leaf.
    weights : array of float64, nodes × classes
        What came to a leaf.
    errors : array of float64, nodes × 6
        How rows fared that came to a node that asks, where changes are watched for.
    right : array of float64, nodes × 2
        The weight of rows that a leaf told right, by its counts and by naive Bayes.
    branch_of : array
        For each code of a question with a branch a value its branch, or -1; the first
        ``N_CODES`` count.
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
    right: Floats
    branch_of: Integers


class StreamSlots(NamedTuple):
    """The tables of growing leaves, one slot for each.

    Parameters
    ----------
    counts : array, slots × lines × classes
        The weights by value, or bin, and class.
    rows : array, slots × lines
        The rows by value or bin.
    seen : array
        How many rows have come to the leaf since it has the slot.
    edges : array, slots × numbers × (bins − 1)
        The greatest number of each bin but the last.
    n_edges : array, slots × numbers
    held, held_class, held_weight : arrays, slots × rows (× numbers)
        The first rows of a leaf, as long as it has no bins.
    moments : array, slots × numbers × classes × 3
        Weight, mean and squares about the mean, for naive Bayes.
    totals : array, slots × classes
        The weight of each class.
    free : array
        The slots that nobody has; the first ``N_FREE`` count.
    """

    counts: Floats
    rows: Integers
    seen: Integers
    edges: Floats
    n_edges: Integers
    held: Floats
    held_class: Integers
    held_weight: Floats
    moments: Floats
    totals: Floats
    free: Integers


class StreamWorkspace(NamedTuple):
    """Room for one look at a leaf: numbers by class, and numbers to be sorted."""

    whole: Floats
    known: Floats
    left: Floats
    right: Floats
    absent: Floats
    scores: Floats
    product: Floats
    sorted: Floats


class Stream(NamedTuple):
    """A growing tree, with all that it takes to grow on."""

    columns: StreamColumns
    nodes: StreamNodes
    slots: StreamSlots
    room: StreamWorkspace
    at: Integers
    limits: Integers
    bounds: Floats


class StreamRows(NamedTuple):
    """Rows to be learned: ``cells`` are numbers and codes, NaN where missing.

    ``told`` becomes the class that the tree had told of each row, or -1, before it
    learned the row.
    """

    cells: Floats
    classes: Integers
    weights: Floats
    told: NDArray[np.int64]
