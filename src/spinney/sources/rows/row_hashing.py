"""Row hashes: a number in [0, 1) for each row, the same in every engine.

Engines have different hash functions and row orders, but all multiply and round down by
IEEE 754. So the hash of a row is computed from its cells. With {x} for the fractional
part of x::

    s = K (Σᵢ {xᵢ kᵢ} + φ Σᵢ {yᵢ kᵢ (1 + bᵢ / 1024)})

xᵢ is a code, or a number scaled to the range of its column. yᵢ is the number divided by
256 to the power bᵢ, its band, which leaves a size from 1 to below 256: this
distinguishes numbers beside an outlier. The second sum excludes codes and constant
columns.

Equal rows have the same s; they are ranked by weight, and the j-th of them has the hash
{{s} + j φ}, so that copies of a row spread evenly, in any order of equal weights.
``extensions.databases.row_hash`` computes this in SQL, and
``extensions.partitions.hashed_partitions`` ranks copies in several partitions.

Validation rows, the rows of a fold and those in the bag of a tree are sampled by these
hashes, so every engine samples the same rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.keyed_random import mix
from spinney.data import Schema
from spinney.sources.rows.training_rows import TrainingSet

GOLDEN = (5**0.5 - 1) / 2
SPREAD = 1e8
"""The number of cycles over the range of a numeric column."""
BAND_BITS = 8
"""The powers of 2 in a band; a number is divided by the smallest one."""
BAND_RANGE = -124, 124
"""The first and last band; they include 0 and all smaller, or all greater numbers."""
BAND_SCALE_BITS = 20
"""The power of 2 that multiplies numbers within a band."""
MIXING_FACTOR = 99991.61803398875
MISSING_SHARE = 0.37
"""The term of a missing cell."""
MAX_SEED = 1000003

MIXING_ROUNDS = 2
"""The squarings per sample, after which copies of a row are independent."""
MIN_PROBABILITY = 1e-13
"""The least probability of a count in sampling with replacement."""

Range = tuple[float, float]
"""The minimum of a column, and the distance from minimum to maximum."""


def fractional_part(numbers: Floats) -> Floats:
    """Return the fractional part of numbers."""
    return numbers - np.floor(numbers)


def column_factor(place: int) -> float:
    """Return the factor of a column; factors of columns are independent."""
    return float(np.sqrt(place + 2.0)) + GOLDEN * (place + 1)


def band_of(number: float) -> int:
    """Return the band of a number's absolute value.

    >>> band_of(255.0), band_of(-256.0), band_of(0.99), band_of(0.0)
    (0, 1, -1, -124)
    """
    return int(_bands(np.array([number]))[0])


def band_minimum(band: int) -> float:
    """Return the smallest absolute value of a band."""
    return 2.0 ** (BAND_BITS * band)


def band_factor(band: int, step: float) -> float:
    """Return the factor of a column for numbers of a band."""
    return step * (1.0 + band / 1024) * 2.0 ** (BAND_SCALE_BITS - BAND_BITS * band)


def _bands(numbers: Floats) -> Integers:
    powers = np.frexp(numbers)[1].astype(np.int64) - 1
    return np.where(
        numbers == 0, BAND_RANGE[0], np.clip(powers // BAND_BITS, *BAND_RANGE)
    )


def seed_offset(seed: int) -> float:
    """Return the term of a seed."""
    return float(seed % MAX_SEED) * GOLDEN


def hashed_columns(schema: Schema) -> list[tuple[int, bool]]:
    """Return the hashed columns, -1 for the target, and whether they are numeric."""
    attributes = schema.attributes[: schema.n_columns]
    kinds = [(i, attribute.kind == "numeric") for i, attribute in enumerate(attributes)]
    return [*kinds, (-1, schema.target.is_numeric)]


def ranges_of(
    schema: Schema, columns: Sequence[NDArray[Any]], classes: NDArray[Any]
) -> dict[int, Range]:
    """Return the ranges of all numeric columns; without numbers, (0, 0)."""
    ranges = {}
    for index, is_number in hashed_columns(schema):
        if is_number:
            cells = classes if index < 0 else columns[index]
            known = cells[~np.isnan(cells)]
            low = float(known.min()) if len(known) else 0.0
            ranges[index] = low, float(known.max()) - low if len(known) else 0.0
    return ranges


def cell_hash_sums(
    schema: Schema,
    columns: Sequence[NDArray[Any]],
    classes: NDArray[Any],
    ranges: Mapping[int, Range],
    *,
    seed: int = 0,
) -> Floats:
    """Return the hash sum s of each row; equal rows have equal sums."""
    total, in_bands = np.zeros(len(classes)), np.zeros(len(classes))
    for place, (index, is_number) in enumerate(hashed_columns(schema)):
        cells, step = classes if index < 0 else columns[index], column_factor(place)
        if is_number:
            low, width = ranges[index]
            missing = np.isnan(cells)
            parts = np.full(len(cells), step)
            if 0 < width < np.inf:
                parts = (cells - low) / width * (step * SPREAD)
                in_bands += fractional_part(
                    np.where(missing, 0.0, _in_band(cells, step))
                )
        else:
            missing = cells < 0
            parts = (cells.astype(np.float64) + 1.0) * step
        total += fractional_part(np.where(missing, MISSING_SHARE, parts))
    return (total + in_bands * GOLDEN) * MIXING_FACTOR + seed_offset(seed)


def _in_band(cells: Floats, step: float) -> Floats:
    """Return the band terms of numbers, without taking fractional parts."""
    first, last = BAND_RANGE
    factors = [band_factor(band, step) for band in range(first, last + 1)]
    return np.asarray(cells * np.array(factors)[_bands(cells) - first])


def rank_copies(sums: Floats, weights: Floats | None) -> Integers:
    """Return the rank of each row among equal rows, from 1; the lightest is first."""
    order = np.argsort(sums, kind="stable")
    if weights is not None:
        order = np.lexsort((weights, sums))
    ordered = sums[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=np.nan) != 0)
    sizes = np.diff(starts, append=len(sums))
    copies = np.empty(len(sums), np.int64)
    copies[order] = np.arange(len(sums)) - np.repeat(starts, sizes) + 1
    return copies


def hashes_from_sums(sums: Floats, copy_ranks: Integers) -> Floats:
    """Return the hashes of rows from their sums and ranks."""
    return fractional_part(fractional_part(sums) + copy_ranks * GOLDEN)


def row_hashes(rows: TrainingSet) -> Floats:
    """Return the hash of each row."""
    ranges = ranges_of(rows.schema, rows.columns, rows.classes)
    sums = cell_hash_sums(rows.schema, rows.columns, rows.classes, ranges)
    return hashes_from_sums(sums, rank_copies(sums, rows.weights))


@dataclass(frozen=True, slots=True)
class HashSample:
    """A sample of rows by their hashes: bags, folds, validation rows.

    Parameters
    ----------
    limits : tuple of float
        Ascending limits; a hash below the first one is sampled ``times[0]`` times, etc.
    times : tuple of int
        One more than there are limits.
    mixing : (float, float), optional
        The factor and offset that are applied to a hash before mixing; by default the
        hash is not mixed.
    """

    limits: tuple[float, ...]
    times: tuple[int, ...]
    mixing: tuple[float, float] | None = None

    def counts(self, numbers: Floats) -> NDArray[np.uint32]:
        """Return the number of times each row is sampled."""
        if self.mixing is not None:
            factor, offset = self.mixing
            numbers = fractional_part(numbers * factor + offset)
            for _ in range(MIXING_ROUNDS):
                numbers = fractional_part(
                    (numbers + 1.0) * (numbers + 1.0) * MIXING_FACTOR
                )
        places = np.searchsorted(np.array(self.limits), numbers, side="right")
        return np.array(self.times, np.uint32)[places]

    @property
    def complement(self) -> "HashSample":
        """The sample of the rows that are not in this one."""
        return replace(self, times=tuple(int(not n) for n in self.times))

    def pieces(self, n: int) -> "Iterator[HashSample]":
        """Yield ``n`` samples that partition this one.

        >>> [piece.limits for piece in HashSample((0.5,), (1, 0)).pieces(2)]
        [(0.0, 0.25), (0.25, 0.5)]
        """
        edges = (0.0, *self.limits, 1.0)
        for piece in range(n):
            limits, times = list[float](), [0]
            for low, high, count in zip(edges, edges[1:], self.times, strict=False):
                if count:
                    cuts = [low + (high - low) * k / n for k in range(n)] + [high]
                    limits += cuts[piece : piece + 2]
                    times += [count, 0]
            yield HashSample(tuple(limits), tuple(times), self.mixing)


def hash_mixing(*words: int) -> tuple[float, float]:
    """Return the factor and offset that mix hashes by a key.

    >>> hash_mixing(1, 2) == hash_mixing(1, 2) != hash_mixing(2, 1)
    True
    """
    key = 0
    for word in words:
        key = mix(key ^ mix(word + 1))
    return 2.0**19 * (1.0 + (key >> 44) * 2.0**-20), (key & (2**44 - 1)) * 2.0**-44


def sample_fraction(
    fraction: float, mixing: tuple[float, float] | None = None
) -> HashSample:
    """Return the sample of a fraction of the rows."""
    return HashSample((fraction,), (1, 0), mixing)


def sample_fold(fold: int, n_folds: int, mixing: tuple[float, float]) -> HashSample:
    """Return the sample of the rows of a fold, counted from 0."""
    return HashSample((fold / n_folds, (fold + 1) / n_folds), (0, 1, 0), mixing)


def sample_bag(
    rate: float, mixing: tuple[float, float], *, replace: bool
) -> HashSample:
    """Return the sample of a bag: Poisson counts if ``replace``, otherwise 0 or 1.

    ``rate`` is the average count of a row. A bootstrap sample of many rows has about
    these counts (Oza and Russell 2001).

    >>> sample_bag(0.5, (1.0, 0.0), replace=False).times
    (1, 0)
    """
    if not replace:
        return sample_fraction(rate, mixing)
    limits, term, total = [], exp(-rate), 0.0
    while total < 1 - MIN_PROBABILITY and term > 0:
        total += term
        limits.append(total)
        term *= rate / len(limits)
    return HashSample(tuple(limits), tuple(range(len(limits) + 1)), mixing)


def sample_counts(samples: Sequence[HashSample], numbers: Floats) -> NDArray[np.uint32]:
    """Return the number of times each row is in a sample of samples."""
    counts = np.ones(len(numbers), np.uint32)
    for sample in samples:
        counts *= sample.counts(numbers)
    return counts
