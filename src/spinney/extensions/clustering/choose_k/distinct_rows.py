"""Distinct rows with the total weight of their duplicates, and samples of them.

Rows are in an order of their contents (``spinney._support.row_order``). Results do not
depend on the order of a table, nor on whether a row occurs twice or has weight 2.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.keyed_random import GOLDEN, WORD, root_key
from spinney._support.row_order import keys_of
from spinney.extensions.clustering.prototypes.mixed_cells import MixedCells


@dataclass(frozen=True, slots=True, eq=False)
class DistinctRows:
    """Distinct rows and their weights, all above 0."""

    cells: Any  # an array, or MixedCells
    weights: Floats

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def weight(self) -> float:
        """The total weight."""
        return float(self.weights.sum())

    @property
    def weights_or_none(self) -> Floats | None:
        """The weights; None if all are 1."""
        return None if bool(np.all(self.weights == 1)) else self.weights


def distinct_rows(
    cells: NDArray[Any] | MixedCells, weights: Floats | None = None
) -> DistinctRows:
    """Return the distinct rows with weight.

    >>> rows = distinct_rows(np.array([[1.0], [5.0], [1.0]]))
    >>> sorted(zip(rows.cells[:, 0].tolist(), rows.weights.tolist()))
    [(1.0, 2.0), (5.0, 1.0)]
    """
    if weights is None:
        row_weights, keys = np.ones(len(cells)), _row_keys(cells)
        order = np.argsort(keys)
    else:
        row_weights = np.asarray(weights, np.float64)
        if not row_weights.all():
            cells, row_weights = cells[row_weights > 0], row_weights[row_weights > 0]
        keys = _row_keys(cells)
        order = np.lexsort((row_weights, keys))  # equal rows are in order of weight
    if not len(order):
        return DistinctRows(cells, row_weights)
    starts = np.flatnonzero(np.diff(keys[order], prepend=~keys[order[:1]]))
    return DistinctRows(
        cells[order[starts]], np.add.reduceat(row_weights[order], starts)
    )


def _row_keys(cells: NDArray[Any] | MixedCells) -> NDArray[np.uint64]:
    """Return a 64-bit key for each row, the same for equal rows."""
    return keys_of(cells.matrix() if isinstance(cells, MixedCells) else cells)


def sample_rows(rows: DistinctRows, n: int, *, seed: int) -> DistinctRows:
    """Return n draws by weight, as distinct rows weighted by their draws.

    Systematic sampling: rows are shuffled by seed, and the cumulative weight is read at
    equal steps from a random point on. A row is drawn n times its proportion of the
    weight, rounded up or down.

    >>> rows = distinct_rows(np.arange(100.0)[:, None])
    >>> some = sample_rows(rows, 10, seed=1)
    >>> len(some), some.weights.sum()
    (10, np.float64(10.0))
    """
    order = np.argsort(_mix_words(_row_keys(rows.cells) ^ np.uint64(root_key(seed))))
    running = np.cumsum(rows.weights[order])
    points = (np.arange(n) + uniform_numbers(1, seed=seed)) * (running[-1] / n)
    indices = np.minimum(np.searchsorted(running, points, side="right"), len(order) - 1)
    drawn = np.bincount(order[indices], minlength=len(order))
    chosen = drawn > 0
    return DistinctRows(rows.cells[chosen], drawn[chosen].astype(np.float64))


def uniform_numbers(n: int, *, seed: int) -> Floats:
    """Return n numbers from [0, 1), those of ``RandomStream``.

    >>> from spinney.extensions.clustering.random_rows import RandomStream
    >>> draws = RandomStream(7)
    >>> uniform_numbers(3, seed=7).tolist() == [draws.number() for _ in range(3)]
    True
    """
    counters = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(GOLDEN & WORD)
    words = _mix_words(counters + np.uint64(root_key(seed)))
    return np.asarray((words >> np.uint64(11)) * 2.0**-53)


def _mix_words(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return ``keyed_random.mix`` of many words."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))
