"""Rows that can be sampled by their hashes, in memory or in an engine.

Forests, folds, samples and validation rows need only this interface.
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

CELL_BYTES = 40
"""Bytes per cell while trees are grown, including ranks and copies."""


def max_rows_in_memory(n_bytes: int, schema: Schema) -> int:
    """Return the number of rows that fit in ``n_bytes``."""
    return n_bytes // (CELL_BYTES * (schema.n_columns + 3))


ReservedFraction = Callable[[int, Target], float | None]
"""A function of row number and target that returns the fraction to reserve, or None."""


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """The roles of a table's columns, and how it is read.

    ``from_zero`` counts the moments of a numeric target from 0, not from its mean;
    ``complete`` drops incomplete rows, ``identifiers`` keeps identifiers. ``format``
    and ``encoding`` apply to a file, ``table`` to a database.
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
        """The options of a file reader."""
        names = ("format", "encoding")
        options = {name: getattr(self, name) for name in names}
        return {"declarations": self.declared, **options}


@dataclass(frozen=True, slots=True)
class RemoteOptions:
    """The options for remote rows.

    ``reserves`` returns the fraction to reserve: the rows with the smallest hashes,
    given a ``seed``. ``sampleable`` requests row hashes. At most ``max_bytes`` of rows
    are fetched. ``budget`` is the user's memory limit.
    """

    reserves: ReservedFraction | None = None
    seed: int = 0
    sampleable: bool = False
    max_bytes: int = 0
    budget: MemoryBudget | None = None

    def share(self, n_rows: int, target: Target) -> float | None:
        """Return the fraction of rows to reserve, or None."""
        return None if self.reserves is None else self.reserves(n_rows, target)


class SampleableRows(Protocol):
    """The interface of rows that can be sampled by their hashes."""

    @property
    def schema(self) -> Schema:
        """The schema of the encoded rows."""
        ...

    @property
    def max_rows(self) -> int:
        """How many rows may be fetched."""
        ...

    def root(self) -> Totals:
        """Return the totals of all rows."""
        ...

    def fingerprint(self) -> Fingerprint:
        """Return the fingerprint of the rows."""
        ...

    def sampled_source(
        self, *samples: HashSample, class_weights: Floats | None = None
    ) -> AbstractContextManager[Counts]:
        """Yield a source of sampled rows, each with its weight times its count.

        The weights are also multiplied by ``class_weights``.
        """
        ...

    def fetch_sample(self, *samples: HashSample) -> tuple[TrainingSet, Floats]:
        """Return the sampled rows, each of them once, and their hashes."""
        ...

    def subset(self, *samples: HashSample) -> "SampleableRows":
        """Return the sampled rows with their hashes."""
        ...


@runtime_checkable
class SummedRows(Protocol):
    """The interface of rows that k-means can sum."""

    def cluster_sums(self, points: Points) -> ClusterSums:
        """Return the sums of all rows by their nearest point."""
        ...


@dataclass(frozen=True)
class RowSubset:
    """A subset of sampleable rows, with their hashes."""

    rows: SampleableRows
    samples: tuple[HashSample, ...]

    @property
    def schema(self) -> Schema:
        """The schema of the encoded rows."""
        return self.rows.schema

    @property
    def max_rows(self) -> int:
        """How many rows may be fetched."""
        return self.rows.max_rows

    @cached_property
    def _totals(self) -> Totals:
        with self.sampled_source() as source:
            return source.root()

    def root(self) -> Totals:
        """Return the totals of the rows."""
        return self._totals

    def fingerprint(self) -> Fingerprint:
        """Return the fingerprint of the rows."""
        return self._totals.fingerprint()

    def sampled_source(
        self, *samples: HashSample, class_weights: Floats | None = None
    ) -> AbstractContextManager[Counts]:
        """Give a source of sampled rows."""
        return self.rows.sampled_source(
            *self.samples, *samples, class_weights=class_weights
        )

    def fetch_sample(self, *samples: HashSample) -> tuple[TrainingSet, Floats]:
        """Return the sampled rows, each of them once, and their hashes."""
        return self.rows.fetch_sample(*self.samples, *samples)

    def subset(self, *samples: HashSample) -> SampleableRows:
        """Return the sampled rows with their hashes."""
        return RowSubset(self.rows, (*self.samples, *samples))


