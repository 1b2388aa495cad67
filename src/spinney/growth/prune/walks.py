"""Walks that prune: up from the leaves, or down from the root.

On the way up the deepest nodes come first, each level from left to right. When a node
is looked at, everything below it has been decided, so a node that becomes a leaf
exactly where that does not cost more makes the smallest of the cheapest subtrees.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.ties import TOLERANCE
from spinney.growth.prune.prune_record import Pruned, PruneStep, Steps
from spinney.growth.prune.risk import below
from spinney.trees import Tree, cut


def deepest_first(tree: Tree) -> list[int]:
    """Return the inner nodes in the order of this module."""
    arrays = tree.arrays
    inner = np.flatnonzero(arrays.inner)
    order: list[int] = inner[np.lexsort((inner, -arrays.depth[inner]))].tolist()
    return order


class RunningSum:
    """A sum over the leaves and splits of a tree, as pruned so far.

    Nodes are to be asked about deepest first.
    """

    def __init__(
        self, tree: Tree, as_leaf: Floats, of_split: Floats | None = None
    ) -> None:
        self.children, self.as_leaf = tree.nodes.children, as_leaf.tolist()
        self.of_split = [0.0] * len(tree) if of_split is None else of_split.tolist()
        self.below = below(tree, as_leaf, of_split).tolist()
        self.total = self.below[0]

    def as_tree(self, node: int) -> float:
        """Return the sum at a node, if it stays as it is."""
        below = sum(self.below[child] for child in self.children[node])
        return float(self.of_split[node] + below)

    def after(self, node: int) -> float:
        """Return the whole sum, if a node becomes a leaf."""
        return float(self.total - self.as_tree(node) + self.as_leaf[node])

    def decide(self, node: int, *, pruned: bool) -> None:
        """Take note of what becomes of a node."""
        if pruned:
            self.total = self.after(node)
        self.below[node] = self.as_leaf[node] if pruned else self.as_tree(node)


Judgement = tuple[float, float, bool]
"""What a step says of a node: before, after, and whether it becomes a leaf."""


class Judged(NamedTuple):
    """What a step says, and the training risk before and after it."""

    node: int
    before: float
    after: float
    pruned: bool
    risk_before: float
    risk_after: float


def bottom_up(
    tree: Tree,
    judge: Callable[[int], Judgement | None],
    errors: RunningSum,
    *,
    unit: float = 1.0,
) -> list[Judged]:
    """Judge every inner node after those below it.

    A node of which ``judge`` says None stays, without a step. ``errors`` are the
    training risk, which steps have divided by ``unit``.
    """
    steps = []
    for node in deepest_first(tree):
        judgement = judge(node)
        if judgement is not None:
            risks = errors.total / unit, errors.after(node) / unit
            steps.append(Judged(node, *judgement, *risks))
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
    """
    steps = _by_cost(
        tree, as_leaf, of_split, risks=risks, scale=scale, cut_ties=cut_ties
    )
    return pruned_by(tree, steps, measure)


def cut_down_to(
    tree: Tree, leaves: Collection[int], as_leaf: Floats, *, risks: Floats, measure: str
) -> Pruned:
    """Prune to given leaves, which are those that cost the least.

    The record is made when somebody asks for it, as of :func:`cheapest`.
    """

    def record() -> Iterator[PruneStep]:
        steps = _by_cost(tree, as_leaf, risks=risks, leaves=leaves)
        yield from recorded(tree, steps, measure)

    return Pruned(cut(tree, leaves), Steps(record()))


def _by_cost(
    tree: Tree,
    as_leaf: Floats,
    of_split: Floats | None = None,
    *,
    risks: Floats,
    scale: float = 1.0,
    cut_ties: bool = True,
    leaves: Collection[int] | None = None,
) -> list[Judged]:
    """Judge nodes by cost; where ``leaves`` are given, only those below them."""
    costs = RunningSum(tree, as_leaf, of_split)
    # Sums over a tree are exact to a share of the largest of them.
    margin = TOLERANCE * max(abs(costs.total), float(np.abs(as_leaf).max()))
    fixed: Collection[int] = () if leaves is None else leaves
    free = range(len(tree)) if leaves is None else _at_or_below(tree, leaves)

    def judge(node: int) -> Judgement:
        before, after = costs.total, costs.after(node)
        saved = costs.as_tree(node) - costs.as_leaf[node]
        cheap = saved >= -margin if cut_ties else saved > margin
        pruned = node in fixed or (cheap and node in free)
        costs.decide(node, pruned=pruned)
        return before / scale, after / scale, pruned

    return bottom_up(tree, judge, RunningSum(tree, risks))


def _at_or_below(tree: Tree, numbers: Collection[int]) -> set[int]:
    """Return these nodes and all below them; a node stands after its parent."""
    below: set[int] = set()
    for node, parent in enumerate(tree.arrays.parent.tolist()):
        if node in numbers or parent in below:
            below.add(node)
    return below


def top_down(
    tree: Tree, judge: Callable[[int, Sequence[int]], Judged], measure: str
) -> Pruned:
    """Return the tree without what lies below the nodes that are judged to be leaves.

    ``judge`` sees inner nodes and their children a level at a time, each before those
    below it.
    """
    children, steps, level = tree.nodes.children, list[Judged](), [0]
    while level:
        following: list[int] = []
        for node in level:
            if children[node]:
                steps.append(judge(node, children[node]))
                if not steps[-1].pruned:
                    following.extend(children[node])
        level = following
    return pruned_by(tree, steps, measure)


def pruned_by(tree: Tree, steps: Sequence[Judged], measure: str) -> Pruned:
    """Return the tree with the nodes as leaves that some steps pruned, and these."""
    cuts = {step.node for step in steps if step.pruned}
    record = Steps(recorded(tree, steps, measure))
    return Pruned(cut(tree, cuts), record)


def recorded(tree: Tree, steps: Sequence[Judged], measure: str) -> Iterator[PruneStep]:
    """Give steps as a person reads them; ``measure`` is what they went by."""
    for node, before, after, pruned, risk_before, risk_after in steps:
        yield PruneStep(
            node,
            tree.condition(tree.nodes[node]),
            before,
            after,
            pruned,
            measure=measure,
            risk_before=risk_before,
            risk_after=risk_after,
        )
