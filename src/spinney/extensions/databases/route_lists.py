"""Where lines go, looked up in lists: for engines to whom a CASE of many nodes is slow.

A node has a number for each place that a row may take there: two sides of a cut and one
for missing numbers, or one for each code and for none. All of them stand in one list,
node after node, and hold the child to go to::

    node 5: a0 <= 0.5     node 6: a3 in {0, 2} or {1}     node 7 stays
    goes = [ 8, 9, 8,       10, 11, 10, 10,                 7 ]
    begins = [ 0, 3, 7 ]    asks = [ 0, 3, -1 ]    cuts = [ 0.5, NULL, NULL ]

So a line is sent by as many comparisons as attributes are asked about, not nodes.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from sqlglot import exp

from spinney.data import Attribute
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.extensions.databases.expressions import (
    bound,
    case,
    column,
    first_known,
    nothing,
    total_of,
    whole,
)
from spinney.trees import Intervals, Route, Threshold

LEFT, RIGHT, ABSENT = range(3)
"""The places of a row at a node that asks for a number."""
STAYS = -1
"""What nodes ask whose rows have one place only."""
NOWHERE = -1
"""Where a code goes that no branch takes."""

Children = Mapping[int, int]


def looked_up(
    engine: SqlEngine,
    leaving: Mapping[int, tuple[Route, Children]],
    staying: Mapping[int, int],
    *,
    attribute: Callable[[int], Attribute],
    nowhere: int,
) -> exp.Expr | None:
    """Return the node that a line comes to, NULL if it is divided.

    ``leaving`` are routes and the nodes of their branches, by node; a branch that has
    none leads ``nowhere``. None is returned where a route has another form than these.
    """
    if not all(_is_simple(route) for route, _ in leaving.values()):
        return None
    first, last = min({**leaving, **staying}), max({**leaving, **staying})
    asks, begins, cuts, goes = (list[exp.Expr]() for _ in range(4))
    for numbers in (asks, begins, cuts):
        numbers.extend(exp.Null() for _ in range(first, last + 1))
    for node in sorted({**leaving, **staying}):
        at = node - first
        begins[at] = whole(len(goes))
        if node not in leaving:
            asks[at] = whole(STAYS)
            goes.append(whole(staying[node]))
            continue
        route, children = leaving[node]
        index = route.split.attribute
        asks[at] = whole(index)
        if isinstance(route.split, Threshold) and attribute(index).kind == "numeric":
            cuts[at] = bound(float(route.split.threshold))
            sides: Sequence[int] = (0, 1)
        else:
            codes = np.arange(len(attribute(index).values))
            sides = route.split.branch_of(codes).tolist()
        absent = (
            route.split.missing
            if route.default_branch is None
            else route.default_branch
        )
        branches = [absent if side == NOWHERE else side for side in (*sides, NOWHERE)]
        goes += [
            exp.Null() if branch is None else whole(children.get(branch, nowhere))
            for branch in branches
        ]
    place = _place(engine, asks, cuts, first, attribute)
    return engine.item(goes, total_of([engine.item(begins, _at(first)), place]))


def _is_simple(route: Route) -> bool:
    """Return whether a split alone says where rows go, by one cut or by codes."""
    return not route.surrogates and not isinstance(route.split, Intervals)


def _place(
    engine: SqlEngine,
    asks: Sequence[exp.Expr],
    cuts: Sequence[exp.Expr],
    first: int,
    attribute: Callable[[int], Attribute],
) -> exp.Expr:
    """Return the place of a row at its node."""
    whens: list[tuple[exp.Expr, exp.Expr]] = [(whole(STAYS), whole(0))]
    asked = {int(each.this) for each in asks if isinstance(each, exp.Literal)}
    for index in sorted(asked):
        cell = f"a{index}"
        if attribute(index).kind == "numeric":
            cut = engine.item([each.copy() for each in cuts], _at(first))
            below = exp.LTE(this=column(cell), expression=cut)
            place: exp.Expr = case(
                (nothing(column(cell)), whole(ABSENT)),
                (below, whole(LEFT)),
                otherwise=whole(RIGHT),
            )
        else:
            n_codes = len(attribute(index).values)
            place = first_known([column(cell), whole(n_codes)])
        whens.append((whole(index), place))
    return case(*whens, of=engine.item(asks, _at(first)))


def _at(first: int) -> exp.Expr:
    """Return where a line's node stands in lists that begin with the first one."""
    return exp.Paren(this=exp.Sub(this=column("node"), expression=whole(first)))
