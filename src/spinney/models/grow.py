"""From a table to a model: read, encode, choose, grow, prune, finish.

======================  ==========================================================
read, encode            ``open_source``: rows in memory, or who counts them
hold                    ``held_rows``: rows to prune by, if a user gives any
choose                  ``choose_recipe``, where a recipe tries several, by folds
grow, prune, finish     ``growth.pipeline``: the tree of one recipe
======================  ==========================================================

A stream is learned row by row and goes none of these ways.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from spinney import registry
from spinney._support.checks import Progress, check_choice, check_number
from spinney._support.grown_trees import GrownTrees
from spinney._support.memory_budget import bytes_of
from spinney._support.text import first_of, shown
from spinney.errors import ParameterError, Setting, note, phrase, refusal
from spinney.growth import (
    Engine,
    Model,
    Options,
    UpdateState,
    grow_and_prune,
    options_of,
    overfitting_columns,
    with_constant_columns,
)
from spinney.growth.folds import (
    RecipeChoice,
    choose_recipe,
    warn_of_squared_error_pruning,
)
from spinney.growth.prune import EncodedRows, Pruned, pruned_by_impurity
from spinney.models.high_cardinality import warn_of_high_cardinality
from spinney.models.validation_split import (
    Held,
    coded,
    held_rows,
    read_validation,
    remote_validation_share,
)
from spinney.recipes import (
    RECIPES,
    Recipe,
    candidates_of,
    default_recipe,
    in_bins,
)
from spinney.search.oblique import without_unused
from spinney.sources.training_data import TableInput, TrainingData, open_source
from spinney.trees import Tree

MOST_LISTED = 500_000
"""All values of a column are counted by default in tables of at most so many rows."""
MAX_NAMED = 3


def grow_from(
    table: TableInput,
    *,
    recipe: str | Recipe | None = None,
    settings: Mapping[str, Any] | None = None,
    keep_rows: bool = False,
    **options: Any,
) -> Model:
    """Grow on a table that holds its target; ``options`` are those of grow_model.

    ``settings`` change the recipe. Where it is None, it is the default of the place
    where the rows are counted. ``validation`` is a table to prune by. ``keep_rows``
    says that the model is to keep its rows, so that others can be added.
    """
    check_choice("keep_rows", keep_rows)
    by_default = recipe is None
    if recipe is None:
        recipe = default_recipe(in_memory=not table.is_remote)
    recipe = Recipe.named(recipe).changed(**(settings or {}))
    if recipe.grower.streams:
        if keep_rows:
            raise refusal(
                Setting("keep_rows", True),
                f"keeps the rows, and recipe {recipe.name!r} learns each of them once",
                "leave it out, or take another recipe, such as 'c4.5'",
            )
        stream = registry.load("operation", "stream")
        if stream.is_streamed(table.data, table.source):
            return _grow_streamed(table, recipe, options)
    if table.is_remote:
        if keep_rows:
            raise refusal(
                Setting("keep_rows", True),
                "needs the rows, and they stay where they are",
                phrase("read them ({})", Setting("source", "memory")),
            )
        return _grow_remote(table, recipe, options, by_default=by_default)
    return _grow_in_memory(table, recipe, options, keep_rows=keep_rows)


def _grow_streamed(
    table: TableInput, recipe: Recipe, options: Mapping[str, Any]
) -> Model:
    """Learn the rows of a file or a relation once, in batches."""
    if table.memory_limit is not None:
        raise refusal(
            Setting("memory_limit", table.memory_limit),
            "is for rows that are counted elsewhere, and a stream keeps none",
            "leave it out",
        )
    stream = registry.load("operation", "stream")
    stream.refuse_options({"connection": table.connection})
    learned: Model = stream.stream_from(table, recipe=recipe, **options)
    return learned


def _grow_remote(
    table: TableInput,
    recipe: Recipe,
    options: Mapping[str, Any],
    *,
    by_default: bool,
) -> Model:
    """Grow on rows that an engine counts, or gives where they fit into memory."""
    options, reserves = dict(options), None
    validation = options.pop("validation", None)
    if validation is None and options.get("ccp_alpha") is None:
        reserves = remote_validation_share(recipe, options.get("validation_share"))
    with open_source(
        table,
        reserves=reserves,
        seed=recipe.seed,
        from_zero=recipe.counts_from_zero,
        complete=recipe.drops_rows,
    ) as rows:
        if by_default and table.memory_limit and bytes_of(table.memory_limit):
            recipe = _bounded(recipe, rows)
        if validation is not None:
            validation = read_validation(rows.schema, validation, table)
        if rows.reserved is not None:
            validation, options["validation_share"] = coded(rows.reserved), None
        model = grow_model(rows, recipe=recipe, validation=validation, **options)
    if not recipe.tries:
        warn_of_high_cardinality(model, in_memory=False)
    return model


def _grow_in_memory(
    table: TableInput,
    recipe: Recipe,
    options: Mapping[str, Any],
    *,
    keep_rows: bool,
) -> Model:
    """Read the rows, and grow on them."""
    options = dict(options)
    validation = options.pop("validation", None)
    if options.get("validation_share") is None:
        options.pop("validation_share", None)
    with open_source(
        table, from_zero=recipe.counts_from_zero, complete=recipe.drops_rows
    ) as rows:
        if validation is not None:
            if keep_rows:
                raise refusal(
                    Setting("keep_rows", True),
                    "keeps the rows that a tree is grown on, and not those to prune by",
                    phrase("reserve some ({})", Setting("validation_share", 0.3)),
                )
            validation = read_validation(rows.schema, validation, table)
        model = grow_model(rows, recipe=recipe, validation=validation, **options)
        if not recipe.tries:  # folds choose a tree that new rows bear out
            warn_of_high_cardinality(model)
        if not keep_rows:
            return model
        options.pop("progress", None)
        kept = UpdateState(rows.in_memory_rows, recipe, options, table.weight)
        return replace(model, kept=kept)


def _bounded(recipe: Recipe, rows: TrainingData) -> Recipe:
    """Return the default recipe under a memory limit; it counts many rows in bins.

    C4.5 is more accurate and counts every value of a column, which takes memory for
    all of them. The value of the limit has no say: any gives the same tree.
    """
    if rows.schema.target.is_numeric or rows.n_rows <= MOST_LISTED:
        return recipe
    bounded = in_bins(recipe)
    if bounded is not recipe:
        note(
            f"under a memory limit, more than {MOST_LISTED:,} rows are counted in "
            f"bins, by recipe {bounded.name!r}: ",
            Setting("recipe", recipe.name),
            " counts all values and takes more memory",
            of_reading=False,
        )
    return bounded


def grow_model(
    rows: TrainingData,
    *,
    recipe: Recipe,
    ccp_alpha: float | None = None,
    validation: EncodedRows | None = None,
    validation_share: float | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
    **given: Any,
) -> Model:
    """Grow a tree, prune it as the recipe says, and give its leaves their models.

    Where the recipe tries several ways to grow, folds of the rows choose one. With a
    ``ccp_alpha`` it is grown whole and pruned at that, and nothing is chosen; nor where
    there are rows to prune by: those of ``validation``, or a share of the rows.
    ``progress`` is told how many trees have been grown, and how many there will be;
    where an engine counts, how many levels, and how many there are at least. The
    ``engine`` grows it where no folds are asked for; the quickest, if not given.

    What is ``given`` beside the recipe is for ``options_of``.
    """
    counted, tries = GrownTrees(progress), bool(recipe.tries)
    if ccp_alpha is not None:
        recipe = _whole(recipe, ccp_alpha)
    by_rows: dict[str, Any] = {
        "validation": validation,
        "validation_share": validation_share,
    }
    held = held_rows(rows, recipe, ccp_alpha=ccp_alpha, **by_rows)
    if held.rows.has_one_class:  # there is no split to prune
        tries, ccp_alpha = False, None
    candidates = _candidates(held)
    recipe = next(iter(candidates.values()))
    if recipe.grower.streams:
        return _stream(rows, recipe, {**given, "ccp_alpha": ccp_alpha, **by_rows})
    options = _options(held, recipe, given, counted)
    choice, used = RecipeChoice(recipe), held.rows
    if tries and not used.is_remote:
        choice, used = _choose(used, candidates, options, counted)
    counted.expect(1 + _n_fold_trees(choice, options))
    result = grow_and_prune(
        used, choice.recipe, options, choice.growth, engine, grown=counted.grown
    )
    counted.finish()
    if ccp_alpha:
        result = _pruned_at(float(ccp_alpha), result.tree, choice.recipe)
    return Model(
        result.tree,
        choice.recipe,
        held.rows.fingerprint,
        steps=result.steps,
        sequence=result.sequence,
        tried=choice.tried,
        validation_rows=held.places,
    )


def _candidates(held: Held) -> dict[str, Recipe]:
    """Return the recipes to choose from, by name; of one class there is no choice."""
    numeric = held.rows.schema.target.is_numeric
    held.recipe.refuse_target(numeric=numeric)
    candidates = candidates_of(held.recipe, numeric=numeric)
    if not held.rows.has_one_class:
        return candidates
    first = next(iter(candidates.values()))
    pruning = "none" if held.validation is None else first.pruning
    first = replace(first, pruning=pruning, tries=())
    return {first.name: first}


def _stream(rows: TrainingData, recipe: Recipe, given: Mapping[str, Any]) -> Model:
    """Return the model of rows in memory that are learned once, in their order."""
    stream = registry.load("operation", "stream")
    stream.refuse_options(given)
    if rows.is_remote:
        raise _no_rows(recipe)
    begun: Model = stream.begin_stream(rows.in_memory_rows, recipe, {})
    return begun


def _options(
    held: Held, recipe: Recipe, given: Mapping[str, Any], counted: GrownTrees
) -> Options:
    """Return what is said beside the recipe; where an engine counts, that must do."""
    rows, progress = held.rows, counted.progress
    options = options_of(rows, held.validation, recipe=recipe, **given)
    if not rows.is_remote:
        return options
    # Folds need rows: what is first is taken.
    if recipe.forest or (recipe.needs_rows and options.validation is None):
        raise _no_rows(recipe)
    if rows.training is not None or progress is None:
        return options
    counted.progress = None  # there is one tree: its levels are told
    return replace(options, on_level=_levels(progress, recipe.max_depth))


def _choose(
    rows: TrainingData,
    candidates: Mapping[str, Recipe],
    options: Options,
    counted: GrownTrees,
) -> tuple[RecipeChoice, TrainingData]:
    """Return the recipe that does best on folds of the rows, and on which columns."""
    tables = _without_overfitting(rows, options)
    n_tried = len(candidates) if len(candidates) > 1 else 0
    folds = next(iter(candidates.values())).folds
    counted.expect(len(tables) * n_tried * (folds + 1))
    choices = [
        choose_recipe(table.in_memory_rows, candidates, options, grown=counted.grown)
        for table in tables
    ]
    best = min(range(len(tables)), key=lambda at: choices[at].risk)
    if tables[best] is not rows:
        _note_constant(rows, tables[best])
    return choices[best], tables[best]


def _n_fold_trees(choice: RecipeChoice, options: Options) -> int:
    """Return how many trees of folds are still to be grown, to prune by them."""
    recipe, growth = choice.recipe, choice.growth
    if recipe.pruning != "cost-complexity" or options.validation is not None:
        return 0
    return 0 if growth is not None and growth.known_folds is not None else recipe.folds


def _pruned_at(alpha: float, tree: Tree, recipe: Recipe) -> Pruned:
    """Return a tree pruned where a leaf costs this, in the mean impurity."""
    warn_of_squared_error_pruning(recipe, tree.schema.target)
    result = pruned_by_impurity(tree, recipe, alpha)
    return replace(result, tree=without_unused(result.tree))


def _without_overfitting(rows: TrainingData, options: Options) -> list[TrainingData]:
    """Return rows without the columns of many values that a tree would overfit.

    Such columns are constant. Where folds have to decide, the rows that keep the
    columns with few rows a value come second.
    """
    forced = options.forced.values()
    requested = {*options.preference, *options.prices}
    requested |= {at if isinstance(at, int) else at.attribute for at in forced}
    noise, sparse = overfitting_columns(rows.in_memory_rows, requested)
    tables = []
    for constant in [[*noise, *sparse], noise][: 1 + bool(sparse)]:
        training = with_constant_columns(rows.in_memory_rows, constant)
        tables.append(replace(rows, training=training, counted=None))
    return tables if noise or sparse else [rows]


def _note_constant(rows: TrainingData, used: TrainingData) -> None:
    """Say which columns are not split on."""
    before, after = rows.in_memory_rows, used.in_memory_rows
    excluded = [
        f"{shown(attribute.name)!r} ({len(attribute.values)} values)"
        for attribute, old, new in zip(
            before.schema.attributes, before.columns, after.columns, strict=True
        )
        if new is not old
    ]
    some = first_of(excluded, MAX_NAMED)
    one = len(excluded) == 1
    note(
        f"{'column' if one else 'columns'} {some} {'is' if one else 'are'} excluded "
        "from splits, for new rows are predicted no better with "
        f"{'it' if one else 'them'}; ",
        phrase("{} uses {}", Setting("recipe", "cart"), "it" if one else "them"),
        of_reading=False,
    )


def _levels(progress: Progress, max_depth: int | None) -> Callable[[int], object]:
    """Return what tells of levels: how many are done, and how many are known of."""
    done = 0

    def on_level(depth: int) -> None:
        nonlocal done
        if depth >= done:
            done = depth + 1
            progress(done, max(done + (done != max_depth), max_depth or 0))

    return on_level


def _whole(recipe: Recipe, ccp_alpha: float) -> Recipe:
    """Return the recipe of a tree that is to be pruned at an alpha, and not by itself.

    One that tries several grows as its own settings say.
    """
    check_number("ccp_alpha", ccp_alpha)
    if "pruning" in recipe.given:
        raise ParameterError(
            Setting("ccp_alpha", ccp_alpha),
            (" and ", Setting("pruning", recipe.pruning), " contradict each other"),
            remedy="give one of them",
        )
    return replace(recipe, pruning="none", tries=())


def _no_rows(recipe: Recipe) -> ParameterError:
    """Return the refusal of a recipe that looks at rows, where they stay away."""
    searched = "search" if recipe.grower.needs_rows else "pruning"
    what = "forest" if recipe.forest else searched
    named = RECIPES.get(recipe.name)
    remedy = "take another recipe, such as 'c4.5'"
    if named is not None and not named.needs_rows:
        remedy = f"leave out {what}"
    return refusal(
        Setting(what, getattr(recipe, what)),
        f"(recipe {recipe.name!r}) needs the rows, and they stay where they are",
        phrase("read them ({}), or {}", Setting("source", "memory"), remedy),
    )
