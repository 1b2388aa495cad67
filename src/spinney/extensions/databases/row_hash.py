"""The numbers of rows (``sources.rows.row_hashing``) as a select, and draws by them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from sqlglot import exp

from spinney.data import Schema
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.extensions.databases.expressions import (
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
from spinney.sources.rows.row_hashing import (
    ABSENT,
    GOLDEN,
    MIXED,
    ROUNDS,
    SPREAD,
    HashSample,
    band_of,
    factor_of_band,
    hashed_columns,
    least_of_band,
    offset_of,
    step_of,
)

SHARE = "spinney share of one"
TIMES = "spinney times"


def sampleable_rows(
    engine: SqlEngine, base: str, schema: Schema, *, seed: int = 0
) -> exp.Select:
    """Return the rows of a kept table with their numbers, in the column ``SHARE``."""
    hashed = [
        ("class" if index < 0 else f"a{index}", is_number)
        for index, is_number in hashed_columns(schema)
    ]
    ranges = _ranges(engine, base, [name for name, is_number in hashed if is_number])
    cells = cells_of(schema)
    shares, in_bands = dict[str, exp.Expr](), dict[str, exp.Expr]()
    for place, (name, _) in enumerate(hashed):
        step, numbers = step_of(place), ranges.get(name)
        shares[f"t{place}"] = _scaled(name, step, numbers)
        if numbers is not None and numbers.differ:
            in_bands[f"t{place}"] = _in_band(name, step, numbers)
    query = _summed(table(base), cells, shares)
    if in_bands:
        query = select([*map(column, cells), named(column("s"), "s0")], query)
        query = _summed(query, [*cells, "s0"], in_bands)
        both_sums = total_of([column("s0"), product(column("s"), bound(GOLDEN))])
        query = select([*map(column, cells), named(both_sums, "s")], query)
    mixed = total_of([product(column("s"), bound(MIXED)), bound(offset_of(seed))])
    query = select([*map(column, cells), named(mixed, "s")], query)
    by_weight = exp.Order(expressions=[exp.Ordered(this=column("weight"))])
    copy = exp.Window(this=exp.RowNumber(), partition_by=[column("s")], order=by_weight)
    query = select([*map(column, [*cells, "s"]), named(copy, "copy")], query)
    spread = total_of([_fraction("s"), product(double(column("copy")), bound(GOLDEN))])
    query = select([*map(column, cells), named(spread, "s")], query)
    return select([*map(column, cells), named(_fraction("s"), SHARE)], query)


def _summed(
    relation: exp.Query | exp.Table, kept: Sequence[str], parts: Mapping[str, exp.Expr]
) -> exp.Select:
    """Return the sum of what is behind the point of some numbers, as ``s``."""
    listed = [named(each, name) for name, each in parts.items()]
    query = select([*map(column, kept), *listed], relation)
    total = total_of([_fraction(name) for name in parts])
    return select([*map(column, kept), named(total, "s")], query)


def _fraction(name: str) -> exp.Expr:
    """Return the part of a number behind the point."""
    return difference(column(name), exp.Floor(this=column(name)))


@dataclass(frozen=True, slots=True)
class _NumberRange:
    """The least number of a column, the greatest, and the least size but for 0."""

    low: float = 0.0
    high: float = 0.0
    smallest: float = 0.0

    @property
    def differ(self) -> bool:
        """Whether there are several numbers, and finite ones."""
        return 0 < self.high - self.low < np.inf

    @property
    def bands(self) -> range:
        """The bands that they are in, 0 in any of them."""
        largest = max(abs(self.low), abs(self.high))
        return range(band_of(self.smallest), band_of(largest) + 1)


def _scaled(name: str, step: float, numbers: _NumberRange | None) -> exp.Expr:
    """Return what a cell adds, before it is rounded off."""
    cell: exp.Expr = double(column(name))
    if numbers is not None:
        if not numbers.differ:
            return case((known(cell), bound(step)), otherwise=bound(ABSENT))
        width = bound(numbers.high - numbers.low)
        share = exp.Div(this=difference(cell, bound(numbers.low)), expression=width)
        cell, step = exp.Paren(this=share), step * SPREAD
    else:
        cell = exp.Paren(this=total_of([cell, bound(1.0)]))
    return first_known([product(cell, bound(step)), bound(ABSENT)])


def _in_band(name: str, step: float, numbers: _NumberRange) -> exp.Expr:
    """Return what a number adds by its band, before it is rounded off."""
    cell = partial(double, column(name))
    first, *others = numbers.bands
    factor: exp.Expr = bound(factor_of_band(first, step))
    if others:
        size = exp.Abs(this=cell())
        whens = (
            (
                exp.GTE(this=size.copy(), expression=bound(least_of_band(band))),
                bound(factor_of_band(band, step)),
            )
            for band in reversed(others)
        )
        factor = case(*whens, otherwise=factor)
    return first_known([product(cell(), factor), bound(0.0)])


def _ranges(
    engine: SqlEngine, base: str, names: Sequence[str]
) -> dict[str, _NumberRange]:
    """Return of what sizes the numbers of columns are."""
    if not names:
        return {}
    ends, sizes = list[exp.Expr](), list[exp.Expr]()
    for name in names:
        cell = partial(column, name)
        size = exp.Abs(this=exp.Nullif(this=double(cell()), expression=bound(0.0)))
        ends += [exp.Min(this=cell()), exp.Max(this=cell())]
        sizes.append(exp.Min(this=size))
    low_and_high, smallest = (
        engine.line(
            select([named(e, f"s{at}") for at, e in enumerate(each)], table(base))
        )
        for each in (ends, sizes)  # an engine may have a limit of columns
    )
    lines = zip(names, low_and_high[::2], low_and_high[1::2], smallest, strict=True)
    return {
        name: _NumberRange(*(0.0 if each is None else float(each) for each in numbers))
        for name, *numbers in lines
    }


def sampled_rows(
    relation: exp.Query | exp.Table, cells: Sequence[str], draws: Sequence[HashSample]
) -> exp.Select:
    """Return cells of rows that draws take, and how often, in the column ``TIMES``.

    ``relation`` has the numbers of rows in the column ``SHARE``.
    """
    kept = [*cells, SHARE]
    query, times = relation, []
    for place, draw in enumerate(draws):
        name = f"d{place}"
        query = _mix(query, kept, draw, name)
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


def _mix(
    relation: exp.Query | exp.Table, kept: Sequence[str], draw: HashSample, name: str
) -> exp.Select:
    """Return a relation with what a draw makes of the numbers beside it."""
    if draw.mixing is None:
        return select([*map(column, kept), named(column(SHARE), name)], relation)
    factor, offset = map(bound, draw.mixing)
    turned: exp.Expr = total_of([product(column(SHARE), factor), offset])
    for _ in range(ROUNDS):
        query = select([*map(column, kept), named(turned, name)], relation)
        more = exp.Paren(this=total_of([_fraction(name), bound(1.0)]))
        relation = select([*map(column, kept), named(more, name)], query)
        turned = product(product(column(name), column(name)), bound(MIXED))
    query = select([*map(column, kept), named(turned, name)], relation)
    return select([*map(column, kept), named(_fraction(name), name)], query)


def cells_of(schema: Schema) -> list[str]:
    """Return the columns of coded rows beside their numbers."""
    return ["node", "weight", "class", *(f"a{i}" for i in range(schema.n_columns))]
