"""Row hashes (``sources.rows.row_hashing``) as SQL, and samples by row hash."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from sqlglot import exp

from spinney.data import Schema
from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.sources.rows.row_hashing import (
    GOLDEN,
    MISSING_SHARE,
    MIXING_FACTOR,
    MIXING_ROUNDS,
    SPREAD,
    HashSample,
    band_factor,
    band_minimum,
    band_of,
    column_factor,
    hashed_columns,
    seed_offset,
)

ROW_HASH = "spinney share of one"
SAMPLE_COUNT = "spinney times"


def sampleable_rows(
    engine: SqlEngine, base: str, schema: Schema, *, seed: int = 0
) -> exp.Select:
    """Return the rows of a stored table with their hashes, in column ``ROW_HASH``."""
    hashed = [
        ("class" if index < 0 else f"a{index}", is_number)
        for index, is_number in hashed_columns(schema)
    ]
    ranges = _number_ranges(
        engine, base, [name for name, is_number in hashed if is_number]
    )
    cells = cell_names(schema)
    scaled, in_bands = dict[str, exp.Expr](), dict[str, exp.Expr]()
    for place, (name, _) in enumerate(hashed):
        step, numbers = column_factor(place), ranges.get(name)
        scaled[f"t{place}"] = _scaled_cell(name, step, numbers)
        if numbers is not None and numbers.differ:
            in_bands[f"t{place}"] = _band_cell(name, step, numbers)
    query = _fraction_sum(sql.table(base), cells, scaled)
    if in_bands:
        query = sql.select(
            [*map(sql.column, cells), sql.alias(sql.column("s"), "s0")], query
        )
        query = _fraction_sum(query, [*cells, "s0"], in_bands)
        both_sums = sql.add(
            [sql.column("s0"), sql.product(sql.column("s"), sql.param(GOLDEN))]
        )
        query = sql.select([*map(sql.column, cells), sql.alias(both_sums, "s")], query)
    mixed = sql.add(
        [
            sql.product(sql.column("s"), sql.param(MIXING_FACTOR)),
            sql.param(seed_offset(seed)),
        ]
    )
    query = sql.select([*map(sql.column, cells), sql.alias(mixed, "s")], query)
    by_weight = exp.Order(expressions=[exp.Ordered(this=sql.column("weight"))])
    copy = exp.Window(
        this=exp.RowNumber(), partition_by=[sql.column("s")], order=by_weight
    )
    query = sql.select(
        [*map(sql.column, [*cells, "s"]), sql.alias(copy, "copy")], query
    )
    spread = sql.add(
        [
            _fractional_part("s"),
            sql.product(sql.double(sql.column("copy")), sql.param(GOLDEN)),
        ]
    )
    query = sql.select([*map(sql.column, cells), sql.alias(spread, "s")], query)
    return sql.select(
        [*map(sql.column, cells), sql.alias(_fractional_part("s"), ROW_HASH)], query
    )


def _fraction_sum(
    relation: exp.Query | exp.Table,
    columns: Sequence[str],
    parts: Mapping[str, exp.Expr],
) -> exp.Select:
    """Return the sum of the fractional parts of columns, as ``s``."""
    listed = [sql.alias(part, name) for name, part in parts.items()]
    query = sql.select([*map(sql.column, columns), *listed], relation)
    total = sql.add([_fractional_part(name) for name in parts])
    return sql.select([*map(sql.column, columns), sql.alias(total, "s")], query)


def _fractional_part(name: str) -> exp.Expr:
    """Return the fractional part of a number."""
    return sql.difference(sql.column(name), exp.Floor(this=sql.column(name)))


@dataclass(frozen=True, slots=True)
class _NumberRange:
    """The minimum and maximum of a column, and its smallest absolute value above 0."""

    low: float = 0.0
    high: float = 0.0
    smallest: float = 0.0

    @property
    def differ(self) -> bool:
        """Whether the numbers are finite and not all equal."""
        return 0 < self.high - self.low < np.inf

    @property
    def bands(self) -> range:
        """The magnitude bands of the numbers; 0 is in any band."""
        largest = max(abs(self.low), abs(self.high))
        return range(band_of(self.smallest), band_of(largest) + 1)


def _scaled_cell(name: str, step: float, numbers: _NumberRange | None) -> exp.Expr:
    """Return the unrounded contribution of a cell to the hash sum."""
    cell: exp.Expr = sql.double(sql.column(name))
    if numbers is not None:
        if not numbers.differ:
            return sql.case(
                (sql.not_null(cell), sql.param(step)), default=sql.param(MISSING_SHARE)
            )
        width = sql.param(numbers.high - numbers.low)
        scaled = exp.Div(
            this=sql.difference(cell, sql.param(numbers.low)), expression=width
        )
        cell, step = exp.Paren(this=scaled), step * SPREAD
    else:
        cell = exp.Paren(this=sql.add([cell, sql.param(1.0)]))
    return sql.coalesce([sql.product(cell, sql.param(step)), sql.param(MISSING_SHARE)])


def _band_cell(name: str, step: float, numbers: _NumberRange) -> exp.Expr:
    """Return the unrounded contribution of a number, which depends on its band."""
    cell = partial(sql.double, sql.column(name))
    first, *others = numbers.bands
    factor: exp.Expr = sql.param(band_factor(first, step))
    if others:
        size = exp.Abs(this=cell())
        whens = (
            (
                exp.GTE(this=size.copy(), expression=sql.param(band_minimum(band))),
                sql.param(band_factor(band, step)),
            )
            for band in reversed(others)
        )
        factor = sql.case(*whens, default=factor)
    return sql.coalesce([sql.product(cell(), factor), sql.param(0.0)])


def _number_ranges(
    engine: SqlEngine, base: str, names: Sequence[str]
) -> dict[str, _NumberRange]:
    """Return the number ranges of columns by name."""
    if not names:
        return {}
    ends, sizes = list[exp.Expr](), list[exp.Expr]()
    for name in names:
        cell = partial(sql.column, name)
        size = exp.Abs(
            this=exp.Nullif(this=sql.double(cell()), expression=sql.param(0.0))
        )
        ends += [exp.Min(this=cell()), exp.Max(this=cell())]
        sizes.append(exp.Min(this=size))
    low_and_high, smallest = (
        engine.fetch_row(
            sql.select(
                [sql.alias(e, f"s{position}") for position, e in enumerate(each)],
                sql.table(base),
            )
        )
        for each in (ends, sizes)  # engines limit the number of columns
    )
    lines = zip(names, low_and_high[::2], low_and_high[1::2], smallest, strict=True)
    return {
        name: _NumberRange(*(0.0 if each is None else float(each) for each in numbers))
        for name, *numbers in lines
    }


def sampled_rows(
    relation: exp.Query | exp.Table, cells: Sequence[str], samples: Sequence[HashSample]
) -> exp.Select:
    """Return the sampled rows, with their multiplicity in column ``SAMPLE_COUNT``.

    ``relation`` has the hashes of rows in the column ``ROW_HASH``.
    """
    columns = [*cells, ROW_HASH]
    query, times = relation, []
    for place, sample in enumerate(samples):
        name = f"d{place}"
        query = _with_sample_hashes(query, columns, sample, name)
        columns.append(name)
        cut = [
            (exp.LT(this=sql.column(name), expression=sql.param(limit)), sql.integer(n))
            for limit, n in zip(sample.limits, sample.times, strict=False)
        ]
        times.append(sql.case(*cut, default=sql.integer(sample.times[-1])))
    count = times[0] if times else sql.integer(1)
    for factor in times[1:]:
        count = sql.product(count, factor)
    query = sql.select(
        [*map(sql.column, [*cells, ROW_HASH]), sql.alias(count, SAMPLE_COUNT)], query
    )
    is_sampled = exp.GT(this=sql.column(SAMPLE_COUNT), expression=sql.integer(0))
    return sql.select(
        list(map(sql.column, [*cells, ROW_HASH, SAMPLE_COUNT])), query, is_sampled
    )


def _with_sample_hashes(
    relation: exp.Query | exp.Table,
    columns: Sequence[str],
    sample: HashSample,
    name: str,
) -> exp.Select:
    """Return a relation extended by the mixed hashes of one sample."""
    if sample.mixing is None:
        return sql.select(
            [*map(sql.column, columns), sql.alias(sql.column(ROW_HASH), name)], relation
        )
    factor, offset = map(sql.param, sample.mixing)
    mixed: exp.Expr = sql.add([sql.product(sql.column(ROW_HASH), factor), offset])
    for _ in range(MIXING_ROUNDS):
        query = sql.select(
            [*map(sql.column, columns), sql.alias(mixed, name)], relation
        )
        shifted = exp.Paren(this=sql.add([_fractional_part(name), sql.param(1.0)]))
        relation = sql.select(
            [*map(sql.column, columns), sql.alias(shifted, name)], query
        )
        mixed = sql.product(
            sql.product(sql.column(name), sql.column(name)), sql.param(MIXING_FACTOR)
        )
    query = sql.select([*map(sql.column, columns), sql.alias(mixed, name)], relation)
    return sql.select(
        [*map(sql.column, columns), sql.alias(_fractional_part(name), name)], query
    )


def cell_names(schema: Schema) -> list[str]:
    """Return the columns of encoded rows, without the hash."""
    return ["node", "weight", "class", *(f"a{i}" for i in range(schema.n_columns))]
