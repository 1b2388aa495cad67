"""Options of users beside the recipe, turned into the learner's options."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.checks import as_real
from spinney._support.summable import MAX_NUMBERS, round_to_exact_sums
from spinney._support.text import signs_from_ascii, value_text
from spinney.data import Column, Costs, Schema, Target, Value, cost_array
from spinney.errors import (
    DataError,
    ParameterError,
    Setting,
    did_you_mean,
    refusal,
    warn,
)
from spinney.growth.growth_options import Options
from spinney.growth.prune.by_validation import EncodedRows
from spinney.recipes import Recipe
from spinney.sources.rows import LARGEST_TOTAL, check_total
from spinney.sources.training_data import TrainingData
from spinney.trees import SplitCondition, parse_condition

MIN_FACTOR = 1e-300  # whose inverse is a float: nodes show their rows as they are


def options_of(
    rows: TrainingData,
    validation: EncodedRows | None = None,
    *,
    recipe: Recipe,
    class_weight: Mapping[Value, float] | str | None = None,
    tie_break_order: Sequence[str] | None = None,
    forced_splits: Mapping[Any, str | SplitCondition] | None = None,
    priors: Mapping[Value, float] | None = None,
    cost_matrix: Costs | None = None,
    test_costs: Mapping[str, float] | None = None,
) -> Options:
    """Return the learner's options; names become indices of attributes."""
    schema = rows.schema
    check_total(rows.weight)
    _warn_of_light_rows(rows.weight, rows.n_rows, recipe)
    scale = None
    if class_weight is not None or priors is not None:
        root = rows.source.root()
        scale = _class_weights(class_weight, schema, root.weights)
        if priors is not None:
            scale = _factors_from_priors(priors, schema, root.weights, class_weight)
        if scale is not None and root.rows.sum() <= MAX_NUMBERS:
            scale = round_to_exact_sums(
                scale, [root.weights]
            )  # as ``growth/kernel_weights.py``
    return Options(
        class_weights=scale,
        preference=()
        if tie_break_order is None
        else _attribute_indices(tie_break_order, schema),
        forced={} if forced_splits is None else _forced_splits(forced_splits, schema),
        costs=None if cost_matrix is None else _cost_array(cost_matrix, schema),
        prices={} if test_costs is None else _test_costs(test_costs, schema),
        validation=validation,
    )


def refuse_without_classes(parameter: str, target: Target) -> None:
    """Refuse class settings if the target is numeric."""
    if target.is_numeric:
        raise ParameterError(
            Setting(parameter),
            f": the target {target.name!r} is a number and has no classes; leave it "
            "out, or declare the target nominal",
        )


def _cost_array(cost_matrix: Costs, schema: Schema) -> Floats:
    """Return the cost matrix in the order of the classes.

    Each class needs an error with a cost, unless it is the only class.
    """
    refuse_without_classes("cost_matrix", schema.target)
    costs = cost_array(cost_matrix, schema.target.classes)
    with np.errstate(over="ignore"):
        sums = costs.sum(axis=0)
    for true, cost in zip(schema.target.classes, sums, strict=True):
        if cost == np.inf:
            raise ParameterError(
                Setting("cost_matrix"),
                f": the costs where {true!r} is true add up to infinity: scale all of "
                "them down",
            )
        if not cost > 0 and len(costs) > 1:
            raise ParameterError(
                Setting("cost_matrix"),
                f": no error costs anything where {true!r} is true: give each class "
                "at least one error with a cost above 0",
            )
    return costs


def _test_costs(test_costs: Mapping[str, float], schema: Schema) -> dict[int, float]:
    """Return the costs of testing attributes, by their indices."""
    if not isinstance(test_costs, Mapping):
        raise refusal(
            Setting("test_costs", test_costs),
            "must map names to costs, such as {'x': 2}",
        )
    prices = {}
    for name, cost in test_costs.items():
        index = _index(name, schema, "test_costs")
        if not 0 <= as_real(cost) < np.inf:
            raise ParameterError(
                Setting("test_costs"),
                f": {name!r} costs {cost!r}; it must be a number of 0 or more",
            )
        prices[index] = float(cost)
    return prices


def _factors_from_priors(
    priors: Mapping[Value, float], schema: Schema, totals: Floats, class_weight: Any
) -> Floats:
    """Return class weights that give the classes the prior probabilities."""
    refuse_without_classes("priors", schema.target)
    if class_weight is not None:
        raise ParameterError(
            Setting("priors"),
            (" and ", Setting("class_weight"), " say the same thing twice"),
            remedy="give one of them",
        )
    if not isinstance(priors, Mapping) or len(priors) != schema.n_classes:
        classes = ", ".join(repr(label) for label in schema.target.classes)
        raise refusal(
            Setting("priors", priors), "must give a probability to each class", classes
        )
    probabilities = _by_class(priors, schema.target, "priors")
    if not np.isclose(probabilities.sum(), 1.0, rtol=0, atol=1e-6):
        raise refusal(
            Setting("priors", priors),
            f"add up to {probabilities.sum():g}",
            "they must add up to 1",
        )
    with np.errstate(over="ignore"):
        factors = np.asarray(probabilities * totals.sum() / totals)
    return checked_class_weights(factors, totals, "priors")


