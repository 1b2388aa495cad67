"""Reduced-error pruning: bottom-up, against a validation set.

The deepest nodes come first, each level from left to right. A node becomes a leaf
if that raises the accuracy on the validation rows; where it changes nothing the
node stays, as in the worked example of the watermelons.
"""

from spinney.counts import TOLERANCE
from spinney.prune.cutting import cut
from spinney.prune.validation import PruneStep, Validation
from spinney.tree import Tree

__all__ = ["reduced_error"]


def reduced_error(
    tree: Tree, validation: Validation
) -> tuple[Tree, tuple[PruneStep, ...]]:
    """Return the pruned tree and what each step did."""
    # What the rows at a node get right below it, as pruned so far.
    below = validation.right.copy()
    for node in reversed(tree.nodes):
        if not node.is_leaf:
            below[node.number] = sum(below[child] for child in node.children)
    total = float(below[0])
    steps = []
    cuts: set[int] = set()
    inner = [node for node in tree if not node.is_leaf]
    for node in sorted(inner, key=lambda node: (-node.depth, node.number)):
        as_tree = float(sum(below[child] for child in node.children))
        as_leaf = float(validation.right[node.number])
        after = total - as_tree + as_leaf
        better = as_leaf > as_tree + TOLERANCE
        below[node.number] = as_leaf if better else as_tree
        steps.append(
            PruneStep(
                node.number,
                tree.condition(node),
                total / validation.n_rows,
                after / validation.n_rows,
                better,
            )
        )
        if better:
            cuts.add(node.number)
            total = after
    return cut(tree, cuts), tuple(steps)
