"""The candidates of all nodes as arrays, as files have them.

What belongs to one node, candidate, split or group stands together, one after another
without gaps; a count says how much that is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, ramps
from spinney._support.segments import starts_of
from spinney.data import Target
from spinney.trees.split import Groups, Intervals, Split, Threshold
from spinney.trees.tree import Candidate
from spinney.trees.tree_arrays import QuestionArrays

# The order of forms is part of the format of files.
FORMS: tuple[type[Split], ...] = (Threshold, Groups, Intervals)
GIVEN = 2  # among the marks that say whether a split is exact


@dataclass(frozen=True, eq=False, kw_only=True)
class SplitArrays:
    """The splits of a tree as arrays, one after another.

    ``missing`` is the branch of missing values, or -1; those of surrogates divide no
    row and have no ``shares``. ``groups`` has a count of ``codes`` for each branch of a
    split that groups them.
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
        """Which splits are groups of codes."""
        return np.asarray(self.form == FORMS.index(Groups))

    @cached_property
    def n_cuts(self) -> Integers:
        """How many thresholds each split has."""
        return np.where(self.grouped, 0, self.n_branches - 1)

    @cached_property
    def n_groups(self) -> Integers:
        """How many groups each split has."""
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
        to = None if missing < 0 else missing
        form = FORMS[self.form[line]]
        if form is Groups:
            own = range(of_groups[line], of_groups[line] + size)
            return Groups(attribute, tuple(map(self._group, own)), shares, to)
        first = of_cuts[line]
        cuts = self.thresholds[first : first + size - 1].tolist()
        if form is Intervals:
            return Intervals(attribute, tuple(cuts), shares, to)
        return Threshold(attribute, cuts[0], shares, to)

    def _group(self, at: int) -> tuple[int, ...]:
        first = self._starts[2][at]
        return tuple(self.codes[first : first + self.groups[at]].tolist())

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
class CandidateArrays:
    """The candidates of all nodes as arrays, in the order of the nodes and attributes.

    Parameters
    ----------
    count, chosen : arrays of int64, one for each node
        How many candidates it has, and which of them won, or -1.
    splits : SplitArrays
        What they ask.
    gain, merit, p_value : arrays, one for each candidate
        As of :class:`~spinney.trees.tree.Candidate`; no p-value is NaN.
    exact : array of int, one for each candidate
        1 where it is known to be the best of its form, 0 where not, and ``GIVEN`` where
        a user has written it.
    bound : array of float, one for each candidate, optional
        What no gain of the form exceeds, NaN where that is not known; None stands for
        all NaN.
    n_values : array of int64, one for each candidate
        How many values its table has.
    values, weights, rows : arrays, one line for each value
        The tables, codes as numbers.
    missing_weights, missing_rows : arrays, one line for each candidate
        The counts of rows whose value is missing.
    """

    count: Integers
    chosen: Integers
    splits: SplitArrays
    gain: Floats
    merit: Floats
    exact: NDArray[Any]
    p_value: Floats
    n_values: Integers
    values: Floats
    weights: Floats
    rows: Integers
    missing_weights: Floats
    missing_rows: Integers
    bound: Floats | None = None

    def of_nodes(self, nodes: Integers, asks: NDArray[np.bool_]) -> "CandidateArrays":
        """Return those of some nodes; of what does not ``ask`` none has won."""
        chosen = np.where(asks, self.chosen[nodes], -1)
        return self.of_lines(entries_of(self.count, nodes), self.count[nodes], chosen)

    def of_lines(
        self, lines: Integers, count: Integers, chosen: Integers
    ) -> "CandidateArrays":
        """Return some of the candidates, in any order, as those of other nodes."""
        own = entries_of(self.n_values, lines)
        return CandidateArrays(
            count=count,
            chosen=chosen,
            splits=self.splits.of_lines(lines),
            gain=self.gain[lines],
            merit=self.merit[lines],
            exact=self.exact[lines],
            p_value=self.p_value[lines],
            n_values=self.n_values[lines],
            values=self.values[own],
            weights=self.weights[own],
            rows=self.rows[own],
            missing_weights=self.missing_weights[lines],
            missing_rows=self.missing_rows[lines],
            bound=None if self.bound is None else self.bound[lines],
        )


