"""A number in [0, 1) for each row, the same wherever it is.

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
``sources.parts.hashed_partitions`` numbers copies that are in several parts.

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


def cell_hash_sums(
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


def rank_copies(sums: Floats, weights: Floats | None) -> Integers:
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


def row_hashes(rows: TrainingSet, *, seed: int = 0) -> Floats:
    """Return the number of each row."""
    ranges = ranges_of(rows.schema, rows.columns, rows.classes)
    sums = cell_hash_sums(rows.schema, rows.columns, rows.classes, ranges, seed=seed)
    return numbers_of(sums, rank_copies(sums, rows.weights))


@dataclass(frozen=True, slots=True)
class HashSample:
    """How often a row is taken, by its number.

    Bags, folds, samples and rows to prune by are drawn so.

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
    def others(self) -> "HashSample":
        """The draw of the rows that this one does not take."""
        return replace(self, times=tuple(int(not n) for n in self.times))

    def pieces(self, n: int) -> "Iterator[HashSample]":
        """Give draws that take together what this one takes, each row by one of them.

        >>> [piece.limits for piece in HashSample((0.5,), (1, 0)).pieces(2)]
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
            yield HashSample(tuple(limits), tuple(times), self.mixing)


def hash_mixing(*words: int) -> tuple[float, float]:
    """Return how numbers are mixed by a key of some words.

    >>> hash_mixing(1, 2) == hash_mixing(1, 2) != hash_mixing(2, 1)
    True
    """
    key = 0
    for word in words:
        key = mix(key ^ mix(word + 1))
    return 2.0**19 * (1.0 + (key >> 44) * 2.0**-20), (key & (2**44 - 1)) * 2.0**-44


def sample_fraction(
    share: float, mixing: tuple[float, float] | None = None
) -> HashSample:
    """Return the draw of a share of the rows."""
    return HashSample((share,), (1, 0), mixing)


def sample_fold(fold: int, n_folds: int, mixing: tuple[float, float]) -> HashSample:
    """Return the draw of the rows of a fold, counted from 0."""
    return HashSample((fold / n_folds, (fold + 1) / n_folds), (0, 1, 0), mixing)


def sample_bag(
    rate: float, mixing: tuple[float, float], *, replace: bool
) -> HashSample:
    """Return the draw of a bag: each row as often as Poisson's law says, or once.

    ``rate`` is how often a row is drawn on average. Of many rows a draw of as many with
    replacement takes each of them about so often (Oza and Russell 2001).

    >>> sample_bag(0.5, (1.0, 0.0), replace=False).times
    (1, 0)
    """
    if not replace:
        return sample_fraction(rate, mixing)
    limits, term, total = [], exp(-rate), 0.0
    while total < 1 - RARE and term > 0:
        total += term
        limits.append(total)
        term *= rate / len(limits)
    return HashSample(tuple(limits), tuple(range(len(limits) + 1)), mixing)


def sample_counts(draws: Sequence[HashSample], numbers: Floats) -> NDArray[np.uint32]:
    """Return how often rows are taken by several draws, one after the other."""
    times = np.ones(len(numbers), np.uint32)
    for draw in draws:
        times *= draw.of(numbers)
    return times
