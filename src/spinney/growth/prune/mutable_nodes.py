"""Mutable nodes: a tree that can change, and be counted on other rows.

Pruning by replacement needs only the counts of the tree. Raising a branch sends other
rows to its nodes. So the source is asked for the count table of one attribute per node,
a level at a time, as in growing. Surrogates keep their agreement from growing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from spinney._support.arrays import Floats
from spinney.growth.leaf_estimates import outputs_of
from spinney.recipes import Recipe
from spinney.search import recount
from spinney.sources import (
    ROOT,
    Counts,
    NodeBatches,
    Surrogates,
    TableRequest,
    Totals,
    register_formulas,
    tables_of,
)
from spinney.trees import (
    Candidate,
    ExplicitNodes,
    Node,
    Reason,
    Route,
    Tree,
    altered_priors,
    labels_of,
)


@dataclass(slots=True, eq=False)
class MutableNode:
    """A node that can change.

    Parameters
    ----------
    origin : Node
        The node of the grown tree with the same split.
    weights, n_rows : array, int
        The weights and the number of its rows.
    distribution : array
        The class probabilities, or the mean.
    candidate : Candidate, optional
        The split with the counts of the rows; None if the node had no split, or was a
        leaf when other rows arrived.
    children : list of MutableNode
        Empty at a leaf.
    source_number : int
        The node number of its rows in the source.
    moved : bool
        Whether it has other rows than in growing.
    """

    origin: Node
    weights: Floats
    n_rows: int
    distribution: Floats
    candidate: Candidate | None = None
    children: "list[MutableNode]" = field(default_factory=list)
    source_number: int = ROOT
    moved: bool = False

    @property
    def inner_candidate(self) -> Candidate:
        """The candidate of an inner node."""
        assert self.candidate is not None
        return self.candidate

    @property
    def route(self) -> Route:
        """The routes of rows at the node."""
        origin = self.origin
        return Route(
            self.inner_candidate.split, origin.surrogates, origin.default_branch
        )

    @property
    def leaves(self) -> "list[MutableNode]":
        """The leaves below the node, or the node itself."""
        leaves, stack = [], [self]
        while stack:
            node = stack.pop()
            stack.extend(node.children)
            if not node.children:
                leaves.append(node)
        return leaves


def mutable_tree(tree: Tree) -> MutableNode:
    """Return the root of a tree of mutable nodes."""
    nodes: list[MutableNode] = []
    for node in tree:
        candidate = None if node.is_leaf else node.candidate
        nodes.append(
            MutableNode(node, node.weights, node.n_rows, node.distribution, candidate)
        )
        if node.parent is not None:
            nodes[node.parent].children.append(nodes[-1])
    return nodes[0]


class NodeRecounter:
    """Counts mutable nodes on the rows of a source."""

    def __init__(
        self,
        tree: Tree,
        source: Counts,
        recipe: Recipe,
        class_weights: Floats | None,
        root_weights: Floats | None = None,
    ) -> None:
        self.source, self.recipe, self.scale = source, recipe, class_weights
        # A tree that grew on smoothed labels has other weights at its root.
        self.root_weights = tree.root.weights if root_weights is None else root_weights
        self.schema, self.target = tree.schema, tree.schema.target
        self.criterion = recipe.measure(numeric=self.target.is_numeric)
        register_formulas(source, tree.schema)
        self.altered: Floats | None = None
        if self.target.costs is not None:
            self.altered = altered_priors(self.root_weights, self.target.costs)
        self.n_numbers = 0

    def outputs(self, weights: Floats) -> Floats:
        """Return the prediction of a node with these weights."""
        return outputs_of(
            weights, self.target, recipe=self.recipe, root_weights=self.root_weights
        )

    def send_down(self, node: MutableNode) -> None:
        """Send rows to the inner children; the node keeps its own rows.

        The children are counted and released one after the other, so nodes that a
        source stores together must be adjacent.
        """
        inner = [child for child in node.children if child.children]
        if not inner:
            return
        self._partition(node, inner, keep=True)
        if isinstance(self.source, NodeBatches):
            n_rows = {child.source_number: child.n_rows for child in inner}
            self.source.batches(n_rows, in_order=True)

    def moved(self, subtree: MutableNode, node: MutableNode) -> MutableNode:
        """Return a copy of a subtree, counted on the rows of a node above it."""
        top = replace(
            subtree,
            weights=node.weights,
            n_rows=node.n_rows,
            distribution=node.distribution,
            source_number=node.source_number,
            moved=True,
            candidate=subtree.candidate if subtree.children else None,
        )
        level = [top] if top.children else []
        while level:
            next_level: list[MutableNode] = []
            for parent, candidate in zip(level, self._recounted(level), strict=True):
                parent.candidate = candidate
                parent.children = self._moved_children(parent)
                inner = [child for child in parent.children if child.children]
                if inner:
                    self._partition(parent, inner, keep=parent is top)
                elif parent is not top:
                    self.source.release([parent.source_number])
                next_level += inner
            level = next_level
        return top

    def _recounted(self, level: Sequence[MutableNode]) -> list[Candidate]:
        """Return the splits of a level, counted on the present rows."""
        splits = [node.inner_candidate for node in level]
        requests = [
            TableRequest(node.source_number, (split.attribute,))
            for node, split in zip(level, splits, strict=True)
        ]
        return [
            recount(
                candidate,
                tables[candidate.attribute].scaled(self.scale),
                self.schema.attributes[candidate.attribute],
                criterion=self.criterion,
                altered=self.altered,
            )
            for candidate, tables in zip(
                splits, tables_of(self.source, requests, self.schema), strict=True
            )
        ]

    def _partition(
        self, node: MutableNode, children: Sequence[MutableNode], *, keep: bool
    ) -> None:
        numbers = {}
        for branch, child in enumerate(node.children):
            if child in children:
                self.n_numbers += 1
                numbers[branch] = child.source_number = self.n_numbers
        self.source.partition(node.source_number, node.route, numbers, keep=keep)

    def _moved_children(self, node: MutableNode) -> list[MutableNode]:
        """Return copies of the children with the rows of the present split."""
        weights, rows = node.inner_candidate.child_counts()
        has_missing = node.inner_candidate.table.missing_rows.any()
        if has_missing and node.route.default_branch is not None:
            assert isinstance(self.source, Surrogates)
            (routed,) = self.source.routed([(node.source_number, node.route)])
            weights, rows = routed.scaled(self.scale).weights, routed.rows
        n_rows = [int(branch_rows.sum()) for branch_rows in rows]
        return [
            replace(
                child,
                weights=weights[branch],
                n_rows=n_rows[branch],
                # Without rows it predicts what its parent does.
                distribution=self.outputs(weights[branch])
                if n_rows[branch]
                else node.distribution,
                moved=True,
                candidate=child.candidate if child.children else None,
            )
            for branch, child in enumerate(node.children)
        ]


def recounted(
    tree: Tree,
    source: Counts,
    *,
    recipe: Recipe,
    class_weights: Floats | None = None,
) -> Tree:
    """Return a tree counted on other rows, or on other labels.

    Leaves keep their reasons, unless they are pure or empty now.
    """
    totals = source.root()
    scale = 1.0 if class_weights is None else class_weights
    root = mutable_tree(tree)
    weights = totals.weights * scale
    recounter = NodeRecounter(tree, source, recipe, class_weights, root_weights=weights)
    probabilities = recounter.outputs(weights)
    new_root = replace(
        root, weights=weights, n_rows=totals.n_rows, distribution=probabilities
    )
    counted = rebuilt_tree(recounter.moved(root, new_root), tree)
    nodes = [
        replace(node, reason=before.reason)
        if node.reason is Reason.PRUNED and before.reason is not Reason.PURE
        else node
        for node, before in zip(counted, tree, strict=True)
    ]
    return Tree(tree.schema, ExplicitNodes(tree.schema, tuple(nodes)))


def rebuilt_tree(root: MutableNode, tree: Tree) -> Tree:
    """Return mutable nodes as a tree, numbered in printing order."""
    nodes: list[Node] = []
    stack: list[tuple[MutableNode, int | None, int]] = [(root, None, 0)]
    children: list[list[int]] = []
    while stack:
        node, parent, branch = stack.pop()
        number = len(nodes)
        if parent is not None:
            children[parent].append(number)
        children.append([])
        nodes.append(_rebuilt_node(node, nodes, parent, branch, tree))
        below = [(child, number, b) for b, child in enumerate(node.children)]
        stack.extend(reversed(below))
    linked = tuple(
        replace(node, children=tuple(numbers))
        for node, numbers in zip(nodes, children, strict=True)
    )
    return Tree(tree.schema, ExplicitNodes(tree.schema, linked))


def _rebuilt_node(
    mutable: MutableNode,
    nodes: Sequence[Node],
    parent: int | None,
    branch: int,
    tree: Tree,
) -> Node:
    """Return one node, without children for now."""
    origin, is_leaf = mutable.origin, not mutable.children
    candidates, chosen = origin.candidates, origin.chosen
    if mutable.moved:
        candidates = () if mutable.candidate is None else (mutable.candidate,)
        chosen = 0
    return replace(
        origin,
        number=len(nodes),
        parent=parent,
        branch=branch,
        depth=0 if parent is None else nodes[parent].depth + 1,
        weights=mutable.weights,
        n_rows=mutable.n_rows,
        distribution=mutable.distribution,
        label=int(labels_of(mutable.distribution, tree.schema.target.costs)),
        candidates=candidates,
        chosen=None if is_leaf else chosen,
        children=(),
        reason=_reason(mutable) if is_leaf else None,
        model=None,
        surrogates=() if is_leaf else origin.surrogates,
        default_branch=None if is_leaf else origin.default_branch,
    )


def _reason(leaf: MutableNode) -> Reason:
    """Return why a mutable node without children is a leaf."""
    if leaf.origin.is_leaf and not leaf.moved:
        assert leaf.origin.reason is not None
        return leaf.origin.reason
    if not leaf.n_rows:
        return Reason.EMPTY
    has_classes = len(leaf.weights) == len(leaf.origin.distribution)
    rows = (leaf.weights > 0).astype(np.int64) if has_classes else np.ones(1, int)
    return Reason.PURE if Totals(leaf.weights, rows).is_pure else Reason.PRUNED
