"""Validation rows at the nodes of a tree, and pruning by their losses.

Pre-pruning can work while a tree grows, since only a node and its children decide
whether a split helps. Validation rows then go down with the tree, a level at a time.
The level is a row of *stumps*, trees of one split each, side by side::

    growing nodes   4      7              5  6  8  9  10     children, as leaves
    stumps          0      3      with    1  2  4  5  6
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import TOLERANCE
from spinney.errors import DataError
from spinney.growth.prune.prune_record import Pruned
from spinney.growth.prune.risk import costs_of, leaf_risks
from spinney.growth.prune.walks import PruneDecision, cheapest, top_down
from spinney.trees import Tree
from spinney.trees.predict import Entries, flatten


@dataclass(frozen=True, slots=True)
class EncodedRows:
    """Rows in the codes of a schema.

    Parameters
    ----------
    columns : sequence of arrays
        The columns of the schema, as ``Schema.encode`` gives them; unused columns may
        be None.
    targets : array
        Class codes, -1 for a class that is unknown; or numbers.
    weights : array
        The weight of each row.
    """

    columns: Sequence[NDArray[Any]]
    targets: NDArray[Any]
    weights: Floats


class NodeLosses:
    """The loss of a row at a node: an error, its cost, or a squared error.

    A row of a class that the tree does not know is always an error. Under costs it has
    the highest cost of its predicted label.
    """

    def __init__(
        self, tree: Tree, rows: EncodedRows, costs: Floats | None = None
    ) -> None:
        self._targets = np.asarray(rows.targets)
        self._target, self._weight = tree.schema.target, float(rows.weights.sum())
        if self._target.is_numeric:
            self._predicted: NDArray[Any] = tree.arrays.predicted
            return
        self._predicted = tree.nodes.labels
        matrix = costs_of(self._target, costs)
        if matrix is None:
            matrix = 1.0 - np.eye(tree.schema.n_classes)
        # One more column: class -1 is the last.
        self._costs = np.column_stack([matrix, matrix.max(axis=1)])

    def entry_losses(self, entries: Entries, outputs: Floats | None = None) -> Floats:
        """Return the loss of each entry, as if its whole row were at its node.

        ``outputs`` are the predictions for entries, if nodes have models.
        """
        predicted, true = self._predicted[entries.nodes], self._targets[entries.rows]
        if not self._target.is_numeric:
            return np.asarray(self._costs[predicted, true])
        if outputs is not None:
            predicted = outputs[:, 0]
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.asarray((predicted - true) ** 2)
            can_sum = np.isfinite(squares.max(initial=0.0) * self._weight)
        if not can_sum:
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
    """The loss of the validation rows at each node, if the node were a leaf.

    A row that is divided by a missing value counts at each node with its fraction.

    Parameters
    ----------
    loss : array
        The weight of the rows in error at a node, their cost, or the sum of their
        squared errors.
    weights : array
        The weight of the rows that reach each node.
    measure : {"accuracy", "cost", "mean squared error"}
        The measure in the record of steps.
    """

    loss: Floats
    weights: Floats
    measure: str

    @property
    def merit(self) -> Floats:
        """The merit, which pruning maximises: the correct weight, or minus the loss."""
        n_correct = self.weights - self.loss
        return n_correct if self.measure == "accuracy" else -self.loss

    @property
    def scale(self) -> float:
        """The divisor from the merit of the whole tree to the measure."""
        weight = float(self.weights[0])
        return weight if self.measure == "accuracy" else -weight

    @property
    def margin(self) -> float:
        """The largest rounding error of a merit: a fraction of the root's merit.

        Growing and finished trees both know the root, so both have the same margin.
        """
        total = self.weights[0] if self.measure == "accuracy" else self.loss[0]
        return TOLERANCE * float(total)

    def helps(self, node: int, children: Sequence[int], margin: float) -> bool:
        """Return whether the children, as leaves, have less loss than their node."""
        merit = self.merit
        return float(merit[list(children)].sum() - merit[node]) > margin


def measure_of(tree: Tree, costs: Floats | None = None) -> str:
    """Return the name of a tree's measure, by its target and costs."""
    if tree.schema.target.is_numeric:
        return "mean squared error"
    return "accuracy" if costs_of(tree.schema.target, costs) is None else "cost"


