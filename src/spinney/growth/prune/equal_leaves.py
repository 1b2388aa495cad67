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
from spinney.trees import Tree


def simplify(tree: Tree, *, costs: Floats | None = None) -> Pruned:
    """Return the simplified tree, and a step for each node whose children are leaves.

    A step's ``before`` is how many different labels or numbers the children have,
    ``after`` is 1.
    """
    says, children = _predicted(tree), tree.nodes.children
    cuts: set[int] = set()

    def judge(node: int) -> Judgement | None:
        below = children[node]
        if not all(child in cuts or not children[child] for child in below):
            return None
        labels = [says[child] for child in below]
        # The parent has to say the same too, which rounding might prevent.
        pruned = _different([*labels, says[node]]) == 1
        if pruned:
            cuts.add(node)
        return float(_different(labels)), 1.0, pruned

    errors = RunningSum(tree, leaf_risks(tree, costs))
    steps = bottom_up(tree, judge, errors)
    return pruned_by(tree, steps, "different labels of the leaves")


def _predicted(tree: Tree) -> list[float]:
    """Return the label or number of each node."""
    numeric = tree.schema.target.is_numeric
    return list(tree.arrays.predicted if numeric else tree.nodes.labels)


def _different(predicted: list[float]) -> int:
    """Return how many labels or numbers differ, by more than rounding may."""
    return 1 + sum(
        high - low > TOLERANCE * max(abs(low), abs(high))
        for low, high in pairwise(sorted(predicted))
    )
