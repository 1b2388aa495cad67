"""Growing a forest: a bag, a tree, and again."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.checks import Progress
from spinney._support.jit.loading_price import without_loops
from spinney._support.threads import run_each
from spinney._support.threads import thread_count as threads_of
from spinney.data import Fingerprint
from spinney.errors import Setting, refusal
from spinney.growth.binned.binned_limits import can_grow_binned
from spinney.growth.engine import PLAIN, Engine, choose_engine_of_forest
from spinney.growth.forest.away_growth import NurseryInEngine, RowsInEngine, grown_on
from spinney.growth.forest.bags import (
    ForestBags,
    asked_bags,
    bags_in_memory,
    check_scale,
    nobody_to_ask,
    tree_seeds,
)
from spinney.growth.forest.choose_shrinkage import Inquiry, best_shrinkage
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
from spinney.recipes import Recipe
from spinney.search import Draws, policy_named
from spinney.sources.rows import HashedInMemory, HashedRows, TrainingSet
from spinney.trees import SideBySide, TreeArrays, joined

if TYPE_CHECKING:
    from spinney.growth.binned.binned_rows import Prepared
    from spinney.growth.binned.loops.nodes import Lines, Shape

# Rows of all bags that one thread holds for its next trees: an interrupt, and the bar,
# wait for these. Fewer are not worth the call.
ROWS_AT_ONCE, FEWEST_ROWS = 400_000, 20_000


def grow_forest(
    rows: TrainingSet | HashedRows,
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
    nurseries = _nurseries(rows, suited, settings, inquiry, n_trees - grown)
    threads = nurseries[0].threads(n_jobs)
    runs = _runs(nurseries, range(grown, n_trees), threads)
    finished: list[int] = []  # how many trees each finished run has
    ordered = rows if isinstance(rows, TrainingSet) and rows.ordered else None

    def grow(nursery: _Nursery | NurseryInEngine, numbers: range) -> SideBySide:
        trees = nursery.grow(numbers)
        finished.append(len(trees))
        return trees if ordered is None else with_whole_levels(trees, ordered)

    def tell(_: int) -> None:
        if progress is not None:
            progress(grown + sum(finished), n_trees)

    spared = any(nursery.spares_loops for nursery in nurseries)
    with without_loops() if spared else nullcontext():
        parts = run_each(
            [partial(grow, nursery, numbers) for nursery, numbers in runs],
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
        compiled = any(nursery.compiled for nursery in nurseries)
        threads = threads_of(n_jobs)
        shrinkage = best_shrinkage(forest, inquiry, compiled=compiled, threads=threads)
    return replace(forest, shrinkage=float(shrinkage))


def _inquiry(
    rows: TrainingSet | HashedRows, settings: ForestSettings, asked: ForestBags | None
) -> Inquiry | None:
    """Return the rows that tell how far leaves are shrunk, where nobody says."""
    if settings.shrinkage is not None or not settings.bootstrap:
        return None
    if settings.bootstrap == HASH:
        hashed = HashedInMemory(rows) if isinstance(rows, TrainingSet) else rows
        bags = asked or asked_bags(hashed, settings)
        if bags is None:
            raise nobody_to_ask(hashed)
    else:
        assert isinstance(rows, TrainingSet)
        bags = ForestBags(rows, settings)
    assert bags.copies is not None
    return Inquiry(bags, bags.copies.places)


def _nurseries(
    rows: TrainingSet | HashedRows,
    recipes: Sequence[Recipe],
    settings: ForestSettings,
    inquiry: Inquiry | None,
    n_trees: int,
) -> "Sequence[_Nursery | NurseryInEngine]":
    """Return who grows the trees of each recipe: in memory, or where the rows are."""
    if isinstance(rows, (TrainingSet, HashedInMemory)):
        bags = bags_in_memory(rows, settings)
        if inquiry is not None and inquiry.bags.of_all is None:
            bags = inquiry.bags
        ground = _Ground(bags, inquiry)
        each = -(-n_trees // len(recipes))
        return [_Nursery(ground, recipe, each) for recipe in recipes]
    away = RowsInEngine(rows, settings)
    return [NurseryInEngine(away, recipe) for recipe in recipes]


def _runs(
    nurseries: "Sequence[_Nursery | NurseryInEngine]", numbers: range, threads: int
) -> "list[tuple[_Nursery | NurseryInEngine, range]]":
    """Return who grows which trees in one go; trees take the nurseries in turn."""
    runs: list[tuple[_Nursery | NurseryInEngine, range]] = []
    n = len(nurseries)
    for turn, nursery in enumerate(nurseries):
        first = (turn - numbers.start) % n
        own = numbers[first::n]
        step = nursery.trees_at_once(len(own), threads)
        runs += [(nursery, own[k : k + step]) for k in range(0, len(own), step)]
    return sorted(runs, key=lambda run: run[1].start)


def _in_order(runs: Sequence[range], parts: Sequence[SideBySide]) -> SideBySide:
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


class _Ground:
    """What all trees of a forest share: bags, and rows to ask about them."""

    def __init__(self, bags: ForestBags, inquiry: Inquiry | None) -> None:
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


class _Nursery:
    """Where so many trees of one recipe are grown; they share the coded rows."""

    def __init__(self, ground: _Ground, recipe: Recipe, n_trees: int) -> None:
        self.ground, self.recipe = ground, recipe
        self.settings, self.bags, self.rows = ground.settings, ground.bags, ground.rows
        self.coded: Prepared | None = None
        numbered = with_levels_as_numbers(self.rows)
        self.spares_loops = False
        self.engine = self._engine(numbered, n_trees)
        if self.engine is not PLAIN:
            from spinney.growth.binned.binned_rows import prepared

            self.coded = prepared(
                numbered, recipe, tries=ground.tries, share_of=self.bags.weight
            )

    def _engine(self, numbered: TrainingSet, n_trees: int) -> Engine:
        """Return who grows the trees."""
        recipe, ground = self.recipe, self.ground
        # Shares are of a bag's weight: of each its own where bags differ.
        shares = recipe.has_shares and self.bags.weight is None
        limited = recipe.max_leaves is not None or recipe.pruning != "none"
        numeric = self.rows.schema.target.is_numeric
        by_bag = _asks_bag(recipe, numeric=numeric)
        if self.settings.extra_random or shares or limited or by_bag:
            return PLAIN
        engine = choose_engine_of_forest(
            numbered,
            recipe,
            tries=ground.tries,
            n_trees=n_trees,
            exact=self.bags.add_up_exactly,
        )
        if engine is PLAIN:
            self.spares_loops = can_grow_binned(numbered, recipe, Options())
        return engine

    @property
    def compiled(self) -> bool:
        """Whether compiled loops grow its trees."""
        return self.coded is not None

    def threads(self, n_jobs: int | None) -> int:
        """Return how many threads grow."""
        return threads_of(n_jobs)

    def trees_at_once(self, n_trees: int, threads: int) -> int:
        """Return how many trees a thread grows in one go, whatever they become.

        Several where they are small, but so few that all threads are busy to the end.
        """
        if self.coded is None:
            return 1
        n_rows = max(1, len(self.rows.classes))
        least, most = FEWEST_ROWS // n_rows, ROWS_AT_ONCE // n_rows
        return max(1, min(max(n_trees // (4 * threads), least), most))

    def grow(self, numbers: range) -> SideBySide:
        """Grow some trees."""
        counts = self.ground.in_bags(numbers, compiled=self.compiled)
        if not self._suit(counts):
            each = zip(numbers, counts, strict=True)
            return joined([self.grow_one(number, own) for number, own in each])
        assert self.coded is not None
        from spinney.growth.binned.binned_forest import grow_several

        seeds = self.bags.node_seeds(numbers)
        times, scaled = counts.astype(np.uint8), self.ground.scaled
        shape, lines, roots = grow_several(self.coded, times, seeds, scaled)
        return SideBySide(self._arrays(shape, lines), roots)

    def _arrays(self, shape: "Shape", lines: "Lines") -> TreeArrays:
        """Return what compiled loops grew as compact trees side by side."""
        from spinney.growth.binned.binned_arrays import arrays_of_grown

        assert self.coded is not None
        grown = shape, lines, self.coded.schema, self.recipe
        trees = compact(arrays_of_grown(*grown, {}))
        if not self.engine.replays:
            return trees
        return with_counted_gains(trees, self.coded.schema, self.recipe)

    def _suit(self, counts: NDArray[np.uint32]) -> bool:
        """Return whether these bags can be grown on in one go."""
        by_bag = self.settings.class_weight == "balanced_subsample"
        if self.coded is None or by_bag:
            return False
        from spinney.growth.binned.binned_forest import MOST_TIMES

        scaled = self.ground.scaled
        heaviest = 1.0 if scaled is None else float(scaled.max())
        total = float(counts.sum(axis=1).max())
        return heaviest * total < 2.0**32 and int(counts.max()) <= MOST_TIMES

    def grow_one(self, number: int, counts: NDArray[np.uint32]) -> TreeArrays:
        """Grow a tree."""
        seed, _ = tree_seeds(self.settings.seed, number)
        scale = self.bags.class_weights(counts)
        if self.coded is not None:
            from spinney.growth.binned.binned_forest import grow_one

            return self._arrays(*grow_one(self.coded, counts, seed, scale))
        inside = np.flatnonzero(counts)
        rows = self.rows.taken(inside)
        weights = rows.own_weights * counts[inside]
        if scale is not None:
            weights = weights * scale[rows.classes]
        source = replace(rows, weights=weights).source()
        draws = Draws(seed, self.ground.tries, self.settings.extra_random)
        return grown_on(source, self.recipe, draws)


def _asks_bag(recipe: Recipe, *, numeric: bool) -> bool:
    """Return whether all rows of a bag together say what a split may be.

    Which attributes count in an average gain depends on the weight of the bag.
    """
    asks = policy_named(recipe.missing).by_root or recipe.bucketing is not None
    average = recipe.measure(numeric=numeric).average
    return asks or recipe.min_deviation > 0 or average