def validate(
    tree: Tree, rows: EncodedRows, *, costs: Floats | None = None
) -> Validation:
    """Return the loss of encoded rows at each node of a tree.

    Parameters
    ----------
    tree : Tree
        The tree.
    rows : EncodedRows
        The rows, with the columns of ``FlatTree.read`` at least.
    costs : array, optional
        ``costs[label][true]``; the tree's own if not given.
    """
    require_rows(rows)
    n_rows, flat = len(rows.targets), flatten(tree)
    losses = NodeLosses(tree, rows, costs)
    columns = tree.schema.completed(rows.columns, flat.read)
    loss, node_weights = np.zeros(len(tree)), np.zeros(len(tree))
    for entries, outputs in flat.as_leaves(columns, n_rows):
        entry_weights = entries.weights * rows.weights[entries.rows]
        weighted = entry_weights * losses.entry_losses(entries, outputs)
        loss += np.bincount(entries.nodes, weighted, len(tree))
        node_weights += np.bincount(entries.nodes, entry_weights, len(tree))
    return Validation(loss, node_weights, measure_of(tree, costs))


def require_rows(rows: EncodedRows) -> None:
    """Refuse validation rows whose total weight is 0: they have no loss."""
    if not rows.weights.sum() > 0:
        msg = "the validation table has no rows with a weight above 0: add at least one"
        raise DataError(msg)


def pre_pruning(
    tree: Tree, *, validation: EncodedRows, costs: Floats | None = None
) -> Pruned:
    """Return the pruned tree, with a record of each step.

    A step's ``before`` is the measure without the split. Its ``after`` is the measure
    with the split, the children being leaves. :class:`ValidationDescent` has the same
    rule.
    """
    losses, risks = validate(tree, validation, costs=costs), leaf_risks(tree, costs)
    merits, scale, margin = losses.merit, losses.scale, losses.margin
    merit, risk = float(merits[0]), float(risks[0])

    def judge(node: int, children: Sequence[int]) -> PruneDecision:
        nonlocal merit, risk
        branches, before, risk_before = list(children), merit, risk
        split = merit - float(merits[node]) + float(merits[branches].sum())
        split_risk = risk - float(risks[node]) + float(risks[branches].sum())
        helps = losses.helps(node, branches, margin)
        if helps:
            merit, risk = split, split_risk
        steps = before / scale, split / scale
        return PruneDecision(node, *steps, not helps, risk_before, split_risk)

    return top_down(tree, judge, losses.measure)


def reduced_error(
    tree: Tree, *, validation: EncodedRows, costs: Floats | None = None
) -> Pruned:
    """Return the pruned tree, with a record of each step."""
    losses = validate(tree, validation, costs=costs)
    return cheapest(
        tree,
        -losses.merit,
        risks=leaf_risks(tree, costs),
        measure=losses.measure,
        scale=-losses.scale,
        cut_ties=False,
    )


class ValidationDescent:
    """Validation rows at the nodes of a growing tree; their total weight is above 0."""

    def __init__(self, rows: EncodedRows) -> None:
        self.rows = rows
        all_rows = np.arange(len(rows.targets))
        self._entries = Entries(
            all_rows, np.zeros_like(all_rows), np.ones(len(all_rows))
        )
        self._margin: float | None = None

    def helpful_splits(self, stumps: Tree, numbers: Integers) -> list[bool]:
        """Return for each stump whether its split helps; move the rows down.

        ``numbers`` are those of the growing nodes, one for each node of the stumps.
        """
        validation = self._sent_down(stumps, numbers)
        if self._margin is None:  # the first stump is the root
            self._margin = validation.margin
        return [
            validation.helps(node, children, self._margin)
            for node, children in enumerate(stumps.nodes.children)
            if children
        ]

    def _sent_down(self, stumps: Tree, numbers: Integers) -> Validation:
        """Return the losses at the nodes of stumps; move the rows to the leaves."""
        rows, flat = self.rows, flatten(stumps)
        losses = NodeLosses(stumps, rows)
        highest = max(int(numbers.max()), int(self._entries.nodes.max(initial=0)))
        place_of = np.full(highest + 1, -1)
        place_of[numbers] = np.arange(len(numbers))
        nodes = place_of[self._entries.nodes]
        in_level = nodes >= 0
        above = Entries(
            self._entries.rows[in_level],
            nodes[in_level],
            self._entries.weights[in_level],
        )
        columns = stumps.schema.completed(rows.columns, flat.gathered)
        below = flat.step(above, columns, len(rows.targets))
        loss, node_weights = np.zeros((2, len(stumps)))
        for entries in (above, below):
            entry_weights: Floats = entries.weights * rows.weights[entries.rows]
            weighted = entry_weights * losses.entry_losses(entries)
            loss += np.bincount(entries.nodes, weighted, len(stumps))
            node_weights += np.bincount(entries.nodes, entry_weights, len(stumps))
        self._entries = Entries(below.rows, numbers[below.nodes], below.weights)
        return Validation(loss, node_weights, measure_of(stumps))
