"""Lines of counts, as engines give them, and the tables that they make."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import starts_of
from spinney.sources.sql.engines.sql_engine import floats, integers
from spinney.trees import TableStack


@dataclass(frozen=True, slots=True, eq=False)
class CountedLines:
    """Lines of an answer: rows and amounts by attribute, node, column and value.

    ``value`` is NaN where it is missing. ``amounts`` are one weight in its ``column``,
    or the moments of a number.
    """

    attribute: Integers
    node: Integers
    column: Integers
    rows: Integers
    amounts: Floats
    value: Floats

    @classmethod
    def read(
        cls, answer: Sequence[Sequence[Any]], attributes: Sequence[int], *, by: bool
    ) -> "CountedLines":
        """Read an answer; ``by`` says that it has a column beside the node."""
        which, node, *rest = answer
        column, (rows, *amounts, value) = (rest[0], rest[1:]) if by else (None, rest)
        attribute = np.asarray(attributes, dtype=np.int64)[integers(which)]
        return cls(
            attribute,
            integers(node),
            np.zeros_like(attribute) if column is None else integers(column),
            integers(rows),
            np.array([floats(each) for each in amounts]).T.reshape(len(attribute), -1),
            floats(value),
        )

    @classmethod
    def joined(cls, parts: Sequence["CountedLines"]) -> "CountedLines":
        """Return the lines of several answers."""
        if len(parts) == 1:
            return parts[0]
        names = ("attribute", "node", "column", "rows", "amounts", "value")
        return cls(*(np.concatenate([getattr(p, n) for p in parts]) for n in names))

    def put(
        self,
        weights: Floats,
        counts: Integers,
        lines: NDArray[Any] | slice,
        at: NDArray[Any] | int,
    ) -> None:
        """Put the rows and amounts of some lines at places of arrays."""
        _put(
            weights,
            counts,
            at,
            self.column[lines],
            self.rows[lines],
            self.amounts[lines],
        )

    def stack(
        self, requests: Sequence[tuple[int, Sequence[int]]], width: int, n_outputs: int
    ) -> TableStack:
        """Return the tables that are requested: some attributes of each node.

        Each has so many columns of weights, and of rows.
        """
        node = np.repeat(np.arange(len(requests)), [len(each) for _, each in requests])
        wanted = [sorted(attributes) for _, attributes in requests]
        attribute = np.array([i for each in wanted for i in each], dtype=np.int64)
        most = 1 + max(attribute.max(initial=0), self.attribute.max(initial=0))
        numbers = np.array([number for number, _ in requests], dtype=np.int64)
        keys = numbers[node] * most + attribute
        order = np.argsort(keys, kind="stable")
        own = self.node * most + self.attribute
        at = np.searchsorted(keys[order], own)
        asked = at < len(keys)
        asked[asked] = keys[order][at[asked]] == own[asked]
        table = order[at[asked]]
        lines = (table, self.value[asked], self.column[asked], self.rows[asked])
        return _stacked(
            *lines, self.amounts[asked], node, attribute, width=width, n=n_outputs
        )


def _stacked(
    table: Integers,
    value: Floats,
    column: Integers,
    rows: Integers,
    amounts: Floats,
    node: Integers,
    attribute: Integers,
    *,
    width: int,
    n: int,
) -> TableStack:
    """Return the stack of lines whose tables are known."""
    missing = np.zeros((len(node), width))
    missing_rows = np.zeros((len(node), n), dtype=np.int64)
    absent = np.isnan(value)
    _put(
        missing,
        missing_rows,
        table[absent],
        column[absent],
        rows[absent],
        amounts[absent],
    )
    known = np.flatnonzero(~absent)
    order = known[np.lexsort((value[known], table[known]))]
    table, value, column = table[order], value[order], column[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (table[1:] != table[:-1]) | (value[1:] != value[:-1])
    line = np.cumsum(first) - 1
    weights = np.zeros((np.count_nonzero(first), width))
    counts = np.zeros((len(weights), n), dtype=np.int64)
    _put(weights, counts, line, column, rows[order], amounts[order])
    lengths = np.bincount(table[first], minlength=len(node))
    return TableStack(
        node,
        attribute,
        starts_of(lengths),
        value[first],
        weights,
        counts,
        missing,
        missing_rows,
    )


def _put(
    weights: Floats,
    counts: Integers,
    at: NDArray[Any] | int,
    column: Integers,
    rows: Integers,
    amounts: Floats,
) -> None:
    """Put rows and amounts at lines and columns; no two are in one cell."""
    counts[at, column] = rows
    if amounts.shape[1] == 1:
        weights[at, column] = amounts[:, 0]
    else:
        weights[at] = amounts
