"""A tree as arrays, the form of forests, predictions and files.

Nodes are in printing order, one line per node. Small trees, such as those of a forest,
omit the optional arrays, which can be computed from the others. Many trees may be
packed into the arrays of one, to be predicted, stored and counted together.
"""

from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, ramps
from spinney._support.segments import begins_run
from spinney.data import Target
from spinney.trees.linear import FlatModels, flat_models
from spinney.trees.node import Candidate, Node, Reason, reason_codes
from spinney.trees.split import Split, Surrogate
from spinney.trees.split_arrays import (
    RoutingArrays,
    SplitArrays,
    arrays_of_splits,
    routing_of_splits,
    splits_of_routing,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class SurrogateArrays(RoutingArrays):
    """The surrogates of all nodes, one line per surrogate, in the order of the nodes.

    ``count`` is the number of a node's surrogates; ``reversed`` ones exchange branches.
    """

    count: Integers
    agreement: Floats
    adjusted: Floats
    reversed: NDArray[np.bool_]

    @cached_property
    def first(self) -> Integers:
        """The first surrogate of each node."""
        return self.count.cumsum() - self.count

    @property
    def may_have_surrogates(self) -> NDArray[np.bool_]:
        """Whether each node may have surrogates."""
        return self.count > 0

    @property
    def possible_attributes(self) -> Integers:
        """The attributes that surrogates may split on."""
        return self.attribute.astype(np.int64)

    def branches_of(self, lines: Integers, values: Floats) -> Integers:
        """Return the node's branch of each value, as in :class:`RoutingArrays`."""
        branch = super().branches_of(lines, values)
        return np.where(self.reversed[lines] & (branch >= 0), 1 - branch, branch)

    def of_nodes(
        self, nodes: Integers, is_split: NDArray[np.bool_]
    ) -> "SurrogateArrays":
        """Return the surrogates of some nodes; none for nodes not in ``is_split``."""
        count = np.where(is_split, self.count[nodes], 0)
        lines = np.repeat(self.first[nodes], count) + ramps(count)
        return SurrogateArrays(
            **self.subset(lines, np.ones(len(lines), np.bool_)),
            count=count,
            agreement=self.agreement[lines],
            adjusted=self.adjusted[lines],
            reversed=self.reversed[lines],
        )

    @cached_property
    def splits(self) -> SplitArrays:
        """The splits of the surrogates."""
        n = len(self)
        n_branches, missing = np.full(n, 2), np.full(n, -1)
        return splits_of_routing(self, n_branches=n_branches, missing=missing)

    def surrogate(self, line: int) -> Surrogate:
        """Return the surrogate of a line."""
        return Surrogate(
            self.splits.split(line),
            float(self.agreement[line]),
            float(self.adjusted[line]),
            bool(self.reversed[line]),
        )


class LazySurrogates(SurrogateArrays):
    """Surrogates that are found when one of their arrays is first read.

    A tree without missing cells grows without surrogates. ``find`` finds the surrogates
    of the nodes that ``may_have_surrogates``, among ``n_attributes``.
    """

    _may_have_surrogates: NDArray[np.bool_]
    _n_attributes: int
    _find: Callable[[], SurrogateArrays]

    def __init__(
        self,
        may_have_surrogates: NDArray[np.bool_],
        n_attributes: int,
        find: Callable[[], SurrogateArrays],
    ) -> None:
        # They are frozen. The fields stay unset, so that ``__getattr__`` is called.
        vars(self).update(
            _may_have_surrogates=may_have_surrogates,
            _n_attributes=n_attributes,
            _find=find,
        )

    @cached_property
    def _found(self) -> SurrogateArrays:
        return self._find()

    def __getattr__(self, name: str) -> Any:
        """Return a field of the surrogates, finding them first."""
        if name.startswith("_"):  # a copy looks for it before it has anything
            raise AttributeError(name)
        return getattr(self._found, name)

    @property
    def may_have_surrogates(self) -> NDArray[np.bool_]:
        """The nodes that may have surrogates."""
        return self._may_have_surrogates

    @property
    def possible_attributes(self) -> Integers:
        """All attributes."""
        return np.arange(self._n_attributes)

    def of_nodes(self, nodes: Integers, is_split: NDArray[np.bool_]) -> SurrogateArrays:
        """Return the surrogates of some nodes, not yet found."""
        return LazySurrogates(
            is_split & self._may_have_surrogates[nodes],
            self._n_attributes,
            lambda: self._found.of_nodes(nodes, is_split),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Store the found surrogates, without the rows, in a copy or a pickle."""
        return copy, (self._found,)


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """The children of all nodes, by parent, with branches and depths.

    The children of a node are ``children[first : first + count]``. ``branch`` is the
    index of a node among its siblings, ``depth`` the number of splits above it.
    """

    children: Integers
    first: Integers
    count: Integers
    branch: Integers
    depth: Integers


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeArrays(RoutingArrays):
    """A finished tree as arrays: its splits, and one line for each node.

    Growers return it, a forest keeps it, a model file stores it.

    Parameters
    ----------
    parent : array of int32
        The parent of each node; -1 at the root. The order of children is the order of
        branches.
    missing : array of int16 or int32
        The branch of missing values; -1 if such rows are divided, and at leaves.
    gain : array of float64
        The gain of the split; 0 at a leaf.
    weights : array of float32 or float64, nodes × classes, or × 3
        The class weights, or the moments; single precision where that is exact.
    rows, absent : arrays of int32 or int64
        The number of rows at the node, and of rows without a value of its attribute.
    reason : array of int8
        The code of the reason why the node is a leaf.
    outputs : nodes × classes, or × 1, optional
        The prediction of each node.
    shares : array of float64, optional
        The fraction of a divided row for each child, in the order of
        ``links().children``.
    forced : array of bool, optional
        Whether a user has forced the split.
    default_branch : array of int32, optional
        The branch of rows without a branch by the split or a surrogate, or -1.
    surrogates, models : SurrogateArrays, FlatModels, optional
        Surrogate splits, and linear models.
    """

    parent: NDArray[np.integer]
    missing: NDArray[np.integer]
    gain: Floats
    weights: NDArray[np.floating]
    rows: NDArray[np.integer]
    absent: NDArray[np.integer]
    reason: NDArray[np.int8]
    outputs: Floats | None = None
    shares: Floats | None = None
    forced: NDArray[np.bool_] | None = None
    default_branch: NDArray[np.integer] | None = None
    surrogates: SurrogateArrays | None = None
    models: FlatModels | None = None

    @property
    def inner(self) -> NDArray[np.bool_]:
        """Whether each node has a split."""
        return np.asarray(self.attribute >= 0)

    @property
    def asked(self) -> list[int]:
        """The attributes that nodes split on, in their order."""
        asked: list[int] = np.unique(self.attribute[self.inner]).tolist()
        return asked

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return int(np.count_nonzero(self.attribute < 0))

    @property
    def predicted(self) -> Floats:
        """The predicted number of each node, for a numeric target, without models."""
        assert self.outputs is not None
        return self.outputs[:, 0]

    @cached_property
    def _splits(self) -> tuple[Integers, SplitArrays]:
        """The inner nodes, and their splits."""
        inner = np.flatnonzero(self.inner)
        asked = RoutingArrays(**self.subset(inner, np.ones(len(inner), np.bool_)))
        return inner, splits_of_routing(
            asked,
            n_branches=self.links().count[inner],
            missing=self.missing[inner],
            shares=self.shares,
        )

    def split(self, node: int) -> Split:
        """Return the split of an inner node."""
        inner, splits = self._splits
        return splits.split(int(np.searchsorted(inner, node)))

    @property
    def depth(self) -> Integers:
        """The number of splits above each node."""
        return self.links().depth

    @property
    def fallback_branch(self) -> Integers:
        """The branch of all other rows; -1 if they are divided."""
        missing = self.missing.astype(np.int64)
        if self.default_branch is None:
            return missing
        return np.where(self.default_branch >= 0, self.default_branch, missing)

    def weight(self, target: Target) -> Floats:
        """Return the weight of each node."""
        if target.is_numeric:
            return np.asarray(self.weights[:, 0], dtype=np.float64)
        if self.weights.dtype == np.float32:  # whose sums are exact
            return np.asarray(np.einsum("ij->i", self.weights, dtype=np.float64))
        return np.asarray(self.weights.sum(axis=1, dtype=np.float64))

    def improvements(self, target: Target) -> Floats:
        """Return the improvement by each node: its gain times its weight."""
        return np.asarray(self.weight(target) * np.maximum(self.gain, 0.0))

    def links(self) -> Links:
        """Return the children of all nodes, their branches and depths."""
        return links_of(self.parent)

    def cut_back(
        self, numbers: Collection[int], reason: Reason
    ) -> tuple["TreeArrays", Integers]:
        """Return the tree with some nodes as leaves, and the old numbers of its nodes.

        Descendants of these nodes are removed; ``reason`` becomes their reason.
        """
        is_cut = np.zeros(len(self), np.bool_)
        is_cut[list(numbers)] = True
        is_cut &= self.inner
        is_end, is_gone = is_cut.tolist(), [False] * len(self)
        for node, above in enumerate(self.parent.tolist()):  # parents come first
            is_gone[node] = above >= 0 and (is_gone[above] or is_end[above])
        is_kept = ~np.array(is_gone)
        former = np.flatnonzero(is_kept)
        renumbered = np.append(np.cumsum(is_kept) - 1, -1)
        is_split = self.inner[former] & ~is_cut[former]

        def of_inner(values: NDArray[Any], other: int) -> NDArray[Any]:
            return np.where(is_split, values[former], other).astype(values.dtype)

        def optional(values: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if values is None else values[former]

        reasons = np.where(is_cut, reason_codes(reason), self.reason)
        shares, surrogates = self.shares, self.surrogates
        default = self.default_branch
        smaller = TreeArrays(
            **self.subset(former, is_split),
            parent=renumbered[self.parent[former]].astype(np.int32),
            missing=of_inner(self.missing, -1),
            gain=of_inner(self.gain, 0),
            weights=self.weights[former],
            rows=self.rows[former],
            absent=of_inner(self.absent, 0),
            reason=reasons[former].astype(np.int8),
            outputs=optional(self.outputs),
            shares=None
            if shares is None
            else shares[is_kept[_children(self.parent)[0]]],
            forced=optional(self.forced),
            default_branch=None if default is None else of_inner(default, -1),
            surrogates=None
            if surrogates is None
            else surrogates.of_nodes(former, is_split),
            models=None if self.models is None else self.models.of_nodes(former),
        )
        return smaller, former

    def shares_by_weight(self, target: Target) -> Floats:
        """Return each child's fraction of the weight of its siblings."""
        order, _, _ = _children(self.parent)
        parent, sizes = self.parent[order], self.weight(target)[order]
        with np.errstate(invalid="ignore", divide="ignore"):
            below = np.bincount(parent, sizes, minlength=len(self))
            return np.asarray(sizes / below[parent])


def _children(parent: NDArray[np.integer]) -> tuple[Integers, Integers, Integers]:
    below = parent >= 0
    order = np.argsort(parent, kind="stable")[np.count_nonzero(~below) :]
    count = np.bincount(parent[below], minlength=len(parent))
    return order, count.cumsum() - count, count


def links_of(parent: NDArray[np.integer]) -> Links:
    """Return the links of nodes from their parents, which come before them."""
    children, first, count = _children(parent)
    branch, depth = np.zeros((2, len(parent)), dtype=np.int64)
    branch[children] = np.arange(len(children)) - first[parent[children]]
    nodes, level = np.flatnonzero(parent < 0), 0
    while len(nodes):
        depth[nodes] = level
        counts = count[nodes]
        nodes = children[np.repeat(first[nodes], counts) + ramps(counts)]
        level += 1
    return Links(children, first, count, branch, depth)


def printing_places(
    parent: NDArray[np.integer], levels: Sequence[Integers]
) -> Integers:
    """Return the place of each node in printing order; -1 where it is in no level.

    ``levels`` have the nodes of each depth, siblings side by side, the root first.

    >>> levels = [np.array([0]), np.array([1, 2]), np.array([3, 4])]
    >>> printing_places(np.array([-1, 0, 0, 1, 1]), levels)
    array([0, 1, 4, 2, 3])
    """
    sizes, places = np.ones(len(parent), np.int64), np.full(len(parent), -1)
    for level in reversed(levels[1:]):
        np.add.at(sizes, parent[level], sizes[level])
    places[levels[0]] = 0
    for level in levels[1:]:
        # How many nodes stand before, among those of this level that have one parent.
        before = np.cumsum(sizes[level]) - sizes[level]
        eldest = np.where(begins_run(parent[level]), np.arange(len(level)), 0)
        before -= before[np.maximum.accumulate(eldest)]
        places[level] = places[parent[level]] + 1 + before
    return places


# The arrays of every tree, in the order of the files of forests.
NEEDED = (
    *("attribute", "parent", "cut", "missing", "gain", "weights", "rows", "absent"),
    *("reason", "listed", "branches", "cuts"),
)
BY_NODE = tuple(set(NEEDED) - {"parent", "branches", "cuts"})


@dataclass(frozen=True, eq=False)
class PackedTrees(Sequence[TreeArrays]):
    """Many compact trees in shared arrays; each tree is a view, made on request.

    Parameters
    ----------
    whole : TreeArrays
        The nodes of all trees, numbered consecutively, as are their parents.
    roots : array of int
        The root of each tree.
    """

    whole: TreeArrays
    roots: Integers

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.roots)

    @property
    def sizes(self) -> Integers:
        """The number of nodes of each tree."""
        return np.diff(self.roots, append=len(self.whole))

    @overload
    def __getitem__(self, number: int) -> TreeArrays: ...
    @overload
    def __getitem__(self, number: slice) -> "PackedTrees": ...
    def __getitem__(self, number: int | slice) -> "TreeArrays | PackedTrees":
        """Return a tree by itself, or some that follow each other."""
        if isinstance(number, slice):
            first, last, _ = number.indices(len(self))
            roots = self.roots[first:last]
            return PackedTrees(self._of(first, last), roots - roots[:1])
        first = range(len(self))[number]
        return self._of(first, first + 1)

    def _of(self, first: int, last: int) -> TreeArrays:
        whole, ends = self.whole, np.append(self.roots, len(self.whole))
        if first == 0 and last == len(self):
            return whole
        start, end = int(ends[first]), int(ends[max(first, last)])
        in_branches, in_cuts = self._entries
        parent = whole.parent[start:end]
        return TreeArrays(
            **{name: getattr(whole, name)[start:end] for name in BY_NODE},
            parent=np.where(parent < 0, -1, parent - start).astype(np.int32),
            branches=whole.branches[in_branches[start] : in_branches[end]],
            cuts=whole.cuts[in_cuts[start] : in_cuts[end]],
        )

    @cached_property
    def _entries(self) -> tuple[Integers, Integers]:
        """The bounds of the entries of nodes in ``branches`` and ``cuts``."""
        in_branches, in_cuts = self.whole.in_branches, self.whole.in_cuts
        return np.append(0, in_branches.cumsum()), np.append(0, in_cuts.cumsum())


def joined(parts: Sequence[TreeArrays | PackedTrees]) -> PackedTrees:
    """Return trees, or packed trees, as one sequence of packed trees."""
    rows = [
        part if isinstance(part, PackedTrees) else PackedTrees(part, np.zeros(1, int))
        for part in parts
    ]
    if len(rows) == 1:
        return rows[0]
    sizes = np.array([len(row.whole) for row in rows])
    starts = sizes.cumsum() - sizes
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(row.whole, name) for row in rows])
        for name in NEEDED
    }
    parent = arrays["parent"]
    moved = parent + np.repeat(starts, sizes)
    arrays["parent"] = np.where(parent < 0, -1, moved).astype(np.int32)
    roots = [row.roots + start for row, start in zip(rows, starts, strict=True)]
    return PackedTrees(TreeArrays(**arrays), np.concatenate(roots))


