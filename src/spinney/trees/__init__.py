"""What a tree is made of: count tables, criteria, splits, nodes, predictions."""

from spinney.trees.costs import altered_priors, expected_costs, labels_of
from spinney.trees.counts import CountTable, ratio_of, sizes, spread_of
from spinney.trees.lazy_nodes import LazyNodes
from spinney.trees.linear import LinearModel, Term, mixed, no_models
from spinney.trees.split import (
    VALUES_SHOWN,
    Groups,
    Intervals,
    Route,
    Split,
    Surrogate,
    Threshold,
    arriving,
    branch_table,
    describe,
)
from spinney.trees.tree import NO_REASON, Candidate, Node, Reason, Tree, reason_codes

__all__ = [
    "NO_REASON",
    "VALUES_SHOWN",
    "Candidate",
    "CountTable",
    "Groups",
    "Intervals",
    "LazyNodes",
    "LinearModel",
    "Node",
    "Reason",
    "Route",
    "Split",
    "Surrogate",
    "Term",
    "Threshold",
    "Tree",
    "altered_priors",
    "arriving",
    "branch_table",
    "describe",
    "expected_costs",
    "labels_of",
    "mixed",
    "no_models",
    "ratio_of",
    "reason_codes",
    "sizes",
    "spread_of",
]
