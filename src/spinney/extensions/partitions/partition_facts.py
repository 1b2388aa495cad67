"""Facts about the columns of one partition, or of all of them.

Before encoding, all partitions agree on the values: each reports its own, and these are
united along a tree. A partition reports all different numbers of a column, or a sample
at equal distances in their order if there are too many.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import Column, Value, level_order
from spinney.errors import DataError, SpinneyWarning

MAX_VALUES = 4_000
"""How many different numbers of a column are counted one by one."""
SAMPLE_ROWS = 50_000
"""Sample size of a partition that decides on bins and their edges."""
N_POINTS = 1_024
"""The number of points that are reported of many numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnFacts:
    """The facts about a column.

    Parameters
    ----------
    name, kind, unit, declared
        As those of a ``Column``.
    levels, present : tuples
        The values of a nominal or ordinal column, and those that a row has.
    n_known, n_lacking : int
        How many cells are not missing, and how many are: of the latter also in rows
        that are left out as they lack one.
    numbers : array
        All different numbers, or some in their order, as ``is_all`` says.
    least, greatest : float
        Of all numbers; infinite where there are none.
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
        """The least number, and how far the greatest is from it."""
        if self.least > self.greatest:
            return 0.0, 0.0
        return self.least, self.greatest - self.least

    def unite(self, second: "ColumnFacts") -> "ColumnFacts":
        """Return the facts of the cells of both."""
        first, second = self.in_order(second)
        self._check_same_kind(first, second)
        numbers = np.union1d(first.numbers, second.numbers)
        is_all = first.is_all and second.is_all and len(numbers) <= MAX_VALUES
        if not is_all:
            numbers = _merge_samples(first, second)
        levels = first.levels
        if first.kind != "ordinal":
            levels = _sorted({*first.levels, *second.levels})
        return replace(
            first,
            declared=first.declared or second.declared,
            levels=levels,
            present=_sorted(
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
        """Return both, one whose type counts first: it has a cell, if any has."""
        if self.n_known or not other.n_known:
            return self, other
        return other, self

    @staticmethod
    def _check_same_kind(one: "ColumnFacts", other: "ColumnFacts") -> None:
        """Refuse a column that is one thing in this partition and another in that."""
        if not other.n_known:
            return
        same = (one.kind, one.unit) == (other.kind, other.unit)
        if same and (one.kind != "ordinal" or one.levels == other.levels):
            return
        kinds = [f"{e.kind} ({e.unit})" if e.unit else e.kind for e in (one, other)]
        if kinds[0] == kinds[1]:
            problem = "its values stand in two orders"
        else:
            problem = f"it is {kinds[0]} in one partition and {kinds[1]} in another"
        msg = f"column {one.name!r}: {problem}"
        raise DataError(msg, remedy="declare it, or give it one type in all partitions")

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


def _sorted(
    values: set[Value], order: Sequence[Value] = (), kind: str = "nominal"
) -> tuple[Value, ...]:
    if kind == "ordinal":
        return tuple(value for value in order if value in values)
    return tuple(sorted(values, key=level_order))


def _sample_numbers(known: Floats) -> tuple[Floats, bool]:
    """Return all different numbers, or some in their order and that there are more."""
    step = max(1, len(known) // SAMPLE_ROWS)
    different = np.unique(known[::step])
    if len(different) <= MAX_VALUES and step > 1:
        different = np.unique(known)
    if len(different) <= MAX_VALUES:
        return different, True
    return _points(np.sort(known[::step]), different), False


def _points(cells: Floats, different: Floats) -> Floats:
    """Return numbers at equal distances among cells, and some of the different ones."""
    places = np.linspace(0, len(cells) - 1, N_POINTS).astype(np.int64)
    spread = np.linspace(0, len(different) - 1, N_POINTS // 16).astype(np.int64)
    return np.unique(np.concatenate([cells[places], different[spread]]))


def _merge_samples(first: ColumnFacts, second: ColumnFacts) -> Floats:
    """Return points at equal distances among the cells of both.

    Each number stands for as many cells as its share of those of its partition.
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
    return _points(cells, np.unique(numbers))


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
        """Return those of some rows, of which there may be none."""
        if not len(numbers):
            return cls(0.0, True, True, np.inf, -np.inf)
        weighed = numbers.sum() if weights is None else (numbers * weights).sum()
        finite = bool(np.isfinite(numbers).all())
        whole = bool((numbers == np.floor(numbers)).all())
        return cls(float(weighed), whole, finite, numbers.min(), numbers.max())

    def plus(self, other: "TargetSums") -> "TargetSums":
        """Return those of both."""
        return TargetSums(
            self.weighed + other.weighed,
            self.is_whole and other.is_whole,
            self.finite and other.finite,
            min(self.least, other.least),
            max(self.greatest, other.greatest),
        )


@dataclass(frozen=True, slots=True, eq=False)
class PartitionFacts:
    """The facts of one partition of a table, or of several together.

    Parameters
    ----------
    columns : tuple of ColumnFacts
        Those of the rows that count, target and weight included.
    n_read, n_classless : int
        How many rows there are, and how many of these have no class.
    n_incomplete, lost : int, float
        The number of rows excluded for a missing cell, and their weight.
    n_rows : int
        How many rows count.
    weight, least : float
        What they weigh, and the lightest of them.
    sums : TargetSums, optional
        Where the target is a number.
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
        """Return the facts of the column of this name."""
        return next(column for column in self.columns if column.name == name)

    def plus(self, other: "PartitionFacts") -> "PartitionFacts":
        """Return the facts of the rows of both."""
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
    """Return the error of partitions that are not partitions of one table."""
    different = sorted(set(first).symmetric_difference(second))
    msg = f"column {different[0]!r} is in some partitions and not in others"
    return DataError(msg, remedy="give partitions that have the same columns")
