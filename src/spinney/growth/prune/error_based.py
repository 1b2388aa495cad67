"""Error-based pruning: bottom-up, against a pessimistic estimate (C4.5).

A leaf of weight N with E errors is estimated to make U errors on as many new rows,
the upper confidence limit of :mod:`spinney.growth.prune.error_limits`; a subtree, the
sum of its leaves. First, from the root down, a subtree that makes no fewer training
errors than a leaf would is collapsed into one. Then every node is looked at after all
that is below it, and three estimates are compared: as it is; as a leaf; and its largest
branch in its place, with all rows of the node sent down that branch. A leaf is
preferred where it is no more than 0.1 errors worse than both others, the branch where
it is no more than 0.1 errors worse than the node as it is (Quinlan 1993, chapter 4; the
slack and the order are those of release 8 and of J48). A node that took its branch's
place is pruned once more.

The largest branch is the heaviest; the last of equals. A node that the user forced,
and those above it, stay.

Leaves and subtrees are judged by the counts that a tree keeps. Only raising needs the
rows: where they are not given, no branch is raised.
"""

from collections.abc import Sequence

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.ties import last_best
from spinney.growth.prune.error_limits import CONFIDENCE, added_errors
from spinney.growth.prune.mutable_nodes import (
    MutableNode,
    NodeRecounter,
    finished,
    mutable_tree,
)
from spinney.growth.prune.prune_record import Pruned, PruneStep, Steps
from spinney.growth.prune.risk import below, leaf_risks, risk_of
from spinney.trees import Tree, labels_of

# J48's: what counts as no fewer training errors, as no worse, and as equal.
COLLAPSE_SLACK = 1e-3
SLACK = 0.1
EQUAL = 1e-6

ESTIMATED = "estimated errors of the node"
COUNTED = "training errors where collapsed"

Costs = Sequence[Sequence[float]]


def error_based(
    tree: Tree, *, confidence: float = CONFIDENCE, rows: NodeRecounter | None = None
) -> Pruned:
    """Return the pruned tree and what each step did to the estimate of its node.

    Parameters
    ----------
    tree : Tree
        A tree of classes.
    confidence : float
        That of the upper limit, at most one half; less prunes more.
    rows : NodeRecounter, optional
        Those that the tree was grown on; branches are raised if they are given.
    """
    pruner = _Pruner(tree, confidence, rows)
    pruner.collapse()
    pruner.prune()
    return pruner.result()


def collapse(tree: Tree) -> Pruned:
    """Return the tree whose subtrees all make fewer training errors than a leaf.

    It is all that J48 does to a tree that it calls unpruned. Nodes that stay leave
    no step.
    """
    pruner = _Pruner(tree)
    pruner.collapse()
    return pruner.result()


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
    return risk_of(weights, int(labels_of(weights, costs)))


class _Pruner:
    def __init__(
        self,
        tree: Tree,
        confidence: float = CONFIDENCE,
        rows: NodeRecounter | None = None,
    ) -> None:
        self.tree, self.rows, self.confidence = tree, rows, confidence
        self.root, self.costs = mutable_tree(tree), tree.schema.target.costs
        self.as_leaf = leaf_risks(tree)
        self.total = float(below(tree, self.as_leaf)[0])
        self.steps: list[PruneStep] = []
        self.forced = {
            above.number
            for node in tree
            if node.forced
            for above in tree.path(node.number)
        }

    def result(self) -> Pruned:
        """Return the tree as it is now, and the steps."""
        return Pruned(finished(self.root, self.tree), Steps(self.steps))

    def collapse(self) -> None:
        """Make leaves, from the root down, where a subtree errs no less."""
        wrong = np.array([_wrong(node.weights, self.costs) for node in self.tree])
        as_tree = below(self.tree, wrong)
        stack = [self.root]
        while stack:
            draft = stack.pop()
            number = draft.origin.number
            useless = as_tree[number] >= wrong[number] - COLLAPSE_SLACK
            if draft.children and useless and number not in self.forced:
                change = self.change(draft, [draft])
                self.note(draft, as_tree[number], wrong[number], "collapsed", change)
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
                if self.rows is not None:
                    self.rows.send_down(draft)
                stack.append((draft, True))
                stack.extend((child, False) for child in reversed(draft.children))
                continue
            if draft.origin.number not in self.forced and self.replaced(draft):
                stack.append((draft, False))
            elif self.rows is not None:
                self.rows.let_go(draft)

    def replaced(self, draft: MutableNode) -> bool:
        """Change a node if a leaf or its largest branch will do; True if raised."""
        as_tree = self.estimate(draft)
        as_leaf = self.leaf_estimate(draft)
        as_branch, branch = np.inf, draft
        if self.rows is not None:
            sizes = np.array([child.weights.sum() for child in draft.children])
            largest = draft.children[int(last_best(sizes))]
            branch = self.rows.moved(largest, draft)
            as_branch = self.estimate(branch)
        if _no_worse(as_leaf, as_tree) and _no_worse(as_leaf, as_branch):
            change = self.change(draft, [draft])
            self.note(draft, as_tree, as_leaf, "replaced", change)
            draft.children = []
            return False
        if _no_worse(as_branch, as_tree):
            change = self.change(draft, branch.leaves)
            self.note(draft, as_tree, as_branch, "raised", change)
            draft.origin, draft.candidate = branch.origin, branch.candidate
            draft.children, draft.moved = branch.children, True
            return True
        instead = [draft] if as_leaf <= as_branch else branch.leaves
        change = self.change(draft, instead)
        self.note(draft, as_tree, min(as_leaf, as_branch), "kept", change)
        return False

    def estimate(self, draft: MutableNode) -> float:
        """Return the estimated errors of a subtree."""
        return sum(map(self.leaf_estimate, draft.leaves))

    def leaf_estimate(self, draft: MutableNode) -> float:
        """Return the estimated errors of a node as a leaf."""
        return estimated_errors(draft.weights, self.confidence, self.costs)

    def change(self, draft: MutableNode, leaves: Sequence[MutableNode]) -> float:
        """Return what the training risk gains if a node's leaves become these."""
        return sum(map(self.risk, leaves)) - sum(map(self.risk, draft.leaves))

    def risk(self, draft: MutableNode) -> float:
        """Return the training risk of a node as a leaf."""
        if not draft.moved:
            return float(self.as_leaf[draft.origin.number])
        label = int(labels_of(draft.distribution, self.costs))
        return risk_of(draft.weights, label, self.costs)

    def note(
        self,
        draft: MutableNode,
        before: float,
        after: float,
        action: str,
        change: float,
    ) -> None:
        """Write a step down; a node is called by the question that it asks."""
        node = draft.origin
        self.steps.append(
            PruneStep(
                node.number,
                self.tree.condition(node),
                float(before),
                float(after),
                action in ("collapsed", "replaced"),
                action,
                measure=COUNTED if action == "collapsed" else ESTIMATED,
                risk_before=self.total,
                risk_after=self.total + change,
            )
        )
        if action != "kept":
            self.total += change


def _no_worse(estimate: float, other: float) -> bool:
    return bool(estimate < other + SLACK + EQUAL)
