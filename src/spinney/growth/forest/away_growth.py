"""Trees of a forest on rows that are away: each bag is counted where its rows are."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from spinney.growth.forest.bags import bag_draw, check_scale, class_scale, tree_seeds
from spinney.growth.forest.compact_tree import compact
from spinney.growth.forest.forest_settings import ForestSettings, tries_of
from spinney.growth.growth_options import Options
from spinney.growth.plain.learner import grow_tree
from spinney.growth.prune.prune_methods import pruned_after_growing
from spinney.recipes import Recipe
from spinney.search import Draws
from spinney.sources import Counts
from spinney.sources.rows import Draw, HashedRows
from spinney.trees import SideBySide, TreeArrays, joined


@dataclass(frozen=True)
class RowsInEngine:
    """Rows that are away, and how bags are drawn of them."""

    rows: HashedRows
    settings: ForestSettings

    def __post_init__(self) -> None:
        """Refuse class weights that are beyond floats."""
        check_scale(self.settings, self.rows.root().weights)

    @contextmanager
    def bag(self, number: int) -> Iterator[Counts]:
        """Give the rows of a tree, each as often as it is in its bag.

        A bag without any row has all of them.
        """
        settings, totals = self.settings, self.rows.root()
        sums, draws = totals.weights, list[Draw]()
        if settings.bootstrap:
            draws = [bag_draw(settings, number, totals.n_rows)]
            if settings.class_weight == "balanced_subsample":
                with self.rows.drawn(*draws) as source:
                    in_bag = source.root()
                sums = in_bag.weights if in_bag.n_rows else sums
        scale = class_scale(settings, sums)
        with self.rows.drawn(*draws, class_weights=scale) as source:
            if not draws or source.root().n_rows:
                yield source
                return
        with self.rows.drawn(class_weights=scale) as source:
            yield source


@dataclass(frozen=True)
class NurseryInEngine:
    """Where the trees of one recipe are grown, a level after the other."""

    ground: RowsInEngine
    recipe: Recipe

    @property
    def compiled(self) -> bool:
        """Whether compiled loops grow its trees."""
        return False

    @property
    def spares_loops(self) -> bool:
        """Whether compiled loops might grow its trees, and are not loaded."""
        return False

    def threads(self, n_jobs: int | None) -> int:
        """Return how many threads grow: an engine is asked one question at a time."""
        return 1

    def trees_at_once(self, n_trees: int, threads: int) -> int:
        """Return how many trees are grown in one go."""
        return 1

    def grow(self, numbers: range) -> SideBySide:
        """Grow some trees."""
        settings = self.ground.settings
        n_attributes = len(self.ground.rows.schema.attributes)
        tries = tries_of(settings.max_features, n_attributes)
        trees = []
        for number in numbers:
            seed, _ = tree_seeds(settings.seed, number)
            draws = Draws(seed, tries, settings.extra_random)
            with self.ground.bag(number) as source:
                trees.append(grown_on(source, self.recipe, draws))
        return joined(trees)


def grown_on(source: Counts, recipe: Recipe, draws: Draws) -> TreeArrays:
    """Grow a tree of a forest by asking a source, and prune it as its recipe says."""
    tree = grow_tree(source, recipe, Options(draws=draws))
    return compact(pruned_after_growing(tree, source, recipe=recipe).tree.arrays)
