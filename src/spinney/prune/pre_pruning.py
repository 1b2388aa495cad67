"""Pre-pruning: top-down, against a validation set.

A split is made only if the tree with it labels more validation rows right than
the tree without it. Which split a node would make does not depend on that, so
the finished tree is walked from the root, and a node whose split does not help
becomes a leaf before anything below it is looked at.
"""

from spinney.counts import TOLERANCE
from spinney.prune.cutting import cut
from spinney.prune.validation import PruneStep, Validation
from spinney.tree import Node, Tree

__all__ = ["pre_pruning"]


def pre_pruning(
    tree: Tree, validation: Validation
) -> tuple[Tree, tuple[PruneStep, ...]]:
    """Return the pruned tree and what each step did.

    A step's ``before`` is the accuracy without the split, ``after`` with it, its
    children being leaves.
    """
    right = validation.right
    accuracy = right[0]
    steps = []
    cuts: set[int] = set()
    level = [tree.root]
    while level:
        following: list[Node] = []
        for node in level:
            if node.is_leaf:
                continue
            children = tree.children(node)
            below = sum(right[child.number] for child in children)
            split = accuracy - right[node.number] + below
            helps = bool(split > accuracy + TOLERANCE)
            steps.append(
                PruneStep(
                    node.number,
                    tree.condition(node),
                    float(accuracy / validation.n_rows),
                    float(split / validation.n_rows),
                    not helps,
                )
            )
            if helps:
                accuracy = split
                following.extend(children)
            else:
                cuts.add(node.number)
        level = following
    return cut(tree, cuts), tuple(steps)
