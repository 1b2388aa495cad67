"""Numbers of many values by bins: edges once, bins once, and those that are opened.

A column of more than ``MOST_VALUES`` different numbers is divided by its quantiles, and
what lies between two of these in parts of equal width. The bin of each number is kept
beside it, and the least and the greatest number of each bin are known once and for all.
A node of many rows is counted by bins, which are small whole numbers::

    SELECT …, count(*), k0 AS value
    FROM (SELECT *, CASE WHEN node IN (5, 6) THEN a0 ELSE b0 END AS k0 FROM …) …

A second statement counts what is in the bins that may hold the best cut, and in no
others, by value or by finer bins (``sources.open_bins``)::

    SELECT …, count(*), k0 AS value, min(a0) AS low, max(a0) AS high
    FROM (SELECT *, the number a0, or where its part begins, AS k0
          FROM … JOIN (VALUES (5, 0.25, 0.75, …), …) ON at = node AND a0 BETWEEN …) …

That bins are counted right needs no exact arithmetic of an engine: the number of a bin
only has to rise with the numbers in it.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from sqlglot import exp

from spinney._support.arrays import Floats
from spinney.extensions.databases.engines.sql_engine import SqlEngine, floats, integers
from spinney.extensions.databases.expressions import (
    both,
    bound,
    case,
    column,
    count_all,
    difference,
    double,
    known,
    named,
    one_of,
    product,
    select,
    table,
    total_of,
    whole,
)
from spinney.extensions.databases.grouped import Relation, grouped_statements
from spinney.sources.open_bins import Interval

MOST_VALUES = 4_000
"""How many different numbers of a column are counted one by one."""
MOST_ROWS = 500
"""How many rows of a node are."""
QUANTILES, PARTS = 16, 16
"""Into how much a column is divided, and what lies between two quantiles."""

FIGURES = 4
"""The figures of each column: count, minimum, maximum, number of fractions."""
WHOLE = 2**31
"""Whole numbers below this are kept as such, in as many bytes as they need."""


class NumberBins:
    """The bins of those columns that have very many numbers.

    Parameters
    ----------
    engine : SqlEngine
    base : str
        The kept table of all rows. If there are bins, another one takes its place.
    columns : sequence of str
        Its columns.
    numbers : collection of int
        The places of numbers among them.

    Attributes
    ----------
    base : str
        The kept table, with a column b0 beside a0 where there are bins of that.
    ranges : dict of int to (array, array)
        The least and the greatest number of each bin, by the place of the column.
    different : dict of int to int
        About how many different numbers columns have, of tables that are not small.
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
        (self.n_rows,) = engine.line(select([count_all()], table(base)))
        if self.n_rows <= MOST_VALUES or not numbers:
            return
        self._find_edges(numbers)
        if self._edges:
            self.base = engine.keep(self._with_bins(columns))
            engine.drop([base])
            self._find_ranges()

    def _find_edges(self, columns: Collection[int]) -> None:
        """Find the edges of columns of many numbers, and the type of whole ones."""
        listed: list[exp.Expr] = []
        for index in columns:
            cell = partial(column, f"a{index}")
            odd = exp.NEQ(this=cell(), expression=exp.Floor(this=cell()))
            figures = (
                self._engine.count_distinct(cell()),
                exp.Min(this=cell()),
                exp.Max(this=cell()),
                exp.Count(this=case((odd, whole(1)))),
            )
            listed += [named(each, f"s{index} {i}") for i, each in enumerate(figures)]
        answer = self._engine.line(select(listed, table(self.base)))
        for at, index in enumerate(columns):
            count, least, most, n_odd = answer[FIGURES * at : FIGURES * (at + 1)]
            self.different[index] = int(count or 0)
            if not count:
                continue
            if not n_odd and least >= -WHOLE and most < WHOLE:
                self._whole[index] = self._engine.whole_type(int(least), int(most))
            if count > MOST_VALUES:
                numbers = self._engine.quantiles(self.base, f"a{index}", QUANTILES)
                inside = numbers[(numbers > least) & (numbers < most)]
                edges = [float(least), *inside.tolist(), float(most)]
                self._edges[index] = np.unique(edges).tolist()

    def _with_bins(self, columns: Sequence[str]) -> exp.Query:
        """Return all rows with the bin of each number beside it."""
        narrow = {f"a{index}": kind for index, kind in self._whole.items()}
        cells: list[exp.Expr] = [
            named(exp.Cast(this=column(name), to=narrow[name]), name)
            if name in narrow
            else column(name)
            for name in columns
        ]
        bins = []
        for index, edges in self._edges.items():
            pieces = [
                _piece(f"a{index}", low, high, first * PARTS)
                for first, (low, high) in enumerate(pairwise(edges))
            ]
            last = len(pieces) * PARTS - 1
            place = exp.Floor(this=_chosen(f"a{index}", edges[1:-1], pieces))
            chosen = exp.Least(this=place, expressions=[whole(last)])
            known_bin = case((known(column(f"a{index}")), chosen))
            kind = self._engine.whole_type(0, last)
            bins.append(named(exp.Cast(this=known_bin, to=kind), f"b{index}"))
        return select([*cells, *bins], table(self.base))

    def _find_ranges(self) -> None:
        """Find the least and the greatest number of each bin."""
        statements = grouped_statements(
            self._engine,
            lambda _: table(self.base),
            [f"b{index}" for index in self._edges],
            ranges={f"b{index}": f"a{index}" for index in self._edges},
        )
        for statement, group in statements:
            which, _, number, low, high = self._engine.fetch(statement)
            is_bin = ~np.isnan(floats(number))
            for at, name in enumerate(group):
                own = is_bin & (integers(which) == at)
                bins = floats(number)[own].astype(np.int64)
                least = np.full(1 + bins.max(), np.nan)
                most = least.copy()
                least[bins], most[bins] = floats(low)[own], floats(high)[own]
                self.ranges[int(name[1:])] = least, most

    def keyed(self, relation: Relation, by_value: Sequence[int]) -> Relation:
        """Return lines with what they are counted by: bins, but at some nodes."""
        if not by_value:
            return relation

        def read(names: Sequence[str]) -> exp.Query:
            keys = []
            for name in names:
                if name.startswith("k"):
                    single = (one_of(column("node"), by_value), column(f"a{name[1:]}"))
                    key = case(single, otherwise=double(column(f"b{name[1:]}")))
                    keys.append(named(key, name))
            return select([exp.Star(), *keys], relation(names))

        return read


