"""Every binary split as a cut of an ordered column.

The search knows ordered columns only. A numeric or ordinal attribute is one column.
With missing cells it is two columns, with missing values first and last, because
missing values go to the better side. A nominal attribute has a binary column for each
splitting subset or, with many values, for each value against all others.
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
MAX_SUBSET_VALUES = 7
MAX_CELLS = 1 << 27


@dataclass(frozen=True, slots=True, eq=False)
class FeatureColumn:
    """An ordered column of an attribute, with the rank of each row.

    ``values`` are the values by rank, ``codes`` the nominal values of rank 0.
    ``present`` says which rows have a value, ``missing`` is the side of rows without
    one.
    """

    attribute: int
    ranks: Integers
    values: NDArray[Any] | None = None
    codes: tuple[int, ...] = ()
    present: NDArray[np.bool_] | None = None
    missing: int | None = None

    def condition(self, rows: Integers, rank: int) -> tuple[SplitCondition, bool]:
        """Return the split of a node's rows at a rank, and whether it is reversed.

        If all values are on one side, the split is on missing values.
        """
        ranks = self.ranks[rows if self.present is None else rows[self.present[rows]]]
        left, right = ranks[ranks <= rank], ranks[ranks > rank]
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
        for column in _attribute_columns(index, attribute, cells):
            largest = column.ranks.max()
            if largest:  # the reverse of a column has the same cuts
                key = min(column.ranks.tobytes(), (largest - column.ranks).tobytes())
                columns.setdefault(key, column)
    return list(columns.values())


def _refuse_many_values(training: TrainingSet) -> None:
    """Refuse an attribute that would become too many columns."""
    pairs = zip(training.schema.attributes, training.columns, strict=True)
    for attribute, cells in pairs:
        if attribute.kind != "nominal":
            continue
        n_values = len(np.unique(cells))
        if n_values > MAX_SUBSET_VALUES and 2 * n_values * len(cells) > MAX_CELLS:
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
        and len(np.unique(cells[cells >= 0])) > MAX_SUBSET_VALUES
    )


def _attribute_columns(
    index: int, attribute: Attribute, cells: NDArray[Any]
) -> Iterator[FeatureColumn]:
    """Yield the columns of one attribute."""
    if attribute.kind == "nominal":
        yield from _nominal_columns(index, cells)
        return
    numbers = np.asarray(cells, dtype=np.float64) + 0.0  # -0.0 is 0.0
    present = ~np.isnan(numbers) if attribute.kind == "numeric" else numbers >= 0
    values, ranks_of_present = distinct(numbers[present])
    if not len(values):
        return
    if present.all():
        yield FeatureColumn(index, ranks_of_present, values)
        return
    ranks = np.zeros(len(cells), np.int64)
    ranks[present] = ranks_of_present + 1
    yield FeatureColumn(index, ranks, values, present=present, missing=0)
    ranks = np.full(len(cells), len(values))
    ranks[present] = ranks_of_present
    yield FeatureColumn(index, ranks, values, present=present, missing=1)


def _nominal_columns(index: int, cells: NDArray[Any]) -> Iterator[FeatureColumn]:
    """Yield the columns of a nominal attribute; -1 is a missing value."""
    codes = np.unique(np.asarray(cells, dtype=np.int64)).tolist()
    has_missing = codes[0] < 0
    tries_all = len(codes) - has_missing <= MAX_SUBSET_VALUES
    for left in _all_subsets(codes) if tries_all else _single_values(codes):
        yield FeatureColumn(
            index,
            (~np.isin(cells, left)).astype(np.int64),
            codes=tuple(code for code in left if code >= 0),
            present=np.asarray(cells) >= 0 if has_missing else None,
            missing=int(-1 not in left) if has_missing else None,
        )


def _all_subsets(codes: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield the binary partitions of codes, each as the subset with the first code."""
    first, *rest = codes
    for size in range(len(rest)):
        for subset in combinations(rest, size):
            yield first, *subset


def _single_values(codes: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield each code against all others, with missing values on either side."""
    for code in codes:
        yield (code,)
        if codes[0] < 0 <= code:
            yield -1, code
