"""A node of a finished tree: its rows, its split, and the competitors."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.trees.counts import CountTable
from spinney.trees.linear import LinearModel
from spinney.trees.split import Route, Split, Surrogate, branch_table, counts_by_branch


class Reason(StrEnum):
    """Why a node is a leaf.

    The ``code`` stands for it in arrays and in files: a code never changes, and a new
    reason takes the next one. An inner node has no reason, and the code ``NO_REASON``.

    >>> Reason.PRUNED.code, Reason.of_code(9), Reason.of_code(NO_REASON)
    (9, <Reason.PRUNED: 'pruned'>, None)
    """

    code: int

    def __new__(cls, text: str, code: int) -> "Reason":
        """Make a reason that is a text and has a code."""
        reason = str.__new__(cls, text)
        reason._value_, reason.code = text, code
        return reason

    PURE = "pure", 0
    EXHAUSTED = "no attribute is left", 1
    IDENTICAL = "no attribute tells its rows apart", 2
    DEPTH = "the depth limit", 3
    LEAVES = "the limit on leaves", 4
    ROWS_TO_SPLIT = "too few rows to split", 5
    ROWS_IN_LEAF = "every split would leave too few rows in a branch", 6
    MIN_GAIN = "no split gains enough", 7
    EMPTY = "no training row came here: the parent's classes", 8
    PRUNED = "pruned", 9
    SIGNIFICANCE = "no split is significant", 10
    DEVIATION = "its numbers differ too little from each other", 11
    BEST = "the best tree of its size ends here", 12
    UNDECIDED = "no question has proven best on the rows so far", 13

    @classmethod
    def of_code(cls, code: int) -> "Reason | None":
        """Return the reason of a code; None for that of inner nodes."""
        return None if code == NO_REASON else _REASONS[code]


NO_REASON = -1
_REASONS = {reason.code: reason for reason in Reason}


def reason_codes(*reasons: Reason | None) -> NDArray[np.int8]:
    """Return the codes of some reasons, as a lookup table for other numbers."""
    codes = [NO_REASON if reason is None else reason.code for reason in reasons]
    return np.array(codes, np.int8)


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """The best split of one attribute at one node, with its counts.

    Parameters
    ----------
    split : Threshold or Groups
        The split.
    table : CountTable
        The counts by value; for a numeric attribute the two sides, at the values
        next to the threshold.
    gain : float
        The measure that chose the split among the splits of its attribute.
    merit : float
        The measure by which the attribute competes with others.
    exact : bool
        Whether no better split of this form exists (see ``groupings``, and
        ``growth/binned/kernels/competitors.py`` for competitors).
    p_value : float, optional
        If the criterion is a test: its p-value, times the Bonferroni multiplier of
        CHAID's merging.
    given : bool
        Whether a user has written the condition. It need not be the best of its
        attribute, which may be a candidate too.
    bound : float, optional
        If the split is not known to be exact: an upper bound on the gains of its form.
    """

    split: Split
    table: CountTable
    gain: float
    merit: float
    exact: bool = True
    p_value: float | None = None
    given: bool = False
    bound: float | None = None

    @property
    def attribute(self) -> int:
        """The index of the attribute in the schema."""
        return self.split.attribute

    @property
    def branches(self) -> CountTable:
        """The counts by branch."""
        return branch_table(self.table, self.split)

    def child_counts(self) -> tuple[Floats, Integers]:
        """Return the weights and rows of the children, with divided rows."""
        weights, rows, _ = child_counts([self])
        return weights, rows


def child_counts(
    candidates: Sequence[Candidate],
) -> tuple[Floats, Integers, Integers]:
    """Return weights and rows of the children of all splits, and their starts.

    Missing rows take the branch of missing values, or are divided by proportions.
    """
    splits, tables = [c.split for c in candidates], [c.table for c in candidates]
    weights, rows, first = counts_by_branch(tables, splits)
    with_missing = [
        position for position, table in enumerate(tables) if table.missing_rows.any()
    ]
    for position in with_missing:
        split, table = splits[position], tables[position]
        if split.missing is not None:
            weights[first[position] + split.missing] += table.missing
            rows[first[position] + split.missing] += table.missing_rows
            continue
        children = slice(first[position], first[position + 1])
        shares = np.array(split.shares)[:, None]
        weights[children] += shares * table.missing
        rows[children] += (shares > 0) * table.missing_rows
    return weights, rows, first


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Node:
    """One node; a leaf if ``children`` is empty.

    For a numeric target ``weights`` are the moments, ``distribution`` holds the
    predicted number, and ``label`` is 0. If the node has a ``model``, the model
    predicts instead, and the number is the mean. Inner nodes have models too, in case
    they are pruned to leaves. Rows with a missing value take the first of
    ``surrogates`` with a known value, else the ``default_branch``; if that is None, the
    split decides.
    """

    number: int
    parent: int | None
    branch: int
    depth: int
    weights: Floats
    n_rows: int
    distribution: Floats
    label: int
    candidates: Sequence[Candidate] = ()
    chosen: int | None = None
    children: tuple[int, ...] = ()
    reason: Reason | None = None
    forced: bool = False
    model: LinearModel | None = None
    surrogates: tuple[Surrogate, ...] = ()
    default_branch: int | None = None

    @property
    def is_leaf(self) -> bool:
        """Whether the node has no split."""
        return not self.children

    @property
    def weight(self) -> float:
        """The weight of the training rows at the node."""
        numeric = len(self.weights) != len(self.distribution)
        return float(self.weights[0] if numeric else self.weights.sum())

    @property
    def value(self) -> float:
        """The number that a node of a numeric target predicts."""
        return float(self.distribution[0])

    @property
    def candidate(self) -> Candidate:
        """The winning candidate of an inner node."""
        assert self.chosen is not None
        return self.candidates[self.chosen]

    @property
    def split(self) -> Split | None:
        """The split of the node; None at a leaf."""
        return None if self.chosen is None else self.candidate.split

    @property
    def route(self) -> Route | None:
        """The routes of rows at the node; None at a leaf."""
        if self.split is None:
            return None
        return Route(self.split, self.surrogates, self.default_branch)

    @property
    def runners_up(self) -> tuple[Candidate, ...]:
        """The competitors of the winning split, best first."""
        competitors = [
            c for position, c in enumerate(self.candidates) if position != self.chosen
        ]
        return tuple(sorted(competitors, key=lambda c: -c.merit))
