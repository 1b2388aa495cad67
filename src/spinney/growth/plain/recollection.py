"""What was found at nodes before, for a tree that is grown again.

A source that remembers an earlier tree knows at which nodes nothing has changed. The
learner asks for what was found there, and searches at the others.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from spinney.search import Decision, Search
from spinney.trees import CountTable, Route


@dataclass(frozen=True, slots=True, eq=False)
class NodeOutcome:
    """What came of a node: its decision, and how its rows leave it, if they do."""

    decision: Decision
    route: Route | None = None
    routed: CountTable | None = None


@runtime_checkable
class Memory(Protocol):
    """What a source answers that remembers an earlier tree."""

    def recall(
        self, node: int, attributes: tuple[int, ...], search: Search
    ) -> NodeOutcome | None:
        """Return what was found at a node, if the same would be found again."""
        ...

    def remember(
        self, node: int, attributes: tuple[int, ...], found: NodeOutcome, search: Search
    ) -> None:
        """Take note of what was found at a node."""
        ...
