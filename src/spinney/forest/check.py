"""Whether arrays are the trees of a forest: every rule that the rest relies on.

The rules are checked in an order in which each may rely on those before it, by
operations over the arrays of all trees at once; nothing recurs.
"""

import numpy as np

from spinney._support.arrays import Integers
from spinney.data.schema import Schema
from spinney.files.model_arrays import Arrays
from spinney.files.model_rules import amounts, close, possible, require, shaped, within
from spinney.files.strict_json import DamageError
from spinney.growth.forest.compact_tree import REASONS

__all__ = ["check_forest_arrays"]


_BY_NODE = ("attribute", "parent", "cut", "missing", "gain")
_ALSO_BY_NODE = ("rows", "absent", "reason", "listed")


def check_forest_arrays(arrays: Arrays, schema: Schema, *, max_nodes: int) -> None:
    """Raise where arrays are no trees over a schema."""
    n = _check_shapes(arrays, schema, max_nodes)
    starts = np.repeat(arrays["nodes"].cumsum() - arrays["nodes"], arrays["nodes"])
    own = np.arange(n) - starts  # the number of a node in its tree
    count = _check_links(arrays, own, starts)
    _check_questions(arrays, schema, count)
    _check_lists(arrays, schema, count)
    _check_counts(arrays, schema, own, starts)


def _check_shapes(arrays: Arrays, schema: Schema, max_nodes: int) -> int:
    """Check the lengths of arrays; return how many nodes there are."""
    nodes = arrays["nodes"]
    if nodes.ndim != 1 or not len(nodes) or not within(nodes, 1, max_nodes + 1).all():
        msg = f"a tree has no node, or more than {max_nodes}"
        raise DamageError(msg)
    n = int(nodes.sum())
    if n > max_nodes:
        msg = f"there are {n} nodes, over the limit of {max_nodes}"
        raise DamageError(msg)
    for name in (*_BY_NODE, *_ALSO_BY_NODE):
        shaped(arrays, name, (n,))
    width = 3 if schema.target.is_numeric else schema.n_classes
    shaped(arrays, "weights", (n, width))
    listed, grouped = arrays["listed"], np.isnan(arrays["cut"])
    require(within(listed, 0, 2**31 - 1), "node {} lists a negative number of values")
    shaped(arrays, "branches", (int(listed[grouped].sum()),))
    shaped(arrays, "cuts", (int(listed[~grouped].sum()),))
    return n


def _check_links(arrays: Arrays, own: Integers, starts: Integers) -> Integers:
    """Check that nodes stand in printing order; return how many children each has."""
    parent = arrays["parent"].astype(np.int64)
    root = own == 0
    require(root == (parent == -1), "node {} is a root, or none, against its tree")
    require(root | within(parent, 0, own), "node {} stands before its parent")
    above = np.where(root, np.arange(len(own)), parent + starts)
    # The depth by doubling steps: the way up to an ancestor, and on from there.
    depth, up = (~root).astype(np.int64), above
    while not root[up].all():
        depth, up = depth + depth[up], up[up]
    # In printing order the parent is the last node before that is one level above.
    places = np.arange(len(own))
    by_level = np.sort(depth * len(own) + places)
    here = np.flatnonzero(~root)
    wanted = (depth[here] - 1) * len(own) + here
    last = by_level[np.searchsorted(by_level, wanted) - 1] % len(own)
    require(last == above[here], "node {} is not in printing order", here)
    inner = arrays["attribute"] >= 0
    count = np.bincount(above[here], minlength=len(own))
    require(inner == (count > 0), "node {} asks something and has no branches, or not")
    require(~inner | (count > 1), "node {} has one branch")
    return count


