"""Row hashes in partitions (``sources.rows.row_hashing``), and samples by them.

Equal rows may be in several partitions, and the rank of a copy depends on all of them.
So each partition reports the number of its rows by hash sum s and weight, and receives
the number of equal rows in earlier partitions. Many rows are divided by s into slices::

    partition₀ ─ sums₀ ─┬─ slice₀ ─┬─ before ─┬─ hashes₀
    partition₁ ─ sums₁ ─┴─ slice₁ ─┘          └─ hashes₁
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
from spinney.extensions.partitions.executors import Executor, add_results, sum_results
from spinney.extensions.partitions.partitioned_source import PartitionedSource
from spinney.sources.base import ROOT, Counts, Totals
from spinney.sources.rows.cluster_sums import ClusterSums, Points
from spinney.sources.rows.memory import RowAssignment
from spinney.sources.rows.row_hashing import (
    HashSample,
    Range,
    cell_hash_sums,
    fractional_part,
    hashes_from_sums,
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
"""The approximate number of rows in a slice."""


class HashedPartitions:
    """Rows in partitions, with their hashes.

    Parameters
    ----------
    executor : Executor
        Runs functions on the partitions.
    partitions : sequence of handles
        The encoded partitions.
    schema : Schema
        The schema of the encoded rows.
    many : collection of int
        The attributes with bins.
    ranges : mapping of int to Range
        The ranges of numeric attributes over all partitions; key -1: the target.
    max_rows : int
        The maximum number of rows fetched into this process.
    seed : int
        The seed of the hashes.
    """

    def __init__(
        self,
        executor: Executor,
        partitions: Sequence[Any],
        schema: Schema,
        many: Iterable[int],
        ranges: Mapping[int, Range],
        *,
        max_rows: int,
        seed: int = 0,
    ) -> None:
        self.schema = schema
        self.source = PartitionedSource(executor, partitions, schema, many)
        self._executor, self._partitions, self._many = (
            executor,
            list(partitions),
            list(many),
        )
        self.max_rows = max_rows
        self._hashes = self._submit_hashes(ranges, seed)

    def _submit_hashes(self, ranges: Mapping[int, Range], seed: int) -> list[Any]:
        """Return handles to the row hashes of each partition."""
        submit = self._executor.submit
        sums = [
            submit(hash_sums_of, partition, ranges, seed)
            for partition in self._partitions
        ]
        n_slices = self.root().n_rows // ROWS_IN_SLICE + 1
        before: list[list[Any]] = [[] for _ in sums]
        for index in range(n_slices):
            slices = [
                submit(slice_of, hash_sums, index, n_slices) for hash_sums in sums
            ]
            copies = submit(rows_before, *slices)
            for i, partition in enumerate(before):
                partition.append(submit(getitem, copies, i))
        pairs = zip(sums, before, strict=True)
        return [
            submit(hashes_of_partition, hash_sums, *copies)
            for hash_sums, copies in pairs
        ]

    def root(self) -> Totals:
        """Return the totals of all rows."""
        return self.source.root()

    def fingerprint(self) -> Fingerprint:
        """Return the fingerprint of the rows."""
        return self.root().fingerprint()

    @contextmanager
    def sampled_source(
        self, *samples: HashSample, class_weights: Floats | None = None
    ) -> Iterator[Counts]:
        """Yield a source that has only the sampled rows at the root."""
        yield self.take(samples, class_weights)

    def take(
        self, samples: Sequence[HashSample], class_weights: Floats | None = None
    ) -> PartitionedSource:
        """Return a source of the sampled rows."""
        pairs = zip(self._partitions, self._hashes, strict=True)
        submit = self._executor.submit
        assignments = [submit(assign_sample, *p, samples, class_weights) for p in pairs]
        return PartitionedSource(
            self._executor,
            self._partitions,
            self.schema,
            self._many,
            assignments=assignments,
        )

    def cluster_sums(self, points: Points) -> ClusterSums:
        """Return the sums of all rows by nearest centroid."""
        handles = [
            self._executor.submit(partition_cluster_sums, p, points)
            for p in self._partitions
        ]
        total: ClusterSums = sum_results(self._executor, handles, add_results)
        return total

    def subset(self, *samples: HashSample) -> SampleableRows:
        """Return the sampled rows with their hashes."""
        return RowSubset(self, samples)

    def fetch_sample(self, *samples: HashSample) -> tuple[TrainingSet, Floats]:
        """Return the sampled rows, each once, and their hashes."""
        check_rows_fit(self.take(samples).root().n_rows, self.max_rows)
        pairs = zip(self._partitions, self._hashes, strict=True)
        partitions = [
            self._executor.submit(fetch_partition_sample, *pair, samples)
            for pair in pairs
        ]
        fetched: tuple[TrainingSet, Floats] = sum_results(
            self._executor, partitions, join_samples
        )
        return fetched


def all_rows(executor: Executor, partitions: Sequence[Any]) -> TrainingSet:
    """Return the rows of all partitions, fetched."""
    handles = [executor.submit(partition_rows, partition) for partition in partitions]
    rows: TrainingSet = sum_results(executor, handles, join_partitions)
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class RowHashSums:
    """The hash sums s and the weights of a partition's rows."""

    sums: Floats
    weights: Floats

    def __sizeof__(self) -> int:
        return self.sums.nbytes + self.weights.nbytes

    def inside(self, index: int, n_slices: int) -> Integers:
        """Return the rows of a slice, sorted by s and weight."""
        rows = np.flatnonzero(np.floor(fractional_part(self.sums) * n_slices) == index)
        return rows[np.lexsort((self.weights[rows], self.sums[rows]))]


