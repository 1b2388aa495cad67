"""Nodes that are made when somebody looks at them."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

from spinney.trees.tree import Node

if TYPE_CHECKING:
    from spinney.trees.predict.flat_tree import FlatTree


class LazyNodes(Sequence[Node]):
    """Nodes in printing order, each made when it is first asked for, and then kept."""

    _made: dict[int, Node]

    @abstractmethod
    def _node(self, place: int) -> Node:
        """Make a node."""

    def arrays(self) -> "FlatTree | None":
        """Return the tree as arrays to predict from, where no node has to be made."""
        return None

    @overload
    def __getitem__(self, number: int) -> Node: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Node, ...]: ...
    def __getitem__(self, number: int | slice) -> Node | tuple[Node, ...]:
        """Return a node, or some."""
        if isinstance(number, slice):
            return tuple(self[place] for place in range(*number.indices(len(self))))
        place = range(len(self))[number]
        if place not in self._made:
            self._made[place] = self._node(place)
        return self._made[place]

    def __iter__(self) -> Iterator[Node]:
        """Walk the nodes."""
        return (self[place] for place in range(len(self)))
