"""Rows drawn with replacement, as NumPy's generator draws them.

``np.random.Generator(PCG64(seed)).integers(0, n, size)`` for many seeds, each of which
would take longer to set up than to use. A state of 128 bits is multiplied and added to
(O'Neill 2014, "PCG"); both halves of a word of its output are taken, the lower first,
and brought below n without bias (Lemire 2019, "Fast random integer generation in an
interval"). NumPy promises that neither changes.
"""

import numpy as np

from spinney._support.jit.compile import entry, kernel

HIGH_FACTOR, LOW_FACTOR = np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645)
LOWER, HALF, ONE = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(1)
LAST, WORD, ROTATION = np.uint64(63), np.uint64(64), np.uint64(58)


@kernel
def high_product(one, other):
    """Return the upper word of the product of two words."""
    low_one, high_one = one & LOWER, one >> HALF
    low, high = other & LOWER, other >> HALF
    middle = low_one * high + ((low_one * low) >> HALF)
    rest = high_one * low + (middle & LOWER)
    return high_one * high + (middle >> HALF) + (rest >> HALF)


@kernel
def stepped(high, low, more_high, more_low):
    """Return the next state: this one times the factor, and more."""
    product = high_product(low, LOW_FACTOR) + high * LOW_FACTOR + low * HIGH_FACTOR
    low = low * LOW_FACTOR + more_low
    return product + more_high + np.uint64(low < more_low), low


@entry
def draw_bags(seeds, size, drawn):
    """Count how often each row is drawn, for each of some trees.

    Parameters
    ----------
    seeds : trees × 4
        The words that a generator is seeded with.
    size : int
        How many rows are drawn.
    drawn : trees × rows
        Zeros, which become the counts.
    """
    n = np.uint64(drawn.shape[1])
    threshold = (LOWER + ONE - n) % n
    for tree in range(len(seeds)):
        more_high = (seeds[tree, 2] << ONE) | (seeds[tree, 3] >> LAST)
        more_low = (seeds[tree, 3] << ONE) | ONE
        low = more_low + seeds[tree, 1]
        high = more_high + seeds[tree, 0] + np.uint64(low < more_low)
        high, low = stepped(high, low, more_high, more_low)
        kept, waiting = np.uint64(0), False
        for _ in range(size):
            while True:
                if waiting:
                    half = kept >> HALF
                else:
                    high, low = stepped(high, low, more_high, more_low)
                    turn, mixed = high >> ROTATION, high ^ low
                    kept = (mixed >> turn) | (mixed << ((WORD - turn) & LAST))
                    half = kept & LOWER
                waiting = not waiting
                product = half * n
                if product & LOWER >= threshold:
                    break
            drawn[tree, product >> HALF] += 1