def winner_arrays(
    is_split: NDArray[np.bool_], splits: SplitArrays, gain: Floats, n_missing: Integers
) -> dict[str, Any]:
    """Return the fields of ``TreeArrays`` for the winning splits of inner nodes.

    ``is_split`` marks the inner nodes; ``n_missing`` is their number of rows with a
    missing value.
    """
    routing = routing_of_splits(splits)

    def spread(values: NDArray[Any], default: int, dtype: type) -> NDArray[Any]:
        whole: NDArray[Any] = np.full(len(is_split), default, dtype)
        whole[is_split] = values
        return whole

    return {
        "attribute": spread(routing["attribute"], -1, np.int32),
        "cut": spread(routing["cut"], 0, np.float64),
        "listed": spread(routing["listed"], 0, np.int32),
        "branches": routing["branches"],
        "cuts": routing["cuts"],
        "gain": spread(gain, 0, np.float64),
        "missing": spread(splits.missing, -1, np.int32),
        "absent": spread(n_missing, 0, np.int64),
        "shares": splits.shares,
    }


def arrays_of_winners(winners: Sequence[Candidate | None]) -> dict[str, Any]:
    """Return the fields of ``TreeArrays`` for the winning splits of nodes."""
    winning = [winner for winner in winners if winner is not None]
    return winner_arrays(
        np.array([winner is not None for winner in winners], np.bool_),
        arrays_of_splits([winner.split for winner in winning]),
        np.array([winner.gain for winner in winning], np.float64),
        np.array([winner.table.missing_rows.sum() for winner in winning], np.int64),
    )


