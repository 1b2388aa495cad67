"""Trees in one flat layout: any number of them in a few arrays.

The children of a node are adjacent, a tree is stored level by level, and only leaves
have outputs. Node 0 belongs to no tree. A row ends there if its value is missing and
the node divides such rows, or has surrogates. A split into several intervals becomes
several binary ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, ramps
from spinney.trees.costs import labels_of
from spinney.trees.predict.compiled.kernels.walk import (
    BY_TABLE,
    MOST_ATTRIBUTES,
    MOST_NODES,
    OPEN,
)
from spinney.trees.predict.flat_tree import FlatTree

# Columns of ``nodes``. The first two are the cut; of a leaf its number among leaves,
# and of a node that groups codes where its table begins, stand in the first alone.
FIRST, CHILDREN, ROUTE = 0, 2, 3
NO_CUT = int(np.float64(np.nan).view(np.int64) >> 32)  # the upper half of a NaN


class TreeLayout(NamedTuple):
    """Any number of trees in a few arrays, laid out to predict many rows.

    Parameters
    ----------
    nodes : nodes × 4
        The cut (64 bits), the first child, and four times the attribute plus the branch
        of missing values.
    tables : array of int32
        For each node that groups codes: the number of codes that follow, the branch of
        other codes, and the branch of each code; -1 if the row stays open.
    trees : trees × 2
        Root and depth.
    outputs : leaves × outputs
        The prediction of each leaf.
    numbers : array of int32
        The number of each leaf among the nodes of its tree.
    """

    nodes: NDArray[np.int32]
    tables: NDArray[np.int32]
    trees: NDArray[np.int64]
    outputs: Floats
    numbers: NDArray[np.int32]

    @property
    def needed(self) -> Integers:
        """The attributes that some node splits on."""
        inner = self.nodes[:, CHILDREN] != np.arange(len(self.nodes))
        used = self.nodes[inner, ROUTE] >> 2
        return np.flatnonzero(np.bincount(used)) if len(used) else np.zeros(0, int)

    @property
    def has_tables(self) -> bool:
        """Whether some node groups codes."""
        return len(self.tables) > 0


@dataclass(frozen=True, slots=True)
class LinkedNodes:
    """The nodes of trees with links to their children, before sorting.

    ``table`` is the start of a node's table, -1 for a threshold, and ``missing`` the
    branch of missing values, or -1. Children are ``children[first : first + count]``.
    """

    attribute: NDArray[np.integer]
    cut: Floats
    table: Integers
    missing: Integers
    first: Integers
    count: Integers
    children: Integers


def tree_layout(tree: FlatTree, roots: Integers | None = None) -> TreeLayout:
    """Return the layout of a tree, or of several in the same arrays."""
    arrays, links = tree.arrays, tree.links
    fallback = arrays.fallback_branch
    if arrays.surrogates is not None:
        fallback = np.where(arrays.surrogates.may_have_surrogates, -1, fallback)
    grouped = np.flatnonzero(arrays.inner & np.isnan(arrays.cut))
    size = arrays.in_branches[grouped]
    owner, code = np.repeat(np.arange(len(grouped)), size), ramps(size)
    table_start = (size + 2).cumsum() - (size + 2)
    tables = np.repeat(fallback[grouped], size + 2)
    tables[table_start] = size
    branch = arrays.branches
    tables[table_start[owner] + 2 + code] = np.where(
        branch < 0, fallback[grouped][owner], branch
    )
    table = np.full(len(fallback), -1)
    table[grouped] = table_start
    nodes = LinkedNodes(
        arrays.attribute,
        arrays.cut,
        table,
        fallback,
        links.first,
        links.count,
        links.children,
    )
    if arrays.in_cuts.any():
        nodes = _with_binary_cuts(nodes, arrays.in_cuts, arrays.cuts)
    roots = np.zeros(1, np.int64) if roots is None else roots
    return _by_levels(nodes, tables, tree.distribution, roots)


def _with_binary_cuts(
    nodes: LinkedNodes, n_further: Integers, cuts: Floats
) -> LinkedNodes:
    """Return the nodes with one ``n_further`` for each further cut of a node.

    ::

        ≤ 1   1 … 2   > 2          ≤ 1  > 1
         a      b      c    →       a   ≤ 2  > 2
                                         b    c
    """
    n, several = len(n_further), np.flatnonzero(n_further)
    # One line per cut, those that stay at their nodes first: ``target`` is its node.
    owner = np.concatenate([several, np.repeat(np.arange(n), n_further)])
    order = np.concatenate([np.zeros_like(several), 1 + ramps(n_further)])
    added = n + np.arange(len(cuts))
    target = np.concatenate([several, added])
    next_cut = np.concatenate(
        [n + (n_further.cumsum() - n_further)[several], added + 1]
    )
    left = nodes.children[nodes.first[owner] + order]
    last = nodes.children[nodes.first[owner] + n_further[owner] + 1]
    right = np.where(order == n_further[owner], last, next_cut)
    branch = nodes.missing[owner]

    def extended(old: NDArray[Any], values: Any) -> NDArray[Any]:
        whole = np.append(old, np.zeros(len(added), old.dtype))
        whole[target] = values
        return whole

    return LinkedNodes(
        attribute=extended(nodes.attribute, nodes.attribute[owner]),
        cut=np.append(nodes.cut, cuts),
        table=extended(nodes.table, -1),
        missing=extended(
            nodes.missing, np.where(branch < 0, -1, np.clip(branch - order, 0, 1))
        ),
        first=extended(nodes.first, len(nodes.children) + 2 * np.arange(len(target))),
        count=extended(nodes.count, 2),
        children=np.append(nodes.children, np.stack([left, right], axis=1)),
    )


def _by_levels(
    linked: LinkedNodes, tables: Integers, outputs: Floats, roots: Integers
) -> TreeLayout:
    """Return the nodes in order: tree after tree, and each tree level by level."""
    levels, trees = [roots], [np.arange(len(roots))]
    while True:
        is_inner = linked.count[levels[-1]] > 0
        inner = levels[-1][is_inner]
        if not len(inner):
            break
        counts = linked.count[inner]
        edges = np.repeat(linked.first[inner], counts) + ramps(counts)
        levels.append(linked.children[edges])
        trees.append(np.repeat(trees[-1][is_inner], counts))
    tree = np.concatenate(trees)
    by_tree = np.argsort(tree, kind="stable")
    tree, order = tree[by_tree], np.concatenate(levels)[by_tree]
    level = np.repeat(np.arange(len(levels)), [len(table) for table in levels])[by_tree]
    ends = np.bincount(tree).cumsum()
    starts = np.append(0, ends[:-1])
    counts = linked.count[order]
    is_leaf = counts == 0
    leaves = order[is_leaf]
    nodes = np.zeros((len(order) + 1, 4), np.int32)
    nodes[0] = -1, NO_CUT, 0, 0
    table = nodes[1:]
    table.view(np.float64)[:, 0] = linked.cut[order]
    table[is_leaf, 1] = NO_CUT
    table[is_leaf, FIRST] = np.arange(len(leaves))
    by_table = linked.table[order] >= 0
    table[by_table, FIRST] = linked.table[order][by_table]
    # A root is the first of its tree, and the children of all nodes follow in order.
    first_child = 2 + tree + counts.cumsum() - counts
    table[:, CHILDREN] = np.where(is_leaf, 1 + np.arange(len(order)), first_child)
    missing = linked.missing[order]
    route = np.where(by_table, BY_TABLE, np.where(missing < 0, OPEN, missing))
    route_word = 4 * linked.attribute[order] + route
    table[:, ROUTE] = np.where(is_leaf, 0, route_word)
    return TreeLayout(
        nodes,
        tables.astype(np.int32),
        np.stack([1 + starts, level[ends - 1]], axis=1),
        np.ascontiguousarray(outputs[leaves], np.float64),
        (leaves - roots[tree[is_leaf]]).astype(np.int32),
    )


def majority(
    flat: TreeLayout, costs: Sequence[Sequence[float]] | None = None
) -> TreeLayout:
    """Return the layout with a whole vote for the label of each leaf."""
    votes = np.zeros_like(flat.outputs)
    votes[np.arange(len(votes)), labels_of(flat.outputs, costs)] = 1.0
    return flat._replace(outputs=votes)


def pack_nodes(flat: TreeLayout) -> NDArray[np.uint64]:
    """Return the nodes of trees without tables as words, for float32 cells.

    The result is empty if a tree has too many nodes or attributes; see
    ``kernels/walk.py``. A float32 value is above a cut c if and only if it is above the
    greatest float32 that is at most c.
    """
    roots = flat.trees[:, 0]
    sizes = np.diff(roots, append=len(flat.nodes))
    attribute = flat.nodes[1:, ROUTE] >> 2
    if sizes.max() > MOST_NODES or attribute.max() >= MOST_ATTRIBUTES:
        return np.zeros(0, np.uint64)
    exact = flat.nodes.view(np.float64)[1:, 0]
    with np.errstate(over="ignore"):
        cut = exact.astype(np.float32)
    is_above = cut > exact
    cut[is_above] = np.nextafter(cut[is_above], np.float32(-np.inf))
    words = np.zeros((len(flat.nodes), 2), np.uint32)
    words[1:, 0] = cut.view(np.uint32)
    child = flat.nodes[1:, CHILDREN] - np.repeat(roots, sizes)
    words[1:, 1] = attribute | child << 8
    return words.view(np.uint64)[:, 0]
