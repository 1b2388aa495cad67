"""Arrays of the kernels that grow multiway trees, and their columns.

A *code* is the rank of a value among all those of its attribute; the code after the
last one is that of missing cells. A *member* is a row at a node, with a fraction of its
weight. A row with a missing value is a member of several nodes. If every member weighs
1, a node is *unweighted*: its weights are its counts, and fractions are not read.
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

# Columns of the stack: where the members of a node begin and end, its number, whether
# it is unweighted, and for pruning whether its children were visited.
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

# Columns of the results by attribute: the number of values (-1 if it was not searched),
# whether it can be split, the codes on both sides of a threshold, and the number of
# members with a missing value.
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

# Entries of ``state``: the numbers of nodes on the stack, nodes, candidates, lines and
# steps of pruning; the number of nodes at which growing pauses.
N_WAITING, N_NODES, N_FOUND, N_WRITTEN, N_STEPS, PAUSE_AT = range(6)

# Results of the kernel: all is done, or which arrays are full.
(
    DONE,
    SHORT_OF_MEMBERS,
    SHORT_OF_STACK,
    SHORT_OF_NODES,
    SHORT_OF_CANDIDATES,
    SHORT_OF_LINES,
    SHORT_OF_STEPS,
) = range(7)

# Actions of pruning, and columns of its measures.
COLLAPSED, REPLACED, RAISED, KEPT = range(4)
BEFORE, AFTER, RISK_BEFORE, RISK_AFTER = range(4)

# Lines of ``vectors``, each with weights and counts by class: known rows, those whose
# value is missing, both sides of a cut, both sides of the cut before.
KNOWN, MISSING, LEFT, RIGHT, LAST_LEFT, LAST_RIGHT = range(6)
VECTORS = 6


class RankedColumns(NamedTuple):
    """All rows, with values replaced by ranks.

    ``codes`` has a line per row, with the class in the last column. ``facts`` are by
    attribute, ``numbers`` has the values of numeric attributes, and ``steps`` their
    least difference.
    """

    codes: NDArray[Any]
    facts: NDArray[np.int64]
    numbers: NDArray[np.float64]
    steps: NDArray[np.float64]


class Limits(NamedTuple):
    """Limits of a recipe, with its criterion as ``impurity``, ``ratio`` and ``slack``.

    The minimum weight of a side by ``min_cut_fraction`` is at most
    ``max_side_minimum``. ``altered`` has the factors of class weights under costs.
    """

    n_classes: int
    impurity: int
    ratio: bool
    slack: float
    max_depth: int
    min_node_weight: float
    min_branch_weight: float
    min_cut_fraction: float
    min_branch_fraction: float
    min_gain: float
    mdl_correction: bool
    competitor_rows: int
    max_side_minimum: float
    altered: NDArray[np.float64]
    reuse: bool


class Members(NamedTuple):
    """Nodes on the stack, and their rows.

    Rows are concatenated with their fractions; spare arrays are buffers for moving
    rows. ``used`` marks the attributes that are used up above each node.
    """

    rows: NDArray[np.uint32]
    fractions: NDArray[np.float64]
    row_buffer: NDArray[np.uint32]
    fraction_buffer: NDArray[np.float64]
    stack: NDArray[np.int64]
    used: NDArray[np.uint8]


class Grown(NamedTuple):
    """Nodes, candidates, and the lines of their tables, in order of creation.

    The children of a node are adjacent. The first line of a candidate, with code -1,
    has its missing rows.
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
    """Parameters of pruning.

    ``scale`` is 1 plus the weight of the prior in a prediction. ``costs`` are by label
    and class, empty if all errors cost the same; ``max_cost`` is their maximum.
    """

    raising: bool
    confidence: float
    z: float
    scale: float
    costs: NDArray[np.float64]
    max_cost: float


class PruneRecords(NamedTuple):
    """Estimates of nodes, and the steps of pruning.

    ``origin`` is the node whose split a node uses, and ``is_recounted`` whether its
    rows differ from the origin's. ``total`` has the risk of the tree, and the estimate
    and risk of a branch.
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
    """Scratch arrays, and results by attribute.

    ``table`` has counts by code; ``codes`` and ``value_weights`` the codes at a node
    and their weights; ``logs`` x log₂ x of integers; ``present`` the classes at a node;
    ``sides`` the missing members and both sides of the best cut, by numeric attribute.
    """

    table: NDArray[np.float64]
    listed: NDArray[np.uint64]
    codes: NDArray[np.int64]
    value_weights: NDArray[np.float64]
    scores: NDArray[np.float64]
    keys: NDArray[np.uint64]
    key_buffer: NDArray[np.uint64]
    histogram: NDArray[np.int64]
    vectors: NDArray[np.float64]
    results: NDArray[np.int64]
    merits: NDArray[np.float64]
    logs: NDArray[np.float64]
    present: NDArray[np.int64]
    sides: NDArray[np.float64]


class Growth(NamedTuple):
    """State of growing: rows, limits, stack, results and workspace."""

    columns: RankedColumns
    limits: Limits
    members: Members
    grown: Grown
    work: Workspace


class Pruning(NamedTuple):
    """State of pruning: rows, parameters, stack, tree, estimates and workspace."""

    columns: RankedColumns
    rules: Rules
    members: Members
    grown: Grown
    records: PruneRecords
    work: Workspace


@kernel
def member_range(members, top):
    """Return the bounds of the members of a node, and whether it is unweighted."""
    stack = members.stack
    return stack[top, BEGIN], stack[top, END], stack[top, UNWEIGHTED] > 0


@kernel
def chosen_candidate(grown, node):
    """Return the candidate that splits a node."""
    return grown.nodes[node, FIRST_CANDIDATE] + grown.nodes[node, CHOSEN]


@kernel
def is_nominal(growth, node):
    """Return whether a node has a branch for every value."""
    grown = growth.grown
    a = grown.candidates[chosen_candidate(grown, node), ATTRIBUTE]
    return growth.columns.facts[a, KIND] == NOMINAL
