"""How rows leave nodes, as SQL over columns a0, a1 …: the branch that a row takes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from sqlglot import exp

from spinney.data import Attribute
from spinney.extensions.databases.expressions import (
    both,
    bound,
    case,
    column,
    first_known,
    nothing,
    one_of,
    whole,
)
from spinney.trees import Intervals, Route, Split, Surrogate, Threshold

NOWHERE = -1
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
            last = whole(children.get(route.default_branch, NOWHERE))
            return first_known([*goes, last])
        absent: exp.Expr = exp.Null()
        if split.missing is not None:
            absent = whole(children.get(split.missing, NOWHERE))
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
            goes = branch if children is None else children.get(branch, NOWHERE)
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
