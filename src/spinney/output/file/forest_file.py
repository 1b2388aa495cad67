"""A forest as a file: saved whole or not at all, checked before it is used.

The file is of the kind ``spinney-forest`` (see :mod:`spinney.output.file.kind`). Its
arrays are those of :class:`~spinney.trees.tree_arrays.TreeArrays`, with all trees
concatenated, and ``nodes``, the number of nodes of each tree. A forest of several
recipes lists them in ``recipes``: tree t uses number t modulo their number. ``recipe``
is the first one.
"""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Integers
from spinney.data import Schema
from spinney.errors import ParameterError
from spinney.growth.forest import (
    Forest,
    ForestSettings,
    TypicalTree,
    compact,
    forest_recipe,
)
from spinney.output.file.file_arrays import Arrays
from spinney.output.file.header import (
    KEYS,
    origin_header,
    read_fingerprint,
    read_recipe,
    read_schema,
    recipe_data,
)
from spinney.output.file.kind import FOREST, FileLimits, Kind
from spinney.output.file.plain_data import OPTIONAL, as_list, members, number, whole
from spinney.output.file.requirements import (
    amounts,
    close,
    countable,
    linked,
    possible,
    require,
    shaped,
    within,
)
from spinney.output.file.split_check import check_forms, check_splits
from spinney.output.file.strict_json import refuse
from spinney.recipes import Recipe
from spinney.trees import (
    NO_REASON,
    PackedTrees,
    Reason,
    RoutingArrays,
    SplitArrays,
    TreeArrays,
    reason_codes,
    splits_of_routing,
)

FOREST_VERSION = 1
PACKED_VERSION = 2  # the version if arrays are packed
MIXED_VERSION = 3  # the version if trees have several recipes
FOREST_LIMITS = FileLimits(file_bytes=1 << 36, nodes=1 << 31)

RECIPES = "recipes"
TYPICAL = f"{OPTIONAL}typical"  # the typical tree

_SETTINGS = tuple(field.name for field in fields(ForestSettings))
# Weights are in single precision if that is exact, otherwise in double precision.
DTYPES: dict[str, tuple[type[np.generic], ...]] = {
    "nodes": (np.int64,),
    "attribute": (np.int32,),
    "parent": (np.int32,),
    "cut": (np.float64,),
    "missing": (np.int16,),
    "gain": (np.float64,),
    "weights": (np.float32, np.float64),
    "rows": (np.int32,),
    "absent": (np.int32,),
    "reason": (np.uint8,),
    "listed": (np.int32,),
    "branches": (np.int16,),
    "cuts": (np.float64,),
}
ARRAYS = tuple(name for name in DTYPES if name != "nodes")

# Codes of reasons in forest files; 0 marks inner nodes. The order is part of the #
# format: new reasons are added at the end.
REASONS = reason_codes(
    None,
    Reason.PURE,
    Reason.EXHAUSTED,
    Reason.IDENTICAL,
    Reason.DEPTH,
    Reason.LEAVES,
    Reason.ROWS_TO_SPLIT,
    Reason.ROWS_IN_LEAF,
    Reason.MIN_GAIN,
    Reason.SIGNIFICANCE,
    Reason.DEVIATION,
    Reason.EMPTY,
    Reason.PRUNED,
)
_IN_FILE = np.argsort(REASONS).astype(np.uint8)  # the code of each reason


def _parts(forest: Forest) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    header = _header(forest)
    _read_header(header)
    arrays = _arrays(forest)
    check_forest_arrays(arrays, forest.schema, max_nodes=FOREST_LIMITS.nodes)
    return header, arrays


def _header(forest: Forest) -> dict[str, Any]:
    settings = {name: getattr(forest.settings, name) for name in _SETTINGS}
    scale = settings["class_weight"]
    if scale is not None and not isinstance(scale, str):
        n_classes = forest.schema.n_classes
        settings["class_weight"] = [float(scale.get(c, 1.0)) for c in range(n_classes)]
    for name, value in settings.items():
        if isinstance(value, np.generic):
            settings[name] = value.item()
    origin = origin_header(forest.schema, forest.recipes[0], forest.fingerprint)
    header = {**origin, "settings": settings, "shrinkage": forest.shrinkage}
    if len(forest.recipes) > 1:
        header[RECIPES] = [recipe_data(recipe) for recipe in forest.recipes]
    if forest.typical is not None:
        header[TYPICAL] = asdict(forest.typical)
    return header


def _arrays(forest: Forest) -> dict[str, NDArray[Any]]:
    trees = forest.members
    arrays = {name: getattr(trees.whole, name) for name in ARRAYS}
    # In a file, the nodes of each tree are numbered from 0.
    own = trees.whole.parent - np.repeat(trees.roots, trees.sizes)
    arrays["parent"] = np.where(trees.whole.parent < 0, -1, own).astype(np.int32)
    arrays["reason"] = _IN_FILE[arrays["reason"] - NO_REASON]
    arrays["nodes"] = trees.sizes.astype(np.int64)
    return arrays


