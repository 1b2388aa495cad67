"""From a table to a model: read, code, grow."""

from collections.abc import Mapping
from typing import Any

from spinney.data import Declarations
from spinney.errors import ParameterError, Setting, phrase, refusal
from spinney.growth import Model, Tried, options_of
from spinney.growth.folds import choose_recipe, grow_by
from spinney.recipes import RECIPES, Recipe, candidates_of, default_recipe
from spinney.sources.opened import OpenedSource, is_counted_away, open_source

# So many rows held out tell how far to prune: a default that takes long is none.
MOST_HELD = 10_000


def grow_model(rows: OpenedSource, *, recipe: Recipe, **given: Any) -> Model:
    """Grow a tree, prune it as the recipe says, and give its leaves their models.

    Where the recipe tries several ways to grow, folds of the rows choose one.

    What is ``given`` beside the recipe is for ``options_of``.
    """
    numeric = rows.schema.target.is_numeric
    recipe.refuse_target(numeric=numeric)
    candidates = candidates_of(recipe, numeric=numeric)
    first = next(iter(candidates.values()))
    options = options_of(rows, recipe=first, **given)
    tried: tuple[Tried, ...] = ()
    if rows.training is None:
        # Folds need rows: what is first is taken.
        recipe, most_held = first, None
        if recipe.needs_rows:
            raise _no_rows(recipe)
    else:
        most_held = MOST_HELD if recipe.tries else None
        recipe, tried = choose_recipe(rows.training, candidates, options)
    result = grow_by(rows, recipe, options, most_held=most_held)
    return Model(
        result.tree,
        recipe,
        rows.fingerprint,
        steps=result.steps,
        sequence=result.sequence,
        tried=tried,
    )


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
    encoding: str | None = None,
    **options: Any,
) -> Model:
    """Grow on a table that holds its target; ``options`` are those of grow_model.

    ``settings`` change the recipe. Where it is None, it is the default of the place
    where the rows are counted.
    """
    if recipe is None:
        away = is_counted_away(data, source, connection)
        recipe = default_recipe(rows_at_hand=not away)
    recipe = Recipe.named(recipe).changed(**(settings or {}))
    with open_source(
        data,
        target,
        weight=weight,
        declarations=declarations,
        source=source,
        connection=connection,
        from_zero=recipe.counts_from_zero,
        identifiers=not recipe.tries,  # a default knows better than to ask for them
        format=format,
        encoding=encoding,
    ) as rows:
        return grow_model(rows, recipe=recipe, **options)
