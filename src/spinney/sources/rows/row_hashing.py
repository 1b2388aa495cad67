"""NodeSampling without a draw: how often a row is taken, by its number alone.

Rows to prune by, the rows of a fold and those in the bag of a tree are taken by the
numbers of ``row_hashing``, so that every engine takes the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.keyed_random import mix
from spinney.sources.rows.row_hashing import MIXED, behind

ROUNDS = 2
"""How often a number is squared for a draw: then copies of a row are drawn apart."""
RARE = 1e-13
"""Of rows drawn with replacement, what is rarer than this does not happen."""


@dataclass(frozen=True, slots=True)
class HashSample:
    """How often a row is taken, by its number.

    Bags, folds, samples and rows to prune by are drawn so.

    Parameters
    ----------
    limits : tuple of float
        Rising; a number below the first one is taken ``times[0]`` times, and so on.
    times : tuple of int
        One more than there are limits.
    mixing : (float, float), optional
        The number is multiplied by the first and the second is added, and what is
        behind the point is mixed further; if not given, it is taken as it is.
    """

    limits: tuple[float, ...]
    times: tuple[int, ...]
    mixing: tuple[float, float] | None = None

    def of(self, numbers: Floats) -> NDArray[np.uint32]:
        """Return how often rows are taken."""
        if self.mixing is not None:
            factor, offset = self.mixing
            numbers = behind(numbers * factor + offset)
            for _ in range(ROUNDS):
                numbers = behind((numbers + 1.0) * (numbers + 1.0) * MIXED)
        places = np.searchsorted(np.array(self.limits), numbers, side="right")
        return np.array(self.times, np.uint32)[places]

    @property
    def others(self) -> "HashSample":
        """The draw of the rows that this one does not take."""
        return replace(self, times=tuple(int(not n) for n in self.times))

    def pieces(self, n: int) -> "Iterator[HashSample]":
        """Give draws that take together what this one takes, each row by one of them.

        >>> [piece.limits for piece in HashSample((0.5,), (1, 0)).pieces(2)]
        [(0.0, 0.25), (0.25, 0.5)]
        """
        edges = (0.0, *self.limits, 1.0)
        for piece in range(n):
            limits, times = list[float](), [0]
            for low, high, taken in zip(edges, edges[1:], self.times, strict=False):
                if taken:
                    cuts = [low + (high - low) * k / n for k in range(n)] + [high]
                    limits += cuts[piece : piece + 2]
                    times += [taken, 0]
            yield HashSample(tuple(limits), tuple(times), self.mixing)


def hash_mixing(*words: int) -> tuple[float, float]:
    """Return how numbers are mixed by a key of some words.

    >>> hash_mixing(1, 2) == hash_mixing(1, 2) != hash_mixing(2, 1)
    True
    """
    key = 0
    for word in words:
        key = mix(key ^ mix(word + 1))
    return 2.0**19 * (1.0 + (key >> 44) * 2.0**-20), (key & (2**44 - 1)) * 2.0**-44


def sample_share(share: float, mixing: tuple[float, float] | None = None) -> HashSample:
    """Return the draw of a share of the rows."""
    return HashSample((share,), (1, 0), mixing)


def sample_fold(fold: int, n_folds: int, mixing: tuple[float, float]) -> HashSample:
    """Return the draw of the rows of a fold, counted from 0."""
    return HashSample((fold / n_folds, (fold + 1) / n_folds), (0, 1, 0), mixing)


def sample_bag(
    rate: float, mixing: tuple[float, float], *, replace: bool
) -> HashSample:
    """Return the draw of a bag: each row as often as Poisson's law says, or once.

    ``rate`` is how often a row is drawn on average. Of many rows a draw of as many with
    replacement takes each of them about so often (Oza and Russell 2001).

    >>> sample_bag(0.5, (1.0, 0.0), replace=False).times
    (1, 0)
    """
    if not replace:
        return sample_share(rate, mixing)
    limits, term, total = [], exp(-rate), 0.0
    while total < 1 - RARE and term > 0:
        total += term
        limits.append(total)
        term *= rate / len(limits)
    return HashSample(tuple(limits), tuple(range(len(limits) + 1)), mixing)


def sample_counts(draws: Sequence[HashSample], numbers: Floats) -> NDArray[np.uint32]:
    """Return how often rows are taken by several draws, one after the other."""
    times = np.ones(len(numbers), np.uint32)
    for draw in draws:
        times *= draw.of(numbers)
    return times
