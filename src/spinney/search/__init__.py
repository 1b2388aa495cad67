"""From count tables to the best split of a node; no row is seen here."""

from spinney.search.attribute_split import recount
from spinney.search.draws import Draws, drawn
from spinney.search.groupings import LISTED, midpoint, midpoints
from spinney.search.missing_values import MOST_BRANCHES, policy_named
from spinney.search.node_split import (
    Decision,
    average_gain,
    compete,
    decide,
    is_significant,
    n_different,
    price,
    score,
)
from spinney.search.random_cuts import Drawn, coarse_tables, with_drawn_cuts
from spinney.search.root_statistics import RootStatistics, statistics_by_attribute
from spinney.search.surrogate_search import NodeToRoute, routes_of
from spinney.search.tree_search import Search

__all__ = [
    "LISTED",
    "MOST_BRANCHES",
    "Decision",
    "Drawn",
    "Draws",
    "NodeToRoute",
    "RootStatistics",
    "Search",
    "average_gain",
    "coarse_tables",
    "compete",
    "decide",
    "drawn",
    "is_significant",
    "midpoint",
    "midpoints",
    "n_different",
    "policy_named",
    "price",
    "recount",
    "routes_of",
    "score",
    "statistics_by_attribute",
    "with_drawn_cuts",
]
