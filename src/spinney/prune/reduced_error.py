"""Reduced-error pruning: bottom-up, against a validation set (Quinlan 1987).

A node becomes a leaf if that raises the accuracy on the validation rows, or lowers
their cost or squared error; where it changes nothing the node stays, as in the worked
example of the watermelons.
"""

from spinney._support.arrays import Floats
from spinney.prune.bottom_up import bottom_up
from spinney.prune.record import Pruned
from spinney.prune.risk import leaf_risks
from spinney.prune.validation import Validation
from spinney.trees.tree import Tree

__all__ = ["reduced_error"]


def reduced_error(
    tree: Tree, *, validation: Validation, costs: Floats | None = None
) -> Pruned:
    """Return the pruned tree and what each step did."""
    return bottom_up(
        tree,
        -validation.merit,
        risks=leaf_risks(tree, costs),
        measure=validation.measure,
        scale=-validation.scale,
        cut_ties=False,
    )
