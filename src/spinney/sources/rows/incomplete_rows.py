"""Rows that lack a cell: which they are, and what is said where they are left out."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.text import shown
from spinney.data import Table
from spinney.errors import DataError, Setting, note, phrase

if TYPE_CHECKING:
    from spinney.sources.rows.training_rows import TrainingSet


def complete_rows(attributes: Table, weights: Floats | None) -> NDArray[np.bool_]:
    """Return which rows lack no cell; note how many do, and refuse if all of them."""
    kept = np.ones(attributes.n_rows, dtype=bool)
    n_missing = {}
    for column in attributes.columns:
        kept &= ~column.missing
        n_missing[column.name] = int(column.missing.sum())
    n_rows, n_left = len(kept), int(kept.sum())
    weight = 0.0 if weights is None else float(weights[~kept].sum())
    note_incomplete(n_rows - n_left, n_rows, n_missing, weight=weight)
    return kept


def note_incomplete(
    n_dropped: int, n_rows: int, n_missing: Mapping[str, int], *, weight: float = 0.0
) -> None:
    """Tell how many rows are left out as they lack a cell; refuse if all of them.

    ``n_missing`` is how many cells of each column do, and ``weight`` what the rows
    weigh, where they have weights.
    """
    if not n_dropped:
        return
    name, most = max(n_missing.items(), key=lambda each: each[1])
    worst = f"column {shown(name)!r} lacks most, {most}"
    if n_dropped == n_rows:
        raise DataError(
            Setting("missing_policy", "drop"),
            f" leaves no row: every one of {n_rows} lacks a cell; {worst}",
            remedy=phrase(
                "ignore such columns ({}), or take another way, such as {}",
                Setting("ignore", [name]),
                Setting("missing_policy", "fractional"),
            ),
        )
    weighs = f", of weight {weight:g}," if weight else ""
    lack = "lacks a cell and is" if n_dropped == 1 else "lack a cell and are"
    note(
        Setting("missing_policy", "drop"),
        f": {n_dropped} of {n_rows} rows{weighs} {lack} left out; {worst}",
        of_reading=False,
    )


def are_complete(training: "TrainingSet") -> NDArray[np.bool_]:
    """Return which rows lack no cell; what only others had in training has no code."""
    kept = np.ones(len(training.classes), dtype=bool)
    for cells in training.columns:
        kept &= ~np.isnan(cells) if cells.dtype.kind == "f" else cells >= 0
    return kept
