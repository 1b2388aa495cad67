"""Rows drawn with replacement, as NumPy's generator draws them.

``np.random.Generator(PCG64(seed)).integers(0, n, size)`` for many seeds: setting up a
generator would take longer than using it. A state of 128 bits is multiplied and added
to (O'Neill 2014, "PCG"); both halves of a word of its output are taken, the lower
first, and brought below n without bias (Lemire 2019, "Fast random integer generation in
an interval"). NumPy promises that neither changes.
"""

import numpy as np

from spinney._support.jit.compile import entry, kernel

HIGH_FACTOR, LOW_FACTOR = np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645)
LOWER, HALF, ONE = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(1)
LAST, WORD, ROTATION = np.uint64(63), np.uint64(64), np.uint64(58)


@kernel
def high_product(x, y):
    """Return the upper word of the product of two words."""
    low_x, high_x = x & LOWER, x >> HALF
    low, high = y & LOWER, y >> HALF
    middle = low_x * high + ((low_x * low) >> HALF)
    rest = high_x * low + (middle & LOWER)
    return high_x * high + (middle >> HALF) + (rest >> HALF)


@kernel
def stepped(high, low, high_increment, low_increment):
    """Return the next state of the generator."""
    product = high_product(low, LOW_FACTOR) + high * LOW_FACTOR + low * HIGH_FACTOR
    low = low * LOW_FACTOR + low_increment
    return product + high_increment + np.uint64(low < low_increment), low


@entry
def draw_bags(seeds, size, drawn):
    """Count the draws of each row, for each of several trees.

    Parameters
    ----------
    seeds : trees × 4
        The seed words of each generator.
    size : int
        The number of rows to draw.
    drawn : trees × rows
        Zeros, which become the counts.
    """
    n = np.uint64(drawn.shape[1])
    threshold = (LOWER + ONE - n) % n
    for tree in range(len(seeds)):
        high_increment = (seeds[tree, 2] << ONE) | (seeds[tree, 3] >> LAST)
        low_increment = (seeds[tree, 3] << ONE) | ONE
        low = low_increment + seeds[tree, 1]
        high = high_increment + seeds[tree, 0] + np.uint64(low < low_increment)
        high, low = stepped(high, low, high_increment, low_increment)
        word, waiting = np.uint64(0), False
        for _ in range(size):
            while True:
                if waiting:
                    half = word >> HALF
                else:
                    high, low = stepped(high, low, high_increment, low_increment)
                    rotation, mixed = high >> ROTATION, high ^ low
                    word = (mixed >> rotation) | (mixed << ((WORD - rotation) & LAST))
                    half = word & LOWER
                waiting = not waiting
                product = half * n
                if product & LOWER >= threshold:
                    break
            drawn[tree, product >> HALF] += 1
