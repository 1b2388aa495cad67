"""Row hashes in partitions (``sources.rows.row_hashing``), and samples by them.

Equal rows may be in several partitions, and the number of a copy depends on all of
them. So each partition reports how many of its rows have which s and weight, and
receives the number of equal rows in partitions before it. Many rows are divided by s in
slices::

    partition₀ ─ sums₀ ─┬─ slice₀ ─┬─ before ─┬─ numbers₀
    partition₁ ─ sums₁ ─┴─ slice₁ ─┘          └─ numbers₁
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from operator import getitem
from typing import Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.data import Fingerprint, Schema
from spinney.extensions.partitions.encoded_partition import EncodedPartition
from spinney.extensions.partitions.executors import Executor, plus, sum_results
from spinney.extensions.partitions.partitioned_source import PartitionedSource
from spinney.sources.base import ROOT, Counts, Totals
from spinney.sources.rows.cluster_sums import ClusterSums, Points
from spinney.sources.rows.memory import RowAssignment
from spinney.sources.rows.row_hashing import (
    HashSample,
    Range,
    behind,
    cell_hash_sums,
    numbers_of,
    sample_counts,
)
from spinney.sources.rows.sampleable_rows import (
    HashedTrainingSet,
    RowSubset,
    SampleableRows,
    check_rows_fit,
)
from spinney.sources.rows.training_rows import TrainingSet

ROWS_IN_SLICE = 2_000_000
"""About how many rows are counted together."""


class HashedPartitions:
    """Rows in partitions, with their hashes.

    Parameters
    ----------
    executor : Executor
        Who holds the partitions.
    partitions : sequence of handles
        The partitions, encoded.
    schema : Schema
        What the codes mean.
    many : collection of int
        The attributes that have very many numbers, and bins.
    ranges : mapping of int to Range
        Those of numbers, in all partitions together; at -1 that of the target.
    most_rows : int
        How many rows may come here.
    seed : int
        Another one gives other numbers.
    """

    def __init__(
        self,
        executor: Executor,
        partitions: Sequence[Any],
        schema: Schema,
        many: Iterable[int],
        ranges: Mapping[int, Range],
        *,
        most_rows: int,
        seed: int = 0,
    ) -> None:
        self.schema = schema
        self.source = PartitionedSource(executor, partitions, schema, many)
        self._executor, self._partitions, self._many = (
            executor,
            list(partitions),
            list(many),
        )
        self.most_rows = most_rows
        self._numbers = self._numbered(ranges, seed)

    def _numbered(self, ranges: Mapping[int, Range], seed: int) -> list[Any]:
        """Return the numbers of the rows of each partition."""
        submit = self._executor.submit
        sums = [
            submit(sums_of, partition, ranges, seed) for partition in self._partitions
        ]
        n_slices = self.root().n_rows // ROWS_IN_SLICE + 1
        before: list[list[Any]] = [[] for _ in sums]
        for slice_ in range(n_slices):
            slices = [submit(slice_of, each, slice_, n_slices) for each in sums]
            copies = submit(rows_before, *slices)
            for number, partition in enumerate(before):
                partition.append(submit(getitem, copies, number))
        pairs = zip(sums, before, strict=True)
        return [submit(numbered, each, *copies) for each, copies in pairs]

    def root(self) -> Totals:
        """Return the totals of all rows."""
        return self.source.root()

    def fingerprint(self) -> Fingerprint:
        """Return the fingerprint of the rows."""
        return self.root().fingerprint()

    @contextmanager
    def sampled_source(
        self, *draws: HashSample, class_weights: Floats | None = None
    ) -> Iterator[Counts]:
        """Give the rows that draws take: they alone stand at the root."""
        yield self.take(draws, class_weights)

    def take(
        self, draws: Sequence[HashSample], class_weights: Floats | None = None
    ) -> PartitionedSource:
        """Return the rows that draws take."""
        pairs = zip(self._partitions, self._numbers, strict=True)
        submit = self._executor.submit
        standing = [submit(taken_at_root, *p, draws, class_weights) for p in pairs]
        return PartitionedSource(
            self._executor, self._partitions, self.schema, self._many, standing=standing
        )

    def cluster_sums(self, points: Points) -> ClusterSums:
        """Return the sums of all rows by their nearest point."""
        partitions = [
            self._executor.submit(sums_in_part, p, points) for p in self._partitions
        ]
        total: ClusterSums = sum_results(self._executor, partitions, plus)
        return total

    def subset(self, *draws: HashSample) -> SampleableRows:
        """Return the rows that draws take, with the numbers that they have."""
        return RowSubset(self, draws)

    def fetch_sample(self, *draws: HashSample) -> tuple[TrainingSet, Floats]:
        """Return the rows that draws take, each of them once, and their numbers."""
        check_rows_fit(self.take(draws).root().n_rows, self.most_rows)
        pairs = zip(self._partitions, self._numbers, strict=True)
        partitions = [self._executor.submit(rows_taken, *pair, draws) for pair in pairs]
        fetched: tuple[TrainingSet, Floats] = sum_results(
            self._executor, partitions, joined
        )
        return fetched


def all_rows(executor: Executor, partitions: Sequence[Any]) -> TrainingSet:
    """Return the rows of all partitions, here."""
    handles = [executor.submit(rows_in, partition) for partition in partitions]
    rows: TrainingSet = sum_results(executor, handles, joined_rows)
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class RowHashSums:
    """The s of the rows of a partition, and their weights."""

    sums: Floats
    weights: Floats

    def __sizeof__(self) -> int:
        return self.sums.nbytes + self.weights.nbytes

    def inside(self, slice_: int, n_slices: int) -> Integers:
        """Return the rows of a slice, by s and weight."""
        rows = np.flatnonzero(np.floor(behind(self.sums) * n_slices) == slice_)
        return rows[np.lexsort((self.weights[rows], self.sums[rows]))]


@dataclass(frozen=True, slots=True, eq=False)
class HashSlice:
    """How many rows of a partition have which s and weight, of some of the s."""

    sums: Floats
    weights: Floats
    n_rows: Integers


def sums_of(
    partition: EncodedPartition, ranges: Mapping[int, Range], seed: int
) -> RowHashSums:
    """Return the s of the rows of a partition."""
    columns, classes, weights = partition.source.rows
    schema = partition.source.schema
    return RowHashSums(
        cell_hash_sums(schema, columns, classes, ranges, seed=seed), weights
    )


def slice_of(rows: RowHashSums, slice_: int, n_slices: int) -> HashSlice:
    """Return the counts of a partition in a slice."""
    inside = rows.inside(slice_, n_slices)
    sums, weights = rows.sums[inside], rows.weights[inside]
    starts = _starts(sums, weights)
    n_rows = np.diff(starts, append=len(inside))
    return HashSlice(sums[starts], weights[starts], n_rows)


def _starts(sums: Floats, weights: Floats) -> Integers:
    """Return where a run of one s and one weight begins, of rows in that order."""
    other = (np.diff(sums) != 0) | (np.diff(weights) != 0)
    return np.flatnonzero(np.concatenate([np.ones(len(sums[:1]), bool), other]))


def rows_before(*slices: HashSlice) -> list[Integers]:
    """Return how many equal rows come before those of each partition.

    They are lighter, or in a partition before.
    """
    owner = np.repeat(np.arange(len(slices)), [len(each.sums) for each in slices])
    sums, weights, n_rows = (
        np.concatenate([getattr(each, name) for each in slices])
        for name in ("sums", "weights", "n_rows")
    )
    order = np.lexsort((owner, weights, sums))
    upto = np.cumsum(n_rows[order]) - n_rows[order]
    begins = np.flatnonzero(np.diff(sums[order], prepend=np.nan) != 0)
    sizes = np.diff(begins, append=len(order))
    before = np.empty(len(order), np.int64)
    before[order] = upto - np.repeat(upto[begins], sizes)
    return [before[owner == place] for place in range(len(slices))]


def numbered(rows: RowHashSums, *before: Integers) -> Floats:
    """Return the hashes of the rows of a partition, by the copies before it."""
    copies = np.empty(len(rows.sums), np.int64)
    for slice_, earlier in enumerate(before):
        inside = rows.inside(slice_, len(before))
        sums, weights = rows.sums[inside], rows.weights[inside]
        starts = _starts(sums, weights)
        sizes = np.diff(starts, append=len(inside))
        own = np.arange(len(inside)) - np.repeat(starts, sizes)
        copies[inside] = own + np.repeat(earlier, sizes) + 1
    return numbers_of(rows.sums, copies)


def taken_at_root(
    partition: EncodedPartition,
    numbers: Floats,
    draws: Sequence[HashSample],
    class_weights: Floats | None,
) -> RowAssignment:
    """Return where the rows stand that draws take: at the root, and no others."""
    times = sample_counts(draws, numbers)
    inside = np.flatnonzero(times)
    _, classes, weights = partition.source.rows
    own = weights[inside] * times[inside]
    if class_weights is not None:
        own = own * class_weights[classes[inside]]
    return RowAssignment({ROOT: (inside, own)})


def sums_in_part(partition: EncodedPartition, points: Points) -> ClusterSums:
    """Return the sums of the rows of a partition by their nearest point."""
    return HashedTrainingSet(rows_in(partition)).cluster_sums(points)


def rows_in(partition: EncodedPartition) -> TrainingSet:
    """Return the rows of a partition."""
    columns, classes, weights = partition.source.rows
    own = None if np.all(weights == 1.0) else weights
    return TrainingSet(partition.source.schema, tuple(columns), classes, own)


def rows_taken(
    partition: EncodedPartition, numbers: Floats, draws: Sequence[HashSample]
) -> tuple[TrainingSet, Floats]:
    """Return the rows of a partition that draws take, and their numbers."""
    return HashedTrainingSet(rows_in(partition), given=numbers).fetch_sample(*draws)


def joined(*partitions: tuple[TrainingSet, Floats]) -> tuple[TrainingSet, Floats]:
    """Return the rows of several partitions, and their numbers."""
    rows, numbers = zip(*partitions, strict=True)
    return joined_rows(*rows), np.concatenate(numbers)


def joined_rows(*partitions: TrainingSet) -> TrainingSet:
    """Return the rows of several partitions."""
    weights = None
    if any(partition.weights is not None for partition in partitions):
        weights = np.concatenate([partition.sample_weights for partition in partitions])
    columns = zip(*(partition.columns for partition in partitions), strict=True)
    return replace(
        partitions[0],
        columns=tuple(map(np.concatenate, columns)),
        classes=np.concatenate([partition.classes for partition in partitions]),
        weights=weights,
    )
