"""Options of users beside the recipe, turned into the learner's options."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.checks import as_real
from spinney._support.summable import MOST_NUMBERS, summable
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

LEAST_SCALE = 1e-300  # whose inverse is a float: nodes show their rows as they are


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
            scale = _from_priors(priors, schema, root.weights, class_weight)
        if scale is not None and root.rows.sum() <= MOST_NUMBERS:
            scale = summable(scale, [root.weights])  # as ``growth/kernel_weights.py``
    return Options(
        class_weights=scale,
        preference=() if tie_break_order is None else _places(tie_break_order, schema),
        forced={} if forced_splits is None else _forced(forced_splits, schema),
        costs=None if cost_matrix is None else _costs(cost_matrix, schema),
        prices={} if test_costs is None else _prices(test_costs, schema),
        validation=validation,
    )


def refuse_without_classes(parameter: str, target: Target) -> None:
    """Refuse settings of classes where the target is a number."""
    if target.is_numeric:
        raise ParameterError(
            Setting(parameter),
            f": the target {target.name!r} is a number and has no classes; leave it "
            "out, or declare the target nominal",
        )


def _costs(cost_matrix: Costs, schema: Schema) -> Floats:
    """Return the costs in the order of the classes; each must cost something.

    Except that a class that is the only one is never missed.
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


def _prices(test_costs: Mapping[str, float], schema: Schema) -> dict[int, float]:
    """Return what it costs to ask for attributes, by their indices."""
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


def _from_priors(
    priors: Mapping[Value, float], schema: Schema, totals: Floats, class_weight: Any
) -> Floats:
    """Return class weights that give the classes these prior probabilities."""
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
            Setting("priors", priors), "must give a share to each class", classes
        )
    shares = _by_class(priors, schema.target, "priors")
    if not np.isclose(shares.sum(), 1.0, rtol=0, atol=1e-6):
        raise refusal(
            Setting("priors", priors),
            f"add up to {shares.sum():g}",
            "they must add up to 1",
        )
    with np.errstate(over="ignore"):
        scale = np.asarray(shares * totals.sum() / totals)
    return in_bounds(scale, totals, "priors")


def _warn_of_light_rows(weight: float, n_rows: int, recipe: Recipe) -> None:
    """Warn where limits, which count weight, forbid what the rows would allow."""
    limits = {
        "min_samples_leaf": recipe.least_branch(weight),
        "min_samples_split": recipe.least_node(weight),
    }
    for name, least in limits.items():
        if weight < least <= n_rows:
            warn(
                Setting(name, int(least) if least == int(least) else least),
                f" counts weight, and the {n_rows} rows weigh {weight:.6g} together, "
                "so no split is possible",
                remedy="scale the weights or lower the limit",
            )


def _places(names: Sequence[str], schema: Schema) -> list[int]:
    """Return the attributes that win ties, by their indices."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise refusal(
            Setting("tie_break_order", names),
            f"must be a list of names, such as [{names!r}]",
        )
    return [_index(name, schema, "tie_break_order") for name in names]


def _forced(
    forced_splits: Mapping[Any, str | SplitCondition], schema: Schema
) -> dict[tuple[str, ...], int | SplitCondition]:
    """Return what nodes are to ask, by their paths."""
    if not isinstance(forced_splits, Mapping):
        raise refusal(
            Setting("forced_splits", forced_splits),
            "must map paths to names, such as {(): 'texture'}",
        )
    return {
        _path(path): _question(asked, schema) for path, asked in forced_splits.items()
    }


def _question(asked: Any, schema: Schema) -> int | SplitCondition:
    """Return what a node is to ask: an attribute, or a question as it was written."""
    if isinstance(asked, SplitCondition):
        return asked
    return parse_condition(asked, schema, "forced_splits")


def _index(name: Any, schema: Schema, parameter: str) -> int:
    if not isinstance(name, str):
        msg = f": {name!r} is no name of an attribute"
        raise ParameterError(Setting(parameter), msg)
    try:
        return schema.position(name)
    except DataError as error:
        raise ParameterError(Setting(parameter), f": {error}") from None


def _path(path: Any) -> tuple[str, ...]:
    """Return a path as the learner writes it: branches as they are printed."""
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
    given: Mapping[Value, float] | str | None, schema: Schema, totals: Floats
) -> Floats | None:
    """Return what each class's weight is multiplied by."""
    if given is None:
        return None
    refuse_without_classes("class_weight", schema.target)
    weights = class_weights_of(given, schema.target)
    if weights == "balanced":
        return in_bounds(balanced_weights(totals), totals, "class_weight")
    if not isinstance(weights, dict):
        raise _no_class_weights(given)
    return in_bounds(np.array(list(weights.values())), totals, "class_weight")


def class_weights_of(
    given: Mapping[Value, float] | str | None, target: Target
) -> dict[int, float] | str | None:
    """Return class weights by code, 1 where none is given; a name, or None, as it is.

    >>> class_weights_of({"no": 3}, Target("play", ("no", "yes")))
    {0: 3.0, 1: 1.0}
    """
    if given is None or isinstance(given, str):
        return given
    if not isinstance(given, Mapping):
        raise _no_class_weights(given)
    return dict(enumerate(_by_class(given, target, "class_weight").tolist()))


def _no_class_weights(given: object) -> ParameterError:
    return refusal(
        Setting("class_weight", given),
        "must be a dict of weights by class, 'balanced' or None",
    )


def balanced_weights(totals: Floats) -> Floats:
    """Return what makes the classes that are there equal in weight; 1 for others."""
    present = totals > 0
    with np.errstate(over="ignore"):
        balanced = totals.sum() / (present.sum() * np.where(present, totals, 1.0))
    return np.where(present, balanced, 1.0)


def in_bounds(scale: Floats, totals: Floats, parameter: str) -> Floats:
    """Return what classes are multiplied by, or refuse what no float can add up."""
    with np.errstate(over="ignore"):
        total = float((scale * totals).sum())
    if not (np.isfinite(scale).all() and total <= LARGEST_TOTAL):
        raise ParameterError(
            Setting(parameter),
            f" makes the weights of all rows add up to {total:g}, and products of them "
            "are beyond floats",
            remedy=f"scale them down, to at most {LARGEST_TOTAL:g} together",
        )
    return scale


def _by_class(given: Mapping[Value, float], target: Target, parameter: str) -> Floats:
    """Return one number above 0 for each class; 1 where none is given."""
    labels = tuple(x.item() if isinstance(x, np.generic) else x for x in given)
    column = Column(target.name, "nominal", np.arange(len(labels)), labels)
    weights = np.ones(len(target.classes))
    for label, code in zip(labels, target.encode(column), strict=True):
        if code < 0:
            known = map(value_text, target.classes)
            remedy = did_you_mean(value_text(label), known)
            msg = f": no class {label!r}"
            raise ParameterError(Setting(parameter), msg, remedy=remedy)
        weight = given[label]
        if not LEAST_SCALE <= as_real(weight) < np.inf:
            tiny = 0 < as_real(weight) < LEAST_SCALE
            least = f"of at least {LEAST_SCALE:g}" if tiny else "above 0"
            msg = f": {label!r} has {weight!r}; it must be a number {least}"
            raise ParameterError(Setting(parameter), msg)
        weights[code] = weight
    return weights
