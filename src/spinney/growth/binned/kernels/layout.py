"""The arrays that kernels share, and the meaning of their columns.

There are few arrays, since every array argument costs compile time. Similar quantities
are lines of one array. Kernels allocate nothing; the functions here that allocate are
called from Python.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BINS = 256
MISSING_CODE = 255  # the code of a missing cell
LENGTH = 1025  # of the lines of ``floats`` and ``ints``


# Columns of ``cuts``: the score φ(L) + φ(R); the last bin on the left; the values on
# both sides, NaN if the cut lies between bins; the side of missing rows, or -1; a bound
# on all cuts inside bins. Then the totals left of the cut, and of the missing rows.
SCORE, BIN, LOW, HIGH, MISSING_SIDE, BOUND, TOTALS = np.arange(7)

# Entries of ``limits``: the weight of the node, and the minimum weight of a side of a
# cut of the attribute, both by ``limit_weight``; and the offset of the attribute's
# scores if missing rows are on no side.
WEIGHT, LEAST, MISSING_OFFSET = np.arange(3)

# Lines of ``order``.
ATTRIBUTE, SWAPPED_WITH, CODES_LINE = np.arange(3)

# Lines of ``vectors``, one entry a class or moment.
LEFT, RIGHT, TRIAL_LEFT, TRIAL_RIGHT, INSIDE, BEST, NO_ROWS, MISSING = np.arange(8)
VECTORS = 8

# Lines of ``floats``; from SUMS on, the running sums of each class or moment over bins,
# and then over the parts of bins.
SIZES, SCORES, SCORES_MISSING_RIGHT, LEFT_SIZES, SQUARED = np.arange(5)
SUBBIN_LOW, SUBBIN_HIGH, LOWS, SCALES, SUMS = np.arange(5, 10)

# Lines of ``ints``.
IS_OPEN, FIRST_SUBBIN, BIN_OF_OPEN, SUBBIN_ROWS, IS_REFINED, SORT_STACK, CODES = (
    np.arange(7)
)
INT_LINES = 7


class Cells(NamedTuple):
    """Attributes of all rows.

    ``codes`` (rows × attributes, padded to a cache line) are bins, 255 for missing;
    ``by_attribute`` is the transpose. If bins hold several values, ``column`` is the
    attribute's column in ``singles`` or ``doubles``, one of which has no rows.
    Otherwise it is -1, and ``values`` (attributes × bins) has the values. ``edges``
    (attributes × bins) has the largest number of each bin. Nodes keep counts by value
    of attributes that are ``listed``.

    Attributes from ``tail`` on, a multiple of 8, are sparse: most of their codes are 0.
    ``code_words`` packs eight codes into a word; it is empty without sparse attributes.
    """

    codes: NDArray[np.uint8]
    by_attribute: NDArray[np.uint8]
    singles: NDArray[np.float32]
    doubles: NDArray[np.float64]
    column: NDArray[np.int64]
    values: NDArray[np.float64]
    n_bins: NDArray[np.int64]
    nominal: NDArray[np.bool_]
    listed: NDArray[np.bool_]
    edges: NDArray[np.float64]
    code_words: NDArray[np.uint64]
    tail: int


class Labels(NamedTuple):
    """Target of all rows: a class or a number, and a weight.

    Without weights every row weighs 1. ``packs_classes`` is True for two classes with
    integer weights: then one word counts both classes.
    """

    classes: NDArray[np.int32]
    weights: NDArray[np.float64]
    numbers: NDArray[np.float64]
    packs_classes: bool


class Rules(NamedTuple):
    """Parameters of a search.

    A node searches ``n_drawn`` attributes that vary. Nodes of up to ``small_node_rows``
    rows are sorted. ``single_row_weight`` bounds the weight of a bin of one row.
    ``refine_bins`` allows cuts inside bins; buckets have none. With ``count_rows`` rows
    are counted, as their weights do not give their number. With ``subtract`` sums of
    weights are exact, so a sibling's histogram is a difference. Nodes with
    ``competitor_rows`` rows keep competitors, and each node takes at most
    ``max_code_lines`` lines of code counts.

    Limits apply to weights times ``limit_scale``, by class: the weights before costs
    altered them. Each side has more than ``min_branch_fraction`` of its node. For
    numbers it also has ``min_cut_fraction`` of the known weight, or
    ``max_side_minimum``. A node with a deviation below ``min_deviation`` is a leaf.
    Attributes compete by gain; ``by_ratio`` by gain ratio, if their gain is at least
    the average minus ``average_slack``. Rows with a missing value count on the better
    side of a cut. With ``missing_separate`` they count on neither side; surrogates
    route them.
    """

    kind: int
    width: int
    max_depth: int
    min_node_weight: float
    min_branch_weight: float
    min_gain: float
    n_drawn: int
    small_node_rows: int
    single_row_weight: float
    count_rows: bool
    refine_bins: bool
    subtract: bool
    competitor_rows: int
    max_code_lines: int
    limit_scale: NDArray[np.float64]
    min_branch_fraction: float
    min_cut_fraction: float
    max_side_minimum: float
    min_deviation: float
    by_ratio: bool
    average_slack: float
    missing_separate: bool


class Workspace(NamedTuple):
    """Scratch arrays of a search, and its results.

    ``order`` has the attributes in drawing order, the swaps of the draw, and the line
    of ``drawn_codes`` with the codes of an attribute in row order, or -1. ``keys``,
    ``members``, ``row_bins`` and ``values`` describe the rows of a small node.
    ``code_weights`` has weights by code and class, followed by two lines of sums.
    ``limits`` has the limits of the node.
    """

    order: NDArray[np.int64]
    cuts: NDArray[np.float64]
    masks: NDArray[np.uint8]
    histograms: NDArray[np.float64]
    packed_counts: NDArray[np.uint64]
    vectors: NDArray[np.float64]
    floats: NDArray[np.float64]
    ints: NDArray[np.int64]
    subbins: NDArray[np.float64]
    keys: NDArray[np.uint64]
    members: NDArray[np.uint64]
    row_bins: NDArray[np.uint16]
    values: NDArray[np.float64]
    drawn_codes: NDArray[np.uint8]
    code_weights: NDArray[np.int64]
    limits: NDArray[np.float64]


def empty_workspace(n_rows: int, p: int, width: int, drawn: int) -> Workspace:
    """Return a workspace for nodes of up to ``n_rows`` rows.

    ``drawn`` is the number of attributes drawn at a node, 0 if all are searched.
    """
    size = max(n_rows, BINS)
    order = np.tile(np.arange(p), (3, 1))
    order[CODES_LINE] = -1
    return Workspace(
        order,
        np.zeros((p + 1, TOTALS + 2 * width)),
        np.zeros((p, BINS), np.uint8),
        np.zeros((p, BINS, width)),
        np.empty((p, BINS), np.uint64),
        np.zeros((VECTORS, width)),
        np.zeros((SUMS + 2 * width, LENGTH)),
        np.zeros((INT_LINES, LENGTH), np.int64),
        np.zeros((LENGTH, width)),
        np.empty(size, np.uint64),
        np.empty(size, np.uint64),
        np.empty(size, np.uint16),
        np.empty(size),
        np.empty((drawn, n_rows), np.uint8),
        np.empty((BINS + 2, width), np.int64),
        np.zeros(3),
    )
