"""Facts about the columns of one partition, or of all of them.

Before encoding, the values of all partitions are united along a tree. A partition
reports all distinct numbers of a column, or an evenly spaced sample of the sorted
numbers if there are too many.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import Column, Value, level_order
from spinney.errors import DataError, SpinneyWarning

MAX_VALUES = 4_000
"""Columns with at most this many distinct numbers are counted by value."""
SAMPLE_ROWS = 50_000
"""The size of a partition's sample that determines bins and edges."""
N_POINTS = 1_024
"""The number of points reported for a column with many numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnFacts:
    """The facts about a column.

    Parameters
    ----------
    name, kind, unit, declared
        The fields of a ``Column``.
    levels, present : tuples
        All values of a nominal or ordinal column, and the values that occur.
    n_known, n_lacking : int
        The number of known and of missing cells; the latter includes cells of excluded
        incomplete rows.
    numbers : array
        All distinct numbers if ``is_all``, otherwise sorted sample points.
    least, greatest : float
        Minimum and maximum; infinite if there are no numbers.
    """

    name: str
    kind: str
    unit: str | None
    declared: bool
    levels: tuple[Value, ...]
    present: tuple[Value, ...]
    n_known: int
    n_lacking: int
    numbers: Floats
    is_all: bool
    least: float
    greatest: float

    @classmethod
    def of(cls, column: Column, n_lacking: int) -> "ColumnFacts":
        """Return the facts of a column of a partition."""
        known = column.cells[~column.missing]
        numbers, is_all, least, greatest = np.zeros(0), True, np.inf, -np.inf
        present: tuple[Value, ...] = ()
        if column.kind == "numeric":
            numbers, is_all = _sample_numbers(known + 0.0)
            least, greatest = known.min(initial=np.inf), known.max(initial=-np.inf)
        else:
            codes = np.flatnonzero(np.bincount(known, minlength=len(column.levels)))
            present = tuple(column.levels[code] for code in codes.tolist())
        return cls(
            column.name,
            column.kind,
            column.unit,
            column.declared,
            column.levels,
            present,
            len(known),
            n_lacking,
            numbers,
            is_all,
            float(least),
            float(greatest),
        )

    @property
    def range(self) -> tuple[float, float]:
        """The minimum, and the distance from minimum to maximum."""
        if self.least > self.greatest:
            return 0.0, 0.0
        return self.least, self.greatest - self.least

    def unite(self, second: "ColumnFacts") -> "ColumnFacts":
        """Return the facts of the cells of both columns."""
        first, second = self.in_order(second)
        self._check_same_kind(first, second)
        numbers = np.union1d(first.numbers, second.numbers)
        is_all = first.is_all and second.is_all and len(numbers) <= MAX_VALUES
        if not is_all:
            numbers = _merge_samples(first, second)
        levels = first.levels
        if first.kind != "ordinal":
            levels = _sorted_values({*first.levels, *second.levels})
        return replace(
            first,
            declared=first.declared or second.declared,
            levels=levels,
            present=_sorted_values(
                {*first.present, *second.present}, first.levels, first.kind
            ),
            n_known=first.n_known + second.n_known,
            n_lacking=first.n_lacking + second.n_lacking,
            numbers=numbers,
            is_all=is_all,
            least=min(first.least, second.least),
            greatest=max(first.greatest, second.greatest),
        )

    def in_order(self, other: "ColumnFacts") -> tuple["ColumnFacts", "ColumnFacts"]:
        """Return both facts, first one whose type counts (with known cells, if any)."""
        if self.n_known or not other.n_known:
            return self, other
        return other, self

    @staticmethod
    def _check_same_kind(one: "ColumnFacts", other: "ColumnFacts") -> None:
        """Refuse a column whose kind or order differs between partitions."""
        if not other.n_known:
            return
        same = (one.kind, one.unit) == (other.kind, other.unit)
        if same and (one.kind != "ordinal" or one.levels == other.levels):
            return
        kinds = [f"{e.kind} ({e.unit})" if e.unit else e.kind for e in (one, other)]
        if kinds[0] == kinds[1]:
            problem = "the order of its values differs between partitions"
        else:
            problem = f"it is {kinds[0]} in one partition and {kinds[1]} in another"
        msg = f"column {one.name!r}: {problem}"
        raise DataError(msg, remedy="declare it, or give all partitions the same type")

    @property
    def column(self) -> Column:
        """The values that occur, as a column."""
        kind = "ordinal" if self.kind == "ordinal" else "nominal"
        if self.kind == "numeric":
            return Column(self.name, "numeric", self.numbers, unit=self.unit)
        codes = {level_order(value): code for code, value in enumerate(self.levels)}
        cells = np.array(
            [codes[level_order(value)] for value in self.present], dtype=np.int32
        )
        return Column(
            self.name,
            kind,  # type: ignore[arg-type]
            cells,
            self.levels,
            declared=self.declared,
        )


def _sorted_values(
    values: set[Value], order: Sequence[Value] = (), kind: str = "nominal"
) -> tuple[Value, ...]:
    if kind == "ordinal":
        return tuple(value for value in order if value in values)
    return tuple(sorted(values, key=level_order))


def _sample_numbers(known: Floats) -> tuple[Floats, bool]:
    """Return distinct numbers or sorted sample points, and whether these are all."""
    step = max(1, len(known) // SAMPLE_ROWS)
    different = np.unique(known[::step])
    if len(different) <= MAX_VALUES and step > 1:
        different = np.unique(known)
    if len(different) <= MAX_VALUES:
        return different, True
    return _sample_points(np.sort(known[::step]), different), False


def _sample_points(cells: Floats, different: Floats) -> Floats:
    """Return evenly spaced points of the sorted cells and of the distinct numbers."""
    places = np.linspace(0, len(cells) - 1, N_POINTS).astype(np.int64)
    spread = np.linspace(0, len(different) - 1, N_POINTS // 16).astype(np.int64)
    return np.unique(np.concatenate([cells[places], different[spread]]))


def _merge_samples(first: ColumnFacts, second: ColumnFacts) -> Floats:
    """Return evenly spaced points of two samples together.

    Each number represents an equal share of its partition's cells.
    """
    numbers = np.concatenate([first.numbers, second.numbers])
    weights = [
        np.full(len(facts.numbers), facts.n_known / max(1, len(facts.numbers)))
        for facts in (first, second)
    ]
    order = np.argsort(numbers, kind="stable")
    cumulative = np.cumsum(np.concatenate(weights)[order])
    places = np.searchsorted(cumulative, np.linspace(0, cumulative[-1], SAMPLE_ROWS))
    cells = numbers[order][places.clip(max=len(numbers) - 1)]
    return _sample_points(cells, np.unique(numbers))


@dataclass(frozen=True, slots=True, eq=False)
class TargetSums:
    """The sums of a numeric target over all rows with a weight."""

    weighed: float
    is_whole: bool
    finite: bool
    least: float
    greatest: float

    @classmethod
    def of(cls, numbers: Floats, weights: Floats | None) -> "TargetSums":
        """Return the sums of some rows, or of none."""
        if not len(numbers):
            return cls(0.0, True, True, np.inf, -np.inf)
        weighed = numbers.sum() if weights is None else (numbers * weights).sum()
        finite = bool(np.isfinite(numbers).all())
        whole = bool((numbers == np.floor(numbers)).all())
        return cls(float(weighed), whole, finite, numbers.min(), numbers.max())

    def plus(self, other: "TargetSums") -> "TargetSums":
        """Return the sums of both."""
        return TargetSums(
            self.weighed + other.weighed,
            self.is_whole and other.is_whole,
            self.finite and other.finite,
            min(self.least, other.least),
            max(self.greatest, other.greatest),
        )


@dataclass(frozen=True, slots=True, eq=False)
class PartitionFacts:
    """The united facts of one or several partitions of a table.

    Parameters
    ----------
    columns : tuple of ColumnFacts
        The facts of the usable rows by column, target and weight included.
    n_read, n_classless : int
        The number of rows read, and of rows without class.
    n_incomplete, lost : int, float
        The number of rows excluded for a missing cell, and their weight.
    n_rows : int
        The number of usable rows.
    weight, least : float
        The total and the smallest weight of usable rows.
    sums : TargetSums, optional
        The sums of a numeric target.
    warnings : tuple of SpinneyWarning
        The warnings of the readers.
    """

    columns: tuple[ColumnFacts, ...]
    n_read: int
    n_classless: int
    n_incomplete: int
    lost: float
    n_rows: int
    weight: float
    least: float
    sums: TargetSums | None
    warnings: tuple[SpinneyWarning, ...]

    def named(self, name: str) -> ColumnFacts:
        """Return the facts of a column by name."""
        return next(column for column in self.columns if column.name == name)

    def plus(self, other: "PartitionFacts") -> "PartitionFacts":
        """Return the facts of both together."""
        names = [tuple(c.name for c in facts.columns) for facts in (self, other)]
        if sorted(names[0]) != sorted(names[1]):
            raise _different_columns_error(*names)
        messages = {str(each): each for each in (*other.warnings, *self.warnings)}
        first, second = self.sums, other.sums
        return PartitionFacts(
            tuple(each.unite(other.named(each.name)) for each in self.columns),
            self.n_read + other.n_read,
            self.n_classless + other.n_classless,
            self.n_incomplete + other.n_incomplete,
            self.lost + other.lost,
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            min(self.least, other.least),
            first.plus(second)
            if first is not None and second is not None
            else first or second,
            tuple(messages.values()),
        )


def _different_columns_error(
    first: tuple[str, ...], second: tuple[str, ...]
) -> DataError:
    """Return the error for partitions with different columns."""
    different = sorted(set(first).symmetric_difference(second))
    msg = f"column {different[0]!r} is in some partitions and not in others"
    return DataError(msg, remedy="give partitions that have the same columns")
