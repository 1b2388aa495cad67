"""Trees of a forest on rows that are away: each bag is counted where its rows are."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from spinney.growth.forest.bags import bag_draw, class_scale, tree_seeds
from spinney.growth.forest.compact_tree import compact
from spinney.growth.forest.forest_settings import ForestSettings, tries_of
from spinney.growth.growth_options import Options
from spinney.growth.plain.learner import grow_tree
from spinney.growth.prune.prune_methods import pruned_after_growing
from spinney.growth.user_options import in_bounds
from spinney.recipes import Recipe
from spinney.search import Draws
from spinney.sources import Counts
from spinney.sources.rows import Draw, HashedRows
from spinney.trees import SideBySide, arrays_of, joined


@dataclass(frozen=True)
class RowsInEngine:
    """Rows that are away, and how bags are drawn of them."""

    rows: HashedRows
    settings: ForestSettings

    def __post_init__(self) -> None:
        """Refuse class weights that leave nothing."""
        if self.settings.class_weight != "balanced_subsample":
            sums = self.rows.root().weights
            scale = class_scale(self.settings, sums)
            if scale is not None:
                in_bounds(scale, sums, "class_weight")

    @contextmanager
    def bag(self, number: int) -> Iterator[Counts]:
        """Give the rows of a tree, each as often as it is in its bag."""
        draws: tuple[Draw, ...] = ()
        if self.settings.bootstrap:
            n_rows = self.rows.root().n_rows
            draws = (bag_draw(self.settings, number, n_rows),)
            with self.rows.drawn(*draws) as source:
                totals = source.root()
                if totals.rows.any() and self.settings.class_weight is None:
                    yield source
                    return
            draws = draws if totals.rows.any() else ()
        sums = self.rows.root().weights
        if draws and self.settings.class_weight == "balanced_subsample":
            sums = totals.weights
        scale = class_scale(self.settings, sums)
        with self.rows.drawn(*draws, class_weights=scale) as source:
            yield source


@dataclass(frozen=True)
class NurseryInEngine:
    """Where the trees of one recipe are grown, a level after the other."""

    ground: RowsInEngine
    recipe: Recipe
    coded = None

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
            options = Options(draws=Draws(seed, tries, settings.extra_random))
            with self.ground.bag(number) as source:
                tree = grow_tree(source, self.recipe, options)
                tree = pruned_after_growing(tree, source, recipe=self.recipe).tree
                trees.append(compact(arrays_of(tree)))
        return joined(trees)
