"""Many of NumPy's seed sequences at once, with the same words.

``SeedSequence`` mixes integers into a pool of four words, and draws words from it
(after O'Neill 2015, "Developing a seed_seq alternative"); NumPy promises that neither
this nor ``PCG64`` changes. Making one object of each takes as long as growing a small
tree. So this module does the arithmetic, modulo 2³², for all seeds at once.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]

POOL = 4
SHIFT, HALF = np.uint32(16), np.uint64(32)
HASH_START, HASH_FACTOR = 0x43B0D7E5, 0x931E8875  # to stir words in
DRAW_START, DRAW_FACTOR = 0x8B51F9DD, 0x58F38DED  # to draw words
MIX_LEFT, MIX_RIGHT = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)  # to mix two words
MASK_32, MASK_128 = 2**32 - 1, 2**128 - 1
PCG_FACTOR = 0x2360ED051FC65DA44385DF649FCCF645


class _Hash:
    """A hash of words with a different constant in each call."""

    def __init__(self, constant: int, factor: int) -> None:
        self.constant, self.factor = constant, factor

    def __call__(self, words: Words) -> Words:
        words = words ^ np.uint32(self.constant)
        self.constant = self.constant * self.factor & MASK_32
        words = words * np.uint32(self.constant)
        return words ^ (words >> SHIFT)


def to_words(number: int) -> list[int]:
    """Return a whole number as words of 32 bits, the lowest first.

    >>> to_words(0), to_words(2**32 + 7)
    ([0], [7, 1])
    """
    words = [number & MASK_32]
    while number := number >> 32:
        words.append(number & MASK_32)
    return words


def seed_words(entropy: Sequence[Words], n_words: int) -> NDArray[np.uint64]:
    """Return what ``SeedSequence(…).generate_state(n_words, np.uint64)`` gives.

    ``entropy`` has the words of all sequences, the first of each, then the second.

    >>> one_by_one = np.random.SeedSequence(5).generate_state(3, np.uint64)
    >>> (seed_words([np.array([5], np.uint32)], 3)[0] == one_by_one).all()
    np.True_
    """
    stir, n = _Hash(HASH_START, HASH_FACTOR), len(entropy[0])
    short = [np.zeros(n, np.uint32)] * (POOL - len(entropy))
    pool = [stir(words) for words in [*entropy, *short][:POOL]]
    for source in range(POOL):
        for into in range(POOL):
            if source != into:
                pool[into] = _mixed(pool[into], stir(pool[source]))
    for words in entropy[POOL:]:
        pool = [_mixed(word, stir(words)) for word in pool]
    draw = _Hash(DRAW_START, DRAW_FACTOR)
    drawn = [draw(pool[i % POOL]).astype(np.uint64) for i in range(2 * n_words)]
    low, high = drawn[::2], drawn[1::2]
    return np.stack(
        [a | (b << HALF) for a, b in zip(low, high, strict=True)],
        axis=1,
    )


def _mixed(first: Words, second: Words) -> Words:
    words = MIX_LEFT * first - MIX_RIGHT * second
    return np.asarray(words ^ (words >> SHIFT))


def generator_words(seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the four words of the initial state of ``PCG64(seed)``, for each seed.

    Two words are the state and two the increment, the upper ones first.
    """
    halves = [seeds.astype(np.uint32), (seeds >> HALF).astype(np.uint32)]
    return seed_words(halves, 4)


def generator_states(words: NDArray[np.uint64]) -> list[Any]:
    """Return the states of generators that begin with these words, four for each.

    >>> generator = np.random.PCG64()
    >>> words = generator_words(np.array([9], np.uint64))
    >>> generator.state = generator_states(words)[0]
    >>> generator.random_raw() == np.random.PCG64(9).random_raw()
    True
    """
    states: list[Any] = []
    for one, two, three, four in words.tolist():
        increment = (three << 65 | four << 1 | 1) & MASK_128
        begin = increment + (one << 64 | two)
        state = (begin * PCG_FACTOR + increment) & MASK_128
        states.append(
            {
                "bit_generator": "PCG64",
                "state": {"state": state, "inc": increment},
                "has_uint32": 0,
                "uinteger": 0,
            }
        )
    return states