@dataclass(frozen=True, slots=True, eq=False)
class HashSlice:
    """The number of rows of a partition by s and weight, in one slice of s."""

    sums: Floats
    weights: Floats
    n_rows: Integers


def hash_sums_of(
    partition: EncodedPartition, ranges: Mapping[int, Range], seed: int
) -> RowHashSums:
    """Return the hash sums of the rows of a partition."""
    columns, classes, weights = partition.source.rows
    schema = partition.source.schema
    return RowHashSums(
        cell_hash_sums(schema, columns, classes, ranges, seed=seed), weights
    )


def slice_of(rows: RowHashSums, index: int, n_slices: int) -> HashSlice:
    """Return the counts of a partition's rows in a slice."""
    inside = rows.inside(index, n_slices)
    sums, weights = rows.sums[inside], rows.weights[inside]
    starts = _run_starts(sums, weights)
    n_rows = np.diff(starts, append=len(inside))
    return HashSlice(sums[starts], weights[starts], n_rows)


def _run_starts(sums: Floats, weights: Floats) -> Integers:
    """Return the start of each run of equal s and weight in sorted rows."""
    differs = (np.diff(sums) != 0) | (np.diff(weights) != 0)
    return np.flatnonzero(np.concatenate([np.ones(len(sums[:1]), bool), differs]))


def rows_before(*slices: HashSlice) -> list[Integers]:
    """Return the number of equal rows that precede the rows of each partition.

    A row precedes an equal one if it is lighter or in an earlier partition.
    """
    owner = np.repeat(
        np.arange(len(slices)), [len(hash_slice.sums) for hash_slice in slices]
    )
    sums, weights, n_rows = (
        np.concatenate([getattr(hash_slice, name) for hash_slice in slices])
        for name in ("sums", "weights", "n_rows")
    )
    order = np.lexsort((owner, weights, sums))
    upto = np.cumsum(n_rows[order]) - n_rows[order]
    begins = np.flatnonzero(np.diff(sums[order], prepend=np.nan) != 0)
    sizes = np.diff(begins, append=len(order))
    before = np.empty(len(order), np.int64)
    before[order] = upto - np.repeat(upto[begins], sizes)
    return [before[owner == place] for place in range(len(slices))]


def hashes_of_partition(rows: RowHashSums, *before: Integers) -> Floats:
    """Return the row hashes of a partition, given the preceding copies."""
    copies = np.empty(len(rows.sums), np.int64)
    for index, earlier in enumerate(before):
        inside = rows.inside(index, len(before))
        sums, weights = rows.sums[inside], rows.weights[inside]
        starts = _run_starts(sums, weights)
        sizes = np.diff(starts, append=len(inside))
        ranks = np.arange(len(inside)) - np.repeat(starts, sizes)
        copies[inside] = ranks + np.repeat(earlier, sizes) + 1
    return hashes_from_sums(rows.sums, copies)


def assign_sample(
    partition: EncodedPartition,
    numbers: Floats,
    samples: Sequence[HashSample],
    class_weights: Floats | None,
) -> RowAssignment:
    """Return the assignment of the sampled rows to the root; others are dropped."""
    counts = sample_counts(samples, numbers)
    inside = np.flatnonzero(counts)
    _, classes, weights = partition.source.rows
    scaled = weights[inside] * counts[inside]
    if class_weights is not None:
        scaled = scaled * class_weights[classes[inside]]
    return RowAssignment({ROOT: (inside, scaled)})


def partition_cluster_sums(partition: EncodedPartition, points: Points) -> ClusterSums:
    """Return the sums of a partition's rows by nearest centroid."""
    return HashedTrainingSet(partition_rows(partition)).cluster_sums(points)


def partition_rows(partition: EncodedPartition) -> TrainingSet:
    """Return the rows of a partition as a training set."""
    columns, classes, weights = partition.source.rows
    row_weights = None if np.all(weights == 1.0) else weights
    return TrainingSet(partition.source.schema, tuple(columns), classes, row_weights)


def fetch_partition_sample(
    partition: EncodedPartition, hashes: Floats, samples: Sequence[HashSample]
) -> tuple[TrainingSet, Floats]:
    """Return the sampled rows of a partition, and their hashes."""
    return HashedTrainingSet(
        partition_rows(partition), known_hashes=hashes
    ).fetch_sample(*samples)


def join_samples(*partitions: tuple[TrainingSet, Floats]) -> tuple[TrainingSet, Floats]:
    """Return the rows of several partitions, and their hashes."""
    rows, numbers = zip(*partitions, strict=True)
    return join_partitions(*rows), np.concatenate(numbers)


def join_partitions(*partitions: TrainingSet) -> TrainingSet:
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
