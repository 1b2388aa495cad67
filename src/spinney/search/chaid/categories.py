"""What CHAID merges: the categories of attributes, made few enough to be paired.

A portion is one category, or, where there are more than ``MOST``, several that are
alike and are not told apart any more. The missing rows are the last portion.
Categories without weight can tell nothing; they go with the nearest one before them
that has weight, or else the nearest after.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import sums_by
from spinney.search.value_order import principal_score
from spinney.trees import TableBatch, ratio_of, sizes

MOST = 1000
SMALL = 15
CELLS = 1 << 18  # of the pairs that are kept for tables merged together: 2 megabytes

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Portions:
    """Categories to merge, of several tables at once.

    Parameters
    ----------
    weights : array of shape (tables, portions, columns)
        Weights by class, or moments, of each portion; all have weight, but those that
        fill a table up to the size of the largest.
    counts : array of shape (tables,)
        How many portions each table has.
    missing : array of shape (tables,)
        The portion of the missing rows, the last one; -1 where they are none.
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
    """The categories of all tables of a stack, by portions.

    Parameters
    ----------
    batch : TableBatch
        The tables.
    portion : array of shape (lines,)
        The portion of each line, counted from 0 in its table.
    counts, missing : arrays of shape (tables,)
        As those of ``Portions``.
    n_categories : array of shape (tables,)
        How many categories with weight there were, the missing one included.
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
        """Return the categories, the missing rows among them if they float."""
        heavy = batch.sizes > 0
        n_heavy = np.bincount(batch.owner[heavy], minlength=len(batch))
        up_to = np.append(0, np.cumsum(heavy))
        before = up_to[batch.start[:-1]]
        portion = np.maximum(up_to[1:] - before[batch.owner] - 1, 0)
        n_known, exact = n_heavy.copy(), n_heavy <= MOST
        for table in np.flatnonzero(~exact):
            lines = slice(batch.start[table], batch.start[table + 1])
            number = _numbered(batch, lines, ordered=bool(ordered[table]))
            portion[lines] = number[portion[lines]]
            n_known[table] = number.max() + 1
        floats = floating & (sizes(batch.missing, batch.missing_rows) > 0)
        return cls(
            batch,
            portion,
            np.maximum(n_known + floats, 1),
            np.where(floats, n_known, -1),
            n_heavy + floats,
            ordered | ~exact,
            exact,
        )

    def parts(self) -> Iterator[tuple[Integers, Portions]]:
        """Give the tables of two and more portions, those of about one size together.

        With the numbers of the tables come their portions. Up to ``SMALL`` a step costs
        what its operations do, and not what they work on.
        """
        counts = np.maximum(self.counts, SMALL)
        size = 2 * np.frexp(counts.astype(np.float64))[1] + self.ordered
        for key in np.unique(size[self.counts > 1]):
            tables = np.flatnonzero((size == key) & (self.counts > 1))
            most = int(self.counts[tables].max())
            step = max(CELLS // (most * (2 if key % 2 else most)), 1)
            for begin in range(0, len(tables), step):
                part = tables[begin : begin + step]
                yield part, self.portions(part)

    def portions(self, tables: Integers) -> Portions:
        """Return the portions of some tables, which are all ordered, or all are not."""
        part, counts = self.batch.take(tables), self.counts[tables]
        missing, most = self.missing[tables], int(counts.max())
        key = part.owner * most + self.portion[self.batch.lines_of(tables)]
        weights = sums_by(key, part.weights, len(tables) * most)
        weights = weights.reshape(len(tables), most, -1)
        floats = np.flatnonzero(missing >= 0)
        weights[floats, missing[floats]] = part.missing[floats]
        return Portions(
            weights, counts, missing, part.is_moments, bool(self.ordered[tables[0]])
        )


def scores_of(weights: Floats, *, moments: bool) -> Floats:
    """Return a place on a line for each row of weights, or of moments.

    The mean, or the share of the last class of two, orders categories such that the
    best split in two is a cut (Fisher 1958; Breiman et al. 1984); with more classes
    the first principal component of the shares is good but not exact.
    """
    if moments:
        return np.asarray(weights[:, 1] / weights[:, 0])
    present = weights.any(axis=0)
    if present.sum() <= 2:
        last = weights[:, present][:, -1]
        return ratio_of(last, weights[:, present].sum(axis=1))
    return principal_score(weights)


def _numbered(batch: TableBatch, lines: slice, *, ordered: bool) -> Integers:
    """Return the number of the portion of each category with weight.

    It rises with the score. Categories of equal score stay together, and the line is
    cut into ``MOST`` pieces of equal weight; a category goes where its middle lies.
    """
    heavy = np.flatnonzero(batch.sizes[lines] > 0)
    weights, weight = batch.weights[lines][heavy], batch.sizes[lines][heavy]
    scores = np.arange(len(heavy), dtype=np.float64)
    if not ordered:
        scores = scores_of(weights, moments=batch.is_moments)
    scale = float(np.abs(scores).max()) or 1.0
    _, block = np.unique(np.round(scores / scale, 12), return_inverse=True)
    together = np.bincount(block, weights=weight)
    middle = (np.cumsum(together) - together / 2) / together.sum()
    piece = np.minimum((middle * MOST).astype(np.int64), MOST - 1)
    _, number = np.unique(piece[block], return_inverse=True)
    return np.asarray(number, dtype=np.int64)
