"""Cost-complexity pruning, with the cross-validation that chooses α.

Breiman, Friedman, Olshen & Stone, Classification and Regression Trees (1984), chapters
3 and 8. Every fold is held out once. For each subtree of the whole tree, a tree grown
on the other folds is pruned at the geometric mean of the subtree's interval of α
(scaled by the weight of the training rows), and predicts the held-out rows. The sum of
their losses over all folds is the subtree's cross-validated risk. Its standard error
is, as in rpart, √(Σ w r² − (Σ w r)² / Σ w), where r is the loss of a row of weight w.
Weights count as frequencies; if their mean is below 1, they are scaled to a mean of 1.

Validation rows are sent down the whole tree: the error of a subtree is their mean loss
at its leaves, with the same standard error.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.growth.prune.by_validation import EncodedRows, NodeLosses, require_rows
from spinney.growth.prune.cost_complexity_sequence import (
    FoldLosses,
    PruningSequence,
    sequence_of,
    weakest_links,
)
from spinney.growth.prune.prune_record import Pruned
from spinney.growth.prune.risk import leaf_risks
from spinney.growth.prune.walks import cut_down_to
from spinney.trees import Tree
from spinney.trees.predict import BLOCK, Entries, flatten

# (row, subtree) pairs that are added up at a time.
MAX_BLOCK = 4_000_000

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class CrossValidationRows(EncodedRows):
    """Training rows, with a tree for each fold that is grown on the other folds.

    Parameters
    ----------
    columns, targets, weights
        As in :class:`EncodedRows`; weights as the tree counted them.
    fold_trees : iterable of (mask, Tree)
        For each fold its rows, and the unpruned tree of the other folds. The iterable
        is read once.
    """

    fold_trees: Iterable[tuple[Mask, Tree]]


def cost_complexity(
    tree: Tree,
    *,
    alpha: float | None = None,
    training: CrossValidationRows | None = None,
    validation: EncodedRows | None = None,
    rule: str | None = None,
    costs: Floats | None = None,
) -> Pruned:
    """Return the tree pruned at ``alpha``, or at the α chosen by folds or validation.

    Parameters
    ----------
    tree : Tree
        The tree.
    alpha : float, optional
        The cost of a leaf, in the unit of the risk: misclassified weight, cost or
        squared error.
    training : CrossValidationRows, optional
        Instead of ``alpha``: the rows, and the trees of folds.
    validation : EncodedRows, optional
        Instead of ``alpha``: a validation set.
    rule : {"1-se", "half-se", "minimum"}, optional
        See :meth:`PruningSequence.best`; by default "1-se" for folds and "minimum" for
        validation rows.
    costs : array, optional
        ``costs[label][true]``; the tree's own if not given.
    """
    risks = leaf_risks(tree, costs)
    sequence = sequence_of(tree, risks)
    if validation is not None:
        sequence = validated(sequence, tree, validation, costs=costs)
        alpha = sequence[sequence.best(rule or "minimum")].alpha
    elif alpha is None:
        assert training is not None
        sequence = cross_validated(sequence, training, costs=costs)
        alpha = sequence[sequence.best(rule or "1-se")].alpha
    unit = "squared errors" if tree.schema.target.is_numeric else "risk"
    return cut_at(tree, sequence, alpha, risks=risks, unit=unit)


def cut_at(
    tree: Tree, sequence: PruningSequence, alpha: float, *, risks: Floats, unit: str
) -> Pruned:
    """Return the cheapest subtree of a sequence at an α.

    ``risks`` are the risks of nodes as leaves, in this ``unit``.
    """
    chosen, reached = sequence.place(alpha), tree.arrays.rows > 0
    result = cut_down_to(
        tree,
        sequence.cuts(chosen),
        risks + alpha * reached,
        risks=risks,
        measure=f"{unit} + {alpha:g} × leaves",
    )
    return replace(result, sequence=replace(sequence, chosen=chosen))


def cross_validated(
    sequence: PruningSequence,
    training: CrossValidationRows,
    *,
    costs: Floats | None = None,
) -> PruningSequence:
    """Return the sequence with the cross-validated risk of each subtree.

    If some rows were never held out, the risk is extrapolated from the others.
    """
    weights, validated_rows = training.weights, np.zeros(len(training.weights), bool)
    total, root_risk = weights.sum(), sequence.root_risk
    sums = _LossSums(len(sequence), weights, unit=root_risk / total or 1.0)
    for held_out, tree in training.fold_trees:
        validated_rows |= held_out
        alphas = sequence.middles * float(weights[~held_out].sum() / total)
        sums.add(tree, training, held_out, alphas, costs)
        sums.end_fold(held_out)
    errors, deviations = sums.means(validated_rows)
    scale = total / (root_risk if root_risk > 0 else 1.0)
    sequence = sequence.with_errors(errors * scale, deviations * scale, by="folds")
    return replace(sequence, fold_losses=sums.by_fold())


def held_out_losses(alpha: float, training: CrossValidationRows) -> Floats:
    """Return the loss of each row at the tree that held it out, pruned at an α.

    α is for all rows; a tree is pruned at its share of that, as by
    :func:`cross_validated`. A row that no tree held out has 0.
    """
    weights = training.weights
    losses = np.zeros(len(weights))
    for held_out, tree in training.fold_trees:
        alphas = np.array([alpha * float(weights[~held_out].sum() / weights.sum())])
        path = _PruningPath(tree, training, alphas, None)
        for rows, at_alphas in path.losses(np.flatnonzero(held_out)):
            losses[rows] = at_alphas[:, 0]
    return losses


def validated(
    sequence: PruningSequence,
    tree: Tree,
    rows: EncodedRows,
    *,
    costs: Floats | None = None,
) -> PruningSequence:
    """Return the sequence of a tree with the mean validation loss of each subtree.

    The loss is the error rate, the mean cost or the mean squared error.
    """
    require_rows(rows)
    all_rows = np.ones(len(rows.weights), bool)
    unit = sequence.root_risk / sequence.weight
    sums = _LossSums(len(sequence), rows.weights, unit=unit or 1.0)
    sums.add(tree, rows, all_rows, sequence.alphas, costs)
    return sequence.with_errors(*sums.means(all_rows), by="validation")


class _LossSums:
    """Sums over rows of the losses of subtrees, and of their squares.

    Losses are divided by ``unit``, the mean risk at the root: fourth powers of large
    numbers would exceed floats. Weights are scaled to a mean of at least 1.
    """

    def __init__(self, n_subtrees: int, weights: Floats, *, unit: float) -> None:
        self.losses, self.squares = np.zeros(n_subtrees), np.zeros(n_subtrees)
        self.weights = weights / min(weights.sum() / np.count_nonzero(weights), 1.0)
        self.unit = unit
        self._ends: list[tuple[Floats, Floats, float]] = []

    def end_fold(self, included: Mask) -> None:
        """Note that the rows of a fold have been added."""
        weight = float(self.weights[included].sum())
        self._ends.append((self.losses.copy(), self.squares.copy(), weight))

    def by_fold(self) -> FoldLosses:
        """Return the sums of each fold."""
        losses, squares, weights = map(np.array, zip(*self._ends, strict=True))
        first = np.zeros((1, losses.shape[1]))
        losses, squares = (np.diff(s, axis=0, prepend=first) for s in (losses, squares))
        return FoldLosses(losses, squares, weights, self.unit)

    def add(
        self,
        tree: Tree,
        rows: EncodedRows,
        included: Mask,
        alphas: Floats,
        costs: Floats | None,
    ) -> None:
        """Add the losses of some rows at a tree, pruned at each of these alphas."""
        numbers = np.flatnonzero(included)
        path = _PruningPath(tree, rows, alphas, costs)
        if len(numbers) * len(alphas) > MAX_BLOCK:
            numbers = self._add_undivided(numbers, path)
        for block, losses in path.losses(numbers):
            self.losses += self.weights[block] @ (losses / self.unit)
            self.squares += self.weights[block] @ (losses / self.unit) ** 2

    def _add_undivided(self, numbers: Integers, path: "_PruningPath") -> Integers:
        """Add the rows that no missing value divides; return the others.

        Such a row is at one leaf of each subtree. So losses and squares are added at
        the ends of their intervals, for all rows together.
        """
        divided, ends = [], np.zeros((2, path.n_alphas + 1))
        for start in range(0, len(numbers), BLOCK):
            rows = numbers[start : start + BLOCK]
            visits = list(path.visits(rows))
            undivided = np.ones(len(rows), bool)
            for entries, *_ in visits:
                undivided[entries.rows[entries.weights != 1]] = False
            divided.append(rows[~undivided])
            for entries, losses, begin, end in visits:
                counted = undivided[entries.rows]
                weights = self.weights[rows[entries.rows[counted]]]
                loss = losses[counted] / self.unit
                for sums, amounts in zip(
                    ends, (weights * loss, weights * loss**2), strict=True
                ):
                    sums += np.bincount(begin[counted], amounts, len(sums))
                    sums -= np.bincount(end[counted], amounts, len(sums))
        losses, squares = np.cumsum(ends, axis=1)[:, :-1]
        self.losses += losses
        self.squares += squares
        return np.concatenate(divided)

    def means(self, included: Mask) -> tuple[Floats, Floats]:
        """Return the mean loss of the added rows, and its standard error."""
        weight = self.weights[included].sum()
        spread = np.maximum(self.squares - self.losses**2 / weight, 0.0)
        unit = self.unit / weight
        return self.losses * unit, np.sqrt(spread) * unit


class _PruningPath:
    """The path of rows through a tree that is pruned at rising alphas.

    A row stays at a node from the alpha at which the node collapses to the alpha at
    which an ancestor collapses.
    """

    def __init__(
        self, tree: Tree, rows: EncodedRows, alphas: Floats, costs: Floats | None
    ) -> None:
        self.schema, self.rows, self.n_alphas = tree.schema, rows, len(alphas)
        links = weakest_links(tree, leaf_risks(tree, costs))
        self.first, self.last = links.stays(tree, alphas)
        self.flat, self.node_losses = flatten(tree), NodeLosses(tree, rows, costs)

    def visits(
        self, rows: Integers
    ) -> Iterator[tuple[Entries, Floats, Integers, Integers]]:
        """Yield entries, their losses, and their first and last index of alphas.

        Row numbers are relative to the first of these rows.
        """
        columns = self.schema.completed(
            [None if cells is None else cells[rows] for cells in self.rows.columns],
            self.flat.gathered,
        )
        for entries in self.flat.visits(columns, len(rows)):
            stays = self.first[entries.nodes] < self.last[entries.nodes]
            nodes, weights = entries.nodes[stays], entries.weights[stays]
            staying = Entries(entries.rows[stays], nodes, weights)
            all_rows = Entries(rows[staying.rows], nodes, weights)
            losses = self.node_losses.entry_losses(all_rows)
            yield staying, losses, self.first[nodes], self.last[nodes]

    def losses(self, numbers: Integers) -> Iterator[tuple[Integers, Floats]]:
        """Yield blocks of rows and their losses, rows × alphas.

        A loss is recorded at both ends of its interval, and summed along the alphas.
        """
        size = max(1, MAX_BLOCK // (self.n_alphas + 1))
        for start in range(0, len(numbers), size):
            rows = numbers[start : start + size]
            ends = np.zeros((len(rows), self.n_alphas + 1))
            for entries, losses, begin, end in self.visits(rows):
                weighted = losses * entries.weights
                np.add.at(ends, (entries.rows, begin), weighted)
                np.add.at(ends, (entries.rows, end), -weighted)
            yield rows, np.cumsum(ends, axis=1)[:, :-1]
