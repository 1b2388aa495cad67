"""The state of a tree for updates: rows, count tables and outcomes of nodes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from spinney.extensions.incremental.table_change import NO_ROWS, WeighedRows
from spinney.growth.plain.growing_nodes import NodeOutcome
from spinney.search import Search
from spinney.trees import Route, Split, TableBatch


@dataclass(frozen=True, slots=True, eq=False)
class NodeState:
    """The state of a node of an earlier tree.

    Parameters
    ----------
    members : WeighedRows
        The rows of the node.
    attributes : tuple of int
        The attributes that may split the node.
    outcome : NodeOutcome, optional
        The result of the search at the node.
    tables : TableBatch, optional
        The count tables of the attributes; None for few rows.
    agreement : tuple of Split and TableBatch, optional
        The node's split and the agreement of other attributes, for surrogates.
    route : Route, optional
        The route of the rows to the children.
    children : mapping of int to NodeState
        The children that may be split, by branch.
    """

    members: WeighedRows
    attributes: tuple[int, ...] = ()
    outcome: NodeOutcome | None = None
    tables: TableBatch | None = None
    agreement: tuple[Split, TableBatch] | None = None
    route: Route | None = None
    children: "Mapping[int, NodeState]" = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class TreeState:
    """The state of a tree: its root, its search, and the totals as a table."""

    root: NodeState
    search: Search | None
    totals: TableBatch


class ChildMatcher:
    """Finds the earlier child that had most of some rows."""

    def __init__(self, children: Mapping[int, NodeState]) -> None:
        self._children = list(children.values())
        parts = [child.members.rows for child in self._children]
        rows = np.concatenate([NO_ROWS.rows, *parts])
        order = np.argsort(rows, kind="stable")
        owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        self._rows, self._owner = rows[order], owner[order]

    def find(self, members: WeighedRows) -> NodeState | None:
        """Return the child that had most of the rows; None if no child had any."""
        if not len(self._rows):
            return None
        places = np.searchsorted(self._rows, members.rows)
        places = np.minimum(places, len(self._rows) - 1)
        owner = self._owner[places[self._rows[places] == members.rows]]
        if not len(owner):
            return None
        return self._children[int(np.bincount(owner).argmax())]
