"""Pruning of fitted models: checks options, reads tables, calls a method."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.checks import Progress, check_named, check_number, check_whole
from spinney._support.grown_trees import GrownTrees
from spinney._support.keyed_random import seed_of
from spinney.data import Table, Target, cost_array
from spinney.errors import DataError, ParameterError, Setting, Text, phrase, refusal
from spinney.growth import Model, options_of, refuse_without_classes
from spinney.growth.folds import FoldGrowth, RowCopies, warn_of_squared_error_pruning
from spinney.growth.prune import (
    METHODS,
    RULES,
    Method,
    NodeRecounter,
    folds_of,
    method_named,
    pruned,
)
from spinney.models.training_match import class_scale, recode_training_rows
from spinney.models.validation_split import read_encoded_rows
from spinney.recipes import Recipe
from spinney.search.oblique import without_unused_formulas
from spinney.sources.rows import TrainingSet, row_weights
from spinney.sources.training_data import TrainingData
from spinney.trees import Groups, SplitCondition, Threshold, Tree

Reader = Callable[..., Table]

FOLDS = 10
# The options that choose an alpha, of no use with a given one.
ALPHA_OPTIONS = ("data", "validation", "folds", "rule", "random_state", "weight")
# The options of folds of the training rows, of no use with validation rows.
FOLD_OPTIONS = ("data", "folds", "random_state")


def prune_model(
    model: Model,
    read: Reader,
    *,
    pruning: str | None,
    options: Mapping[str, Any],
    grown_with: Mapping[str, Any],
    progress: Progress | None = None,
) -> Model:
    """Return a pruned model with the record of its pruning.

    Parameters
    ----------
    model : Model
        The model.
    read : callable
        Reads a table as the model understands it.
    pruning : str, optional
        One of ``METHODS``; by default "manual" with nodes, else "reduced-error".
    options : mapping
        The options of the methods, None if not given.
    grown_with : mapping
        The tie-break order and forced splits of the model, for the trees of folds.
    progress : function of two numbers, optional
        Called with the number of trees of folds grown so far, and in total.
    """
    counted = GrownTrees(progress)
    given = {name: value for name, value in options.items() if value is not None}
    default = "manual" if "nodes" in given else "reduced-error"
    chosen = method_named(default if pruning is None else pruning)
    _check_options(chosen, given)
    arguments = dict(given)
    weight = arguments.pop("weight", None)
    if "cost_matrix" in arguments:
        arguments["costs"] = given_costs(
            arguments.pop("cost_matrix"), model.schema.target
        )
    if "validation" in arguments:
        table = arguments["validation"]
        arguments["validation"] = read_encoded_rows(model.tree, read, table, weight)
    if "alpha" in arguments:
        check_number("alpha", arguments["alpha"])
        arguments["alpha"] = float(arguments["alpha"])
    if chosen.name == "cost-complexity":
        warn_of_squared_error_pruning(model.recipe, model.schema.target)
    if chosen.name == "error-based":
        _prepare_raising(model, read, arguments, weight)
    elif "data" in arguments:
        _prepare_folds(model, read, arguments, weight, grown_with, counted)
    result = pruned(model.tree, chosen.name, **arguments)
    tree = without_unused_formulas(result.tree)
    # An update would grow the tree again, unpruned: a pruned model stores no rows.
    return replace(
        model,
        tree=tree,
        steps=result.steps,
        sequence=result.sequence,
        update_state=None,
        quality=None,
    )


def _check_options(method: Method, given: Mapping[str, Any]) -> None:
    """Refuse options that the method does not use, and missing ones."""
    for name in given:
        if name not in method.options:
            fitting = [m.name for m in METHODS.values() if name in m.options]
            raise ParameterError(
                Setting(name),
                f": of no use to the method {method.name!r}: leave it out, or take "
                f"the method {' or '.join(map(repr, fitting))}",
            )
    for names in method.needs:
        if not any(name in given for name in names.split("|")):
            raise refusal(Setting("pruning", method.name), ("needs ", REMEDIES[names]))
    if "alpha" in given:
        for name in ALPHA_OPTIONS:
            if name in given:
                msg = " chooses an alpha, but one is given: remove one"
                raise ParameterError(Setting(name), msg)
    if method.name == "cost-complexity" and "validation" in given:
        for name in FOLD_OPTIONS:
            if name in given:
                raise ParameterError(
                    Setting(name),
                    " needs folds, which ",
                    Setting("validation"),
                    " replaces",
                    remedy="remove one",
                )
        check_named("rule", given.get("rule", "minimum"), RULES)


REMEDIES: dict[str, Text] = {
    "validation": phrase(
        "a table with the target column ({})", Setting("validation", ...)
    ),
    "alpha|data|validation": phrase(
        "an alpha ({}), or the training table ({}) or a validation set ({}) to choose "
        "one",
        Setting("alpha", ...),
        Setting("data", ...),
        Setting("validation", ...),
    ),
    "nodes": phrase("the numbers of nodes to cut ({})", Setting("nodes", [3, 7])),
}


def given_costs(cost_matrix: Any, target: Target) -> Floats:
    """Return misclassification costs in the order of the classes."""
    refuse_without_classes("cost_matrix", target)
    return cost_array(cost_matrix, target.classes)


def _prepare_raising(
    model: Model, read: Reader, arguments: dict[str, Any], weight: str | None
) -> None:
    """Replace the training table by its rows, to raise branches."""
    data, raising = arguments.pop("data", None), arguments.pop("raising", None)
    settings = {"confidence": arguments.get("confidence"), "raising": raising}
    given = {name: value for name, value in settings.items() if value is not None}
    # These settings are of this pruning, not of the recipe.
    recipe = replace(model.recipe, **given, given=frozenset())
    arguments["confidence"] = recipe.confidence
    if data is None:
        if raising:
            raise ParameterError(
                Setting("raising"),
                " needs the training rows, which the model does not store",
                remedy=phrase("pass them ({}), or remove it", Setting("data", ...)),
            )
        if weight is not None:
            raise ParameterError(
                Setting("weight"),
                (" needs ", Setting("data", ...)),
            )
        return
    if raising is not None and not raising:
        raise ParameterError(
            Setting("data"),
            " is only needed to raise branches: remove it",
        )
    refuse_without_classes("data", model.schema.target)
    rows = _training(model, read(data, whole=True, weight=weight), weight)
    opened = TrainingData(rows)
    options = options_of(opened, recipe=recipe, **_grown_with(model.tree, rows))
    arguments["rows"] = NodeRecounter(
        model.tree, opened.source, recipe, options.class_weights
    )


def _prepare_folds(
    model: Model,
    read: Reader,
    arguments: dict[str, Any],
    weight: str | None,
    grown_with: Mapping[str, Any],
    counted: GrownTrees,
) -> None:
    """Replace the training table and folds by its rows and trees of folds."""
    rule = arguments.setdefault("rule", "1-se")
    check_named("rule", rule, RULES)
    n_folds = arguments.pop("folds", FOLDS)
    seed = seed_of(arguments.pop("random_state", None), 0)
    check_whole("folds", n_folds, least=2)
    rows = _training(
        model, read(arguments.pop("data"), whole=True, weight=weight), weight
    )
    known = {**_grown_with(model.tree, rows), **grown_with}
    growth = growth_on(rows, model.recipe, known, counted)
    counted.expect(n_folds)
    folds = folds_of(
        growth.copies.classes, model.schema.target, n_folds=n_folds, seed=seed
    )
    arguments["training"] = growth.cross_validation_rows(folds)


def _training(model: Model, data: Table, weight: str | None) -> TrainingSet:
    """Return the training rows of a table, encoded as when the model was grown."""
    origin = model.fingerprint
    weights = None if weight is None else row_weights(data[weight])
    schema = model.schema.of_columns()
    rows, _ = recode_training_rows(schema, model.recipe, data, sample_weight=weights)
    same_weight = np.isclose(rows.weight, origin.weight, rtol=1e-9)
    if len(rows.classes) != origin.n_rows or not same_weight:
        raise DataError(
            Setting("data"),
            f" has {len(rows.classes)} rows of weight {rows.weight:.6g}, but the "
            f"training table {origin.n_rows} of weight {origin.weight:.6g}: pass that "
            "one, and its weight column",
        )
    return rows


def _grown_with(tree: Tree, rows: TrainingSet) -> dict[str, Any]:
    """Return the options of growing, as far as a finished tree shows them."""
    schema = tree.schema
    prices = {a.name: a.cost for a in schema.attributes if a.cost > 0}
    scale, weights = class_scale(tree, rows), None
    if scale is not None:
        weights = dict(zip(schema.target.classes, scale.tolist(), strict=True))
    return {
        "class_weight": weights,
        "cost_matrix": schema.target.costs,
        "test_costs": prices or None,
    }


def growth_on(
    rows: TrainingSet,
    recipe: Recipe,
    grown_with: Mapping[str, Any],
    counted: GrownTrees,
) -> FoldGrowth:
    """Return the growth of trees on folds of rows, for cross-validation."""
    options = options_of(TrainingData(rows), recipe=recipe, **grown_with)
    return FoldGrowth(RowCopies(rows), recipe, options, on_tree=counted.grown)


def forced_paths(tree: Tree) -> dict[tuple[str, ...], str | SplitCondition]:
    """Return the splits of a tree that a user forced, by path."""
    paths: dict[tuple[str, ...], str | SplitCondition] = {}
    for node in tree:
        if node.forced and not node.is_leaf:
            above = tree.path(node.number)[1:]
            split = node.candidate.split
            forced: str | SplitCondition = tree.schema.attributes[split.attribute].name
            if node.candidate.given:
                cut = split.threshold if isinstance(split, Threshold) else None
                codes = split.groups[0] if isinstance(split, Groups) else ()
                forced = SplitCondition(split.attribute, cut, codes)
            paths[tuple(tree.condition(step) for step in above)] = forced
    return paths
