"""From a table to a model: read, encode, choose, grow, prune, finish.

======================  ==========================================================
read, encode            ``open_source``: rows in memory, or counted by an engine
reserve                 ``split_validation``: rows to prune by, if a user wants any
choose                  ``choose_recipe``: one of several recipes, by folds
grow, prune             ``growth.grow_and_prune``: the tree of one recipe
finish                  ``Model``: the tree with its recipe and origin
======================  ==========================================================

A stream is learned row by row and takes none of these steps.
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
    Grower,
    Model,
    Options,
    Quality,
    UpdateState,
    grow_and_prune,
    options_of,
    overfitting_columns,
    with_constant_columns,
)
from spinney.growth.folds import (
    QualityMeasure,
    RecipeChoice,
    choose_recipe,
    warn_of_squared_error_pruning,
)
from spinney.growth.prune import EncodedRows, Pruned, pruned_by_impurity
from spinney.models.high_cardinality import warn_of_high_cardinality
from spinney.models.validation_split import (
    ValidationSplit,
    encoded_rows,
    read_validation,
    remote_validation_share,
    split_validation,
)
from spinney.recipes import RECIPES, Recipe, candidates_of, default_recipe, in_bins
from spinney.search.oblique import without_unused_formulas
from spinney.sources.training_data import TableInput, TrainingData, open_source

MAX_ROWS_UNBINNED = 500_000
"""All values of a column are counted by default in tables of at most so many rows."""
MAX_NAMED = 3


def grow_from(
    table: TableInput,
    *,
    recipe: str | Recipe | None = None,
    settings: Mapping[str, Any] | None = None,
    keep_rows: bool = False,
    measure_quality: bool = True,
    **options: Any,
) -> Model:
    """Grow on a table that holds its target; ``options`` are those of grow_model.

    ``settings`` change the recipe, by default that of the place where the rows are
    counted. ``validation`` is a table to prune by. With ``keep_rows`` the model stores
    its rows, so that others can be added. ``measure_quality`` grows further trees, if
    they are few, to tell the error on new rows.
    """
    check_choice("keep_rows", keep_rows)
    check_choice("measure_quality", measure_quality)
    default = default_recipe(in_memory=not table.is_remote)
    chosen = Recipe.named(recipe or default).changed(**(settings or {}))
    if keep_rows:
        _refuse_keeping_rows(table, chosen)
    if chosen.grower.streams:
        stream = registry.load("operation", "stream")
        if stream.is_streamed(table.data, table.engine):
            return _grow_streamed(stream, table, chosen, options)
    options["measure_quality"] = measure_quality
    if table.is_remote:
        return _grow_remote(table, chosen, options, by_default=recipe is None)
    return _grow_in_memory(table, chosen, options, keep_rows=keep_rows)


def _refuse_keeping_rows(table: TableInput, recipe: Recipe) -> None:
    """Refuse to store rows that are learned once, or that are not read."""
    if recipe.grower.streams:
        raise refusal(
            Setting("keep_rows", True),
            f"keeps the rows, and recipe {recipe.name!r} learns each of them once",
            "leave it out, or take another recipe, such as 'c4.5'",
        )
    if table.is_remote:
        raise refusal(
            Setting("keep_rows", True),
            "needs the rows in memory, but this table is remote",
            phrase("read them ({})", Setting("engine", "memory")),
        )


def _grow_streamed(
    stream: Any, table: TableInput, recipe: Recipe, options: Mapping[str, Any]
) -> Model:
    """Learn the rows of a file or a relation once, in batches."""
    if table.memory_limit is not None:
        raise refusal(
            Setting("memory_limit", table.memory_limit),
            "applies only if an engine counts the rows, and a stream stores none",
            "leave it out",
        )
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
            validation = encoded_rows(rows.reserved)
            options["validation_share"] = None
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
    if validation is not None and keep_rows:
        raise refusal(
            Setting("keep_rows", True),
            "keeps the rows that a tree is grown on, and not those to prune by",
            phrase("reserve some ({})", Setting("validation_share", 0.3)),
        )
    with open_source(
        table, from_zero=recipe.counts_from_zero, complete=recipe.drops_rows
    ) as rows:
        if validation is not None:
            validation = read_validation(rows.schema, validation, table)
        model = grow_model(rows, recipe=recipe, validation=validation, **options)
        if not recipe.tries:  # folds choose a tree that holds for new rows
            warn_of_high_cardinality(model)
        if not keep_rows:
            return model
        options = {
            name: options[name]
            for name in options.keys() - {"progress", "measure_quality"}
        }
        state = UpdateState(rows.in_memory_rows, recipe, options, table.weight)
        return replace(model, update_state=state)


def _bounded(recipe: Recipe, rows: TrainingData) -> Recipe:
    """Return the default recipe under a memory limit; it counts many rows in bins.

    C4.5 is more accurate and counts every value of a column, which takes memory for
    all of them. Every limit gives the same tree.
    """
    if rows.schema.target.is_numeric or rows.n_rows <= MAX_ROWS_UNBINNED:
        return recipe
    bounded = in_bins(recipe)
    if bounded is not recipe:
        note(
            f"under a memory limit, more than {MAX_ROWS_UNBINNED:,} rows are counted "
            f"in bins, by recipe {bounded.name!r}: ",
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
    grower: Grower | None = None,
    measure_quality: bool = False,
    **given: Any,
) -> Model:
    """Grow a tree, prune it as the recipe says, and give its leaves their models.

    Folds of the rows choose among recipes, unless ``ccp_alpha`` or rows to prune by
    are given. ``progress`` is called with how many trees, or levels of a remote tree,
    are done, and of how many. The ``grower`` is the fastest one by default. The quality
    is measured if it is free, or if ``measure_quality`` allows further trees.
    """
    by_rows: Any = {"validation": validation, "validation_share": validation_share}
    trees, tries = GrownTrees(progress), bool(recipe.tries)
    if ccp_alpha is not None:
        recipe = _without_pruning(recipe, ccp_alpha)
    split = split_validation(rows, recipe, ccp_alpha=ccp_alpha, **by_rows)
    candidates = _candidates(split)
    recipe = next(iter(candidates.values()))
    if split.rows.has_one_class:  # there is no split to prune
        tries, ccp_alpha = False, None
    if recipe.grower.streams:
        return _stream(rows, recipe, {**given, **by_rows, "ccp_alpha": ccp_alpha})
    options = _options(split, recipe, given, trees)
    choice, used = RecipeChoice(recipe), split.rows
    if tries and not used.is_remote:
        choice, used = _choose(used, candidates, options, trees)
    measure = QualityMeasure(used, choice, options, ccp_alpha, measure_quality)
    trees.expect(1 + _n_fold_trees(choice, options) + measure.n_trees)
    result = grow_and_prune(
        used, choice.recipe, options, choice.growth, grower, on_tree=trees.grown
    )
    if ccp_alpha:
        result = _pruned_at(result, choice.recipe, float(ccp_alpha))
    quality = measure.quality_of(result, on_tree=trees.grown)
    trees.finish()
    return _finished(split, choice, result, quality)


def _pruned_at(result: Pruned, recipe: Recipe, ccp_alpha: float) -> Pruned:
    """Return a grown tree, pruned at an alpha."""
    warn_of_squared_error_pruning(recipe, result.tree.schema.target)
    result = pruned_by_impurity(result.tree, recipe, ccp_alpha)
    return replace(result, tree=without_unused_formulas(result.tree))


def _finished(
    split: ValidationSplit,
    choice: RecipeChoice,
    result: Pruned,
    quality: Quality | None,
) -> Model:
    """Return the model of a grown tree."""
    return Model(
        result.tree,
        choice.recipe,
        split.rows.fingerprint,
        steps=result.steps,
        sequence=result.sequence,
        recipe_scores=choice.scores,
        validation_rows=split.positions,
        quality=quality,
    )


def _candidates(split: ValidationSplit) -> dict[str, Recipe]:
    """Return the recipes to choose from, by name; of one class there is no choice."""
    recipe, numeric = split.recipe, split.rows.schema.target.is_numeric
    recipe.refuse_target(numeric=numeric)
    candidates = candidates_of(recipe, numeric=numeric)
    if not split.rows.has_one_class:
        return candidates
    first = next(iter(candidates.values()))
    pruning = "none" if split.validation is None else first.pruning
    first = replace(first, pruning=pruning, tries=())
    return {first.name: first}


def _stream(rows: TrainingData, recipe: Recipe, given: Mapping[str, Any]) -> Model:
    """Learn rows in memory once, in their order."""
    stream = registry.load("operation", "stream")
    stream.refuse_options(given)
    if rows.is_remote:
        raise _needs_rows_error(recipe)
    model: Model = stream.begin_stream(rows.in_memory_rows, recipe, {})
    return model


def _options(
    split: ValidationSplit, recipe: Recipe, given: Mapping[str, Any], trees: GrownTrees
) -> Options:
    """Return the options beside the recipe; refuse a recipe that lacks its rows."""
    rows, progress = split.rows, trees.progress
    options = options_of(rows, split.validation, recipe=recipe, **given)
    if not rows.is_remote:
        return options
    # Folds need rows, so the first candidate is taken.
    if recipe.forest or (recipe.needs_rows and options.validation is None):
        raise _needs_rows_error(recipe)
    if rows.training is not None or progress is None:
        return options
    trees.progress = None  # there is one tree: its levels are reported
    return replace(options, on_level=_level_reporter(progress, recipe.max_depth))


def _choose(
    rows: TrainingData,
    candidates: Mapping[str, Recipe],
    options: Options,
    trees: GrownTrees,
) -> tuple[RecipeChoice, TrainingData]:
    """Return the recipe that does best on folds of the rows, and its columns."""
    tables = _without_high_cardinality_columns(rows, options)
    n_tried = len(candidates) if len(candidates) > 1 else 0
    folds = next(iter(candidates.values())).folds
    trees.expect(len(tables) * n_tried * (folds + 1))
    choices = [
        choose_recipe(table.in_memory_rows, candidates, options, on_tree=trees.grown)
        for table in tables
    ]
    best = min(range(len(tables)), key=lambda index: choices[index].risk)
    if tables[best] is not rows:
        _note_excluded(rows, tables[best])
    return choices[best], tables[best]


def _n_fold_trees(choice: RecipeChoice, options: Options) -> int:
    """Return how many trees of folds are still to be grown for pruning."""
    recipe, growth = choice.recipe, choice.growth
    if recipe.pruning != "cost-complexity" or options.validation is not None:
        return 0
    return 0 if growth is not None and growth.grown_folds is not None else recipe.folds


def _without_high_cardinality_columns(
    rows: TrainingData, options: Options
) -> list[TrainingData]:
    """Return rows without the columns of many values that a tree would overfit.

    Such columns are constant. Where folds have to decide, the rows that keep the
    columns with few rows a value come second.
    """
    forced = options.forced.values()
    requested = {*options.preference, *options.prices}
    requested |= {s if isinstance(s, int) else s.attribute for s in forced}
    noise, sparse = overfitting_columns(rows.in_memory_rows, requested)
    tables = []
    for constant in [[*noise, *sparse], noise][: 1 + bool(sparse)]:
        training = with_constant_columns(rows.in_memory_rows, constant)
        tables.append(replace(rows, training=training, counted=None))
    return tables if noise or sparse else [rows]


def _note_excluded(rows: TrainingData, used: TrainingData) -> None:
    """Report the columns that are excluded from splits."""
    before, after = rows.in_memory_rows, used.in_memory_rows
    excluded = [
        f"{shown(attribute.name)!r} ({len(attribute.values)} values)"
        for attribute, old, new in zip(
            before.schema.attributes, before.columns, after.columns, strict=True
        )
        if new is not old
    ]
    some, it = first_of(excluded, MAX_NAMED), "them"
    subject = f"columns {some} are"
    if len(excluded) == 1:
        subject, it = f"column {some} is", "it"
    note(
        f"{subject} excluded from splits, for new rows are predicted no better with "
        f"{it}; ",
        phrase("{} uses {}", Setting("recipe", "cart"), it),
        of_reading=False,
    )


def _level_reporter(
    progress: Progress, max_depth: int | None
) -> Callable[[int], object]:
    """Return a function that reports how many levels are done, and known of."""
    n_done = 0

    def report(depth: int) -> None:
        nonlocal n_done
        if depth >= n_done:
            n_done = depth + 1
            progress(n_done, max(n_done + (n_done != max_depth), max_depth or 0))

    return report


def _without_pruning(recipe: Recipe, ccp_alpha: float) -> Recipe:
    """Return the recipe of a tree that is pruned at an alpha after growing."""
    check_number("ccp_alpha", ccp_alpha)
    if "pruning" in recipe.given:
        raise ParameterError(
            Setting("ccp_alpha", ccp_alpha),
            (" and ", Setting("pruning", recipe.pruning), " contradict each other"),
            remedy="give one of them",
        )
    return replace(recipe, pruning="none", tries=())


def _needs_rows_error(recipe: Recipe) -> ParameterError:
    """Return the refusal of a recipe that needs the rows of a remote table."""
    setting = "search" if recipe.grower.needs_rows else "pruning"
    setting = "forest" if recipe.forest else setting
    named = RECIPES.get(recipe.name)
    remedy = "take another recipe, such as 'c4.5'"
    if named is not None and not named.needs_rows:
        remedy = f"leave out {setting}"
    return refusal(
        Setting(setting, getattr(recipe, setting)),
        f"(recipe {recipe.name!r}) needs the rows in memory, but this table is remote",
        phrase("read them ({}), or {}", Setting("engine", "memory"), remedy),
    )
