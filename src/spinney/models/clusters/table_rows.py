"""The rows that clusters are found on: columns by their names, weights."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import Declarations, Table
from spinney.data.readers import read_table
from spinney.errors import DataError, ParameterError, did_you_mean


def read_rows(
    data: Any,
    *,
    columns: Sequence[str] = (),
    declarations: Declarations,
    weight: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
) -> tuple[Table, Table, Floats | None]:
    """Return a table, its columns that distances are measured in, and the weights.

    Columns that are ignored are read all the same, as texts: the result may show them.
    """
    as_texts = (*declarations.nominal, *declarations.ignore)
    whole = read_table(
        data,
        declarations=replace(declarations, nominal=as_texts, ignore=()),
        format=format,
        encoding=encoding,
    )
    left_out = {*declarations.ignore, *(() if weight is None else (weight,))}
    chosen = _chosen(columns, whole.names)
    for name in chosen:
        if name in left_out:
            msg = f"column {name!r} is chosen and left out: do one of both"
            raise ParameterError(msg)
    used = whole.without(left_out)
    if chosen:
        used = Table(tuple(whole[name] for name in chosen), whole.n_rows)
    if not used.columns:
        msg = "every column is ignored: leave at least one"
        raise DataError(msg)
    return whole, used, None if weight is None else _weights(whole, weight)


def _chosen(given: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the columns that are named, one by one or with commas between them."""
    names: list[str] = []
    for text in given:
        parts = [text] if text in known else [part.strip() for part in text.split(",")]
        names += [part for part in parts if part]
    for name in names:
        if name not in known:
            msg = f"there is no column {name!r}: {did_you_mean(name, known)}"
            raise DataError(msg)
    return list(dict.fromkeys(names))


def _weights(table: Table, name: str) -> Floats:
    column = table[name]
    if column.kind != "numeric" or column.missing.any():
        msg = f"column {name!r} holds weights, and needs a number in every row"
        raise DataError(msg)
    if column.cells.min() < 0 or not column.cells.max() > 0:
        msg = f"column {name!r} holds weights: none may be negative, nor all 0"
        raise DataError(msg)
    with np.errstate(over="ignore"):
        if np.sum(column.cells) == np.inf:
            msg = (
                f"column {name!r} holds weights, and their sum is beyond all floats: "
                "divide all by a number"
            )
            raise DataError(msg)
    return np.asarray(column.cells, dtype=np.float64)
