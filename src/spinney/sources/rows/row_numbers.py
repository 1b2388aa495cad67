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
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
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
