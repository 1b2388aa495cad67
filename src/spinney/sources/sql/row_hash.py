"""A number in [0, 1) for each row, the same in every engine: a draw without a draw.

Engines hash in ways of their own and know no order of rows, but all of them multiply
and round down as IEEE 754 says. So a row's number comes of its cells alone. With {x}
for the part of x behind the point::

    u = {K Σᵢ {xᵢ kᵢ}}        xᵢ: a code, or a number as a share of its column's range

Equal rows have equal u; they are numbered by their weights, and the j-th has {u + j φ},
so that copies of one row spread evenly, whichever of equal weight is called the first.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from sqlglot import exp

from spinney.data import Schema
from spinney.sources.sql.engines.sql_engine import SqlEngine
from spinney.sources.sql.expressions import (
    bound,
    case,
    column,
    difference,
    double,
    first_known,
    known,
    named,
    product,
    select,
    table,
    total_of,
)

GOLDEN = (5**0.5 - 1) / 2
SPREAD = 1e8
"""How often the range of a number is gone through."""
MIXED = 99991.61803398875
ABSENT = 0.37
"""What a missing cell adds."""
SHARE = "spinney share of one"


def hashed_rows(
    engine: SqlEngine, base: str, schema: Schema, *, seed: int = 0
) -> exp.Select:
    """Return the rows of a kept table with their numbers, in the column ``SHARE``."""
    columns = [f"a{index}" for index in range(schema.n_columns)]
    numbers = [schema.attributes[i].kind == "numeric" for i in range(schema.n_columns)]
    columns.append("class")
    numbers.append(schema.target.is_numeric)
    ranges = _ranges(
        engine,
        base,
        [n for n, is_number in zip(columns, numbers, strict=True) if is_number],
    )
    cells = ["node", "weight", *columns[-1:], *columns[:-1]]
    parts = [
        named(_scaled(name, step_of(place), ranges.get(name)), f"t{place}")
        for place, name in enumerate(columns)
    ]
    query = select([*map(column, cells), *parts], table(base))
    total = total_of([_behind(f"t{place}") for place in range(len(columns))])
    offset = float(seed % 1000003) * GOLDEN
    mixed = total_of([product(exp.Paren(this=total), bound(MIXED)), bound(offset)])
    query = select([*map(column, cells), named(mixed, "s")], query)
    query = select([*map(column, cells), named(_behind("s"), "u")], query)
    by_weight = exp.Order(expressions=[exp.Ordered(this=column("weight"))])
    copy = exp.Window(this=exp.RowNumber(), partition_by=[column("u")], order=by_weight)
    query = select([*map(column, [*cells, "u"]), named(copy, "copy")], query)
    spread = total_of([column("u"), product(double(column("copy")), bound(GOLDEN))])
    query = select([*map(column, cells), named(spread, "s")], query)
    return select([*map(column, cells), named(_behind("s"), SHARE)], query)


def step_of(place: int) -> float:
    """Return the factor of a column: no two are alike, none is part of another."""
    return float(np.sqrt(place + 2.0)) + GOLDEN * (place + 1)


def _behind(name: str) -> exp.Expr:
    """Return the part of a number behind the point."""
    return difference(column(name), exp.Floor(this=column(name)))


def _scaled(name: str, step: float, ends: tuple[float, float] | None) -> exp.Expr:
    """Return what a cell adds, before it is rounded off."""
    cell: exp.Expr = double(column(name))
    if ends is not None:
        low, width = ends
        if not 0 < width < np.inf:
            return case((known(cell), bound(step)), otherwise=bound(ABSENT))
        share = exp.Div(this=difference(cell, bound(low)), expression=bound(width))
        cell, step = exp.Paren(this=share), step * SPREAD
    else:
        cell = exp.Paren(this=total_of([cell, bound(1.0)]))
    return first_known([product(cell, bound(step)), bound(ABSENT)])


def _ranges(
    engine: SqlEngine, base: str, names: Sequence[str]
) -> dict[str, tuple[float, float]]:
    """Return the least number and the range of columns that have any."""
    if not names:
        return {}
    listed = []
    for at, name in enumerate(names):
        cell = partial(column, name)
        listed.append(named(exp.Min(this=cell()), f"s{2 * at}"))
        listed.append(named(exp.Max(this=cell()), f"s{2 * at + 1}"))
    answer = engine.line(select(listed, table(base)))
    ends = zip(names, answer[::2], answer[1::2], strict=True)
    return {
        name: (0.0, 0.0) if low is None else (float(low), float(high) - float(low))
        for name, low, high in ends
    }


def below(share: float) -> exp.Expr:
    """Return whether a row's number is below a share."""
    return exp.LT(this=column(SHARE), expression=bound(share))


def not_below(share: float) -> exp.Expr:
    """Return whether it is not."""
    return exp.GTE(this=column(SHARE), expression=bound(share))


def plain_columns(schema: Schema) -> list[exp.Expr]:
    """Return the columns of coded rows without their numbers."""
    names = ["node", "weight", "class", *(f"a{i}" for i in range(schema.n_columns))]
    return list(map(column, names))