def _read(data: object, arrays: Arrays, max_nodes: int) -> Forest:
    """Return a forest, after checking all that other code relies on."""
    header = _read_header(data)
    check_forest_arrays(arrays, header["schema"], max_nodes=max_nodes)
    forest = Forest(**header, members=_members(arrays))
    if len(forest) < len(forest.recipes):
        refuse(f"there are {len(forest.recipes)} recipes for {len(forest)} trees")
    if forest.typical is not None and forest.typical.number >= len(forest):
        refuse(f"the typical tree is {forest.typical.number}, of {len(forest)} trees")
    return forest


def _read_header(data: object) -> dict[str, Any]:
    """Return the fields of a forest, except its trees, from the header."""
    keys = (*KEYS, "settings", "shrinkage", RECIPES)
    header = members(data, "the model", keys, defaults=(RECIPES,))
    schema = read_schema(header)
    if schema.target.costs is not None or any(a.formula for a in schema.attributes):
        refuse("a forest has neither costs nor attributes with formulas")
    recipes = _read_recipes(header)
    settings = _read_settings(header["settings"], schema.n_classes)
    fingerprint = read_fingerprint(header["fingerprint"])
    try:
        for recipe in recipes:
            forest_recipe(recipe, extra_random=settings.extra_random)
    except ParameterError as error:
        refuse(f"the forest's recipe is invalid: {error}")
    shrinkage = number(header["shrinkage"], "the shrinkage")
    if not shrinkage >= 0 or settings.shrinkage not in (None, shrinkage):
        refuse(f"the shrinkage {shrinkage} contradicts the settings")
    return {
        "schema": schema,
        "recipes": recipes,
        "fingerprint": fingerprint,
        "settings": settings,
        "shrinkage": shrinkage,
        "typical": _read_typical(header.get(TYPICAL)),
    }


def _read_recipes(header: Mapping[str, Any]) -> tuple[Recipe, ...]:
    """Return the recipes of a forest's trees, in turn."""
    first = read_recipe(header["recipe"])
    if RECIPES not in header:
        return (first,)
    recipes = tuple(map(read_recipe, as_list(header[RECIPES], "the recipes")))
    if len(recipes) < 2 or recipes[0] != first:
        refuse("the recipes must be a list that begins with the recipe")
    return recipes


def _read_typical(data: object) -> TypicalTree | None:
    """Return the typical tree; None in older files."""
    if data is None:
        return None
    what = "the typical tree"
    entry = members(data, what, [field.name for field in fields(TypicalTree)])
    agreement = number(entry["agreement"], f"the agreement of {what}")
    if agreement > 1:
        refuse(f"the agreement of {what} is {agreement}")
    return TypicalTree(
        whole(entry["number"], f"the number of {what}"),
        agreement,
        whole(entry["rows"], f"the rows of {what}", least=1),
    )


def _read_settings(data: object, n_classes: int) -> ForestSettings:
    entry = dict(members(data, "the settings", _SETTINGS))
    scale = entry["class_weight"]
    if isinstance(scale, list):
        what = "the class weights"
        numbers = [number(each, what) for each in as_list(scale, what)]
        if not n_classes == len(numbers) > 0 or min(numbers) < 0:
            refuse(f"{what} must be {n_classes} numbers of at least 0")
        entry["class_weight"] = dict(enumerate(numbers))
    elif scale is not None and not isinstance(scale, str):
        refuse("the class weights must be a list, a name or nothing")
    try:
        return ForestSettings(**{name: entry[name] for name in _SETTINGS})
    except (ParameterError, TypeError) as error:
        refuse(f"the forest settings are invalid: {error}")


def _members(arrays: Arrays) -> PackedTrees:
    """Return the trees, as packed arrays."""
    own: dict[str, Any] = {name: arrays[name] for name in ARRAYS}
    roots = arrays["nodes"].cumsum() - arrays["nodes"]
    starts = np.repeat(roots, arrays["nodes"])
    own["parent"] = np.where(own["parent"] < 0, -1, own["parent"] + starts)
    own["reason"] = REASONS[own["reason"]]
    return PackedTrees(compact(TreeArrays(**own)), roots)


FORESTS = Kind(
    Forest,
    FOREST,
    FOREST_VERSION,
    PACKED_VERSION,
    "this forest",
    "grow the forest again",
    "it is a safetensors file, but not a forest of Spinney's",
    DTYPES,
    _parts,
    _read,
    limits=FOREST_LIMITS,
    later_version=MIXED_VERSION,
    is_later=lambda header: RECIPES in header,
)


_BY_NODE = ("attribute", "parent", "cut", "missing", "gain")
_ALSO_BY_NODE = ("rows", "absent", "reason", "listed")


