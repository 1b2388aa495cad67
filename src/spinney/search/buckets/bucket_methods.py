"""Bucket methods by name, and count tables by buckets."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from math import inf

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import check_whole
from spinney._support.segments import begins_run
from spinney._support.text import interval_text, sign
from spinney.errors import refuse_unknown
from spinney.recipes import MAX_BUCKETS
from spinney.search.buckets.entropy_buckets import entropy_mdl
from spinney.search.buckets.equal_buckets import equal_frequency, equal_width
from spinney.search.buckets.k_means_buckets import k_means, k_means_is_exact
from spinney.trees import CountTable, TableBatch

Method = Callable[[CountTable, int], Floats]

METHODS: dict[str, Method] = {
    "equal-width": equal_width,
    "equal-frequency": equal_frequency,
    "k-means": k_means,
    "entropy-mdl": lambda table, _: entropy_mdl(table),
}


def cuts_of(table: CountTable, method: str, n_buckets: int) -> Floats:
    """Return the rising cuts of a method of this name; a value equal to one is left.

    The method "entropy-mdl" finds its own number of buckets.

    >>> cuts_of(CountTable.of([[1], [1], [1], [1]]), "equal-frequency", 2)
    array([1.5])
    """
    compute = METHODS.get(method) if isinstance(method, str) else None
    if compute is None:
        refuse_unknown("method", method, METHODS)
    check_whole("n_buckets", n_buckets, least=2, most=MAX_BUCKETS)
    return compute(table, int(n_buckets))


def is_exact(table: CountTable, method: str, n: int) -> bool:
    """Return whether the cuts are optimal, without merging values beforehand."""
    return method != "k-means" or k_means_is_exact(table, n)


def codes_of(values: Floats, cuts: Floats) -> Integers:
    """Return the bucket of each number, counted from 0; −1 if it is NaN."""
    codes = np.searchsorted(cuts, values, side="left")
    return np.where(np.isnan(values), -1, codes).astype(np.int64)


def bucketed(table: CountTable, cuts: Floats) -> CountTable:
    """Return the table by buckets, numbered from 0; missing rows stay missing.

    >>> bucketed(CountTable.of([[1, 0], [2, 1], [0, 3]]), np.array([0.5])).weights
    array([[1., 0.],
           [2., 4.]])
    """
    values = np.asarray(table.values, dtype=np.float64)
    return table.merged(codes_of(values, cuts), len(cuts) + 1)


def in_buckets(
    batch: TableBatch, cuts: Mapping[int, Floats]
) -> tuple[TableBatch, Integers]:
    """Return the batch with numbers by bucket, and the new line of each old line.

    ``cuts`` has the cuts of attributes with buckets.
    """
    if not cuts:
        return batch, np.arange(len(batch.values))
    values, attribute = batch.values.copy(), batch.attribute[batch.owner]
    for index in cuts:
        is_own = attribute == index
        values[is_own] = codes_of(values[is_own], cuts[index])
    first = begins_run(batch.owner, values)
    return batch.in_runs(first, values[first]), np.cumsum(first) - 1


def bucket_texts(
    cuts: Floats, *, unit: str | None = None, ascii_only: bool = False
) -> tuple[str, ...]:
    """Return the text of each bucket.

    >>> bucket_texts(np.array([2.5, 7.0]))
    ('≤ 2.5', '2.5 < … ≤ 7', '> 7')
    """
    if not len(cuts):
        return ("any number",)
    between = sign("…", ascii_only=ascii_only)
    texts = [
        interval_text(between, low, high, unit=unit, ascii_only=ascii_only)
        for low, high in pairwise((-inf, *cuts.tolist(), inf))
    ]
    ends = (text.removeprefix(f"{between} ") for text in (texts[0], texts[-1]))
    return (next(ends), *texts[1:-1], next(ends))
