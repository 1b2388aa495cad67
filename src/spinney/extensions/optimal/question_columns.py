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

from spinney._support.arrays import Integers, distinct
from spinney._support.text import shown
from spinney.data import Attribute
from spinney.errors import DataError
from spinney.search import midpoint
from spinney.sources.rows import TrainingSet
from spinney.trees import SplitCondition

# So many values of a nominal attribute are tried in all subsets: 63 questions.
MOST_IN_SUBSETS = 7
MOST_CELLS = 1 << 27


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
    known : array of bool, optional
        Which rows have a value, where not all of them have.
    missing : int, optional
        The side of the others.
    """

    attribute: int
    ranks: Integers
    values: NDArray[Any] | None = None
    codes: tuple[int, ...] = ()
    known: NDArray[np.bool_] | None = None
    missing: int | None = None

    def question(self, rows: Integers, upto: int) -> tuple[SplitCondition, bool]:
        """Return what parts these rows of a node at a rank, as a person would ask.

        Where all known values are on one side, the question is whether there is one.
        Last comes whether those up to the rank take its second branch.
        """
        known = rows if self.known is None else rows[self.known[rows]]
        ranks = self.ranks[known]
        left, right = ranks[ranks <= upto], ranks[ranks > upto]
        if not len(left) or not len(right):
            return SplitCondition(self.attribute, cut=np.inf, missing=1), not len(left)
        if self.values is None:
            return SplitCondition(self.attribute, None, self.codes, self.missing), False
        first = int(self.missing == 0)
        low, high = (int(rank) - first for rank in (left.max(), right.min()))
        cut = midpoint(float(self.values[low]), float(self.values[high]))
        return SplitCondition(self.attribute, cut, (), self.missing), False


def question_columns(training: TrainingSet) -> list[QuestionColumn]:
    """Return the columns whose cuts are all questions of two answers about rows.

    Of those that part rows alike there is the first, and there is none without a cut.
    """
    _refuse_many_values(training)
    columns = dict[bytes, QuestionColumn]()
    pairs = zip(training.schema.attributes, training.columns, strict=True)
    for index, (attribute, cells) in enumerate(pairs):
        for column in _columns_of(index, attribute, cells):
            most = column.ranks.max()
            if most:  # one that falls where another rises has the same cuts
                key = min(column.ranks.tobytes(), (most - column.ranks).tobytes())
                columns.setdefault(key, column)
    return list(columns.values())


def _refuse_many_values(training: TrainingSet) -> None:
    """Refuse an attribute that would be too many columns for these rows."""
    pairs = zip(training.schema.attributes, training.columns, strict=True)
    for attribute, cells in pairs:
        if attribute.kind != "nominal":
            continue
        n_values = len(np.unique(cells))
        if n_values > MOST_IN_SUBSETS and 2 * n_values * len(cells) > MOST_CELLS:
            msg = (
                f"{shown(attribute.name)!r} has {n_values} values in {len(cells)} "
                "rows, and a search over all trees would ask for each of them: leave "
                "it out, or take a recipe that grows greedily, such as 'cart'"
            )
            raise DataError(msg)


def asked_one_by_one(training: TrainingSet) -> tuple[str, ...]:
    """Return the attributes of which not all subsets of values are tried."""
    pairs = zip(training.schema.attributes, training.columns, strict=True)
    return tuple(
        attribute.name
        for attribute, cells in pairs
        if attribute.kind == "nominal"
        and len(np.unique(cells[cells >= 0])) > MOST_IN_SUBSETS
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
    values, places = distinct(numbers[known])
    if not len(values):
        return
    ranks = np.zeros(len(cells), np.int64)
    if known.all():
        ranks[known] = places
        yield QuestionColumn(index, ranks, values)
        return
    ranks[known] = places + 1
    yield QuestionColumn(index, ranks, values, known=known, missing=0)
    ranks = np.full(len(cells), len(values))
    ranks[known] = places
    yield QuestionColumn(index, ranks, values, known=known, missing=1)


def _subsets(index: int, cells: NDArray[Any]) -> Iterator[QuestionColumn]:
    """Give the ways to part the values of a nominal attribute; -1 is a missing one."""
    codes = np.unique(np.asarray(cells, dtype=np.int64)).tolist()
    lacks = codes[0] < 0
    whole = len(codes) - lacks <= MOST_IN_SUBSETS
    for left in _all_subsets(codes) if whole else _single_values(codes):
        yield QuestionColumn(
            index,
            (~np.isin(cells, left)).astype(np.int64),
            codes=tuple(code for code in left if code >= 0),
            known=np.asarray(cells) >= 0 if lacks else None,
            missing=int(-1 not in left) if lacks else None,
        )


def _all_subsets(codes: list[int]) -> Iterator[tuple[int, ...]]:
    """Give all ways to part codes in two, each by the part that has the first."""
    first, *others = codes
    for size in range(len(others)):
        for rest in combinations(others, size):
            yield first, *rest


def _single_values(codes: list[int]) -> Iterator[tuple[int, ...]]:
    """Give each code against all others, missing values on either side."""
    for code in codes:
        yield (code,)
        if codes[0] < 0 <= code:
            yield -1, code
