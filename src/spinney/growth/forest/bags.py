"""The bags of a forest: which rows each tree is grown on.

A bag is drawn among *copies* of the rows, one per unit of weight where these are whole,
in an order that depends on what is in the rows. So a table with its rows shuffled gives
the same forest, and a row of weight 2 the same as two rows. The bag of a tree depends
on the seed of the forest and on the number of the tree, and is drawn again where it is
needed: a forest keeps none.

Where rows are away, or ``bootstrap="hash"`` says so, each row is drawn by its number
(:mod:`spinney.sources.rows.row_hashing`), with its weight and whatever other rows there
are: as often as Poisson's law says, or without replacement with one probability. So a
bag has about as many rows as are to be drawn. One without any row has all of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.row_order import Copies, copies_of
from spinney._support.seed_sequences import (
    generator_states,
    generator_words,
    seed_words,
    words_of,
)
from spinney.errors import ParameterError, Setting, phrase, refusal
from spinney.growth.forest.forest_settings import HASH, ForestSettings
from spinney.growth.kernel_weights import add_up_in_bags
from spinney.growth.user_options import balanced_weights, in_bounds
from spinney.sources.rows import (
    HashedTrainingSet,
    HashSample,
    SampleableRows,
    TrainingSet,
    hash_mixing,
    row_hashes,
    sample_bag,
    sample_share,
)


def tree_seeds(seed: int, number: int) -> tuple[int, int]:
    """Return the seeds of a tree: of its nodes, and of its bag.

    >>> tree_seeds(0, 1) == tree_seeds(0, 1), tree_seeds(0, 1) == tree_seeds(1, 0)
    (True, False)
    """
    nodes, bag = _seeds_of_trees(seed, range(number, number + 1))[0].tolist()
    return nodes, bag


def _seeds_of_trees(seed: int, numbers: range) -> NDArray[np.uint64]:
    own = np.array(numbers, np.uint32)
    entropy = [np.full_like(own, word) for word in words_of(int(seed))]
    return seed_words([*entropy, own], 2)


MOST_COPIES = 2**32  # of which NumPy draws by half a word

# By Poisson's law, the widest of those that rows are drawn by, none is ever drawn so
# many times as often as on average: the chance is one in 256!.
MOST_OFTEN = 256

# So many trees have their seeds made together: as soon as those of one.
SEEDS_AT_ONCE = 128


# About so many rows are asked about where rows are away.
MOST_ASKED = 5_000
_ASKED = hash_mixing(MOST_ASKED)


def bag_draw(settings: ForestSettings, number: int, n_rows: int) -> HashSample:
    """Return how the bag of a tree is drawn by the numbers of rows."""
    rate = settings.bag_size(n_rows) / n_rows
    mixing = hash_mixing(tree_seeds(settings.seed, number)[1])
    return sample_bag(rate, mixing, replace=settings.replace)


def class_scale(settings: ForestSettings, sums: Floats) -> Floats | None:
    """Return what class weights are multiplied by, where classes weigh so much."""
    given = settings.class_weight
    if given is None:
        return None
    if isinstance(given, Mapping):
        return np.array([given.get(code, 1.0) for code in range(len(sums))])
    return balanced_weights(sums)


def check_scale(settings: ForestSettings, sums: Floats) -> None:
    """Refuse class weights of all rows that are beyond floats."""
    if settings.class_weight != "balanced_subsample":
        scale = class_scale(settings, sums)
        if scale is not None:
            in_bounds(scale, sums, "class_weight")


@dataclass(frozen=True, slots=True)
class Sampled:
    """What is known of all rows, of which bags have some, with their numbers."""

    numbers: Floats
    n_rows: int
    weights: Floats
    weight: float


def sampled_bags(rows: SampleableRows, settings: ForestSettings) -> "ForestBags | None":
    """Return about so many rows as are asked about, drawn by number, and their bags.

    None where they have no room.
    """
    totals = rows.root()
    n_rows = totals.n_rows
    if rows.most_rows < min(n_rows, MOST_ASKED + MOST_ASKED // 10):  # about so many
        return None
    training, numbers = rows.fetch_sample(sample_share(MOST_ASKED / n_rows, _ASKED))
    of_all = Sampled(numbers, n_rows, totals.weights, totals.weight)
    return ForestBags(training, settings, of_all)


def bags_in_memory(
    rows: TrainingSet | HashedTrainingSet, settings: ForestSettings
) -> "ForestBags":
    """Return the bags of rows at hand, which may have numbers."""
    if isinstance(rows, TrainingSet):
        return ForestBags(rows, settings)
    totals = rows.root()
    n_rows = len(rows.numbers)
    of_all = Sampled(rows.numbers, n_rows, totals.weights, totals.weight)
    return ForestBags(rows.training, settings, of_all)


def nobody_to_ask(rows: SampleableRows) -> ParameterError:
    """Return the refusal to choose a shrinkage where rows to ask have no room."""
    return refusal(
        Setting("shrinkage", None),
        f"is chosen by about {MOST_ASKED} rows out of the bag, and {rows.most_rows} "
        "have room in memory",
        phrase(
            "give one ({}), or raise {}",
            Setting("shrinkage", 0),
            Setting("memory_limit"),
        ),
    )


@dataclass(frozen=True)
class ForestBags:
    """The bags of all trees over some rows.

    ``of_all`` says what is known of all rows, where these are some that are asked.
    """

    training: TrainingSet
    settings: ForestSettings
    of_all: Sampled | None = None

    @cached_property
    def numbers(self) -> Floats:
        """The numbers of the rows, by which they are drawn."""
        if self.of_all is not None:
            return self.of_all.numbers
        return row_hashes(self.training)

    @property
    def row_weight(self) -> float:
        """What a row, or a copy of one, weighs on average, of all."""
        if self.of_all is not None:
            return self.of_all.weight / self.of_all.n_rows
        n_copies = len(self.training.classes)
        if self.copies is not None:
            n_copies = len(self.copies.places)
        return float(self.training.own_weights.sum()) / n_copies

    @cached_property
    def copies(self) -> Copies | None:
        """The rows that are drawn from; None where every tree has all."""
        if not self.settings.bootstrap:
            return None
        if self.settings.bootstrap == HASH:
            each = np.arange(len(self.training.classes))
            return Copies(each, None, each)
        cells = (*self.training.columns, self.training.classes)
        return copies_of(cells, self.training.weights, ranked=False)

    @property
    def base(self) -> Floats | None:
        """What a row weighs that is in a bag once; None where that is 1."""
        copies = self.copies
        if copies is None or copies.weight is None:
            return self.training.weights
        if copies.weight == 1:
            return None
        return np.full(len(self.training.classes), copies.weight)

    @property
    def weight(self) -> float | None:
        """What every bag weighs; None where one may weigh more than another."""
        if self.settings.class_weight is not None:
            return None
        copies = self.copies
        if copies is None:
            return self.training.weight
        if copies.weight is None:
            return None
        return self.settings.bag_size(len(copies.places)) * copies.weight

    def add_up_exactly(self) -> bool:
        """Return whether sums over the rows of any bag are exact, in whatever order."""
        if self.settings.class_weight == "balanced_subsample":
            return False
        copies, often = self.copies, 1
        if copies is not None:
            n_copies = self.of_all.n_rows if self.of_all else len(copies.places)
            rate = max(1.0, self.settings.bag_size(n_copies) / n_copies)
            often = ceil(MOST_OFTEN * rate) * int(np.bincount(copies.places).max())
        rows = replace(self.training, weights=self.base)
        return add_up_in_bags(rows, self.class_weights(), often)

    @cached_property
    def _made(self) -> dict[int, tuple[NDArray[np.uint64], NDArray[np.uint64]]]:
        return {}

    def _seeds(self, numbers: range) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return the seeds of the nodes of trees, and those of their bags, in words."""
        nodes = np.empty(len(numbers), np.uint64)
        words = np.empty((len(numbers), 4), np.uint64)
        for place, number in enumerate(numbers):
            block, at = divmod(number, SEEDS_AT_ONCE)
            if block not in self._made:
                first = block * SEEDS_AT_ONCE
                own = range(first, first + SEEDS_AT_ONCE)
                seeds = _seeds_of_trees(self.settings.seed, own)
                self._made[block] = seeds[:, 0], generator_words(seeds[:, 1])
            every_node, every_word = self._made[block]
            nodes[place], words[place] = every_node[at], every_word[at]
        return nodes, words

    def node_seeds(self, numbers: range) -> NDArray[np.uint64]:
        """Return the seeds of what is drawn at the nodes of some trees."""
        return self._seeds(numbers)[0]

    def counts(self, number: int) -> NDArray[np.uint32]:
        """Return how often each row is in the bag of a tree."""
        return np.asarray(self.counts_of(self.drawn(range(number, number + 1)))[0])

    def counts_of(self, drawn: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Return how often each row is in bags, of how often each copy is."""
        n_rows, copies = len(self.training.classes), self.copies
        if copies is None:
            return drawn
        counts = np.zeros((len(drawn), n_rows), np.uint32)
        if len(copies.places) == n_rows and copies.weight in (None, 1):  # once each
            counts[:, copies.places] = drawn
            return counts
        for own, bag in zip(counts, drawn, strict=True):
            own[:] = np.bincount(copies.places, bag, minlength=n_rows)
        return counts

    def drawn(self, numbers: range, *, compiled: bool = False) -> NDArray[np.uint32]:
        """Return how often each copy is in the bags of some trees, trees × copies.

        ``compiled`` says that a compiler is at hand.
        """
        settings, copies = self.settings, self.copies
        if copies is None:
            return np.ones((len(numbers), len(self.training.classes)), np.uint32)
        if settings.bootstrap == HASH:
            return self._drawn_by_number(numbers)
        n_copies = len(copies.places)
        size = settings.bag_size(n_copies)
        if compiled and settings.replace and 1 < n_copies < MOST_COPIES:
            from spinney.growth.forest.kernels.draw_bags import draw_bags

            by_loops = np.zeros((len(numbers), n_copies), np.uint32)
            draw_bags(self._seeds(numbers)[1], size, by_loops)
            return by_loops
        bits = np.random.PCG64(0)  # its state becomes that of each tree
        random = np.random.Generator(bits)
        states = generator_states(self._seeds(numbers)[1])
        places = np.empty((len(numbers), size), np.int64)
        for own, state in zip(places, states, strict=True):
            bits.state = state
            own[:] = (
                random.integers(0, n_copies, size)
                if settings.replace
                else random.choice(n_copies, size, replace=False, shuffle=False)
            )
        places += np.arange(len(numbers))[:, None] * n_copies
        drawn = np.bincount(places.ravel(), minlength=len(numbers) * n_copies)
        return drawn.astype(np.uint32).reshape(len(numbers), n_copies)

    def _drawn_by_number(self, numbers: range) -> NDArray[np.uint32]:
        n_all = self.of_all.n_rows if self.of_all else len(self.training.classes)
        drawn = np.empty((len(numbers), len(self.training.classes)), np.uint32)
        for own, number in zip(drawn, numbers, strict=True):
            own[:] = bag_draw(self.settings, number, n_all).of(self.numbers)
            if len(own) == n_all and not own.any():
                own[:] = 1
        return drawn

    def out(self, number: int) -> NDArray[np.bool_]:
        """Return which rows are not in the bag of a tree, nor any twin of theirs."""
        copies = self.copies
        counts = self.counts(number)
        return np.asarray((counts if copies is None else counts[copies.twins]) == 0)

    def class_weights(self, counts: NDArray[np.uint32] | None = None) -> Floats | None:
        """Return what class weights are multiplied by, of a tree with this bag.

        "balanced" makes the classes of all rows equal in weight, "balanced_subsample"
        those of the bag.
        """
        given, n_classes = self.settings.class_weight, self.training.schema.n_classes
        if not isinstance(given, str):
            return class_scale(self.settings, np.zeros(n_classes))
        if given == "balanced" and self.of_all is not None:
            return class_scale(self.settings, self.of_all.weights)
        weights = self.training.own_weights
        if given == "balanced_subsample":
            if counts is None:
                raise refusal(
                    Setting("class_weight", "balanced_subsample"), "needs a bag"
                )
            base = 1.0 if self.base is None else self.base
            weights = np.asarray(counts * base, dtype=np.float64)
        sums = np.bincount(self.training.classes, weights, minlength=n_classes)
        return class_scale(self.settings, sums.astype(np.float64))
