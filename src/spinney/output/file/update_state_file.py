"""The rows that a model stores for updates, as parts of its file.

Older readers ignore them. Columns are numbers, or codes of the schema; a missing cell
is −1 or NaN::

    optional.rows.cells     (rows, columns)
    optional.rows.target    (rows,)    class codes, or numbers
    optional.rows.weights   (rows,)    empty if every row weighs 1

The header has the recipe of updates and its options. Count tables are not stored: an
update counts the rows again.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney.data import Schema
from spinney.errors import ParameterError
from spinney.growth import Model
from spinney.output.file.header import read_recipe, recipe_data, with_present_names
from spinney.output.file.plain_data import OPTIONAL, as_list, members, number, text
from spinney.output.file.requirements import require, shaped, within
from spinney.output.file.strict_json import refuse
from spinney.recipes import Recipe
from spinney.sources.rows import TrainingSet

if TYPE_CHECKING:
    from spinney.growth import UpdateState

KEPT = f"{OPTIONAL}kept"
CELLS, TARGET, WEIGHTS = (
    f"{OPTIONAL}rows.{name}" for name in ("cells", "target", "weights")
)
ROW_ARRAYS = {CELLS: np.float64, TARGET: np.float64, WEIGHTS: np.float64}
_ENTRY = ("recipe", "tries", "declared", "weight", "given")
_BY_LABEL = ("class_weight", "priors")
_NUMBERS = ("ccp_alpha", "validation_share")
_GIVEN = (
    *_BY_LABEL,
    *_NUMBERS,
    "cost_matrix",
    "test_costs",
    "tie_break_order",
    "forced_splits",
)

Arrays = Mapping[str, NDArray[Any]]


def no_stored_rows() -> dict[str, Floats]:
    """Return the arrays of a file that does not store rows."""
    return {CELLS: np.zeros((0, 0)), TARGET: np.zeros(0), WEIGHTS: np.zeros(0)}


def stored_rows_parts(model: Model) -> tuple[dict[str, Any], dict[str, Floats]]:
    """Return the header entry and the arrays of the rows that a model stores.

    The statistics of a stream are not written.
    """
    if model.update_state is None or model.update_state.stream is not None:
        return {}, {}
    state, rows = model.update_state, model.update_state.training
    entry = {
        "recipe": recipe_data(state.recipe),
        "tries": [*state.recipe.tries],
        "declared": [*rows.declared],
        "weight": state.weight,
        "given": _grow_arguments_data(state.given, model.schema),
    }
    cells = [column.astype(np.float64) for column in rows.columns]
    arrays = {
        CELLS: np.stack(cells, axis=1) if cells else np.zeros((len(rows.classes), 0)),
        TARGET: rows.classes.astype(np.float64),
        WEIGHTS: np.zeros(0) if rows.weights is None else rows.weights,
    }
    return {KEPT: entry}, arrays


def _grow_arguments_data(given: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Return the options of growing, ready for JSON."""
    data: dict[str, Any] = {}
    for name, value in given.items():
        if value is None or (
            name in ("tie_break_order", "forced_splits") and not value
        ):
            continue
        if name == "cost_matrix":
            costs = schema.target.costs or ()
            data[name] = [[float(cost) for cost in line] for line in costs]
        elif name in _BY_LABEL and not isinstance(value, str):
            data[name] = [
                [key.item() if isinstance(key, np.generic) else key, float(weight)]
                for key, weight in value.items()
            ]
        elif name == "test_costs":
            data[name] = {str(key): float(value[key]) for key in value}
        elif name == "forced_splits":
            data[name] = [_forced_split(*item) for item in value.items()]
        else:
            data[name] = [*value] if name == "tie_break_order" else value
    return data


def _forced_split(path: Any, split: Any) -> list[Any]:
    """Return a forced split as JSON: the path and the text of the split."""
    if not isinstance(split, str):
        refuse("it stores its rows, and a forced split is not given as text")
    return [[path] if isinstance(path, str) else [str(step) for step in path], split]


def read_stored_rows(
    header: Mapping[str, Any], arrays: Arrays, schema: Schema
) -> "UpdateState | None":
    """Return the stored rows of a file, checked against the schema of its tree."""
    if KEPT not in header:
        return None
    what = "what is kept of the rows"
    entry = members(header[KEPT], what, _ENTRY)
    schema = schema.of_columns().without_costs()
    declared = tuple(text(n, f"a name in {what}") for n in _names(entry["declared"]))
    weight = entry["weight"]
    if weight is not None:
        text(weight, f"the weight in {what}")
    rows = _read_rows(arrays, schema, declared)
    given = _read_given(entry["given"], schema)
    from spinney.growth import UpdateState

    return UpdateState(rows, _read_recipe(entry), given, weight)


