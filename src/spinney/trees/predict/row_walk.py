"""Predictions of single rows, by a loop over plain lists.

A step of :mod:`spinney.trees.predict.flat_tree` takes the same time for one row or
many, which is slow for one row. Here a node is an entry in each of a few lists, and a
row a list of numbers and codes, NaN where missing::

    column   0    2   -1   -1   -1        node 0 splits on cell 0, at 1.5
    cut     1.5  nan                      node 1 splits on cell 2: it groups codes
    below    1
    above    4
    others  {}   {0: 2, 1: 3}
    missing  4   -1                       the child of missing values

Comparisons with NaN are false, whether the cell or the cut is NaN. So ``others`` and
``missing`` need no test of their own. If a row has no single child (it is divided, or
needs surrogates or a formula), its walk ends at -1, and
:class:`spinney.trees.predict.FlatTree` must predict it.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney._support.arrays import Integers
from spinney.trees.predict.flat_tree import FlatTree
from spinney.trees.tree_arrays import TreeArrays

NAN = float("nan")
NO_CHILD = -1
NO_CODES: Mapping[Any, int] = {}


@dataclass(frozen=True, slots=True)
class IntervalChildren:
    """The children of a node that cuts a number into several intervals."""

    cuts: tuple[float, ...]
    children: tuple[int, ...]

    def get(self, value: float, missing: int) -> int:
        """Return the child of a value, or the child of missing values."""
        if value != value:
            return missing
        return self.children[bisect_left(self.cuts, value)]


@dataclass(frozen=True, slots=True)
class LeafModel:
    """The linear model of a leaf; a term has a cell, a coefficient and its codes."""

    intercept: float
    terms: tuple[tuple[int, float, float, frozenset[int] | None], ...]

    def value(self, cells: Sequence[float]) -> float:
        """Return the prediction, summed in the order of ``FlatModels.values``."""
        total = 0.0
        for column, coefficient, missing, codes in self.terms:
            value = cells[column]
            if value != value:
                value = missing
            elif codes is not None:
                value = 1.0 if value in codes else 0.0
            total += coefficient * value
        return total + self.intercept


@dataclass(frozen=True, slots=True, eq=False)
class RowWalk:
    """Trees as lists, with the nodes of all trees concatenated.

    Parameters
    ----------
    column : list of int
        The cell that each node splits on, -1 at a leaf; a last -1 is for an open walk.
    cut, below, above : lists
        The threshold, and the children of values at most the threshold, and above.
    others : list of mappings
        The child of each code, or of each interval.
    missing : list of int
        The child of other cells, or -1.
    roots : list of int
        The first node of each tree.
    models : mapping of int to LeafModel
        The linear models of leaves.
    """

    column: list[int]
    cut: list[float]
    below: list[int]
    above: list[int]
    others: list[Any]
    missing: list[int]
    roots: list[int]
    models: Mapping[int, LeafModel]

    def leaf(self, cells: Sequence[float], node: int) -> int:
        """Return the leaf that a row reaches from a node, -1 if it stays open."""
        columns, cuts, below, above = self.column, self.cut, self.below, self.above
        while (column := columns[node]) >= 0:
            value, cut = cells[column], cuts[node]
            if value <= cut:
                node = below[node]
            elif value > cut:
                node = above[node]
            else:
                node = self.others[node].get(value, self.missing[node])
        return node

    def leaves(self, cells: Sequence[float]) -> list[int] | None:
        """Return the leaf of each tree; None if the row stays open in a tree."""
        leaves = []
        for root in self.roots:
            node = self.leaf(cells, root)
            if node < 0:
                return None
            leaves.append(node)
        return leaves


def row_walk_of(
    tree: FlatTree, columns: Sequence[int], *, roots: Integers | None = None
) -> RowWalk:
    """Return the lists of one tree, or of several in the same arrays.

    ``columns`` are the attributes of a row's cells, rising. The walk ends at a node or
    model that needs another attribute, which has a formula.
    """
    arrays, links = tree.arrays, tree.links
    children, first = links.children.tolist(), links.first.tolist()
    inner, models = arrays.inner, _models(arrays, columns)
    column = np.where(inner, np.searchsorted(columns, arrays.attribute), NO_CHILD)
    fallback = np.where(inner, arrays.fallback_branch, NO_CHILD)
    if arrays.surrogates is not None:
        fallback[arrays.surrogates.may_have_surrogates] = NO_CHILD
    closed = inner & ~np.isin(arrays.attribute, columns)
    closed[[node for node, model in models.items() if model is None]] = True
    column[closed], fallback[closed] = 0, NO_CHILD
    cut = np.where(closed, np.nan, arrays.cut)
    others: list[Any] = [NO_CODES] * len(arrays)
    for node in np.flatnonzero(inner & ~closed & (arrays.listed > 0)).tolist():
        children_of_node = children[first[node] : first[node] + int(links.count[node])]
        others[node] = _children_of(tree, node, children_of_node)
        cut[node] = np.nan
    child = np.append(links.children, NO_CHILD)
    begins = np.where(inner, links.first, len(links.children))
    missing = np.where(
        fallback >= 0, child[np.where(fallback >= 0, begins + fallback, 0)], NO_CHILD
    )
    return RowWalk(
        column=[*column.tolist(), NO_CHILD],
        cut=cut.tolist(),
        below=child[begins].tolist(),
        above=child[np.where(inner, begins + 1, begins)].tolist(),
        others=others,
        missing=missing.tolist(),
        roots=[0] if roots is None else roots.tolist(),
        models={node: model for node, model in models.items() if model is not None},
    )


def _children_of(tree: FlatTree, node: int, children: Sequence[int]) -> Any:
    """Return the child of each code of a node, or of its intervals."""
    arrays, size = tree.arrays, int(tree.arrays.listed[node])
    of_branches, of_cuts = (int(start[node]) for start in arrays.starts)
    if np.isnan(arrays.cut[node]):
        branches = arrays.branches[of_branches : of_branches + size].tolist()
        return {code: children[b] for code, b in enumerate(branches) if b >= 0}
    cuts = arrays.cuts[of_cuts : of_cuts + size].tolist()
    return IntervalChildren((float(arrays.cut[node]), *cuts), tuple(children))


def _models(arrays: TreeArrays, columns: Sequence[int]) -> dict[int, LeafModel | None]:
    """Return the models of leaves; None for a model that needs a formula."""
    if arrays.models is None:
        return {}
    cell_of = {attribute: cell for cell, attribute in enumerate(columns)}
    result: dict[int, LeafModel | None] = {}
    for node in np.flatnonzero(arrays.models.has & ~arrays.inner).tolist():
        model = arrays.models.model(node)
        assert model is not None
        pairs = [*zip(model.terms, model.coefficients, strict=True)]
        if not cell_of.keys() >= {term.attribute for term, _ in pairs}:
            result[node] = None
            continue
        terms = (
            (
                cell_of[term.attribute],
                coefficient,
                term.missing,
                None if term.codes is None else frozenset(term.codes),
            )
            for term, coefficient in pairs
        )
        result[node] = LeafModel(model.intercept, tuple(terms))
    return result
