"""The best splits of a level as arrays, each a candidate when somebody asks."""

from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import pairwise
from math import exp

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import first_best
from spinney.data import Attribute, Schema
from spinney.search.buckets import codes_of
from spinney.search.cut_points import midpoint
from spinney.search.groupings import LISTED
from spinney.search.tree_search import Search
from spinney.trees import (
    Candidate,
    CountTable,
    Groups,
    Intervals,
    Split,
    TableStack,
    Threshold,
)


class Form(IntEnum):
    """How the values of a table are grouped into branches."""

    THRESHOLD = 0
    ORDERED = 1
    PREFIX = 2
    SUBSET = 3
    MULTIWAY = 4
    MERGED = 5


@dataclass(frozen=True, eq=False)
class LevelSplits:
    """The best split of each table of a level that can be split, as arrays.

    Parameters
    ----------
    tables : TableStack
        The counts behind each split: by value, of a number by branch.
    branch : array of shape (lines,)
        The branch of each line.
    form, n_branches : arrays of int
        How values are grouped, and into how many branches.
    low, high : arrays of float
        The values next to the cut of a threshold, as searched; ∞ where all that is
        known is on the left. Of an order of codes, ``low`` is the last rank there.
    missing_at : array of int
        The branch that counts the missing rows; -1 where they are aside, or none are.
    typical : array of float
        What a missing value is taken for, where the typical one of all rows is; of
        intervals, the branch of that, or -1.
    gain, merit : arrays of float
        See ``Candidate``.
    exact : array of bool
        Whether no better split of the form exists.
    schema, search
        What the codes mean, and how the splits were sought.
    """

    tables: TableStack
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
    schema: Schema
    search: Search

    def __len__(self) -> int:
        """Return the number of splits."""
        return len(self.gain)

    @property
    def is_threshold(self) -> NDArray[np.bool_]:
        """Which splits are thresholds."""
        return np.asarray(self.form == Form.THRESHOLD)

    def candidate(self, number: int) -> Candidate:
        """Return a split with the counts behind it."""
        attribute = self._attribute(number)
        table = self.tables.table(number, codes=attribute.kind != "numeric")
        merit = float(self.merit[number])
        return Candidate(
            self._split(number, attribute, table),
            table,
            float(self.gain[number]),
            merit,
            bool(self.exact[number]),
            exp(-merit) if self.search.criterion.chance else None,
        )

    def _attribute(self, number: int) -> Attribute:
        return self.schema.attributes[int(self.tables.attribute[number])]

    def _split(self, number: int, attribute: Attribute, table: CountTable) -> Split:
        """Return what is asked, with the shares of its branches."""
        lines = slice(self.tables.start[number], self.tables.start[number + 1])
        index, branch = int(self.tables.attribute[number]), self.branch[lines]
        n_branches = int(self.n_branches[number])
        sizes = np.bincount(branch, table.sizes, minlength=n_branches)
        shares = tuple((sizes / sizes.sum()).tolist())
        split: Split
        if self.form[number] == Form.THRESHOLD:
            split = Threshold(index, self._threshold(number, attribute), shares)
        elif index in self.search.at_root.cuts:
            split = Intervals(index, self._edges(number, table), shares)
        else:
            groups = self._groups(number, attribute, table.values, branch)
            split = Groups(index, groups, shares)
        return replace(split, missing=self._missing(number, split))

    def _middle(self, number: int) -> float:
        """Return the middle between the values next to a cut."""
        low, high = float(self.low[number]), float(self.high[number])
        return midpoint(low, high) if high < np.inf else np.inf

    def _threshold(self, number: int, attribute: Attribute) -> float:
        """Return a threshold as the recipe places it."""
        index, middle = int(self.tables.attribute[number]), self._middle(number)
        if middle == np.inf:
            return middle
        if index in self.search.at_root.cuts:
            return float(self.search.at_root.cuts[index][int(middle)])
        plain = attribute.kind == "numeric" and attribute.formula is None
        if not plain or self.search.recipe.thresholds != "observed":
            return middle
        values = self.search.at_root.observed[index]
        return float(values[np.searchsorted(values, middle, side="right") - 1])

    def _edges(self, number: int, table: CountTable) -> tuple[float, ...]:
        """Return the cuts between intervals, ∞ before that of missing values alone.

        A bucket that no row has here lies in the interval above it.
        """
        cuts = self.search.at_root.cuts[int(self.tables.attribute[number])]
        n_branches = int(self.n_branches[number])
        if self.form[number] == Form.MULTIWAY:
            edges, n_known = cuts, len(cuts) + 1
        else:
            edges, n_known = cuts[codes_of(table.values[:-1], cuts)], len(table.values)
        return (*edges.tolist(), *([np.inf] if n_known < n_branches else []))

    def _groups(
        self, number: int, attribute: Attribute, codes: Integers, branch: Integers
    ) -> tuple[tuple[int, ...], ...]:
        """Return the codes of each branch; none in that of missing values alone."""
        n_branches, n_codes = int(self.n_branches[number]), len(attribute.values)
        form = self.form[number]
        if form == Form.MULTIWAY:
            codes = branch = np.arange(n_codes)
        elif self.missing_at[number] >= 0 and self.search.policy.by_root:
            typical = int(self.typical[number])
            if typical not in codes:  # no row has it here, but what is missing counts
                at = int(np.searchsorted(codes, typical))
                codes = np.insert(codes, at, typical)
                branch = np.insert(branch, at, self.missing_at[number])
        if form == Form.ORDERED:
            index = int(self.tables.attribute[number])
            ranks = self.search.at_root.statistics[index].ranks
            codes = np.arange(n_codes) if n_codes <= LISTED else codes
            branch = (ranks[codes] > self.low[number]).astype(np.int64)
        order = np.argsort(branch, kind="stable")
        ends = np.searchsorted(branch[order], np.arange(n_branches + 1)).tolist()
        listed = codes[order].tolist()
        return tuple(tuple(listed[one:other]) for one, other in pairwise(ends))

    def _missing(self, number: int, split: Split) -> int | None:
        """Return the branch of missing values; None where they are divided."""
        placed_at = int(self.missing_at[number])
        if placed_at >= 0:
            return placed_at
        if not self.search.policy.needs_default:
            return None
        if self.search.policy.by_root:
            typical = self.typical[number]
            if self.form[number] == Form.THRESHOLD:
                return int(typical > self._middle(number))
            branch = int(typical)  # of buckets, the interval
            if isinstance(split, Groups):
                branch = int(split.branch_of(np.array([typical]))[0])
            if branch >= 0:
                return branch
        return first_best(np.array(split.shares))
