"""The numbers of rows (``sources.rows.row_numbers``) as a select, and draws by them."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from sqlglot import exp

from spinney.data import Schema
from spinney.sources.rows.row_numbers import (
    ABSENT,
    GOLDEN,
    MIXED,
    ROUNDS,
    SPREAD,
    Draw,
    hashed_columns,
    offset_of,
    step_of,
)
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
    whole,
)

SHARE = "spinney share of one"
TIMES = "spinney times"


def hashed_rows(
    engine: SqlEngine, base: str, schema: Schema, *, seed: int = 0
) -> exp.Select:
    """Return the rows of a kept table with their numbers, in the column ``SHARE``."""
    hashed = [
        ("class" if index < 0 else f"a{index}", is_number)
        for index, is_number in hashed_columns(schema)
    ]
    columns = [name for name, _ in hashed]
    ranges = _ranges(engine, base, [name for name, is_number in hashed if is_number])
    cells = cells_of(schema)
    parts = [
        named(_scaled(name, step_of(place), ranges.get(name)), f"t{place}")
        for place, name in enumerate(columns)
    ]
    query = select([*map(column, cells), *parts], table(base))
    total = total_of([_behind(f"t{place}") for place in range(len(columns))])
    mixed = total_of(
        [product(exp.Paren(this=total), bound(MIXED)), bound(offset_of(seed))]
    )
    query = select([*map(column, cells), named(mixed, "s")], query)
    by_weight = exp.Order(expressions=[exp.Ordered(this=column("weight"))])
    copy = exp.Window(this=exp.RowNumber(), partition_by=[column("s")], order=by_weight)
    query = select([*map(column, [*cells, "s"]), named(copy, "copy")], query)
    spread = total_of([_behind("s"), product(double(column("copy")), bound(GOLDEN))])
    query = select([*map(column, cells), named(spread, "s")], query)
    return select([*map(column, cells), named(_behind("s"), SHARE)], query)


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


def times_taken(
    relation: exp.Query | exp.Table, cells: Sequence[str], draws: Sequence[Draw]
) -> exp.Select:
    """Return cells of rows that draws take, and how often, in the column ``TIMES``.

    ``relation`` has the numbers of rows in the column ``SHARE``.
    """
    kept = [*cells, SHARE]
    query, times = relation, []
    for place, draw in enumerate(draws):
        name = f"d{place}"
        query = _mixed(query, kept, draw, name)
        kept.append(name)
        cut = [
            (exp.LT(this=column(name), expression=bound(limit)), whole(n))
            for limit, n in zip(draw.limits, draw.times, strict=False)
        ]
        times.append(case(*cut, otherwise=whole(draw.times[-1])))
    taken = times[0] if times else whole(1)
    for each in times[1:]:
        taken = product(taken, each)
    query = select([*map(column, [*cells, SHARE]), named(taken, TIMES)], query)
    some = exp.GT(this=column(TIMES), expression=whole(0))
    return select(list(map(column, [*cells, SHARE, TIMES])), query, some)


def _mixed(
    relation: exp.Query | exp.Table, kept: Sequence[str], draw: Draw, name: str
) -> exp.Select:
    """Return a relation with what a draw makes of the numbers beside it."""
    if draw.mixing is None:
        return select([*map(column, kept), named(column(SHARE), name)], relation)
    factor, offset = map(bound, draw.mixing)
    turned: exp.Expr = total_of([product(column(SHARE), factor), offset])
    for _ in range(ROUNDS):
        query = select([*map(column, kept), named(turned, name)], relation)
        more = exp.Paren(this=total_of([_behind(name), bound(1.0)]))
        relation = select([*map(column, kept), named(more, name)], query)
        turned = product(product(column(name), column(name)), bound(MIXED))
    query = select([*map(column, kept), named(turned, name)], relation)
    return select([*map(column, kept), named(_behind(name), name)], query)


def cells_of(schema: Schema) -> list[str]:
    """Return the columns of coded rows beside their numbers."""
    return ["node", "weight", "class", *(f"a{i}" for i in range(schema.n_columns))]
