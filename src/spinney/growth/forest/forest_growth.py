"""Growing a forest: a bag, a tree, and again."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.checks import Progress
from spinney._support.jit.loading_time import WITHOUT_LOOPS
from spinney._support.threads import run_each
from spinney._support.threads import thread_count as threads_of
from spinney.data import Fingerprint
from spinney.errors import Setting, refusal
from spinney.growth.binned.binned_limits import can_grow_binned
from spinney.growth.engine import PLAIN, Engine, choose_engine_of_forest
from spinney.growth.forest.bags import (
    ForestBags,
    bag_draw,
    bags_in_memory,
    check_scale,
    class_scale,
    nobody_to_ask,
    sampled_bags,
    tree_seeds,
)
from spinney.growth.forest.choose_shrinkage import OutOfBagSample, best_shrinkage
from spinney.growth.forest.compact_tree import compact, with_counted_gains
from spinney.growth.forest.forest import Forest
from spinney.growth.forest.forest_settings import (
    HASH,
    ForestSettings,
    check_enough,
    forest_recipes,
    recipes_of,
    tries_of,
)
from spinney.growth.forest.wide_categories import (
    with_encoded_columns,
    with_levels_as_numbers,
    with_whole_levels,
)
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

# Rows of all bags that one thread holds for its next trees: an interrupt, and the bar,
# wait for these. Fewer are not worth the call.
ROWS_AT_ONCE, FEWEST_ROWS = 400_000, 20_000
MOST_TIMES = 255  # how often a row can be in a bag whose numbers are bytes


def grow_forest(
    rows: TrainingSet | SampleableRows,
    recipes: Recipe | Sequence[Recipe],
    settings: ForestSettings,
    *,
    n_trees: int,
    before: Forest | None = None,
    asked: ForestBags | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Forest:
    """Grow trees, each on its own bag of the rows, several at once.

    Of several recipes each tree takes one, in turn. The same seed gives the same
    forest, whatever the threads. ``before`` is the same forest with fewer trees, which
    are kept. ``asked`` are rows that tell how far to shrink leaves, of rows that have
    numbers; they are drawn if not given.
    """
    numeric = rows.schema.target.is_numeric
    suited = forest_recipes(
        recipes_of(recipes), numeric=numeric, extra_random=settings.extra_random
    )
    check_enough(n_trees, suited)
    fingerprint = rows.fingerprint()
    grown = 0
    if before is not None:
        _check_before(before, n_trees, fingerprint, suited, settings)
        grown = len(before)
    inquiry = _inquiry(rows, settings, asked)
    growers = _growers(rows, suited, settings, inquiry, n_trees - grown)
    # An engine is asked one question at a time.
    remote = isinstance(growers[0].bags, RemoteBags)
    threads = 1 if remote else threads_of(n_jobs)
    runs = _runs(growers, range(grown, n_trees), threads)
    finished: list[int] = []  # how many trees each finished run has
    ordered = rows if isinstance(rows, TrainingSet) and rows.ordered else None

    def grow(grower: TreeGrower, numbers: range) -> PackedTrees:
        trees = grower.grow(numbers)
        finished.append(len(trees))
        return trees if ordered is None else with_whole_levels(trees, ordered)

    def tell(_: int) -> None:
        if progress is not None:
            progress(grown + sum(finished), n_trees)

    spared = any(grower.spares_kernels for grower in growers)
    with WITHOUT_LOOPS.running() if spared else nullcontext():
        parts = run_each(
            [partial(grow, grower, numbers) for grower, numbers in runs],
            at_once=threads,
            done=tell,
        )
    by_number = [numbers for _, numbers in runs]
    if before is not None:
        by_number, parts = [range(grown), *by_number], [before.members, *parts]
    members = _in_order(by_number, parts)
    forest = Forest(rows.schema, suited, fingerprint, settings, members)
    shrinkage = settings.shrinkage or 0.0  # 0 where trees have seen all rows
    if inquiry is not None:
        compiled = any(grower.compiled for grower in growers)
        threads = threads_of(n_jobs)
        shrinkage = best_shrinkage(forest, inquiry, compiled=compiled, threads=threads)
    return replace(forest, shrinkage=float(shrinkage))


def _inquiry(
    rows: TrainingSet | SampleableRows,
    settings: ForestSettings,
    asked: ForestBags | None,
) -> OutOfBagSample | None:
    """Return the rows that tell how far leaves are shrunk, where nobody says."""
    if settings.shrinkage is not None or not settings.bootstrap:
        return None
    if settings.bootstrap == HASH:
        hashed = HashedTrainingSet(rows) if isinstance(rows, TrainingSet) else rows
        bags = asked or sampled_bags(hashed, settings)
        if bags is None:
            raise nobody_to_ask(hashed)
    else:
        assert isinstance(rows, TrainingSet)
        bags = ForestBags(rows, settings)
    assert bags.copies is not None
    return OutOfBagSample(bags, bags.copies.places)


def _growers(
    rows: TrainingSet | SampleableRows,
    recipes: Sequence[Recipe],
    settings: ForestSettings,
    inquiry: OutOfBagSample | None,
    n_trees: int,
) -> "list[TreeGrower]":
    """Return who grows the trees of each recipe: in memory, or where the rows are."""
    if not isinstance(rows, (TrainingSet, HashedTrainingSet)):
        away = RemoteBags(rows, settings)
        return [TreeGrower(away, recipe) for recipe in recipes]
    bags = bags_in_memory(rows, settings)
    if inquiry is not None and inquiry.bags.of_all is None:
        bags = inquiry.bags
    shared = BagsInMemory(bags, inquiry)
    numbered = with_levels_as_numbers(shared.rows)
    growers = list[TreeGrower]()
    for recipe in recipes:
        able, engine = _can_compile(shared, recipe, numbered), PLAIN
        if able:
            engine = choose_engine_of_forest(
                numbered,
                recipe,
                tries=shared.tries,
                n_trees=-(-n_trees // len(recipes)),
                exact=bags.add_up_exactly,
            )
        if engine is PLAIN:
            growers.append(TreeGrower(shared, recipe, spares_kernels=able))
        else:
            growers.append(KernelGrower(shared, recipe, numbered, engine))
    return growers


def _runs(
    growers: "Sequence[TreeGrower]", numbers: range, threads: int
) -> "list[tuple[TreeGrower, range]]":
    """Return who grows which trees in one go; trees take the growers in turn."""
    runs: list[tuple[TreeGrower, range]] = []
    for turn, grower in enumerate(growers):
        own = numbers[(turn - numbers.start) % len(growers) :: len(growers)]
        step = grower.trees_at_once(len(own), threads)
        runs += [(grower, own[k : k + step]) for k in range(0, len(own), step)]
    return sorted(runs, key=lambda run: run[1].start)


def _in_order(runs: Sequence[range], parts: Sequence[PackedTrees]) -> PackedTrees:
    """Return the trees of runs by their numbers."""
    if all(numbers.step == 1 for numbers in runs):
        return joined(parts)
    members: dict[int, TreeArrays] = {}
    for numbers, part in zip(runs, parts, strict=True):
        members.update(zip(numbers, part, strict=True))
    return joined([members[number] for number in sorted(members)])


def _check_before(
    before: Forest,
    n_trees: int,
    fingerprint: Fingerprint,
    recipes: tuple[Recipe, ...],
    settings: ForestSettings,
) -> None:
    """Refuse to add trees to others that were grown otherwise."""
    if len(before) > n_trees:
        raise refusal(
            Setting("n_estimators", n_trees),
            f"is less than the {len(before)} trees that there are, and "
            "warm_start=True adds some",
            "take more, or warm_start=False",
        )
    if before.fingerprint.digest != fingerprint.digest:
        raise refusal(
            Setting("warm_start", True),
            "adds trees on the same rows, and these are others",
            "fit anew, with warm_start=False",
        )
    if (before.settings, before.recipes) != (settings, recipes):
        raise refusal(
            Setting("warm_start", True),
            "adds trees of the same kind, and parameters have changed",
            "fit anew, with warm_start=False",
        )


class BagsInMemory:
    """What trees share whose bags are drawn in memory, and rows to ask about them."""

    def __init__(self, bags: ForestBags, inquiry: OutOfBagSample | None) -> None:
        self.bags, training, settings = bags, bags.training, bags.settings
        if settings.class_weight is not None:
            n, weights = training.schema.n_classes, training.own_weights
            sums = np.bincount(training.classes, weights, n)
            check_scale(settings, sums.astype(np.float64))
        self.settings, self.inquiry = settings, inquiry
        self.tries = tries_of(settings.max_features, len(training.schema.attributes))
        # A row in a bag once weighs this; the bag says how often it is there.
        self.rows = with_encoded_columns(replace(training, weights=self.bags.base))

    def in_bags(self, numbers: range, *, compiled: bool) -> NDArray[np.uint32]:
        """Return how often each row is in the bags of some trees, trees × rows."""
        drawn = self.bags.drawn(numbers, compiled=compiled)
        if self.inquiry is not None and self.inquiry.bags is self.bags:
            self.inquiry.note(numbers, drawn)
        return self.bags.counts_of(drawn)

    @cached_property
    def scaled(self) -> Floats | None:
        """What a row weighs that is in a bag once, its class considered."""
        scale = self.bags.class_weights()
        if scale is None:
            return self.rows.weights
        return np.asarray(self.rows.own_weights * scale[self.rows.classes])

    def weights(self, counts: NDArray[np.uint32]) -> Floats:
        """Return what rows weigh in a bag, their classes considered."""
        scale = self.bags.class_weights(counts)
        weights = self.rows.own_weights * counts
        return weights if scale is None else weights * scale[self.rows.classes]

    @contextmanager
    def bag(self, number: int) -> Iterator[Counts]:
        """Give the rows of a tree, each with its weight in the bag."""
        counts = self.in_bags(range(number, number + 1), compiled=False)[0]
        inside = np.flatnonzero(counts)
        weights = self.weights(counts)[inside]
        yield replace(self.rows.take(inside), weights=weights).source()


class RemoteBags:
    """What trees share whose bags are counted where the rows are."""

    def __init__(self, rows: SampleableRows, settings: ForestSettings) -> None:
        self.rows, self.settings = rows, settings
        self.tries = tries_of(settings.max_features, len(rows.schema.attributes))
        check_scale(settings, rows.root().weights)

    @contextmanager
    def bag(self, number: int) -> Iterator[Counts]:
        """Give the rows of a tree, each as often as it is in its bag.

        A bag without any row has all of them.
        """
        settings, totals = self.settings, self.rows.root()
        sums, draws = totals.weights, list[HashSample]()
        if settings.bootstrap:
            draws = [bag_draw(settings, number, totals.n_rows)]
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
    """Grows the trees of one recipe by asking for counts.

    ``spares_kernels`` says that compiled kernels might, and are not loaded.
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

    def trees_at_once(self, n_trees: int, threads: int) -> int:
        """Return how many trees a thread grows in one go, whatever they become."""
        return 1

    def grow(self, numbers: range) -> PackedTrees:
        """Grow some trees."""
        settings, trees = self.bags.settings, []
        for number in numbers:
            seed, _ = tree_seeds(settings.seed, number)
            draws = NodeSampling(seed, self.bags.tries, settings.extra_random)
            with self.bags.bag(number) as source:
                tree = grow_tree(source, self.recipe, Options(draws=draws))
                pruned = pruned_after_growing(tree, source, recipe=self.recipe)
                trees.append(compact(pruned.tree.arrays))
        return joined(trees)


