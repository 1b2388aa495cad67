"""A tree as arrays: what a forest keeps, what rows are sent down, what nodes show.

Nodes stand in printing order, one line per node. What is optional is absent where a
tree is kept small, as those of a forest are, and can be had from the rest.
"""

from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, ramps
from spinney.data import Target
from spinney.trees.linear import FlatModels, flat_models
from spinney.trees.split import Groups, Intervals, Split, Surrogate, Threshold
from spinney.trees.tree import Candidate, Reason, Tree, reason_codes


@dataclass(frozen=True, eq=False, kw_only=True)
class QuestionArrays:
    """Splits as arrays, one line per split.

    Parameters
    ----------
    attribute : array of int32
        What is asked about; -1 stands for no split.
    cut : array of float64
        The threshold, or the first cut of several intervals; NaN where values are
        grouped.
    listed : array of int32
        How many entries the split has in ``branches``, where values are grouped, or in
        ``cuts``, where there are further cuts.
    branches : array of int16 or int32
        For each code of a split that groups values its branch, or -1.
    cuts : array of float64
        Further cuts.
    """

    attribute: NDArray[np.integer]
    cut: Floats
    listed: NDArray[np.integer]
    branches: NDArray[np.integer]
    cuts: Floats

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.attribute)

    @property
    def in_branches(self) -> Integers:
        """How many entries each split has in ``branches``."""
        return np.where(np.isnan(self.cut), self.listed, 0).astype(np.int64)

    @property
    def in_cuts(self) -> Integers:
        """How many entries each split has in ``cuts``."""
        return np.where(np.isnan(self.cut), 0, self.listed).astype(np.int64)

    @cached_property
    def starts(self) -> tuple[Integers, Integers]:
        """Where each split begins in ``branches``, and in ``cuts``."""
        in_branches, in_cuts = self.in_branches, self.in_cuts
        return in_branches.cumsum() - in_branches, in_cuts.cumsum() - in_cuts

    def branches_of(self, lines: Integers, values: Floats) -> Integers:
        """Return the branch of each value by the split of its line.

        It is -1 where the value is missing (NaN), or a code that the split has not
        seen.
        """
        cut, listed = self.cut[lines], self.listed[lines]
        absent, grouped = np.isnan(values), np.isnan(cut)
        branch = (values > cut).astype(np.int64)
        for order in range(int(listed[~grouped].max(initial=0))):
            further = np.flatnonzero(~grouped & (listed > order))
            cuts = self.cuts[self.starts[1][lines[further]] + order]
            branch[further] += values[further] > cuts
        code = np.where(absent | ~grouped, 0, values).astype(np.int64)
        seen = grouped & ~absent & (code < listed)
        branch[grouped | absent] = -1
        branch[seen] = self.branches[self.starts[0][lines[seen]] + code[seen]]
        return branch

    def subset(self, lines: Integers, asks: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the fields of some splits; of those that do not ``ask``, no split."""
        asked = lines[asks]

        def entries(count: Integers, start: Integers) -> Integers:
            return np.repeat(start[asked], count[asked]) + ramps(count[asked])

        of_branches, of_cuts = self.starts
        return {
            "attribute": np.where(asks, self.attribute[lines], -1).astype(np.int32),
            "cut": np.where(asks, self.cut[lines], 0.0),
            "listed": np.where(asks, self.listed[lines], 0).astype(np.int32),
            "branches": self.branches[entries(self.in_branches, of_branches)],
            "cuts": self.cuts[entries(self.in_cuts, of_cuts)],
        }

    def split(
        self,
        line: int,
        *,
        n_branches: int = 2,
        shares: tuple[float, ...] = (),
        missing: int | None = None,
    ) -> Split:
        """Return what the split of a line asks."""
        attribute, cut = int(self.attribute[line]), float(self.cut[line])
        size = int(self.listed[line])
        if np.isnan(cut):
            first = self.starts[0][line]
            own = self.branches[first : first + size]
            groups = tuple(
                tuple(np.flatnonzero(own == branch).tolist())
                for branch in range(n_branches)
            )
            return Groups(attribute, groups, shares, missing)
        if size:
            first = self.starts[1][line]
            more = self.cuts[first : first + size]
            return Intervals(attribute, (cut, *more.tolist()), shares, missing)
        return Threshold(attribute, cut, shares, missing)


@dataclass(frozen=True, eq=False, kw_only=True)
class SurrogateArrays(QuestionArrays):
    """The surrogates of all nodes, one line per surrogate, in the order of the nodes.

    ``count`` says how many a node has; what is ``reversed`` exchanges its branches.
    """

    count: Integers
    agreement: Floats
    adjusted: Floats
    reversed: NDArray[np.bool_]

    @cached_property
    def first(self) -> Integers:
        """Where the surrogates of each node begin."""
        return self.count.cumsum() - self.count

    @property
    def may_ask(self) -> NDArray[np.bool_]:
        """The nodes that have surrogates, as far as that is known."""
        return self.count > 0

    @property
    def may_read(self) -> Integers:
        """The attributes that they ask about, as far as that is known."""
        return self.attribute.astype(np.int64)

    def branches_of(self, lines: Integers, values: Floats) -> Integers:
        """Return the branch of the node, as of :class:`QuestionArrays`."""
        branch = super().branches_of(lines, values)
        return np.where(self.reversed[lines] & (branch >= 0), 1 - branch, branch)

    def of_nodes(self, nodes: Integers, asks: NDArray[np.bool_]) -> "SurrogateArrays":
        """Return the surrogates of some nodes; none of those that do not ``ask``."""
        count = np.where(asks, self.count[nodes], 0)
        lines = np.repeat(self.first[nodes], count) + ramps(count)
        return SurrogateArrays(
            **self.subset(lines, np.ones(len(lines), np.bool_)),
            count=count,
            agreement=self.agreement[lines],
            adjusted=self.adjusted[lines],
            reversed=self.reversed[lines],
        )

    def surrogate(self, line: int) -> Surrogate:
        """Return the surrogate of a line."""
        return Surrogate(
            self.split(line),
            float(self.agreement[line]),
            float(self.adjusted[line]),
            bool(self.reversed[line]),
        )


class LaterSurrogates(SurrogateArrays):
    """Surrogates that are found when one of their arrays is first asked for.

    A tree without missing cells grows without them. ``find`` finds them, of the nodes
    that ``may_ask``, among ``n_attributes``.
    """

    _may_ask: NDArray[np.bool_]
    _n_attributes: int
    _find: Callable[[], SurrogateArrays]

    def __init__(
        self,
        may_ask: NDArray[np.bool_],
        n_attributes: int,
        find: Callable[[], SurrogateArrays],
    ) -> None:
        # They are frozen. The fields stay unset, so that ``__getattr__`` is asked.
        vars(self).update(_may_ask=may_ask, _n_attributes=n_attributes, _find=find)

    @cached_property
    def _found(self) -> SurrogateArrays:
        return self._find()

    def __getattr__(self, name: str) -> Any:
        """Return a field of the surrogates, which are found by now."""
        if name.startswith("_"):  # none of theirs: a copy asks, that has nothing yet
            raise AttributeError(name)
        return getattr(self._found, name)

    @property
    def may_ask(self) -> NDArray[np.bool_]:
        """The nodes that may have surrogates."""
        return self._may_ask

    @property
    def may_read(self) -> Integers:
        """All attributes."""
        return np.arange(self._n_attributes)

    def of_nodes(self, nodes: Integers, asks: NDArray[np.bool_]) -> SurrogateArrays:
        """Return those of some nodes, still to be found."""
        return LaterSurrogates(
            asks & self._may_ask[nodes],
            self._n_attributes,
            lambda: self._found.of_nodes(nodes, asks),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep what was found in a copy or a pickle, and not the rows."""
        return copy, (self._found,)


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """The children of all nodes, by parent, and what follows from them.

    Those of a node are ``children[first : first + count]``; ``branch`` is the index of
    a node among its siblings, ``depth`` the number of questions above it.
    """

    children: Integers
    first: Integers
    count: Integers
    branch: Integers
    depth: Integers


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeArrays(QuestionArrays):
    """A finished tree as arrays: its splits, and one line for each node.

    Growers return it, a forest keeps it, a model file stores it.

    Parameters
    ----------
    parent : array of int32
        The node above; -1 at the root. The children of a node, in their order, are
        its branches.
    missing : array of int16 or int32
        The branch of missing values; -1 where they are divided, and at leaves.
    gain : array of float64
        What the split gains; 0 at a leaf.
    weights : array of float32 or float64, nodes × classes, or × 3
        The class weights, or the moments; single precision where that is exact.
    rows, absent : arrays of int32 or int64
        How many rows came to the node, and how many of them lack its attribute.
    reason : array of int8
        Why it is a leaf, the code of a reason.
    outputs : nodes × classes, or × 1, optional
        What each node predicts.
    shares : array of float64, optional
        For each child, in the order of ``links().children``, its part of a row that
        is divided.
    forced : array of bool, optional
        Which splits were asked for by name.
    otherwise : array of int32, optional
        The branch of rows that neither the split nor a surrogate sends, or -1.
    surrogates, models : SurrogateArrays, FlatModels, optional
        Other questions, and linear models.
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
    otherwise: NDArray[np.integer] | None = None
    surrogates: SurrogateArrays | None = None
    models: FlatModels | None = None

    @property
    def inner(self) -> NDArray[np.bool_]:
        """Which nodes ask something."""
        return np.asarray(self.attribute >= 0)

    @property
    def asked(self) -> list[int]:
        """The attributes that nodes ask about, in their order."""
        asked: list[int] = np.unique(self.attribute[self.inner]).tolist()
        return asked

    @property
    def n_leaves(self) -> int:
        """How many leaves there are."""
        return int(np.count_nonzero(self.attribute < 0))

    @property
    def depth(self) -> Integers:
        """The number of questions above each node."""
        return self.links().depth

    @property
    def final_branch(self) -> Integers:
        """The branch of rows that nothing else sends; -1 where they are divided."""
        missing = self.missing.astype(np.int64)
        if self.otherwise is None:
            return missing
        return np.where(self.otherwise >= 0, self.otherwise, missing)

    def weight(self, target: Target) -> Floats:
        """Return the weight of each node."""
        if target.is_numeric:
            return np.asarray(self.weights[:, 0], dtype=np.float64)
        if self.weights.dtype == np.float32:  # whose sums are exact
            return np.asarray(np.einsum("ij->i", self.weights, dtype=np.float64))
        return np.asarray(self.weights.sum(axis=1, dtype=np.float64))

    def improvements(self, target: Target) -> Floats:
        """Return what each node gained: its gain times its weight."""
        return np.asarray(self.weight(target) * np.maximum(self.gain, 0.0))

    def links(self) -> Links:
        """Return the children of all nodes, their branches and depths."""
        return links_of(self.parent)

    def children(self) -> tuple[Integers, Integers, Integers]:
        """Return all children by parent, where those of a node begin, how many."""
        return _children(self.parent)

    def cut_back(
        self, numbers: Collection[int], reason: Reason
    ) -> tuple["TreeArrays", Integers]:
        """Return the tree with some nodes as leaves, and the former numbers of nodes.

        What lies below them is gone; why they are leaves is the ``reason``.
        """
        is_cut = np.zeros(len(self), np.bool_)
        is_cut[list(numbers)] = True
        is_cut &= self.inner
        ends, gone = is_cut.tolist(), [False] * len(self)
        for node, above in enumerate(self.parent.tolist()):  # parents come first
            gone[node] = above >= 0 and (gone[above] or ends[above])
        stays = ~np.array(gone)
        kept = np.flatnonzero(stays)
        new = np.append(np.cumsum(stays) - 1, -1)
        asks = self.inner[kept] & ~is_cut[kept]

        def of_inner(values: NDArray[Any], other: int) -> NDArray[Any]:
            return np.where(asks, values[kept], other).astype(values.dtype)

        def optional(values: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if values is None else values[kept]

        reasons = np.where(is_cut, reason_codes(reason), self.reason)
        shares, otherwise, surrogates = self.shares, self.otherwise, self.surrogates
        smaller = TreeArrays(
            **self.subset(kept, asks),
            parent=new[self.parent[kept]].astype(np.int32),
            missing=of_inner(self.missing, -1),
            gain=of_inner(self.gain, 0),
            weights=self.weights[kept],
            rows=self.rows[kept],
            absent=of_inner(self.absent, 0),
            reason=reasons[kept].astype(np.int8),
            outputs=optional(self.outputs),
            shares=None if shares is None else shares[stays[self.children()[0]]],
            forced=optional(self.forced),
            otherwise=None if otherwise is None else of_inner(otherwise, -1),
            surrogates=None if surrogates is None else surrogates.of_nodes(kept, asks),
            models=None if self.models is None else self.models.of_nodes(kept),
        )
        return smaller, kept

    def shares_by_weight(self, target: Target) -> Floats:
        """Return each child's part of the weight of its siblings."""
        order, _, _ = self.children()
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
    """Return what follows from the parents of nodes, which stand before them."""
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


# What every tree has, in the order in which files of forests hold it.
NEEDED = (
    *("attribute", "parent", "cut", "missing", "gain", "weights", "rows", "absent"),
    *("reason", "listed", "branches", "cuts"),
)


def question_arrays(splits: Sequence[Split | None]) -> dict[str, Any]:
    """Return the fields of ``QuestionArrays`` for some splits."""
    attribute, cut = np.full(len(splits), -1, np.int32), np.zeros(len(splits))
    listed = np.zeros(len(splits), np.int32)
    branches: list[Integers] = [np.zeros(0, np.int64)]
    cuts: list[float] = []
    for line, split in enumerate(splits):
        if split is None:
            continue
        attribute[line] = split.attribute
        if isinstance(split, Groups):
            branches.append(split.lookup())
            cut[line], listed[line] = np.nan, len(branches[-1])
        elif isinstance(split, Intervals):
            cut[line], listed[line] = split.cuts[0], len(split.cuts) - 1
            cuts.extend(split.cuts[1:])
        else:
            cut[line] = split.threshold
    return {
        "attribute": attribute,
        "cut": cut,
        "listed": listed,
        "branches": np.concatenate(branches).astype(np.int32),
        "cuts": np.array(cuts, dtype=np.float64),
    }


def winner_arrays(winners: Sequence[Candidate | None]) -> dict[str, Any]:
    """Return the fields of ``TreeArrays`` that the winning splits of nodes give."""
    n = len(winners)
    gain, missing = np.zeros(n), np.full(n, -1, np.int32)
    absent, shares = np.zeros(n, np.int64), list[float]()
    for node, winner in enumerate(winners):
        if winner is not None:
            gain[node] = winner.gain
            if winner.split.missing is not None:
                missing[node] = winner.split.missing
            absent[node] = int(winner.table.missing_rows.sum())
            shares.extend(winner.split.shares)
    splits = [None if winner is None else winner.split for winner in winners]
    return {
        **question_arrays(splits),
        "gain": gain,
        "missing": missing,
        "absent": absent,
        "shares": np.array(shares, dtype=np.float64),
    }


def surrogate_arrays(by_node: Sequence[Sequence[Surrogate]]) -> SurrogateArrays:
    """Return the surrogates of nodes as arrays."""
    surrogates = [surrogate for own in by_node for surrogate in own]
    return SurrogateArrays(
        **question_arrays([surrogate.split for surrogate in surrogates]),
        count=np.array([len(own) for own in by_node], np.int64),
        agreement=np.array([s.agreement for s in surrogates], np.float64),
        adjusted=np.array([s.adjusted for s in surrogates], np.float64),
        reversed=np.array([s.reversed for s in surrogates], np.bool_),
    )


def arrays_of_nodes(tree: Tree) -> TreeArrays:
    """Return a tree whose nodes are made as arrays."""
    nodes = list(tree)
    parent = [-1 if n.parent is None else n.parent for n in nodes]
    otherwise = [-1 if n.otherwise is None else n.otherwise for n in nodes]
    some, models = any(n.surrogates for n in nodes), [n.model for n in nodes]
    return TreeArrays(
        **winner_arrays([None if n.is_leaf else n.candidate for n in nodes]),
        parent=np.array(parent, np.int32),
        weights=np.array([n.weights for n in nodes]),
        rows=np.array([n.n_rows for n in nodes], np.int64),
        reason=reason_codes(*(n.reason for n in nodes)),
        outputs=np.array([n.distribution for n in nodes]),
        forced=np.array([n.forced for n in nodes], np.bool_),
        otherwise=np.array(otherwise, np.int32),
        surrogates=surrogate_arrays([n.surrogates for n in nodes]) if some else None,
        models=flat_models(models) if any(models) else None,
    )
