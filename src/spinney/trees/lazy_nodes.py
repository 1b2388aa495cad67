"""Nodes that are made of arrays when somebody looks at them."""

from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, overload

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.data import Schema
from spinney.trees.candidate_arrays import CandidateArrays, arrays_of_candidates
from spinney.trees.costs import labels_of
from spinney.trees.split import Route, Split, Surrogate
from spinney.trees.tree import Candidate, Node, Reason, Tree
from spinney.trees.tree_arrays import Links, TreeArrays, arrays_of_nodes


class LazyNodes(Sequence[Node]):
    """Nodes in printing order, each made when it is first asked for, and then kept.

    Whoever has a tree as arrays says what those are, outputs and shares included, and
    what the candidates of a node are.
    """

    schema: Schema
    _made: dict[int, Node]

    @abstractmethod
    def _arrays(self) -> TreeArrays:
        """Return the whole tree."""

    @abstractmethod
    def candidates(self, number: int) -> tuple[Sequence[Candidate], int | None]:
        """Return the candidates of a node, and which of them won."""

    def candidate_arrays(self) -> CandidateArrays:
        """Return the candidates of all nodes; whoever has them as arrays makes none."""
        every = map(self.candidates, range(len(self)))
        return arrays_of_candidates(every, self.schema.target)

    def recounted(self, training: Any) -> "LazyNodes | None":
        """Return the nodes counted on the true classes of their rows.

        None where that is for others to do. ``training`` is a ``TrainingSet``.
        """
        del training
        return None

    @cached_property
    def arrays(self) -> TreeArrays:
        """The whole tree, to predict from or to look at."""
        return self._arrays()

    @cached_property
    def links(self) -> Links:
        """The children of all nodes, their branches and depths."""
        return self.arrays.links()

    @cached_property
    def labels(self) -> Integers:
        """The label of each node."""
        assert self.arrays.outputs is not None
        return labels_of(self.arrays.outputs, self.schema.target.costs)

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.arrays)

    def children(self, number: int) -> tuple[int, ...]:
        """Return the numbers of a node's children."""
        first, count = self.links.first[number], self.links.count[number]
        return tuple(self.links.children[first : first + count].tolist())

    def split(self, number: int) -> Split:
        """Return what an inner node asks."""
        assert self.arrays.shares is not None
        first, count = self.links.first[number], int(self.links.count[number])
        return self.arrays.split(
            number,
            n_branches=count,
            shares=tuple(self.arrays.shares[first : first + count].tolist()),
            missing=_or_none(int(self.arrays.missing[number])),
        )

    def route(self, number: int) -> Route:
        """Return how rows leave an inner node."""
        return Route(
            self.split(number), self._surrogates(number), self._otherwise(number)
        )

    def _otherwise(self, number: int) -> int | None:
        otherwise = self.arrays.otherwise
        return None if otherwise is None else _or_none(int(otherwise[number]))

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
            children=self.children(number),
            reason=Reason.of_code(int(arrays.reason[number])),
            forced=arrays.forced is not None and bool(arrays.forced[number]),
            model=None if arrays.models is None else arrays.models.model(number),
            surrogates=self._surrogates(number),
            otherwise=self._otherwise(number),
        )

    def _surrogates(self, number: int) -> tuple[Surrogate, ...]:
        surrogates = self.arrays.surrogates
        if surrogates is None:
            return ()
        first, count = surrogates.first[number], surrogates.count[number]
        return tuple(map(surrogates.surrogate, range(first, first + count)))

    @overload
    def __getitem__(self, number: int) -> Node: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Node, ...]: ...
    def __getitem__(self, number: int | slice) -> Node | tuple[Node, ...]:
        """Return a node, or some."""
        if isinstance(number, slice):
            return tuple(self[each] for each in range(*number.indices(len(self))))
        index = range(len(self))[number]
        if index not in self._made:
            self._made[index] = self._node(index)
        return self._made[index]

    def __iter__(self) -> Iterator[Node]:
        """Walk the nodes."""
        return (self[number] for number in range(len(self)))


