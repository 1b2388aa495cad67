"""What a tree is made of: count tables, criteria, splits, nodes, predictions."""

from spinney.trees.costs import altered_priors, expected_costs, labels_of
from spinney.trees.counts import CountTable, ratio_of, sizes, spread_of
from spinney.trees.lazy_nodes import LazyNodes, arrays_of, lazy_nodes_of
from spinney.trees.linear import FlatModels, LinearModel, Term, mixed
from spinney.trees.split import (
    Groups,
    Intervals,
    Route,
    Split,
    Surrogate,
    Threshold,
    branch_table,
    describe,
    possible_codes,
    values_text,
)
from spinney.trees.table_stack import TableStack, joined_stacks
from spinney.trees.tree import NO_REASON, Candidate, Node, Reason, Tree, reason_codes
from spinney.trees.tree_arrays import (
    Links,
    QuestionArrays,
    SurrogateArrays,
    TreeArrays,
    joined,
    links_of,
    parted,
    question_arrays,
    surrogate_arrays,
    winner_arrays,
)

__all__ = [
    "NO_REASON",
    "Candidate",
    "CountTable",
    "FlatModels",
    "Groups",
    "Intervals",
    "LazyNodes",
    "LinearModel",
    "Links",
    "Node",
    "QuestionArrays",
    "Reason",
    "Route",
    "Split",
    "Surrogate",
    "SurrogateArrays",
    "TableStack",
    "Term",
    "Threshold",
    "Tree",
    "TreeArrays",
    "altered_priors",
    "arrays_of",
    "branch_table",
    "describe",
    "expected_costs",
    "joined",
    "joined_stacks",
    "labels_of",
    "lazy_nodes_of",
    "links_of",
    "mixed",
    "parted",
    "possible_codes",
    "question_arrays",
    "ratio_of",
    "reason_codes",
    "sizes",
    "spread_of",
    "surrogate_arrays",
    "values_text",
    "winner_arrays",
]
