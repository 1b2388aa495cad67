"""Count statements: the rows of a relation by each of several columns, at once.

Where an engine has them, grouping sets do it in one scan::

    SELECT CASE WHEN GROUPING(a0) = 0 THEN 0 WHEN GROUPING(a1) = 0 THEN 1 END AS which,
           node, class, count(*), sum(weight), coalesce(a0, a1) AS value
    FROM … GROUP BY GROUPING SETS ((node, class, a0), (node, class, a1))

A column that a line is not grouped by is NULL in it, so the first one that is not is
the value; a line of all NULL counts the missing ones. Elsewhere it is a UNION ALL of
grouped selects from the relation, of which an engine reads the columns that each names.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.extensions.databases.expressions import (
    case,
    column,
    count_all,
    double,
    first_known,
    grouped_by,
    named,
    select,
    text,
    whole,
)

Relation = Callable[[Sequence[str]], exp.Query | exp.Table]
"""Gives a relation anew, for each select from it that counts by some columns."""


def grouped_statements(
    engine: SqlEngine,
    relation: Relation,
    columns: Sequence[str],
    *,
    keys: Sequence[str] = (),
    sums: Callable[[], Sequence[exp.Expr]] = tuple,
    value: Literal["double", "text"] = "double",
    ranges: Mapping[str, str] | None = None,
    one_by_one: bool = False,
) -> Iterator[tuple[exp.Query, Sequence[str]]]:
    """Give statements that count by keys and a column, and the columns of each.

    A line has the number of its column in the group, the keys, the number of rows, the
    sums and the value. With ``ranges``, columns that stand for the bins of others, it
    has the least and the greatest number of these, too. ``one_by_one`` says that the
    relation is another one for each column.
    """
    wanted = _Wanted(keys, sums, double if value == "double" else text, ranges)
    write = _in_sets if engine.has_sets and not one_by_one else _in_scans
    for start in range(0, len(columns), engine.most_columns):
        group = columns[start : start + engine.most_columns]
        yield write(relation, group, wanted), group


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The keys, sums and types of a count, in any form of grouping."""

    keys: Sequence[str]
    sums: Callable[[], Sequence[exp.Expr]]
    typed: Callable[[exp.Expr], exp.Expr]
    ranges: Mapping[str, str] | None

    def measures(self) -> list[exp.Expr]:
        """Return keys, number of rows and sums, each under a name."""
        numbered = [named(each, f"s{i}") for i, each in enumerate(self.sums())]
        return [*map(column, self.keys), named(count_all(), "n"), *numbered]


def _in_sets(relation: Relation, columns: Sequence[str], wanted: _Wanted) -> exp.Query:
    which = case(*((_is_by(name), whole(i)) for i, name in enumerate(columns)))
    value = first_known([wanted.typed(column(name)) for name in columns])
    listed = [named(which, "which"), *wanted.measures(), named(value, "value")]
    if wanted.ranges is not None:
        own = [(name, wanted.ranges[name]) for name in columns if name in wanted.ranges]
        for end, extreme in (("low", exp.Min), ("high", exp.Max)):
            whens = [(_is_by(k), extreme(this=column(a))) for k, a in own]
            listed.append(named(case(*whens) if whens else _no_number(), end))
    query = select(listed, relation(columns))
    sets = [
        exp.Tuple(expressions=[*map(column, wanted.keys), column(name)])
        for name in columns
    ]
    query.set("group", exp.Group(grouping_sets=[exp.GroupingSets(expressions=sets)]))
    return query


def _is_by(name: str) -> exp.Expr:
    """Return whether a line is grouped by a column."""
    grouping = exp.Anonymous(this="GROUPING", expressions=[column(name)])
    return exp.EQ(this=grouping, expression=whole(0))


def _no_number() -> exp.Expr:
    return double(exp.Null())


def _in_scans(relation: Relation, columns: Sequence[str], wanted: _Wanted) -> exp.Query:
    """Return grouped selects, a column each, under one another."""
    parts = []
    for place, name in enumerate(columns):
        listed: list[exp.Expr] = [
            named(whole(place), "which"),
            *wanted.measures(),
            named(wanted.typed(column(name)), "value"),
        ]
        if wanted.ranges is not None:
            of = wanted.ranges.get(name)
            for end, extreme in (("low", exp.Min), ("high", exp.Max)):
                number = _no_number() if of is None else extreme(this=column(of))
                listed.append(named(number, end))
        by = [*map(column, wanted.keys), column(name)]
        parts.append(grouped_by(select(listed, relation([name])), by))
    return (
        parts[0] if len(parts) == 1 else exp.union(*parts, distinct=False, copy=False)
    )
