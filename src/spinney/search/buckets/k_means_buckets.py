"""Optimal k-means in one dimension over a count table."""

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.kmeans_1d import (
    MAX_VALUES,
    MAX_WORK,
    best_starts,
    merged_runs,
    single_runs,
)
from spinney.search.buckets.equal_buckets import (
    cuts_before,
    starts_by_weight,
    weighted_values,
)
from spinney.trees import CountTable

# Beyond MAX_VALUES and MAX_WORK, values are merged into so many cells of one weight.
CELLS = 4096


def k_means_is_exact(table: CountTable, n: int) -> bool:
    """Return whether :func:`k_means` gives the optimal partition of a table."""
    d = int((table.sizes > 0).sum())
    return n >= d or (d <= MAX_VALUES and n * d <= MAX_WORK)


def k_means(table: CountTable, n: int) -> Floats:
    """Return the cuts between the n clusters of least weighted sum of squares.

    The partition is the best there is, up to 100,000 values (``MAX_VALUES``) and up to
    10 million values times n (``MAX_WORK``). Beyond, the values are first merged into
    4096 cells of about one weight (``CELLS``, or n if that is more), and it is the
    best of those that keep the cells whole; :func:`k_means_is_exact` tells. Of
    partitions that are equal within 1e-12, it is the one whose last cut is lowest,
    then the one before, and so on.

    >>> from dataclasses import replace
    >>> table = CountTable.of([[1]] * 6)
    >>> k_means(replace(table, values=np.array([1, 2, 3, 10, 11, 30])), 3)
    array([ 6.5, 20.5])
    """
    values, sizes = weighted_values(table)
    if n >= len(values):
        return cuts_before(values, np.arange(1, len(values)))
    runs = single_runs(values, sizes)
    if k_means_is_exact(table, n):
        return cuts_before(values, best_starts(runs, n))
    firsts = np.append(0, starts_by_weight(sizes, max(CELLS, n)))
    return cuts_before(values, firsts[best_starts(merged_runs(runs, firsts), n)])
