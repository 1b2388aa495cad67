"""How rows leave nodes, as SQL over columns a0, a1 …: the branch that a row takes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlglot import exp

from spinney.data import Attribute
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.extensions.databases.expressions import (
    both,
    bound,
    case,
    column,
    first_known,
    nothing,
    one_of,
    total_of,
    whole,
)
from spinney.trees import Intervals, Route, Split, Surrogate, Threshold

DROPPED = -1
"""The node of rows that nobody asks about."""


@dataclass(frozen=True, slots=True)
class SqlRoutes:
    """Writes routes as expressions.

    ``attribute`` says what stands at a place, formulas included.
    """

    attribute: Callable[[int], Attribute]

    def sent(self, route: Route, children: Mapping[int, int]) -> exp.Expr:
        """Return the child that a row is sent to, NULL if it is divided.

        A branch that is not among the children leads nowhere.
        """
        split = route.split
        if route.default_branch is not None:
            questions = (split, *route.surrogates)
            goes = [self.branch(question, children) for question in questions]
            last = whole(children.get(route.default_branch, DROPPED))
            return first_known([*goes, last])
        absent: exp.Expr = exp.Null()
        if split.missing is not None:
            absent = whole(children.get(split.missing, DROPPED))
        return self._cases(split, list(range(split.n_branches)), children, absent)

    def branch(
        self, question: Split | Surrogate, children: Mapping[int, int] | None = None
    ) -> exp.Expr:
        """Return the branch that a question sends a row to, NULL if it knows none.

        With ``children``, it is the child instead.
        """
        if isinstance(question, Surrogate):
            split, own = question.split, list(map(question.own_branch, (0, 1)))
        else:
            split, own = question, list(range(question.n_branches))
        return self._cases(split, own, children, exp.Null())

    def _cases(
        self,
        split: Split,
        own: list[int],
        children: Mapping[int, int] | None,
        absent: exp.Expr,
    ) -> exp.Case:
        """Return the child, or the branch, for each side that a split has.

        A value that is on no side, as it had no rows when the split was found, is as
        good as missing.
        """
        whens: list[tuple[exp.Expr, exp.Expr]] = [
            (nothing(column(f"a{split.attribute}")), absent)
        ]
        for branch, side in enumerate(own):
            goes = branch if children is None else children.get(branch, DROPPED)
            whens.append((self._taken(split, side), whole(goes)))
        return case(*whens, otherwise=absent)

    def _taken(self, split: Split, branch: int) -> exp.Expr:
        """Return whether a row whose value is known takes a branch."""
        cell, attribute = column(f"a{split.attribute}"), self.attribute(split.attribute)
        if isinstance(split, Intervals):
            return _between(split.attribute, *split.bounds(branch))
        if isinstance(split, Threshold) and attribute.kind == "numeric":
            compared = exp.GT if branch else exp.LTE
            return compared(this=cell, expression=bound(float(split.threshold)))
        goes = split.branch_of(np.arange(len(attribute.values)))
        return one_of(cell, np.flatnonzero(goes == branch).tolist())


def _between(index: int, low: float, high: float) -> exp.Expr:
    """Return the condition of an interval (low, high]; nothing is above ∞."""
    if low == np.inf:
        return exp.false()
    parts: list[exp.Expr] = []
    if low != -np.inf:
        parts.append(exp.GT(this=column(f"a{index}"), expression=bound(float(low))))
    if high != np.inf:
        parts.append(exp.LTE(this=column(f"a{index}"), expression=bound(float(high))))
    return both(parts)


LEFT, RIGHT, ABSENT = range(3)
"""The places of a row at a node that asks for a number."""
STAYS = -1
"""What nodes ask whose rows have one place only."""

Children = Mapping[int, int]


def child_by_lists(
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
    for route, _ in leaving.values():
        if route.surrogates or isinstance(route.split, Intervals):
            return None  # lists hold one cut, or codes
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
        branches = [absent if side == DROPPED else side for side in (*sides, DROPPED)]
        goes += [
            exp.Null() if branch is None else whole(children.get(branch, nowhere))
            for branch in branches
        ]
    place = _place(engine, asks, cuts, first, attribute)
    return engine.item(goes, total_of([engine.item(begins, _at(first)), place]))


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
