"""A number in [0, 1) for each row, the same wherever it is: a draw without a draw.

Engines hash in ways of their own and know no order of rows, but all of them multiply
and round down as IEEE 754 says. So a row's number comes of its cells alone. With {x}
for the part of x behind the point::

    s = K (Σᵢ {xᵢ kᵢ} + φ Σᵢ {yᵢ kᵢ (1 + bᵢ / 1024)})

xᵢ is a code, or a number as a share of its column's range; yᵢ is the number divided by
that power of 256, the bᵢ-th, which leaves a size from 1 to below 256: so numbers are
told apart also beside one that is far away. Codes, and columns of one number, are not
in the second sum.

Rows that are equal have one s; they are numbered by their weights, and the j-th of them
has the number {{s} + j φ}, so that copies of one row spread evenly, whichever of equal
weight is called the first. ``sources.sql.row_hash`` says this in SQL, and
``sources.parts.hashed_parts`` numbers copies that are in several parts.

A ``Draw`` says by its number how often a row is taken: rows to prune by, the rows of a
fold, those in the bag of a tree.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.keyed_random import mix
from spinney.data import Fingerprint, Schema, Target, fingerprint_of
from spinney.errors import DataError, Setting, phrase, refusal
from spinney.sources.base import Counts, Totals
from spinney.sources.rows.cluster_sums import ClusterSums, Points, sums_by_point
from spinney.sources.rows.training_rows import TrainingSet

GOLDEN = (5**0.5 - 1) / 2
SPREAD = 1e8
"""How often the range of a number is gone through."""
BAND = 8
"""How many powers of 2 are in a band: a number is divided by the least of its own."""
BANDS = -124, 124
"""The first band has all that is smaller, 0 included, the last all that is greater."""
IN_BAND = 20
"""How many powers of 2 a number is multiplied by in its band."""
MIXED = 99991.61803398875
ABSENT = 0.37
"""What a missing cell adds."""
LARGEST_SEED = 1000003
ROUNDS = 2
"""How often a number is squared for a draw: then copies of a row are drawn apart."""
RARE = 1e-13
"""Of rows drawn with replacement, what is rarer than this does not happen."""

Range = tuple[float, float]
"""The least number of a column, and how far the greatest is from it."""


@dataclass(frozen=True, slots=True)
class Draw:
    """How often a row is taken, by its number.

    Parameters
    ----------
    limits : tuple of float
        Rising; a number below the first one is taken ``times[0]`` times, and so on.
    times : tuple of int
        One more than there are limits.
    mixing : (float, float), optional
        The number is multiplied by the first and the second is added, and what is
        behind the point is mixed further; if not given, it is taken as it is.
    """

    limits: tuple[float, ...]
    times: tuple[int, ...]
    mixing: tuple[float, float] | None = None

    def of(self, numbers: Floats) -> NDArray[np.uint32]:
        """Return how often rows are taken."""
        if self.mixing is not None:
            factor, offset = self.mixing
            numbers = behind(numbers * factor + offset)
            for _ in range(ROUNDS):
                numbers = behind((numbers + 1.0) * (numbers + 1.0) * MIXED)
        places = np.searchsorted(np.array(self.limits), numbers, side="right")
        return np.array(self.times, np.uint32)[places]

    @property
    def others(self) -> "Draw":
        """The draw of the rows that this one does not take."""
        return replace(self, times=tuple(int(not n) for n in self.times))

    def pieces(self, n: int) -> "Iterator[Draw]":
        """Give draws that take together what this one takes, each row by one of them.

        >>> [piece.limits for piece in Draw((0.5,), (1, 0)).pieces(2)]
        [(0.0, 0.25), (0.25, 0.5)]
        """
        edges = (0.0, *self.limits, 1.0)
        for piece in range(n):
            limits, times = list[float](), [0]
            for low, high, taken in zip(edges, edges[1:], self.times, strict=False):
                if taken:
                    cuts = [low + (high - low) * k / n for k in range(n)] + [high]
                    limits += cuts[piece : piece + 2]
                    times += [taken, 0]
            yield Draw(tuple(limits), tuple(times), self.mixing)


def mixing_of(*words: int) -> tuple[float, float]:
    """Return how numbers are mixed by a key of some words.

    >>> mixing_of(1, 2) == mixing_of(1, 2) != mixing_of(2, 1)
    True
    """
    key = 0
    for word in words:
        key = mix(key ^ mix(word + 1))
    return 2.0**19 * (1.0 + (key >> 44) * 2.0**-20), (key & (2**44 - 1)) * 2.0**-44


def share_of_rows(share: float, mixing: tuple[float, float] | None = None) -> Draw:
    """Return the draw of a share of the rows."""
    return Draw((share,), (1, 0), mixing)


def fold_of_rows(fold: int, n_folds: int, mixing: tuple[float, float]) -> Draw:
    """Return the draw of the rows of a fold, counted from 0."""
    return Draw((fold / n_folds, (fold + 1) / n_folds), (0, 1, 0), mixing)


def bag_of_rows(rate: float, mixing: tuple[float, float], *, replace: bool) -> Draw:
    """Return the draw of a bag: each row as often as Poisson's law says, or once.

    ``rate`` is how often a row is drawn on average. Of many rows a draw of as many with
    replacement takes each of them about so often (Oza and Russell 2001).

    >>> bag_of_rows(0.5, (1.0, 0.0), replace=False).times
    (1, 0)
    """
    if not replace:
        return share_of_rows(rate, mixing)
    limits, term, total = [], exp(-rate), 0.0
    while total < 1 - RARE and term > 0:
        total += term
        limits.append(total)
        term *= rate / len(limits)
    return Draw(tuple(limits), tuple(range(len(limits) + 1)), mixing)


def times_of(draws: Sequence[Draw], numbers: Floats) -> NDArray[np.uint32]:
    """Return how often rows are taken by several draws, one after the other."""
    times = np.ones(len(numbers), np.uint32)
    for draw in draws:
        times *= draw.of(numbers)
    return times


# The numbers


def behind(numbers: Floats) -> Floats:
    """Return the part of numbers behind the point."""
    return numbers - np.floor(numbers)


def step_of(place: int) -> float:
    """Return the factor of a column: no two are alike, none is part of another."""
    return float(np.sqrt(place + 2.0)) + GOLDEN * (place + 1)


def band_of(number: float) -> int:
    """Return the band that a number is in, by its size.

    >>> band_of(255.0), band_of(-256.0), band_of(0.99), band_of(0.0)
    (0, 1, -1, -124)
    """
    return int(_bands(np.array([number]))[0])


def least_of_band(band: int) -> float:
    """Return the least size of a band's numbers."""
    return 2.0 ** (BAND * band)


