"""Validation rows that are reserved for pruning, stratified and drawn by their cells.

The rows are sorted by class, or by deciles of the target. Within these they are
shuffled from an order that depends on their cells only. In this order a row is reserved
if that brings the reserved weight nearer to its share. So every class contributes its
share within one row, in any order of the table. The first row of a class, which might
be its only row, is left for growing.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Integers
from spinney._support.checks import as_real
from spinney._support.row_order import order_of
from spinney.errors import Setting, refusal
from spinney.sources.rows import TrainingSet

# Groups of equal size for numbers, if there are enough of them.
QUANTILES, MIN_IN_QUANTILE = 10, 10


def check_validation_share(fraction: Any) -> None:
    """Refuse a fraction that is not between 0 and 1."""
    if not 0 < as_real(fraction) < 1:
        raise refusal(
            Setting("validation_share", fraction),
            "must be a fraction of the rows, between 0 and 1",
            "0.3 reserves three rows of ten",
        )


def reserve_validation_rows(
    training: TrainingSet, fraction: float, *, seed: int = 0
) -> NDArray[np.bool_]:
    """Return a mask of the reserved rows, with about this fraction of all weight.

    Parameters
    ----------
    training : TrainingSet
        The rows.
    fraction : float
        The fraction, between 0 and 1. It is refused if no row is reserved.
    seed : int
        The random seed. The same seed gives the same rows for any row order.
    """
    check_validation_share(fraction)
    weights = training.sample_weights
    order = order_of((*training.columns, training.classes), training.weights)
    np.random.RandomState(seed).shuffle(order)
    strata = _strata(training)
    order = order[np.argsort(strata[order], kind="stable")]
    is_reserved = np.zeros(len(order), np.bool_)
    previous, weight_seen, weight_reserved = -1, 0.0, 0.0
    columns = order, strata[order], weights[order]
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for row, stratum, weight in rows:
        weight_seen += weight
        if (
            stratum == previous
            and weight_reserved + weight / 2 <= fraction * weight_seen
        ):
            is_reserved[row] = True
            weight_reserved += weight
        previous = stratum
    if not is_reserved.any():
        raise refusal(
            Setting("validation_share", fraction),
            f"of {len(order)} rows reserves none that a class can spare",
            "give a larger share, or more rows",
        )
    return is_reserved


def _strata(training: TrainingSet) -> Integers:
    """Return the class of each row, or the decile of its target."""
    if not training.schema.target.is_numeric:
        return np.asarray(training.classes, np.int64)
    numbers = training.classes
    n_groups = min(QUANTILES, max(1, len(numbers) // MIN_IN_QUANTILE))
    rank = np.searchsorted(np.sort(numbers), numbers)
    return np.asarray(rank * n_groups // len(numbers), np.int64)
