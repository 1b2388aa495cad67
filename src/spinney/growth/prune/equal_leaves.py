"""Simplifying: sibling leaves that say the same become one, repeatedly.

The label of a row that comes to one of them does not change; its shares become those
of all rows at the parent. (A row that a missing value divides among these and further
leaves is labelled by all their shares together, so that its label may change.)
"""

from itertools import pairwise

from spinney._support.arrays import Floats
from spinney._support.ties import TOLERANCE
from spinney.growth.prune.prune_record import Pruned, PruneStep, Steps
from spinney.growth.prune.risk import leaf_risks
from spinney.growth.prune.walks import RunningSum, cut, deepest_first
from spinney.trees import Node, Tree


def simplify(tree: Tree, *, costs: Floats | None = None) -> Pruned:
    """Return the simplified tree, and a step for each node whose children are leaves.

    A step's ``before`` is how many different labels or numbers the children have,
    ``after`` is 1.
    """
    errors = RunningSum(tree, leaf_risks(tree, costs))
    cuts: set[int] = set()
    steps = []
    for node in deepest_first(tree):
        children = tree.children(node)
        pruned = False
        if all(child.is_leaf or child.number in cuts for child in children):
            different = _different(tree, children)
            # The parent has to say the same too, which rounding might prevent.
            pruned = _different(tree, (*children, node)) == 1
            steps.append(
                PruneStep(
                    node.number,
                    tree.condition(node),
                    float(different),
                    1.0,
                    pruned,
                    measure="different labels of the leaves",
                    risk_before=errors.total,
                    risk_after=errors.after(node),
                )
            )
        errors.decide(node, pruned=pruned)
        if pruned:
            cuts.add(node.number)
    return Pruned(cut(tree, cuts), Steps(steps))


def _different(tree: Tree, nodes: tuple[Node, ...]) -> int:
    """Return how many different labels or numbers nodes have."""
    if not tree.schema.target.is_numeric:
        return len({node.label for node in nodes})
    values = sorted(node.value for node in nodes)
    return 1 + sum(
        high - low > TOLERANCE * max(abs(low), abs(high))
        for low, high in pairwise(values)
    )
