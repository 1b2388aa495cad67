"""Schema, recipe and fingerprint as plain data, written and read.

Model files and JSON exports have the same data. JSON keeps the types of values:
``"1"``, ``1``, ``1.0`` and ``true`` differ.
"""

import math
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from typing import Any

import numpy as np

from spinney.data import (
    TIME_UNITS,
    Attribute,
    Clause,
    Conjunction,
    Difference,
    Fingerprint,
    Formula,
    Linear,
    Ratio,
    Schema,
    Target,
    TextFormat,
    Value,
    level_order,
)
from spinney.errors import ParameterError
from spinney.growth import Member, Model, Quality, RecipeScore
from spinney.output.file.plain_data import (
    OPTIONAL,
    as_list,
    described,
    members,
    number,
    text,
    whole,
)
from spinney.output.file.strict_json import DIGITS, refuse
from spinney.recipes import Recipe
from spinney.trees import OBJECTIVES, Certificate
from spinney.trees.criteria import stored_name

FORMAT = "spinney-tree"
FORMAT_VERSION = 2
PACKED_VERSION = 3  # the version if arrays are packed
KEYS = (
    "target",
    "classes",
    "origin",
    "costs",
    "attributes",
    "markers",
    "recipe",
    "fingerprint",
)
# The entries that version 1 lacks, and their meaning.
ADDED = {"origin": None, "costs": None}

# Optional entries, which older readers ignore.
TRIED = f"{OPTIONAL}tried"  # the scores of candidate recipes
UNTRIED = f"{OPTIONAL}untried"  # the recipe of a small table, without scores
NOTATION = f"{OPTIONAL}text_format"
UNITS = f"{OPTIONAL}units"  # the units of columns, in the text_format
CERTIFICATE = f"{OPTIONAL}certificate"  # the proof of optimality
MEMBER = f"{OPTIONAL}member"  # the tree's place in its forest
QUALITY = f"{OPTIONAL}quality"  # its error on held-out rows and on training rows

# Fields of a recipe that files do not store.
_NOT_STORED = ("given", "tries")
# Settings unknown to older readers, written only if they are not the default.
_LATER = (
    *("reuse_attributes", "search", "objective", "leaf_price", "time_limit"),
    *(
        "delta",
        "grace_period",
        "tie_threshold",
        "max_active_leaves",
        "drift",
        "max_terms",
    ),
)
_LATER_PROVEN = ("max_leaves", "objective")
_OF_RECIPES = tuple(f for f in fields(Recipe) if f.name not in _NOT_STORED)

# Former names of settings in files, and their names now.
FORMER_NAMES = {
    "missing": "missing_policy",
    "reuse": "reuse_attributes",
    "grace": "grace_period",
    "tie_bound": "tie_threshold",
    "counting_leaves": "max_active_leaves",
    "ties": "tie_break_order",
    "force": "forced_splits",
}

_KINDS = ("nominal", "ordinal", "numeric")


def header_of(model: Model) -> dict[str, Any]:
    """Return the header of a tree: all but its nodes, ready for JSON."""
    header = origin_header(model.schema, model.recipe, model.fingerprint)
    if model.recipe_scores and model.recipe_scores[0].risk is None:
        header[UNTRIED] = model.recipe_scores[0].name
    elif model.recipe_scores:
        header[TRIED] = [
            {name: _plain(value) for name, value in asdict(score).items()}
            for score in model.recipe_scores
        ]
    if model.tree.certificate is not None:
        proven = asdict(model.tree.certificate)
        for field in fields(Certificate):  # keys that older readers do not know
            if field.name in _LATER_PROVEN and proven[field.name] == field.default:
                del proven[field.name]
        header[CERTIFICATE] = {**proven, "one_by_one": [*proven["one_by_one"]]}
    if model.member is not None:
        header[MEMBER] = asdict(model.member)
    if model.quality is not None:
        quality = asdict(model.quality)
        header[QUALITY] = {name: _plain(value) for name, value in quality.items()}
    return header


def origin_header(
    schema: Schema, recipe: Recipe, fingerprint: Fingerprint
) -> dict[str, Any]:
    """Return schema, recipe and fingerprint of a tree or forest, ready for JSON."""
    return {
        **schema_header(schema),
        "recipe": recipe_data(recipe),
        "fingerprint": fingerprint_data(fingerprint),
    }


def recipe_data(recipe: Recipe) -> dict[str, Any]:
    """Return a recipe as data that :func:`read_recipe` reads back."""
    return {
        field.name: _plain(stored_name(value) if callable(value) else value)
        for field in _OF_RECIPES
        for value in (getattr(recipe, field.name),)
        if field.name not in _LATER or value != field.default
    }


