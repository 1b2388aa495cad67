"""How many clusters: methods that find them, measures, curves and rules."""

from spinney.extensions.clustering.choose_k.choice import MEASURES, Choice
from spinney.extensions.clustering.choose_k.methods import MIXED_RULES, Method
from spinney.extensions.clustering.choose_k.procedure import WorkLimits, choose
from spinney.extensions.clustering.clustering import is_drawn, n_starts_of
from spinney.extensions.clustering.fit_k_means import KMeansMethod
from spinney.extensions.clustering.prototypes.fit_k_prototypes import KPrototypesMethod

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
