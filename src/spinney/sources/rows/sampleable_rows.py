"""Rows that have numbers, wherever they are, and rows drawn of them.

Forests, folds, samples and rows to prune by ask for no more than this, in memory
(``HashedTrainingSet``), in an engine or in parts.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.memory_budget import MemoryBudget
from spinney.data import Declarations, Fingerprint, Schema, Target
from spinney.errors import DataError, Setting, phrase, refusal
from spinney.sources.base import Counts, Totals
from spinney.sources.rows.cluster_sums import ClusterSums, Points, sums_by_point
from spinney.sources.rows.row_hashing import HashSample, row_hashes, sample_counts
from spinney.sources.rows.training_rows import TrainingSet

BYTES = 40
"""What a cell takes in memory when trees are grown on it, ranks and copies included."""


def max_rows_in_bytes(n_bytes: int, schema: Schema) -> int:
    """Return how many rows, or parts of rows, may be held in so much memory."""
    return n_bytes // (BYTES * (schema.n_columns + 3))


ReservedFraction = Callable[[int, Target], float | None]
"""Which share of so many rows with such a target is reserved, if any."""


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """What the columns of a table are, and how it is read.

    ``from_zero`` counts the moments of a numeric target from 0, not from its mean;
    ``complete`` leaves out rows that lack a cell, ``identifiers`` says whether columns
    stay that only tell rows apart. ``format`` and ``encoding`` are those of a file,
    ``table`` is one of a database.
    """

    target: str
    weight: str | None
    declared: Declarations
    from_zero: bool = False
    complete: bool = False
    identifiers: bool = False
    format: str | None = None
    encoding: str | None = None
    table: str | None = None

    @property
    def reading(self) -> dict[str, Any]:
        """What readers of files are told."""
        names = ("format", "encoding")
        given = {name: getattr(self, name) for name in names}
        return {"declarations": self.declared, **given}


@dataclass(frozen=True, slots=True)
class RemoteOptions:
    """What is asked for of rows that are away, by their numbers.

    ``reserves`` says which share of them is reserved, those of the least numbers under
    a ``seed``; ``sampleable`` that all are given numbers, for others to draw by.
    ``room`` is how many bytes rows may take that come here; ``budget`` has a user's
    limit.
    """

    reserves: ReservedFraction | None = None
    seed: int = 0
    sampleable: bool = False
    room: int = 0
    budget: MemoryBudget | None = None

    def share(self, n_rows: int, target: Target) -> float | None:
        """Return which share of so many rows is reserved, if any."""
        return None if self.reserves is None else self.reserves(n_rows, target)


class SampleableRows(Protocol):
    """Rows that have numbers, wherever they are."""

    @property
    def schema(self) -> Schema:
        """What the codes of the rows mean."""
        ...

    @property
    def most_rows(self) -> int:
        """How many rows may be fetched."""
        ...

    def root(self) -> Totals:
        """Return the totals of all rows."""
        ...

    def fingerprint(self) -> Fingerprint:
        """Return what tells the rows from others."""
        ...

    def sampled_source(
        self, *draws: HashSample, class_weights: Floats | None = None
    ) -> AbstractContextManager[Counts]:
        """Give the rows that draws take, each with its weight as often as it is taken.

        ``class_weights`` are what these are multiplied by besides.
        """
        ...

    def fetch_sample(self, *draws: HashSample) -> tuple[TrainingSet, Floats]:
        """Return the rows that draws take, each of them once, and their numbers."""
        ...

    def subset(self, *draws: HashSample) -> "SampleableRows":
        """Return the rows that draws take, with the numbers that they have."""
        ...


@runtime_checkable
class SummedRows(Protocol):
    """Rows that k-means asks."""

    def cluster_sums(self, points: Points) -> ClusterSums:
        """Return the sums of all rows by their nearest point."""
        ...


@dataclass(frozen=True)
class RowSubset:
    """Some of the rows that have numbers, which keep these."""

    rows: SampleableRows
    draws: tuple[HashSample, ...]

    @property
    def schema(self) -> Schema:
        """What the codes of the rows mean."""
        return self.rows.schema

    @property
    def most_rows(self) -> int:
        """How many rows may be fetched."""
        return self.rows.most_rows

    @cached_property
    def _totals(self) -> Totals:
        with self.sampled_source() as source:
            return source.root()

    def root(self) -> Totals:
        """Return the totals of the rows."""
        return self._totals

    def fingerprint(self) -> Fingerprint:
        """Return what tells the rows from others."""
        return self._totals.fingerprint()

    def sampled_source(
        self, *draws: HashSample, class_weights: Floats | None = None
    ) -> AbstractContextManager[Counts]:
        """Give the rows that draws take."""
        return self.rows.sampled_source(
            *self.draws, *draws, class_weights=class_weights
        )

    def fetch_sample(self, *draws: HashSample) -> tuple[TrainingSet, Floats]:
        """Return the rows that draws take, each of them once, and their numbers."""
        return self.rows.fetch_sample(*self.draws, *draws)

    def subset(self, *draws: HashSample) -> SampleableRows:
        """Return the rows that draws take, with the numbers that they have."""
        return RowSubset(self.rows, (*self.draws, *draws))


@dataclass(frozen=True, slots=True)
class RemoteData:
    """Rows of an engine: what counts them, or all of them where they have room.

    ``origin`` tells them from others; rows that are ``reserved`` are not among them.
    ``sampleable`` are all of them with their numbers, where these were asked for.
    """

    origin: Fingerprint
    source: Counts | None = None
    training: TrainingSet | None = None
    reserved: TrainingSet | None = None
    sampleable: SampleableRows | None = None


def check_reserved_fraction(
    share: float, n_reserved: int, n_rows: int, most: int
) -> None:
    """Refuse a share that reserves no row, all of them, or more than have room."""
    if not n_reserved or n_reserved == n_rows:
        none = "leaves no row to grow on" if n_reserved else "reserves no row"
        raise refusal(Setting("validation_share", share), none, "take another share")
    if n_reserved > most:
        raise refusal(
            Setting("validation_share", share),
            f"reserves {n_reserved} rows to prune by, and {most} have room in memory",
            phrase(
                "take a smaller share, raise {}, or name a recipe that reserves none",
                Setting("memory_limit"),
            ),
        )


def check_rows_fit(n_rows: int, most: int) -> None:
    """Refuse to read more rows than have room."""
    if n_rows > most:
        msg = f"{n_rows} rows are to be read, and {most} have room in memory"
        raise DataError(msg, remedy=phrase("raise {}", Setting("memory_limit")))


@dataclass(frozen=True)
class HashedTrainingSet:
    """Rows at hand, with their numbers.

    ``origin`` tells them from others, where they are those of an engine; ``given`` are
    their numbers, where they are some of more rows.
    """

    training: TrainingSet
    origin: Fingerprint | None = None
    given: Floats | None = None

    @cached_property
    def numbers(self) -> Floats:
        """The number of each row."""
        return row_hashes(self.training) if self.given is None else self.given

    @property
    def schema(self) -> Schema:
        """What the codes of the rows mean."""
        return self.training.schema

    @property
    def most_rows(self) -> int:
        """How many rows may be fetched: all of them."""
        return len(self.training.classes)

    def root(self) -> Totals:
        """Return the totals of all rows."""
        return self.training.source().root()

    def fingerprint(self) -> Fingerprint:
        """Return what tells the rows from others."""
        return self.origin or self.training.fingerprint()

    @contextmanager
    def sampled_source(
        self, *draws: HashSample, class_weights: Floats | None = None
    ) -> Iterator[Counts]:
        """Give the rows that draws take."""
        yield self.take(draws, class_weights).source()

    def take(
        self, draws: Sequence[HashSample], class_weights: Floats | None = None
    ) -> TrainingSet:
        """Return the rows that draws take, with their weights."""
        times = sample_counts(draws, self.numbers)
        inside = np.flatnonzero(times)
        rows = self.training.take(inside)
        if rows.weights is not None or times.max(initial=0) > 1:
            rows = replace(rows, weights=rows.sample_weights * times[inside])
        return rows.weighed(class_weights)

    def fetch_sample(self, *draws: HashSample) -> tuple[TrainingSet, Floats]:
        """Return the rows that draws take, each of them once, and their numbers."""
        inside = sample_counts(draws, self.numbers) > 0
        return self.training.take(inside), self.numbers[inside]

    def subset(self, *draws: HashSample) -> SampleableRows:
        """Return the rows that draws take, with the numbers that they have."""
        rows, numbers = self.fetch_sample(*draws)
        origin = Fingerprint(len(numbers), rows.weight, "")
        return HashedTrainingSet(rows, origin, numbers)

    def cluster_sums(self, points: Points) -> ClusterSums:
        """Return the sums of all rows by their nearest point."""
        columns = [self.training.columns[position] for position in points.attributes]
        return sums_by_point(columns, self.training.sample_weights, points)