def fingerprint_data(fingerprint: Fingerprint) -> dict[str, Any]:
    """Return a fingerprint as data that :func:`read_fingerprint` reads back."""
    return {name: _plain(value) for name, value in asdict(fingerprint).items()}


def schema_header(schema: Schema) -> dict[str, Any]:
    """Return a schema as data that :func:`read_schema` reads back."""
    written, costs = asdict(schema.text_format), schema.target.costs
    units, _ = written.pop("units"), written.pop("sheet")
    if units:
        written[UNITS] = [[*pair] for pair in units]
    text_format = {NOTATION: written} if any(written.values()) else {}
    return {
        "target": schema.target.name,
        "classes": [_plain(value) for value in schema.target.classes],
        "origin": _plain(schema.target.origin),
        "costs": None
        if costs is None
        else [[_plain(cost) for cost in line] for line in costs],
        "attributes": [
            {
                "name": attribute.name,
                "kind": attribute.kind,
                "values": [_plain(value) for value in attribute.values],
                "unit": attribute.unit,
                "cost": _plain(attribute.cost),
                "formula": formula_data(attribute.formula),
            }
            for attribute in schema.attributes
        ],
        "markers": [_plain(marker) for marker in schema.markers],
        **text_format,
    }


def _plain(value: Any) -> Any:
    """Return a value as a Python type that JSON represents exactly."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is not None and not isinstance(value, (str, bool, int, float)):
        refuse(f"{value!r} is neither text, a number nor true or false")
    if isinstance(value, float) and not math.isfinite(value):
        refuse(f"the value {value!r} is not finite")
    if isinstance(value, int) and abs(value) >= 10 ** (DIGITS - 1):
        refuse(f"a whole number has {DIGITS} digits or more")
    return value


def read_schema(data: Mapping[str, Any]) -> Schema:
    """Return the schema that the header describes."""
    target = text(data["target"], "the target")
    classes = _values(data["classes"], "the target")
    origin = data["origin"]
    if origin is not None:
        origin = number(origin, "the origin of the target")
    if bool(classes) == (origin is not None):
        refuse("the target must have either classes or an origin")
    costs = None if data["costs"] is None else _read_costs(data["costs"], len(classes))
    attributes = tuple(
        _read_attribute(entry, index)
        for index, entry in enumerate(as_list(data["attributes"], "the attributes"))
    )
    if len({attribute.name for attribute in attributes}) < len(attributes):
        refuse("two attributes have one name")
    markers = as_list(data["markers"], "the markers of missing cells")
    for marker in markers:
        text(marker, "a marker of missing cells")
    try:
        return Schema(
            attributes,
            Target(target, classes, origin, costs),
            tuple(markers),
            _read_text_format(data.get(NOTATION)),
        )
    except ParameterError as error:
        refuse(f"a formula or the text_format is none: {error}")


def _read_text_format(data: object) -> TextFormat:
    """Return the text format of the training table; the default for older files."""
    if data is None:
        return TextFormat()
    names = ("decimal", "thousands", "dates", "skip")
    written = members(data, "the text_format", names)
    units = []
    for pair in as_list(written.get(UNITS, []), "the units"):
        texts = [text(each, "a unit") for each in as_list(pair, "a unit")]
        if len(texts) != 2:
            refuse("a unit is not a column and its unit")
        units.append((texts[0], texts[1]))
    settings = {name: written[name] for name in names}
    return TextFormat(**settings, units=tuple(units) or None).without_skip()


def _read_costs(data: object, n_classes: int) -> tuple[tuple[float, ...], ...]:
    what = "the costs"
    lines = [as_list(line, what) for line in as_list(data, what)]
    costs = tuple(tuple(number(cost, "a cost") for cost in line) for line in lines)
    if not n_classes or {len(costs), *map(len, costs)} != {n_classes}:
        refuse(f"{what} must be a square of {n_classes} classes")
    if any(cost < 0 for line in costs for cost in line):
        refuse("a cost is negative")
    return costs


def _read_attribute(data: object, index: int) -> Attribute:
    what = f"attribute {index}"
    keys = ("name", "kind", "values", "unit", "cost", "formula")
    entry = members(data, what, keys, defaults=("cost", "formula"))
    kind = entry["kind"]
    if kind not in _KINDS:
        refuse(f"{what} is of an unknown kind {described(kind)}")
    values = _values(entry["values"], what)
    if kind == "numeric" and values:
        refuse(f"{what} is numeric and yet has a list of values")
    unit = None if entry["unit"] is None else text(entry["unit"], f"the unit of {what}")
    if unit is not None and " since " in unit and unit not in TIME_UNITS.values():
        refuse(f"{what} has an unknown unit {unit[:80]!r}")
    cost = number(entry.get("cost", 0.0), f"the cost of {what}")
    if cost < 0:
        refuse(f"{what} has a negative cost")
    name = text(entry["name"], f"the name of {what}")
    formula = read_formula(entry.get("formula"), what)
    return Attribute(name, kind, values, unit, cost, formula)


def _values(data: object, what: str) -> tuple[Value, ...]:
    values = as_list(data, f"the values of {what}")
    for value in values:
        if not isinstance(value, (str, bool, int, float)):
            refuse(f"{what} has a value that is {described(value)}")
    if len({level_order(value) for value in values}) < len(values):
        refuse(f"{what} has the same value twice")
    return tuple(values)


def with_present_names(data: object) -> object:
    """Return the settings of a file under their current names."""
    if not isinstance(data, dict) or any(FORMER_NAMES.get(n) in data for n in data):
        return data
    return {FORMER_NAMES.get(name, name): value for name, value in data.items()}


def read_recipe(data: object) -> Recipe:
    """Return the recipe that the header describes."""
    names = [field.name for field in _OF_RECIPES]
    defaults = [f.name for f in _OF_RECIPES if f.default is not MISSING]
    entry = members(with_present_names(data), "the recipe", names, defaults=defaults)
    settings = {name: entry[name] for name in names if name in entry}
    text(settings["name"], "the name of the recipe")
    try:
        return Recipe(**settings)
    except ParameterError as error:
        refuse(f"the recipe is invalid: {error}")


def read_tried(header: Mapping[str, Any]) -> tuple[RecipeScore, ...]:
    """Return the scores of compared recipes in a header."""
    what = "the record of what was tried"
    if UNTRIED in header:
        return (RecipeScore(text(header[UNTRIED], f"a name in {what}"), chosen=True),)
    tried = []
    for line in as_list(header.get(TRIED, []), what):
        entry = members(line, what, [field.name for field in fields(RecipeScore)])
        tried.append(
            RecipeScore(
                text(entry["name"], f"a name in {what}"),
                number(entry["risk"], f"a risk in {what}"),
                number(entry["deviation"], f"a deviation in {what}"),
                whole(entry["leaves"], f"the leaves in {what}"),
                entry["chosen"] is True,
            )
        )
    return tuple(tried)


def read_certificate(header: Mapping[str, Any]) -> Certificate | None:
    """Return the certificate of an optimal tree in a header; None without one."""
    if CERTIFICATE not in header:
        return None
    what = "the certificate"
    names = [field.name for field in fields(Certificate)]
    later = ["one_by_one", *_LATER_PROVEN]
    entry = members(header[CERTIFICATE], what, names, defaults=later)
    loss, bound, price = (
        number(entry[name], f"the {name} of {what}")
        for name in ("loss", "bound", "price")
    )
    depth, leaves = (whole(entry[name], what) for name in ("depth", "leaves"))
    # The bound is that of loss plus leaf costs, minus the leaf costs.
    least = 0.0 if price is None else -price * leaves
    if None in (loss, bound, price) or not least <= bound <= loss or price < 0:
        refuse(f"{what} has a bound of {bound} and a loss of {loss}")
    listed = as_list(entry.get("one_by_one", []), what)
    one_by_one = tuple(text(name, f"a name in {what}") for name in listed)
    limit = entry.get("max_leaves")
    limit = None if limit is None else whole(limit, f"the most leaves of {what}")
    objective = entry.get("objective", "loss")
    if objective not in OBJECTIVES:
        refuse(f"{what} has an objective that is unknown")
    return Certificate(loss, bound, depth, price, leaves, one_by_one, limit, objective)


def read_member(header: Mapping[str, Any]) -> Member | None:
    """Return a tree's place in a forest from a header; None outside of forests."""
    if MEMBER not in header:
        return None
    what = "the tree of a forest"
    entry = members(header[MEMBER], what, [field.name for field in fields(Member)])
    number, of = (whole(entry[name], what) for name in ("number", "of"))
    if number >= of:
        refuse(f"{what} has the number {number}, of {of}")
    return Member(number, of)


