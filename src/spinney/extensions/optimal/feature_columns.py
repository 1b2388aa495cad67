"""Every binary split as a cut of an ordered column.

The search knows ordered columns only. A numeric or ordinal attribute is one. With
missing cells it is two, with missing values first and last, because they go to the
better side. A nominal attribute has a binary column for each splitting subset or, with
many values, for each value against all others.
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

# The most values of a nominal attribute whose subsets are all tried: 63 splits.
MOST_IN_SUBSETS = 7
MOST_CELLS = 1 << 27


@dataclass(frozen=True, slots=True, eq=False)
class FeatureColumn:
    """An ordered column of an attribute, with the rank of each row.

    ``values`` are those of the ranks, ``codes`` the nominal values of rank 0. ``known``
    says which rows have a value, ``missing`` is the side of the others.
    """

    attribute: int
    ranks: Integers
    values: NDArray[Any] | None = None
    codes: tuple[int, ...] = ()
    known: NDArray[np.bool_] | None = None
    missing: int | None = None

    def question(self, rows: Integers, upto: int) -> tuple[SplitCondition, bool]:
        """Return the split of a node's rows at a rank, and whether it is reversed.

        If all known values are on one side, the split is on missing values.
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


def feature_columns(training: TrainingSet) -> list[FeatureColumn]:
    """Return the columns whose cuts are all binary splits, without duplicates."""
    _refuse_many_values(training)
    columns = dict[bytes, FeatureColumn]()
    pairs = zip(training.schema.attributes, training.columns, strict=True)
    for index, (attribute, cells) in enumerate(pairs):
        for column in _columns_of(index, attribute, cells):
            most = column.ranks.max()
            if most:  # one that falls where another rises has the same cuts
                key = min(column.ranks.tobytes(), (most - column.ranks).tobytes())
                columns.setdefault(key, column)
    return list(columns.values())


def _refuse_many_values(training: TrainingSet) -> None:
    """Refuse an attribute that would become too many columns."""
    pairs = zip(training.schema.attributes, training.columns, strict=True)
    for attribute, cells in pairs:
        if attribute.kind != "nominal":
            continue
        n_values = len(np.unique(cells))
        if n_values > MOST_IN_SUBSETS and 2 * n_values * len(cells) > MOST_CELLS:
            msg = (
                f"column {shown(attribute.name)!r} has {n_values} values in "
                f"{len(cells)} rows, too many for optimal trees: exclude it, or use a "
                "greedy recipe such as 'cart'"
            )
            raise DataError(msg)


def single_value_attributes(training: TrainingSet) -> tuple[str, ...]:
    """Return the attributes whose values are tried one by one, not in subsets."""
    pairs = zip(training.schema.attributes, training.columns, strict=True)
    return tuple(
        attribute.name
        for attribute, cells in pairs
        if attribute.kind == "nominal"
        and len(np.unique(cells[cells >= 0])) > MOST_IN_SUBSETS
    )


def _columns_of(
    index: int, attribute: Attribute, cells: NDArray[Any]
) -> Iterator[FeatureColumn]:
    """Yield the columns of one attribute."""
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
        yield FeatureColumn(index, ranks, values)
        return
    ranks[known] = places + 1
    yield FeatureColumn(index, ranks, values, known=known, missing=0)
    ranks = np.full(len(cells), len(values))
    ranks[known] = places
    yield FeatureColumn(index, ranks, values, known=known, missing=1)


def _subsets(index: int, cells: NDArray[Any]) -> Iterator[FeatureColumn]:
    """Yield the columns of a nominal attribute; -1 is a missing value."""
    codes = np.unique(np.asarray(cells, dtype=np.int64)).tolist()
    lacks = codes[0] < 0
    whole = len(codes) - lacks <= MOST_IN_SUBSETS
    for left in _all_subsets(codes) if whole else _single_values(codes):
        yield FeatureColumn(
            index,
            (~np.isin(cells, left)).astype(np.int64),
            codes=tuple(code for code in left if code >= 0),
            known=np.asarray(cells) >= 0 if lacks else None,
            missing=int(-1 not in left) if lacks else None,
        )


def _all_subsets(codes: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield all binary partitions of codes, each as the part with the first code."""
    first, *others = codes
    for size in range(len(others)):
        for rest in combinations(others, size):
            yield first, *rest


def _single_values(codes: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield each code against all others, with missing values on either side."""
    for code in codes:
        yield (code,)
        if codes[0] < 0 <= code:
            yield -1, code
