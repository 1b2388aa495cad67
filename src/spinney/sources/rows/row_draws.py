"""Draws without a draw: how often a row is taken, by its number alone.

Rows to prune by, the rows of a fold and those in the bag of a tree are taken by the
numbers of ``row_numbers``, so that every engine takes the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.keyed_random import mix
from spinney.sources.rows.row_numbers import MIXED, behind

ROUNDS = 2
"""How often a number is squared for a draw: then copies of a row are drawn apart."""
RARE = 1e-13
"""Of rows drawn with replacement, what is rarer than this does not happen."""


@dataclass(frozen=True, slots=True)
class Draw:
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
    def others(self) -> "Draw":
        """The draw of the rows that this one does not take."""
        return replace(self, times=tuple(int(not n) for n in self.times))

    def pieces(self, n: int) -> "Iterator[Draw]":
        """Give draws that take together what this one takes, each row by one of them.

        >>> [piece.limits for piece in Draw((0.5,), (1, 0)).pieces(2)]
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
            yield Draw(tuple(limits), tuple(times), self.mixing)


def mixing_of(*words: int) -> tuple[float, float]:
    """Return how numbers are mixed by a key of some words.

    >>> mixing_of(1, 2) == mixing_of(1, 2) != mixing_of(2, 1)
    True
    """
    key = 0
    for word in words:
        key = mix(key ^ mix(word + 1))
    return 2.0**19 * (1.0 + (key >> 44) * 2.0**-20), (key & (2**44 - 1)) * 2.0**-44


def share_of_rows(share: float, mixing: tuple[float, float] | None = None) -> Draw:
    """Return the draw of a share of the rows."""
    return Draw((share,), (1, 0), mixing)


def fold_of_rows(fold: int, n_folds: int, mixing: tuple[float, float]) -> Draw:
    """Return the draw of the rows of a fold, counted from 0."""
    return Draw((fold / n_folds, (fold + 1) / n_folds), (0, 1, 0), mixing)


def bag_of_rows(rate: float, mixing: tuple[float, float], *, replace: bool) -> Draw:
    """Return the draw of a bag: each row as often as Poisson's law says, or once.

    ``rate`` is how often a row is drawn on average. Of many rows a draw of as many with
    replacement takes each of them about so often (Oza and Russell 2001).

    >>> bag_of_rows(0.5, (1.0, 0.0), replace=False).times
    (1, 0)
    """
    if not replace:
        return share_of_rows(rate, mixing)
    limits, term, total = [], exp(-rate), 0.0
    while total < 1 - RARE and term > 0:
        total += term
        limits.append(total)
        term *= rate / len(limits)
    return Draw(tuple(limits), tuple(range(len(limits) + 1)), mixing)


def times_of(draws: Sequence[Draw], numbers: Floats) -> NDArray[np.uint32]:
    """Return how often rows are taken by several draws, one after the other."""
    times = np.ones(len(numbers), np.uint32)
    for draw in draws:
        times *= draw.of(numbers)
    return times
