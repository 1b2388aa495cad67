"""Error-based pruning: bottom-up, against a pessimistic estimate (C4.5).

A leaf of weight N with E errors is estimated to make U errors on as many new rows, the
upper confidence limit of :mod:`spinney.growth.prune.error_limits`. The estimate of a
subtree is the sum over its leaves. First, top-down, a subtree collapses into a leaf if
it makes no fewer training errors than the leaf. Then nodes are visited bottom-up, and
three estimates are compared: the node unchanged; as a leaf; and replaced by its largest
branch, with all rows of the node sent down that branch. The leaf is preferred if it is
at most 0.1 errors worse than both others, then the branch if it is at most 0.1 errors
worse than the unchanged node (Quinlan 1993, chapter 4; the slack and the order are
those of release 8 and of J48). A node that was replaced by its branch is pruned once
more.

The largest branch is the heaviest; ties go to the last. Forced nodes, and the nodes
above them, stay.

Leaves and subtrees are judged by the counts of the tree. Only raising needs the rows:
without rows no branch is raised.
"""

from collections.abc import Sequence

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.ties import last_best
from spinney.growth.prune.error_limits import CONFIDENCE, added_errors
from spinney.growth.prune.mutable_nodes import (
    MutableNode,
    NodeRecounter,
    mutable_tree,
    rebuilt_tree,
)
from spinney.growth.prune.prune_record import Pruned, PruneStep, Steps
from spinney.growth.prune.risk import leaf_risk, leaf_risks, sums_below
from spinney.sources import ROOT
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
    """Return the pruned tree, and each step's estimates for its node.

    Parameters
    ----------
    tree : Tree
        A classification tree.
    confidence : float
        The confidence level of the upper limit, at most 0.5; smaller values prune more.
    rows : NodeRecounter, optional
        The training rows; without them no branch is raised.
    """
    pruner = _Pruner(tree, confidence, rows)
    pruner.collapse()
    pruner.prune()
    return pruner.result()


def collapse(tree: Tree) -> Pruned:
    """Return the tree whose subtrees all make fewer training errors than a leaf.

    J48 does this to trees that it calls unpruned. Only collapsed nodes have a step.
    """
    pruner = _Pruner(tree)
    pruner.collapse()
    return pruner.result()


def estimated_errors(
    weights: Floats, confidence: float, costs: Costs | None = None
) -> float:
    """Return the estimated errors of a leaf with these class weights.

    Under ``costs`` they are the errors of the label of least expected cost.

    >>> round(estimated_errors(np.array([6.0, 0.0]), 0.25), 3)
    1.238
    """
    weight = float(weights.sum())
    if weight <= EQUAL:
        return 0.0
    errors = _training_errors(weights, costs)
    return errors + added_errors(weight, errors, confidence)


def _training_errors(weights: Floats, costs: Costs | None) -> float:
    """Return the weight of the rows of other classes than a leaf's label."""
    return leaf_risk(weights, int(labels_of(weights, costs)))


class _Pruner:
    def __init__(
        self,
        tree: Tree,
        confidence: float = CONFIDENCE,
        rows: NodeRecounter | None = None,
    ) -> None:
        self.tree, self.recounter, self.confidence = tree, rows, confidence
        self.root, self.costs = mutable_tree(tree), tree.schema.target.costs
        self.leaf_risks = leaf_risks(tree)
        self.total_risk = float(sums_below(tree, self.leaf_risks)[0])
        self.steps: list[PruneStep] = []
        self.forced = {
            above.number
            for node in tree
            if node.forced
            for above in tree.path(node.number)
        }

    def result(self) -> Pruned:
        """Return the tree in its present state, and the steps."""
        return Pruned(rebuilt_tree(self.root, self.tree), Steps(self.steps))

    def collapse(self) -> None:
        """Make leaves, top-down, of subtrees that make no fewer errors."""
        as_leaf = [_training_errors(node.weights, self.costs) for node in self.tree]
        as_tree = sums_below(self.tree, np.array(as_leaf))
        stack = [self.root]
        while stack:
            node = stack.pop()
            number = node.origin.number
            before, after = as_tree[number], as_leaf[number]
            useless = before >= after - COLLAPSE_SLACK
            if node.children and useless and number not in self.forced:
                change = self.risk_change(node, [node])
                self.record(node, before, after, "collapsed", change)
                node.children = []
            stack.extend(reversed(node.children))

    def prune(self) -> None:
        """Prune every node after its descendants."""
        stack = [(self.root, False)]
        while stack:
            node, children_done = stack.pop()
            if not node.children:
                continue
            if not children_done:
                if self.recounter is not None:
                    self.recounter.send_down(node)
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(node.children))
                continue
            if node.origin.number not in self.forced and self.replace(node):
                stack.append((node, False))
            elif self.recounter is not None and node.source_number != ROOT:
                self.recounter.source.release([node.source_number])

    def replace(self, node: MutableNode) -> bool:
        """Replace a node by a leaf or its largest branch; return True if raised."""
        as_tree = self.estimate(node)
        as_leaf = self.leaf_estimate(node)
        as_branch, branch = np.inf, node
        if self.recounter is not None:
            sizes = np.array([child.weights.sum() for child in node.children])
            largest = node.children[int(last_best(sizes))]
            branch = self.recounter.moved(largest, node)
            as_branch = self.estimate(branch)
        if _no_worse(as_leaf, as_tree) and _no_worse(as_leaf, as_branch):
            change = self.risk_change(node, [node])
            self.record(node, as_tree, as_leaf, "replaced", change)
            node.children = []
            return False
        if _no_worse(as_branch, as_tree):
            change = self.risk_change(node, branch.leaves)
            self.record(node, as_tree, as_branch, "raised", change)
            node.origin, node.candidate = branch.origin, branch.candidate
            node.children, node.moved = branch.children, True
            return True
        alternative = [node] if as_leaf <= as_branch else branch.leaves
        change = self.risk_change(node, alternative)
        self.record(node, as_tree, min(as_leaf, as_branch), "kept", change)
        return False

    def estimate(self, node: MutableNode) -> float:
        """Return the estimated errors of a subtree."""
        return sum(map(self.leaf_estimate, node.leaves))

    def leaf_estimate(self, node: MutableNode) -> float:
        """Return the estimated errors of a node as a leaf."""
        return estimated_errors(node.weights, self.confidence, self.costs)

    def risk_change(self, node: MutableNode, leaves: Sequence[MutableNode]) -> float:
        """Return the change of the training risk if a node gets these leaves."""
        return sum(map(self.risk, leaves)) - sum(map(self.risk, node.leaves))

    def risk(self, node: MutableNode) -> float:
        """Return the training risk of a node as a leaf."""
        if not node.moved:
            return float(self.leaf_risks[node.origin.number])
        label = int(labels_of(node.distribution, self.costs))
        return leaf_risk(node.weights, label, self.costs)

    def record(
        self, node: MutableNode, before: float, after: float, action: str, change: float
    ) -> None:
        """Record a step; the node has its original number and condition."""
        origin = node.origin
        self.steps.append(
            PruneStep(
                origin.number,
                self.tree.condition(origin),
                float(before),
                float(after),
                action in ("collapsed", "replaced"),
                action,
                measure=COUNTED if action == "collapsed" else ESTIMATED,
                risk_before=self.total_risk,
                risk_after=self.total_risk + change,
            )
        )
        if action != "kept":
            self.total_risk += change


def _no_worse(estimate: float, other: float) -> bool:
    return bool(estimate < other + SLACK + EQUAL)
