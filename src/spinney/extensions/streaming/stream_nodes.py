"""The current tree of a stream, as an ordinary tree.

An inner node has the rows of its leaves. When a leaf splits, its children start with
the rows of its table. Rows inherited from its parent are dropped, because their
branches are unknown. So the counts of a tree add up, for fewer rows than the stream
had.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.data import Schema
from spinney.extensions.streaming.kernels import layout
from spinney.extensions.streaming.kernels.layout import Stream, StreamNodes
from spinney.growth.forest import CompactNodes
from spinney.recipes import Recipe
from spinney.trees import (
    Candidate,
    LazyNodes,
    Reason,
    Tree,
    TreeArrays,
    printing_places,
    reason_codes,
)


def snapshot_tree(stream: Stream, schema: Schema, recipe: Recipe) -> Tree:
    """Return the tree that a stream has grown so far; further rows do not change it."""
    parts = stream.nodes._asdict()
    codes = parts.pop("branch_by_code")[: stream.state[layout.N_CODES]].copy()
    live = {
        name: part[: stream.state[layout.N_NODES]].copy()
        for name, part in parts.items()
    }
    return Tree(
        schema, StreamedNodes(StreamNodes(**live, branch_by_code=codes), schema, recipe)
    )


@dataclass(frozen=True, eq=False)
class StreamedNodes(LazyNodes):
    """A snapshot of the nodes of a stream, put in printing order on first access."""

    grown: StreamNodes
    schema: Schema
    recipe: Recipe

    @cached_property
    def _compact(self) -> CompactNodes:
        arrays = tree_arrays(self.grown, self.schema, self.recipe)
        return CompactNodes(arrays, self.schema, self.recipe)

    def _arrays(self) -> TreeArrays:
        return self._compact.arrays

    def candidates(self, number: int) -> tuple[tuple[Candidate, ...], int | None]:
        """Return the split that won, with the counts of its branches."""
        return self._compact.candidates(number)


def tree_arrays(live: StreamNodes, schema: Schema, recipe: Recipe) -> TreeArrays:
    """Return nodes in printing order; inner nodes have the rows of their leaves."""
    order, parent = _printing_order(live)
    inner = live.attribute[order] >= 0
    weights = _sums_below(live.weights[order], parent, inner)
    rows = _sums_below(live.rows[order], parent, inner)
    by_value = inner & (live.codes[order] >= 0)
    values = np.array([len(a.values) for a in schema.attributes] or [0], np.int64)
    listed = np.where(by_value, values[live.attribute[order]], 0)
    starts = [live.codes[node] for node in order[by_value]]
    tables = [
        live.branch_by_code[start : start + size]
        for start, size in zip(starts, listed[by_value], strict=True)
    ]
    return TreeArrays(
        attribute=np.where(inner, live.attribute[order], -1).astype(np.int32),
        cut=np.where(inner, live.cut[order], 0.0),
        listed=listed.astype(np.int32),
        branches=np.concatenate([np.zeros(0, np.int64), *tables]).astype(np.int32),
        cuts=np.zeros(0),
        parent=parent.astype(np.int32),
        missing=np.where(inner, live.missing[order], -1).astype(np.int32),
        gain=_gains(weights, parent, inner, recipe),
        weights=weights,
        rows=rows,
        absent=np.zeros(len(order), np.int64),
        reason=_leaf_reasons(weights, rows, live.depth[order], inner, recipe),
    )


def _printing_order(nodes: StreamNodes) -> tuple[Integers, Integers]:
    """Return the nodes in printing order, and the index of each node's parent."""
    live = np.flatnonzero(nodes.attribute != layout.REMOVED)
    by_depth = live[np.argsort(nodes.depth[live], kind="stable")]
    ends = np.cumsum(np.bincount(nodes.depth[live]))[:-1]
    places = printing_places(nodes.parent, np.split(by_depth, ends))
    order = live[np.argsort(places[live])]
    return order, np.append(places, -1)[nodes.parent[order]]


def _sums_below(
    leaf_values: NDArray[Any], parent: Integers, inner: NDArray[np.bool_]
) -> NDArray[Any]:
    """Return each node's sum of the values of its leaves."""
    sums = leaf_values.copy()
    sums[inner] = 0
    for node in range(len(parent) - 1, 0, -1):  # children follow their parents
        sums[parent[node]] += sums[node]
    return sums


def _gains(
    weights: Floats, parent: Integers, inner: NDArray[np.bool_], recipe: Recipe
) -> Floats:
    """Return the gain of each split, on the rows of the leaves below it."""
    impurity = recipe.measure(numeric=False).impurity
    assert impurity is not None
    sizes = weights.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        impurities = np.where(sizes > 0, impurity(weights) * sizes, 0.0)
    below = np.zeros(len(impurities))
    np.add.at(below, parent[1:], impurities[1:])
    gains = np.where(inner & (sizes > 0), impurities - below, 0.0)
    return np.maximum(gains / np.where(sizes > 0, sizes, 1.0), 0.0)


def _leaf_reasons(
    weights: Floats,
    rows: Integers,
    depth: Integers,
    inner: NDArray[np.bool_],
    recipe: Recipe,
) -> NDArray[np.int8]:
    """Return why leaves are leaves: most have too few rows to decide."""
    none, undecided, pure, empty, deep = reason_codes(
        None, Reason.UNDECIDED, Reason.PURE, Reason.EMPTY, Reason.DEPTH
    )
    reasons = np.full(len(rows), undecided, np.int8)
    if recipe.max_depth is not None:
        reasons[depth >= recipe.max_depth] = deep
    reasons[np.count_nonzero(weights, axis=1) == 1] = pure
    reasons[rows == 0] = empty
    reasons[inner] = none
    return reasons
