"""Nodes that are made from arrays on first access."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, overload

import numpy as np

from spinney._support.arrays import Integers
from spinney.data import Schema
from spinney.trees.candidate_arrays import CandidateArrays, arrays_of_candidates
from spinney.trees.costs import labels_of
from spinney.trees.node import Candidate, Node, Reason
from spinney.trees.split import Route, Surrogate
from spinney.trees.tree_arrays import Links, TreeArrays, arrays_of_nodes


class LazyNodes(Sequence[Node]):
    """Nodes in printing order, each made on first access, and then cached.

    A subclass provides the arrays, with outputs and proportions. It also provides the
    candidates, of one node or of all as arrays: the other form follows.
    """

    schema: Schema

    @abstractmethod
    def _arrays(self) -> TreeArrays:
        """Return the whole tree."""

    def candidates(self, number: int) -> tuple[Sequence[Candidate], int | None]:
        """Return the candidates of a node, and the index of the winner."""
        return self.candidate_arrays.at_node(number, self.schema)

    def _candidate_arrays(self) -> CandidateArrays:
        """Return the candidates of all nodes."""
        every = map(self.candidates, range(len(self)))
        return arrays_of_candidates(every, self.schema.target)

    def recounted(self, training: Any) -> "LazyNodes | None":
        """Return the nodes counted on the true classes of their rows.

        None means that the caller must count them. ``training`` is a ``TrainingSet``.
        """
        del training
        return None

    @cached_property
    def arrays(self) -> TreeArrays:
        """The whole tree as arrays."""
        return self._arrays()

    @cached_property
    def candidate_arrays(self) -> CandidateArrays:
        """The candidates of all nodes."""
        return self._candidate_arrays()

    @cached_property
    def links(self) -> Links:
        """The children of all nodes, their branches and depths."""
        return self.arrays.links()

    @cached_property
    def labels(self) -> Integers:
        """The label of each node."""
        assert self.arrays.outputs is not None
        return labels_of(self.arrays.outputs, self.schema.target.costs)

    @cached_property
    def children(self) -> list[tuple[int, ...]]:
        """The numbers of the children of each node."""
        children, first = self.links.children.tolist(), self.links.first.tolist()
        pairs = pairwise([*first, len(children)])
        return [tuple(children[start:end]) for start, end in pairs]

    def route(self, number: int) -> Route:
        """Return the routes of rows at an inner node."""
        split = self.arrays.split(number)
        return Route(split, self._surrogates(number), self._default_branch(number))

    def _default_branch(self, number: int) -> int | None:
        default = self.arrays.default_branch
        return None if default is None else _or_none(int(default[number]))

    def _node(self, number: int) -> Node:
        """Make a node."""
        arrays, links = self.arrays, self.links
        assert arrays.outputs is not None
        candidates, chosen = self.candidates(number)
        return Node(
            number=number,
            parent=_or_none(int(arrays.parent[number])),
            branch=int(links.branch[number]),
            depth=int(links.depth[number]),
            weights=np.asarray(arrays.weights[number], np.float64),
            n_rows=int(arrays.rows[number]),
            distribution=arrays.outputs[number],
            label=int(self.labels[number]),
            candidates=candidates,
            chosen=chosen,
            children=self.children[number],
            reason=Reason.of_code(int(arrays.reason[number])),
            forced=arrays.forced is not None and bool(arrays.forced[number]),
            model=None if arrays.models is None else arrays.models.model(number),
            surrogates=self._surrogates(number),
            default_branch=self._default_branch(number),
        )

    def _surrogates(self, number: int) -> tuple[Surrogate, ...]:
        surrogates = self.arrays.surrogates
        if surrogates is None:
            return ()
        first, count = surrogates.first[number], surrogates.count[number]
        return tuple(map(surrogates.surrogate, range(first, first + count)))

    @cached_property
    def _cache(self) -> dict[int, Node]:
        return {}

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.arrays)

    @overload
    def __getitem__(self, number: int) -> Node: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Node, ...]: ...
    def __getitem__(self, number: int | slice) -> Node | tuple[Node, ...]:
        """Return a node, or some."""
        if isinstance(number, slice):
            return tuple(self[index] for index in range(*number.indices(len(self))))
        index = range(len(self))[number]
        if index not in self._cache:
            self._cache[index] = self._node(index)
        return self._cache[index]

    def __iter__(self) -> Iterator[Node]:
        """Walk the nodes."""
        return (self[number] for number in range(len(self)))


@dataclass(frozen=True, eq=False)
class ArrayNodes(LazyNodes):
    """Nodes of a tree whose candidates are arrays, as in model files."""

    tree: TreeArrays
    schema: Schema
    found: CandidateArrays

    def _arrays(self) -> TreeArrays:
        return self.tree

    def _candidate_arrays(self) -> CandidateArrays:
        return self.found


@dataclass(frozen=True, eq=False)
class ExplicitNodes(LazyNodes):
    """Nodes that exist already, as in a tree that was changed node by node."""

    schema: Schema
    nodes: tuple[Node, ...]

    def _arrays(self) -> TreeArrays:
        return arrays_of_nodes(self.nodes)

    def candidates(self, number: int) -> tuple[Sequence[Candidate], int | None]:
        """Return the candidates of a node, and the index of the winner."""
        return self.nodes[number].candidates, self.nodes[number].chosen

    @cached_property
    def links(self) -> Links:
        """The children of all nodes, with the branches and depths of the nodes."""
        branch, depth = np.array([(n.branch, n.depth) for n in self.nodes]).T
        return replace(self.arrays.links(), branch=branch, depth=depth)

    @cached_property
    def labels(self) -> Integers:
        """The label of each node."""
        return np.array([node.label for node in self.nodes])

    def _node(self, number: int) -> Node:
        return self.nodes[number]


@dataclass(frozen=True, eq=False)
class RenumberedNodes(LazyNodes):
    """Nodes of a tree that was cut from another, with the other tree's candidates.

    ``numbers`` are their numbers among the ``former`` nodes.
    """

    tree: TreeArrays
    schema: Schema
    former: LazyNodes
    numbers: Integers

    def _arrays(self) -> TreeArrays:
        return self.tree

    def candidates(self, number: int) -> tuple[Sequence[Candidate], int | None]:
        """Return the candidates of a node; a node that became a leaf has no winner."""
        candidates, chosen = self.former.candidates(int(self.numbers[number]))
        return candidates, chosen if self.tree.attribute[number] >= 0 else None

    def _candidate_arrays(self) -> CandidateArrays:
        return self.former.candidate_arrays.of_nodes(self.numbers, self.tree.inner)


def _or_none(number: int) -> int | None:
    return None if number < 0 else number
