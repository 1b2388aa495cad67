"""Routes as SQL over columns a0, a1 …: the branch that a row takes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlglot import exp

from spinney.data import Attribute
from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.trees import Intervals, Route, Split, Surrogate, Threshold

DROPPED = -1
"""The node number of dropped rows."""


@dataclass(frozen=True, slots=True)
class SqlRoutes:
    """Writes routes as expressions.

    ``attribute`` returns the attribute of an index, constructed ones included.
    """

    attribute: Callable[[int], Attribute]

    def sent(self, route: Route, children: Mapping[int, int]) -> exp.Expr:
        """Return the child that a row is sent to, NULL if the row is divided.

        Rows of a branch without child are dropped.
        """
        split = route.split
        if route.default_branch is not None:
            questions = (split, *route.surrogates)
            targets = [self.branch(question, children) for question in questions]
            fallback = sql.integer(children.get(route.default_branch, DROPPED))
            return sql.coalesce([*targets, fallback])
        if_missing: exp.Expr = exp.Null()
        if split.missing is not None:
            if_missing = sql.integer(children.get(split.missing, DROPPED))
        return self._branch_case(
            split, list(range(split.n_branches)), children, if_missing
        )

    def branch(
        self, question: Split | Surrogate, children: Mapping[int, int] | None = None
    ) -> exp.Expr:
        """Return the branch of a row by a question, NULL if its value is unknown.

        With ``children``, return the child of this branch instead.
        """
        if isinstance(question, Surrogate):
            split, branches = question.split, list(map(question.own_branch, (0, 1)))
        else:
            split, branches = question, list(range(question.n_branches))
        return self._branch_case(split, branches, children, exp.Null())

    def _branch_case(
        self,
        split: Split,
        branches: list[int],
        children: Mapping[int, int] | None,
        if_missing: exp.Expr,
    ) -> exp.Case:
        """Return a CASE of the children, or branches, of a split.

        A value without a branch, which had no rows in training, is treated as missing.
        """
        whens: list[tuple[exp.Expr, exp.Expr]] = [
            (sql.is_null(sql.column(f"a{split.attribute}")), if_missing)
        ]
        for branch, side in enumerate(branches):
            target = branch if children is None else children.get(branch, DROPPED)
            whens.append((self._takes_branch(split, side), sql.integer(target)))
        return sql.case(*whens, default=if_missing)

    def _takes_branch(self, split: Split, branch: int) -> exp.Expr:
        """Return the condition that a row with a known value takes a branch."""
        cell, attribute = (
            sql.column(f"a{split.attribute}"),
            self.attribute(split.attribute),
        )
        if isinstance(split, Intervals):
            return _in_interval(split.attribute, *split.bounds(branch))
        if isinstance(split, Threshold) and attribute.kind == "numeric":
            comparison = exp.GT if branch else exp.LTE
            return comparison(this=cell, expression=sql.param(float(split.threshold)))
        branches = split.branch_of(np.arange(len(attribute.values)))
        return sql.is_in(cell, np.flatnonzero(branches == branch).tolist())


def _in_interval(index: int, low: float, high: float) -> exp.Expr:
    """Return the condition that a value lies in (low, high]; both may be infinite."""
    if low == np.inf:
        return exp.false()
    parts: list[exp.Expr] = []
    if low != -np.inf:
        parts.append(
            exp.GT(this=sql.column(f"a{index}"), expression=sql.param(float(low)))
        )
    if high != np.inf:
        parts.append(
            exp.LTE(this=sql.column(f"a{index}"), expression=sql.param(float(high)))
        )
    return sql.all_of(parts)


LEFT, RIGHT, MISSING = range(3)
"""The list positions of a row at a node with a threshold."""
STAYS = -1
"""The constant condition of nodes whose rows have one list position."""

Children = Mapping[int, int]


def child_by_lists(
    engine: SqlEngine,
    leaving: Mapping[int, tuple[Route, Children]],
    staying: Mapping[int, int],
    *,
    attribute: Callable[[int], Attribute],
) -> exp.Expr | None:
    """Return the next node of a line, NULL if the line is divided.

    ``leaving`` are routes and the nodes of their branches, by node; lines of other
    branches are dropped. Returns None if a route cannot be written as lists.
    """
    for route, _ in leaving.values():
        if route.surrogates or isinstance(route.split, Intervals):
            return None  # lists hold one threshold per node, or codes
    first, last = min({**leaving, **staying}), max({**leaving, **staying})
    attributes, starts, cuts, targets = (list[exp.Expr]() for _ in range(4))
    for numbers in (attributes, starts, cuts):
        numbers.extend(exp.Null() for _ in range(first, last + 1))
    for node in sorted({**leaving, **staying}):
        position = node - first
        starts[position] = sql.integer(len(targets))
        if node not in leaving:
            attributes[position] = sql.integer(STAYS)
            targets.append(sql.integer(staying[node]))
            continue
        route, children = leaving[node]
        index = route.split.attribute
        attributes[position] = sql.integer(index)
        if isinstance(route.split, Threshold) and attribute(index).kind == "numeric":
            cuts[position] = sql.param(float(route.split.threshold))
            sides: Sequence[int] = (0, 1)
        else:
            codes = np.arange(len(attribute(index).values))
            sides = route.split.branch_of(codes).tolist()
        fallback = route.fallback_branch
        branches = [fallback if side == DROPPED else side for side in (*sides, DROPPED)]
        targets += [
            exp.Null() if branch is None else sql.integer(children.get(branch, DROPPED))
            for branch in branches
        ]
    place = _side_position(engine, attributes, cuts, first, attribute)
    return engine.item(
        targets, sql.add([engine.item(starts, _list_position(first)), place])
    )


def _side_position(
    engine: SqlEngine,
    attributes: Sequence[exp.Expr],
    cuts: Sequence[exp.Expr],
    first: int,
    attribute: Callable[[int], Attribute],
) -> exp.Expr:
    """Return the list position of a row at its node."""
    whens: list[tuple[exp.Expr, exp.Expr]] = [(sql.integer(STAYS), sql.integer(0))]
    used = {int(each.this) for each in attributes if isinstance(each, exp.Literal)}
    for index in sorted(used):
        cell = f"a{index}"
        if attribute(index).kind == "numeric":
            cut = engine.item([each.copy() for each in cuts], _list_position(first))
            below = exp.LTE(this=sql.column(cell), expression=cut)
            place: exp.Expr = sql.case(
                (sql.is_null(sql.column(cell)), sql.integer(MISSING)),
                (below, sql.integer(LEFT)),
                default=sql.integer(RIGHT),
            )
        else:
            n_codes = len(attribute(index).values)
            place = sql.coalesce([sql.column(cell), sql.integer(n_codes)])
        whens.append((sql.integer(index), place))
    return sql.case(*whens, subject=engine.item(attributes, _list_position(first)))


def _list_position(first: int) -> exp.Expr:
    """Return the position of a line's node in lists that start with node ``first``."""
    return exp.Paren(
        this=exp.Sub(this=sql.column("node"), expression=sql.integer(first))
    )
