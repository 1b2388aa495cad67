"""Random numbers by seed, and rows drawn by them.

Number i of a seed is that of splitmix64 (``spinney._support.keyed_random``):
mix(mix(seed) + i · GOLDEN).

Rows are drawn in an order of their contents (``spinney._support.row_order``). The order
of the table does not matter. A row of weight 2 equals two rows. Rows are in *bins* by
the first bits of their keys. To find the row where a cumulative sum passes a fraction,
only the sums by bin and one bin are searched.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.keyed_random import GOLDEN, branch_key, mix, root_key
from spinney._support.row_order import keys_of

BINS = 1024


class RandomStream:
    """A stream of random numbers from a seed, and streams that branch off.

    >>> RandomStream(7).number() == RandomStream(7).number()
    True
    """

    def __init__(self, seed: int) -> None:
        self._key = root_key(seed)
        self._n_drawn = 0

    def branch(self, number: int) -> "RandomStream":
        """Return the stream of a branch; it does not depend on earlier draws."""
        return RandomStream(branch_key(self._key, number))

    def number(self) -> float:
        """Return the next number from [0, 1)."""
        self._n_drawn += 1
        return (mix(self._key + self._n_drawn * GOLDEN) >> 11) * 2.0**-53


def fill_up(chosen: list[int], n: int) -> Integers:
    """Return n rows: the chosen ones, then the first of them repeatedly."""
    return np.array(chosen + chosen[:1] * (n - len(chosen)))


def full_weights(weights: Floats, n_rows: int) -> Floats:
    """Return a weight for each row; empty weights stand for 1."""
    return weights if len(weights) else np.ones(n_rows)


class RowSampler:
    """Samples rows by weight, independently of their order."""

    def __init__(self, cells: NDArray[Any]) -> None:
        self._keys = keys_of(cells)
        self.bins = (self._keys >> np.uint64(54)).astype(np.uint16)
        self._order = np.argsort(self.bins, kind="stable")
        counts = np.bincount(self.bins, minlength=BINS)
        self._ends = np.append(0, np.cumsum(counts))
        self._members: dict[int, Integers] = {}

    def totals(self, sizes: Floats) -> Floats:
        """Return the sums of the sizes of all rows by bin."""
        sums = np.bincount(self.bins, weights=sizes, minlength=BINS)
        return np.asarray(sums, dtype=np.float64)

    def members(self, number: int) -> Integers:
        """Return the rows of a bin, in order."""
        if number not in self._members:
            rows = self._order[self._ends[number] : self._ends[number + 1]]
            order = np.argsort(self._keys[rows], kind="stable")
            self._members[number] = rows[order]
        return self._members[number]

    def duplicates(self, row: int) -> Integers:
        """Return the rows that equal a row, including the row."""
        rows = self.members(int(self.bins[row]))
        return np.asarray(rows[self._keys[rows] == self._keys[row]])

    def row_at(
        self, totals: Floats, sizes: Callable[[Integers], Floats], fraction: float
    ) -> int:
        """Return the row where the cumulative size passes a fraction of the total.

        ``totals`` are the sums by bin, ``sizes`` returns the sizes of some rows.
        """
        cumulative = np.cumsum(totals)
        rest = fraction * cumulative[-1]
        number = int(np.searchsorted(cumulative, rest, side="right"))
        number = min(number, int(np.flatnonzero(totals)[-1]))
        rest -= cumulative[number - 1] if number else 0.0
        rows = self.members(number)
        row_sizes = sizes(rows)
        row = int(np.searchsorted(np.cumsum(row_sizes), rest, side="right"))
        return int(rows[min(row, int(np.flatnonzero(row_sizes)[-1]))])
