"""From a table to a model: read, code, grow."""

from collections.abc import Mapping
from typing import Any

from spinney._support.checks import check_named
from spinney.data import Declarations, Fingerprint
from spinney.data.duckdb import is_relation
from spinney.data.readers import opened_relation, read_table
from spinney.errors import ParameterError, Setting, phrase, refusal
from spinney.growth import (
    Model,
    grow_and_prune_swiftly,
    grow_swiftly,
    options_of,
    suits,
)
from spinney.growth.model_trees import with_models
from spinney.growth.plain import grow_with_construction
from spinney.growth.prune import Pruned, Steps, pruned_after_growing
from spinney.growth.taught import Lesson
from spinney.recipes import RECIPES, Recipe, default_recipe, recipe_named, suited
from spinney.search.oblique import without_unused
from spinney.sources import Source
from spinney.sources.rows import TrainingSet, check_roles, rows_in_memory
from spinney.sources.sql import Engine, source_in_duckdb

SOURCES = ("memory", "duckdb")


def grow_model(
    source: Source,
    fingerprint: Fingerprint,
    *,
    recipe: Recipe,
    training: TrainingSet | None = None,
    **said: Any,
) -> Model:
    """Grow over a source, prune as the recipe says, and give leaves their models.

    What is said beside the recipe is for ``options_of``. ``training`` are the rows
    of the source, where they are at hand.
    """
    numeric = source.schema.target.is_numeric
    recipe.refuse_target(numeric=numeric)
    recipe = suited(recipe, numeric=numeric)
    options = options_of(source, recipe=recipe, **said)
    lesson: Lesson | None = None
    result: Pruned | None = None
    if recipe.needs_rows:
        if training is None:
            raise _no_rows(recipe)
        lesson = Lesson(training, recipe, options)
        tree = lesson.grow()
    elif training is not None and suits(training, recipe, options):
        result = grow_and_prune_swiftly(training, recipe)
        tree = grow_swiftly(training, recipe) if result is None else result.tree
    else:
        tree = grow_with_construction(source, recipe, options)
    if lesson is not None and recipe.pruning == "cost-complexity":
        result = lesson.pruned(tree)
    elif result is None:
        result = pruned_after_growing(
            tree, source, recipe=recipe, class_weights=options.class_weights
        )
    modelled = with_models(result.tree, source, recipe=recipe)
    steps = result.steps
    if modelled.steps:
        steps = Steps((*result.steps, *modelled.steps))
    tree = without_unused(modelled.tree)
    return Model(tree, recipe, fingerprint, steps, result.sequence)


def _no_rows(recipe: Recipe) -> ParameterError:
    """Return the refusal of a recipe that looks at rows, where they stay away."""
    what = "forest" if recipe.forest else "pruning"
    named = RECIPES.get(recipe.name)
    remedy = "take another recipe, such as 'c4.5'"
    if named is not None and not named.needs_rows:
        remedy = f"leave out {what}"
    return refusal(
        Setting(what, getattr(recipe, what)),
        f"(recipe {recipe.name!r}) needs the rows, and they stay in DuckDB",
        phrase("read them ({}), or {}", Setting("source", "memory"), remedy),
    )


def grow_from(
    data: Any,
    target: str,
    *,
    recipe: str | Recipe | None = None,
    settings: Mapping[str, Any] | None = None,
    declarations: Declarations,
    weight: str | None = None,
    source: str | None = None,
    connection: Any = None,
    format: str | None = None,
    encoding: str = "utf-8",
    **options: Any,
) -> Model:
    """Grow on a table that holds its target; ``options`` are those of grow_model.

    ``settings`` change the recipe. Where it is None, it is the default of the place
    where the rows are counted.
    """
    in_duckdb = _counted_in_duckdb(data, source, connection)
    if recipe is None:
        recipe = default_recipe(rows_at_hand=not in_duckdb)
    recipe = recipe_named(recipe).changed(**(settings or {}))
    check_roles(target, weight, declarations.ignore)
    if in_duckdb:
        with (
            opened_relation(
                data,
                declarations=declarations,
                format=format,
                encoding=encoding,
                connection=connection,
            ) as opened,
            Engine(opened.relation, opened.connection) as engine,
        ):
            rows, origin = source_in_duckdb(
                engine,
                opened,
                target,
                weight,
                declarations,
                from_zero=recipe.counts_from_zero,
            )
            return grow_model(rows, origin, recipe=recipe, **options)
    table = read_table(
        data, declarations=declarations, format=format, encoding=encoding
    )
    training = rows_in_memory(
        table, target, weight, declarations, from_zero=recipe.counts_from_zero
    )
    return grow_model(
        training.source(),
        training.fingerprint(),
        recipe=recipe,
        training=training,
        **options,
    )


def _counted_in_duckdb(data: Any, source: str | None, connection: Any) -> bool:
    if source is not None:
        check_named("source", source, SOURCES)
    here = source == "duckdb" or (source is None and is_relation(data))
    if connection is not None and not (here and is_relation(data)):
        msg = "connection= is that of a DuckDB relation: leave it out for other data"
        raise ParameterError(msg)
    return here
