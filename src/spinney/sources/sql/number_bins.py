"""Numbers of many values by bins: edges once, keys by bin, and bins that are opened.

A column of more than ``MOST_VALUES`` different numbers is counted by bin where a node
has as many rows, and the least and greatest number of each bin come with its counts::

    SELECT …, count(*), sum(weight), bin AS value, min(a0) AS low, max(a0) AS high
    FROM (SELECT *, CASE WHEN a0 <= e7 THEN CASE WHEN a0 <= e3 THEN … END AS k0 FROM …)
    GROUP BY GROUPING SETS ((node, class, k0), …)

A second statement counts the values of the bins that may hold the best cut, and of no
others: k0 is the number itself in these, and NULL elsewhere.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from spinney.sources.sql.engines.sql_engine import SqlEngine
from spinney.sources.sql.expressions import (
    bound,
    case,
    column,
    double,
    known,
    named,
    one_of,
    select,
    table,
    whole,
)
from spinney.sources.sql.grouped import Relation
from spinney.trees import TableStack

MOST_VALUES = 4_000
"""How many different numbers, and rows of a node, are counted one by one."""
N_BINS = 255

Interval = tuple[float, float]


class NumberBins:
    """The edges of the bins of those columns that have very many numbers.

    Parameters
    ----------
    engine : SqlEngine
    base : str
        The kept table of all rows, of this number.
    columns : collection of int
        The places of numbers.
    """

    def __init__(
        self, engine: SqlEngine, base: str, columns: Collection[int], n_rows: int
    ) -> None:
        self.edges: dict[int, list[float]] = {}
        if n_rows <= MOST_VALUES or not columns:
            return
        listed = list(columns)
        distinct = [
            named(engine.count_distinct(column(f"a{i}")), f"s{i}") for i in listed
        ]
        counts = engine.line(select(distinct, table(base)))
        for index, count in zip(listed, counts, strict=True):
            if count > MOST_VALUES:
                numbers = engine.quantiles(base, f"a{index}", N_BINS)
                self.edges[index] = np.unique(numbers).tolist()

    def keyed(
        self, relation: Relation, indices: Collection[int], nodes: Sequence[int]
    ) -> Relation:
        """Return lines with a bin's number beside each number, at these nodes."""

        def read() -> exp.Query:
            keys = []
            for index in indices:
                number = _bin_of(f"a{index}", self.edges[index], 0)
                large = one_of(column("node"), nodes)
                key = case((large, number), otherwise=column(f"a{index}"))
                keys.append(named(key, f"k{index}"))
            return select([exp.Star(), *keys], relation())

        return read


def _bin_of(name: str, edges: Sequence[float], first: int) -> exp.Expr:
    """Return the number of the bin of a number, NULL if it is missing, by halves."""
    if not edges:
        return case((known(column(name)), double(whole(first))))
    middle = len(edges) // 2
    below = exp.LTE(this=column(name), expression=bound(edges[middle]))
    return case(
        (below, _bin_of(name, edges[:middle], first)),
        otherwise=_bin_of(name, edges[middle + 1 :], first + middle + 1),
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
        for index, by_node in intervals.items():
            whens = [
                (whole(node), case(*(_inside(index, each) for each in listed)))
                for node, listed in by_node.items()
            ]
            keys.append(named(case(*whens, of=column("node")), f"k{index}"))
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
