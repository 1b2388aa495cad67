"""What a user says beside the recipe, turned into the learner's options."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from spinney.counts import Floats
from spinney.errors import DataError, ParameterError, SpinneyWarning, did_you_mean
from spinney.learner import Options
from spinney.recipe import Recipe
from spinney.schema import Schema
from spinney.sources.base import Source
from spinney.table import Value
from spinney.wording import number_text, value_text

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
    _warn_of_light_rows(float(totals.weights.sum()), int(totals.rows.sum()), recipe)
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
    for name in ("min_samples_leaf", "min_samples_split"):
        least = getattr(recipe, name)
        if least > 2 - (name == "min_samples_leaf") and weight < least <= n_rows:
            msg = (
                f"{name}={number_text(least)} counts weight, and the {n_rows} rows "
                f"weigh {weight:.6g} together, so no split is possible: scale the "
                "weights or lower the limit"
            )
            warnings.warn(msg, SpinneyWarning, stacklevel=4)


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
    signs = {" <= ": " ≤ ", " >= ": " ≥ ", " in {": " ∈ {"}
    normal = []
    for step in steps:
        text = str(step).strip().removesuffix(" or missing")
        for plain, sign in signs.items():
            text = text.replace(plain, sign)
        normal.append(text)
    return tuple(normal)


def _class_weights(
    given: Mapping[Value, float] | str | None, schema: Schema, totals: Floats
) -> Floats | None:
    """Return what each class's weight is multiplied by."""
    if given is None:
        return None
    classes = schema.target.classes
    if isinstance(given, str):
        if given != "balanced":
            msg = f'class_weight={given!r} must be a mapping, "balanced" or None'
            raise ParameterError(msg)
        present = totals > 0
        balanced = totals.sum() / (present.sum() * np.where(present, totals, 1.0))
        return np.where(present, balanced, 1.0)
    if not isinstance(given, Mapping):
        msg = f'class_weight={given!r} must be a mapping, "balanced" or None'
        raise ParameterError(msg)
    weights = np.ones(len(classes))
    places = {value_text(label): place for place, label in enumerate(classes)}
    for label, weight in given.items():
        text = value_text(label.item() if isinstance(label, np.generic) else label)
        if text not in places:
            msg = f"class_weight: no class {label!r}: {did_you_mean(text, places)}"
            raise ParameterError(msg)
        if not isinstance(weight, Real) or not 0 < float(weight) < np.inf:
            msg = f"class_weight: {label!r} has {weight!r}; it must be above 0"
            raise ParameterError(msg)
        weights[places[text]] = weight
    return weights
