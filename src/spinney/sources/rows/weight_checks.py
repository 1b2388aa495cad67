"""Checks of row weights."""

from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import Column
from spinney.errors import DataError, Setting

LARGEST_TOTAL = 1e140
MIN_WEIGHT = 1e-300  # smaller weights underflow when missing values divide rows
WEIGHTS = "weights must be 0 or greater"


def row_weights(column: Column) -> Floats:
    """Return the cells of a weight column, after checking them."""
    check_weight_kind(column.name, column.kind)
    invalid = np.flatnonzero(~(column.cells >= 0))
    if len(invalid):
        cell = column.cells[invalid[0]]
        problem = "a missing cell" if np.isnan(cell) else f"the weight {cell:g}"
        raise DataError(
            Setting("weight"),
            f" {column.name!r} has {problem} in row {invalid[0] + 1}",
            remedy=WEIGHTS,
        )
    weights = np.asarray(column.cells, dtype=np.float64)
    check_total(finite_sum(weights))
    return weights


def given_weights(
    sample_weight: Any, n_rows: int, *, max_total: float = LARGEST_TOTAL
) -> Floats:
    """Return a weight for each row, after checking them; None means 1 each."""
    if sample_weight is None:
        return np.ones(n_rows)
    try:
        array = np.asarray(sample_weight)
        real = np.nan if array.dtype.kind == "c" else array
        weights = np.asarray(real, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        weights = np.array(np.nan)
    if weights.shape != (n_rows,) or not (weights >= 0).all():
        raise DataError(
            Setting("sample_weight"),
            f" must be {n_rows} numbers of at least 0",
            remedy=_no_weights(weights, n_rows),
        )
    if n_rows and not weights.any():
        raise DataError(
            Setting("sample_weight"),
            " is zero for every row",
            remedy="at least one must be greater",
        )
    check_total(finite_sum(weights), max_total=max_total)
    return weights


def _no_weights(weights: Floats, n_rows: int) -> str:
    """Return the reason why weights are invalid."""
    if weights.shape == (n_rows,):
        row = int(np.flatnonzero(~(weights >= 0))[0])
        return f"the weight of row {row + 1} is {weights[row]:g}"
    return f"there are {len(weights)}" if weights.ndim == 1 else ""


def check_weight_kind(name: str, kind: str) -> None:
    """Refuse a column of weights that is not numeric."""
    if kind != "numeric":
        raise DataError(
            Setting("weight"), f" {name!r} is {kind}", remedy="weights must be numbers"
        )


def check_total(total: float, *, max_total: float = LARGEST_TOTAL) -> None:
    """Refuse a total weight whose products exceed floats."""
    if not total <= max_total:
        found = f"{total:g}" if np.isfinite(total) else "infinity"
        msg = (
            f"the weights of all rows add up to {found}, and products of them are "
            f"beyond floats: scale them down, to at most {max_total:g} together"
        )
        raise DataError(msg)


def zero_weights_error(name: str | None) -> DataError:
    """Return the error for rows that all have weight 0."""
    return DataError(
        Setting("weight"),
        f" {name!r} is 0 in every row",
        remedy="at least one must be greater",
    )


def check_least_weight(least: float) -> None:
    """Refuse a least positive weight whose fractions floats cannot represent."""
    if least < MIN_WEIGHT:
        msg = (
            f"a row weighs {least:g}, and floats do not hold parts of that: scale the "
            f"weights up, to at least {MIN_WEIGHT:g}, or set it to 0"
        )
        raise DataError(msg)


def finite_sum(weights: Floats) -> float:
    """Return the sum of weights, infinite if it exceeds floats."""
    with np.errstate(over="ignore"):
        return float(weights.sum())
