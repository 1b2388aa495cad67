"""Numbers of a file or a relation, some rows at a time."""

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney.data.declarations import Declarations
from spinney.data.duckdb.columns import translated_errors
from spinney.data.readers.open_relation import OpenRelation, opened_relation
from spinney.errors import DataError


@contextmanager
def number_batches(
    data: Any, n_rows: int
) -> Iterator[tuple[tuple[str, ...], Iterator[Floats]]]:
    """Give the names of the columns, and arrays of at most so many rows.

    Parameters
    ----------
    data : path or DuckDB relation
        A CSV, TSV or Parquet file, or a query; all its columns must be numeric, and no
        cell missing. Where PyArrow is installed the rows are never all in memory.
    n_rows : int

    Examples
    --------
    >>> import duckdb
    >>> with number_batches(duckdb.sql("SELECT range AS x FROM range(5)"), 3) as got:
    ...     names, batches = got
    ...     [len(batch) for batch in batches]
    [3, 2]
    """
    with opened_relation(data, declarations=Declarations()) as opened:
        for column in opened.columns:
            if column.kind != "numeric":
                msg = (
                    f"column {column.name!r} is {column.kind}: batches are of numbers; "
                    "leave it out"
                )
                raise DataError(msg)
        names = tuple(column.name for column in opened.columns)
        arrays = _arrays(opened, names, n_rows)
        try:
            yield names, arrays
        finally:
            arrays.close()  # a result that is still open would block the connection


def _arrays(
    opened: OpenRelation, names: tuple[str, ...], n_rows: int
) -> Generator[Floats, None, None]:
    """Yield the rows; a missing cell is refused with its column."""
    select_list = ", ".join(
        f'CAST({column.expression} AS DOUBLE) AS "c{number}"'
        for number, column in enumerate(opened.columns)
    )
    with translated_errors("the table"):
        chosen = opened.relation.project(select_list)
        with closing(_fetched(chosen, n_rows)) as fetched:
            for cells in fetched:
                missing = np.isnan(cells)
                if missing.any():
                    name = names[int(np.argmax(missing.any(axis=0)))]
                    msg = f"column {name!r} is missing (NaN) in some row: leave it out"
                    raise DataError(msg)
                yield cells


def _fetched(relation: Any, n_rows: int) -> Generator[Floats, None, None]:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        arrays = relation.fetchnumpy().values()
        whole = [np.ma.filled(array.astype(np.float64), np.nan) for array in arrays]
        for first in range(0, len(whole[0]), n_rows):
            yield np.column_stack([array[first : first + n_rows] for array in whole])
        return
    # The first is of DuckDB 1.5 and later.
    modern = getattr(relation, "to_arrow_reader", None)
    with (modern or relation.fetch_arrow_reader)(n_rows) as reader:
        for batch in reader:
            if len(batch):
                columns = [column.to_numpy(zero_copy_only=False) for column in batch]
                yield np.column_stack(columns).astype(np.float64, copy=False)
