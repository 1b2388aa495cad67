"""An earlier tree: rows, count tables and what was found, node by node."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from spinney.extensions.incremental.table_change import NOBODY, WeighedRows
from spinney.growth.plain.growing_nodes import NodeOutcome
from spinney.search import Search
from spinney.trees import Route, Split, TableBatch


@dataclass(frozen=True, slots=True, eq=False)
class NodeState:
    """A node of an earlier tree.

    Parameters
    ----------
    members : WeighedRows
        Its rows.
    attributes : tuple of int
        Those that it might ask about.
    found : NodeOutcome, optional
        What came of it.
    tables : TableBatch, optional
        Those of its attributes, where it has more than a few rows.
    agreed : tuple of Split and TableBatch, optional
        How the others agree with what it asks, where surrogates were sought.
    sent : Route, optional
        How its rows were sent to its children.
    children : mapping of int to NodeState
        Those that might be split, by branch.
    """

    members: WeighedRows
    attributes: tuple[int, ...] = ()
    found: NodeOutcome | None = None
    tables: TableBatch | None = None
    agreed: tuple[Split, TableBatch] | None = None
    sent: Route | None = None
    children: "Mapping[int, NodeState]" = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class TreeState:
    """An earlier tree: its root, what all rows say, and their totals as a table."""

    root: NodeState
    search: Search | None
    totals: TableBatch


class ChildrenBefore:
    """Which of the children before had most of some rows."""

    def __init__(self, children: Mapping[int, NodeState]) -> None:
        self._children = list(children.values())
        parts = [child.members.rows for child in self._children]
        rows = np.concatenate([NOBODY.rows, *parts])
        order = np.argsort(rows, kind="stable")
        owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        self._rows, self._owner = rows[order], owner[order]

    def had_most_of(self, members: WeighedRows) -> NodeState | None:
        """Return the child that had most of them, None where none had any."""
        if not len(self._rows):
            return None
        at = np.searchsorted(self._rows, members.rows)
        at = np.minimum(at, len(self._rows) - 1)
        owner = self._owner[at[self._rows[at] == members.rows]]
        if not len(owner):
            return None
        return self._children[int(np.bincount(owner).argmax())]
