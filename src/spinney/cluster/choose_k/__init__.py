"""How many clusters: methods that find them, measures, curves and rules."""

from spinney.cluster.choose_k.choice import MEASURES, Choice
from spinney.cluster.choose_k.methods import (
    MIXED_RULES,
    KMeansMethod,
    KPrototypesMethod,
    Method,
    is_drawn,
    n_starts_of,
)
from spinney.cluster.choose_k.procedure import WorkLimits, choose

__all__ = [
    "MEASURES",
    "MIXED_RULES",
    "Choice",
    "KMeansMethod",
    "KPrototypesMethod",
    "Method",
    "WorkLimits",
    "choose",
    "is_drawn",
    "n_starts_of",
]