def check_forest_arrays(arrays: Arrays, schema: Schema, *, max_nodes: int) -> None:
    """Raise DamageError unless the arrays are trees over this schema."""
    n = _check_shapes(arrays, schema, max_nodes)
    starts = np.repeat(arrays["nodes"].cumsum() - arrays["nodes"], arrays["nodes"])
    own = np.arange(n) - starts  # node numbers within each tree
    count = _check_links(arrays, starts)
    _check_nodes(arrays)
    nodes = np.flatnonzero(arrays["attribute"] >= 0)
    splits = _splits(arrays, nodes, count)
    check_forms(splits, schema, "node", nodes)
    check_splits(splits, schema, "node", nodes, ordered=True)
    _check_counts(arrays, schema, own, starts)


def _check_shapes(arrays: Arrays, schema: Schema, max_nodes: int) -> int:
    """Check the lengths of arrays; return the number of nodes."""
    nodes = arrays["nodes"]
    if nodes.ndim != 1 or not len(nodes) or not within(nodes, 1, max_nodes + 1).all():
        refuse(f"a tree has no node, or more than {max_nodes}")
    n = int(nodes.sum())
    if n > max_nodes:
        refuse(f"there are {n} nodes, over the limit of {max_nodes}")
    for name in (*_BY_NODE, *_ALSO_BY_NODE):
        shaped(arrays, name, (n,))
    width = 3 if schema.target.is_numeric else schema.n_classes
    shaped(arrays, "weights", (n, width))
    listed, grouped = arrays["listed"], np.isnan(arrays["cut"])
    require(within(listed, 0, 2**31 - 1), "node {} lists a negative number of values")
    shaped(arrays, "branches", (int(listed[grouped].sum()),))
    shaped(arrays, "cuts", (int(listed[~grouped].sum()),))
    return n


def _check_links(arrays: Arrays, starts: Integers) -> Integers:
    """Check the printing order of nodes; return the number of children of each."""
    parent = arrays["parent"].astype(np.int64)
    count = linked(np.where(parent < 0, parent, parent + starts), starts).count
    inner = arrays["attribute"] >= 0
    require(
        inner == (count > 0), "node {} must have both a split and branches, or neither"
    )
    require(~inner | (count > 1), "node {} has one branch")
    return count


def _check_nodes(arrays: Arrays) -> None:
    """Check that leaves have a reason and no split, and inner nodes a split only."""
    inner = arrays["attribute"] >= 0
    require(arrays["attribute"] >= -1, "node {} has an invalid attribute")
    nothing = (arrays["cut"] == 0) & (arrays["missing"] == -1) & (arrays["gain"] == 0)
    nothing &= (arrays["listed"] == 0) & (arrays["absent"] == 0)
    require(inner | nothing, "leaf {} has a field of inner nodes")
    require(within(arrays["reason"], 0, len(REASONS)), "node {} has no known reason")
    require(
        inner == (arrays["reason"] == 0),
        "node {} must have a reason if it is a leaf only",
    )


def _splits(arrays: Arrays, nodes: Integers, count: Integers) -> SplitArrays:
    """Return the splits of inner nodes, whose lengths follow from their branches."""
    cut, size, n_branches = arrays["cut"][nodes], arrays["listed"][nodes], count[nodes]
    grouped = np.isnan(cut)
    fitting = grouped | (n_branches == size + 2)
    require(fitting, "node {} has branches without cuts", nodes)
    owner = np.repeat(np.flatnonzero(grouped), size[grouped])
    possible = within(arrays["branches"], -1, n_branches[owner])
    require(possible, "node {} sends a value to no branch", nodes[owner])
    questions = RoutingArrays(
        attribute=arrays["attribute"][nodes],
        cut=cut,
        listed=size,
        branches=arrays["branches"],
        cuts=arrays["cuts"],
    )
    missing = arrays["missing"][nodes]
    return splits_of_routing(questions, n_branches=n_branches, missing=missing)


def _check_counts(
    arrays: Arrays, schema: Schema, own: Integers, starts: Integers
) -> None:
    """Check weights and numbers of rows."""
    target, rows = schema.target, arrays["rows"]
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # damaged numbers may be signalling NaN
        weights = arrays["weights"].astype(np.float64)
        sizes = weights[:, 0] if target.is_numeric else weights.sum(axis=1)
    require(possible(weights, target), "node {} has impossible weights")
    require(amounts(rows.astype(np.float64)), "node {} has a negative number of rows")
    require((own > 0) | (rows > 0), "root {} has no rows")
    require(
        within(arrays["absent"], 0, rows + 1), "node {} has more missing rows than rows"
    )
    require(np.isfinite(sizes), "node {} has weights whose sum overflows")
    require(countable(arrays["gain"], sizes), "the gain of node {} is not a number")
    require((rows == 0) | (sizes > 0), "node {} has rows without weight")
    require((rows > 0) | (arrays["attribute"] < 0), "node {} splits no rows")
    inner, below = np.flatnonzero(arrays["attribute"] >= 0), np.flatnonzero(own > 0)
    sums = np.zeros_like(weights)
    np.add.at(sums, arrays["parent"][below] + starts[below], weights[below])
    fitting = close(sums[inner], weights[inner], target)
    require(fitting, "the branches of node {} do not add up to it", inner)
