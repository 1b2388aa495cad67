"""Random draws of attributes that depend only on the position of a node.

The key of the root is mixed from the seed, and the key of a branch from its parent's
key. So neither the order of growing nor the number of threads changes a draw.
``spinney._support.keyed_random`` is the same in plain Python.
"""

import numpy as np

from spinney._support.jit.compile import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
ONE = np.uint64(1)


@kernel
def mix(word):
    """Return a pseudorandom word (the last step of splitmix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@kernel
def branch_key(key, branch):
    """Return the key of a branch of a node."""
    return mix(key + (np.uint64(branch) + ONE) * GOLDEN)


@kernel
def draw_below(state, n):
    """Return a random integer below n (xorshift64*, Vigna 2016)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    high = (x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(32)
    return np.int64((high * np.uint64(n)) >> np.uint64(32))
