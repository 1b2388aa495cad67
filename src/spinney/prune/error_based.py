"""Error-based pruning: bottom-up, against a pessimistic estimate (C4.5).

A leaf of weight N with E errors is estimated to make U errors on as many new rows,
the upper confidence limit of :mod:`spinney.error_limits`; a subtree, the sum of its
leaves. First, from the root down, a subtree that makes no fewer training errors
than a leaf would is collapsed into one. Then every node is looked at after all that
is below it, and three estimates are compared: as it is; as a leaf; and its largest
branch in its place, with all rows of the node sent down that branch. A leaf is
preferred where it is no more than 0.1 errors worse than both others, the branch
where it is no more than 0.1 errors worse than the node as it is (Quinlan 1993,
chapter 4; the slack and the order are those of release 8 and of J48). A node that
took its branch's place is pruned once more.

The largest branch is the heaviest; the last of equals. A node that the user forced,
and those above it, stay.
"""

from collections.abc import Sequence

import numpy as np

from spinney.costs import labels_of
from spinney.counts import Floats, last_best
from spinney.model import PruneStep
from spinney.error_limits import added_errors
from spinney.prune.drafts import Draft, Rows, draft_of, finished
from spinney.recipe import Recipe
from spinney.sources.base import Source
from spinney.tree import Tree

__all__ = ["collapsed", "error_based", "estimated_errors"]

# J48's: what counts as no fewer training errors, as no worse, and as equal.
COLLAPSE_SLACK = 1e-3
SLACK = 0.1
EQUAL = 1e-6

Costs = Sequence[Sequence[float]]


def error_based(
    tree: Tree,
    source: Source,
    *,
    recipe: Recipe,
    class_weights: Floats | None = None,
) -> tuple[Tree, tuple[PruneStep, ...]]:
    """Return the pruned tree and what each step did to the estimate of its node.

    ``source`` must have the rows that the tree was grown on; ``class_weights`` are
    those it was grown with.
    """
    pruner = _Pruner(tree, Rows(tree, source, recipe, class_weights), recipe)
    pruner.collapse()
    pruner.prune()
    return finished(pruner.root, tree, recipe), tuple(pruner.steps)


def collapsed(
    tree: Tree,
    source: Source,
    *,
    recipe: Recipe,
    class_weights: Floats | None = None,
) -> tuple[Tree, tuple[PruneStep, ...]]:
    """Return the tree whose subtrees all make fewer training errors than a leaf.

    It is all that J48 does to a tree that it calls unpruned.
    """
    pruner = _Pruner(tree, Rows(tree, source, recipe, class_weights), recipe)
    pruner.collapse()
    return finished(pruner.root, tree, recipe), tuple(pruner.steps)


def estimated_errors(
    weights: Floats, confidence: float, costs: Costs | None = None
) -> float:
    """Return how many errors a leaf with these class weights may make.

    Under ``costs`` its label is that of least expected cost, and errors are those
    of that label.

    >>> round(estimated_errors(np.array([6.0, 0.0]), 0.25), 3)
    1.238
    """
    weight = float(weights.sum())
    if weight <= EQUAL:
        return 0.0
    errors = _wrong(weights, costs)
    return errors + added_errors(weight, errors, confidence)


def _wrong(weights: Floats, costs: Costs | None) -> float:
    """Return the weight of the rows that are not of a leaf's label."""
    return float(weights.sum() - weights[int(labels_of(weights, costs))])


class _Pruner:
    def __init__(self, tree: Tree, rows: Rows, recipe: Recipe) -> None:
        self.tree, self.rows, self.recipe = tree, rows, recipe
        self.root, self.costs = draft_of(tree), tree.schema.target.costs
        self.steps: list[PruneStep] = []
        self.forced = {
            above.number
            for node in tree
            if node.forced
            for above in tree.path(node.number)
        }

    def collapse(self) -> None:
        """Make leaves, from the root down, where a subtree errs no less."""
        wrong = [_wrong(node.weights, self.costs) for node in self.tree]
        below = wrong.copy()
        for node in reversed(self.tree.nodes):
            if not node.is_leaf:
                below[node.number] = sum(below[child] for child in node.children)
        stack = [self.root]
        while stack:
            draft = stack.pop()
            number = draft.origin.number
            useless = below[number] >= wrong[number] - COLLAPSE_SLACK
            if draft.children and useless and number not in self.forced:
                self.note(draft, below[number], wrong[number], "collapsed")
                draft.children = []
            stack.extend(reversed(draft.children))

    def prune(self) -> None:
        """Look at every node after all that is below it."""
        stack = [(self.root, False)]
        while stack:
            draft, children_done = stack.pop()
            if not draft.children:
                continue
            if not children_done:
                if self.recipe.raising:
                    self.rows.send_down(draft)
                stack.append((draft, True))
                stack.extend((child, False) for child in reversed(draft.children))
                continue
            if self.recipe.raising:
                self.rows.take_back(draft)
            if draft.origin.number not in self.forced and self.replaced(draft):
                stack.append((draft, False))

    def replaced(self, draft: Draft) -> bool:
        """Change a node if a leaf or its largest branch will do; True if raised."""
        as_tree = self.estimate(draft)
        as_leaf = self.leaf_estimate(draft)
        as_branch, branch = np.inf, draft
        if self.recipe.raising:
            sizes = np.array([child.weights.sum() for child in draft.children])
            largest = draft.children[int(last_best(sizes))]
            branch = self.rows.moved(largest, draft)
            as_branch = self.estimate(branch)
        if _no_worse(as_leaf, as_tree) and _no_worse(as_leaf, as_branch):
            self.note(draft, as_tree, as_leaf, "replaced")
            draft.children = []
            return False
        if _no_worse(as_branch, as_tree):
            self.note(draft, as_tree, as_branch, "raised")
            draft.origin, draft.candidate = branch.origin, branch.candidate
            draft.children, draft.moved = branch.children, True
            return True
        self.note(draft, as_tree, min(as_leaf, as_branch), "kept")
        return False

    def estimate(self, draft: Draft) -> float:
        """Return the estimated errors of a subtree."""
        return sum(map(self.leaf_estimate, draft.leaves))

    def leaf_estimate(self, draft: Draft) -> float:
        """Return the estimated errors of a node as a leaf."""
        return estimated_errors(draft.weights, self.recipe.confidence, self.costs)

    def note(self, draft: Draft, before: float, after: float, action: str) -> None:
        """Write a step down; a node is called by the question that it asks."""
        node = draft.origin
        self.steps.append(
            PruneStep(
                node.number,
                self.tree.condition(node),
                before,
                float(after),
                action in ("collapsed", "replaced"),
                action,
                measure="errors of the node",
            )
        )


def _no_worse(estimate: float, other: float) -> bool:
    return bool(estimate < other + SLACK + EQUAL)
