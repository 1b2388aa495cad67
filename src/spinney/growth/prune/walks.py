"""Walks that prune: bottom-up from the leaves, or top-down from the root.

Bottom-up, a node is judged after all its descendants. If nodes become leaves whenever a
leaf does not cost more, the result is the smallest of the cheapest subtrees.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.ties import TOLERANCE
from spinney.growth.prune.prune_record import Pruned, PruneStep, Steps
from spinney.growth.prune.risk import sums_below
from spinney.trees import Tree, cut


def deepest_first(tree: Tree) -> list[int]:
    """Return the inner nodes, deepest first, each level from left to right."""
    inner = np.flatnonzero(tree.arrays.inner)
    order: list[int] = inner[np.lexsort((inner, -tree.arrays.depth[inner]))].tolist()
    return order


class RunningSum:
    """A sum over the leaves and splits of a tree during bottom-up pruning."""

    def __init__(
        self, tree: Tree, as_leaf: Floats, split_costs: Floats | None = None
    ) -> None:
        self.children, self.as_leaf = tree.nodes.children, as_leaf.tolist()
        self.split_costs = (
            [0.0] * len(tree) if split_costs is None else split_costs.tolist()
        )
        self.below = sums_below(tree, as_leaf, split_costs).tolist()
        self.total = self.below[0]

    def as_tree(self, node: int) -> float:
        """Return the sum over the subtree of a node."""
        children = sum(self.below[child] for child in self.children[node])
        return float(self.split_costs[node] + children)

    def after(self, node: int) -> float:
        """Return the sum of the whole tree if a node becomes a leaf."""
        return float(self.total - self.as_tree(node) + self.as_leaf[node])

    def decide(self, node: int, *, pruned: bool) -> None:
        """Record whether a node stays or becomes a leaf."""
        if pruned:
            self.total = self.after(node)
        self.below[node] = self.as_leaf[node] if pruned else self.as_tree(node)


Verdict = tuple[float, float, bool]
"""A method's measure before and after a step, and whether the node becomes a leaf."""


class PruneDecision(NamedTuple):
    """The decision on a node, and the training risk before and after the step."""

    node: int
    before: float
    after: float
    pruned: bool
    risk_before: float
    risk_after: float


def bottom_up(
    tree: Tree,
    judge: Callable[[int], Verdict | None],
    risks: RunningSum,
    *,
    unit: float = 1.0,
) -> list[PruneDecision]:
    """Return the decisions on all inner nodes, each after its descendants.

    A node for which ``judge`` returns None stays, without a step. ``risks`` sums the
    training risk; steps have it divided by ``unit``.
    """
    steps = []
    for node in deepest_first(tree):
        verdict = judge(node)
        if verdict is not None:
            before, after = risks.total / unit, risks.after(node) / unit
            steps.append(PruneDecision(node, *verdict, before, after))
        risks.decide(node, pruned=verdict is not None and verdict[2])
    return steps


def cheapest(
    tree: Tree,
    as_leaf: Floats,
    *,
    risks: Floats,
    split_costs: Floats | None = None,
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
        The cost of a node as a leaf, and of its split beside its children.
    risks : array
        The training risk of each node as a leaf, for the record.
    measure : str
        The name of costs in the record, divided by ``scale``.
    scale : float
        A negative one turns costs into merits.
    cut_ties : bool
        Whether a node is cut where that changes nothing.
    """
    steps = _by_cost(
        tree, as_leaf, split_costs, risks=risks, scale=scale, cut_ties=cut_ties
    )
    return pruned_by(tree, steps, measure)


def cut_down_to(
    tree: Tree, leaves: Collection[int], as_leaf: Floats, *, risks: Floats, measure: str
) -> Pruned:
    """Return the tree with the given leaves, which cost the least.

    The record is that of :func:`prune_to_cheapest`, made on first access.
    """

    def record() -> Iterator[PruneStep]:
        steps = _by_cost(tree, as_leaf, risks=risks, leaves=leaves)
        yield from recorded(tree, steps, measure)

    return Pruned(cut(tree, leaves), Steps(record()))


def _by_cost(
    tree: Tree,
    as_leaf: Floats,
    split_costs: Floats | None = None,
    *,
    risks: Floats,
    scale: float = 1.0,
    cut_ties: bool = True,
    leaves: Collection[int] | None = None,
) -> list[PruneDecision]:
    """Return decisions by cost; if ``leaves`` are given, only from these down."""
    costs = RunningSum(tree, as_leaf, split_costs)
    # Sums over a tree are exact to a share of the largest of them.
    margin = TOLERANCE * max(abs(costs.total), float(np.abs(as_leaf).max()))
    forced_leaves: Collection[int] = () if leaves is None else leaves
    may_prune: Collection[int] = range(len(tree))
    if leaves is not None:  # those, and the nodes below; a node stands after its parent
        may_prune = below = set[int]()
        for node, parent in enumerate(tree.arrays.parent.tolist()):
            if node in leaves or parent in below:
                below.add(node)

    def judge(node: int) -> Verdict:
        before, after = costs.total, costs.after(node)
        saved = costs.as_tree(node) - costs.as_leaf[node]
        is_cheap = saved >= -margin if cut_ties else saved > margin
        pruned = node in forced_leaves or (is_cheap and node in may_prune)
        costs.decide(node, pruned=pruned)
        return before / scale, after / scale, pruned

    return bottom_up(tree, judge, RunningSum(tree, risks))


def top_down(
    tree: Tree, judge: Callable[[int, Sequence[int]], PruneDecision], measure: str
) -> Pruned:
    """Return the tree with the nodes as leaves that ``judge`` prunes.

    ``judge`` gets inner nodes and their children a level at a time, from the root.
    """
    children, steps, level = tree.nodes.children, list[PruneDecision](), [0]
    while level:
        next_level: list[int] = []
        for node in level:
            if children[node]:
                steps.append(judge(node, children[node]))
                if not steps[-1].pruned:
                    next_level.extend(children[node])
        level = next_level
    return pruned_by(tree, steps, measure)


def pruned_by(tree: Tree, steps: Sequence[PruneDecision], measure: str) -> Pruned:
    """Return the tree after the pruning of steps, and the steps."""
    cuts = {step.node for step in steps if step.pruned}
    return Pruned(cut(tree, cuts), Steps(recorded(tree, steps, measure)))


def recorded(
    tree: Tree, steps: Sequence[PruneDecision], measure: str
) -> Iterator[PruneStep]:
    """Yield steps for the record; ``measure`` names their before and after."""
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
