"""Incomplete rows, those with a missing cell: detection, removal and report."""

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
    """Return a mask of complete rows; report the others, refuse if none is complete."""
    complete = np.ones(attributes.n_rows, dtype=bool)
    n_missing = {}
    for column in attributes.columns:
        complete &= ~column.missing
        n_missing[column.name] = int(column.missing.sum())
    n_rows, n_complete = len(complete), int(complete.sum())
    weight = 0.0 if weights is None else float(weights[~complete].sum())
    note_incomplete(n_rows - n_complete, n_rows, n_missing, weight=weight)
    return complete


def note_incomplete(
    n_dropped: int, n_rows: int, n_missing: Mapping[str, int], *, weight: float = 0.0
) -> None:
    """Report how many incomplete rows are dropped; refuse to drop all of them.

    ``n_missing`` are the missing cells by column, ``weight`` that of the dropped rows.
    """
    if not n_dropped:
        return
    name, n_cells = max(n_missing.items(), key=lambda each: each[1])
    worst = f"column {shown(name)!r} lacks most, {n_cells}"
    if n_dropped == n_rows:
        raise DataError(
            Setting("missing_policy", "drop"),
            f" leaves no row: all {n_rows} rows have a missing cell; {worst}",
            remedy=phrase(
                "ignore such columns ({}), or use another policy, such as {}",
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
    """Return a mask of complete training rows."""
    complete = np.ones(len(training.classes), dtype=bool)
    for cells in training.columns:
        complete &= ~np.isnan(cells) if cells.dtype.kind == "f" else cells >= 0
    return complete
