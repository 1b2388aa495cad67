"""Every question of two answers as a cut of an ordered column.

The search knows ordered columns only. A number, or a value that has an order, is one by
itself. Where cells are missing there are two, for missing values go to the side that
loses least: they come first in one of them, and last in the other. A nominal attribute
has a column of two values for each pair of subsets; where that would be too many, for
each value against all others.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Integers
from spinney.data import Attribute
from spinney.search import midpoint
from spinney.sources.rows import TrainingSet
from spinney.trees import Question

# So many values of a nominal attribute are tried in all subsets: 63 questions.
MOST_IN_SUBSETS = 7


@dataclass(frozen=True, slots=True, eq=False)
class QuestionColumn:
    """An ordered column, and what its cuts ask.

    Parameters
    ----------
    attribute : int
        What it asks about.
    ranks : array of int
        The place of each row.
    values : array, optional
        What the ranks stand for: numbers, or codes in their order.
    codes : tuple of int
        Where it is nominal: those of rank 0.
    missing : int, optional
        The side of missing values, where there are any.
    """

    attribute: int
    ranks: Integers
    values: NDArray[Any] | None = None
    codes: tuple[int, ...] = ()
    missing: int | None = None

    def question(self, rows: Integers, upto: int) -> Question:
        """Return what parts these rows of a node at a rank, as a person would ask."""
        if self.values is None:
            return Question(self.attribute, codes=self.codes, missing=self.missing)
        ranks = self.ranks[rows]
        left, right = ranks[ranks <= upto], ranks[ranks > upto]
        first = int(self.missing == 0)
        low, high = int(left.max()) - first, int(right.min()) - first
        if low < 0 or high >= len(self.values):
            return Question(self.attribute, cut=np.inf, missing=1)
        low_value, high_value = float(self.values[low]), float(self.values[high])
        cut = midpoint(low_value, high_value)
        return Question(self.attribute, cut=cut, missing=self.missing)

    def missing_first(self, upto: int) -> bool:
        """Return whether up to a rank there are missing values alone."""
        if self.values is None:
            return False
        return upto == 0 and self.missing == 0


def question_columns(training: TrainingSet) -> list[QuestionColumn]:
    """Return the columns whose cuts are all questions of two answers about rows."""
    columns = []
    pairs = zip(training.schema.attributes, training.columns, strict=True)
    for index, (attribute, cells) in enumerate(pairs):
        columns += list(_columns_of(index, attribute, cells))
    return columns


def asked_one_by_one(training: TrainingSet) -> tuple[str, ...]:
    """Return the attributes of which not all subsets of values are tried."""
    pairs = zip(training.schema.attributes, training.columns, strict=True)
    return tuple(
        attribute.name
        for attribute, cells in pairs
        if attribute.kind == "nominal" and len(np.unique(cells)) > MOST_IN_SUBSETS
    )


def _columns_of(
    index: int, attribute: Attribute, cells: NDArray[Any]
) -> Iterator[QuestionColumn]:
    """Give the columns of one attribute."""
    if attribute.kind == "nominal":
        yield from _subsets(index, cells)
        return
    numbers = np.asarray(cells, dtype=np.float64) + 0.0  # -0.0 is 0.0
    known = ~np.isnan(numbers) if attribute.kind == "numeric" else numbers >= 0
    values, places = np.unique(numbers[known], return_inverse=True)
    if not len(values):
        return
    ranks = np.zeros(len(cells), np.int64)
    if known.all():
        ranks[known] = places
        yield QuestionColumn(index, ranks, values)
        return
    ranks[known] = places + 1
    yield QuestionColumn(index, ranks, values, missing=0)
    ranks = np.full(len(cells), len(values))
    ranks[known] = places
    yield QuestionColumn(index, ranks, values, missing=1)


def _subsets(index: int, cells: NDArray[Any]) -> Iterator[QuestionColumn]:
    """Give the ways to part the values of a nominal attribute; -1 is a missing one."""
    codes = np.unique(np.asarray(cells, dtype=np.int64)).tolist()
    if len(codes) < 2:
        return
    some: Iterator[tuple[int, ...]] = ((code,) for code in codes)
    if len(codes) <= MOST_IN_SUBSETS:
        first, *others = codes
        sizes = range(len(others))
        some = ((first, *rest) for size in sizes for rest in combinations(others, size))
    elif codes[0] < 0:
        some = ((code,) for code in codes[1:])
    for left in some:
        for with_left in _with_missing(left, codes):
            ranks = (~np.isin(cells, with_left)).astype(np.int64)
            known = tuple(code for code in with_left if code >= 0)
            missing = None if codes[0] >= 0 else int(-1 not in with_left)
            if known and len(known) < sum(code >= 0 for code in codes):
                yield QuestionColumn(index, ranks, codes=known, missing=missing)
            else:
                asked = np.zeros(0)
                yield QuestionColumn(index, ranks, asked, missing=1)


def _with_missing(
    left: tuple[int, ...], codes: list[int]
) -> tuple[tuple[int, ...], ...]:
    """Return the values of one side, of many with missing ones or without."""
    if codes[0] >= 0 or len(codes) <= MOST_IN_SUBSETS:
        return (left,)
    return left, (-1, *left)
