"""Validation rows at the nodes of a tree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.ties import TOLERANCE
from spinney.errors import DataError
from spinney.growth.prune.prune_record import Pruned
from spinney.growth.prune.risk import costs_of, leaf_risks
from spinney.growth.prune.walks import Judged, cheapest, top_down
from spinney.trees import Tree, labels_of_nodes, values_of_nodes
from spinney.trees.predict import Entries, flatten


class Judge:
    """What the label or number of a node costs for a row: 1, a cost, or a square.

    A row of a class that the tree does not know is never right; under costs it costs
    as much as the dearest error of its label.
    """

    def __init__(
        self, tree: Tree, targets: NDArray[Any], costs: Floats | None = None
    ) -> None:
        self._targets = np.asarray(targets)
        self._numeric = tree.schema.target.is_numeric
        matrix = costs_of(tree.schema.target, costs)
        if self._numeric:
            self._predicted: NDArray[Any] = values_of_nodes(tree)
            return
        self._predicted = labels_of_nodes(tree)
        if matrix is None:
            matrix = 1.0 - np.eye(tree.schema.n_classes)
        # One more column: class -1 is the last.
        self._costs = np.column_stack([matrix, matrix.max(axis=1)])

    def losses(self, entries: Entries, outputs: Floats | None = None) -> Floats:
        """Return the loss of each entry, its whole row at its node.

        ``outputs`` are what nodes predict of entries, where they have models.
        """
        predicted, true = self._predicted[entries.nodes], self._targets[entries.rows]
        if self._numeric:
            predicted = predicted if outputs is None else outputs[:, 0]
            return np.asarray((predicted - true) ** 2)
        return np.asarray(self._costs[predicted, true])


@dataclass(frozen=True, slots=True)
class Validation:
    """For each node, the loss of the validation rows that come to it, as a leaf.

    A row that a missing value divides counts at each node with its part.

    Parameters
    ----------
    loss : array
        The weight of the rows that a node labels wrong, what they cost, or the sum
        of their squared errors.
    weight_at : array
        The weight of the rows that come to each node.
    measure : {"accuracy", "cost", "mean squared error"}
        What the loss becomes in the record of steps.
    """

    loss: Floats
    weight_at: Floats
    measure: str

    @property
    def merit(self) -> Floats:
        """What is to be raised: the weight labelled right, or a loss with a minus."""
        right = self.weight_at - self.loss
        return right if self.measure == "accuracy" else -self.loss

    @property
    def scale(self) -> float:
        """What turns a merit of the whole tree into the measure."""
        weight = float(self.weight_at[0])
        return weight if self.measure == "accuracy" else -weight


def validate(
    tree: Tree,
    columns: Sequence[NDArray[Any]],
    targets: NDArray[Any],
    *,
    weights: Floats | None = None,
    costs: Floats | None = None,
) -> Validation:
    """Send coded validation rows down a tree.

    Parameters
    ----------
    tree : Tree
        The tree.
    columns : sequence of arrays
        One per attribute, as ``Schema.encode`` gives them: those of
        ``FlatTree.read`` at least.
    targets : array
        Class codes, -1 for a class that is unknown; or numbers.
    weights : array, optional
        The weight of each row.
    costs : array, optional
        ``costs[label][true]``; the tree's own if not given.
    """
    n_rows = len(targets)
    own = np.ones(n_rows) if weights is None else weights
    if not own.sum() > 0:
        msg = "the validation table has no rows: pruning needs some"
        raise DataError(msg)
    judge = Judge(tree, targets, costs)
    loss, weight_at = np.zeros(len(tree)), np.zeros(len(tree))
    for entries, outputs in flatten(tree).as_leaves(columns, n_rows):
        parts = entries.weights * own[entries.rows]
        losses = judge.losses(entries, outputs)
        loss += np.bincount(entries.nodes, parts * losses, len(tree))
        weight_at += np.bincount(entries.nodes, parts, len(tree))
    numeric = tree.schema.target.is_numeric
    plain = costs_of(tree.schema.target, costs) is None
    of_classes = "accuracy" if plain else "cost"
    return Validation(loss, weight_at, "mean squared error" if numeric else of_classes)


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

    def judge(node: int, children: Sequence[int]) -> Judged:
        nonlocal merit, risk
        below, before, risk_before = list(children), merit, risk
        split = merit - float(merits[node]) + float(merits[below].sum())
        split_risk = risk - float(risks[node]) + float(risks[below].sum())
        helps = split > merit + margin
        if helps:
            merit, risk = split, split_risk
        steps = before / scale, split / scale
        return Judged(node, *steps, not helps, risk_before, split_risk)

    return top_down(tree, judge, validation.measure)


def reduced_error(
    tree: Tree, *, validation: Validation, costs: Floats | None = None
) -> Pruned:
    """Return the pruned tree and what each step did."""
    return cheapest(
        tree,
        -validation.merit,
        risks=leaf_risks(tree, costs),
        measure=validation.measure,
        scale=-validation.scale,
        cut_ties=False,
    )
