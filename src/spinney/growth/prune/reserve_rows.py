"""Rows that are reserved to prune by, drawn by what is in them.

The rows are put in order by their class, or by tenths of their numbers, and within
those shuffled from an order that depends on their cells only. Going through them, a row
is reserved where that brings the weight reserved so far nearer to its share. So every
class gives its share but for a row, a table with its rows shuffled gives the same
rows, and the first of a class, which might be its only one, is left to grow on.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Integers
from spinney._support.checks import as_real
from spinney._support.row_order import order_of
from spinney.errors import Setting, refusal
from spinney.sources.rows import TrainingSet

# Into so many groups of equal size numbers are put, if there are enough of them.
QUANTILES, FEWEST_IN_QUANTILE = 10, 10


def check_share(share: Any) -> None:
    """Refuse a share that is none."""
    if not 0 < as_real(share) < 1:
        raise refusal(
            Setting("validation_share", share),
            "must be a share of the rows, between 0 and 1",
            "0.3 reserves three rows of ten",
        )


def reserved(
    training: TrainingSet, share: float, *, seed: int = 0
) -> NDArray[np.bool_]:
    """Return which rows are reserved, about this share of the weight of all.

    Parameters
    ----------
    training : TrainingSet
        The rows.
    share : float
        Between 0 and 1; one that reserves no row is refused.
    seed : int
        What is drawn by; the same seed gives the same rows, in any order.
    """
    check_share(share)
    weights = training.own_weights
    order = order_of((*training.columns, training.classes), training.weights)
    np.random.RandomState(seed).shuffle(order)
    strata = _strata(training)
    order = order[np.argsort(strata[order], kind="stable")]
    chosen = np.zeros(len(order), np.bool_)
    former, seen, taken = -1, 0.0, 0.0
    columns = order, strata[order], weights[order]
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for row, stratum, weight in rows:
        seen += weight
        if stratum == former and taken + weight / 2 <= share * seen:
            chosen[row] = True
            taken += weight
        former = stratum
    if not chosen.any():
        _refuse_none(training, share)
    return chosen


def _strata(training: TrainingSet) -> Integers:
    """Return the class of each row, or which quantile its number is in."""
    if not training.schema.target.is_numeric:
        return np.asarray(training.classes, np.int64)
    numbers = training.classes
    n_groups = min(QUANTILES, max(1, len(numbers) // FEWEST_IN_QUANTILE))
    rank = np.searchsorted(np.sort(numbers), numbers)
    return np.asarray(rank * n_groups // len(numbers), np.int64)


def _refuse_none(training: TrainingSet, share: float) -> None:
    n_rows = len(training.classes)
    raise refusal(
        Setting("validation_share", share),
        f"of {n_rows} rows reserves none that a class can spare",
        "give a larger share, or more rows",
    )
