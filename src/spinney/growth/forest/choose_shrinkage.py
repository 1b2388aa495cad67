"""How much the leaves of a forest are shrunk, as rows out of the bag tell."""

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
from spinney.growth.forest.shrinkage import parts_of
from spinney.growth.forest.voting import Columns, subset

# What is tried, in weights of an average row, and how many rows are asked about.
SHRINKAGES = (0.0, 3.0, 10.0, 30.0, 100.0)
MOST_ROWS = 5_000
MOST_NUMBERS = 250_000  # of the nodes of trees that are asked together


class OutOfBagSample:
    """Rows that are asked about, and which trees have not seen them.

    They are spread evenly among the copies, whose order depends on what is in the rows:
    so neither their order nor a weight instead of copies changes anything.
    """

    def __init__(self, bags: ForestBags, copies: Integers) -> None:
        # Rows that were drawn to be asked are asked, all of them.
        n_asked = len(copies) if bags.of_all else min(MOST_ROWS, len(copies))
        self.bags = bags
        self.asked = np.arange(n_asked) * len(copies) // n_asked
        self.rows = copies[self.asked]
        self.unit = bags.row_weight
        self._unseen: dict[int, NDArray[np.bool_]] = {}

    def note(self, numbers: range, drawn: NDArray[np.uint32]) -> None:
        """Note which rows are not in the bags of trees, where that is known."""
        self._unseen.update(zip(numbers, drawn[:, self.asked] == 0, strict=True))

    def unseen(self, numbers: range) -> NDArray[np.bool_]:
        """Return which rows some trees have not seen, rows × trees."""
        for number in numbers:
            if number not in self._unseen:
                own = range(number, number + 1)
                self.note(own, self.bags.drawn(own))
        return np.stack([self._unseen[number] for number in numbers], axis=1)


def best_shrinkage(
    forest: Forest, inquiry: OutOfBagSample, *, compiled: bool, threads: int
) -> float:
    """Return the shrinkage of least loss on rows out of the bag, the least of equals.

    ``compiled`` says that a compiler is at hand.
    """
    bags, rows = inquiry.bags, inquiry.rows
    training = bags.training
    numeric = training.schema.target.is_numeric
    tried = tuple(inquiry.unit * each for each in SHRINKAGES)
    truth = training.classes[rows]
    own = np.zeros(len(rows), np.int64) if numeric else truth.astype(np.int64)
    columns = subset(training.grown_columns, rows)
    votes = _compiled_votes if compiled else _plain_votes

    def asked(run: range) -> tuple[Floats, Integers]:
        out = inquiry.unseen(run)
        voters = out.sum(axis=1)
        return votes(forest, run, columns, out, own, tried), voters

    # Runs of trees are the same whatever the threads, and so is the sum over them.
    pieces = [partial(asked, run) for run in _runs(forest)]
    parts = run_each(pieces, at_once=threads)
    votes = np.sum([part for part, _ in parts], axis=0)
    trees = np.sum([voters for _, voters in parts], axis=0)
    known = trees > 0
    if not known.any():
        return 0.0
    weights = _weights(bags)[rows]
    if bags.copies is not None and bags.copies.weight is not None:
        weights = weights / training.own_weights[rows]  # it comes as often as it weighs
    loss = (
        _square_error(votes[known], trees[known], truth[known])
        if numeric
        else _log_loss(votes[known], trees[known], forest.n_outputs)
    )
    losses = np.average(loss, axis=0, weights=weights[known])
    least = losses.min()
    return tried[int(np.flatnonzero(losses <= least + TOLERANCE * abs(least))[0])]


def _runs(forest: Forest) -> list[range]:
    """Return the numbers of trees in runs that have few numbers at their nodes."""
    wide = forest.n_outputs + len(SHRINKAGES)
    ends = np.cumsum(wide * forest.members.sizes)
    starts = np.flatnonzero(np.diff(ends // MOST_NUMBERS, prepend=-1))
    return list(map(range, starts, [*starts[1:], len(forest)]))


def _plain_votes(
    forest: Forest,
    numbers: range,
    columns: Columns,
    out: NDArray[np.bool_],
    own: Integers,
    shrinkages: tuple[float, ...],
) -> Floats:
    """Return what trees say of the own output of rows, rows × shrinkages, added up."""
    total = np.zeros((len(out), len(shrinkages)))
    for number, asked in zip(numbers, out.T, strict=True):
        here = np.flatnonzero(asked)
        tree, _ = forest.laid_out(range(number, number + 1), shrinkages)
        outputs = tree.outputs(subset(columns, here), len(here))
        outputs = outputs.reshape(len(here), len(shrinkages), forest.n_outputs)
        total[here] += outputs[np.arange(len(here)), :, own[here]]
    return total


def _compiled_votes(
    forest: Forest,
    numbers: range,
    columns: Columns,
    out: NDArray[np.bool_],
    own: Integers,
    shrinkages: tuple[float, ...],
) -> Floats:
    """Return the same by compiled kernels."""
    from spinney.growth.forest.kernels.path_sums import Paths, add_paths
    from spinney.trees.predict.compiled import gather

    trees = forest.members[numbers.start : numbers.stop]
    recipes = [forest.recipe_of(number) for number in numbers]
    whole, target = trees.whole, forest.schema.target
    asked = np.flatnonzero(np.bincount(whole.attribute[whole.inner], minlength=1))
    column_of = np.full(len(columns) + 1, -1, np.int32)  # at -1, that of leaves
    column_of[asked] = np.arange(len(asked))
    paths = Paths(
        whole.parent,
        column_of[whole.attribute],
        whole.cut,
        whole.fallback_branch,
        whole.listed,
        whole.branches,
        whole.cuts,
        np.stack(whole.starts, axis=1),
        outputs_of_trees(whole, target, recipes),
        parts_of(whole.weight(target), shrinkages),
        np.empty((2, len(whole) + 1), np.int64),
    )
    cells = np.empty((len(out), len(asked)))
    gather(columns, asked, slice(None), cells)
    total, divided = np.zeros((len(out), len(shrinkages))), np.zeros(len(out), np.bool_)
    add_paths(paths, trees.roots, cells, out, own, total, divided)
    rows = np.flatnonzero(divided)
    if len(rows):
        some = subset(columns, rows)
        total[rows] = _plain_votes(
            forest, numbers, some, out[rows], own[rows], shrinkages
        )
    return total


def _weights(bags: ForestBags) -> Floats:
    """Return what each row weighs, its class considered."""
    training, settings = bags.training, bags.settings
    if settings.class_weight == "balanced_subsample":
        bags = replace(bags, settings=replace(settings, class_weight="balanced"))
    scale = bags.class_weights()
    weights = training.own_weights
    return weights if scale is None else weights * scale[training.classes]


def _square_error(votes: Floats, trees: Integers, truth: Floats) -> Floats:
    """Return the square of each row's error under each shrinkage."""
    return np.asarray((votes / trees[:, None] - truth[:, None]) ** 2)


def _log_loss(votes: Floats, trees: Integers, n_classes: int) -> Floats:
    """Return minus the logarithm of the share of each row's class.

    Half a tree more votes for all classes alike, so that no share is 0, and few trees
    are not believed when they agree.
    """
    return np.asarray(-np.log((votes + 0.5 / n_classes) / (trees[:, None] + 0.5)))
