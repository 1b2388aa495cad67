"""Sorting of numbers with their places, packed into single words.

The upper half of a key is a number rounded to 32 bits, as an ordered integer. The lower
half is the place. Rounding never reverses an order, so only numbers with equal rounded
values remain to be ordered.
"""

import numpy as np

from spinney._support.jit.compile import kernel

MAX_INSERTION_KEYS = 20
SIGN = np.uint32(0x80000000)
LOWER = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


@kernel
def sort_key(number, place):
    """Return the sort key of a number at a place."""
    bits = np.float32(number).view(np.uint32)
    # Negative numbers grow as their bits fall.
    ordered = ~bits if bits & SIGN else bits | SIGN
    return (np.uint64(ordered) << HALF) | np.uint64(place)


@kernel
def key_place(key):
    """Return the place in a sort key."""
    return np.int64(key & LOWER)


@kernel
def sort(keys, places, n, stack):
    """Sort the first ``n`` keys, and their places with them; None for no places.

    Quicksort by the median of three; short runs are left to insertion. The greater part
    waits on a stack of log₂ n entries at most, two words of ``stack`` each.
    """
    stack[0], stack[1] = 0, n - 1
    depth = 1
    while depth:
        depth -= 1
        first, last = stack[2 * depth], stack[2 * depth + 1]
        while last - first >= MAX_INSERTION_KEYS:
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
                stack[2 * depth], stack[2 * depth + 1] = low, last
                last = high
            else:
                stack[2 * depth], stack[2 * depth + 1] = first, high
                first = low
            depth += 1
        insertion_sort(keys, places, first, last)


@kernel
def insertion_sort(keys, places, first, last):
    """Sort a short run by insertion."""
    for index in range(first + 1, last + 1):
        key, before = keys[index], index - 1
        place = keys[index] if places is None else places[index]
        while before >= first and keys[before] > key:
            keys[before + 1] = keys[before]
            if places is not None:
                places[before + 1] = places[before]
            before -= 1
        keys[before + 1] = key
        if places is not None:
            places[before + 1] = place


@kernel
def _swap(keys, places, i, j):
    keys[i], keys[j] = keys[j], keys[i]
    if places is not None:
        places[i], places[j] = places[j], places[i]


@kernel
def order_rounded(keys, n, values):
    """Order sorted keys with equal rounded numbers by their exact values."""
    for index in range(1, n):
        key = keys[index]
        upper, value = key >> HALF, values[key & LOWER]
        before = index - 1
        while (
            before >= 0
            and keys[before] >> HALF == upper
            and values[keys[before] & LOWER] > value
        ):
            keys[before + 1] = keys[before]
            before -= 1
        keys[before + 1] = key