@dataclass(frozen=True, eq=False)
class FormerNodes(LazyNodes):
    """Nodes of a tree that was made of another: what they asked for is as it was.

    ``numbers`` are those that they had among the ``former`` nodes.
    """

    tree: TreeArrays
    schema: Schema
    former: Sequence[Node]
    numbers: Integers
    _made: dict[int, Node] = field(default_factory=dict, repr=False)

    def _arrays(self) -> TreeArrays:
        """Return the whole tree."""
        return self.tree

    def candidates(self, number: int) -> tuple[Sequence[Candidate], int | None]:
        """Return the candidates of a node; of what is a leaf now none has won."""
        former = int(self.numbers[number])
        if isinstance(self.former, LazyNodes):
            candidates, chosen = self.former.candidates(former)
        else:
            node = self.former[former]
            candidates, chosen = node.candidates, node.chosen
        return candidates, chosen if self.tree.attribute[number] >= 0 else None

    def candidate_arrays(self) -> CandidateArrays:
        """Return the candidates of all nodes."""
        if not isinstance(self.former, LazyNodes):
            return super().candidate_arrays()
        return self.former.candidate_arrays().of_nodes(self.numbers, self.tree.inner)


def cut(tree: Tree, numbers: Collection[int], reason: Reason = Reason.PRUNED) -> Tree:
    """Return the tree with these nodes as leaves, and nothing below them.

    The counts and candidates of a cut node are kept; its ``reason`` is given.
    """
    smaller, kept = arrays_of(tree).cut_back(numbers, reason)
    nodes = FormerNodes(smaller, tree.schema, tree.nodes, kept)
    return Tree(tree.schema, nodes)


def labels_of_nodes(tree: Tree) -> Integers:
    """Return the label of each node."""
    nodes = lazy_nodes_of(tree)
    return np.array([n.label for n in tree]) if nodes is None else nodes.labels


def values_of_nodes(tree: Tree) -> Floats:
    """Return the number that each node predicts, of a numeric target.

    Models of leaves do not enter.
    """
    outputs = arrays_of(tree).outputs
    assert outputs is not None
    return outputs[:, 0]


def route_of(tree: Tree, number: int) -> Route:
    """Return how rows leave an inner node."""
    nodes = lazy_nodes_of(tree)
    route = tree.nodes[number].route if nodes is None else nodes.route(number)
    assert route is not None
    return route


def children_of_nodes(tree: Tree) -> list[tuple[int, ...]]:
    """Return the numbers of the children of each node."""
    nodes = lazy_nodes_of(tree)
    if nodes is None:
        return [node.children for node in tree]
    children, first = nodes.links.children.tolist(), nodes.links.first.tolist()
    pairs = pairwise([*first, len(children)])
    return [tuple(children[one:other]) for one, other in pairs]


def lazy_nodes_of(tree: Tree) -> LazyNodes | None:
    """Return the nodes of a tree that is arrays; None where they have been made."""
    return tree.nodes if isinstance(tree.nodes, LazyNodes) else None


def arrays_of(tree: Tree) -> TreeArrays:
    """Return a tree as arrays; where it has been arrays before, no node is made."""
    nodes = lazy_nodes_of(tree)
    return arrays_of_nodes(tree) if nodes is None else nodes.arrays


def candidate_arrays_of(tree: Tree) -> CandidateArrays:
    """Return the candidates of all nodes as arrays."""
    nodes = lazy_nodes_of(tree)
    if nodes is not None:
        return nodes.candidate_arrays()
    every = ((node.candidates, node.chosen) for node in tree)
    return arrays_of_candidates(every, tree.schema.target)


def _or_none(number: int) -> int | None:
    return None if number < 0 else number