def read_quality(header: Mapping[str, Any]) -> Quality | None:
    """Return the quality of a tree that a header has, if any."""
    if QUALITY not in header:
        return None
    what = "the quality"
    entry = members(header[QUALITY], what, [field.name for field in fields(Quality)])
    errors = {
        name: None if entry[name] is None else number(entry[name], f"{name} in {what}")
        for name in ("variance", "error", "standard_error")
    }
    training_error = number(entry["training_error"], f"training_error in {what}")
    if min(training_error, *(e for e in errors.values() if e is not None), 0.0) < 0:
        refuse(f"{what} has a negative error")
    if (errors["error"] is None) != (errors["standard_error"] is None):
        refuse(f"{what} has an error without its standard error, or one alone")
    return Quality(
        training_error,
        n_rows=whole(entry["n_rows"], f"n_rows in {what}"),
        n_folds=whole(entry["n_folds"], f"n_folds in {what}"),
        **errors,
    )


def read_fingerprint(data: object) -> Fingerprint:
    """Return the fingerprint that the header describes."""
    what = "the fingerprint"
    entry = members(data, what, [field.name for field in fields(Fingerprint)])
    weight = number(entry["weight"], f"the weight in {what}")
    if weight < 0:
        refuse(f"the weight in {what} is negative")
    return Fingerprint(
        whole(entry["n_rows"], f"the rows in {what}"),
        weight,
        text(entry["digest"], f"the digest in {what}"),
        text(entry["version"], f"the version in {what}"),
    )


