"""A tree that is being changed: nodes that can take other rows.

Pruning by replacement needs only the counts that a tree keeps. Raising a branch
sends rows to nodes that were not grown on them, so it asks the source: the count
table of one attribute per node, a level at a time, as growing does. Surrogates stay as
they were found when the tree was grown, with the agreement that they had there.
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
    tables_of,
    take_formulas,
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
        The node of the grown tree whose question this one asks.
    weights, n_rows : array, int
        Its rows.
    distribution : array
        What it predicts.
    candidate : Candidate, optional
        Its question with the counts of its rows; None at a node that grew none, and
        at one that was a leaf when other rows came to it, for nothing counts them.
    children : list of MutableNode
        Empty at a leaf.
    source_number : int
        The number by which the source knows its rows.
    moved : bool
        Whether it has rows that it was not grown on.
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
    def question(self) -> Candidate:
        """What it asks, of a node that does."""
        assert self.candidate is not None
        return self.candidate

    @property
    def route(self) -> Route:
        """How rows leave it."""
        origin = self.origin
        return Route(self.question.split, origin.surrogates, origin.default_branch)

    @property
    def leaves(self) -> "list[MutableNode]":
        """The leaves below, or itself."""
        leaves, stack = [], [self]
        while stack:
            draft = stack.pop()
            stack.extend(draft.children)
            if not draft.children:
                leaves.append(draft)
        return leaves


def mutable_tree(tree: Tree) -> MutableNode:
    """Return a tree as drafts."""
    drafts: list[MutableNode] = []
    for node in tree:
        candidate = None if node.is_leaf else node.candidate
        drafts.append(
            MutableNode(node, node.weights, node.n_rows, node.distribution, candidate)
        )
        if node.parent is not None:
            drafts[node.parent].children.append(drafts[-1])
    return drafts[0]


class NodeRecounter:
    """The rows of drafts, where the source has them."""

    def __init__(
        self,
        tree: Tree,
        source: Counts,
        recipe: Recipe,
        class_weights: Floats | None,
        everything: Floats | None = None,
    ) -> None:
        self.source, self.recipe, self.scale = source, recipe, class_weights
        # A tree that was taught on other labels has other weights at its root.
        own = tree.root.weights if everything is None else everything
        self.target, self.everything = tree.schema.target, own
        self.criterion = recipe.measure(numeric=self.target.is_numeric)
        self.schema = tree.schema
        take_formulas(source, tree.schema)
        costs = tree.schema.target.costs
        self.altered: Floats | None = None
        if costs is not None:
            self.altered = altered_priors(own, costs)
        self.n_given = 0

    def outputs(self, weights: Floats) -> Floats:
        """Return what a node predicts that has these rows."""
        return outputs_of(
            weights, self.target, recipe=self.recipe, everything=self.everything
        )

    def send_down(self, draft: MutableNode) -> None:
        """Give those children that ask something their rows; the node keeps its own.

        They are asked about one after the other, and each is let go when it is done
        with: so those that a source holds together must follow each other.
        """
        inner = [child for child in draft.children if child.children]
        if not inner:
            return
        self._partition(draft, inner, keep=True)
        if isinstance(self.source, NodeBatches):
            n_rows = {child.source_number: child.n_rows for child in inner}
            self.source.batches(n_rows, in_order=True)

    def let_go(self, draft: MutableNode) -> None:
        """Let go of a node's rows, unless it is the root."""
        if draft.source_number != ROOT:
            self.source.release([draft.source_number])

    def moved(self, subtree: MutableNode, node: MutableNode) -> MutableNode:
        """Return a copy of a subtree over the rows of a node above it."""
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
            following: list[MutableNode] = []
            for draft, candidate in zip(level, self._recounted(level), strict=True):
                draft.candidate = candidate
                draft.children = self._shared_out(draft)
                inner = [child for child in draft.children if child.children]
                if inner:
                    self._partition(draft, inner, keep=draft is top)
                elif draft is not top:
                    self.source.release([draft.source_number])
                following += inner
            level = following
        return top

    def _recounted(self, level: Sequence[MutableNode]) -> list[Candidate]:
        """Return the questions of a level over the rows that are there now."""
        asked = [draft.question for draft in level]
        requests = [
            TableRequest(draft.source_number, (draft.question.attribute,))
            for draft in level
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
                asked, tables_of(self.source, requests, self.schema), strict=True
            )
        ]

    def _partition(
        self, draft: MutableNode, children: Sequence[MutableNode], *, keep: bool
    ) -> None:
        numbers = {}
        for branch, child in enumerate(draft.children):
            if child in children:
                self.n_given += 1
                numbers[branch] = child.source_number = self.n_given
        self.source.partition(draft.source_number, draft.route, numbers, keep=keep)

    def _shared_out(self, draft: MutableNode) -> list[MutableNode]:
        """Return copies of the children with the rows that the split now gives them."""
        weights, rows = draft.question.child_counts()
        absent = draft.question.table.missing_rows.any()
        if absent and draft.route.default_branch is not None:
            assert isinstance(self.source, Surrogates)
            (routed,) = self.source.routed([(draft.source_number, draft.route)])
            weights, rows = routed.scaled(self.scale).weights, routed.rows
        n_rows = [int(each.sum()) for each in rows]
        return [
            replace(
                child,
                weights=weights[branch],
                n_rows=n_rows[branch],
                # Without rows it predicts what the node above does.
                distribution=self.outputs(weights[branch])
                if n_rows[branch]
                else draft.distribution,
                moved=True,
                candidate=child.candidate if child.children else None,
            )
            for branch, child in enumerate(draft.children)
        ]