def _check_questions(arrays: Arrays, schema: Schema, count: Integers) -> None:
    """Check what inner nodes ask, and that leaves ask nothing."""
    attribute, cut = arrays["attribute"], arrays["cut"]
    inner = attribute >= 0
    n_attributes = len(schema.attributes)
    require(within(attribute, -1, n_attributes), "node {} asks about no attribute")
    nothing = (cut == 0) & (arrays["missing"] == -1) & (arrays["gain"] == 0)
    nothing &= (arrays["listed"] == 0) & (arrays["absent"] == 0)
    require(inner | nothing, "leaf {} has what only inner nodes have")
    require(within(arrays["reason"], 0, len(REASONS)), "node {} has no known reason")
    require(inner == (arrays["reason"] == 0), "node {} has a reason to stop, or none")
    require(
        ~inner | within(arrays["missing"], -1, count),
        "node {} sends missing values to no branch of its own",
    )
    require(np.isfinite(arrays["gain"]), "the gain of node {} is no number")
    if not inner.any():
        return
    kinds = np.array([a.kind for a in schema.attributes])
    levels = np.array([len(a.values) for a in schema.attributes])
    nodes = np.flatnonzero(inner)
    kind, n_values, cuts = kinds[attribute[nodes]], levels[attribute[nodes]], cut[nodes]
    grouped = np.isnan(cuts)
    require(~grouped | (kind != "numeric"), "node {} groups numbers", nodes)
    require(grouped | (kind != "nominal"), "node {} cuts a nominal attribute", nodes)
    require(cuts != -np.inf, "node {} is cut at no number", nodes)
    between = (cuts == np.inf) | ((cuts >= 0) & (cuts < n_values - 1))
    require(
        grouped | (kind != "ordinal") | between, "node {} is cut at no level", nodes
    )
    expected = arrays["listed"][nodes] + 2
    require(
        grouped | (count[nodes] == expected), "node {} has branches without cuts", nodes
    )
    fitting = (arrays["listed"][nodes] >= 1) & (arrays["listed"][nodes] <= n_values)
    require(~grouped | fitting, "node {} groups values that there are not", nodes)


def _check_lists(arrays: Arrays, schema: Schema, count: Integers) -> None:
    """Check the branches of codes, and further cuts."""
    grouped = np.isnan(arrays["cut"])
    owner = np.repeat(np.arange(len(count)), np.where(grouped, arrays["listed"], 0))
    branches = arrays["branches"]
    require(
        within(branches, -1, count[owner]), "node {} sends a value to no branch", owner
    )
    # Every branch has a value, but one that only missing values may take.
    taken = np.zeros(len(count), dtype=np.int64)
    pairs = np.unique(np.stack([owner, branches])[:, branches >= 0], axis=1)
    np.add.at(taken, pairs[0].astype(np.int64), 1)
    short = count - taken
    require(
        ~grouped | (short == 0) | ((short == 1) & (arrays["missing"] >= 0)),
        "node {} has a branch that no value takes",
    )
    intervals = np.repeat(np.arange(len(count)), np.where(grouped, 0, arrays["listed"]))
    cuts = arrays["cuts"]
    first = np.append(True, intervals[1:] != intervals[:-1])[: len(cuts)]
    before = np.where(first, arrays["cut"][intervals], np.append(0.0, cuts)[:-1])
    require(cuts > before, "the cuts of node {} do not rise", intervals)


def _check_counts(
    arrays: Arrays, schema: Schema, own: Integers, starts: Integers
) -> None:
    """Check weights and numbers of rows."""
    target, rows = schema.target, arrays["rows"]
    weights = arrays["weights"].astype(np.float64)
    require(possible(weights, target), "node {} has impossible weights")
    require(amounts(rows.astype(np.float64)), "node {} has fewer than no rows")
    require((own > 0) | (rows > 0), "root {} has no rows")
    require(within(arrays["absent"], 0, rows + 1), "node {} lacks more than its rows")
    sizes = weights[:, 0] if target.is_numeric else weights.sum(axis=1)
    require((rows == 0) | (sizes > 0), "node {} has rows that weigh nothing")
    require((rows > 0) | (arrays["attribute"] < 0), "node {} divides no rows")
    inner, below = np.flatnonzero(arrays["attribute"] >= 0), np.flatnonzero(own > 0)
    sums = np.zeros_like(weights)
    np.add.at(sums, arrays["parent"][below] + starts[below], weights[below])
    fitting = close(sums[inner], weights[inner], target)
    require(fitting, "the branches of node {} do not add up to it", inner)
