"""Exact sums of rows, which do not depend on the order of additions.

A float is a whole number times a power of two. A cell w·x (a product, rounded once) is
written as two whole numbers, high and low, on a scale of its column::

    w·x = high · u + low · v        u = 2^(e − B),   v = u · 2^−D

where all cells of the column are below 2^e, the sum of all rows over u fits into 64
bits, and D ≤ 43. Both parts are added and subtracted as integers: exactly, in any
order, by any number of threads. For a million rows this keeps 85 bits below the largest
cell of a column; lower bits are rounded off.

A mean is the quotient of two such sums, correctly rounded but for one in billions, so
the centroid of equal rows is that row.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers

_WIDEST = 43  # bits of the low part
_SMALLEST = -900  # the least exponent of a scale


class Scales(NamedTuple):
    """The scales 1 / u, u and 1 / v of each column and then of the weights; and D."""

    factors: Floats
    bits: int


def exact_scales(rows: NDArray[Any], weights: Floats) -> Scales:
    """Return the scales of the columns of some rows; empty weights stand for 1."""
    heaviest = float(weights.max()) if len(weights) else 1.0
    largest = np.maximum(rows.max(axis=0), -rows.min(axis=0)).astype(np.float64)
    _, powers = np.frexp(np.append(largest * heaviest, heaviest))
    high_bits = 62 - len(rows).bit_length()
    bits = min(_WIDEST, high_bits)
    shift = high_bits - np.maximum(powers, _SMALLEST)
    ones = np.ones(len(shift))
    lines = [np.ldexp(ones, power) for power in (shift, -shift, shift + bits)]
    return Scales(np.array(lines), bits)


def exact_parts(rows: NDArray[Any], weights: Floats, scales: Scales) -> Integers:
    """Return the high and low parts of all cells, then of the weights."""
    cells = np.ones((len(rows), rows.shape[1] + 1))
    cells[:, :-1] = rows
    if len(weights):
        cells *= weights[:, None]
    up, down, rest = scales.factors
    high = np.rint(cells * up)
    low = np.rint((cells - high * down) * rest)
    return np.stack([high, low]).astype(np.int64)


def sum_by_cluster(parts: Integers, labels: Integers, n_clusters: int) -> Integers:
    """Return the sums of the parts by cluster."""
    sums = np.zeros((2, n_clusters, parts.shape[2]), np.int64)
    for total, part in zip(sums, parts, strict=True):
        np.add.at(total, labels, part)
    return sums


def exact_means(sums: Integers, scales: Scales) -> tuple[Floats, Floats]:
    """Return the mean of each cluster, NaN if empty, and its weight."""
    first, second = _float_pairs(sums, scales)
    weight, weight_rest = first[:, -1:], second[:, -1:]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        quotient = first[:, :-1] / weight
        product, error = _two_product(quotient, weight)
        rest = (first[:, :-1] - product) - error + second[:, :-1]
        means = quotient + (rest - quotient * weight_rest) / weight
    return means, first[:, -1] + second[:, -1]


def _float_pairs(sums: Integers, scales: Scales) -> tuple[Floats, Floats]:
    """Return each sum as two floats that add up to it exactly."""
    high, low = sums
    carry = (low + (1 << (scales.bits - 1))) >> scales.bits
    low = low - (carry << scales.bits)
    high = high + carry
    # 52 bits and sign in the first, at most 10 + 43 in the second.
    last_bits = high - (((high + 512) >> 10) << 10)
    down = scales.factors[1]
    rest = (last_bits << scales.bits) + low
    first = (high - last_bits).astype(np.float64) * down
    second = rest.astype(np.float64) * (down * 2.0**-scales.bits)
    total = first + second
    return total, second - (total - first)


def _two_product(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return a product and its rounding error (Dekker 1971)."""
    product = x * y
    (x_high, x_low), (y_high, y_low) = _split_halves(x), _split_halves(y)
    error = x_high * y_high - product
    error += x_high * y_low + x_low * y_high
    return product, error + x_low * y_low


def _split_halves(number: Floats) -> tuple[Floats, Floats]:
    """Return a number as the sum of two with half as many bits."""
    scaled = number * 134217729.0  # 2^27 + 1
    high = scaled - (scaled - number)
    return high, number - high
