"""Growing a forest: draw a bag and grow a tree, repeatedly."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.checks import Progress
from spinney._support.jit.loading_time import TIME_WITHOUT_KERNELS
from spinney._support.threads import run_each
from spinney._support.threads import thread_count as threads_of
from spinney.data import Fingerprint
from spinney.errors import Setting, refusal
from spinney.growth.binned.binned_limits import can_grow_binned
from spinney.growth.forest.bags import (
    ForestBags,
    bag_sample,
    bags_in_memory,
    check_scale,
    class_scale,
    sample_refusal,
    sampled_bags,
    tree_seeds,
)
from spinney.growth.forest.choose_shrinkage import OutOfBagSample, best_shrinkage
from spinney.growth.forest.compact_tree import compact, with_counted_gains
from spinney.growth.forest.forest import Forest
from spinney.growth.forest.forest_settings import (
    HASH,
    ForestSettings,
    attributes_per_node,
    check_enough,
    forest_recipes,
    recipes_of,
)
from spinney.growth.forest.wide_categories import (
    with_encoded_columns,
    with_levels_as_numbers,
    with_whole_levels,
)
from spinney.growth.growers import PLAIN, Grower, choose_forest_grower
from spinney.growth.growth_options import Options
from spinney.growth.plain.learner import grow_tree
from spinney.growth.prune.prune_methods import pruned_after_growing
from spinney.recipes import Recipe
from spinney.search import NodeSampling, policy_named
from spinney.sources import Counts
from spinney.sources.rows import (
    HashedTrainingSet,
    HashSample,
    SampleableRows,
    TrainingSet,
)
from spinney.trees import PackedTrees, TreeArrays, joined

# Rows of all bags of a run, at most and at least: an interrupt and the progress bar
# wait for a run, and shorter runs are not worth the call.
MAX_ROWS_PER_RUN, MIN_ROWS_PER_RUN = 400_000, 20_000
MAX_TIMES_IN_BAG = 255  # of a row whose count is a byte


def grow_forest(
    rows: TrainingSet | SampleableRows,
    recipes: Recipe | Sequence[Recipe],
    settings: ForestSettings,
    *,
    n_trees: int,
    existing: Forest | None = None,
    sample_bags: ForestBags | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Forest:
    """Return a forest whose trees are grown on their own bags of the rows, in threads.

    Trees take several recipes in turn. The forest depends on the seed, not on the
    number of threads. ``existing`` is the same forest with fewer trees, which are kept.
    ``sample_bags`` is the out-of-bag sample of hashed rows, which chooses the
    shrinkage; it is drawn by default.
    """
    numeric = rows.schema.target.is_numeric
    tree_recipes = forest_recipes(
        recipes_of(recipes), numeric=numeric, extra_random=settings.extra_random
    )
    check_enough(n_trees, tree_recipes)
    fingerprint = rows.fingerprint()
    n_grown = 0
    if existing is not None:
        _check_existing(existing, n_trees, fingerprint, tree_recipes, settings)
        n_grown = len(existing)
    sample = _out_of_bag_sample(rows, settings, sample_bags)
    growers = _growers(rows, tree_recipes, settings, sample, n_trees - n_grown)
    # An engine takes one request at a time.
    is_remote = isinstance(growers[0].bags, RemoteBags)
    threads = 1 if is_remote else threads_of(n_jobs)
    runs = _runs(growers, range(n_grown, n_trees), threads)
    run_sizes: list[int] = []  # of finished runs
    ordered = rows if isinstance(rows, TrainingSet) and rows.ordered else None

    def grow(grower: TreeGrower, numbers: range) -> PackedTrees:
        trees = grower.grow(numbers)
        run_sizes.append(len(trees))
        return trees if ordered is None else with_whole_levels(trees, ordered)

    def report(_: int) -> None:
        if progress is not None:
            progress(n_grown + sum(run_sizes), n_trees)

    without_kernels = any(grower.spares_kernels for grower in growers)
    with TIME_WITHOUT_KERNELS.running() if without_kernels else nullcontext():
        parts = run_each(
            [partial(grow, grower, numbers) for grower, numbers in runs],
            max_threads=threads,
            done=report,
        )
    by_number = [numbers for _, numbers in runs]
    if existing is not None:
        by_number, parts = [range(n_grown), *by_number], [existing.members, *parts]
    members = _joined_by_number(by_number, parts)
    forest = Forest(rows.schema, tree_recipes, fingerprint, settings, members)
    shrinkage = settings.shrinkage or 0.0  # 0 without out-of-bag rows
    if sample is not None:
        compiled = any(grower.compiled for grower in growers)
        threads = threads_of(n_jobs)
        shrinkage = best_shrinkage(forest, sample, compiled=compiled, threads=threads)
    return replace(forest, shrinkage=float(shrinkage))


def _out_of_bag_sample(
    rows: TrainingSet | SampleableRows,
    settings: ForestSettings,
    sample_bags: ForestBags | None,
) -> OutOfBagSample | None:
    """Return the rows that choose the shrinkage, or None if the settings fix it."""
    if settings.shrinkage is not None or not settings.bootstrap:
        return None
    if settings.bootstrap == HASH:
        hashed = HashedTrainingSet(rows) if isinstance(rows, TrainingSet) else rows
        bags = sample_bags or sampled_bags(hashed, settings)
        if bags is None:
            raise sample_refusal(hashed)
    else:
        assert isinstance(rows, TrainingSet)
        bags = ForestBags(rows, settings)
    assert bags.copies is not None
    return OutOfBagSample(bags, bags.copies.places)


def _growers(
    rows: TrainingSet | SampleableRows,
    recipes: Sequence[Recipe],
    settings: ForestSettings,
    sample: OutOfBagSample | None,
    n_trees: int,
) -> "list[TreeGrower]":
    """Return the grower of each recipe's trees, in memory or remote."""
    if not isinstance(rows, (TrainingSet, HashedTrainingSet)):
        remote = RemoteBags(rows, settings)
        return [TreeGrower(remote, recipe) for recipe in recipes]
    bags = bags_in_memory(rows, settings)
    if sample is not None and sample.bags.sample is None:
        bags = sample.bags
    shared = BagsInMemory(bags, sample)
    numbered = with_levels_as_numbers(shared.rows)
    tree_growers = list[TreeGrower]()
    for recipe in recipes:
        can_compile, grower = _can_compile(shared, recipe, numbered), PLAIN
        if can_compile:
            grower = choose_forest_grower(
                numbered,
                recipe,
                attributes_per_node=shared.attributes_per_node,
                n_trees=-(-n_trees // len(recipes)),
                is_exact=bags.sums_are_exact,
            )
        if grower is PLAIN:
            tree_growers.append(TreeGrower(shared, recipe, spares_kernels=can_compile))
        else:
            tree_growers.append(KernelGrower(shared, recipe, numbered, grower))
    return tree_growers


def _runs(
    growers: "Sequence[TreeGrower]", numbers: range, threads: int
) -> "list[tuple[TreeGrower, range]]":
    """Return runs of trees with their growers; trees take the growers in turn."""
    runs: list[tuple[TreeGrower, range]] = []
    for place, grower in enumerate(growers):
        trees = numbers[(place - numbers.start) % len(growers) :: len(growers)]
        step = grower.trees_per_run(len(trees), threads)
        runs += [(grower, trees[k : k + step]) for k in range(0, len(trees), step)]
    return sorted(runs, key=lambda run: run[1].start)


def _joined_by_number(
    runs: Sequence[range], parts: Sequence[PackedTrees]
) -> PackedTrees:
    """Return the trees of runs, ordered by their numbers."""
    if all(numbers.step == 1 for numbers in runs):
        return joined(parts)
    members: dict[int, TreeArrays] = {}
    for numbers, part in zip(runs, parts, strict=True):
        members.update(zip(numbers, part, strict=True))
    return joined([members[number] for number in sorted(members)])


def _check_existing(
    existing: Forest,
    n_trees: int,
    fingerprint: Fingerprint,
    recipes: tuple[Recipe, ...],
    settings: ForestSettings,
) -> None:
    """Refuse to add trees to a forest of another table or with other settings."""
    if len(existing) > n_trees:
        raise refusal(
            Setting("n_estimators", n_trees),
            f"is less than the {len(existing)} trees that there are, and "
            "warm_start=True adds some",
            "take more, or warm_start=False",
        )
    if existing.fingerprint.digest != fingerprint.digest:
        raise refusal(
            Setting("warm_start", True),
            "adds trees on the same rows, and these are others",
            "fit again with warm_start=False",
        )
    if (existing.settings, existing.recipes) != (settings, recipes):
        raise refusal(
            Setting("warm_start", True),
            "adds trees of the same kind, and parameters have changed",
            "fit again with warm_start=False",
        )


class BagsInMemory:
    """The bags of rows in memory, for all trees, and the out-of-bag sample."""

    def __init__(self, bags: ForestBags, sample: OutOfBagSample | None) -> None:
        self.bags, training, settings = bags, bags.training, bags.settings
        if settings.class_weight is not None:
            n_classes, weights = training.schema.n_classes, training.sample_weights
            sums = np.bincount(training.classes, weights, n_classes)
            check_scale(settings, sums.astype(np.float64))
        self.settings, self.sample = settings, sample
        self.attributes_per_node = attributes_per_node(
            settings.max_features, len(training.schema.attributes)
        )
        # The weights of rows that are in a bag once.
        self.rows = with_encoded_columns(replace(training, weights=self.bags.base))

    def in_bags(self, numbers: range, *, compiled: bool) -> NDArray[np.uint32]:
        """Return the counts of rows in the bags of some trees, trees × rows."""
        drawn = self.bags.drawn(numbers, compiled=compiled)
        if self.sample is not None and self.sample.bags is self.bags:
            self.sample.add_bags(numbers, drawn)
        return self.bags.counts_of(drawn)

    @cached_property
    def scaled(self) -> Floats | None:
        """The weight of a row per occurrence in a bag, times its class weight."""
        scale = self.bags.class_weights()
        if scale is None:
            return self.rows.weights
        return np.asarray(self.rows.sample_weights * scale[self.rows.classes])

    def weights(self, counts: NDArray[np.uint32]) -> Floats:
        """Return the weights of rows in a bag, times their class weights."""
        scale = self.bags.class_weights(counts)
        weights = self.rows.sample_weights * counts
        return weights if scale is None else weights * scale[self.rows.classes]

    @contextmanager
    def bag(self, number: int) -> Iterator[Counts]:
        """Yield a source with a tree's rows, weighted by their counts in the bag."""
        counts = self.in_bags(range(number, number + 1), compiled=False)[0]
        inside = np.flatnonzero(counts)
        weights = self.weights(counts)[inside]
        yield replace(self.rows.take(inside), weights=weights).source()


class RemoteBags:
    """Bags of remote rows, for all trees."""

    def __init__(self, rows: SampleableRows, settings: ForestSettings) -> None:
        self.rows, self.settings = rows, settings
        self.attributes_per_node = attributes_per_node(
            settings.max_features, len(rows.schema.attributes)
        )
        check_scale(settings, rows.root().weights)

    @contextmanager
    def bag(self, number: int) -> Iterator[Counts]:
        """Yield a source with the rows of a tree's bag, or all if it is empty."""
        settings, totals = self.settings, self.rows.root()
        sums, draws = totals.weights, list[HashSample]()
        if settings.bootstrap:
            draws = [bag_sample(settings, number, totals.n_rows)]
            if settings.class_weight == "balanced_subsample":
                with self.rows.sampled_source(*draws) as source:
                    in_bag = source.root()
                sums = in_bag.weights if in_bag.n_rows else sums
        scale = class_scale(settings, sums)
        with self.rows.sampled_source(*draws, class_weights=scale) as source:
            if not draws or source.root().n_rows:
                yield source
                return
        with self.rows.sampled_source(class_weights=scale) as source:
            yield source


class TreeGrower:
    """Grows the trees of one recipe from count tables.

    ``spares_kernels`` means that compiled kernels could grow the trees, and are not
    loaded.
    """

    compiled = False

    def __init__(
        self,
        bags: BagsInMemory | RemoteBags,
        recipe: Recipe,
        *,
        spares_kernels: bool = False,
    ) -> None:
        self.bags, self.recipe, self.spares_kernels = bags, recipe, spares_kernels

    def trees_per_run(self, n_trees: int, threads: int) -> int:
        """Return the number of trees to grow in one call."""
        return 1

    def grow(self, numbers: range) -> PackedTrees:
        """Grow some trees."""
        settings, trees = self.bags.settings, []
        for number in numbers:
            seed, _ = tree_seeds(settings.seed, number)
            draws = NodeSampling(
                seed, self.bags.attributes_per_node, settings.extra_random
            )
            with self.bags.bag(number) as source:
                tree = grow_tree(source, self.recipe, Options(sampling=draws))
                pruned = pruned_after_growing(tree, source, recipe=self.recipe)
                trees.append(compact(pruned.tree.arrays))
        return joined(trees)


class KernelGrower(TreeGrower):
    """Grows trees by compiled kernels, on rows in memory that are encoded once."""

    bags: BagsInMemory
    compiled = True

    def __init__(
        self, bags: BagsInMemory, recipe: Recipe, numbered: TrainingSet, grower: Grower
    ) -> None:
        from spinney.growth.binned.binned_dataset import binned_dataset

        super().__init__(bags, recipe)
        self.replays = grower.replays
        self.coded = binned_dataset(
            numbered,
            recipe,
            n_drawn=bags.attributes_per_node,
            reference_weight=bags.bags.weight,
        )

    def trees_per_run(self, n_trees: int, threads: int) -> int:
        """Return the number of trees to grow in one call.

        It is larger for small trees, but keeps all threads busy to the end.
        """
        n_rows = max(1, len(self.bags.rows.classes))
        lowest, highest = MIN_ROWS_PER_RUN // n_rows, MAX_ROWS_PER_RUN // n_rows
        return max(1, min(max(n_trees // (4 * threads), lowest), highest))

    def grow(self, numbers: range) -> PackedTrees:
        """Grow some trees."""
        counts = self.bags.in_bags(numbers, compiled=True)
        seeds = self.bags.bags.node_seeds(numbers)
        if self._can_share_weights(counts):
            return self._grow_bags(counts.astype(np.uint8), seeds, self.bags.scaled)
        trees = []
        for bag, seed in zip(counts, seeds[:, None], strict=True):
            in_bag = (bag > 0).astype(np.uint8)[None]
            trees.append(self._grow_bags(in_bag, seed, self.bags.weights(bag)))
        return joined(trees)

    def _grow_bags(
        self, in_bags: NDArray[np.uint8], seeds: NDArray[np.uint64], base: Floats | None
    ) -> PackedTrees:
        """Return the trees of bags; ``base`` is a row's weight per occurrence."""
        from spinney.growth.binned.binned_arrays import grown_tree_arrays
        from spinney.growth.binned.subtree import grow_bags

        grown, roots = grow_bags(self.coded, in_bags, seeds, base)
        schema, recipe = self.coded.schema, self.recipe
        arrays = grown_tree_arrays(grown.records, grown.code_counts, schema, recipe, {})
        trees = compact(arrays)
        if self.replays:
            trees = with_counted_gains(trees, schema, recipe)
        return PackedTrees(trees, roots)

    def _can_share_weights(self, counts: NDArray[np.uint32]) -> bool:
        """Return whether bags share weights, and counts fit the kernels' words."""
        if self.bags.settings.class_weight == "balanced_subsample":
            return False
        scaled = self.bags.scaled
        heaviest = 1.0 if scaled is None else float(scaled.max())
        total = float(counts.sum(axis=1).max())
        return heaviest * total < 2.0**32 and int(counts.max()) <= MAX_TIMES_IN_BAG


def _can_compile(bags: BagsInMemory, recipe: Recipe, numbered: TrainingSet) -> bool:
    """Return whether compiled kernels grow the trees that the plain learner would."""
    # Fractions are of a bag's weight, which may differ from bag to bag.
    has_fractions = recipe.has_shares and bags.bags.weight is None
    limited = recipe.max_leaves is not None or recipe.pruning != "none"
    by_root = _depends_on_root(recipe, numeric=numbered.schema.target.is_numeric)
    if bags.settings.extra_random or has_fractions or limited or by_root:
        return False
    return can_grow_binned(numbered, recipe, Options())


def _depends_on_root(recipe: Recipe, *, numeric: bool) -> bool:
    """Return whether splits depend on the total weight of a bag.

    The total weight decides which attributes count in the average gain.
    """
    by_root = (
        policy_named(recipe.missing_policy).imputes_typical
        or recipe.bucketing is not None
    )
    average = recipe.measure(numeric=numeric).average
    return by_root or recipe.min_deviation > 0 or average
