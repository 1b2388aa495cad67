"""The parts of a tree: count tables, criteria, splits, nodes, predictions."""

from spinney.trees.candidate_arrays import GIVEN, CandidateArrays, joined_candidates
from spinney.trees.certificate import OBJECTIVES, Certificate
from spinney.trees.costs import altered_priors, expected_costs, labels_of
from spinney.trees.counts import CountTable, ratio_of, sizes, spread_of
from spinney.trees.lazy_nodes import (
    ArrayNodes,
    ExplicitNodes,
    LazyNodes,
    RenumberedNodes,
)
from spinney.trees.linear import FlatModels, LinearModel, Term, flat_models, mixed
from spinney.trees.node import (
    NO_REASON,
    Candidate,
    Node,
    Reason,
    child_counts,
    reason_codes,
)
from spinney.trees.split import (
    Groups,
    Intervals,
    Route,
    Split,
    Surrogate,
    Threshold,
    branch_table,
    counts_by_branch,
    describe,
    possible_codes,
    range_text,
    values_text,
)
from spinney.trees.split_arrays import (
    FORMS,
    RoutingArrays,
    SplitArrays,
    routing_of_splits,
    splits_of_routing,
)
from spinney.trees.split_condition import (
    SplitCondition,
    outside_quotes,
    parse_condition,
)
from spinney.trees.table_batch import TableBatch, joined_batches
from spinney.trees.tree import Tree, cut
from spinney.trees.tree_arrays import (
    LazySurrogates,
    Links,
    PackedTrees,
    SurrogateArrays,
    TreeArrays,
    arrays_of_winners,
    joined,
    links_of,
    printing_places,
    surrogate_arrays,
    winner_arrays,
)
from spinney.trees.tree_importances import TreeImportances, importances_of
