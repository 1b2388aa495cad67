"""Sorting keys together with the places they came from."""

from spinney._support.jit.compile import kernel

__all__ = ["sort_pairs"]

FEW = 20


@kernel
def sort_pairs(keys, places, n, waiting):
    """Sort the first ``n`` keys, and their places with them, in place.

    Quicksort by the median of three; short runs are left to insertion. The greater
    part waits on a stack of log₂ n entries at most, two words of ``waiting`` each.
    """
    waiting[0], waiting[1] = 0, n - 1
    depth = 1
    while depth:
        depth -= 1
        first, last = waiting[2 * depth], waiting[2 * depth + 1]
        while last - first >= FEW:
            middle = (first + last) >> 1
            if keys[middle] < keys[first]:
                _swap(keys, places, middle, first)
            if keys[last] < keys[first]:
                _swap(keys, places, last, first)
            if keys[last] < keys[middle]:
                _swap(keys, places, last, middle)
            pivot = keys[middle]
            low, high = first, last
            while low <= high:
                while keys[low] < pivot:
                    low += 1
                while keys[high] > pivot:
                    high -= 1
                if low <= high:
                    _swap(keys, places, low, high)
                    low += 1
                    high -= 1
            if high - first < last - low:
                waiting[2 * depth], waiting[2 * depth + 1] = low, last
                last = high
            else:
                waiting[2 * depth], waiting[2 * depth + 1] = first, high
                first = low
            depth += 1
        _insert(keys, places, first, last)


@kernel
def _insert(keys, places, first, last):
    """Sort a short run by insertion."""
    for at in range(first + 1, last + 1):
        key, place = keys[at], places[at]
        before = at - 1
        while before >= first and keys[before] > key:
            keys[before + 1], places[before + 1] = keys[before], places[before]
            before -= 1
        keys[before + 1], places[before + 1] = key, place


@kernel
def _swap(keys, places, one, other):
    keys[one], keys[other] = keys[other], keys[one]
    places[one], places[other] = places[other], places[one]
