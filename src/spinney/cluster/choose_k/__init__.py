"""How many clusters: measures, curves and rules."""

from spinney.cluster.choose_k.choice import MEASURES, Choice
from spinney.cluster.choose_k.distinct_rows import scaled
from spinney.cluster.choose_k.mixed_procedure import MIXED_RULES, choose_mixed
from spinney.cluster.choose_k.procedure import N_STARTS, Limits, Starts, choose

__all__ = [
    "MEASURES",
    "MIXED_RULES",
    "N_STARTS",
    "Choice",
    "Limits",
    "Starts",
    "choose",
    "choose_mixed",
    "scaled",
]