def _names(data: object) -> list[Any]:
    return as_list(data, "a list of what is kept of the rows")


def _read_recipe(entry: Mapping[str, Any]) -> Recipe:
    recipe = read_recipe(entry["recipe"])
    tries = tuple(text(name, "a way to grow") for name in _names(entry["tries"]))
    if not tries:
        return recipe
    try:
        named = Recipe.named(recipe.name)
        changed = {
            name: getattr(recipe, name)
            for name in recipe_data(recipe)
            if getattr(recipe, name) != getattr(named, name)
        }
        changed_recipe = named.changed(**changed)
    except ParameterError as error:
        refuse(f"the recipe for its rows is invalid: {error}")
    if changed_recipe.tries != tries:
        refuse("the recipe for its rows tries other recipes")
    return changed_recipe


def _read_rows(
    arrays: Arrays, schema: Schema, declared: tuple[str, ...]
) -> TrainingSet:
    n_rows, target = len(arrays[TARGET]), arrays[TARGET]
    shaped(arrays, CELLS, (n_rows, len(schema.attributes)))
    if arrays[WEIGHTS].size:
        shaped(arrays, WEIGHTS, (n_rows,))
        good = np.isfinite(arrays[WEIGHTS]) & (arrays[WEIGHTS] > 0)
        require(good, "stored row {} has no weight")
    if not n_rows:
        refuse("its header declares stored rows, and it has none")
    columns: list[NDArray[Any]] = []
    for index, attribute in enumerate(schema.attributes):
        cells = arrays[CELLS][:, index]
        if attribute.kind == "numeric":
            require(~np.isinf(cells), "stored row {} has an infinite number")
            columns.append(np.ascontiguousarray(cells))
            continue
        _require_codes(cells, -1, len(attribute.values))
        columns.append(cells.astype(np.int32))
    if schema.target.is_numeric:
        require(np.isfinite(target), "stored row {} has no finite target")
        classes: NDArray[Any] = target
    else:
        _require_codes(target, 0, schema.n_classes)
        classes = target.astype(np.int64)
    weights = arrays[WEIGHTS] if arrays[WEIGHTS].size else None
    return TrainingSet(schema, tuple(columns), classes, weights, declared=declared)


def _require_codes(cells: Floats, least: int, n_values: int) -> None:
    known = within(cells, least, n_values) & (cells == np.floor(cells))
    require(known, "stored row {} has an unknown value of an attribute")


def _read_given(data: object, schema: Schema) -> dict[str, Any]:
    """Return the options of growing; their meaning is checked by growing."""
    what = "what was given for the rows"
    given = dict(members(with_present_names(data), what, _GIVEN, defaults=_GIVEN))
    for name in _BY_LABEL:
        if name in given and not isinstance(given[name], str):
            given[name] = dict(_pairs(given[name], f"{name} in {what}"))
    for name in _NUMBERS:
        if name in given:
            number(given[name], f"{name} in {what}")
    if "cost_matrix" in given:
        costs = as_list(given["cost_matrix"], f"cost_matrix in {what}")
        lines = [as_list(line, f"cost_matrix in {what}") for line in costs]
        classes = schema.target.classes
        if [len(line) for line in lines] != [len(classes)] * len(classes):
            refuse("the costs for the stored rows do not fit the classes")
        given["cost_matrix"] = {
            label: dict(zip(classes, line, strict=True))
            for label, line in zip(classes, lines, strict=True)
        }
    if "tie_break_order" in given:
        given["tie_break_order"] = [
            text(name, f"a tie in {what}") for name in _names(given["tie_break_order"])
        ]
    if "forced_splits" in given:
        given["forced_splits"] = {
            tuple(_names(path)): text(split, f"a forced split in {what}")
            for path, split in _pairs(
                given["forced_splits"], f"forced_splits in {what}"
            )
        }
    return given


def _pairs(data: object, what: str) -> list[tuple[Any, Any]]:
    pairs = [as_list(pair, what) for pair in as_list(data, what)]
    if any(len(pair) != 2 for pair in pairs):
        refuse(f"{what} must be a list of pairs")
    return [(first, second) for first, second in pairs]
