"""How lines of numbers vary together within parts of the rows, many parts at once.

The parts are nodes of a level, or the classes at a node, and each asks about some of
the lines. Parts of about one length are laid side by side, filled up with rows of
weight 0 and with lines of zeros, and become one stack of matrices::

    lines of a part × its rows       times its transpose       products of the part

    [ z₀ z₀ z₀ 0 ]                                             [ Σwz₀z₀  Σwz₀z₁  0 ]
    [ z₁ z₁ z₁ 0 ]                                             [ Σwz₁z₀  Σwz₁z₁  0 ]
    [ 0  0  0  0 ]                                             [ 0       0       0 ]
"""

from collections.abc import Iterator, Sequence

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.sources.base import Products

MOST_CELLS = 1 << 20  # of a stack of parts, unless one part has more
# Products of a part that are added up at once: for more of them the linear algebra
# library would start its threads, which wait for each other longer than they work.
MOST_PRODUCTS = 1 << 18


def products_of_parts(
    lines: Floats, weights: Floats, start: Integers, asked: Sequence[Sequence[int]]
) -> list[Products]:
    """Return how the lines that each part asks about vary over its rows, one group.

    Parameters
    ----------
    lines : array of shape (lines, rows)
        The numbers.
    weights : array
        The weight of each row.
    start : array of int
        Where the rows of each part begin, and where the last one ends.
    asked : sequence of sequences of int
        For each part the lines that it asks about.

    Examples
    --------
    >>> lines = np.array([[0.0, 1.0, 2.0, 7.0], [1.0, 3.0, 5.0, 7.0]])
    >>> parts = products_of_parts(lines, np.ones(4), np.array([0, 3, 4]), [[0, 1], [1]])
    >>> [part.weights.tolist() for part in parts]
    [[3.0], [1.0]]
    >>> parts[0].means.tolist(), parts[0].spreads.tolist()
    ([[1.0, 3.0]], [[[2.0, 4.0], [4.0, 8.0]]])
    """
    widths = np.array([len(own) for own in asked])
    n_rows = np.diff(start)
    found: dict[int, Products] = {}
    # A line of zeros and a row of weight 0, to fill up with.
    lines = np.pad(lines, ((0, 1), (0, 1)))
    weights = np.append(weights, 0.0)
    for parts in _alike(n_rows, widths):
        chosen = np.full((len(parts), widths[parts].max()), -1)
        for line, part in zip(chosen, parts.tolist(), strict=True):
            line[: len(asked[part])] = asked[part]
        places = np.arange(n_rows[parts].max())
        entries = start[parts, None] + places
        entries[places >= n_rows[parts, None]] = -1
        own = weights[entries][:, None]
        weight = own.sum(axis=2)
        with np.errstate(over="ignore", invalid="ignore"):
            numbers = lines[chosen[:, :, None], entries[:, None]]
            means = (numbers * own).sum(axis=2) / weight
            numbers -= means[:, :, None]
            spreads = _squares(numbers, own)
        for position, part in enumerate(parts.tolist()):
            one, size = slice(position, position + 1), len(asked[part])
            found[part] = Products(
                weight[position], means[one, :size], spreads[one, :size, :size]
            )
    return [found.get(part) or _none(len(own)) for part, own in enumerate(asked)]


def _squares(numbers: Floats, weights: Floats) -> Floats:
    """Return Σw z zᵀ of each part, some rows at a time."""
    n_parts, width, n_rows = numbers.shape
    at_once = max(1, MOST_PRODUCTS // width**2)
    squares = np.zeros((n_parts, width, width))
    for first in range(0, n_rows, at_once):
        some = numbers[:, :, first : first + at_once]
        own = weights[:, :, first : first + at_once]
        squares += (some * own) @ some.swapaxes(1, 2)
    return squares


def _none(width: int) -> Products:
    """Return the products of no rows."""
    return Products(np.zeros(1), np.zeros((1, width)), np.zeros((1, width, width)))


def _alike(n_rows: Integers, widths: Integers) -> Iterator[Integers]:
    """Give the parts that have rows, some of about one length at a time."""
    length = np.frexp(n_rows.astype(np.float64))[1]
    for size in np.unique(length[n_rows > 0]).tolist():
        parts = np.flatnonzero(length == size)
        most = int(n_rows[parts].max() * widths[parts].max())
        at_once = max(1, MOST_CELLS // max(1, most))
        for first in range(0, len(parts), at_once):
            yield parts[first : first + at_once]
