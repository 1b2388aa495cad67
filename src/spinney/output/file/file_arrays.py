"""A tree as flat arrays, and back.

Words
-----
candidates, branches, groups, values
    of all nodes, concatenated in node order.
count
    the number of these per node, candidate or group. Counted items are stored without
    gaps.

The arrays, with n nodes, m candidates and c classes; for a numeric target, weights have
3 columns (moments), and distributions and rows have 1 column, instead of c::

    node.parent, node.branch, node.depth, node.rows, node.label      (n,)
    node.reason        ``Reason.code``, -1 at an inner node           (n,)
    node.chosen        index among its candidates, -1 at a leaf      (n,)
    node.forced        0 or 1                                        (n,)
    node.candidates    a count                                       (n,)
    node.weights, node.distribution                                  (n, c)

    candidate.attribute                                              (m,)
    candidate.exact    0 or 1, 2 where a user has written it         (m,)
    optional.candidate.bound    NaN for none; only where there is one (m,)
    candidate.form     0 threshold, 1 groups of codes, 2 intervals   (m,)
    candidate.missing  a branch, -1 for fractional rows              (m,)
    candidate.gain, candidate.merit                                  (m,)
    candidate.p_value  NaN where the criterion is no test            (m,)
    candidate.branches, candidate.values      counts                 (m,)
    candidate.missing_weights, candidate.missing_rows                (m, c)

    split.thresholds   one for each candidate of form 0; the cuts of form 2
    split.shares       one for each branch of each candidate
    split.groups       a count of codes for each branch of form 1
    split.codes        the codes of the groups

    node.terms         a count; -1 where there is no linear model   (n,)
    node.intercept     that of the model, 0 where there is none      (n,)
    term.attribute, term.coefficient, term.missing
    term.codes         a count of codes; -1 where the term is a number
    model.codes        the codes of all terms

    table.codes        the values, where the attribute has codes
    table.numbers      the values, where the attribute is numeric
    table.weights, table.rows       a line of c for each of all values

    node.surrogates    a count                                       (n,)
    node.otherwise     the branch of what nothing sends, or -1       (n,)
    surrogate.attribute, surrogate.form, surrogate.reversed (0 or 1)
    surrogate.agreement, surrogate.adjusted
    surrogate_split.thresholds, .groups, .codes     as those of splits
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import ramps
from spinney.data import Schema
from spinney.output.file.plain_data import OPTIONAL
from spinney.trees import (
    ArrayNodes,
    CandidateArrays,
    FlatModels,
    SplitArrays,
    SurrogateArrays,
    Tree,
    TreeArrays,
    flat_models,
    routing_of_splits,
    surrogate_arrays,
    winner_arrays,
)

Arrays = Mapping[str, NDArray[Any]]

BOUND = f"{OPTIONAL}candidate.bound"
_FLOATS = (
    *("node.weights", "node.distribution", "node.intercept"),
    *("candidate.gain", "candidate.merit", "candidate.p_value", BOUND),
    *("candidate.missing_weights", "split.thresholds", "split.shares"),
    *("table.numbers", "table.weights"),
    *("surrogate.agreement", "surrogate.adjusted", "surrogate_split.thresholds"),
    *("term.coefficient", "term.missing"),
)
_INTEGERS = (
    *("node.parent", "node.branch", "node.depth", "node.rows", "node.label"),
    *("node.reason", "node.chosen", "node.forced", "node.candidates"),
    *("node.surrogates", "node.otherwise", "node.terms"),
    *("candidate.attribute", "candidate.exact", "candidate.form"),
    *("candidate.missing", "candidate.branches", "candidate.values"),
    *("candidate.missing_rows", "split.groups", "split.codes"),
    *("surrogate.attribute", "surrogate.form", "surrogate.reversed"),
    *("term.attribute", "term.codes"),
    *("table.codes", "table.rows"),
    *("surrogate_split.groups", "surrogate_split.codes", "model.codes"),
)
DTYPES: dict[str, type[np.generic]] = {
    **dict.fromkeys(_INTEGERS, np.int64),
    **dict.fromkeys(_FLOATS, np.float64),
}

# The names of fields of nodes, candidates, surrogates and splits in a file.
_NODES = {
    "parent": "node.parent",
    "weights": "node.weights",
    "rows": "node.rows",
    "reason": "node.reason",
    "outputs": "node.distribution",
    "forced": "node.forced",
    "default_branch": "node.otherwise",
}
_CANDIDATES = {
    "count": "node.candidates",
    "chosen": "node.chosen",
    **{name: f"candidate.{name}" for name in ("gain", "merit", "exact", "p_value")},
    "n_values": "candidate.values",
    "weights": "table.weights",
    "rows": "table.rows",
    "missing_weights": "candidate.missing_weights",
    "missing_rows": "candidate.missing_rows",
    "bound": BOUND,
}
_SURROGATES = {
    "count": "node.surrogates",
    **{name: f"surrogate.{name}" for name in ("agreement", "adjusted", "reversed")},
}


def _splits(of: str, room: str) -> dict[str, str]:
    return {
        "n_branches": f"{of}.branches",
        **{name: f"{of}.{name}" for name in ("attribute", "form", "missing")},
        **{n: f"{room}.{n}" for n in ("thresholds", "groups", "codes", "shares")},
    }


def _named(record: Any, names: Mapping[str, str]) -> dict[str, Any]:
    return {name: getattr(record, field) for field, name in names.items()}


def _fields(arrays: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {field: arrays[name] for field, name in names.items()}


# Defaults per node for arrays that older files lack.
_LATER = {"node.surrogates": 0, "node.otherwise": -1, "node.terms": -1}
_LATER_ROOMS = ("surrogate.", "surrogate_split.", "term.", "model.")


def with_defaults(arrays: Arrays) -> Arrays:
    """Return arrays with defaults for those that the file lacks."""
    if "node.parent" in arrays:
        n_nodes = arrays["node.parent"].size
        rooms = [name for name in DTYPES if name.startswith(_LATER_ROOMS)]
        arrays = {
            **{name: np.empty(0, DTYPES[name]) for name in rooms},
            **{name: np.full(n_nodes, value) for name, value in _LATER.items()},
            "node.intercept": np.zeros(n_nodes),
            **arrays,
        }
    if "candidate.gain" not in arrays:
        return arrays
    absent = np.full(arrays["candidate.gain"].shape, np.nan)
    return {"candidate.p_value": absent, BOUND: absent, **arrays}


def flatten(tree: Tree) -> dict[str, NDArray[Any]]:
    """Return the arrays of a tree, unchecked."""
    nodes, found, links = tree.arrays, tree.nodes.candidate_arrays, tree.nodes.links
    surrogates = nodes.surrogates
    if surrogates is None:
        surrogates = surrogate_arrays([()] * len(nodes))
    arrays = {
        **_named(nodes, _NODES),
        "node.branch": links.branch,
        "node.depth": links.depth,
        "node.label": tree.nodes.labels,
        **_named(found, _CANDIDATES),
        **_named(found.splits, _splits("candidate", "split")),
        **_named(surrogates, _SURROGATES),
        **_named(surrogates.splits, _splits("surrogate", "surrogate_split")),
        **_flatten_models(nodes.models, len(nodes)),
    }
    numbered = np.repeat(numeric(arrays, tree.schema), found.n_values)
    arrays["table.codes"] = found.values[~numbered]
    arrays["table.numbers"] = found.values[numbered]
    if nodes.forced is None:
        arrays["node.forced"] = np.zeros(len(nodes))
    if nodes.default_branch is None:
        arrays["node.otherwise"] = np.full(len(nodes), -1)
    return {  # not written without bounds: older readers do not know it
        name: np.ascontiguousarray(arrays[name], dtype=DTYPES[name])
        for name in sorted(DTYPES)
        if arrays.get(name) is not None
    }


def _flatten_models(models: FlatModels | None, n_nodes: int) -> dict[str, Any]:
    if models is None:
        models = flat_models([None] * n_nodes)
    terms = np.repeat(models.first, models.count) + ramps(models.count)
    sizes = models.codes[terms]
    room, codes = sizes.clip(0), ramps(sizes.clip(0))
    owner = np.repeat(np.arange(len(terms)), room)
    hit = models.lookup[models.first_code[terms][owner] + codes] > 0
    counts = np.bincount(owner[hit], minlength=len(terms))
    return {
        "node.terms": np.where(models.has, models.count, -1),
        "node.intercept": np.where(models.has, models.intercept, 0.0),
        "term.attribute": models.attribute[terms],
        "term.missing": models.missing[terms],
        "term.codes": np.where(sizes < 0, -1, counts),
        "term.coefficient": models.coefficient[terms],
        "model.codes": codes[hit],
    }


def unflatten(file: Arrays, schema: Schema) -> Tree:
    """Return a tree from checked arrays."""
    values = np.empty(len(file["table.weights"]))
    numbered = np.repeat(numeric(file, schema), file["candidate.values"])
    values[numbered] = file["table.numbers"]
    values[~numbered] = file["table.codes"]
    found = CandidateArrays(
        **{
            **_fields(file, _CANDIDATES),
            "bound": None if np.isnan(file[BOUND]).all() else file[BOUND],
        },
        splits=splits_of(file, "candidate", "split"),
        values=values,
    )
    asks, won = found.chosen >= 0, found.winners()
    own = _fields(file, _NODES)
    own["reason"] = own["reason"].astype(np.int8)
    own["forced"] = own["forced"].astype(np.bool_)
    tree = TreeArrays(
        **winner_arrays(asks, won.splits, won.gain, won.missing_rows.sum(axis=1)),
        **own,
        surrogates=_surrogates(file),
        models=_models(file),
    )
    return Tree(schema, ArrayNodes(tree, schema, found))


def _models(arrays: Arrays) -> FlatModels | None:
    """Return the linear models of all nodes, from checked arrays."""
    counts, sizes = arrays["node.terms"], arrays["term.codes"]
    if (counts < 0).all():
        return None
    owner = np.repeat(np.arange(len(sizes)), sizes.clip(0))
    codes = arrays["model.codes"]
    ends = sizes.clip(-1, 0)
    np.maximum.at(ends, owner, codes + 1)
    first_code = 1 + ends.clip(0).cumsum() - ends.clip(0)
    lookup = np.zeros(1 + ends.clip(0).sum())
    lookup[first_code[owner] + codes] = 1.0
    return FlatModels(
        has=counts >= 0,
        intercept=arrays["node.intercept"],
        first=counts.clip(0).cumsum() - counts.clip(0),
        count=counts.clip(0),
        attribute=arrays["term.attribute"],
        coefficient=arrays["term.coefficient"],
        missing=arrays["term.missing"],
        first_code=first_code,
        codes=ends,
        lookup=lookup,
    )


def _surrogates(arrays: Arrays) -> SurrogateArrays | None:
    """Return the surrogates of all nodes."""
    if not len(arrays["surrogate.attribute"]):
        return None
    splits = splits_of(arrays, "surrogate", "surrogate_split")
    own = _fields(arrays, _SURROGATES)
    own["reversed"] = own["reversed"].astype(np.bool_)
    return SurrogateArrays(**routing_of_splits(splits), **own)


def splits_of(arrays: Arrays, of: str, room: str) -> SplitArrays:
    """Return the splits of candidates or surrogates."""
    names, n = _splits(of, room), len(arrays[f"{of}.attribute"])
    of_two = {"n_branches": np.full(n, 2), "missing": np.full(n, -1), "shares": None}
    own = {names[field]: value for field, value in of_two.items()}
    return SplitArrays(**_fields({**own, **arrays}, names))


def numeric(arrays: Arrays, schema: Schema) -> NDArray[np.bool_]:
    """Return which candidates split on a numeric attribute."""
    kinds = np.array([a.kind == "numeric" for a in schema.attributes], dtype=bool)
    return np.asarray(kinds[arrays["candidate.attribute"]])
