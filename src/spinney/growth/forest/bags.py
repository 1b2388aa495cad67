"""The bags of a forest: the rows on which each tree is grown.

A bag is drawn among *copies* of the rows, one per unit of weight if weights are
integers, in an order that depends on the cells. So shuffling the table has no effect,
and a row of weight 2 equals two rows. The bag depends on the seed of the forest and the
number of the tree. A forest stores no bags, and draws them again.

Remote rows, and rows with ``bootstrap="hash"``, are drawn by their hash
(:mod:`spinney.sources.rows.row_hashing`), independently of each other. Counts with
replacement follow a Poisson distribution; without replacement all rows have one
probability. So a bag has about the wanted number of rows. An empty bag is replaced by
all rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.row_order import Copies, row_copies
from spinney._support.seed_sequences import (
    generator_states,
    generator_words,
    seed_words,
    to_words,
)
from spinney.errors import ParameterError, Setting, phrase, refusal
from spinney.growth.forest.forest_settings import HASH, ForestSettings
from spinney.growth.kernel_weights import bag_sums_agree
from spinney.growth.user_options import balanced_weights, checked_class_weights
from spinney.sources.rows import (
    HashedTrainingSet,
    HashSample,
    SampleableRows,
    TrainingSet,
    hash_mixing,
    row_hashes,
    sample_bag,
    sample_fraction,
)


def tree_seeds(seed: int, number: int) -> tuple[int, int]:
    """Return the seeds of a tree: of its nodes, and of its bag.

    >>> tree_seeds(0, 1) == tree_seeds(0, 1), tree_seeds(0, 1) == tree_seeds(1, 0)
    (True, False)
    """
    nodes, bag = _seeds_of_trees(seed, range(number, number + 1))[0].tolist()
    return nodes, bag


def _seeds_of_trees(seed: int, numbers: range) -> NDArray[np.uint64]:
    trees = np.array(numbers, np.uint32)
    entropy = [np.full_like(trees, word) for word in to_words(int(seed))]
    return seed_words([*entropy, trees], 2)


MAX_COPIES = 2**32  # NumPy draws among so many by half a word

# By Poisson's law, the widest law of draws, no row is ever drawn so many times as often
# as on average: the chance is one in 256!.
MAX_TIMES_MEAN = 256

SEEDS_PER_BLOCK = 128  # trees whose seeds take as long as those of one

SAMPLE_SIZE = 5_000  # rows, about, of an out-of-bag sample of remote rows
_SAMPLE_SEED = hash_mixing(SAMPLE_SIZE)


def bag_sample(settings: ForestSettings, number: int, n_rows: int) -> HashSample:
    """Return the sample of row hashes that makes the bag of a tree."""
    rate = settings.bag_size(n_rows) / n_rows
    mixing = hash_mixing(tree_seeds(settings.seed, number)[1])
    return sample_bag(rate, mixing, replace=settings.replace)


def class_scale(settings: ForestSettings, sums: Floats) -> Floats | None:
    """Return the factors of class weights, for classes with these total weights."""
    class_weight = settings.class_weight
    if class_weight is None:
        return None
    if isinstance(class_weight, Mapping):
        return np.array([class_weight.get(code, 1.0) for code in range(len(sums))])
    return balanced_weights(sums)


def check_scale(settings: ForestSettings, sums: Floats) -> None:
    """Refuse class weights that make the weights of rows too large for floats."""
    if settings.class_weight != "balanced_subsample":
        scale = class_scale(settings, sums)
        if scale is not None:
            checked_class_weights(scale, sums, "class_weight")


@dataclass(frozen=True, slots=True)
class SampledRows:
    """The hashes of sampled rows, with the counts and weights of all rows."""

    hashes: Floats
    n_rows: int
    weights: Floats
    weight: float


def sampled_bags(rows: SampleableRows, settings: ForestSettings) -> "ForestBags | None":
    """Return the bags of a sample drawn by hash; None if memory is too small."""
    totals = rows.root()
    n_rows = totals.n_rows
    if rows.max_rows < min(n_rows, SAMPLE_SIZE + SAMPLE_SIZE // 10):  # about so many
        return None
    training, hashes = rows.fetch_sample(
        sample_fraction(SAMPLE_SIZE / n_rows, _SAMPLE_SEED)
    )
    sample = SampledRows(hashes, n_rows, totals.weights, totals.weight)
    return ForestBags(training, settings, sample)


def bags_in_memory(
    rows: TrainingSet | HashedTrainingSet, settings: ForestSettings
) -> "ForestBags":
    """Return the bags of rows in memory, which may have hashes."""
    if isinstance(rows, TrainingSet):
        return ForestBags(rows, settings)
    totals = rows.root()
    n_rows = len(rows.hashes)
    sample = SampledRows(rows.hashes, n_rows, totals.weights, totals.weight)
    return ForestBags(rows.training, settings, sample)


def sample_refusal(rows: SampleableRows) -> ParameterError:
    """Return the error for choosing a shrinkage without an out-of-bag sample."""
    return refusal(
        Setting("shrinkage", None),
        f"is chosen by about {SAMPLE_SIZE} out-of-bag rows, and {rows.max_rows} fit "
        "in memory",
        phrase(
            "give one ({}), or raise {}",
            Setting("shrinkage", 0),
            Setting("memory_limit"),
        ),
    )


@dataclass(frozen=True)
class ForestBags:
    """The bags of all trees over some rows.

    ``sample`` has the totals of all rows if these rows are a sample drawn by hash.
    """

    training: TrainingSet
    settings: ForestSettings
    sample: SampledRows | None = None

    @property
    def row_weight(self) -> float:
        """The mean weight of a row, or of a copy, over all rows."""
        if self.sample is not None:
            return self.sample.weight / self.sample.n_rows
        n_copies = len(self.training.classes)
        if self.copies is not None:
            n_copies = len(self.copies.places)
        return float(self.training.sample_weights.sum()) / n_copies

    @cached_property
    def copies(self) -> Copies | None:
        """The copies from which bags are drawn; None if every tree has all rows."""
        if not self.settings.bootstrap:
            return None
        if self.settings.bootstrap == HASH:
            all_rows = np.arange(len(self.training.classes))
            return Copies(all_rows, None, all_rows)
        cells = (*self.training.columns, self.training.classes)
        return row_copies(cells, self.training.weights, ranked=False)

    @property
    def base(self) -> Floats | None:
        """The weight of each row per occurrence in a bag; None if it is 1."""
        copies = self.copies
        if copies is None or copies.weight is None:
            return self.training.weights
        if copies.weight == 1:
            return None
        return np.full(len(self.training.classes), copies.weight)

    @property
    def weight(self) -> float | None:
        """The common weight of all bags; None if bags may differ."""
        if self.settings.class_weight is not None:
            return None
        copies = self.copies
        if copies is None:
            return self.training.weight
        if copies.weight is None:
            return None
        return self.settings.bag_size(len(copies.places)) * copies.weight

    def sums_are_exact(self) -> bool:
        """Return whether sums over the rows of any bag are exact in any order."""
        if self.settings.class_weight == "balanced_subsample":
            return False
        copies, max_times = self.copies, 1
        if copies is not None:
            n_copies = self.sample.n_rows if self.sample else len(copies.places)
            rate = max(1.0, self.settings.bag_size(n_copies) / n_copies)
            max_copies = int(np.bincount(copies.places).max())
            max_times = ceil(MAX_TIMES_MEAN * rate) * max_copies
        rows = replace(self.training, weights=self.base)
        return bag_sums_agree(rows, self.class_weights(), max_times)

    @cached_property
    def _seed_blocks(self) -> dict[int, tuple[NDArray[np.uint64], NDArray[np.uint64]]]:
        return {}

    def _seeds(self, numbers: range) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return the node seeds and the bag seeds of trees, as words."""
        nodes = np.empty(len(numbers), np.uint64)
        words = np.empty((len(numbers), 4), np.uint64)
        for place, number in enumerate(numbers):
            block, index = divmod(number, SEEDS_PER_BLOCK)
            if block not in self._seed_blocks:
                first = block * SEEDS_PER_BLOCK
                trees = range(first, first + SEEDS_PER_BLOCK)
                seeds = _seeds_of_trees(self.settings.seed, trees)
                self._seed_blocks[block] = seeds[:, 0], generator_words(seeds[:, 1])
            block_nodes, block_words = self._seed_blocks[block]
            nodes[place], words[place] = block_nodes[index], block_words[index]
        return nodes, words

    def node_seeds(self, numbers: range) -> NDArray[np.uint64]:
        """Return the seeds of the draws at the nodes of some trees."""
        return self._seeds(numbers)[0]

    def counts(self, number: int) -> NDArray[np.uint32]:
        """Return the count of each row in the bag of a tree."""
        return np.asarray(self.counts_of(self.drawn(range(number, number + 1)))[0])

    def counts_of(self, drawn: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Return the counts of rows in bags, from the counts of copies."""
        n_rows, copies = len(self.training.classes), self.copies
        if copies is None:
            return drawn
        counts = np.zeros((len(drawn), n_rows), np.uint32)
        if len(copies.places) == n_rows and copies.weight in (None, 1):  # once each
            counts[:, copies.places] = drawn
            return counts
        for row_counts, bag in zip(counts, drawn, strict=True):
            row_counts[:] = np.bincount(copies.places, bag, minlength=n_rows)
        return counts

    def drawn(self, numbers: range, *, compiled: bool = False) -> NDArray[np.uint32]:
        """Return the counts of copies in the bags of some trees, trees × copies.

        ``compiled`` allows kernels.
        """
        settings, copies = self.settings, self.copies
        if copies is None:
            return np.ones((len(numbers), len(self.training.classes)), np.uint32)
        if settings.bootstrap == HASH:
            return self._drawn_by_hash(numbers)
        n_copies = len(copies.places)
        size = settings.bag_size(n_copies)
        if compiled and settings.replace and 1 < n_copies < MAX_COPIES:
            from spinney.growth.forest.kernels.draw_bags import draw_bags

            drawn = np.zeros((len(numbers), n_copies), np.uint32)
            draw_bags(self._seeds(numbers)[1], size, drawn)
            return drawn
        bits = np.random.PCG64(0)  # its state becomes that of each tree
        random = np.random.Generator(bits)
        states = generator_states(self._seeds(numbers)[1])
        places = np.empty((len(numbers), size), np.int64)
        for tree_places, state in zip(places, states, strict=True):
            bits.state = state
            tree_places[:] = (
                random.integers(0, n_copies, size)
                if settings.replace
                else random.choice(n_copies, size, replace=False, shuffle=False)
            )
        places += np.arange(len(numbers))[:, None] * n_copies
        counts = np.bincount(places.ravel(), minlength=len(numbers) * n_copies)
        return counts.astype(np.uint32).reshape(len(numbers), n_copies)

    def _drawn_by_hash(self, numbers: range) -> NDArray[np.uint32]:
        n_rows = self.sample.n_rows if self.sample else len(self.training.classes)
        drawn = np.empty((len(numbers), len(self.training.classes)), np.uint32)
        for bag, number in zip(drawn, numbers, strict=True):
            bag[:] = bag_sample(self.settings, number, n_rows).counts(self._hashes)
            if len(bag) == n_rows and not bag.any():
                bag[:] = 1
        return drawn

    @cached_property
    def _hashes(self) -> Floats:
        if self.sample is not None:
            return self.sample.hashes
        return row_hashes(self.training)

    def out_of_bag(self, number: int) -> NDArray[np.bool_]:
        """Return a mask of a tree's out-of-bag rows; equal rows have the same value."""
        copies = self.copies
        counts = self.counts(number)
        return np.asarray((counts if copies is None else counts[copies.twins]) == 0)

    def class_weights(self, counts: NDArray[np.uint32] | None = None) -> Floats | None:
        """Return the factors of class weights, for a tree with this bag.

        "balanced" gives the classes of all rows equal weight, "balanced_subsample" the
        classes of the bag.
        """
        setting, n_classes = self.settings.class_weight, self.training.schema.n_classes
        if not isinstance(setting, str):
            return class_scale(self.settings, np.zeros(n_classes))
        if setting == "balanced" and self.sample is not None:
            return class_scale(self.settings, self.sample.weights)
        weights = self.training.sample_weights
        if setting == "balanced_subsample":
            if counts is None:
                raise refusal(
                    Setting("class_weight", "balanced_subsample"), "needs a bag"
                )
            base = 1.0 if self.base is None else self.base
            weights = np.asarray(counts * base, dtype=np.float64)
        sums = np.bincount(self.training.classes, weights, minlength=n_classes)
        return class_scale(self.settings, sums.astype(np.float64))
