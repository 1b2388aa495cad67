"""``spinney.look``: how a table is read, before anything is grown on it."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from spinney.data import TableSummary, TextFormat, Value, summary_of
from spinney.errors import SpinneyNote
from spinney.sources.rows import NO_TARGET
from spinney.sources.training_data import TableInput, table_of_rows


def look(
    data: Any,
    target: str | None = None,
    *,
    nominal: Sequence[str] = (),
    ordinal: Mapping[str, Sequence[Value]] | Sequence[str] = (),
    numeric: Sequence[str] = (),
    ignore: Sequence[str] = (),
    values: Mapping[str, Sequence[Value]] | Sequence[str] = (),
    missing_values: Sequence[str] = (),
    format: str | None = None,
    encoding: str | None = None,
    text_format: TextFormat | Mapping[str, Any] | None = None,
    table: str | None = None,
) -> TableSummary:
    """Return how a table is read: kinds, missing values, values, possible problems.

    Parameters
    ----------
    target : str, optional
        The column to predict: shows how it is read, and target leakage.
    data, nominal, ordinal, numeric, ignore, values, missing_values, format, encoding, \
text_format, table
        As for :func:`spinney.grow`; a table of a database is read whole.

    Returns
    -------
    TableSummary
        Prints as a table of the columns.

    Examples
    --------
    >>> import spinney
    >>> print(spinney.look({"size": [1, 2, 9], "colour": ["red", "red", None]}))
    3 rows, 2 columns
    <BLANKLINE>
    column  kind     missing  values  rows
    size    numeric                3  ██     █  1 … 2 … 9
    colour  nominal        1       1  █         red 2 (100 %)
    <BLANKLINE>
    possible problems
      column 'colour' has the same value in every cell: exclude it (ignore=['colour'])
    """
    return look_at(TableInput.of({**locals(), "target": NO_TARGET}), target=target)


def look_at(table: TableInput, *, target: str | None = None) -> TableSummary:
    """Return how a table is read, by its declarations."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows = table_of_rows(table)
    notes = [*rows.notes]
    for each in caught:
        message = each.message
        assert isinstance(message, Warning)
        if not isinstance(message, SpinneyNote):
            warnings.warn_explicit(message, None, each.filename, each.lineno)
        elif len(message.args) == 1 and message.args[0] not in notes:
            notes.append(message.args[0])  # those of a file are in rows.notes
    rows = replace(rows, notes=tuple(notes))
    return summary_of(rows, table.declarations, target)
