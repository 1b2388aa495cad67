"""Weighted products of lines of numbers, for each part of the rows.

The parts are nodes, or the classes at a node, and each uses some of the lines. Parts of
similar size, padded with rows of weight 0 and lines of zeros, become one array of
matrices::

    lines of a part × its rows       times its transpose       products of the part

    [ z₀ z₀ z₀ 0 ]                                             [ Σwz₀z₀  Σwz₀z₁  0 ]
    [ z₁ z₁ z₁ 0 ]                                             [ Σwz₁z₀  Σwz₁z₁  0 ]
    [ 0  0  0  0 ]                                             [ 0       0       0 ]
"""

from collections.abc import Iterator, Sequence

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.sources.base import Products

MAX_CELLS = 1 << 20  # cells in a batch of parts, unless a single part has more
# Products of a part per call: with more, the linear algebra library would start #
# threads that mostly wait for each other.
MAX_PRODUCTS = 1 << 18


def products_of_parts(
    lines: Floats, weights: Floats, start: Integers, part_lines: Sequence[Sequence[int]]
) -> list[Products]:
    """Return the products of the lines of each part over its rows, as one group.

    Parameters
    ----------
    lines : array of shape (lines, rows)
        The numbers.
    weights : array
        The weight of each row.
    start : array of int
        The first row of each part, and the end of the last one.
    part_lines : sequence of sequences of int
        The lines of each part.

    Examples
    --------
    >>> lines = np.array([[0.0, 1.0, 2.0, 7.0], [1.0, 3.0, 5.0, 7.0]])
    >>> parts = products_of_parts(lines, np.ones(4), np.array([0, 3, 4]), [[0, 1], [1]])
    >>> [part.weights.tolist() for part in parts]
    [[3.0], [1.0]]
    >>> parts[0].means.tolist(), parts[0].spreads.tolist()
    ([[1.0, 3.0]], [[[2.0, 4.0], [4.0, 8.0]]])
    """
    widths = np.array([len(part_weights) for part_weights in part_lines])
    n_rows = np.diff(start)
    products: dict[int, Products] = {}
    # A line of zeros and a row of weight 0, for padding.
    lines = np.pad(lines, ((0, 1), (0, 1)))
    weights = np.append(weights, 0.0)
    for parts in _groups_of_similar_size(n_rows, widths):
        chosen = np.full((len(parts), widths[parts].max()), -1)
        for line, part in zip(chosen, parts.tolist(), strict=True):
            line[: len(part_lines[part])] = part_lines[part]
        places = np.arange(n_rows[parts].max())
        entries = start[parts, None] + places
        entries[places >= n_rows[parts, None]] = -1
        part_weights = weights[entries][:, None]
        weight = part_weights.sum(axis=2)
        with np.errstate(over="ignore", invalid="ignore"):
            numbers = lines[chosen[:, :, None], entries[:, None]]
            means = (numbers * part_weights).sum(axis=2) / weight
            numbers -= means[:, :, None]
            spreads = _squares(numbers, part_weights)
        for position, part in enumerate(parts.tolist()):
            line, size = slice(position, position + 1), len(part_lines[part])
            products[part] = Products(
                weight[position], means[line, :size], spreads[line, :size, :size]
            )
    return [
        products.get(part) or _empty_products(len(part_weights))
        for part, part_weights in enumerate(part_lines)
    ]


def _squares(numbers: Floats, weights: Floats) -> Floats:
    """Return Σw z zᵀ of each part, added over blocks of rows."""
    n_parts, width, n_rows = numbers.shape
    step = max(1, MAX_PRODUCTS // width**2)
    squares = np.zeros((n_parts, width, width))
    for first in range(0, n_rows, step):
        part = numbers[:, :, first : first + step]
        part_weights = weights[:, :, first : first + step]
        squares += (part * part_weights) @ part.swapaxes(1, 2)
    return squares


def _empty_products(width: int) -> Products:
    """Return products of a part without rows."""
    return Products(np.zeros(1), np.zeros((1, width)), np.zeros((1, width, width)))


def _groups_of_similar_size(n_rows: Integers, widths: Integers) -> Iterator[Integers]:
    """Yield the parts with rows, in groups of similar size."""
    length = np.frexp(n_rows.astype(np.float64))[1]
    for size in np.unique(length[n_rows > 0]).tolist():
        parts = np.flatnonzero(length == size)
        max_cells = int(n_rows[parts].max() * widths[parts].max())
        step = max(1, MAX_CELLS // max(1, max_cells))
        for first in range(0, len(parts), step):
            yield parts[first : first + step]
