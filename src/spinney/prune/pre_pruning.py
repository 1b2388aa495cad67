"""Pre-pruning: top-down, against a validation set.

A split is made only if the tree with it labels more validation rows right than the
tree without it, or costs or errs less. Which split a node would make does not depend
on that, so the finished tree is walked from the root, and a node whose split does not
help becomes a leaf before anything below it is looked at.
"""

import numpy as np

from spinney._support.arrays import TOLERANCE, Floats
from spinney.prune.record import Pruned, PruneStep
from spinney.prune.risk import leaf_risks
from spinney.prune.top_down import top_down
from spinney.prune.validation import Validation
from spinney.trees.tree import Node, Tree

__all__ = ["pre_pruning"]


def pre_pruning(
    tree: Tree, *, validation: Validation, costs: Floats | None = None
) -> Pruned:
    """Return the pruned tree and what each step did.

    A step's ``before`` is the measure without the split, ``after`` with it, its
    children being leaves.
    """
    merits, scale, risks = validation.merit, validation.scale, leaf_risks(tree, costs)
    merit, risk = float(merits[0]), float(risks[0])
    margin = TOLERANCE * float(np.abs(merits).max())

    def judge(node: Node) -> PruneStep:
        nonlocal merit, risk
        places, before, risk_before = list(node.children), merit, risk
        split = merit - float(merits[node.number]) + float(merits[places].sum())
        split_risk = risk - float(risks[node.number]) + float(risks[places].sum())
        helps = split > merit + margin
        if helps:
            merit, risk = split, split_risk
        return PruneStep(
            node.number,
            tree.condition(node),
            before / scale,
            split / scale,
            not helps,
            measure=validation.measure,
            risk_before=risk_before,
            risk_after=split_risk,
        )

    return top_down(tree, judge)
