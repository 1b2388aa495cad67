"""The categories that CHAID merges, reduced to a limited number.

A portion is one category, or several similar categories if there are more than
``MAX_PORTIONS``. The missing rows are the last portion. A category without weight joins
the nearest category with weight, preferably one before it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import sums_by
from spinney.search.value_order import principal_score
from spinney.trees import TableBatch, ratio_of, sizes

MAX_PORTIONS = 1000
SMALL_TABLE = 15
CELLS = 1 << 18  # of the pairs that are kept for tables merged together: 2 megabytes

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Portions:
    """The categories to merge, for several tables at once.

    Parameters
    ----------
    weights : array of shape (tables, portions, columns)
        Weights by class, or moments, of each portion. Only padding portions have no
        weight.
    counts : array of shape (tables,)
        The number of portions of each table.
    missing : array of shape (tables,)
        The portion of the missing rows, which is the last one, or -1.
    moments : bool
        Whether the columns are the moments of a numeric target.
    ordered : bool
        Whether only neighbours may merge.
    """

    weights: Floats
    counts: Integers
    missing: Integers
    moments: bool
    ordered: bool


@dataclass(frozen=True, slots=True, eq=False)
class Categories:
    """The categories of all tables of a batch, by portions.

    Parameters
    ----------
    batch : TableBatch
        The tables.
    portion : array of shape (lines,)
        The portion of each line, counted from 0 in its table.
    counts, missing : arrays of shape (tables,)
        As in ``Portions``.
    n_categories : array of shape (tables,)
        The number of categories with weight, the missing one included.
    ordered : array of shape (tables,)
        Whether only neighbours may merge.
    exact : array of shape (tables,)
        Whether each category is a portion of its own.
    """

    batch: TableBatch
    portion: Integers
    counts: Integers
    missing: Integers
    n_categories: Integers
    ordered: Flags
    exact: Flags

    @classmethod
    def of(cls, batch: TableBatch, *, ordered: Flags, floating: bool) -> "Categories":
        """Return the categories; with ``floating`` missing rows are one of them."""
        has_weight = batch.sizes > 0
        n_weighted = np.bincount(batch.owner[has_weight], minlength=len(batch))
        up_to = np.append(0, np.cumsum(has_weight))
        before = up_to[batch.start[:-1]]
        portion = np.maximum(up_to[1:] - before[batch.owner] - 1, 0)
        n_portions, exact = n_weighted.copy(), n_weighted <= MAX_PORTIONS
        for table in np.flatnonzero(~exact):
            lines = slice(batch.start[table], batch.start[table + 1])
            number = _portion_numbers(batch, lines, ordered=bool(ordered[table]))
            portion[lines] = number[portion[lines]]
            n_portions[table] = number.max() + 1
        floats = floating & (sizes(batch.missing, batch.missing_rows) > 0)
        return cls(
            batch,
            portion,
            np.maximum(n_portions + floats, 1),
            np.where(floats, n_portions, -1),
            n_weighted + floats,
            ordered | ~exact,
            exact,
        )

    def parts(self) -> Iterator[tuple[Integers, Portions]]:
        """Yield tables of at least two portions, those of similar size together.

        Each item has the indices of the tables and their portions. Up to
        ``SMALL_TABLE`` the time of a step does not depend on the number of tables.
        """
        counts = np.maximum(self.counts, SMALL_TABLE)
        size = 2 * np.frexp(counts.astype(np.float64))[1] + self.ordered
        for key in np.unique(size[self.counts > 1]):
            tables = np.flatnonzero((size == key) & (self.counts > 1))
            max_portions = int(self.counts[tables].max())
            step = max(CELLS // (max_portions * (2 if key % 2 else max_portions)), 1)
            for begin in range(0, len(tables), step):
                part = tables[begin : begin + step]
                yield part, self.portions(part)

    def portions(self, tables: Integers) -> Portions:
        """Return the portions of some tables; either all are ordered or none is."""
        part, counts = self.batch.take(tables), self.counts[tables]
        missing, max_portions = self.missing[tables], int(counts.max())
        key = part.owner * max_portions + self.portion[self.batch.lines_of(tables)]
        weights = sums_by(key, part.weights, len(tables) * max_portions)
        weights = weights.reshape(len(tables), max_portions, -1)
        floats = np.flatnonzero(missing >= 0)
        weights[floats, missing[floats]] = part.missing[floats]
        return Portions(
            weights, counts, missing, part.is_moments, bool(self.ordered[tables[0]])
        )


def order_scores(weights: Floats, *, moments: bool) -> Floats:
    """Return the ordering score of categories, one for each row of weights or moments.

    By the mean, or the probability of the last class of two, the best split in two is a
    cut (Fisher 1958; Breiman et al. 1984). With more classes the first principal
    component of the probabilities is good but not exact.
    """
    if moments:
        return np.asarray(weights[:, 1] / weights[:, 0])
    present = weights.any(axis=0)
    if present.sum() <= 2:
        last = weights[:, present][:, -1]
        return ratio_of(last, weights[:, present].sum(axis=1))
    return principal_score(weights)


def _portion_numbers(batch: TableBatch, lines: slice, *, ordered: bool) -> Integers:
    """Return the portion of each category with weight.

    Portions rise with the score, and categories of equal score share one. The line of
    scores is divided into ``MAX_PORTIONS`` pieces of equal weight; the middle of a
    category decides its portion.
    """
    weighted = np.flatnonzero(batch.sizes[lines] > 0)
    weights, weight = batch.weights[lines][weighted], batch.sizes[lines][weighted]
    scores = np.arange(len(weighted), dtype=np.float64)
    if not ordered:
        scores = order_scores(weights, moments=batch.is_moments)
    scale = float(np.abs(scores).max()) or 1.0
    _, block = np.unique(np.round(scores / scale, 12), return_inverse=True)
    block_weights = np.bincount(block, weights=weight)
    middle = (np.cumsum(block_weights) - block_weights / 2) / block_weights.sum()
    piece = np.minimum((middle * MAX_PORTIONS).astype(np.int64), MAX_PORTIONS - 1)
    _, number = np.unique(piece[block], return_inverse=True)
    return np.asarray(number, dtype=np.int64)
