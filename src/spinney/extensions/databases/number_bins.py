"""Bins of numeric columns with many values: edges, bin columns and opened bins.

A column of more than ``MAX_VALUES`` distinct numbers is divided at its quantiles, and
each range between two quantiles into bins of equal width. The bin of each number is
stored beside it; minimum and maximum of each bin are computed once. A node of many rows
is counted by bins, which are small whole numbers::

    SELECT …, count(*), k0 AS value
    FROM (SELECT *, CASE WHEN node IN (5, 6) THEN a0 ELSE b0 END AS k0 FROM …) …

A second statement counts only the bins that may contain the best threshold, by value or
by finer bins (``sources.open_bins``)::

    SELECT …, count(*), k0 AS value, min(a0) AS low, max(a0) AS high
    FROM (SELECT *, the number a0, or where its part begins, AS k0
          FROM … JOIN (VALUES (5, 0.25, 0.75, …), …) ON at = node AND a0 BETWEEN …) …

Counts are right without exact arithmetic in the engine: bin numbers only have to rise
with the values.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from sqlglot import exp

from spinney._support.arrays import Floats
from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.engines.sql_engine import SqlEngine, floats, integers
from spinney.extensions.databases.grouped import Relation, grouped_statements
from spinney.sources.open_bins import Interval

MAX_VALUES = 4_000
"""Columns with at most this many distinct numbers are counted by value."""
MAX_ROWS_BY_VALUE = 500
"""Nodes with at most this many rows are counted by value."""
QUANTILES, PARTS = 16, 16
"""The number of quantile ranges of a column, and of bins in each range."""

FIGURES = 4
"""Statistics of a column: count, minimum, maximum, number of fractional values."""
WHOLE = 2**31
"""Integers below this are stored as integers of the smallest sufficient type."""


class NumberBins:
    """The bins of the numeric columns with many distinct values.

    Parameters
    ----------
    engine : SqlEngine
    base : str
        The stored table of all rows; a table with bins replaces it.
    columns : sequence of str
        Its columns.
    numbers : collection of int
        The indices of the numeric columns.

    Attributes
    ----------
    base : str
        The stored table; column b0 has the bins of column a0, if there are any.
    ranges : dict of int to (array, array)
        Minimum and maximum of each bin, by column index.
    different : dict of int to int
        The approximate number of distinct values by column; empty for small tables.
    n_rows : int
    """

    def __init__(
        self,
        engine: SqlEngine,
        base: str,
        *,
        columns: Sequence[str],
        numbers: Collection[int],
    ) -> None:
        self.base, self.ranges = base, dict[int, tuple[Floats, Floats]]()
        self.different: dict[int, int] = {}
        self._engine, self._edges = engine, dict[int, list[float]]()
        self._whole: dict[int, exp.DataType] = {}
        (self.n_rows,) = engine.fetch_row(
            sql.select([sql.count_all()], sql.table(base))
        )
        if self.n_rows <= MAX_VALUES or not numbers:
            return
        self._find_edges(numbers)
        if self._edges:
            self.base = engine.store(self._with_bins(columns))
            engine.drop([base])
            self._find_ranges()

    def _find_edges(self, columns: Collection[int]) -> None:
        """Set the bin edges of columns of many values, and the integer types."""
        listed: list[exp.Expr] = []
        for index in columns:
            cell = partial(sql.column, f"a{index}")
            fractional = exp.NEQ(this=cell(), expression=exp.Floor(this=cell()))
            figures = (
                self._engine.count_distinct(cell()),
                exp.Min(this=cell()),
                exp.Max(this=cell()),
                exp.Count(this=sql.case((fractional, sql.integer(1)))),
            )
            listed += [
                sql.alias(figure, f"s{index} {i}") for i, figure in enumerate(figures)
            ]
        answer = self._engine.fetch_row(sql.select(listed, sql.table(self.base)))
        for i, index in enumerate(columns):
            count, least, greatest, n_fractional = answer[
                FIGURES * i : FIGURES * (i + 1)
            ]
            self.different[index] = int(count or 0)
            if not count:
                continue
            if not n_fractional and least >= -WHOLE and greatest < WHOLE:
                self._whole[index] = self._engine.integer_type(
                    int(least), int(greatest)
                )
            if count > MAX_VALUES:
                numbers = self._engine.quantiles(self.base, f"a{index}", QUANTILES)
                inside = numbers[(numbers > least) & (numbers < greatest)]
                edges = [float(least), *inside.tolist(), float(greatest)]
                self._edges[index] = np.unique(edges).tolist()

    def _with_bins(self, columns: Sequence[str]) -> exp.Query:
        """Return all rows with bin columns added."""
        narrow = {f"a{index}": kind for index, kind in self._whole.items()}
        cells: list[exp.Expr] = [
            sql.alias(exp.Cast(this=sql.column(name), to=narrow[name]), name)
            if name in narrow
            else sql.column(name)
            for name in columns
        ]
        bins = []
        for index, edges in self._edges.items():
            pieces = [
                _bin_position(f"a{index}", low, high, first * PARTS)
                for first, (low, high) in enumerate(pairwise(edges))
            ]
            last = len(pieces) * PARTS - 1
            place = exp.Floor(this=_bin_by_search(f"a{index}", edges[1:-1], pieces))
            chosen = exp.Least(this=place, expressions=[sql.integer(last)])
            known_bin = sql.case((sql.not_null(sql.column(f"a{index}")), chosen))
            kind = self._engine.integer_type(0, last)
            bins.append(sql.alias(exp.Cast(this=known_bin, to=kind), f"b{index}"))
        return sql.select([*cells, *bins], sql.table(self.base))

    def _find_ranges(self) -> None:
        """Set the minimum and maximum of each bin."""
        statements = grouped_statements(
            self._engine,
            lambda _: sql.table(self.base),
            [f"b{index}" for index in self._edges],
            ranges={f"b{index}": f"a{index}" for index in self._edges},
        )
        for statement, group in statements:
            which, _, number, low, high = self._engine.fetch(statement)
            is_bin = ~np.isnan(floats(number))
            for i, name in enumerate(group):
                in_bin = is_bin & (integers(which) == i)
                bins = floats(number)[in_bin].astype(np.int64)
                least = np.full(1 + bins.max(), np.nan)
                greatest = least.copy()
                least[bins], greatest[bins] = floats(low)[in_bin], floats(high)[in_bin]
                self.ranges[int(name[1:])] = least, greatest

    def with_keys(self, relation: Relation, by_value: Sequence[int]) -> Relation:
        """Return lines with the keys to group by: bins, or values at some nodes."""
        if not by_value:
            return relation

        def read(names: Sequence[str]) -> exp.Query:
            keys = []
            for name in names:
                if name.startswith("k"):
                    single = (
                        sql.is_in(sql.column("node"), by_value),
                        sql.column(f"a{name[1:]}"),
                    )
                    key = sql.case(
                        single, default=sql.double(sql.column(f"b{name[1:]}"))
                    )
                    keys.append(sql.alias(key, name))
            return sql.select([exp.Star(), *keys], relation(names))

        return read


def _bin_position(name: str, low: float, high: float, first: int) -> exp.Expr:
    """Return the position of a number between two quantiles, in bins, not rounded.

    The greatest number may fall into the first bin above the next quantile.
    """
    scale = PARTS / (high - low)
    if not 0 < scale < np.inf:
        return sql.param(float(first))  # the distance overflows or underflows
    inside = sql.product(
        sql.difference(sql.column(name), sql.param(low)), sql.param(scale)
    )
    return sql.add([sql.param(float(first)), inside])


def _bin_by_search(
    name: str, edges: Sequence[float], pieces: Sequence[exp.Expr]
) -> exp.Expr:
    """Return a CASE that finds the bin of a number by binary search over the edges."""
    if not edges:
        return pieces[0]
    middle = len(edges) // 2
    below = exp.LTE(this=sql.column(name), expression=sql.param(edges[middle]))
    return sql.case(
        (below, _bin_by_search(name, edges[:middle], pieces[: middle + 1])),
        default=_bin_by_search(name, edges[middle + 1 :], pieces[middle + 1 :]),
    )


def rows_in_opened_bins(
    engine: SqlEngine,
    relation: Relation,
    intervals: Mapping[int, Mapping[int, Sequence[Interval]]],
) -> Relation:
    """Return the lines in opened bins, with the keys to group by.

    The intervals of each attribute are joined with the lines, by node: evaluating a
    CASE over hundreds of intervals would take most of the time.
    """

    def read(names: Sequence[str]) -> exp.Query:
        (name,) = names
        cell = f"a{name[1:]}"
        listed = [
            (sql.integer(node), *map(sql.param, _interval_row(interval)))
            for node, opened_at_node in intervals[int(name[1:])].items()
            for interval in opened_at_node
        ]
        identifier = exp.to_identifier(LINES, quoted=True)
        all_cells = exp.Column(this=exp.Star(), table=identifier)
        query = sql.select(
            [all_cells, sql.alias(_interval_key(cell), name)],
            relation(names),
            name=LINES,
        )
        inside = sql.all_of(
            [
                exp.EQ(
                    this=sql.column("at", OPENED), expression=sql.column("node", LINES)
                ),
                exp.GTE(
                    this=sql.column(cell, LINES), expression=_interval_column("low")
                ),
                exp.LTE(
                    this=sql.column(cell, LINES), expression=_interval_column("high")
                ),
            ]
        )
        opened = engine.values(listed, ("at", *INTERVAL_COLUMNS), OPENED)
        query.append("joins", exp.Join(this=opened, kind="INNER", on=inside))
        return query

    return read


LINES, OPENED = "spinney lines", "spinney opened"
INTERVAL_COLUMNS = ("low", "high", "scale", "width", "last")


def _interval_row(interval: Interval) -> tuple[float, ...]:
    """Return the ends of an interval, and its subdivision or 0."""
    ends = interval.low, interval.high
    if not interval.n_parts:
        return *ends, 0.0, 0.0, 0.0
    return *ends, interval.scale, interval.width, float(interval.n_parts - 1)


def _interval_column(name: str) -> exp.Expr:
    return sql.double(sql.column(name, OPENED))


def _interval_key(name: str) -> exp.Expr:
    """Return the key to group a number in an interval by: ``Interval.key_of``."""
    number = sql.double(sql.column(name, LINES))
    inside = sql.product(
        sql.difference(number.copy(), _interval_column("low")),
        _interval_column("scale"),
    )
    part = exp.Least(
        this=exp.Floor(this=inside), expressions=[_interval_column("last")]
    )
    begins = sql.add(
        [_interval_column("low"), sql.product(part, _interval_column("width"))]
    )
    key = exp.Least(this=begins, expressions=[_interval_column("high")])
    divided = exp.GT(this=_interval_column("scale"), expression=sql.integer(0))
    return sql.case((divided, key), default=number)
