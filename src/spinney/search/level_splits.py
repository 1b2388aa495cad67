"""The best splits of a level as arrays; a ``Candidate`` is made on request."""

from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import pairwise
from math import exp

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import (
    first_best_by,
    starts_of,
    sums_by,
    sums_in_order,
)
from spinney._support.ties import first_best
from spinney.data import Attribute, Schema
from spinney.search.buckets import codes_of
from spinney.search.cut_points import midpoints
from spinney.search.groupings import MAX_LISTED
from spinney.search.tree_search import Search
from spinney.trees import (
    Candidate,
    CountTable,
    Groups,
    Intervals,
    Split,
    TableBatch,
    Threshold,
)


class Form(IntEnum):
    """The form of grouping the values of a table into branches."""

    THRESHOLD = 0
    ORDERED = 1
    PREFIX = 2
    SUBSET = 3
    MULTIWAY = 4
    MERGED = 5
    SEARCHED = 6


@dataclass(frozen=True, eq=False)
class LevelSplits:
    """The best split of each table of a level that can be split, as arrays.

    Parameters
    ----------
    tables : TableBatch
        The counts of each split: by value, or for a number by branch.
    branch : array of shape (lines,)
        The branch of each line.
    form, n_branches : arrays of int
        The form of grouping, and the number of branches.
    low, high : arrays of float
        The values beside a threshold; ∞ if all known values are on the left. For an
        order of codes, ``low`` is the last rank on the left.
    missing_at : array of int
        The branch that counts the missing rows, or -1.
    typical : array of float
        The imputed value, if the policy imputes; for intervals its branch, or -1.
    gain, merit : arrays of float
        See ``Candidate``.
    exact : array of bool
        Whether no better split of the form exists.
    bound : array of float
        An upper bound on the gains of the form; NaN if the gain is the best.
    schema, search
        The schema of the codes, and the search.
    """

    tables: TableBatch
    branch: Integers
    form: Integers
    n_branches: Integers
    low: Floats
    high: Floats
    missing_at: Integers
    typical: Floats
    gain: Floats
    merit: Floats
    exact: NDArray[np.bool_]
    bound: Floats
    schema: Schema
    search: Search

    def __len__(self) -> int:
        """Return the number of splits."""
        return len(self.gain)

    @property
    def is_threshold(self) -> NDArray[np.bool_]:
        """Whether each split is a threshold."""
        return np.asarray(self.form == Form.THRESHOLD)

    def candidate(self, number: int) -> Candidate:
        """Return a split with its counts."""
        return self.candidates(np.array([number]))[0]

    def candidates(self, numbers: Integers) -> list[Candidate]:
        """Return some of the splits with their counts."""
        shares, first = self._shares(numbers)
        thresholds = self._thresholds(numbers)
        missing = self._missing(numbers, shares, first)
        parts = [tuple(shares[a:b].tolist()) for a, b in pairwise(first.tolist())]
        chance = self.search.criterion.chance
        candidates = []
        for position, number in enumerate(numbers.tolist()):
            index = int(self.tables.attribute[number])
            attribute = self.schema.attributes[index]
            table = self.tables.table(number, codes=attribute.kind != "numeric")
            split: Split
            if self.form[number] == Form.THRESHOLD:
                split = Threshold(
                    index, thresholds[position], parts[position], missing[position]
                )
            elif index in self.search.root_summary.cuts:
                edges = self._edges(number, table)
                split = Intervals(index, edges, parts[position], missing[position])
            else:
                groups = self._groups(number, attribute, table.values)
                split = Groups(index, groups, parts[position], missing[position])
                if self.search.policy.imputes_typical:
                    split = self._with_typical(number, split)
            gain, merit = float(self.gain[number]), float(self.merit[number])
            exact, p_value = bool(self.exact[number]), exp(-merit) if chance else None
            bound = None if np.isnan(self.bound[number]) else float(self.bound[number])
            candidates.append(
                Candidate(split, table, gain, merit, exact, p_value, bound=bound)
            )
        return candidates

    def _shares(self, numbers: Integers) -> tuple[Floats, Integers]:
        """Return the proportions of branches, and their start for each split."""
        n_branches = self.n_branches[numbers]
        first, lines = starts_of(n_branches), self.tables.lines_of(numbers)
        branch = np.repeat(first[:-1], self.tables.counts[numbers]) + self.branch[lines]
        weights = sums_by(branch, self.tables.weights[lines], int(first[-1]))
        numeric = weights.shape[1] != self.tables.rows.shape[1]
        sizes = weights[:, 0] if numeric else sums_in_order(weights)
        shares = np.empty(len(sizes))
        for size in np.unique(n_branches).tolist():
            branches = first[:-1][n_branches == size, None] + np.arange(size)
            shares[branches] = sizes[branches] / sums_in_order(sizes[branches])[:, None]
        return shares, first

    def _midpoints(self, numbers: Integers) -> Floats:
        """Return the midpoint of the values next to each threshold, or ∞."""
        low, high = self.low[numbers], self.high[numbers]
        middles = np.full(len(numbers), np.inf)
        inside = (high < np.inf) & (self.form[numbers] == Form.THRESHOLD)
        middles[inside] = midpoints(low[inside], high[inside])
        return middles

    def _thresholds(self, numbers: Integers) -> list[float]:
        """Return the threshold of each split, if it is one, as the recipe places it."""
        root_summary, attributes = self.search.root_summary, self.schema.attributes
        thresholds: list[float] = self._midpoints(numbers).tolist()
        observed = self.search.recipe.thresholds == "observed"
        if not (observed or root_summary.cuts):
            return thresholds
        for position, number in enumerate(numbers.tolist()):
            index, midpoint = int(self.tables.attribute[number]), thresholds[position]
            if self.form[number] != Form.THRESHOLD or midpoint == np.inf:
                continue
            attribute = attributes[index]
            if index in root_summary.cuts:
                thresholds[position] = float(root_summary.cuts[index][int(midpoint)])
            elif observed and attribute.kind == "numeric" and attribute.formula is None:
                values = root_summary.observed[index]
                last = np.searchsorted(values, midpoint, side="right") - 1
                thresholds[position] = float(values[last])
        return thresholds

    def _edges(self, number: int, table: CountTable) -> tuple[float, ...]:
        """Return the cuts between intervals; ∞ precedes a branch of missing values.

        A bucket without rows at the node belongs to the interval above it.
        """
        cuts = self.search.root_summary.cuts[int(self.tables.attribute[number])]
        n_branches = int(self.n_branches[number])
        if self.form[number] == Form.MULTIWAY:
            edges, n_known = cuts, len(cuts) + 1
        else:
            edges, n_known = cuts[codes_of(table.values[:-1], cuts)], len(table.values)
        return (*edges.tolist(), *([np.inf] if n_known < n_branches else []))

    def _groups(
        self, number: int, attribute: Attribute, codes: Integers
    ) -> tuple[tuple[int, ...], ...]:
        """Return the codes of each branch, none for a branch of missing values."""
        n_branches, n_codes = int(self.n_branches[number]), len(attribute.values)
        branch = self.branch[self.tables.start[number] : self.tables.start[number + 1]]
        form = self.form[number]
        if form == Form.MULTIWAY:
            codes = branch = np.arange(n_codes)
        elif self.missing_at[number] >= 0 and self.search.policy.imputes_typical:
            typical = int(self.typical[number])
            if typical not in codes:  # no row has it here, but what is missing counts
                position = int(np.searchsorted(codes, typical))
                codes = np.insert(codes, position, typical)
                branch = np.insert(branch, position, self.missing_at[number])
        if form == Form.ORDERED:
            index = int(self.tables.attribute[number])
            ranks = self.search.root_summary.statistics[index].ranks
            codes = np.arange(n_codes) if n_codes <= MAX_LISTED else codes
            branch = (ranks[codes] > self.low[number]).astype(np.int64)
        order = np.argsort(branch, kind="stable")
        ends = np.searchsorted(branch[order], np.arange(n_branches + 1)).tolist()
        listed = codes[order].tolist()
        return tuple(tuple(listed[first:end]) for first, end in pairwise(ends))

    def _missing(
        self, numbers: Integers, shares: Floats, first: Integers
    ) -> list[int | None]:
        """Return the branch of missing values of each split, or None.

        For groups under a policy that imputes, ``_with_typical`` sets it.
        """
        policy, placed_at = self.search.policy, self.missing_at[numbers]
        if not policy.needs_default:
            return [
                None if position < 0 else position for position in placed_at.tolist()
            ]
        default = first_best_by(shares, first) - first[:-1]
        if policy.imputes_typical:
            typical = self.typical[numbers]
            side = typical > self._midpoints(numbers)
            branch = np.where(self.form[numbers] == Form.THRESHOLD, side, typical)
            default = np.where(branch >= 0, branch, default).astype(np.int64)
        missing: list[int | None] = np.where(placed_at < 0, default, placed_at).tolist()
        return missing

    def _with_typical(self, number: int, split: Groups) -> Groups:
        """Return groups with missing values in the branch of the imputed value."""
        if self.missing_at[number] >= 0:
            return split
        (branch,) = split.branch_of(self.typical[number : number + 1]).tolist()
        return replace(
            split, missing=branch if branch >= 0 else first_best(np.array(split.shares))
        )
