"""Buckets of equal width, and of equal weight."""

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import TOLERANCE
from spinney.search.cut_points import midpoint
from spinney.trees import CountTable


def weighted_values(table: CountTable) -> tuple[Floats, Floats]:
    """Return the values with weight, as floats, and their weights."""
    sizes = table.sizes
    present = sizes > 0
    return np.asarray(table.values[present], dtype=np.float64), sizes[present]


def cuts_before(values: Floats, starts: Integers) -> Floats:
    """Return the cuts before the values at these positions."""
    pairs = zip(values[starts - 1].tolist(), values[starts].tolist(), strict=True)
    return np.array([midpoint(low, high) for low, high in pairs])


def equal_width(table: CountTable, n: int) -> Floats:
    """Return the inner edges of n intervals of one width over the range of the values.

    The edges are low + t · (high − low) / n for t = 1 … n − 1, to 12 digits where
    that moves them by less than a billionth of the width. Of edges with no value
    between, the lowest stays: no bucket is empty.

    >>> table = CountTable.of([[1], [1], [1], [1], [0], [0], [0], [0], [1]])
    >>> equal_width(table, 4)                # 0, 1, 2, 3 and 8; nothing in (4, 6]
    array([2., 4.])
    """
    values, _ = weighted_values(table)
    if len(values) < 2:
        return np.empty(0)
    low, high = values[0], values[-1]
    shares = np.arange(1, n) / n
    with np.errstate(over="ignore"):
        span = high - low
    if np.isfinite(span):
        edges = low + span * shares
    else:
        edges = low * (1 - shares) + high * shares
    short = np.array([float(f"{edge:.12g}") for edge in edges])
    width = high / n - low / n
    edges = np.where(np.abs(short - edges) <= 1e-9 * width, short, edges)
    # A bucket's number is how many edges are below its values. Bucket b of those
    # that occur ends at edge b, so this edge lies below all values of the next one.
    occurring = np.unique(np.searchsorted(edges, values, side="left"))
    return np.asarray(edges[occurring[:-1]])


def equal_frequency(table: CountTable, n: int) -> Floats:
    """Return the cuts between n buckets of about one weight; no value is split.

    From the lowest value up, a bucket's share is the weight that is left, over the
    buckets that are left; it ends at the value where its weight comes nearest to
    that share, at the lower of two equally near. Every bucket has a value, so there
    are n buckets, or one for each value if there are fewer. As nothing but weights
    by value is looked at, the order of rows does not matter.

    >>> equal_frequency(CountTable.of([[1], [1], [4], [1], [1]]), 3)
    array([1.5, 2.5])
    """
    values, sizes = weighted_values(table)
    return cuts_before(values, starts_by_weight(sizes, n))


def starts_by_weight(sizes: Floats, n: int) -> Integers:
    """Return the starts of buckets of about equal weight, without the first."""
    ends = np.cumsum(sizes)  # ends[p]: the weight of the places up to p
    total = float(ends[-1]) if len(ends) else 0.0
    n = min(n, len(sizes))
    starts = []
    start, used = 0, 0.0
    for n_left in range(n, 1, -1):
        target = used + (total - used) / n_left
        # The bucket may end at the places start … last: the rest needs one each.
        last = len(sizes) - n_left
        end = min(max(int(np.searchsorted(ends, target)), start), last)
        lower, upper = target - ends[end - 1], ends[end] - target
        if end > start and lower <= upper + TOLERANCE * total:
            end -= 1
        start, used = end + 1, float(ends[end])
        starts.append(start)
    return np.array(starts, dtype=np.int64)
