"""The predictions of a forest: its trees vote.

probability
    the class probabilities at the leaves, shrunk
    (:mod:`spinney.growth.forest.choose_shrinkage`) and averaged over the trees; for
    numbers the mean.
majority
    each tree has one vote, for the class of its leaf.

An *out-of-bag* prediction uses only the trees that were not grown on the row: an
unbiased prediction without a validation set.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.jit.loading_time import wants_kernels
from spinney.errors import DataError, Setting, warn
from spinney.growth.forest.forest import Forest
from spinney.trees import PackedTrees, labels_of
from spinney.trees.predict import BLOCK

if TYPE_CHECKING:
    from spinney.growth.forest.bags import ForestBags
    from spinney.sources.rows import TrainingSet

Columns = Sequence[NDArray[Any]]

TREES_PER_BATCH = 64  # which vote together; each takes one byte per row
MAX_LEVELS = 32  # no full tree has more


def votes_of(outputs: Floats, forest: Forest) -> Floats:
    """Return the votes of trees from the outputs of their leaves."""
    if forest.votes_by_probability:
        return outputs
    labels = labels_of(outputs, None)
    return np.asarray(np.eye(outputs.shape[1])[labels])


def forest_outputs(forest: Forest, columns: Columns, n_rows: int) -> Floats:
    """Return the forest's prediction for each row: class probabilities, or a number."""
    total = added_votes(forest, forest.numbers, columns, n_rows)
    return np.asarray(total / len(forest))


def added_votes(
    forest: Forest,
    numbers: range,
    columns: Columns,
    n_rows: int,
    may_vote: NDArray[np.bool_] | None = None,
) -> Floats:
    """Return the summed votes of some trees, in their order.

    ``may_vote``, rows × trees, marks the rows on which a tree votes; all if not given.
    A sum beyond the range of floats is infinite.
    """
    rows, total = np.arange(n_rows), np.zeros((n_rows, forest.n_outputs))
    if not is_small(forest.members[numbers.start : numbers.stop], n_rows):
        from spinney.trees.predict.compiled import votes

        in_bag = None if may_vote is None else (~may_vote).astype(np.uint8)
        voted = votes(forest.tree_layout(numbers), columns, n_rows, in_bag=in_bag)
        total, rows = voted.sums, np.flatnonzero(voted.open)
        total[rows] = 0.0  # a missing value divides them
    if len(rows):
        trees, roots = forest.voting_trees(numbers)
        for block in blocks_of(rows, len(numbers)):
            voters = np.ones((len(block), len(numbers)), bool)
            tree, row = np.nonzero((voters if may_vote is None else may_vote[block]).T)
            cells = subset(columns, block[row])
            outputs = trees.outputs(cells, len(row), roots=roots[tree])
            with np.errstate(over="ignore", invalid="ignore"):
                np.add.at(total, block[row], votes_of(outputs, forest))
    return total


def blocks_of(rows: Integers, n_trees: int) -> Iterator[Integers]:
    """Yield blocks of rows that go down all trees together."""
    step = max(1, BLOCK // n_trees)
    return (rows[start : start + step] for start in range(0, len(rows), step))


def is_small(members: PackedTrees, n_rows: int) -> bool:
    """Return whether predicting is faster than loading compiled kernels."""
    if not wants_kernels("predict", n_rows * len(members) * MAX_LEVELS):
        return True
    steps = n_rows * float(np.log2(members.sizes + 1).sum())
    return not wants_kernels("predict", steps)


def subset(columns: Columns, rows: Integers) -> list[Any]:
    """Return some rows of columns, some of which may be None."""
    return [None if cells is None else cells[rows] for cells in columns]


def forest_leaves(forest: Forest, columns: Columns, n_rows: int) -> NDArray[np.int32]:
    """Return the leaf of each row in each tree, rows × trees.

    A row that is divided by a missing value has the leaf of its largest fraction.
    """
    leaves = np.full((n_rows, len(forest)), -1, dtype=np.int32)
    if not is_small(forest.members, n_rows):
        from spinney.trees.predict.compiled import leaves as leaves_of

        reached = leaves_of(forest.full_layout, columns, n_rows)
        leaves = np.where(
            reached < 0, np.int32(-1), forest.full_layout.numbers[reached]
        )
    rows = np.flatnonzero((leaves < 0).any(axis=1))
    if len(rows):
        trees, roots = forest.voting_trees(forest.numbers)
        for block in blocks_of(rows, len(forest)):
            tree, row = np.nonzero((leaves[block] < 0).T)
            cells = subset(columns, block[row])
            nodes = trees.leaf_numbers(cells, len(row), roots=roots[tree])
            leaves[block[row], tree] = nodes - roots[tree]
    return leaves


def out_of_bag(forest: Forest, bags: "ForestBags") -> tuple[Floats, Integers]:
    """Return the out-of-bag predictions of rows, and the number of trees for each.

    The prediction is NaN for a row in every bag.
    """
    require_bootstrap(forest)
    n_rows = len(bags.training.classes)
    total, n_voters = np.zeros((n_rows, forest.n_outputs)), np.zeros(n_rows, np.int64)
    columns = bags.training.training_columns
    for start in range(0, len(forest), TREES_PER_BATCH):
        numbers = forest.numbers[start : start + TREES_PER_BATCH]
        may_vote = np.stack([bags.out_of_bag(number) for number in numbers], axis=1)
        total += added_votes(forest, numbers, columns, n_rows, may_vote)
        n_voters += may_vote.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(total / n_voters[:, None]), n_voters


def oob_score(
    outputs: Floats, n_voters: Integers, training: "TrainingSet"
) -> float | None:
    """Return the out-of-bag accuracy, or R²; None without out-of-bag rows.

    Rows count by their weights; rows in every bag do not count.
    """
    has_votes = n_voters > 0
    weights, truth = training.sample_weights[has_votes], training.classes[has_votes]
    if not has_votes.any():
        return None
    if not training.schema.target.is_numeric:
        correct = labels_of(outputs[has_votes], None) == truth
        return float(np.average(correct, weights=weights))
    mean = np.average(truth, weights=weights)
    spread = float(weights @ (truth - mean) ** 2)
    if not spread > 0:
        return None
    return 1.0 - float(weights @ (truth - outputs[has_votes, 0]) ** 2) / spread


def require_bootstrap(forest: Forest) -> None:
    """Refuse out-of-bag requests if every tree has all rows."""
    if not forest.settings.bootstrap:
        raise DataError(
            Setting("bootstrap", False),
            " grows every tree on all rows",
            remedy=(
                "there are no out-of-bag rows; take ",
                Setting("bootstrap", True),
            ),
        )


def warn_rows_in_all_bags(n_voters: Integers, training: "TrainingSet") -> None:
    """Warn about rows in every bag: they have no out-of-bag prediction."""
    n_without = int(np.count_nonzero(n_voters == 0))
    if n_without:
        warn(
            f"{n_without} of {len(n_voters)} rows are in the bag of every tree and "
            "have no out-of-bag prediction: grow more trees"
        )
