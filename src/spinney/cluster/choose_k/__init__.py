"""How many clusters: methods that find them, measures, curves and rules."""

from spinney.cluster.choose_k.choice import MEASURES, Choice
from spinney.cluster.choose_k.methods import MIXED_RULES, Method
from spinney.cluster.choose_k.procedure import WorkLimits, choose
from spinney.cluster.clustering import is_drawn, n_starts_of
from spinney.cluster.fit_k_means import KMeansMethod
from spinney.cluster.prototypes.fit_k_prototypes import KPrototypesMethod

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
