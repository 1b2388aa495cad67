"""Pessimistic pruning (Quinlan 1987, as Mingers 1989 describes it): top-down.

The errors of a leaf are corrected by ½. A subtree of L leaves and E errors among N rows
stays only if its corrected errors, and one standard error more, are fewer than those
of the leaf that would replace it::

    (E + L/2) + SE  <  errors of the leaf + 1/2
    SE = √((E + L/2) (N − E − L/2) / N)

A leaf without rows has no errors to correct. No validation rows are needed. Nodes are
judged top-down, so nothing below a node that becomes a leaf is judged.
"""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from spinney._support.ties import TOLERANCE
from spinney.growth.prune.prune_record import Pruned
from spinney.growth.prune.risk import leaf_errors, leaf_risks, sums_below
from spinney.growth.prune.walks import PruneDecision, top_down
from spinney.trees import Tree


def corrected_errors(errors: float, leaves: int, weight: float) -> tuple[float, float]:
    """Return the corrected errors of a subtree and their standard error.

    >>> corrected, error = corrected_errors(10, 4, 35)
    >>> corrected, round(error, 2)
    (12.0, 2.81)
    """
    corrected = errors + leaves / 2
    variance = corrected * (weight - corrected) / weight if weight > 0 else 0.0
    return corrected, sqrt(max(variance, 0.0))


def pessimistic(tree: Tree) -> Pruned:
    """Return the pruned tree, with a record of each step.

    A step's ``before`` is the left side of the rule for the node's subtree, ``after``
    the right side; both are of the node alone.
    """
    as_leaf, risks = leaf_errors(tree), leaf_risks(tree)
    errors, risks_below = sums_below(tree, as_leaf), sums_below(tree, risks)
    leaves = sums_below(tree, (tree.arrays.rows > 0).astype(np.float64))
    total, weight = float(risks_below[0]), tree.arrays.weight(tree.schema.target)

    def judge(node: int, _: Sequence[int]) -> PruneDecision:
        nonlocal total
        before = total
        corrected, deviation = corrected_errors(
            float(errors[node]), int(leaves[node]), float(weight[node])
        )
        limit = float(as_leaf[node]) + 0.5
        after = total - float(risks_below[node]) + float(risks[node])
        pruned = corrected + deviation >= limit - TOLERANCE * max(1.0, limit)
        if pruned:
            total = after
        return PruneDecision(node, corrected + deviation, limit, pruned, before, after)

    measure = "corrected errors of the subtree + 1 SE, and of the leaf"
    return top_down(tree, judge, measure)
