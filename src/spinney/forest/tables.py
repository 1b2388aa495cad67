"""From a table that holds its target to a forest."""

from collections.abc import Mapping
from typing import Any

from spinney._support.checks import check_whole
from spinney.data import read_table
from spinney.data.declarations import Declarations
from spinney.errors import ParameterError, did_you_mean
from spinney.growth.forest.forest import Forest
from spinney.growth.forest.forest_settings import ForestSettings, forest_recipe
from spinney.growth.forest.grow_forest import Progress, grow_forest
from spinney.growth.user_options import class_weights_of
from spinney.recipes import Recipe, recipe_named, suited
from spinney.sources.training_set import TrainingSet, check_roles, rows_in_memory

__all__ = [
    "FOREST_PARAMETERS",
    "FOR_NUMBERS",
    "RECIPE_PARAMETERS",
    "forest_from",
    "refuse_forest_arguments",
]

# Parameters of the estimators that change the recipe, and those of the forest.
RECIPE_PARAMETERS = (
    "criterion",
    "grouping",
    "missing",
    "max_depth",
    "max_leaves",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "min_gain",
    "pruning",
    "probability",
    "m",
)
FOREST_PARAMETERS = (
    "max_features",
    "bootstrap",
    "replace",
    "max_samples",
    "extra_random",
    "shrinkage",
)
OF_CLASSES = ("voting", "class_weight", "probability", "m")

# What is meant where the target is a number and nothing is said.
FOR_NUMBERS: Mapping[str, Any] = {"max_features": 2 / 3}


def forest_from(
    data: Any,
    target: str,
    *,
    n_trees: int = 100,
    recipe: str | Recipe = "cart",
    settings: Mapping[str, Any],
    recipe_settings: Mapping[str, Any],
    declarations: Declarations,
    weight: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[Forest, TrainingSet]:
    """Grow a forest on a table that holds its target; return it and the rows.

    ``settings`` are those of :class:`ForestSettings`, and ``recipe_settings`` change
    the recipe; what is None in them is not said. Class weights are by class.
    """
    check_roles(target, weight, declarations.ignore)
    changes = {n: value for n, value in recipe_settings.items() if value is not None}
    said = {name: value for name, value in settings.items() if value is not None}
    named = recipe_named(recipe).changed(**changes)
    ForestSettings(**{n: v for n, v in said.items() if n != "class_weight"})
    table = read_table(
        data, declarations=declarations, format=format, encoding=encoding
    )
    training = rows_in_memory(
        table, target, weight, declarations, from_zero=named.counts_from_zero
    )
    if training.schema.target.is_numeric:
        _refuse_of_classes({**said, **changes})
        said = {**FOR_NUMBERS, **said}
    scale = class_weights_of(said.pop("class_weight", None), training.schema.target)
    forest = grow_forest(
        training,
        named,
        ForestSettings(**said, class_weight=scale),
        n_trees=n_trees,
        n_jobs=n_jobs,
        progress=progress,
    )
    return forest, training


def refuse_forest_arguments(
    arguments: Mapping[str, Any], *, numeric: bool | None = None
) -> None:
    """Refuse arguments that are none of a forest's, or that it cannot heed.

    ``trees`` is the recipe of its trees. Where it is known whether the target is a
    number, what is about classes only is refused for one.
    """
    own = ("n_estimators", "trees", "random_state", "n_jobs")
    known = (*own, *RECIPE_PARAMETERS, *FOREST_PARAMETERS, "voting", "class_weight")
    for name in arguments:
        if name not in known:
            msg = f"a forest has no {name!r}: {did_you_mean(name, known)}"
            raise ParameterError(msg)
    if numeric:
        _refuse_of_classes(arguments)
    changes = {name: arguments.get(name) for name in RECIPE_PARAMETERS}
    recipe = recipe_named(arguments.get("trees", "cart")).changed(**changes)
    told = {n: arguments[n] for n in FOREST_PARAMETERS if n in arguments}
    settings = ForestSettings(**told)
    check_whole("n_estimators", arguments.get("n_estimators", 1), least=1)
    if numeric is not None:
        recipe.refuse_target(numeric=numeric)
        recipe = suited(recipe, numeric=numeric)
        forest_recipe(recipe, extra_random=settings.extra_random)


def _refuse_of_classes(said: Mapping[str, Any]) -> None:
    """Refuse what is about classes, for a target that is a number."""
    for name in OF_CLASSES:
        if name in said:
            msg = (
                f"{name}={said[name]!r} is about classes, and the target is a number: "
                "leave it out"
            )
            raise ParameterError(msg)