def _piece(name: str, low: float, high: float, first: int) -> exp.Expr:
    """Return the bin of a number between two quantiles, before it is rounded down.

    The greatest number may come to the first bin behind the next quantile.
    """
    scale = PARTS / (high - low)
    if not 0 < scale < np.inf:
        return bound(float(first))  # they are too far apart, or too near, to divide
    inside = product(difference(column(name), bound(low)), bound(scale))
    return total_of([bound(float(first)), inside])


def _chosen(name: str, edges: Sequence[float], pieces: Sequence[exp.Expr]) -> exp.Expr:
    """Return the piece that a number is in, between two edges, by halves."""
    if not edges:
        return pieces[0]
    middle = len(edges) // 2
    below = exp.LTE(this=column(name), expression=bound(edges[middle]))
    return case(
        (below, _chosen(name, edges[:middle], pieces[: middle + 1])),
        otherwise=_chosen(name, edges[middle + 1 :], pieces[middle + 1 :]),
    )


def rows_in_opened_bins(
    engine: SqlEngine,
    relation: Relation,
    intervals: Mapping[int, Mapping[int, Sequence[Interval]]],
) -> Relation:
    """Return the lines that are in an opened bin, with what they are counted by.

    ``intervals`` are by attribute and node. They are joined with the lines: a CASE over
    hundreds of them would take longer for each line than all else.
    """

    def read(names: Sequence[str]) -> exp.Query:
        (name,) = names
        cell = f"a{name[1:]}"
        listed = [
            (whole(node), *map(bound, _figures(interval)))
            for node, each in intervals[int(name[1:])].items()
            for interval in each
        ]
        identifier = exp.to_identifier(LINES, quoted=True)
        every = exp.Column(this=exp.Star(), table=identifier)
        query = select([every, named(_key(cell), name)], relation(names), name=LINES)
        inside = both(
            [
                exp.EQ(this=column("at", OPENED), expression=column("node", LINES)),
                exp.GTE(this=column(cell, LINES), expression=_figure("low")),
                exp.LTE(this=column(cell, LINES), expression=_figure("high")),
            ]
        )
        opened = engine.values(listed, ("at", *FIGURES_OF_INTERVALS), OPENED)
        query.append("joins", exp.Join(this=opened, kind="INNER", on=inside))
        return query

    return read


LINES, OPENED = "spinney lines", "spinney opened"
FIGURES_OF_INTERVALS = ("low", "high", "scale", "width", "last")


def _figures(interval: Interval) -> tuple[float, ...]:
    """Return the ends of an interval, and how it is divided; 0 where it is not."""
    ends = interval.low, interval.high
    if not interval.parts:
        return *ends, 0.0, 0.0, 0.0
    return *ends, interval.scale, interval.width, float(interval.parts - 1)


def _figure(name: str) -> exp.Expr:
    return double(column(name, OPENED))


def _key(name: str) -> exp.Expr:
    """Return what a number inside an interval is counted by: ``Interval.key_of``."""
    number = double(column(name, LINES))
    inside = product(difference(number.copy(), _figure("low")), _figure("scale"))
    part = exp.Least(this=exp.Floor(this=inside), expressions=[_figure("last")])
    begins = total_of([_figure("low"), product(part, _figure("width"))])
    key = exp.Least(this=begins, expressions=[_figure("high")])
    divided = exp.GT(this=_figure("scale"), expression=whole(0))
    return case((divided, key), otherwise=number)
