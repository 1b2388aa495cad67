"""The weights of rows: read, or refused with the reason."""

from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import Column
from spinney.errors import DataError, Setting

LARGEST_TOTAL = 1e140
LEAST_WEIGHT = 1e-300  # parts of it are floats, where a missing value divides a row
WEIGHTS = "weights must be 0 or greater"


def row_weights(column: Column) -> Floats:
    """Return the cells of a weight column, or say why they cannot be weights."""
    check_weight_kind(column.name, column.kind)
    odd = np.flatnonzero(~(column.cells >= 0))
    if len(odd):
        cell = column.cells[odd[0]]
        found = "a missing cell" if np.isnan(cell) else f"the weight {cell:g}"
        raise DataError(
            Setting("weight"),
            f" {column.name!r} has {found} in row {odd[0] + 1}",
            remedy=WEIGHTS,
        )
    weights = np.asarray(column.cells, dtype=np.float64)
    check_total(total_of(weights))
    return weights


def given_weights(
    sample_weight: Any, n_rows: int, *, most: float = LARGEST_TOTAL
) -> Floats:
    """Return a weight for each row, or say why the given ones cannot be weights.

    Together they are at most ``most``; None stands for 1 each.
    """
    if sample_weight is None:
        return np.ones(n_rows)
    try:
        given = np.asarray(sample_weight)
        real = np.nan if given.dtype.kind == "c" else given
        weights = np.asarray(real, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        weights = np.array(np.nan)
    if weights.shape != (n_rows,) or not (weights >= 0).all():
        raise DataError(
            Setting("sample_weight"),
            f" must be {n_rows} numbers, none of them below 0 or missing",
            remedy=_no_weights(weights, n_rows),
        )
    if n_rows and not weights.any():
        raise DataError(
            Setting("sample_weight"),
            " is zero for every row",
            remedy="at least one must weigh more",
        )
    check_total(total_of(weights), most=most)
    return weights


def _no_weights(weights: Floats, n_rows: int) -> str:
    """Return what there is instead of a weight for each row."""
    if weights.shape == (n_rows,):
        odd = int(np.flatnonzero(~(weights >= 0))[0])
        return f"that of row {odd + 1} is {weights[odd]:g}"
    return f"there are {len(weights)}" if weights.ndim == 1 else ""


def check_weight_kind(name: str, kind: str) -> None:
    """Refuse a column of weights that are no numbers."""
    if kind != "numeric":
        raise DataError(
            Setting("weight"), f" {name!r} is {kind}", remedy="weights must be numbers"
        )


def check_total(total: float, *, most: float = LARGEST_TOTAL) -> None:
    """Refuse a weight of all rows that no float holds, or no product of sums."""
    if not total <= most:
        found = f"{total:g}" if np.isfinite(total) else "infinity"
        msg = (
            f"the weights of all rows add up to {found}, and products of them are "
            f"beyond floats: scale them down, to at most {most:g} together"
        )
        raise DataError(msg)


def zero_weights_error(name: str | None) -> DataError:
    """Return the refusal of rows that all weigh 0."""
    return DataError(
        Setting("weight"),
        f" {name!r} is 0 in every row",
        remedy="at least one must weigh more",
    )


def check_least_weight(least: float) -> None:
    """Refuse a least weight above 0 whose parts no float holds."""
    if least < LEAST_WEIGHT:
        msg = (
            f"a row weighs {least:g}, and floats do not hold parts of that: scale the "
            f"weights up, to at least {LEAST_WEIGHT:g}, or set it to 0"
        )
        raise DataError(msg)


def total_of(weights: Floats) -> float:
    """Return the sum of weights; infinite where no float holds it."""
    with np.errstate(over="ignore"):
        return float(weights.sum())
