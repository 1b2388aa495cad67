"""Statements that count the rows of a relation by each of several columns.

Where an engine has them, grouping sets do it in one scan::

    SELECT CASE WHEN GROUPING(a0) = 0 THEN 0 WHEN GROUPING(a1) = 0 THEN 1 END AS which,
           node, class, count(*), sum(weight), coalesce(a0, a1) AS value
    FROM … GROUP BY GROUPING SETS ((node, class, a0), (node, class, a1))

A result row is NULL in all columns that do not group it, so ``coalesce`` returns its
value. A row of NULLs counts the missing values. Engines without grouping sets run a
UNION ALL of one grouped select per column.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.engines.sql_engine import SqlEngine

Relation = Callable[[Sequence[str]], exp.Query | exp.Table]
"""A function that returns the relation to count for the columns of one select."""


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
    """Yield statements that count by keys and a column, each with its columns.

    A result row has the position of its column, the keys, the number of rows, the sums
    and the value. For bin columns, ``ranges`` names the number columns whose minimum
    and maximum are added. With ``one_by_one``, each column has a relation of its own.
    """
    grouping = _Grouping(
        keys, sums, sql.double if value == "double" else sql.text, ranges
    )
    write = (
        _grouping_sets_query
        if engine.has_grouping_sets and not one_by_one
        else _union_query
    )
    for start in range(0, len(columns), engine.max_columns):
        group = columns[start : start + engine.max_columns]
        yield write(relation, group, grouping), group


@dataclass(frozen=True, slots=True)
class _Grouping:
    """The keys, sums and types of a count, in any form of grouping."""

    keys: Sequence[str]
    sums: Callable[[], Sequence[exp.Expr]]
    typed: Callable[[exp.Expr], exp.Expr]
    ranges: Mapping[str, str] | None

    def measures(self) -> list[exp.Expr]:
        """Return the keys, the number of rows and the sums, each with an alias."""
        numbered = [sql.alias(amount, f"s{i}") for i, amount in enumerate(self.sums())]
        return [*map(sql.column, self.keys), sql.alias(sql.count_all(), "n"), *numbered]


def _grouping_sets_query(
    relation: Relation, columns: Sequence[str], grouping: _Grouping
) -> exp.Query:
    which = sql.case(
        *((_is_grouped_by(name), sql.integer(i)) for i, name in enumerate(columns))
    )
    value = sql.coalesce([grouping.typed(sql.column(name)) for name in columns])
    listed = [
        sql.alias(which, "which"),
        *grouping.measures(),
        sql.alias(value, "value"),
    ]
    if grouping.ranges is not None:
        binned = [
            (name, grouping.ranges[name]) for name in columns if name in grouping.ranges
        ]
        for end, extreme in (("low", exp.Min), ("high", exp.Max)):
            whens = [
                (_is_grouped_by(k), extreme(this=sql.column(a))) for k, a in binned
            ]
            listed.append(sql.alias(sql.case(*whens) if whens else _null_number(), end))
    query = sql.select(listed, relation(columns))
    sets = [
        exp.Tuple(expressions=[*map(sql.column, grouping.keys), sql.column(name)])
        for name in columns
    ]
    query.set("group", exp.Group(grouping_sets=[exp.GroupingSets(expressions=sets)]))
    return query


def _is_grouped_by(name: str) -> exp.Expr:
    """Return the condition that a result row is grouped by a column."""
    grouping = exp.Anonymous(this="GROUPING", expressions=[sql.column(name)])
    return exp.EQ(this=grouping, expression=sql.integer(0))


def _null_number() -> exp.Expr:
    return sql.double(exp.Null())


def _union_query(
    relation: Relation, columns: Sequence[str], grouping: _Grouping
) -> exp.Query:
    """Return a UNION ALL of grouped selects, one per column."""
    parts = []
    for place, name in enumerate(columns):
        listed: list[exp.Expr] = [
            sql.alias(sql.integer(place), "which"),
            *grouping.measures(),
            sql.alias(grouping.typed(sql.column(name)), "value"),
        ]
        if grouping.ranges is not None:
            binned = grouping.ranges.get(name)
            for end, extreme in (("low", exp.Min), ("high", exp.Max)):
                number = (
                    _null_number()
                    if binned is None
                    else extreme(this=sql.column(binned))
                )
                listed.append(sql.alias(number, end))
        by = [*map(sql.column, grouping.keys), sql.column(name)]
        parts.append(sql.grouped_by(sql.select(listed, relation([name])), by))
    return (
        parts[0] if len(parts) == 1 else exp.union(*parts, distinct=False, copy=False)
    )