def factor_of_band(band: int, step: float) -> float:
    """Return what a column's numbers of a band are multiplied by."""
    return step * (1.0 + band / 1024) * 2.0 ** (IN_BAND - BAND * band)


def _bands(numbers: Floats) -> Integers:
    powers = np.frexp(numbers)[1].astype(np.int64) - 1
    return np.where(numbers == 0, BANDS[0], np.clip(powers // BAND, *BANDS))


def offset_of(seed: int) -> float:
    """Return what another seed adds."""
    return float(seed % LARGEST_SEED) * GOLDEN


def hashed_columns(schema: Schema) -> list[tuple[int, bool]]:
    """Return which cells count, by attribute, and which are numbers; -1: target."""
    attributes = schema.attributes[: schema.n_columns]
    kinds = [(i, each.kind == "numeric") for i, each in enumerate(attributes)]
    return [*kinds, (-1, schema.target.is_numeric)]


def ranges_of(
    schema: Schema, columns: Sequence[NDArray[Any]], classes: NDArray[Any]
) -> dict[int, Range]:
    """Return the ranges of all columns of numbers, of which some may hold none."""
    ranges = {}
    for index, is_number in hashed_columns(schema):
        if is_number:
            cells = classes if index < 0 else columns[index]
            known = cells[~np.isnan(cells)]
            low = float(known.min()) if len(known) else 0.0
            ranges[index] = low, float(known.max()) - low if len(known) else 0.0
    return ranges


def row_sums(
    schema: Schema,
    columns: Sequence[NDArray[Any]],
    classes: NDArray[Any],
    ranges: Mapping[int, Range],
    *,
    seed: int = 0,
) -> Floats:
    """Return the s of each row: one for all that are equal."""
    total, in_bands = np.zeros(len(classes)), np.zeros(len(classes))
    for place, (index, is_number) in enumerate(hashed_columns(schema)):
        cells, step = classes if index < 0 else columns[index], step_of(place)
        if is_number:
            low, width = ranges[index]
            missing = np.isnan(cells)
            parts = np.full(len(cells), step)
            if 0 < width < np.inf:
                parts = (cells - low) / width * (step * SPREAD)
                in_bands += behind(np.where(missing, 0.0, _in_band(cells, step)))
        else:
            missing = cells < 0
            parts = (cells.astype(np.float64) + 1.0) * step
        total += behind(np.where(missing, ABSENT, parts))
    return (total + in_bands * GOLDEN) * MIXED + offset_of(seed)


def _in_band(cells: Floats, step: float) -> Floats:
    """Return what numbers add by their bands, before it is rounded off."""
    first, last = BANDS
    factors = [factor_of_band(band, step) for band in range(first, last + 1)]
    return np.asarray(cells * np.array(factors)[_bands(cells) - first])


def copies_among(sums: Floats, weights: Floats | None) -> Integers:
    """Return which of the equal rows each one is, from 1 on, the lightest first."""
    order = np.argsort(sums, kind="stable")
    if weights is not None:
        order = np.lexsort((weights, sums))
    ordered = sums[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=np.nan) != 0)
    sizes = np.diff(starts, append=len(sums))
    copies = np.empty(len(sums), np.int64)
    copies[order] = np.arange(len(sums)) - np.repeat(starts, sizes) + 1
    return copies


def numbers_of(sums: Floats, copies: Integers) -> Floats:
    """Return the numbers of rows."""
    return behind(behind(sums) + copies * GOLDEN)


def numbers_of_rows(rows: TrainingSet, *, seed: int = 0) -> Floats:
    """Return the number of each row."""
    ranges = ranges_of(rows.schema, rows.columns, rows.classes)
    sums = row_sums(rows.schema, rows.columns, rows.classes, ranges, seed=seed)
    return numbers_of(sums, copies_among(sums, rows.weights))


# Rows that are drawn by them

BYTES = 40
"""What a cell takes in memory when trees are grown on it, ranks and copies included."""


def most_lines(n_bytes: int, schema: Schema) -> int:
    """Return how many rows, or parts of rows, may be held in so much memory."""
    return n_bytes // (BYTES * (schema.n_columns + 3))


Reserves = Callable[[int, Target], float | None]
"""Which share of so many rows with such a target is reserved, if any."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for of rows that are away, by their numbers.

    ``reserves`` says which share of them is reserved, those of the least numbers under
    a ``seed``; ``hashed`` that all are given numbers, for others to draw by. ``room``
    is how many bytes rows may take that come here.
    """

    reserves: Reserves | None = None
    seed: int = 0
    hashed: bool = False
    room: int = 0

    def share(self, n_rows: int, target: Target) -> float | None:
        """Return which share of so many rows is reserved, if any."""
        return None if self.reserves is None else self.reserves(n_rows, target)


class HashedRows(Protocol):
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

    def drawn(
        self, *draws: Draw, class_weights: Floats | None = None
    ) -> AbstractContextManager[Counts]:
        """Give the rows that draws take, each with its weight as often as it is taken.

        ``class_weights`` are what these are multiplied by besides.
        """
        ...

    def fetched(self, *draws: Draw) -> tuple[TrainingSet, Floats]:
        """Return the rows that draws take, each of them once, and their numbers."""
        ...

    def among(self, *draws: Draw) -> "HashedRows":
        """Return the rows that draws take, with the numbers that they have."""
        ...


@runtime_checkable
class SummedRows(Protocol):
    """Rows that k-means asks."""

    def cluster_sums(self, points: Points) -> ClusterSums:
        """Return the sums of all rows by their nearest point."""
        ...


@dataclass(frozen=True)
class DrawnRows:
    """Some of the rows that have numbers, which keep these."""

    rows: HashedRows
    draws: tuple[Draw, ...]

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
        with self.drawn() as source:
            return source.root()

    def root(self) -> Totals:
        """Return the totals of the rows."""
        return self._totals

    def fingerprint(self) -> Fingerprint:
        """Return what tells the rows from others."""
        return self._totals.fingerprint()

    def drawn(
        self, *draws: Draw, class_weights: Floats | None = None
    ) -> AbstractContextManager[Counts]:
        """Give the rows that draws take."""
        return self.rows.drawn(*self.draws, *draws, class_weights=class_weights)

    def fetched(self, *draws: Draw) -> tuple[TrainingSet, Floats]:
        """Return the rows that draws take, each of them once, and their numbers."""
        return self.rows.fetched(*self.draws, *draws)

    def among(self, *draws: Draw) -> HashedRows:
        """Return the rows that draws take, with the numbers that they have."""
        return DrawnRows(self.rows, (*self.draws, *draws))


@dataclass(frozen=True, slots=True)
class RowsAway:
    """Rows of an engine: what counts them, or all of them where they have room.

    ``origin`` tells them from others; rows that are ``reserved`` are not among them.
    ``hashed`` are all of them with their numbers, where these were asked for.
    """

    origin: Fingerprint
    source: Counts | None = None
    training: TrainingSet | None = None
    reserved: TrainingSet | None = None
    hashed: HashedRows | None = None


def check_reserved(share: float, n_reserved: int, n_rows: int, most: int) -> None:
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


def check_room(n_rows: int, most: int) -> None:
    """Refuse to read more rows than have room."""
    if n_rows > most:
        msg = f"{n_rows} rows are to be read, and {most} have room in memory"
        raise DataError(msg, remedy=phrase("raise {}", Setting("memory_limit")))


@dataclass(frozen=True)
class HashedInMemory:
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
        return numbers_of_rows(self.training) if self.given is None else self.given

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
    def drawn(
        self, *draws: Draw, class_weights: Floats | None = None
    ) -> Iterator[Counts]:
        """Give the rows that draws take."""
        yield self.taken(draws, class_weights).source()

    def taken(
        self, draws: Sequence[Draw], class_weights: Floats | None = None
    ) -> TrainingSet:
        """Return the rows that draws take, with their weights."""
        times = times_of(draws, self.numbers)
        inside = np.flatnonzero(times)
        rows = self.training.taken(inside)
        if rows.weights is not None or times.max(initial=0) > 1:
            rows = replace(rows, weights=rows.own_weights * times[inside])
        return rows.weighed(class_weights)

    def fetched(self, *draws: Draw) -> tuple[TrainingSet, Floats]:
        """Return the rows that draws take, each of them once, and their numbers."""
        inside = times_of(draws, self.numbers) > 0
        return self.training.taken(inside), self.numbers[inside]

    def among(self, *draws: Draw) -> HashedRows:
        """Return the rows that draws take, with the numbers that they have."""
        rows, numbers = self.fetched(*draws)
        origin = fingerprint_of(len(numbers), rows.weight)
        return HashedInMemory(rows, origin, numbers)

    def cluster_sums(self, points: Points) -> ClusterSums:
        """Return the sums of all rows by their nearest point."""
        columns = [self.training.columns[at] for at in points.attributes]
        return sums_by_point(columns, self.training.own_weights, points)
