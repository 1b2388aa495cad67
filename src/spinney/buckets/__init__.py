"""Numbers by buckets: cut points of a numeric attribute, and what lies between."""

from spinney.buckets.arrays import Buckets, discretise
from spinney.buckets.clusters import k_means
from spinney.buckets.information import entropy_mdl
from spinney.buckets.methods import METHODS, bucket_texts, bucketed, cuts_of, is_exact
from spinney.buckets.ranges import equal_frequency, equal_width

__all__ = [
    "METHODS",
    "Buckets",
    "bucket_texts",
    "bucketed",
    "cuts_of",
    "discretise",
    "entropy_mdl",
    "equal_frequency",
    "equal_width",
    "is_exact",
    "k_means",
]