def _warn_of_light_rows(weight: float, n_rows: int, recipe: Recipe) -> None:
    """Warn if light rows make limits on weight stricter than limits on rows."""
    limits = {
        "min_samples_leaf": recipe.min_branch_weight(weight),
        "min_samples_split": recipe.min_node_weight(weight),
    }
    for name, least in limits.items():
        if weight < least <= n_rows:
            warn(
                Setting(name, int(least) if least == int(least) else least),
                f" counts weight, and the {n_rows} rows weigh {weight:.6g} together, "
                "so no split is possible",
                remedy="scale the weights or lower the limit",
            )


def _attribute_indices(names: Sequence[str], schema: Schema) -> list[int]:
    """Return the indices of named attributes, which win ties in this order."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise refusal(
            Setting("tie_break_order", names),
            f"must be a list of names, such as [{names!r}]",
        )
    return [_index(name, schema, "tie_break_order") for name in names]


def _forced_splits(
    forced_splits: Mapping[Any, str | SplitCondition], schema: Schema
) -> dict[tuple[str, ...], int | SplitCondition]:
    """Return the forced attributes or conditions, by the paths of their nodes."""
    if not isinstance(forced_splits, Mapping):
        raise refusal(
            Setting("forced_splits", forced_splits),
            "must map paths to names, such as {(): 'texture'}",
        )
    return {
        _path(path): condition
        if isinstance(condition, SplitCondition)
        else parse_condition(condition, schema, "forced_splits")
        for path, condition in forced_splits.items()
    }


def _index(name: Any, schema: Schema, parameter: str) -> int:
    if not isinstance(name, str):
        msg = f": {name!r} is no name of an attribute"
        raise ParameterError(Setting(parameter), msg)
    try:
        return schema.position(name)
    except DataError as error:
        raise ParameterError(Setting(parameter), f": {error}") from None


def _path(path: Any) -> tuple[str, ...]:
    """Return a path in the learner's form: branches as they are printed."""
    if not isinstance(path, (str, tuple, list)):
        raise ParameterError(
            Setting("forced_splits"),
            f": {path!r} is no path: () is the root, ('texture = clear',) a branch",
        )
    steps = (path,) if isinstance(path, str) else tuple(path)
    return tuple(
        signs_from_ascii(str(step).strip().removesuffix(" or missing"))
        for step in steps
    )


def _class_weights(
    class_weight: Mapping[Value, float] | str | None, schema: Schema, totals: Floats
) -> Floats | None:
    """Return the factors of class weights in the order of the classes, or None."""
    if class_weight is None:
        return None
    refuse_without_classes("class_weight", schema.target)
    weights = class_weights_of(class_weight, schema.target)
    if weights == "balanced":
        return checked_class_weights(balanced_weights(totals), totals, "class_weight")
    if not isinstance(weights, dict):
        raise _no_class_weights(class_weight)
    return checked_class_weights(
        np.array(list(weights.values())), totals, "class_weight"
    )


def class_weights_of(
    class_weight: Mapping[Value, float] | str | None, target: Target
) -> dict[int, float] | str | None:
    """Return class weights by code, 1 by default. "balanced" and None stay unchanged.

    >>> class_weights_of({"no": 3}, Target("play", ("no", "yes")))
    {0: 3.0, 1: 1.0}
    """
    if class_weight is None or isinstance(class_weight, str):
        return class_weight
    if not isinstance(class_weight, Mapping):
        raise _no_class_weights(class_weight)
    return dict(enumerate(_by_class(class_weight, target, "class_weight").tolist()))


def _no_class_weights(class_weight: object) -> ParameterError:
    return refusal(
        Setting("class_weight", class_weight),
        "must be a dict of weights by class, 'balanced' or None",
    )


def balanced_weights(totals: Floats) -> Floats:
    """Return factors that give the classes equal weight; 1 for classes without rows."""
    present = totals > 0
    with np.errstate(over="ignore"):
        balanced = totals.sum() / (present.sum() * np.where(present, totals, 1.0))
    return np.where(present, balanced, 1.0)


def checked_class_weights(factors: Floats, totals: Floats, parameter: str) -> Floats:
    """Return the factors of class weights; refuse those whose sums exceed floats."""
    with np.errstate(over="ignore"):
        total = float((factors * totals).sum())
    if not (np.isfinite(factors).all() and total <= LARGEST_TOTAL):
        raise ParameterError(
            Setting(parameter),
            f" makes the weights of all rows add up to {total:g}, and products of them "
            "are beyond floats",
            remedy=f"scale them down, to at most {LARGEST_TOTAL:g} together",
        )
    return factors


def _by_class(numbers: Mapping[Value, float], target: Target, parameter: str) -> Floats:
    """Return one number above 0 for each class, 1 by default."""
    labels = tuple(x.item() if isinstance(x, np.generic) else x for x in numbers)
    column = Column(target.name, "nominal", np.arange(len(labels)), labels)
    weights = np.ones(len(target.classes))
    for label, code in zip(labels, target.encode(column), strict=True):
        if code < 0:
            classes = map(value_text, target.classes)
            remedy = did_you_mean(value_text(label), classes)
            msg = f": no class {label!r}"
            raise ParameterError(Setting(parameter), msg, remedy=remedy)
        weight = numbers[label]
        if not MIN_FACTOR <= as_real(weight) < np.inf:
            tiny = 0 < as_real(weight) < MIN_FACTOR
            least = f"of at least {MIN_FACTOR:g}" if tiny else "above 0"
            msg = f": {label!r} has {weight!r}; it must be a number {least}"
            raise ParameterError(Setting(parameter), msg)
        weights[code] = weight
    return weights
