"""What CHAID merges: the categories of an attribute, made few enough to be paired.

A portion is one category, or, where there are more than ``MOST``, several that are
alike and are not told apart any more. The missing rows are the last portion.
Categories without weight can tell nothing; they go with the nearest one before them
that has weight, or else the nearest after.
"""

from dataclasses import dataclass

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.search.value_order import principal_score
from spinney.trees import CountTable, ratio_of

MOST = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Portions:
    """Categories to merge.

    Parameters
    ----------
    weights : array of shape (portions, columns)
        Weights by class, or moments, of each portion; all have weight.
    positions : tuple of arrays
        The positions of each portion's values in the table.
    missing : int, optional
        The portion of the missing rows, the last one; its positions are empty.
    moments : bool
        Whether the columns are the moments of a numeric target.
    ordered : bool
        Whether only neighbours may merge.
    n_categories : int
        How many categories with weight there were, the missing one included.
    exact : bool
        Whether each category is a portion of its own.
    """

    weights: Floats
    positions: tuple[Integers, ...]
    missing: int | None
    moments: bool
    ordered: bool
    n_categories: int
    exact: bool


def portions_of(table: CountTable, *, ordered: bool, floating: bool) -> Portions:
    """Return the portions of a table, its missing rows among them if they float."""
    moments, sizes = table.is_moments, table.sizes
    heavy = np.flatnonzero(sizes > 0)
    floats = floating and float(table.missing_size) > 0
    weights, exact = table.weights[heavy], len(heavy) <= MOST
    number = np.arange(len(heavy))
    if not exact:
        scores = number if ordered else scores_of(weights, moments=moments)
        number = _numbered(np.asarray(scores, dtype=np.float64), sizes[heavy])
    positions = _positions(number, heavy, len(sizes))
    together = np.zeros((len(positions), weights.shape[-1]))
    np.add.at(together, number, weights)
    if floats and len(heavy):
        together = np.vstack([together, table.missing])
        positions.append(np.empty(0, np.int64))
    elif floats:
        # No known value has weight: if there are any, they go with the missing rows.
        together = table.missing[None].copy()
        positions = positions or [np.empty(0, np.int64)]
    return Portions(
        together,
        tuple(positions),
        len(together) - 1 if floats else None,
        moments,
        ordered or not exact,
        len(heavy) + floats,
        exact,
    )


def _positions(number: Integers, heavy: Integers, n_values: int) -> list[Integers]:
    """Return the positions of each portion, those of values without weight too."""
    if len(heavy) == 0:
        return [np.arange(n_values)] if n_values else []
    places = np.arange(n_values)
    nearest = np.maximum(np.searchsorted(heavy, places, side="right") - 1, 0)
    owners = number[nearest]
    by_owner = np.argsort(owners, kind="stable")
    bounds = np.searchsorted(owners[by_owner], np.arange(1, number.max() + 1))
    return list(np.split(by_owner, bounds))


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


def _numbered(scores: Floats, sizes: Floats) -> Integers:
    """Return the number of each category's portion, rising with the score.

    Categories of equal score stay together, and the line is cut into ``MOST``
    pieces of equal weight; a category goes where its middle lies.
    """
    scale = float(np.abs(scores).max()) or 1.0
    _, block = np.unique(np.round(scores / scale, 12), return_inverse=True)
    weight = np.bincount(block, weights=sizes)
    middle = (np.cumsum(weight) - weight / 2) / weight.sum()
    piece = np.minimum((middle * MOST).astype(np.int64), MOST - 1)
    _, number = np.unique(piece[block], return_inverse=True)
    return np.asarray(number, dtype=np.int64)
