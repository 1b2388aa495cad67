"""Rows that a tree was not grown on, at its nodes, and pruning by their losses."""

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
from spinney.trees import Tree
from spinney.trees.predict import Entries, flatten


@dataclass(frozen=True, slots=True)
class EncodedRows:
    """Rows in the codes of a schema.

    Parameters
    ----------
    columns : sequence of arrays
        One per column of the schema, as ``Schema.encode`` gives them; those that no
        node asks about may be None.
    targets : array
        Class codes, -1 for a class that is unknown; or numbers.
    weights : array
        The weight of each row.
    """

    columns: Sequence[NDArray[Any]]
    targets: NDArray[Any]
    weights: Floats


class Judge:
    """What the label or number of a node costs for a row: 1, a cost, or a square.

    A row of a class that the tree does not know is never right; under costs it costs
    as much as the dearest error of its label.
    """

    def __init__(
        self, tree: Tree, rows: EncodedRows, costs: Floats | None = None
    ) -> None:
        self._targets = np.asarray(rows.targets)
        self._target, self._weight = tree.schema.target, float(rows.weights.sum())
        self._numeric = tree.schema.target.is_numeric
        matrix = costs_of(tree.schema.target, costs)
        if self._numeric:
            self._predicted: NDArray[Any] = tree.arrays.predicted
            return
        self._predicted = tree.nodes.labels
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
            return self._squares(predicted if outputs is None else outputs[:, 0], true)
        return np.asarray(self._costs[predicted, true])

    def _squares(self, predicted: Floats, true: Floats) -> Floats:
        """Return squared errors; refuse those that all rows may not add up to."""
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.asarray((predicted - true) ** 2)
            countable = np.isfinite(squares.max(initial=0.0) * self._weight)
        if not countable:
            worst = int(np.argmax(squares))
            msg = (
                f"target {self._target.name!r} holds {true[worst]:g} where "
                f"{predicted[worst]:g} is predicted: their squared error is too large "
                "for floats"
            )
            raise DataError(msg, remedy="leave out such rows")
        return squares


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

    @property
    def margin(self) -> float:
        """How much merit is nothing: sums are exact to a share of that of all rows.

        It is known at the root, so that a tree is judged alike as it grows.
        """
        whole = self.weight_at[0] if self.measure == "accuracy" else self.loss[0]
        return TOLERANCE * float(whole)

    def helps(self, node: int, children: Sequence[int], margin: float) -> bool:
        """Return whether a node's rows fare better at its children, as leaves."""
        merit = self.merit
        return float(merit[list(children)].sum() - merit[node]) > margin


def measure_of(tree: Tree, costs: Floats | None = None) -> str:
    """Return what the loss of rows is called: of classes, of costs or of numbers."""
    if tree.schema.target.is_numeric:
        return "mean squared error"
    return "accuracy" if costs_of(tree.schema.target, costs) is None else "cost"


def validate(
    tree: Tree, rows: EncodedRows, *, costs: Floats | None = None
) -> Validation:
    """Send coded rows down a tree.

    Parameters
    ----------
    tree : Tree
        The tree.
    rows : EncodedRows
        They need the columns of ``FlatTree.read`` at least.
    costs : array, optional
        ``costs[label][true]``; the tree's own if not given.
    """
    refuse_no_rows(rows)
    n_rows, flat, judge = len(rows.targets), flatten(tree), Judge(tree, rows, costs)
    columns = tree.schema.completed(rows.columns, flat.read)
    loss, weight_at = np.zeros(len(tree)), np.zeros(len(tree))
    for entries, outputs in flat.as_leaves(columns, n_rows):
        parts = entries.weights * rows.weights[entries.rows]
        losses = judge.losses(entries, outputs)
        loss += np.bincount(entries.nodes, parts * losses, len(tree))
        weight_at += np.bincount(entries.nodes, parts, len(tree))
    return Validation(loss, weight_at, measure_of(tree, costs))


def refuse_no_rows(rows: EncodedRows) -> None:
    """Refuse a table of rows without weight, which cannot tell anything."""
    if not rows.weights.sum() > 0:
        msg = "the table to judge by has no rows: give it at least one"
        raise DataError(msg)


def pre_pruning(
    tree: Tree, *, validation: EncodedRows, costs: Floats | None = None
) -> Pruned:
    """Return the pruned tree and what each step did.

    A step's ``before`` is the measure without the split, ``after`` with it, its
    children being leaves. :mod:`spinney.growth.prune.while_growing` judges alike.
    """
    judged, risks = validate(tree, validation, costs=costs), leaf_risks(tree, costs)
    merits, scale, margin = judged.merit, judged.scale, judged.margin
    merit, risk = float(merits[0]), float(risks[0])

    def judge(node: int, children: Sequence[int]) -> Judged:
        nonlocal merit, risk
        below, before, risk_before = list(children), merit, risk
        split = merit - float(merits[node]) + float(merits[below].sum())
        split_risk = risk - float(risks[node]) + float(risks[below].sum())
        helps = judged.helps(node, below, margin)
        if helps:
            merit, risk = split, split_risk
        steps = before / scale, split / scale
        return Judged(node, *steps, not helps, risk_before, split_risk)

    return top_down(tree, judge, judged.measure)


def reduced_error(
    tree: Tree, *, validation: EncodedRows, costs: Floats | None = None
) -> Pruned:
    """Return the pruned tree and what each step did."""
    judged = validate(tree, validation, costs=costs)
    return cheapest(
        tree,
        -judged.merit,
        risks=leaf_risks(tree, costs),
        measure=judged.measure,
        scale=-judged.scale,
        cut_ties=False,
    )