def surrogate_arrays(by_node: Sequence[Sequence[Surrogate]]) -> SurrogateArrays:
    """Return the surrogates of nodes as arrays."""
    surrogates = [surrogate for of_node in by_node for surrogate in of_node]
    splits = arrays_of_splits([surrogate.split for surrogate in surrogates])
    return SurrogateArrays(
        **routing_of_splits(splits),
        count=np.array([len(of_node) for of_node in by_node], np.int64),
        agreement=np.array([s.agreement for s in surrogates], np.float64),
        adjusted=np.array([s.adjusted for s in surrogates], np.float64),
        reversed=np.array([s.reversed for s in surrogates], np.bool_),
    )


def arrays_of_nodes(nodes: Sequence[Node]) -> TreeArrays:
    """Return the arrays of a tree from its nodes."""
    parent = [-1 if n.parent is None else n.parent for n in nodes]
    defaults = [-1 if n.default_branch is None else n.default_branch for n in nodes]
    has_surrogates, models = any(n.surrogates for n in nodes), [n.model for n in nodes]
    return TreeArrays(
        **arrays_of_winners([None if n.is_leaf else n.candidate for n in nodes]),
        parent=np.array(parent, np.int32),
        weights=np.array([n.weights for n in nodes]),
        rows=np.array([n.n_rows for n in nodes], np.int64),
        reason=reason_codes(*(n.reason for n in nodes)),
        outputs=np.array([n.distribution for n in nodes]),
        forced=np.array([n.forced for n in nodes], np.bool_),
        default_branch=np.array(defaults, np.int32),
        surrogates=surrogate_arrays([n.surrogates for n in nodes])
        if has_surrogates
        else None,
        models=flat_models(models) if any(models) else None,
    )
