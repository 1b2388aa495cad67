"""What a forest says of a row: its trees vote.

probability
    the class shares at the leaves, averaged over the trees; of numbers the mean.
majority
    each tree has one vote, for the class of its leaf; a share is one of votes.

*Out of bag*, a row is told by the trees only that were not grown on it: an honest guess
without rows held out.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.costs import labels_of
from spinney.counts import Floats, Integers
from spinney.errors import DataError, warn
from spinney.forest.bags import Bags
from spinney.forest.forest import Forest
from spinney.training import TrainingSet

__all__ = [
    "check_bags",
    "leaves",
    "out_of_bag",
    "outputs",
    "score_of",
    "votes_of",
    "warn_of_unseen",
]


def votes_of(told: Floats, forest: Forest) -> Floats:
    """Return what a tree's outputs count in the vote."""
    if forest.schema.target.is_numeric or forest.settings.voting == "probability":
        return told
    labels = labels_of(told, None)
    return np.asarray(np.eye(told.shape[1])[labels])


def each_tree(
    forest: Forest, columns: Sequence[NDArray[Any]], n_rows: int
) -> Iterator[Floats]:
    """Yield what each tree says of all rows."""
    target, recipe = forest.schema.target, forest.recipe
    for member in forest.members:
        told = member.flat(target, recipe).outputs(columns, n_rows)
        yield votes_of(told, forest)


def outputs(forest: Forest, columns: Sequence[NDArray[Any]], n_rows: int) -> Floats:
    """Return what the forest says of each row: class shares, or one number."""
    width = 1 if forest.schema.target.is_numeric else forest.schema.n_classes
    total = np.zeros((n_rows, width))
    for told in each_tree(forest, columns, n_rows):
        total += told
    return np.asarray(total / len(forest))


def leaves(
    forest: Forest, columns: Sequence[NDArray[Any]], n_rows: int
) -> NDArray[np.int32]:
    """Return the leaf of each row in each tree, rows × trees."""
    target, recipe = forest.schema.target, forest.recipe
    found = np.empty((n_rows, len(forest)), dtype=np.int32)
    for number, member in enumerate(forest.members):
        flat = member.flat(target, recipe)
        found[:, number] = flat.leaf_numbers(columns, n_rows)
    return found


def out_of_bag(forest: Forest, bags: Bags) -> tuple[Floats, Integers]:
    """Return what the trees that did not see a row say of it, and how many those are.

    NaN where every tree has seen it.
    """
    check_bags(forest)
    columns, n_rows = bags.training.columns, len(bags.training.classes)
    width = 1 if forest.schema.target.is_numeric else forest.schema.n_classes
    total, trees = np.zeros((n_rows, width)), np.zeros(n_rows, dtype=np.int64)
    for number, member in enumerate(forest.members):
        out = np.flatnonzero(bags.out(number))
        flat = member.flat(forest.schema.target, forest.recipe)
        told = flat.outputs([cells[out] for cells in columns], len(out))
        total[out] += votes_of(told, forest)
        trees[out] += 1
    with np.errstate(invalid="ignore"):
        return np.asarray(total / trees[:, None]), trees


def score_of(told: Floats, trees: Integers, training: TrainingSet) -> float | None:
    """Return the accuracy, or R², of what is told out of the bag; None of no row.

    Rows count by their weights, and those that every tree has seen not at all.
    """
    known = trees > 0
    weights, truth = training.own_weights[known], training.classes[known]
    if not known.any():
        return None
    if not training.schema.target.is_numeric:
        right = labels_of(told[known], None) == truth
        return float(np.average(right, weights=weights))
    mean = np.average(truth, weights=weights)
    spread = float(weights @ (truth - mean) ** 2)
    if not spread > 0:
        return None
    return 1.0 - float(weights @ (truth - told[known, 0]) ** 2) / spread


def check_bags(forest: Forest) -> None:
    """Refuse to look for rows out of the bag where every tree has all rows."""
    if not forest.settings.bootstrap:
        msg = (
            "bootstrap=False grows every tree on all rows: there are none out of the "
            "bag to ask about; take bootstrap=True"
        )
        raise DataError(msg)


def warn_of_unseen(trees: Integers) -> None:
    """Say how many rows no tree can be asked about."""
    unseen = int(np.count_nonzero(trees == 0))
    if unseen:
        warn(
            f"{unseen} of {len(trees)} rows are in the bag of every tree, so nothing "
            "is known of them out of the bag: grow more trees"
        )
