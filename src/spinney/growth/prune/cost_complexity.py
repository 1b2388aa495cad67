"""Cost-complexity pruning, with the cross-validation that chooses α.

Breiman, Friedman, Olshen & Stone, Classification and Regression Trees (1984), chapters
3 and 8. Every fold's rows are held out once. A tree grown on the others is pruned at
the geometric middle of where each subtree of the whole tree is the cheapest (its α
scaled by the weight of the rows left), and errs on the rows held out. The sum over all
rows is the subtree's cross-validated risk. Its standard error is, as rpart has it,
√(Σ w r² − (Σ w r)² / Σ w), r being what a row of weight w costs. Weights count as
frequencies there; where they are less than 1 on average they count by proportion, as
if it were 1.
"""

from collections.abc import Iterable
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney.growth.prune.by_validation import Judge
from spinney.growth.prune.cost_complexity_sequence import (
    Sequence,
    sequence_of,
    weakest_links,
)
from spinney.growth.prune.prune_record import Pruned
from spinney.growth.prune.risk import leaf_risks
from spinney.growth.prune.walks import cut_down_to
from spinney.trees import Tree, arrays_of
from spinney.trees.predict import Entries, flatten

# How many (row, subtree) pairs are added up at a time.
LARGEST_BLOCK = 4_000_000

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """The coded rows that a tree was grown on, and trees of all folds but one.

    Parameters
    ----------
    columns : sequence of arrays
        One per column of the table.
    targets : array
        Class codes or numbers.
    weights : array
        The weight of each row, as the tree counted it.
    fold_trees : iterable of (mask, Tree)
        For each fold its rows, and the unpruned tree grown on the others. They are
        asked for once, one at a time.
    """

    columns: SequenceOf[NDArray[Any]]
    targets: NDArray[Any]
    weights: Floats
    fold_trees: Iterable[tuple[Mask, Tree]]


def cost_complexity(
    tree: Tree,
    *,
    alpha: float | None = None,
    training: TrainingRows | None = None,
    rule: str = "1-se",
    costs: Floats | None = None,
) -> Pruned:
    """Prune at an α, or at the one that cross-validation chooses.

    Parameters
    ----------
    tree : Tree
        The tree.
    alpha : float, optional
        What a leaf costs, in the unit of the risk: rows in error, costs or squares.
    training : TrainingRows, optional
        Instead of ``alpha``: the rows, and the trees of folds.
    rule : {"1-se", "half-se", "minimum"}
        See :meth:`Sequence.best`.
    costs : array, optional
        ``costs[label][true]``; the tree's own if not given.
    """
    risks = leaf_risks(tree, costs)
    sequence = sequence_of(tree, risks)
    if alpha is None:
        assert training is not None
        sequence = cross_validated(sequence, training, costs=costs)
        alpha = sequence[sequence.best(rule)].alpha
    unit = "squared errors" if tree.schema.target.is_numeric else "risk"
    return cut_at(tree, sequence, alpha, risks=risks, unit=unit)


def cut_at(
    tree: Tree, sequence: Sequence, alpha: float, *, risks: Floats, unit: str
) -> Pruned:
    """Return the subtree of a sequence that is the cheapest at an α.

    ``risks`` are those of nodes as leaves, and ``unit`` is what they count.
    """
    chosen, reached = sequence.place(alpha), arrays_of(tree).rows > 0
    result = cut_down_to(
        tree,
        sequence.cuts(chosen),
        risks + alpha * reached,
        risks=risks,
        measure=f"{unit} + {alpha:g} × leaves",
    )
    return replace(result, sequence=replace(sequence, chosen=chosen))


def cross_validated(
    sequence: Sequence,
    training: TrainingRows,
    *,
    costs: Floats | None = None,
) -> Sequence:
    """Return the sequence with the risk of each subtree on rows held out.

    Where not every row has been held out, the others count as those that have.
    """
    weights, judged = training.weights, np.zeros(len(training.weights), bool)
    weighted, squared = np.zeros(len(sequence)), np.zeros(len(sequence))
    # Losses are counted in units of the mean risk at the root: squares of squares of
    # large numbers would be beyond floats.
    unit = sequence.root_risk / weights.sum() or 1.0
    for held, tree in training.fold_trees:
        judged |= held
        alphas = sequence.middles * float(weights[~held].sum() / weights.sum())
        for rows, losses in _losses(tree, training, held, alphas, costs):
            weighted += weights[rows] @ (losses / unit)
            squared += weights[rows] @ (losses / unit) ** 2
    frequency = max(1.0, np.count_nonzero(weights) / float(weights.sum()))
    weight = weights[judged].sum()
    spread = np.maximum(squared - weighted**2 / weight, 0.0) / frequency
    unit *= float(weights.sum() / weight)
    return sequence.judged(weighted * unit, np.sqrt(spread) * unit)


def _losses(
    tree: Tree, training: TrainingRows, held: Mask, alphas: Floats, costs: Floats | None
) -> Any:
    """Yield rows and their losses, rows × alphas, a block of the rows held at a time.

    At a node a row stays for the alphas from where the node collapses to where an
    ancestor does; a loss is noted at both ends and added up along the alphas.
    """
    links = weakest_links(tree, leaf_risks(tree, costs))
    first, last = links.stays(tree, alphas)
    flat, judge = flatten(tree), Judge(tree, training.targets, costs)
    members = np.flatnonzero(held)
    size = max(1, LARGEST_BLOCK // (len(alphas) + 1))
    for start in range(0, len(members), size):
        rows = members[start : start + size]
        columns = tree.schema.completed(
            [None if cells is None else cells[rows] for cells in training.columns],
            flat.needed,
        )
        ends = np.zeros((len(rows), len(alphas) + 1))
        for entries in flat.visits(columns, len(rows)):
            whole = Entries(rows[entries.rows], entries.nodes, entries.weights)
            loss = judge.losses(whole) * entries.weights
            begin, end = first[entries.nodes], last[entries.nodes]
            stays = begin < end
            np.add.at(ends, (entries.rows[stays], begin[stays]), loss[stays])
            np.add.at(ends, (entries.rows[stays], end[stays]), -loss[stays])
        yield rows, np.cumsum(ends, axis=1)[:, :-1]
