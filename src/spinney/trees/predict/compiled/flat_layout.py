"""Trees in one flat layout: any number of them in a few arrays.

The children of a node stand next to each other, a tree level by level, and only leaves
have outputs. Node 0 belongs to no tree: there a row ends whose value is missing
where the node divides such rows, or asks surrogates. An attribute that is cut into
several intervals is asked about several times.
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
FIRST, CHILDREN, QUESTION = 0, 2, 3
NO_CUT = int(np.float64(np.nan).view(np.int64) >> 32)  # the upper half of a NaN


class TreeLayout(NamedTuple):
    """Any number of trees in a few arrays, laid out to predict many rows.

    Parameters
    ----------
    nodes : nodes × 4
        The cut (64 bits), the first child, and four times the attribute plus where a
        missing value goes.
    tables : array of int32
        For each node that groups codes: how many codes follow, the branch of all
        others, and the branch of each; -1 where a row stays open.
    trees : trees × 2
        Root and depth.
    outputs : leaves × outputs
        What each leaf predicts.
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
        """The attributes that some node asks about."""
        inner = self.nodes[:, CHILDREN] != np.arange(len(self.nodes))
        asked = self.nodes[inner, QUESTION] >> 2
        return np.flatnonzero(np.bincount(asked)) if len(asked) else np.zeros(0, int)

    @property
    def has_tables(self) -> bool:
        """Whether some node groups codes."""
        return len(self.tables) > 0


@dataclass(frozen=True, slots=True)
class Asked:
    """The nodes of trees, before they are put in order.

    ``table`` is where the table of a node begins, -1 where it cuts; ``missing`` the
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
    """Lay a tree out again, or several that stand in the same arrays."""
    arrays, links = tree.arrays, tree.links
    last = arrays.fallback_branch
    if arrays.surrogates is not None:
        last = np.where(arrays.surrogates.may_have_surrogates, -1, last)
    grouped = np.flatnonzero(arrays.inner & np.isnan(arrays.cut))
    size = arrays.in_branches[grouped]
    owner, code = np.repeat(np.arange(len(grouped)), size), ramps(size)
    begin = (size + 2).cumsum() - (size + 2)
    tables = np.repeat(last[grouped], size + 2)
    tables[begin] = size
    branch = arrays.branches
    tables[begin[owner] + 2 + code] = np.where(branch < 0, last[grouped][owner], branch)
    table = np.full(len(last), -1)
    table[grouped] = begin
    nodes = Asked(
        arrays.attribute,
        arrays.cut,
        table,
        last,
        links.first,
        links.count,
        links.children,
    )
    if arrays.in_cuts.any():
        nodes = _unrolled(nodes, arrays.in_cuts, arrays.cuts)
    roots = np.zeros(1, np.int64) if roots is None else roots
    return _laid_out(nodes, tables, tree.distribution, roots)


def _unrolled(nodes: Asked, more: Integers, cuts: Floats) -> Asked:
    """Return the nodes with one ``more`` for each further cut of a node.

    ::

        ≤ 1   1 … 2   > 2          ≤ 1  > 1
         a      b      c    →       a   ≤ 2  > 2
                                         b    c
    """
    n, several = len(more), np.flatnonzero(more)
    # One line per cut, those that stay at their nodes first: ``at`` is its node.
    of = np.concatenate([several, np.repeat(np.arange(n), more)])
    order = np.concatenate([np.zeros_like(several), 1 + ramps(more)])
    new = n + np.arange(len(cuts))
    at = np.concatenate([several, new])
    next_cut = np.concatenate([n + (more.cumsum() - more)[several], new + 1])
    left = nodes.children[nodes.first[of] + order]
    last = nodes.children[nodes.first[of] + more[of] + 1]
    right = np.where(order == more[of], last, next_cut)
    branch = nodes.missing[of]

    def extended(old: NDArray[Any], values: Any) -> NDArray[Any]:
        whole = np.append(old, np.zeros(len(new), old.dtype))
        whole[at] = values
        return whole

    return Asked(
        attribute=extended(nodes.attribute, nodes.attribute[of]),
        cut=np.append(nodes.cut, cuts),
        table=extended(nodes.table, -1),
        missing=extended(
            nodes.missing, np.where(branch < 0, -1, np.clip(branch - order, 0, 1))
        ),
        first=extended(nodes.first, len(nodes.children) + 2 * np.arange(len(at))),
        count=extended(nodes.count, 2),
        children=np.append(nodes.children, np.stack([left, right], axis=1)),
    )


def _laid_out(
    asked: Asked, tables: Integers, outputs: Floats, roots: Integers
) -> TreeLayout:
    """Put nodes in order: tree after tree, and each level by level."""
    levels, trees = [roots], [np.arange(len(roots))]
    while True:
        goes_on = asked.count[levels[-1]] > 0
        inner = levels[-1][goes_on]
        if not len(inner):
            break
        counts = asked.count[inner]
        edges = np.repeat(asked.first[inner], counts) + ramps(counts)
        levels.append(asked.children[edges])
        trees.append(np.repeat(trees[-1][goes_on], counts))
    tree = np.concatenate(trees)
    by_tree = np.argsort(tree, kind="stable")
    tree, order = tree[by_tree], np.concatenate(levels)[by_tree]
    level = np.repeat(np.arange(len(levels)), [len(own) for own in levels])[by_tree]
    ends = np.bincount(tree).cumsum()
    starts = np.append(0, ends[:-1])
    counts = asked.count[order]
    is_leaf = counts == 0
    leaves = order[is_leaf]
    nodes = np.zeros((len(order) + 1, 4), np.int32)
    nodes[0] = -1, NO_CUT, 0, 0
    own = nodes[1:]
    own.view(np.float64)[:, 0] = asked.cut[order]
    own[is_leaf, 1] = NO_CUT
    own[is_leaf, FIRST] = np.arange(len(leaves))
    by_table = asked.table[order] >= 0
    own[by_table, FIRST] = asked.table[order][by_table]
    # A root is the first of its tree, and the children of all nodes follow in order.
    below = 2 + tree + counts.cumsum() - counts
    own[:, CHILDREN] = np.where(is_leaf, 1 + np.arange(len(order)), below)
    missing = asked.missing[order]
    way = np.where(by_table, BY_TABLE, np.where(missing < 0, OPEN, missing))
    question = 4 * asked.attribute[order] + way
    own[:, QUESTION] = np.where(is_leaf, 0, question)
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
    """Return the nodes of trees without tables as words, for cells of float32.

    None where a tree has too many nodes or attributes; see ``loops/walk.py``. A value
    v of float32 is above a cut c if and only if it is above the greatest number of
    float32 that is no greater than c.
    """
    roots = flat.trees[:, 0]
    sizes = np.diff(roots, append=len(flat.nodes))
    attribute = flat.nodes[1:, QUESTION] >> 2
    if sizes.max() > MOST_NODES or attribute.max() >= MOST_ATTRIBUTES:
        return np.zeros(0, np.uint64)
    exact = flat.nodes.view(np.float64)[1:, 0]
    with np.errstate(over="ignore"):
        cut = exact.astype(np.float32)
    above = cut > exact
    cut[above] = np.nextafter(cut[above], np.float32(-np.inf))
    words = np.zeros((len(flat.nodes), 2), np.uint32)
    words[1:, 0] = cut.view(np.uint32)
    below = flat.nodes[1:, CHILDREN] - np.repeat(roots, sizes)
    words[1:, 1] = attribute | below << 8
    return words.view(np.uint64)[:, 0]
