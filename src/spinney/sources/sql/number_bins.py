"""Numbers of many values by bins: edges once, bins once, and those that are opened.

A column of more than ``MOST_VALUES`` different numbers is divided by its quantiles, and
what lies between two of these in parts of equal width. The bin of each number is kept
beside it. A node of many rows is counted by bins, with the least and the greatest
number of each::

    SELECT …, count(*), sum(weight), k0 AS value, min(a0) AS low, max(a0) AS high
    FROM (SELECT *, CASE WHEN node IN (5, 6) THEN a0 ELSE b0 END AS k0 FROM …)
    GROUP BY GROUPING SETS ((node, class, k0), …)

A second statement counts the values of the bins that may hold the best cut, and of no
others: k0 is the number itself in these, and NULL elsewhere.

That bins are counted right needs no exact arithmetic of an engine: the number of a bin
only has to rise with the numbers in it.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from spinney.sources.sql.engines.sql_engine import SqlEngine
from spinney.sources.sql.expressions import (
    bound,
    by_node,
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
    whole,
)
from spinney.sources.sql.grouped import Relation
from spinney.trees import TableStack

MOST_VALUES = 4_000
"""How many different numbers of a column are counted one by one."""
MOST_ROWS = 500
"""How many rows of a node are."""
QUANTILES, PARTS = 16, 16
"""Into how much a column is divided, and what lies between two quantiles."""

Interval = tuple[float, float]


class NumberBins:
    """The bins of those columns that have very many numbers.

    Parameters
    ----------
    engine : SqlEngine
    base : str
        The kept table of all rows.
    columns : collection of int
        The places of numbers.
    """

    def __init__(self, engine: SqlEngine, base: str, columns: Collection[int]) -> None:
        self.edges: dict[int, list[float]] = {}
        (n_rows,) = engine.line(select([count_all()], table(base)))
        if n_rows <= MOST_VALUES or not columns:
            return
        listed: list[exp.Expr] = []
        for index in columns:
            cell = partial(column, f"a{index}")
            asked = (
                engine.count_distinct(cell()),
                exp.Min(this=cell()),
                exp.Max(this=cell()),
            )
            listed += [named(each, f"s{index} {i}") for i, each in enumerate(asked)]
        answer = engine.line(select(listed, table(base)))
        for index, facts in zip(columns, batched(answer), strict=True):
            count, least, most = facts
            if count > MOST_VALUES:
                numbers = engine.quantiles(base, f"a{index}", QUANTILES)
                inside = numbers[(numbers > least) & (numbers < most)]
                edges = [float(least), *inside.tolist(), float(most)]
                self.edges[index] = np.unique(edges).tolist()

    def beside(self, base: str) -> exp.Query:
        """Return the rows of a table with the bin of each number beside it."""
        bins = []
        for index, edges in self.edges.items():
            pieces = [
                _piece(f"a{index}", low, high, first * PARTS)
                for first, (low, high) in enumerate(pairwise(edges))
            ]
            chosen = _chosen(f"a{index}", edges[1:-1], pieces)
            known_bin = case((known(column(f"a{index}")), chosen))
            small = exp.Cast(this=known_bin, to=exp.DataType.build("smallint"))
            bins.append(named(small, f"b{index}"))
        return select([exp.Star(), *bins], table(base))

    def keyed(
        self, relation: Relation, indices: Collection[int], small: Sequence[int]
    ) -> Relation:
        """Return lines with what they are counted by: bins, but at small nodes."""

        def read() -> exp.Query:
            keys = []
            for index in indices:
                key: exp.Expr = double(column(f"b{index}"))
                if small:
                    single = (one_of(column("node"), small), column(f"a{index}"))
                    key = case(single, otherwise=key)
                keys.append(named(key, f"k{index}"))
            return select([exp.Star(), *keys], relation())

        return read


def batched(answer: Sequence[Any]) -> list[Sequence[Any]]:
    """Return what was asked of columns, three figures of each."""
    return [answer[start : start + 3] for start in range(0, len(answer), 3)]


def _piece(name: str, low: float, high: float, first: int) -> exp.Expr:
    """Return the bin of a number between two quantiles."""
    scale = PARTS / (high - low)
    if not 0 < scale < np.inf:
        return whole(first)  # they are too far apart, or too near, to divide
    inside = product(difference(column(name), bound(low)), bound(scale))
    part = exp.Greatest(this=exp.Floor(this=inside), expressions=[whole(0)])
    within = exp.Least(this=part, expressions=[whole(PARTS - 1)])
    return exp.Add(this=whole(first), expression=within)


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


def intervals_of(
    stack: TableStack, opened: NDArray[np.bool_]
) -> dict[int, dict[int, list[Interval]]]:
    """Return what is opened, by attribute and by the number of the node's request.

    Bins side by side are one interval.
    """
    assert stack.low is not None
    lines = np.flatnonzero(opened)
    answer: dict[int, dict[int, list[Interval]]] = {}
    before = -2
    for line in lines.tolist():
        owner = int(stack.owner[line])
        by_node = answer.setdefault(int(stack.attribute[owner]), {})
        listed = by_node.setdefault(int(stack.node[owner]), [])
        high = float(stack.values[line])
        if line == before + 1 and listed:
            listed[-1] = (listed[-1][0], high)
        else:
            listed.append((float(stack.low[line]), high))
        before = line
    return answer


def opened_lines(
    relation: Relation, intervals: Mapping[int, Mapping[int, Sequence[Interval]]]
) -> Relation:
    """Return the lines that are in an opened bin, with what is opened beside them.

    ``intervals`` are by attribute and node.
    """

    def read() -> exp.Query:
        keys = []
        for index, at_nodes in intervals.items():
            opened = {
                node: case(*(_inside(index, each) for each in listed))
                for node, listed in at_nodes.items()
            }
            keys.append(named(by_node(opened), f"k{index}"))
        wanted: exp.Expr = exp.false()
        for index in intervals:
            wanted = exp.Or(this=wanted, expression=known(column(f"k{index}")))
        return select([exp.Star()], select([exp.Star(), *keys], relation()), wanted)

    return read


def _inside(index: int, interval: Interval) -> tuple[exp.Expr, exp.Expr]:
    name, (low, high) = f"a{index}", interval
    above = exp.GTE(this=column(name), expression=bound(low))
    below = exp.LTE(this=column(name), expression=bound(high))
    return exp.And(this=above, expression=below), column(name)
