"""Growing nodes, the arrays of their tree, and the cache of their outcomes.

A source that caches an earlier tree knows which nodes have not changed. The learner
takes their outcomes from the cache, and searches the other nodes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import Schema
from spinney.growth.growth_options import PlannedSplit
from spinney.growth.leaf_estimates import outputs_of_tree
from spinney.recipes import Recipe
from spinney.search import Decision, Search
from spinney.sources import Totals
from spinney.trees import (
    Candidate,
    CountTable,
    Groups,
    LazyNodes,
    Reason,
    Route,
    Split,
    Threshold,
    Tree,
    TreeArrays,
    arrays_of_winners,
    reason_codes,
    surrogate_arrays,
)


@dataclass(slots=True, eq=False)
class GrowingNode:
    """A node during growing.

    After its search a node has ``candidates``, the best split of each attribute. One of
    them is ``chosen``, or there is a reason for a leaf. ``key`` is the random key of
    the node; ``routed`` has the counts of its branches with surrogates.
    """

    number: int
    totals: Totals
    attributes: tuple[int, ...]
    depth: int = 0
    parent: "GrowingNode | None" = None
    branch: int = 0
    path: tuple[str, ...] = ()
    key: int = 0
    candidates: Sequence[Candidate] = ()
    chosen: int | None = None
    reason: Reason | None = None
    forced: bool = False
    plan: PlannedSplit | None = None
    route: Route | None = None
    routed: CountTable | None = None
    children: "list[GrowingNode]" = field(default_factory=list)

    def set_decision(self, decision: Decision) -> None:
        """Store the result of the node's search."""
        self.candidates, self.chosen = decision.candidates, decision.chosen
        self.reason = decision.reason

    @property
    def decision(self) -> Decision:
        """The result of the node's search."""
        return Decision(self.candidates, self.chosen, self.reason)

    @property
    def winner(self) -> Candidate:
        """The winning split with its counts."""
        assert self.chosen is not None
        return self.candidates[self.chosen]

    @property
    def is_open(self) -> bool:
        """Whether its best split is known."""
        return self.chosen is not None


def splits_above(node: GrowingNode) -> Iterator[tuple[Split, int]]:
    """Yield the splits above a node with the branches taken, nearest first."""
    while node.parent is not None:
        assert node.parent.route is not None
        yield node.parent.route.described, node.branch
        node = node.parent


def paid_above(node: GrowingNode) -> set[int]:
    """Return the attributes of the splits above a node, whose test costs are paid."""
    return {split.attribute for split, _ in splits_above(node)}


def is_multiway(split: Split) -> bool:
    """Return whether each branch has a single value or bucket."""
    if isinstance(split, Groups):
        return max(map(len, split.groups)) == 1
    return not isinstance(split, Threshold)


@dataclass(frozen=True, eq=False)
class PlainNodes(LazyNodes):
    """Nodes in printing order, each made on first access."""

    tree: TreeArrays
    schema: Schema
    by_node: tuple[tuple[Sequence[Candidate], int | None], ...]

    def _arrays(self) -> TreeArrays:
        return self.tree

    def candidates(self, number: int) -> tuple[Sequence[Candidate], int | None]:
        """Return the candidates of a node, and the index of the winner."""
        return self.by_node[number]


def finished_tree(root: GrowingNode, schema: Schema, recipe: Recipe) -> Tree:
    """Return the finished tree of growing nodes, numbered in printing order."""
    order: list[GrowingNode] = []
    stack = [root]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(reversed(node.children))
    tree = as_tree(order, schema, recipe)
    for node in order:  # in cycles their tables would stay until the next collection
        node.parent, node.children = None, []
    return tree


def as_tree(
    order: Sequence[GrowingNode],
    schema: Schema,
    recipe: Recipe,
    root_weights: Floats | None = None,
) -> Tree:
    """Return growing nodes as a tree; each node comes after its parent.

    If several nodes have no parent among them, the result is several packed trees. Then
    ``root_weights`` are the weights of all rows.
    """
    numbers = {id(node): number for number, node in enumerate(order)}
    routes = [node.route for node in order]
    surrogates = [() if route is None else route.surrogates for route in routes]
    default_branches = [
        -1 if route is None or route.default_branch is None else route.default_branch
        for route in routes
    ]
    parents = [numbers.get(id(node.parent), -1) for node in order]
    tree = TreeArrays(
        **arrays_of_winners([node.winner if node.children else None for node in order]),
        parent=np.array(parents, np.int32),
        weights=np.array([node.totals.weights for node in order]),
        rows=np.array([node.totals.n_rows for node in order], np.int64),
        reason=reason_codes(*(node.reason for node in order)),
        forced=np.array([node.forced for node in order], np.bool_),
        default_branch=np.array(default_branches, np.int32),
        surrogates=surrogate_arrays(surrogates) if any(surrogates) else None,
    )
    outputs = outputs_of_tree(tree, schema.target, recipe, root_weights)
    tree = replace(tree, outputs=outputs)
    by_node = tuple((node.candidates, node.chosen) for node in order)
    return Tree(schema, PlainNodes(tree, schema, by_node))


@dataclass(frozen=True, slots=True, eq=False)
class NodeOutcome:
    """The cached outcome of a node: its decision, and the routes of its rows."""

    decision: Decision
    route: Route | None = None
    routed: CountTable | None = None


@runtime_checkable
class NodeCache(Protocol):
    """A source that caches the outcomes of an earlier tree's nodes."""

    def cached_outcome(
        self, node: int, attributes: tuple[int, ...], search: Search
    ) -> NodeOutcome | None:
        """Return the cached outcome of a node if a search would give the same."""
        ...

    def cache_outcome(
        self,
        node: int,
        attributes: tuple[int, ...],
        outcome: NodeOutcome,
        search: Search,
    ) -> None:
        """Store the outcome of a node."""
        ...
