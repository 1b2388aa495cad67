"""The numbers of rows in parts (``sources.rows.row_hashing``), and draws by them.

Equal rows may be in several parts, and which copy a row is depends on all of them. So
each part tells how many of its rows have which s and weight, and hears how many such
rows come before its own. Where rows are many, these lists go in several pieces, each of
which some of the s belong to::

    part₀ ─ sums₀ ─┬─ piece₀ ─┬─ before ─┬─ numbers₀
    part₁ ─ sums₁ ─┴─ piece₁ ─┘          └─ numbers₁
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
from spinney.extensions.partitions.executors import Executor, added_up, plus
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

IN_PIECE = 2_000_000
"""Of about so many rows copies are counted together."""


class HashedPartitions:
    """Rows in parts, with their numbers.

    Parameters
    ----------
    executor : Executor
        Who holds the parts.
    parts : sequence of handles
        The parts, coded.
    schema : Schema
        What the codes mean.
    many : collection of int
        The attributes that have very many numbers, and bins.
    ranges : mapping of int to Range
        Those of numbers, in all parts together; at -1 that of the target.
    most_rows : int
        How many rows may come here.
    seed : int
        Another one gives other numbers.
    """

    def __init__(
        self,
        executor: Executor,
        parts: Sequence[Any],
        schema: Schema,
        many: Iterable[int],
        ranges: Mapping[int, Range],
        *,
        most_rows: int,
        seed: int = 0,
    ) -> None:
        self.schema = schema
        self.source = PartitionedSource(executor, parts, schema, many)
        self._executor, self._parts, self._many = executor, list(parts), list(many)
        self.most_rows = most_rows
        self._numbers = self._numbered(ranges, seed)

    def _numbered(self, ranges: Mapping[int, Range], seed: int) -> list[Any]:
        """Return the numbers of the rows of each part."""
        submit = self._executor.submit
        sums = [submit(sums_of, part, ranges, seed) for part in self._parts]
        n_pieces = self.root().n_rows // IN_PIECE + 1
        before: list[list[Any]] = [[] for _ in sums]
        for piece in range(n_pieces):
            pieces = [submit(piece_of, each, piece, n_pieces) for each in sums]
            copies = submit(rows_before, *pieces)
            for number, part in enumerate(before):
                part.append(submit(getitem, copies, number))
        pairs = zip(sums, before, strict=True)
        return [submit(numbered, each, *copies) for each, copies in pairs]

    def root(self) -> Totals:
        """Return the totals of all rows."""
        return self.source.root()

    def fingerprint(self) -> Fingerprint:
        """Return what tells the rows from others."""
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
        pairs = zip(self._parts, self._numbers, strict=True)
        submit = self._executor.submit
        standing = [submit(taken_at_root, *p, draws, class_weights) for p in pairs]
        return PartitionedSource(
            self._executor, self._parts, self.schema, self._many, standing=standing
        )

    def cluster_sums(self, points: Points) -> ClusterSums:
        """Return the sums of all rows by their nearest point."""
        parts = [self._executor.submit(sums_in_part, p, points) for p in self._parts]
        total: ClusterSums = added_up(self._executor, parts, plus)
        return total

    def subset(self, *draws: HashSample) -> SampleableRows:
        """Return the rows that draws take, with the numbers that they have."""
        return RowSubset(self, draws)

    def fetch_sample(self, *draws: HashSample) -> tuple[TrainingSet, Floats]:
        """Return the rows that draws take, each of them once, and their numbers."""
        check_rows_fit(self.take(draws).root().n_rows, self.most_rows)
        pairs = zip(self._parts, self._numbers, strict=True)
        parts = [self._executor.submit(rows_taken, *pair, draws) for pair in pairs]
        fetched: tuple[TrainingSet, Floats] = added_up(self._executor, parts, joined)
        return fetched


def all_rows(executor: Executor, parts: Sequence[Any]) -> TrainingSet:
    """Return the rows of all parts, here."""
    handles = [executor.submit(rows_in, part) for part in parts]
    rows: TrainingSet = added_up(executor, handles, joined_rows)
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class RowSums:
    """The s of the rows of a part, and their weights."""

    sums: Floats
    weights: Floats

    def __sizeof__(self) -> int:
        return self.sums.nbytes + self.weights.nbytes

    def inside(self, piece: int, n_pieces: int) -> Integers:
        """Return the rows that belong to a piece, by s and weight."""
        rows = np.flatnonzero(np.floor(behind(self.sums) * n_pieces) == piece)
        return rows[np.lexsort((self.weights[rows], self.sums[rows]))]


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """How many rows of a part have which s and weight, of some of the s."""

    sums: Floats
    weights: Floats
    n_rows: Integers


def sums_of(part: EncodedPartition, ranges: Mapping[int, Range], seed: int) -> RowSums:
    """Return the s of the rows of a part."""
    columns, classes, weights = part.source.rows
    schema = part.source.schema
    return RowSums(cell_hash_sums(schema, columns, classes, ranges, seed=seed), weights)


def piece_of(rows: RowSums, piece: int, n_pieces: int) -> Piece:
    """Return what a part tells of a piece."""
    inside = rows.inside(piece, n_pieces)
    sums, weights = rows.sums[inside], rows.weights[inside]
    starts = _starts(sums, weights)
    n_rows = np.diff(starts, append=len(inside))
    return Piece(sums[starts], weights[starts], n_rows)


def _starts(sums: Floats, weights: Floats) -> Integers:
    """Return where a run of one s and one weight begins, of rows in that order."""
    other = (np.diff(sums) != 0) | (np.diff(weights) != 0)
    return np.flatnonzero(np.concatenate([np.ones(len(sums[:1]), bool), other]))


def rows_before(*pieces: Piece) -> list[Integers]:
    """Return how many equal rows come before those of each part.

    They are lighter, or in a part before.
    """
    owner = np.repeat(np.arange(len(pieces)), [len(each.sums) for each in pieces])
    sums, weights, n_rows = (
        np.concatenate([getattr(each, name) for each in pieces])
        for name in ("sums", "weights", "n_rows")
    )
    order = np.lexsort((owner, weights, sums))
    upto = np.cumsum(n_rows[order]) - n_rows[order]
    begins = np.flatnonzero(np.diff(sums[order], prepend=np.nan) != 0)
    sizes = np.diff(begins, append=len(order))
    before = np.empty(len(order), np.int64)
    before[order] = upto - np.repeat(upto[begins], sizes)
    return [before[owner == place] for place in range(len(pieces))]


def numbered(rows: RowSums, *before: Integers) -> Floats:
    """Return the numbers of the rows of a part, by what it has heard of each piece."""
    copies = np.empty(len(rows.sums), np.int64)
    for piece, earlier in enumerate(before):
        inside = rows.inside(piece, len(before))
        sums, weights = rows.sums[inside], rows.weights[inside]
        starts = _starts(sums, weights)
        sizes = np.diff(starts, append=len(inside))
        own = np.arange(len(inside)) - np.repeat(starts, sizes)
        copies[inside] = own + np.repeat(earlier, sizes) + 1
    return numbers_of(rows.sums, copies)


def taken_at_root(
    part: EncodedPartition,
    numbers: Floats,
    draws: Sequence[HashSample],
    class_weights: Floats | None,
) -> RowAssignment:
    """Return where the rows stand that draws take: at the root, and no others."""
    times = sample_counts(draws, numbers)
    inside = np.flatnonzero(times)
    _, classes, weights = part.source.rows
    own = weights[inside] * times[inside]
    if class_weights is not None:
        own = own * class_weights[classes[inside]]
    return RowAssignment({ROOT: (inside, own)})


def sums_in_part(part: EncodedPartition, points: Points) -> ClusterSums:
    """Return the sums of the rows of a part by their nearest point."""
    return HashedTrainingSet(rows_in(part)).cluster_sums(points)


def rows_in(part: EncodedPartition) -> TrainingSet:
    """Return the rows of a part."""
    columns, classes, weights = part.source.rows
    own = None if np.all(weights == 1.0) else weights
    return TrainingSet(part.source.schema, tuple(columns), classes, own)


def rows_taken(
    part: EncodedPartition, numbers: Floats, draws: Sequence[HashSample]
) -> tuple[TrainingSet, Floats]:
    """Return the rows of a part that draws take, and their numbers."""
    return HashedTrainingSet(rows_in(part), given=numbers).fetch_sample(*draws)


def joined(*parts: tuple[TrainingSet, Floats]) -> tuple[TrainingSet, Floats]:
    """Return the rows of several parts, and their numbers."""
    rows, numbers = zip(*parts, strict=True)
    return joined_rows(*rows), np.concatenate(numbers)


def joined_rows(*parts: TrainingSet) -> TrainingSet:
    """Return the rows of several parts."""
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate([part.own_weights for part in parts])
    columns = zip(*(part.columns for part in parts), strict=True)
    return replace(
        parts[0],
        columns=tuple(map(np.concatenate, columns)),
        classes=np.concatenate([part.classes for part in parts]),
        weights=weights,
    )
