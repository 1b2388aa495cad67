"""Simplifying: sibling leaves that say the same become one, repeatedly.

The label of a row that comes to one of them does not change; its shares become those
of all rows at the parent. (A row that a missing value divides among these and further
leaves is labelled by all their shares together, so that its label may change.)
"""

from itertools import pairwise

from spinney._support.arrays import Floats
from spinney._support.ties import TOLERANCE
from spinney.growth.prune.prune_record import Pruned
from spinney.growth.prune.risk import leaf_risks
from spinney.growth.prune.walks import Judgement, RunningSum, bottom_up, pruned_by
from spinney.trees import Node, Tree


def simplify(tree: Tree, *, costs: Floats | None = None) -> Pruned:
    """Return the simplified tree, and a step for each node whose children are leaves.

    A step's ``before`` is how many different labels or numbers the children have,
    ``after`` is 1.
    """
    cuts: set[int] = set()

    def judge(node: Node) -> Judgement | None:
        children = tree.children(node)
        if not all(child.is_leaf or child.number in cuts for child in children):
            return None
        # The parent has to say the same too, which rounding might prevent.
        pruned = _different(tree, (*children, node)) == 1
        if pruned:
            cuts.add(node.number)
        return float(_different(tree, children)), 1.0, pruned

    errors = RunningSum(tree, leaf_risks(tree, costs))
    measure = "different labels of the leaves"
    return pruned_by(tree, bottom_up(tree, judge, errors, measure=measure))


def _different(tree: Tree, nodes: tuple[Node, ...]) -> int:
    """Return how many different labels or numbers nodes have."""
    if not tree.schema.target.is_numeric:
        return len({node.label for node in nodes})
    values = sorted(node.value for node in nodes)
    return 1 + sum(
        high - low > TOLERANCE * max(abs(low), abs(high))
        for low, high in pairwise(values)
    )
