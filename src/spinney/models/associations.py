"""``spinney.association``: associations between the columns of a table."""

from collections.abc import Mapping, Sequence
from typing import Any

from spinney.data import Association, TextFormat, Value, association_of
from spinney.sources.training_data import TableInput, table_of_rows


def association(
    data: Any,
    *,
    nominal: Sequence[str] = (),
    ordinal: Mapping[str, Sequence[Value]] | Sequence[str] = (),
    numeric: Sequence[str] = (),
    ignore: Sequence[str] = (),
    weight: str | None = None,
    missing_values: Sequence[str] = (),
    format: str | None = None,
    encoding: str | None = None,
    text_format: TextFormat | Mapping[str, Any] | None = None,
    table: str | None = None,
) -> Association:
    """Return the association of each pair of columns of a table.

    Two numeric columns: Pearson's r; two nominal ones: Cramér's V; one of each: the
    correlation ratio; ordered columns: by their ranks. See
    :mod:`spinney.data.association`.

    Parameters
    ----------
    data, nominal, ordinal, numeric, ignore, missing_values, format, encoding, \
text_format, table
        As for :func:`spinney.grow`; a table of a database is read whole.
    weight : str, optional
        The column of row weights.

    Returns
    -------
    Association
        ``names``, ``values`` (a matrix) and ``rows``, the number with both cells. It
        prints as a table; ``groups(0.7)`` are groups of associated columns.

    Examples
    --------
    >>> import spinney
    >>> shop = {"size": [1, 2, 3, 4], "price": [2.0, 3.5, 6.5, 8.0],
    ...         "sort": ["a", "a", "b", "b"]}
    >>> print(spinney.association(shop))
                1     2     3
    1 size   1.00  0.99  0.89
    2 price  0.99  1.00  0.95
    3 sort   0.89  0.95  1.00
    <BLANKLINE>
    the strongest pairs
      size, price  0.9899  Pearson's r
      price, sort  0.9487  correlation ratio
      size, sort   0.8944  correlation ratio
    """
    return associated(TableInput.of(locals()))


def associated(table: TableInput) -> Association:
    """Return the associations of a table, by its declarations."""
    from spinney.sources.rows import row_weights

    rows = table_of_rows(table)
    if table.weight is None:
        return association_of(rows.columns)
    weights = row_weights(rows[table.weight])
    return association_of(rows.without([table.weight]).columns, weights)
