"""The arrays of the kernels that grow trees of several branches, and what is where.

A *code* is the place of a value among all those of its attribute, rising; the code
after the last one is that of missing cells. A *member* is a row at a node with its part
of the weight: a row whose value is missing is a member of several nodes. Where every
member weighs 1, a node is *plain*, its weights are its counts, and nobody looks at the
parts.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import kernel

# Kinds of attributes.
NUMERIC, ORDINAL, NOMINAL = range(3)

# Kinds of impurity.
GINI, ENTROPY = range(2)

# Columns of the facts of attributes: kind, number of codes, where the counts of its
# codes begin (in lines), where its numbers begin, and whether it has so many values
# that it does not count in the average gain.
KIND, N_CODES, TABLE_START, NUMBERS_START, MANY_VALUES = range(5)

# Columns of what waits: where its members begin and end, its node, whether it is plain,
# and for pruning whether its children were looked at.
BEGIN, END, NODE, UNWEIGHTED, VISITED = range(5)

# Columns of nodes: parent, branch, depth, why it is a leaf, first child, number of
# children, first candidate, number of candidates, and which of them won, or -1.
(
    PARENT,
    BRANCH,
    DEPTH,
    REASON,
    FIRST_CHILD,
    N_CHILDREN,
    FIRST_CANDIDATE,
    N_CANDIDATES,
    CHOSEN,
) = range(9)

# Columns of candidates: attribute, first line, number of lines, the codes on both sides
# of a threshold where it was found, and the last code that goes left.
ATTRIBUTE, FIRST_LINE, N_LINES, LOW, HIGH, CUT = range(6)
GAIN, MERIT = range(2)

# Columns of the results by attribute: how many values occur (-1 where it was
# not looked at), whether it can be split, the codes on both sides of a threshold, and
# how many members have no value.
N_VALUES, CAN_SPLIT, LOW_CODE, HIGH_CODE, N_MISSING = range(5)

# Why a node is a leaf; an inner node has none.
(
    INNER,
    EMPTY,
    PURE,
    EXHAUSTED,
    TOO_DEEP,
    TOO_FEW,
    IDENTICAL,
    ROWS_IN_LEAF,
    MIN_GAIN,
    PRUNED,
    LEAVES,
) = range(11)

# Places of ``state``: how many wait, and how many nodes, candidates, lines and steps
# of pruning there are; at how many nodes growing pauses.
N_WAITING, N_NODES, N_FOUND, N_WRITTEN, N_STEPS, PAUSE_AT = range(6)

# What the loop says when it returns: all is done, or what is short of room.
(
    DONE,
    SHORT_OF_MEMBERS,
    SHORT_OF_STACK,
    SHORT_OF_NODES,
    SHORT_OF_CANDIDATES,
    SHORT_OF_LINES,
    SHORT_OF_STEPS,
) = range(7)

# What pruning does to a node, and what it measures.
COLLAPSED, REPLACED, RAISED, KEPT = range(4)
BEFORE, AFTER, RISK_BEFORE, RISK_AFTER = range(4)

# Lines of ``vectors``, each with weights and counts by class: known rows, those whose
# value is missing, both sides of a cut, both sides of the cut before.
KNOWN, MISSING, LEFT, RIGHT, LAST_LEFT, LAST_RIGHT = range(6)
VECTORS = 6


class RankedColumns(NamedTuple):
    """All rows.

    ``codes`` has a line a row, and the class in a last column; then come facts of
    attributes, the values of the numeric ones, and the least step between them.
    """

    codes: NDArray[Any]
    facts: NDArray[np.int64]
    numbers: NDArray[np.float64]
    steps: NDArray[np.float64]


class Limits(NamedTuple):
    """What a recipe says; the criterion by ``impurity``, ``ratio`` and ``slack``.

    A side of a cut need not weigh more than ``most_in_side``, whatever ``cut_share``
    says. ``altered``, by class: what weights are multiplied by because errors cost.
    """

    n_classes: int
    impurity: int
    ratio: bool
    slack: float
    max_depth: int
    least_node: float
    least_branch: float
    cut_share: float
    branch_share: float
    min_gain: float
    mdl_correction: bool
    competitor_rows: int
    most_in_side: float
    altered: NDArray[np.float64]
    reuse: bool


class Members(NamedTuple):
    """Nodes that wait, and their rows.

    Rows stand end to end with their parts, beside them room to move them; then come the
    nodes themselves, and which attributes are used up above each.
    """

    rows: NDArray[np.uint32]
    fractions: NDArray[np.float64]
    spare_rows: NDArray[np.uint32]
    spare_fractions: NDArray[np.float64]
    stack: NDArray[np.int64]
    used: NDArray[np.uint8]


class Grown(NamedTuple):
    """Nodes, candidates, and the lines of their tables, in order of making.

    The children of a node stand together. Of a candidate's lines the first, of code
    -1, has its missing rows.
    """

    nodes: NDArray[np.int32]
    weights: NDArray[np.float64]
    counts: NDArray[np.int64]
    candidates: NDArray[np.int32]
    merits: NDArray[np.float64]
    line_codes: NDArray[np.int32]
    line_weights: NDArray[np.float64]
    line_counts: NDArray[np.int64]
    state: NDArray[np.int64]


class Rules(NamedTuple):
    """What pruning goes by.

    Whether branches are raised, the confidence, its quantile, 1 more than the weight of
    the prior in what a node predicts, and what errors cost, by label and class; no line
    where all cost the same. ``max_cost`` is the greatest of them.
    """

    raising: bool
    confidence: float
    z: float
    scale: float
    costs: NDArray[np.float64]
    max_cost: float


class PruneRecords(NamedTuple):
    """What pruning knows of nodes.

    The node whose question each asks, whether it has other rows than that, estimates
    and risks; the steps; the prior; and the risk of the tree, with the estimate and the
    risk of a branch.
    """

    origin: NDArray[np.int32]
    is_recounted: NDArray[np.uint8]
    estimates: NDArray[np.float64]
    risks: NDArray[np.float64]
    steps: NDArray[np.int64]
    measures: NDArray[np.float64]
    prior: NDArray[np.float64]
    total: NDArray[np.float64]


class Workspace(NamedTuple):
    """Room to work in.

    Counts by code; the codes that occur at a node with their counts, end to end; keys
    to sort; results by attribute; x log₂ x of whole numbers; the classes that occur;
    and, by numeric attribute, the missing members and both sides of its best cut.
    """

    table: NDArray[np.float64]
    listed: NDArray[np.uint64]
    codes: NDArray[np.int64]
    value_weights: NDArray[np.float64]
    scores: NDArray[np.float64]
    keys: NDArray[np.uint64]
    spare_keys: NDArray[np.uint64]
    histogram: NDArray[np.int64]
    vectors: NDArray[np.float64]
    results: NDArray[np.int64]
    merits: NDArray[np.float64]
    logs: NDArray[np.float64]
    present: NDArray[np.int64]
    sides: NDArray[np.float64]


class Growth(NamedTuple):
    """All that growing reads and writes: rows, limits, what waits, and what is done."""

    columns: RankedColumns
    limits: Limits
    members: Members
    grown: Grown
    work: Workspace


class Pruning(NamedTuple):
    """All that pruning reads and writes."""

    columns: RankedColumns
    rules: Rules
    members: Members
    grown: Grown
    records: PruneRecords
    work: Workspace


@kernel
def member_range(members, top):
    """Return where the members of a waiting node begin and end, and if it is plain."""
    stack = members.stack
    return stack[top, BEGIN], stack[top, END], stack[top, UNWEIGHTED] > 0


@kernel
def chosen_candidate(grown, node):
    """Return which candidate a node is split by."""
    return grown.nodes[node, FIRST_CANDIDATE] + grown.nodes[node, CHOSEN]


@kernel
def is_nominal(growth, node):
    """Return whether a node has a branch for every value."""
    grown = growth.grown
    a = grown.candidates[chosen_candidate(grown, node), ATTRIBUTE]
    return growth.columns.facts[a, KIND] == NOMINAL
