"""Growing a forest: a bag, a tree, and again."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from spinney.checks import check_whole
from spinney.draws import Draws
from spinney.errors import ParameterError
from spinney.forest.bags import Bags, tree_seeds
from spinney.forest.forest import Forest
from spinney.forest.grown import member_of_grown
from spinney.forest.members import Member, member_of
from spinney.forest.settings import ForestSettings, forest_recipe, tries_of
from spinney.learner import Options, grow_tree
from spinney.model import Fingerprint
from spinney.prune import pruned_after_growing
from spinney.recipe import Recipe, suited
from spinney.swift.suiting import can_grow
from spinney.swift.threads import n_threads, run_each
from spinney.training import TrainingSet

if TYPE_CHECKING:
    from spinney.swift.prepared import Prepared

__all__ = ["Progress", "grow_forest", "threads_of"]

Progress = Callable[[int, int], None]
"""Told how many trees of how many are grown."""


def grow_forest(
    training: TrainingSet,
    recipe: Recipe,
    settings: ForestSettings,
    *,
    n_trees: int,
    before: Forest | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Forest:
    """Grow trees, each on its own bag of the rows, several at once.

    The same seed gives the same forest, whatever the threads. ``before`` is the same
    forest with fewer trees, which are kept.
    """
    check_whole("n_estimators", n_trees, least=1)
    numeric = training.schema.target.is_numeric
    recipe.refuse_target(numeric=numeric)
    recipe = suited(recipe, numeric=numeric)
    recipe = forest_recipe(recipe, extra_random=settings.extra_random)
    recipe.measure(numeric=numeric)
    fingerprint = training.fingerprint()
    grown: tuple[Member, ...] = ()
    if before is not None:
        _check_before(before, n_trees, fingerprint, recipe, settings)
        grown = before.members
    nursery = _Nursery(training, recipe, settings)
    numbers = range(len(grown), n_trees)

    def tell(done: int) -> None:
        if progress is not None:
            progress(len(grown) + done, n_trees)

    members = run_each(
        [partial(nursery.grow, number) for number in numbers],
        at_once=threads_of(n_jobs),
        done=tell,
    )
    members = [*grown, *members]
    return Forest(training.schema, recipe, fingerprint, settings, tuple(members))


def _check_before(
    before: Forest,
    n_trees: int,
    fingerprint: Fingerprint,
    recipe: Recipe,
    settings: ForestSettings,
) -> None:
    """Refuse to add trees to others that were grown otherwise."""
    msg = ""
    if len(before) > n_trees:
        msg = (
            f"n_estimators={n_trees} is less than the {len(before)} trees that there "
            "are, and warm_start=True adds some: take more, or warm_start=False"
        )
    elif before.fingerprint.digest != fingerprint.digest:
        msg = (
            "warm_start=True adds trees on the same rows, and these are others: fit "
            "anew, with warm_start=False"
        )
    elif (before.settings, before.recipe) != (settings, recipe):
        msg = (
            "warm_start=True adds trees of the same kind, and parameters have changed: "
            "fit anew, with warm_start=False"
        )
    if msg:
        raise ParameterError(msg)


def threads_of(n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` means: None is all, -1 too, -2 all but one."""
    check_whole("n_jobs", n_jobs, least=-(2**31), optional=True)
    if n_jobs is None:
        return n_threads()
    if n_jobs == 0:
        check_whole("n_jobs", n_jobs, least=1)
    return n_jobs if n_jobs > 0 else max(1, n_threads() + 1 + n_jobs)


class _Nursery:
    """Where the trees of one forest are grown; they share the coded rows."""

    def __init__(
        self, training: TrainingSet, recipe: Recipe, settings: ForestSettings
    ) -> None:
        self.bags = Bags(training, settings)
        self.recipe, self.settings = recipe, settings
        self.tries = tries_of(settings.max_features, len(training.schema.attributes))
        # A row in a bag once weighs this; the bag says how often it is there.
        self.rows = replace(training, weights=self.bags.base)
        self.ready: Prepared | None = None
        shares = recipe.min_weight_fraction_leaf > 0  # of a bag's weight
        plain = settings.extra_random or shares or recipe.pruning != "none"
        if not plain and can_grow(self.rows, recipe, Options()):
            from spinney.swift.prepared import prepared

            self.ready = prepared(self.rows, recipe, tries=self.tries)

    def grow(self, number: int) -> Member:
        """Grow a tree."""
        counts = self.bags.counts(number)
        seed, _ = tree_seeds(self.settings.seed, number)
        scale = self.bags.class_weights(counts)
        schema, recipe = self.rows.schema, self.recipe
        if self.ready is not None:
            from spinney.swift.forests import grow_one

            shape, lines = grow_one(self.ready, counts, seed, scale)
            return member_of_grown(shape, lines, schema, recipe)
        inside = np.flatnonzero(counts)
        rows = self.rows.taken(inside)
        weights = rows.own_weights * counts[inside]
        if scale is not None:
            weights = weights * scale[rows.classes]
        source = replace(rows, weights=weights).source()
        draws = Draws(seed, self.tries, self.settings.extra_random)
        tree = grow_tree(source, recipe, Options(draws=draws))
        return member_of(pruned_after_growing(tree, source, recipe=recipe).tree)
