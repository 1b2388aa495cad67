"""Bottom-up pruning of whatever adds up over leaves and splits.

The deepest nodes come first, each level from left to right. When a node is looked at,
everything below it has been decided, so a node that becomes a leaf exactly where that
does not cost more makes the smallest of the cheapest subtrees.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.ties import TOLERANCE
from spinney.growth.prune.prune_record import Pruned, PruneStep, Steps
from spinney.growth.prune.risk import below
from spinney.trees import Node, Reason, Tree


def deepest_first(tree: Tree) -> list[Node]:
    """Return the inner nodes in the order of this module."""
    inner = [node for node in tree if not node.is_leaf]
    return sorted(inner, key=lambda node: (-node.depth, node.number))


class RunningSum:
    """A sum over the leaves and splits of a tree, as pruned so far.

    Nodes are to be asked about deepest first.
    """

    def __init__(
        self, tree: Tree, as_leaf: Floats, of_split: Floats | None = None
    ) -> None:
        self.as_leaf, self.of_split = as_leaf, of_split
        self.below = below(tree, as_leaf, of_split)
        self.total = float(self.below[0])

    def as_tree(self, node: Node) -> float:
        """Return the sum at a node, if it stays as it is."""
        own = 0.0 if self.of_split is None else self.of_split[node.number]
        return float(own + sum(self.below[child] for child in node.children))

    def after(self, node: Node) -> float:
        """Return the whole sum, if a node becomes a leaf."""
        return self.total - self.as_tree(node) + float(self.as_leaf[node.number])

    def decide(self, node: Node, *, pruned: bool) -> None:
        """Take note of what becomes of a node."""
        if pruned:
            self.total = self.after(node)
            self.below[node.number] = self.as_leaf[node.number]
        else:
            self.below[node.number] = self.as_tree(node)


Judgement = tuple[float, float, bool]
"""What a step says of a node: before, after, and whether it becomes a leaf."""


def bottom_up(
    tree: Tree,
    judge: Callable[[Node], Judgement | None],
    errors: RunningSum,
    *,
    measure: str,
    unit: float = 1.0,
) -> list[PruneStep]:
    """Return the steps of judging every inner node after those below it.

    A node of which ``judge`` says None stays, without a step. ``measure`` is what it
    goes by; ``errors`` are the training risk, which steps have divided by ``unit``.
    """
    steps = []
    for node in deepest_first(tree):
        judgement = judge(node)
        if judgement is not None:
            steps.append(
                PruneStep(
                    node.number,
                    tree.condition(node),
                    *judgement,
                    measure=measure,
                    risk_before=errors.total / unit,
                    risk_after=errors.after(node) / unit,
                )
            )
        errors.decide(node, pruned=judgement is not None and judgement[2])
    return steps


def cheapest(
    tree: Tree,
    as_leaf: Floats,
    *,
    risks: Floats,
    of_split: Floats | None = None,
    measure: str,
    scale: float = 1.0,
    cut_ties: bool = True,
    leaves: Collection[int] | None = None,
) -> Pruned:
    """Prune each node that does not cost more as a leaf; deepest first.

    Parameters
    ----------
    tree : Tree
        The tree.
    as_leaf, of_split : arrays, one number per node
        What a node costs as a leaf, and what its split costs beside its children.
    risks : array
        The training risk of each node as a leaf, for the record.
    measure : str
        What the record calls costs, divided by ``scale``.
    scale : float
        A negative one turns costs into merits.
    cut_ties : bool
        Whether a node is cut where that changes nothing.
    leaves : collection of int, optional
        The nodes that are to be leaves: costs then decide below them only, where
        nothing but the record depends on it.
    """
    costs = RunningSum(tree, as_leaf, of_split)
    # Sums over a tree are exact to a share of the largest of them.
    margin = TOLERANCE * max(abs(costs.total), float(np.abs(as_leaf).max()))
    gone = None if leaves is None else _at_or_below(tree, leaves)

    def judge(node: Node) -> Judgement:
        before, after = costs.total, costs.after(node)
        saved = costs.as_tree(node) - float(as_leaf[node.number])
        pruned = saved >= -margin if cut_ties else saved > margin
        if gone is not None and leaves is not None:
            pruned = node.number in leaves or (pruned and node.number in gone)
        costs.decide(node, pruned=pruned)
        return before / scale, after / scale, pruned

    steps = bottom_up(tree, judge, RunningSum(tree, risks), measure=measure)
    return pruned_by(tree, steps)


def _at_or_below(tree: Tree, numbers: Collection[int]) -> set[int]:
    """Return these nodes and all below them; a node stands after its parent."""
    below: set[int] = set()
    for node in tree:
        if node.number in numbers or node.parent in below:
            below.add(node.number)
    return below


def top_down(tree: Tree, judge: Callable[[Node], PruneStep]) -> Pruned:
    """Return the tree without what lies below the nodes that are judged to be leaves.

    ``judge`` sees inner nodes a level at a time, each before those below it.
    """
    steps: list[PruneStep] = []
    level = [tree.root]
    while level:
        following: list[Node] = []
        for node in level:
            if node.is_leaf:
                continue
            steps.append(judge(node))
            if not steps[-1].pruned:
                following.extend(tree.children(node))
        level = following
    return pruned_by(tree, steps)


def pruned_by(tree: Tree, steps: Sequence[PruneStep]) -> Pruned:
    """Return the tree with the nodes as leaves that some steps pruned, and these."""
    return Pruned(cut(tree, {step.node for step in steps if step.pruned}), Steps(steps))


def cut(tree: Tree, numbers: Collection[int], reason: Reason = Reason.PRUNED) -> Tree:
    """Return the tree with these nodes as leaves, and nothing below them.

    The counts and candidates of a cut node are kept; its ``reason`` is given.
    """
    gone = [False] * len(tree)
    kept: list[Node] = []
    new_number: dict[int, int] = {}
    for node in tree:
        if node.parent is not None:
            gone[node.number] = gone[node.parent] or node.parent in numbers
        if not gone[node.number]:
            new_number[node.number] = len(kept)
            kept.append(node)
    as_leaf = partial(
        replace,
        chosen=None,
        children=(),
        reason=reason,
        surrogates=(),
        otherwise=None,
    )
    nodes = []
    for node in kept:
        pruned = as_leaf(node) if node.number in numbers and node.children else node
        parent = None if node.parent is None else new_number[node.parent]
        children = tuple(new_number[child] for child in pruned.children)
        number = new_number[node.number]
        nodes.append(replace(pruned, number=number, parent=parent, children=children))
    return Tree(tree.schema, tuple(nodes))
