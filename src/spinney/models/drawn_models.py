"""Models grown on sampled rows of a remote table, drawn by row hashes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from spinney._support.keyed_random import recipe_seed, seed_of
from spinney._support.threads import limited_threads
from spinney.growth import Model
from spinney.growth.forest import Forest, recipes_of
from spinney.models.fitted_forest import (
    FOREST_PARAMETERS,
    RECIPE_PARAMETERS,
    grow_forest_on,
)
from spinney.models.grow import grow_model
from spinney.models.validation_split import encoded_rows, remote_validation_share
from spinney.recipes import COMMON_SETTINGS, Recipe
from spinney.sources.rows import (
    HashedTrainingSet,
    SampleableRows,
    hash_mixing,
    sample_fraction,
)
from spinney.sources.training_data import TrainingData


def grow_drawn(rows: SampleableRows, arguments: Mapping[str, Any]) -> Model:
    """Grow a tree on rows by arguments of ``spinney.grow``, ``recipe`` among them.

    A validation set is drawn by row hashes, too.
    """
    settings = {name: arguments.get(name) for name in COMMON_SETTINGS}
    settings["seed"] = recipe_seed(arguments.get("random_state"))
    recipe = Recipe.named(arguments["recipe"]).changed(**settings)
    used = (*COMMON_SETTINGS, "recipe", "random_state", "n_jobs")
    options = {name: v for name, v in arguments.items() if name not in used}
    if options.get("ccp_alpha") is None:
        given = options.pop("validation_share", None)
        share = remote_validation_share(recipe, given)(
            rows.root().n_rows, rows.schema.target
        )
        if share is not None:
            draw = sample_fraction(share, hash_mixing(recipe.seed))
            options["validation"] = encoded_rows(rows.fetch_sample(draw)[0])
            rows = rows.subset(draw.complement)
    with limited_threads(arguments.get("n_jobs")), opened_rows(rows) as opened:
        return grow_model(opened, recipe=recipe, **options)


@contextmanager
def opened_rows(rows: SampleableRows) -> Iterator[TrainingData]:
    """Give rows that have numbers to grow one tree on."""
    origin = rows.fingerprint()
    if isinstance(rows, HashedTrainingSet):
        yield TrainingData(rows.training, origin=origin)
        return
    with rows.sampled_source() as source:
        yield TrainingData(counted=source, origin=origin)


def grow_drawn_forest(rows: SampleableRows, arguments: Mapping[str, Any]) -> Forest:
    """Grow a forest on rows by arguments of ``spinney.grow_forest``.

    ``trees`` is the recipe of its trees.
    """
    changes = {name: arguments.get(name) for name in RECIPE_PARAMETERS}
    recipes = recipes_of(arguments.get("trees", "cart"), changes)
    names = (*FOREST_PARAMETERS, "voting", "class_weight")
    settings = {name: arguments[name] for name in names if name in arguments}
    settings["seed"] = seed_of(arguments.get("random_state", 0))
    growing = {"n_trees": arguments.get("n_estimators", 100)}
    growing["n_jobs"] = arguments.get("n_jobs")
    return grow_forest_on(rows, recipes, settings, **growing)[0]
