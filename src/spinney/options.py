"""What a user says beside the recipe, turned into the learner's options."""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from spinney.counts import Floats
from spinney.errors import DataError, ParameterError, did_you_mean, warn
from spinney.learner import Options
from spinney.recipe import Recipe
from spinney.schema import Schema
from spinney.sources.base import Source
from spinney.table import Column, Value
from spinney.training import check_total
from spinney.wording import number_text, signs_from_ascii, value_text

__all__ = ["options_of"]


def options_of(
    source: Source,
    *,
    recipe: Recipe,
    class_weight: Mapping[Value, float] | str | None = None,
    ties: Sequence[str] | None = None,
    force: Mapping[Any, str] | None = None,
) -> Options:
    """Return the learner's options; names become places in the schema."""
    schema = source.schema
    totals = source.root()
    check_total(totals.weights)
    _warn_of_light_rows(totals.weight, int(totals.rows.sum()), recipe)
    return Options(
        class_weights=_class_weights(class_weight, schema, totals.weights),
        preference=[_place(name, schema, "ties") for name in _listed(ties)],
        forced={
            _path(path): _place(name, schema, "force")
            for path, name in _mapped(force).items()
        },
    )


def _warn_of_light_rows(weight: float, n_rows: int, recipe: Recipe) -> None:
    """Warn where limits, which count weight, forbid what the rows would allow."""
    limits = {
        "min_samples_leaf": recipe.least_branch(weight),
        "min_samples_split": recipe.least_node,
    }
    for name, least in limits.items():
        if weight < least <= n_rows:
            warn(
                f"{name}={number_text(least)} counts weight, and the {n_rows} rows "
                f"weigh {weight:.6g} together, so no split is possible: scale the "
                "weights or lower the limit"
            )


def _listed(ties: Sequence[str] | None) -> Sequence[str]:
    if ties is None:
        return ()
    if isinstance(ties, str) or not isinstance(ties, Iterable):
        msg = f"ties={ties!r} must be a list of names, such as [{ties!r}]"
        raise ParameterError(msg)
    return ties


def _mapped(force: Mapping[Any, str] | None) -> Mapping[Any, str]:
    if force is None or isinstance(force, Mapping):
        return force or {}
    msg = f"force={force!r} must map paths to names, such as {{(): 'texture'}}"
    raise ParameterError(msg)


def _place(name: Any, schema: Schema, parameter: str) -> int:
    if not isinstance(name, str):
        msg = f"{parameter}: {name!r} is no name of an attribute"
        raise ParameterError(msg)
    try:
        return schema.position(name)
    except DataError as error:
        msg = f"{parameter}: {error}"
        raise ParameterError(msg) from None


def _path(path: Any) -> tuple[str, ...]:
    """Return a path as the learner writes it: branches as they are printed."""
    if not isinstance(path, (str, tuple, list)):
        msg = (
            f"force: {path!r} is no path: () is the root, ('texture = clear',) a branch"
        )
        raise ParameterError(msg)
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
    if schema.target.is_numeric:
        msg = (
            f"class_weight={given!r}: the target {schema.target.name!r} is a number "
            "and has no classes; leave it out, or declare the target nominal"
        )
        raise ParameterError(msg)
    if given == "balanced":
        present = totals > 0
        balanced = totals.sum() / (present.sum() * np.where(present, totals, 1.0))
        return np.where(present, balanced, 1.0)
    if not isinstance(given, Mapping):
        msg = f'class_weight={given!r} must be a mapping, "balanced" or None'
        raise ParameterError(msg)
    labels = tuple(x.item() if isinstance(x, np.generic) else x for x in given)
    column = Column(schema.target.name, "nominal", np.arange(len(labels)), labels)
    weights = np.ones(schema.n_classes)
    for label, code in zip(labels, schema.target.encode(column), strict=True):
        if code < 0:
            known = map(value_text, schema.target.classes)
            remedy = did_you_mean(value_text(label), known)
            msg = f"class_weight: no class {label!r}: {remedy}"
            raise ParameterError(msg)
        weight = given[label]
        if not 0 < _as_float(weight) < np.inf:
            msg = f"class_weight: {label!r} has {weight!r}; it must be above 0"
            raise ParameterError(msg)
        weights[code] = weight
    with np.errstate(over="ignore"):
        if not np.isfinite((weights * totals).sum()):
            msg = f"class_weight={given!r} makes weights infinite: scale them down"
            raise ParameterError(msg)
    return weights


def _as_float(weight: object) -> float:
    """Return a real number as a float, infinity if it is too large, else NaN."""
    if not isinstance(weight, Real):
        return np.nan
    try:
        return float(weight)
    except OverflowError:
        return np.inf
