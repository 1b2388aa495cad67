"""How rows leave nodes, as SQL: the branch of a row, and its part at a node."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spinney.data import Attribute
from spinney.data.duckdb import SqlColumn
from spinney.trees import Intervals, Route, Split, Surrogate, Threshold

Path = tuple[tuple[Route, int], ...]
Values = list[str | float]


@dataclass(frozen=True, slots=True)
class SqlRoutes:
    """Writes routes over columns a0, a1 … as SQL.

    ``attribute`` and ``column`` say what stands at a place, formulas included.
    ``mark`` gives what stands for a value in a statement, and notes it in a list if
    it is to be bound; so expressions must be written in the order of the statement.
    """

    attribute: Callable[[int], Attribute]
    column: Callable[[int], SqlColumn]
    mark: Callable[[str | float, Values], str]

    def part(self, path: Path, values: Values) -> str:
        """Return the part of its weight that a row has at the end of a path."""
        factors = [self._factor(route, branch, values) for route, branch in path]
        return " * ".join(["CAST(1 AS DOUBLE)", *factors])

    def _factor(self, route: Route, branch: int, values: Values) -> str:
        """Return the factor of one split: 1, the branch's share, or 0."""
        if route.otherwise is not None:
            goes = self.sent(route, values)
            return f"CASE WHEN {goes} = {branch} THEN 1 ELSE 0 END"
        split = route.split
        if split.missing is None:
            absent = self.mark(split.shares[branch], values)
        else:
            absent = "1" if split.missing == branch else "0"
        cell, taken = f"a{split.attribute}", self._taken(split, branch, values)
        return f"CASE WHEN {cell} IS NULL THEN {absent} WHEN {taken} THEN 1 ELSE 0 END"

    def sent(self, route: Route, values: Values) -> str:
        """Return the branch of a row by a route that sends every row somewhere."""
        questions = (route.split, *route.surrogates)
        goes = [self.branch(question, values) for question in questions]
        return f"COALESCE({', '.join(goes)}, {route.otherwise})"

    def branch(self, question: Split | Surrogate, values: Values) -> str:
        """Return the branch that a question sends a row to, NULL if it knows none."""
        if isinstance(question, Surrogate):
            split, own = question.split, list(map(question.own_branch, (0, 1)))
        else:
            split, own = question, list(range(question.n_branches))
        cases = " ".join(
            f"WHEN {self._taken(split, side, values)} THEN {branch}"
            for branch, side in enumerate(own)
        )
        return f"CASE WHEN a{split.attribute} IS NULL THEN NULL {cases} END"

    def _taken(self, split: Split, branch: int, values: Values) -> str:
        """Return whether a row whose value is known takes a branch."""
        cell, attribute = f"a{split.attribute}", self.attribute(split.attribute)
        if isinstance(split, Intervals):
            return self._between(cell, *split.bounds(branch), values)
        if isinstance(split, Threshold) and attribute.kind == "numeric":
            sign = ">" if branch else "<="
            return f"{cell} {sign} {self.mark(split.threshold, values)}"
        texts = self._texts_of(split, branch)
        marks = ", ".join(self.mark(text, values) for text in texts)
        return f"{cell} IN ({marks})" if texts else "false"

    def _between(self, cell: str, low: float, high: float, values: Values) -> str:
        """Return the condition of an interval (low, high]; nothing is above ∞."""
        if low == np.inf:
            return "false"
        parts = []
        if low != -np.inf:
            parts.append(f"{cell} > {self.mark(low, values)}")
        if high != np.inf:
            parts.append(f"{cell} <= {self.mark(high, values)}")
        return f"({' AND '.join(parts)})" if parts else "true"

    def _texts_of(self, split: Split, branch: int) -> list[str]:
        """Return the texts of the codes that take a branch."""
        column = self.column(split.attribute)
        levels = self.attribute(split.attribute).values
        goes = split.branch_of(np.arange(len(levels)))
        return [column.text(levels[code]) for code in np.flatnonzero(goes == branch)]
