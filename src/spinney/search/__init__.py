"""From count tables to the best splits of nodes; the search sees no rows."""

from spinney.search.all_splits import AllSplits, enumerate_splits, is_same_split
from spinney.search.attribute_split import best_splits, n_distinct_values
from spinney.search.bin_bounds import SETTINGS as UNBOUNDED_SETTINGS
from spinney.search.bin_bounds import bins_to_open, can_bound
from spinney.search.chaid.merge_values import MergeStep
from spinney.search.cut_points import midpoint, midpoints
from spinney.search.forced_split import split_by_condition
from spinney.search.groupings import MAX_LISTED, count_missing_at
from spinney.search.level_splits import Form, LevelSplits
from spinney.search.missing_values import MAX_BRANCHES, policy_named
from spinney.search.node_sampling import NodeSampling, sampled_tables
from spinney.search.node_split import (
    Decision,
    average_gain,
    compete,
    decide_level,
    is_significant,
    rewrite_decision,
    score,
    test_cost,
)
from spinney.search.random_cuts import random_cut_splits
from spinney.search.root_statistics import (
    RootStatistics,
    statistics_by_attribute,
    typical_value,
)
from spinney.search.split_recount import recount
from spinney.search.surrogate_search import NodeToRoute, find_routes
from spinney.search.tree_search import Search
from spinney.search.value_order import principal_score