_PAIRS: dict[str, type[Difference] | type[Ratio]] = {
    "difference": Difference,
    "ratio": Ratio,
}


def formula_data(formula: Formula | None) -> dict[str, Any] | None:
    """Return a formula as plain data.

    >>> formula_data(Ratio(0, 2))
    {'form': 'ratio', 'attributes': [0, 2]}
    """
    if formula is None:
        return None
    if isinstance(formula, Conjunction):
        clauses = [_clause_data(clause) for clause in formula.clauses]
        return {"form": "conjunction", "clauses": clauses}
    form = type(formula).__name__.lower()
    data: dict[str, Any] = {"form": form, "attributes": list(formula.attribute_indices)}
    if isinstance(formula, Linear):
        data["coefficients"] = [float(factor) for factor in formula.coefficients]
    return data


def _clause_data(clause: Clause) -> dict[str, Any]:
    if clause.codes is not None:
        return {"attribute": clause.place, "codes": list(clause.codes)}
    low, high = (
        float(bound) if math.isfinite(bound) else None
        for bound in (clause.low, clause.high)
    )
    return {"attribute": clause.place, "above": low, "at_most": high}


def read_formula(data: object, what: str) -> Formula | None:
    """Return the formula that plain data describes."""
    if data is None:
        return None
    what = f"the formula of {what}"
    form = data.get("form") if isinstance(data, dict) else None
    try:
        if form == "conjunction":
            entry = members(data, what, ("form", "clauses"))
            clauses = as_list(entry["clauses"], what)
            return Conjunction(tuple(_read_clause(clause, what) for clause in clauses))
        if form == "linear":
            entry = members(data, what, ("form", "attributes", "coefficients"))
            factors = as_list(entry["coefficients"], what)
            return Linear(
                _indices(entry["attributes"], what),
                tuple(number(factor, f"a coefficient of {what}") for factor in factors),
            )
        if isinstance(form, str) and form in _PAIRS:
            entry = members(data, what, ("form", "attributes"))
            pair = _indices(entry["attributes"], what)
            if len(pair) == 2:
                return _PAIRS[form](*pair)
    except ParameterError as error:
        refuse(f"{what} is invalid: {error}")
    refuse(f"{what} is of an unknown form {described(form)}")


def _indices(data: object, what: str) -> tuple[int, ...]:
    return tuple(
        whole(index, f"an attribute of {what}") for index in as_list(data, what)
    )


def _read_clause(data: object, what: str) -> Clause:
    keys = ("attribute", "codes", "above", "at_most")
    entry = members(data, f"a clause of {what}", keys, defaults=keys[1:])
    attribute = whole(entry["attribute"], f"an attribute of {what}")
    if "codes" in entry:
        if len(entry.keys() & set(keys)) > 2:
            refuse(f"a clause of {what} has both codes and bounds")
        return Clause(attribute, codes=_indices(entry["codes"], what))
    low, high = entry.get("above"), entry.get("at_most")
    return Clause(
        attribute,
        low=-math.inf if low is None else number(low, f"a bound of {what}"),
        high=math.inf if high is None else number(high, f"a bound of {what}"),
    )
