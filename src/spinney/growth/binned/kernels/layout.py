"""The arrays that kernels share, and what stands where in them.

They are few and wide: every array that a kernel takes costs compile time, so what is
alike stands in one array, a line each. Kernels allocate nothing; the functions here
that make room are called from Python.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BINS = 256
ABSENT = 255  # the code of a missing cell
LENGTH = 1025  # of the lines of ``floats`` and ``wholes``


# What is found of a cut: its score φ(L) + φ(R); the last bin on the left; the values
# on both sides of it, NaN where it lies between bins; where missing rows go, or -1;
# what no cut inside a bin can exceed. Then the totals left of it, and those of the
# missing rows.
SCORE, BIN, LOW, HIGH, MISSING, BOUND, TOTALS = np.arange(7)

# What ``limits`` has: the weight of the node, and the least that a side of a cut of the
# attribute at hand must weigh; both as ``own_size`` weighs. Then what the scores of the
# attribute are raised by where missing rows are on no side.
WEIGHT, LEAST, RAISED = np.arange(3)

# Lines of ``order``.
PLACE, DRAWN, LINE_OF = np.arange(3)

# Lines of ``vectors``, one entry a class or moment.
LEFT, RIGHT, ONE, OTHER, INSIDE, BEST, NOTHING, AWAY = np.arange(8)
VECTORS = 8

# Lines of ``floats``; from SUMS on, the running sums of each class or moment over bins,
# and then over the parts of bins.
SIZES, SCORES, MORE_SCORES, LEFT_SIZES, SQUARED = np.arange(5)
PART_LOW, PART_HIGH, LOWS, SCALES, SUMS = np.arange(5, 10)

# Lines of ``wholes``.
OPENED, FIRST_PART, BIN_OF, PART_ROWS, KEPT, WAITING, CODES = np.arange(7)
WHOLES = 7


class Cells(NamedTuple):
    """The attributes of all rows.

    ``codes`` (rows × attributes, and some bytes that fill a line up) are bins, 255 for
    missing; ``by_attribute`` (attributes × rows) are the same. Where a bin of an
    attribute may hold more than one value, ``column`` says where its numbers are in
    ``singles`` or ``doubles`` (``cell_numbers.py``); else it is -1, and ``values``
    (attributes × bins) has them. ``edges`` (attributes × bins) has the greatest number
    that a bin may hold. Of an attribute that is ``listed``, nodes keep the counts by
    value. From ``tail`` on, a multiple of 8, most codes are 0, as those of flags;
    ``eights`` has the codes of eight attributes as a word, or nothing where there is no
    tail.
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
    eights: NDArray[np.uint64]
    tail: int


class Labels(NamedTuple):
    """The target of all rows: a class or a number, and a weight.

    No weights: every row weighs 1. ``halves`` says that there are two classes and that
    weights are whole, so that halves of a word can count both.
    """

    classes: NDArray[np.int32]
    weights: NDArray[np.float64]
    numbers: NDArray[np.float64]
    halves: bool


class Rules(NamedTuple):
    """What a search is to know.

    ``tries`` attributes that vary are searched at a node. A node of up to ``small``
    rows is sorted. ``single`` is what a bin of one row weighs at most. ``exact`` says
    that cuts inside of bins count, which are no buckets then. ``tally`` says
    that rows are to be counted, since their weights do not tell how many there are;
    ``subtract`` that sums of weights are exact, so that siblings may be subtracted.
    Nodes of ``runners_up`` rows and more keep the splits that lost; a node may then
    take ``listing`` lines of codes. Limits on weights are those of weights times
    ``own``, by class: what they were before costs altered them. A side weighs more than
    ``branch_share`` of its node; that of a cut between numbers as much as ``cut_share``
    of what is known, or ``most_in_side``. A node whose numbers deviate less than
    ``least_deviation`` is a leaf. Attributes compete by the gain, or, ``by_ratio``, by
    the gain ratio, if they gain the average less ``below_average``. Rows whose value is
    missing count on the better side of a cut, or stay ``apart``: they count on none,
    and others say where they go.
    """

    kind: int
    width: int
    max_depth: int
    least_node: float
    least_branch: float
    min_gain: float
    tries: int
    small: int
    single: float
    tally: bool
    exact: bool
    subtract: bool
    runners_up: int
    listing: int
    own: NDArray[np.float64]
    branch_share: float
    cut_share: float
    most_in_side: float
    least_deviation: float
    by_ratio: bool
    below_average: float
    apart: bool


class Workspace(NamedTuple):
    """Where a search works and leaves what it finds.

    ``order`` has the attributes in the order of their draw, what was drawn, and by
    attribute which line of ``gathered`` has its codes in the order of rows, or -1.
    ``keys``, ``members``, ``owners`` and ``values`` are of the rows that are sorted.
    ``tallies`` are weights by code and class, with two lines of sums after them;
    ``limits`` those of the node.
    """

    order: NDArray[np.int64]
    cuts: NDArray[np.float64]
    masks: NDArray[np.uint8]
    lines: NDArray[np.float64]
    words: NDArray[np.uint64]
    vectors: NDArray[np.float64]
    floats: NDArray[np.float64]
    wholes: NDArray[np.int64]
    parts: NDArray[np.float64]
    keys: NDArray[np.uint64]
    members: NDArray[np.uint64]
    owners: NDArray[np.uint16]
    values: NDArray[np.float64]
    gathered: NDArray[np.uint8]
    tallies: NDArray[np.int64]
    limits: NDArray[np.float64]


def workspace_for(n_rows: int, p: int, width: int, drawn: int) -> Workspace:
    """Return room for the search of nodes of up to ``n_rows`` rows.

    As many attributes are ``drawn`` at a node; none where all are searched.
    """
    size = max(n_rows, BINS)
    order = np.tile(np.arange(p), (3, 1))
    order[LINE_OF] = -1
    return Workspace(
        order,
        np.zeros((p + 1, TOTALS + 2 * width)),
        np.zeros((p, BINS), np.uint8),
        np.zeros((p, BINS, width)),
        np.empty((p, BINS), np.uint64),
        np.zeros((VECTORS, width)),
        np.zeros((SUMS + 2 * width, LENGTH)),
        np.zeros((WHOLES, LENGTH), np.int64),
        np.zeros((LENGTH, width)),
        np.empty(size, np.uint64),
        np.empty(size, np.uint64),
        np.empty(size, np.uint16),
        np.empty(size),
        np.empty((drawn, n_rows), np.uint8),
        np.empty((BINS + 2, width), np.int64),
        np.zeros(3),
    )
