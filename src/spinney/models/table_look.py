"""A look at a table: how it is read, before anything is done with it."""

import warnings
from collections.abc import Mapping, Sequence
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
    """Return how a table is read: kinds, missing cells, values, and what is doubtful.

    Parameters
    ----------
    target : str, optional
        What is to be predicted: how it would be read, and which columns give it away.
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
    given = TableInput.of({**locals(), "target": NO_TARGET})
    return look_at(given, target=target)


def look_at(table: TableInput, *, target: str | None = None) -> TableSummary:
    """Return how a table is read, by what was declared of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpinneyNote)  # the summary has the notes
        rows = table_of_rows(table)
    return summary_of(rows, table.declarations, target)