@dataclass(frozen=True, slots=True)
class RemoteData:
    """The rows of an engine: their source, or the rows themselves if they fit.

    ``origin`` is their fingerprint; ``reserved`` are further rows. ``sampleable`` has
    all rows with hashes, if requested.
    """

    origin: Fingerprint
    source: Counts | None = None
    training: TrainingSet | None = None
    reserved: TrainingSet | None = None
    sampleable: SampleableRows | None = None


def check_reserved_fraction(
    share: float, n_reserved: int, n_rows: int, max_rows: int
) -> None:
    """Refuse a fraction that reserves no row, all rows, or more than fit in memory."""
    if not n_reserved or n_reserved == n_rows:
        none = "leaves no row to grow on" if n_reserved else "reserves no row"
        raise refusal(Setting("validation_share", share), none, "use another fraction")
    if n_reserved > max_rows:
        raise refusal(
            Setting("validation_share", share),
            f"reserves {n_reserved} rows for pruning, but only {max_rows} fit in "
            "memory",
            phrase(
                "use a smaller fraction, raise {}, or use a recipe that reserves none",
                Setting("memory_limit"),
            ),
        )


def check_rows_fit(n_rows: int, max_rows: int) -> None:
    """Refuse to read more rows than fit in memory."""
    if n_rows > max_rows:
        msg = f"{n_rows} rows must be read, but only {max_rows} fit in memory"
        raise DataError(msg, remedy=phrase("raise {}", Setting("memory_limit")))


@dataclass(frozen=True)
class HashedTrainingSet:
    """Training rows in memory with their hashes.

    ``origin`` is the fingerprint of fetched rows; ``known_hashes`` are the hashes of a
    subset.
    """

    training: TrainingSet
    origin: Fingerprint | None = None
    known_hashes: Floats | None = None

    @cached_property
    def hashes(self) -> Floats:
        """The hash of each row."""
        return (
            row_hashes(self.training)
            if self.known_hashes is None
            else self.known_hashes
        )

    @property
    def schema(self) -> Schema:
        """The schema of the encoded rows."""
        return self.training.schema

    @property
    def max_rows(self) -> int:
        """How many rows may be fetched: all of them."""
        return len(self.training.classes)

    def root(self) -> Totals:
        """Return the totals of all rows."""
        return self.training.source().root()

    def fingerprint(self) -> Fingerprint:
        """Return the fingerprint of the rows."""
        return self.origin or self.training.fingerprint()

    @contextmanager
    def sampled_source(
        self, *samples: HashSample, class_weights: Floats | None = None
    ) -> Iterator[Counts]:
        """Give a source of sampled rows."""
        yield self.take(samples, class_weights).source()

    def take(
        self, samples: Sequence[HashSample], class_weights: Floats | None = None
    ) -> TrainingSet:
        """Return the sampled rows with their weights."""
        counts = sample_counts(samples, self.hashes)
        inside = np.flatnonzero(counts)
        rows = self.training.take(inside)
        if rows.weights is not None or counts.max(initial=0) > 1:
            rows = replace(rows, weights=rows.sample_weights * counts[inside])
        return rows.weighed(class_weights)

    def fetch_sample(self, *samples: HashSample) -> tuple[TrainingSet, Floats]:
        """Return the sampled rows, each of them once, and their hashes."""
        inside = sample_counts(samples, self.hashes) > 0
        return self.training.take(inside), self.hashes[inside]

    def subset(self, *samples: HashSample) -> SampleableRows:
        """Return the sampled rows with their hashes."""
        rows, hashes = self.fetch_sample(*samples)
        origin = Fingerprint(len(hashes), rows.weight, "")
        return HashedTrainingSet(rows, origin, hashes)

    def cluster_sums(self, points: Points) -> ClusterSums:
        """Return the sums of all rows by their nearest point."""
        columns = [self.training.columns[position] for position in points.attributes]
        return sums_by_point(columns, self.training.sample_weights, points)
