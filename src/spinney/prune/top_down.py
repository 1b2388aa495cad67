"""Pruning from the root down: nothing below a node that becomes a leaf is looked at."""

from collections.abc import Callable

from spinney.prune.cutting import cut
from spinney.prune.record import Pruned, PruneStep, Steps
from spinney.trees.tree import Node, Tree

__all__ = ["top_down"]


def top_down(tree: Tree, judge: Callable[[Node], PruneStep]) -> Pruned:
    """Return the tree without what lies below the nodes that are judged to be leaves.

    ``judge`` sees inner nodes a level at a time, each before those below it.
    """
    steps: list[PruneStep] = []
    cuts: set[int] = set()
    level = [tree.root]
    while level:
        following: list[Node] = []
        for node in level:
            if node.is_leaf:
                continue
            step = judge(node)
            steps.append(step)
            if step.pruned:
                cuts.add(node.number)
            else:
                following.extend(tree.children(node))
        level = following
    return Pruned(cut(tree, cuts), Steps(steps))
