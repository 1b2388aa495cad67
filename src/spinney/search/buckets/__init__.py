"""Buckets: cut points of a numeric attribute, and the intervals between them."""

from spinney.search.buckets.array_buckets import Buckets, discretise
from spinney.search.buckets.bucket_methods import (
    METHODS,
    bucket_texts,
    bucketed,
    codes_of,
    cuts_of,
    in_buckets,
    is_exact,
)
from spinney.search.buckets.entropy_buckets import entropy_mdl
from spinney.search.buckets.equal_buckets import equal_frequency, equal_width
from spinney.search.buckets.k_means_buckets import k_means
