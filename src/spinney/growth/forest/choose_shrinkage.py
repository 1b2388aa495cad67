"""The choice of a forest's shrinkage, by its loss on out-of-bag rows."""

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import run_each
from spinney._support.ties import TOLERANCE
from spinney.growth.forest.bags import ForestBags
from spinney.growth.forest.compact_tree import outputs_of_trees
from spinney.growth.forest.forest import Forest
from spinney.growth.forest.shrinkage import step_factors
from spinney.growth.forest.voting import Columns, subset

SHRINKAGES = (0.0, 3.0, 10.0, 30.0, 100.0)  # candidates, in weights of a mean row
MAX_ROWS = 5_000
MAX_NUMBERS = 250_000  # at the nodes of trees that vote together


class OutOfBagSample:
    """A sample of rows, and the trees for which each row is out-of-bag.

    The sample is spread evenly over the copies, whose order depends on the cells. So
    neither row order, nor a weight in place of copies, changes the sample.
    """

    def __init__(self, bags: ForestBags, copies: Integers) -> None:
        n_sampled = len(copies) if bags.sample else min(MAX_ROWS, len(copies))
        self.bags = bags
        self._places = np.arange(n_sampled) * len(copies) // n_sampled
        self.rows = copies[self._places]
        self.unit = bags.row_weight
        self._out_of_bag: dict[int, NDArray[np.bool_]] = {}

    def add_bags(self, numbers: range, drawn: NDArray[np.uint32]) -> None:
        """Store the bags of some trees."""
        self._out_of_bag.update(zip(numbers, drawn[:, self._places] == 0, strict=True))

    def out_of_bag(self, numbers: range) -> NDArray[np.bool_]:
        """Return whether rows are out-of-bag for trees, rows × trees."""
        for number in numbers:
            if number not in self._out_of_bag:
                tree = range(number, number + 1)
                self.add_bags(tree, self.bags.drawn(tree))
        return np.stack([self._out_of_bag[number] for number in numbers], axis=1)


def best_shrinkage(
    forest: Forest, sample: OutOfBagSample, *, compiled: bool, threads: int
) -> float:
    """Return the shrinkage of least loss on out-of-bag rows; ties go to the smallest.

    The loss is the squared error, or the negative log-likelihood of a row's class. For
    the latter, each class gets an equal fraction of half a vote, so no probability is
    0, and agreement of few trees counts less. ``compiled`` allows kernels.
    """
    bags, rows = sample.bags, sample.rows
    training = bags.training
    numeric = training.schema.target.is_numeric
    shrinkages = tuple(sample.unit * factor for factor in SHRINKAGES)
    truth = training.classes[rows]
    output = np.zeros(len(rows), np.int64) if numeric else truth.astype(np.int64)
    columns = subset(training.training_columns, rows)
    sum_votes = _compiled_votes if compiled else _plain_votes

    def vote(numbers: range) -> tuple[Floats, Integers]:
        out = sample.out_of_bag(numbers)
        votes = sum_votes(forest, numbers, columns, out, output, shrinkages)
        return votes, out.sum(axis=1)

    # Runs of trees do not depend on the threads, and so neither does the sum.
    parts = run_each(
        [partial(vote, numbers) for numbers in _runs(forest)], max_threads=threads
    )
    n_trees = np.sum([n_voters for _, n_voters in parts], axis=0)
    has_votes = n_trees > 0
    if not has_votes.any():
        return 0.0
    votes = np.sum([votes for votes, _ in parts], axis=0)[has_votes]
    n_voters = n_trees[has_votes][:, None]
    weights = _weights(bags)[rows]
    if bags.copies is not None and bags.copies.weight is not None:
        weights = weights / training.sample_weights[rows]  # copies repeat it by weight
    if numeric:
        loss = (votes / n_voters - truth[has_votes][:, None]) ** 2
    else:
        loss = -np.log((votes + 0.5 / forest.n_outputs) / (n_voters + 0.5))
    losses = np.average(loss, axis=0, weights=weights[has_votes])
    least = losses.min()
    best = int(np.flatnonzero(losses <= least + TOLERANCE * abs(least))[0])
    return shrinkages[best]


def _runs(forest: Forest) -> list[range]:
    """Return ranges of trees with a limited number of outputs at their nodes."""
    wide = forest.n_outputs + len(SHRINKAGES)
    ends = np.cumsum(wide * forest.members.sizes)
    starts = np.flatnonzero(np.diff(ends // MAX_NUMBERS, prepend=-1))
    return list(map(range, starts, [*starts[1:], len(forest)]))


def _plain_votes(
    forest: Forest,
    numbers: range,
    columns: Columns,
    out: NDArray[np.bool_],
    output: Integers,
    shrinkages: tuple[float, ...],
) -> Floats:
    """Return the summed predictions of each row's own output, rows × shrinkages."""
    total = np.zeros((len(out), len(shrinkages)))
    for number, is_out in zip(numbers, out.T, strict=True):
        rows = np.flatnonzero(is_out)
        tree, _ = forest.packed_trees(range(number, number + 1), shrinkages)
        outputs = tree.outputs(subset(columns, rows), len(rows))
        outputs = outputs.reshape(len(rows), len(shrinkages), forest.n_outputs)
        total[rows] += outputs[np.arange(len(rows)), :, output[rows]]
    return total


def _compiled_votes(
    forest: Forest,
    numbers: range,
    columns: Columns,
    out: NDArray[np.bool_],
    output: Integers,
    shrinkages: tuple[float, ...],
) -> Floats:
    """Return the sums of ``_plain_votes`` by compiled kernels."""
    from spinney.growth.forest.kernels.path_sums import Paths, add_paths
    from spinney.trees.predict.compiled import gather

    trees = forest.members[numbers.start : numbers.stop]
    recipes = [forest.recipe_of(number) for number in numbers]
    arrays, target = trees.whole, forest.schema.target
    split_columns = np.flatnonzero(
        np.bincount(arrays.attribute[arrays.inner], minlength=1)
    )
    column_of = np.full(len(columns) + 1, -1, np.int32)  # at -1, that of leaves
    column_of[split_columns] = np.arange(len(split_columns))
    paths = Paths(
        arrays.parent,
        column_of[arrays.attribute],
        arrays.cut,
        arrays.fallback_branch,
        arrays.listed,
        arrays.branches,
        arrays.cuts,
        np.stack(arrays.starts, axis=1),
        outputs_of_trees(arrays, target, recipes),
        step_factors(arrays.weight(target), shrinkages),
        np.empty((2, len(arrays) + 1), np.int64),
    )
    cells = np.empty((len(out), len(split_columns)))
    gather(columns, split_columns, slice(None), cells)
    total, divided = np.zeros((len(out), len(shrinkages))), np.zeros(len(out), np.bool_)
    add_paths(paths, trees.roots, cells, out, output, total, divided)
    rows = np.flatnonzero(divided)
    if len(rows):
        row_columns = subset(columns, rows)
        total[rows] = _plain_votes(
            forest, numbers, row_columns, out[rows], output[rows], shrinkages
        )
    return total


def _weights(bags: ForestBags) -> Floats:
    """Return the weight of each row, class weights included."""
    training, settings = bags.training, bags.settings
    if settings.class_weight == "balanced_subsample":
        bags = replace(bags, settings=replace(settings, class_weight="balanced"))
    scale = bags.class_weights()
    weights = training.sample_weights
    return weights if scale is None else weights * scale[training.classes]