class KernelGrower(TreeGrower):
    """Grows trees by compiled kernels, on rows in memory that are coded once."""

    bags: BagsInMemory
    compiled = True

    def __init__(
        self, bags: BagsInMemory, recipe: Recipe, numbered: TrainingSet, engine: Engine
    ) -> None:
        from spinney.growth.binned.binned_rows import prepared

        super().__init__(bags, recipe)
        self.replays = engine.replays
        self.coded = prepared(
            numbered, recipe, tries=bags.tries, share_of=bags.bags.weight
        )

    def trees_at_once(self, n_trees: int, threads: int) -> int:
        """Return how many trees a thread grows in one go, whatever they become.

        Several where they are small, but so few that all threads are busy to the end.
        """
        n_rows = max(1, len(self.bags.rows.classes))
        least, most = FEWEST_ROWS // n_rows, ROWS_AT_ONCE // n_rows
        return max(1, min(max(n_trees // (4 * threads), least), most))

    def grow(self, numbers: range) -> PackedTrees:
        """Grow some trees."""
        counts = self.bags.in_bags(numbers, compiled=True)
        seeds = self.bags.bags.node_seeds(numbers)
        if self._suit(counts):
            return self._grown(counts.astype(np.uint8), seeds, self.bags.scaled)
        trees = []
        for own, seed in zip(counts, seeds[:, None], strict=True):
            in_bag = (own > 0).astype(np.uint8)[None]
            trees.append(self._grown(in_bag, seed, self.bags.weights(own)))
        return joined(trees)

    def _grown(
        self, in_bags: NDArray[np.uint8], seeds: NDArray[np.uint64], base: Floats | None
    ) -> PackedTrees:
        """Return the trees of bags, of rows that weigh ``base`` in a bag once."""
        from spinney.growth.binned.binned_arrays import arrays_of_grown
        from spinney.growth.binned.subtree import grow_bags

        grown, roots = grow_bags(self.coded, in_bags, seeds, base)
        schema, recipe = self.coded.schema, self.recipe
        arrays = arrays_of_grown(grown.shape, grown.lines, schema, recipe, {})
        trees = compact(arrays)
        if self.replays:
            trees = with_counted_gains(trees, schema, recipe)
        return PackedTrees(trees, roots)

    def _suit(self, counts: NDArray[np.uint32]) -> bool:
        """Return whether bags can be grown on in one go: their words have room."""
        if self.bags.settings.class_weight == "balanced_subsample":
            return False
        scaled = self.bags.scaled
        heaviest = 1.0 if scaled is None else float(scaled.max())
        total = float(counts.sum(axis=1).max())
        return heaviest * total < 2.0**32 and int(counts.max()) <= MOST_TIMES


def _can_compile(bags: BagsInMemory, recipe: Recipe, numbered: TrainingSet) -> bool:
    """Return whether compiled kernels grow the trees that the plain learner would."""
    # Shares are of a bag's weight: of each its own where bags differ.
    shares = recipe.has_shares and bags.bags.weight is None
    limited = recipe.max_leaves is not None or recipe.pruning != "none"
    by_bag = _asks_bag(recipe, numeric=numbered.schema.target.is_numeric)
    if bags.settings.extra_random or shares or limited or by_bag:
        return False
    return can_grow_binned(numbered, recipe, Options())


def _asks_bag(recipe: Recipe, *, numeric: bool) -> bool:
    """Return whether all rows of a bag together say what a split may be.

    Which attributes count in an average gain depends on the weight of the bag.
    """
    asks = policy_named(recipe.missing).by_root or recipe.bucketing is not None
    average = recipe.measure(numeric=numeric).average
    return asks or recipe.min_deviation > 0 or average
