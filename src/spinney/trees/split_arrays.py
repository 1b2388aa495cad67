"""Splits as arrays: the form of model files, and a form to route rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, ramps
from spinney._support.segments import starts_of
from spinney.trees.split import Groups, Intervals, Split, Threshold

# The order of forms is part of the format of files.
FORMS: tuple[type[Split], ...] = (Threshold, Groups, Intervals)


@dataclass(frozen=True, eq=False, kw_only=True)
class SplitArrays:
    """Splits in the form of model files, concatenated.

    ``missing`` is the branch of missing values, or -1. Surrogates divide no row and
    have no ``shares``. ``groups`` has the number of ``codes`` of each branch, for
    splits that group codes.
    """

    attribute: Integers
    form: Integers
    n_branches: Integers
    missing: Integers
    thresholds: Floats
    groups: Integers
    codes: Integers
    shares: Floats | None = None

    @property
    def grouped(self) -> NDArray[np.bool_]:
        """Whether each split groups codes."""
        return np.asarray(self.form == FORMS.index(Groups))

    @cached_property
    def n_cuts(self) -> Integers:
        """The number of thresholds of each split."""
        return np.where(self.grouped, 0, self.n_branches - 1)

    @cached_property
    def n_groups(self) -> Integers:
        """The number of groups of each split."""
        return np.where(self.grouped, self.n_branches, 0)

    @cached_property
    def _starts(self) -> tuple[Integers, ...]:
        counts = (self.n_cuts, self.n_groups, self.groups, self.n_branches)
        return tuple(starts_of(each)[:-1] for each in counts)

    def split(self, line: int) -> Split:
        """Return a split."""
        of_cuts, of_groups, _, of_shares = self._starts
        attribute, size = int(self.attribute[line]), int(self.n_branches[line])
        shares: tuple[float, ...] = ()
        if self.shares is not None:
            first = of_shares[line]
            shares = tuple(self.shares[first : first + size].tolist())
        missing = int(self.missing[line])
        branch = None if missing < 0 else missing
        form = FORMS[self.form[line]]
        if form is Groups:
            groups = range(of_groups[line], of_groups[line] + size)
            return Groups(attribute, tuple(map(self._group, groups)), shares, branch)
        first = of_cuts[line]
        cuts = self.thresholds[first : first + size - 1].tolist()
        if form is Intervals:
            return Intervals(attribute, tuple(cuts), shares, branch)
        return Threshold(attribute, cuts[0], shares, branch)

    def _group(self, position: int) -> tuple[int, ...]:
        first = self._starts[2][position]
        return tuple(self.codes[first : first + self.groups[position]].tolist())

    def of_lines(self, lines: Integers) -> "SplitArrays":
        """Return some of the splits, in any order."""
        groups = entries_of(self.n_groups, lines)
        shares = self.shares
        if shares is not None:
            shares = shares[entries_of(self.n_branches, lines)]
        return SplitArrays(
            attribute=self.attribute[lines],
            form=self.form[lines],
            n_branches=self.n_branches[lines],
            missing=self.missing[lines],
            thresholds=self.thresholds[entries_of(self.n_cuts, lines)],
            groups=self.groups[groups],
            codes=self.codes[entries_of(self.groups, groups)],
            shares=shares,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class RoutingArrays:
    """Splits as arrays, one line per split.

    Parameters
    ----------
    attribute : array of int32
        The attribute of each split; -1 stands for no split.
    cut : array of float64
        The threshold, or the first cut between intervals; NaN if values are grouped.
    listed : array of int32
        The number of the split's entries in ``branches``, if values are grouped, or in
        ``cuts``, if there are further cuts.
    branches : array of int16 or int32
        The branch of each code, or -1, for splits that group values.
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
        """The number of entries of each split in ``branches``."""
        return np.where(np.isnan(self.cut), self.listed, 0).astype(np.int64)

    @property
    def in_cuts(self) -> Integers:
        """The number of entries of each split in ``cuts``."""
        return np.where(np.isnan(self.cut), 0, self.listed).astype(np.int64)

    @cached_property
    def starts(self) -> tuple[Integers, Integers]:
        """The first entry of each split in ``branches``, and in ``cuts``."""
        return starts_of(self.in_branches)[:-1], starts_of(self.in_cuts)[:-1]

    def branches_of(self, lines: Integers, values: Floats) -> Integers:
        """Return the branch of each value by the split of its line.

        It is -1 if the value is missing (NaN), or a code without a branch.
        """
        cut, listed = self.cut[lines], self.listed[lines]
        is_missing, grouped = np.isnan(values), np.isnan(cut)
        branch = (values > cut).astype(np.int64)
        for order in range(int(listed[~grouped].max(initial=0))):
            with_cut = np.flatnonzero(~grouped & (listed > order))
            cuts = self.cuts[self.starts[1][lines[with_cut]] + order]
            branch[with_cut] += values[with_cut] > cuts
        code = np.where(is_missing | ~grouped, 0, values).astype(np.int64)
        has_code = grouped & ~is_missing & (code < listed)
        branch[grouped | is_missing] = -1
        branch[has_code] = self.branches[
            self.starts[0][lines[has_code]] + code[has_code]
        ]
        return branch

    def subset(self, lines: Integers, is_split: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the fields of some splits; those not in ``is_split`` are emptied."""
        kept = lines[is_split]
        return {
            "attribute": np.where(is_split, self.attribute[lines], -1).astype(np.int32),
            "cut": np.where(is_split, self.cut[lines], 0.0),
            "listed": np.where(is_split, self.listed[lines], 0).astype(np.int32),
            "branches": self.branches[entries_of(self.in_branches, kept)],
            "cuts": self.cuts[entries_of(self.in_cuts, kept)],
        }


def arrays_of_splits(splits: Sequence[Split]) -> SplitArrays:
    """Return splits as arrays."""
    groups = [g for split in splits if isinstance(split, Groups) for g in split.groups]
    missing = [-1 if split.missing is None else split.missing for split in splits]
    shares = chain.from_iterable(split.shares for split in splits)
    return SplitArrays(
        attribute=np.array([split.attribute for split in splits], np.int64),
        form=np.array([FORMS.index(type(split)) for split in splits], np.int64),
        n_branches=np.array([split.n_branches for split in splits], np.int64),
        missing=np.array(missing, np.int64),
        thresholds=np.fromiter(chain.from_iterable(map(_cuts_of, splits)), np.float64),
        groups=np.array([len(group) for group in groups], np.int64),
        codes=np.fromiter(chain.from_iterable(groups), np.int64),
        shares=np.fromiter(shares, np.float64),
    )


def _cuts_of(split: Split) -> tuple[float, ...]:
    if isinstance(split, Groups):
        return ()
    return split.cuts if isinstance(split, Intervals) else (split.threshold,)


def splits_of_routing(
    routing: RoutingArrays,
    *,
    n_branches: Integers,
    missing: NDArray[np.integer],
    shares: Floats | None = None,
) -> SplitArrays:
    """Return splits in the form of model files."""
    cut, size = routing.cut, routing.listed.astype(np.int64)
    lines, grouped = np.arange(len(cut)), np.isnan(cut)
    owner = np.repeat(lines[grouped], size[grouped])
    code, branch = ramps(size[grouped]), routing.branches.astype(np.int64)
    # Cuts and codes are ordered by line, codes also by branch; others are dropped.
    cuts = np.append(cut[~grouped], routing.cuts)
    of_cut = np.append(lines[~grouped], np.repeat(lines[~grouped], size[~grouped]))
    n_groups = np.where(grouped, n_branches, 0)
    group = starts_of(n_groups)[owner] + branch
    routed = np.flatnonzero(branch >= 0)
    return SplitArrays(
        attribute=routing.attribute.astype(np.int64),
        form=np.where(grouped, 1, np.where(size > 0, 2, 0)),
        n_branches=n_branches,
        missing=missing.astype(np.int64),
        thresholds=cuts[np.argsort(of_cut, kind="stable")],
        groups=np.bincount(group[routed], minlength=int(n_groups.sum())),
        codes=code[routed[np.argsort(group[routed], kind="stable")]],
        shares=shares,
    )


def routing_of_splits(splits: SplitArrays) -> dict[str, Any]:
    """Return the fields of ``RoutingArrays`` for splits in the form of model files."""
    grouped, n = splits.grouped, len(splits.form)
    first = starts_of(splits.n_cuts)[:-1][~grouped]
    cut = np.full(n, np.nan)
    cut[~grouped] = splits.thresholds[first]
    owner = np.repeat(np.repeat(np.arange(n), splits.n_groups), splits.groups)
    listed = np.where(grouped, 0, splits.n_cuts - 1)
    np.maximum.at(listed, owner, splits.codes + 1)
    start = starts_of(np.where(grouped, listed, 0))
    branches = np.full(start[-1], -1, np.int32)
    branch = np.repeat(ramps(splits.n_groups), splits.groups)
    branches[start[owner] + splits.codes] = branch
    return {
        "attribute": splits.attribute.astype(np.int32),
        "cut": cut,
        "listed": listed.astype(np.int32),
        "branches": branches,
        "cuts": np.delete(splits.thresholds, first),
    }


def entries_of(counts: Integers, lines: Integers) -> Integers:
    """Return the positions of the entries of some lines, given the counts of all."""
    sizes = counts[lines]
    return np.repeat(starts_of(counts)[lines], sizes) + ramps(sizes)