def recounted(
    tree: Tree,
    source: Counts,
    *,
    recipe: Recipe,
    class_weights: Floats | None = None,
) -> Tree:
    """Return a tree over other rows, or the same rows with other labels.

    Leaves keep the reason that they had, unless they are pure or empty now.
    """
    totals = source.root()
    scale = 1.0 if class_weights is None else class_weights
    root = mutable_tree(tree)
    weights = totals.weights * scale
    rows = NodeRecounter(tree, source, recipe, class_weights, everything=weights)
    here = replace(
        root,
        weights=weights,
        n_rows=totals.n_rows,
        distribution=rows.outputs(weights),
    )
    counted = finished(rows.moved(root, here), tree)
    nodes = [
        replace(node, reason=before.reason)
        if node.reason is Reason.PRUNED and before.reason is not Reason.PURE
        else node
        for node, before in zip(counted, tree, strict=True)
    ]
    return Tree(tree.schema, ExplicitNodes(tree.schema, tuple(nodes)))


def finished(root: MutableNode, tree: Tree) -> Tree:
    """Return drafts as a tree, numbered in printing order."""
    nodes: list[Node] = []
    stack: list[tuple[MutableNode, int | None, int]] = [(root, None, 0)]
    children: list[list[int]] = []
    while stack:
        draft, parent, branch = stack.pop()
        number = len(nodes)
        if parent is not None:
            children[parent].append(number)
        children.append([])
        nodes.append(_finished(draft, nodes, parent, branch, tree))
        below = [(child, number, b) for b, child in enumerate(draft.children)]
        stack.extend(reversed(below))
    linked = zip(nodes, children, strict=True)
    made = tuple(replace(node, children=tuple(c)) for node, c in linked)
    return Tree(tree.schema, ExplicitNodes(tree.schema, made))


def _finished(
    draft: MutableNode,
    nodes: Sequence[Node],
    parent: int | None,
    branch: int,
    tree: Tree,
) -> Node:
    """Return one node, its children not yet known."""
    origin = draft.origin
    candidates, chosen = origin.candidates, origin.chosen
    if draft.moved:
        candidates = () if draft.candidate is None else (draft.candidate,)
        chosen = 0
    return replace(
        origin,
        number=len(nodes),
        parent=parent,
        branch=branch,
        depth=0 if parent is None else nodes[parent].depth + 1,
        weights=draft.weights,
        n_rows=draft.n_rows,
        distribution=draft.distribution,
        label=int(labels_of(draft.distribution, tree.schema.target.costs)),
        candidates=candidates,
        chosen=chosen if draft.children else None,
        children=(),
        reason=None if draft.children else _reason(draft),
        model=None,
        surrogates=origin.surrogates if draft.children else (),
        default_branch=origin.default_branch if draft.children else None,
    )


def _reason(draft: MutableNode) -> Reason:
    """Return why a draft without children is a leaf."""
    if draft.origin.is_leaf and not draft.moved:
        assert draft.origin.reason is not None
        return draft.origin.reason
    if not draft.n_rows:
        return Reason.EMPTY
    of_classes = len(draft.weights) == len(draft.origin.distribution)
    rows = (draft.weights > 0).astype(np.int64) if of_classes else np.ones(1, int)
    return Reason.PURE if Totals(draft.weights, rows).is_pure else Reason.PRUNED
