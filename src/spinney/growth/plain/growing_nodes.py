"""Growing nodes, the tree of arrays that they become, and what is remembered of it.

A source that remembers an earlier tree knows at which nodes nothing has changed. The
learner asks for what was found there, and searches at the others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import Schema
from spinney.growth.growth_options import Planned
from spinney.growth.leaf_estimates import outputs_of_tree
from spinney.recipes import Recipe
from spinney.search import Decision, Search
from spinney.sources import Totals
from spinney.trees import (
    Candidate,
    CountTable,
    LazyNodes,
    Reason,
    Route,
    Split,
    Tree,
    TreeArrays,
    arrays_of_winners,
    reason_codes,
    surrogate_arrays,
)


@dataclass(slots=True, eq=False)
class Growing:
    """A node that grows: what is known of it so far; ``key`` is what it draws by.

    Where it has been decided, it has ``candidates``, and knows which of them was
    ``chosen``, the winner, or the reason why none was.
    """

    number: int
    totals: Totals
    attributes: tuple[int, ...]
    depth: int = 0
    parent: "Growing | None" = None
    branch: int = 0
    path: tuple[str, ...] = ()
    key: int = 0
    candidates: Sequence[Candidate] = ()
    chosen: int | None = None
    reason: Reason | None = None
    forced: bool = False
    plan: Planned | None = None
    route: Route | None = None
    routed: CountTable | None = None
    children: "list[Growing]" = field(default_factory=list)

    def decide(self, decision: Decision) -> None:
        """Take what came of the node."""
        self.candidates, self.chosen = decision.candidates, decision.chosen
        self.reason = decision.reason

    @property
    def winner(self) -> Candidate:
        """The winning split with its counts."""
        assert self.chosen is not None
        return self.candidates[self.chosen]

    @property
    def is_open(self) -> bool:
        """Whether its best split is known."""
        return self.chosen is not None


def steps_to(node: Growing) -> Iterator[tuple[Split, int]]:
    """Give the splits above a node with the branches taken, nearest first."""
    while node.parent is not None:
        assert node.parent.route is not None
        yield node.parent.route.described, node.branch
        node = node.parent


@dataclass(frozen=True, eq=False)
class PlainNodes(LazyNodes):
    """Nodes in printing order, each made when it is first asked for."""

    tree: TreeArrays
    schema: Schema
    by_node: tuple[tuple[Sequence[Candidate], int | None], ...]

    def _arrays(self) -> TreeArrays:
        return self.tree

    def candidates(self, number: int) -> tuple[Sequence[Candidate], int | None]:
        """Return the splits of a node, and which of them won."""
        return self.by_node[number]


def finish(root: Growing, schema: Schema, recipe: Recipe) -> Tree:
    """Turn growing nodes into finished ones, numbered in printing order."""
    order: list[Growing] = []
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
    order: Sequence[Growing],
    schema: Schema,
    recipe: Recipe,
    everything: Floats | None = None,
) -> Tree:
    """Return growing nodes as a tree; each stands after the one above it.

    They are several trees side by side where more than one has none above it here;
    then ``everything`` are the weights of all rows.
    """
    numbers = {id(node): number for number, node in enumerate(order)}
    routes = [node.route for node in order]
    surrogates = [() if route is None else route.surrogates for route in routes]
    defaults = [
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
        default_branch=np.array(defaults, np.int32),
        surrogates=surrogate_arrays(surrogates) if any(surrogates) else None,
    )
    outputs = outputs_of_tree(tree, schema.target, recipe, everything)
    tree = replace(tree, outputs=outputs)
    return Tree(
        schema,
        PlainNodes(tree, schema, tuple((n.candidates, n.chosen) for n in order)),
    )


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