def joined_candidates(parts: Sequence[CandidateArrays]) -> CandidateArrays:
    """Return candidates of no node yet one after another; none of them has a bound."""

    def together(these: Sequence[Any], kind: type) -> dict[str, Any]:
        return {
            entry.name: np.concatenate([getattr(each, entry.name) for each in these])
            for entry in fields(kind)
            if entry.name not in ("splits", "bound")
        }

    splits = together([part.splits for part in parts], SplitArrays)
    own = together(parts, CandidateArrays)
    return CandidateArrays(**own, splits=SplitArrays(**splits))


def arrays_of_candidates(
    by_node: Iterable[tuple[Sequence[Candidate], int | None]], target: Target
) -> CandidateArrays:
    """Return the candidates of nodes, and which of each have won, as arrays."""
    candidates, count, chosen = list[Candidate](), list[int](), list[int]()
    for own, winner in by_node:
        candidates.extend(own)
        count.append(len(own))
        chosen.append(-1 if winner is None else winner)
    tables = [candidate.table for candidate in candidates]
    values = [np.asarray(table.values, dtype=np.float64) for table in tables]
    p_values = [np.nan if c.p_value is None else c.p_value for c in candidates]

    def lines(arrays: Iterable[NDArray[Any]], width: int, dtype: type) -> NDArray[Any]:
        below = [np.empty((0, width), dtype), *(a.reshape(-1, width) for a in arrays)]
        return np.concatenate(below)

    width, n_outputs = target.width, target.n_outputs
    return CandidateArrays(
        count=np.array(count, np.int64),
        chosen=np.array(chosen, np.int64),
        splits=arrays_of_splits([candidate.split for candidate in candidates]),
        gain=np.array([c.gain for c in candidates], np.float64),
        merit=np.array([c.merit for c in candidates], np.float64),
        exact=np.array([GIVEN if c.given else c.exact for c in candidates], np.int64),
        p_value=np.array(p_values, np.float64),
        n_values=np.array([len(own) for own in values], np.int64),
        values=np.concatenate([np.empty(0), *values]),
        weights=lines((t.weights for t in tables), width, np.float64),
        rows=lines((t.rows for t in tables), n_outputs, np.int64),
        missing_weights=lines((t.missing for t in tables), width, np.float64),
        missing_rows=lines((t.missing_rows for t in tables), n_outputs, np.int64),
        bound=bounds_of(candidates),
    )


def bounds_of(candidates: Sequence[Candidate]) -> Floats | None:
    """Return the bounds of candidates, NaN for none; None where no one has any."""
    bounds = [np.nan if c.bound is None else c.bound for c in candidates]
    return None if np.isnan(bounds).all() else np.array(bounds)


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


def splits_of_questions(
    questions: QuestionArrays,
    *,
    n_branches: Integers,
    missing: NDArray[np.integer],
    shares: Floats | None = None,
) -> SplitArrays:
    """Return splits that are arrays by line as those of files."""
    cut, size = questions.cut, questions.listed.astype(np.int64)
    lines, grouped = np.arange(len(cut)), np.isnan(cut)
    owner = np.repeat(lines[grouped], size[grouped])
    code, branch = ramps(size[grouped]), questions.branches.astype(np.int64)
    # Cuts and codes come by line; codes by branch, and those of no branch not at all.
    cuts = np.append(cut[~grouped], questions.cuts)
    of_cut = np.append(lines[~grouped], np.repeat(lines[~grouped], size[~grouped]))
    n_groups = np.where(grouped, n_branches, 0)
    group = starts_of(n_groups)[owner] + branch
    routed = np.flatnonzero(branch >= 0)
    return SplitArrays(
        attribute=questions.attribute.astype(np.int64),
        form=np.where(grouped, 1, np.where(size > 0, 2, 0)),
        n_branches=n_branches,
        missing=missing.astype(np.int64),
        thresholds=cuts[np.argsort(of_cut, kind="stable")],
        groups=np.bincount(group[routed], minlength=int(n_groups.sum())),
        codes=code[routed[np.argsort(group[routed], kind="stable")]],
        shares=shares,
    )


def entries_of(counts: Integers, lines: Integers) -> Integers:
    """Return where what is counted stands, of some lines."""
    own = counts[lines]
    return np.repeat(starts_of(counts)[lines], own) + ramps(own)
