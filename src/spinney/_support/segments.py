"""Arrays of many concatenated parts, and operations on all parts at once.

``start`` has the start of each part; its last entry is the length of the whole array. A
part may be empty.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, Numbers
from spinney._support.ties import TOLERANCE

EXACT = 2.0**53  # whole numbers up to this have exact sums in any order


def starts_of(counts: Integers) -> Integers:
    """Return the starts of parts with these lengths, and the end of the last."""
    start = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=start[1:])
    return start


def lengths_of(start: Integers) -> Integers:
    """Return the lengths of the parts."""
    return np.asarray(start[1:] - start[:-1])


def owners_of(start: Integers) -> Integers:
    """Return the part of each entry.

    >>> owners_of(np.array([0, 2, 2, 3]))
    array([0, 0, 2])
    """
    return np.arange(len(start) - 1).repeat(lengths_of(start))


def begins_run(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which entries differ, in one of the columns, from the entry before.

    >>> begins_run(np.array([0, 0, 0, 1]), np.array([5, 5, 6, 6]))
    array([ True, False,  True,  True])
    """
    begins = np.ones(len(columns[0]), dtype=bool)
    begins[1:] = columns[0][1:] != columns[0][:-1]
    for column in columns[1:]:
        begins[1:] |= column[1:] != column[:-1]
    return begins


def sums_by(owner: Integers, values: NDArray[Any], n_parts: int) -> Floats:
    """Return the sum of the entries of each part, added up in their order.

    >>> sums_by(np.array([0, 0, 2]), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), 3)
    array([[4., 6.],
           [0., 0.],
           [5., 6.]])
    """
    sums = np.empty((n_parts, values.shape[1]))
    for column in range(values.shape[1]):
        sums[:, column] = np.bincount(owner, values[:, column], minlength=n_parts)
    return sums


def sums_in_order(values: Floats) -> Floats:
    """Return the sums over the last axis, each added up from first to last.

    So do compiled kernels; NumPy adds up eight and more in another order.

    >>> sums_in_order(np.array([[1.0, 2.0, 4.0], [0.5, 0.0, 0.0]]))
    array([7. , 0.5])
    """
    return np.asarray(values.cumsum(axis=-1)[..., -1])


def counts_by(owner: Integers, values: Integers, n_parts: int) -> Integers:
    """Return the sum of the integers of each part."""
    return sums_by(owner, values, n_parts).astype(np.int64)


def part_counts(values: Integers, start: Integers) -> Integers:
    """Return the sum of the whole numbers of each part, which stand together.

    >>> part_counts(np.array([[1], [2], [4]]), np.array([0, 2, 2, 3]))[:, 0]
    array([3, 0, 4])
    """
    sums = np.zeros((len(start) - 1, values.shape[1]), dtype=np.int64)
    filled = lengths_of(start) > 0
    if filled.any():
        sums[filled] = np.add.reduceat(values, start[:-1][filled])
    return sums


def running_sums(values: Numbers, start: Integers) -> Numbers:
    """Return the sums of each part up to each of its entries, added up in their order.

    Sums of whole numbers are exact, so one running sum of all parts serves; other
    numbers are added up part by part, those of about one length side by side.

    >>> running_sums(np.array([[1.0], [2.0], [0.5], [0.25]]), np.array([0, 2, 4])).T
    array([[1.  , 3.  , 0.5 , 0.75]])
    """
    counts = lengths_of(start)
    if _is_whole(values):
        sums = values.cumsum(axis=0)
        none = np.zeros((1, sums.shape[1]), sums.dtype)
        before = np.concatenate([none, sums])[start[:-1]]
        return np.asarray(sums - np.repeat(before, counts, axis=0), dtype=values.dtype)
    sums = np.empty_like(values)
    length = np.frexp(counts.astype(np.float64))[1]
    for size in np.unique(length[counts > 0]):
        parts = np.flatnonzero(length == size)
        entries: Integers = start[parts, None] + np.arange(counts[parts].max())
        inside = np.arange(entries.shape[1]) < counts[parts, None]
        block = np.zeros((*entries.shape, values.shape[1]))
        block[inside] = values[entries[inside]]
        sums[entries[inside]] = block.cumsum(axis=1)[inside]
    return sums


def _is_whole(values: NDArray[Any]) -> bool:
    if values.dtype.kind == "i":
        return True
    whole = bool(np.all(values == np.rint(values)))
    return whole and float(np.abs(values).sum()) <= EXACT


def maxima(values: Floats, start: Integers) -> Floats:
    """Return the greatest entry of each part, −∞ for an empty part."""
    greatest = np.full(len(start) - 1, -np.inf)
    filled = lengths_of(start) > 0
    if filled.any():
        greatest[filled] = np.maximum.reduceat(values, start[:-1][filled])
    return greatest


def first_best_by(
    merits: Floats,
    start: Integers,
    tolerance: float = TOLERANCE,
    unit: Floats | float = 1.0,
) -> Integers:
    """Return the first entry of each part that equals its best; -1 of an empty one.

    What is equal is the rule of ``_support.ties``.

    >>> first_best_by(np.array([0.1, 0.3, 0.3, 5.0]), np.array([0, 3, 3, 4]))
    array([ 1, -1,  3])
    """
    best = maxima(merits, start)
    with np.errstate(invalid="ignore"):
        least = best - tolerance * np.maximum(unit, np.abs(best))
    equal = np.flatnonzero(merits >= least.repeat(lengths_of(start)))
    first = np.full(len(start) - 1, -1, dtype=np.int64)
    owner = np.searchsorted(start, equal, side="right") - 1
    first[owner[::-1]] = equal[::-1]
    return first


def heaviest_by(weights: Floats, start: Integers) -> Integers:
    """Return the first entry of the greatest weight of each part; -1 of an empty one.

    Weights tie within a relative 1e-12 alone, as those of ``ties.heaviest``.

    >>> heaviest_by(np.array([1e-12, 2e-12, 2e-12]), np.array([0, 3]))
    array([1])
    """
    heaviest = maxima(weights, start).repeat(lengths_of(start))
    shares = np.divide(
        weights, heaviest, out=np.zeros(len(weights)), where=heaviest > 0
    )
    return first_best_by(shares, start)
