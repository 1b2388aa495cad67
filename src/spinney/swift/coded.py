"""Rows as the kernels take them: codes of one byte, and labels."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.counts import Floats
from spinney.kernels.coding import CELLS, code_rows, edges_of, prepare
from spinney.kernels.layout import ABSENT, BINS, Cells, Labels
from spinney.marks import matrix_behind
from spinney.schema import Attribute
from spinney.threads import in_threads, n_threads, run_all

__all__ = ["cells_of", "labels_of_classes", "labels_of_numbers"]

SAMPLE = 4096
LINE = 64  # bytes of a line of the cache


def cells_of(attributes: Sequence[Attribute], columns: Sequence[NDArray[Any]]) -> Cells:
    """Code columns as ``Schema.encode`` gives them."""
    p, n_rows = len(columns), len(columns[0])
    codes, by_attribute = _room_for_codes(n_rows, p), np.empty((p, n_rows), np.uint8)
    column, n_bins = np.full(p, -1, np.int64), np.ones(p, np.int64)
    values, edges = np.full((p, BINS), np.nan), np.full((p, BINS), np.nan)
    numeric = [
        a for a, attribute in enumerate(attributes) if attribute.kind == "numeric"
    ]
    for a, attribute in enumerate(attributes):
        if attribute.kind != "numeric":
            by_attribute[a] = np.where(columns[a] < 0, ABSENT, columns[a])
            codes[:, a] = by_attribute[a]
            n_bins[a] = max(1, len(attribute.values))
            values[a, : len(attribute.values)] = np.arange(len(attribute.values))
    numbers = _matrix([columns[a] for a in numeric])
    places, both = np.array(numeric, np.int64), (codes, by_attribute)
    _code_numbers(numbers, places, both, column, values, n_bins, edges)
    nominal = np.array([attribute.kind == "nominal" for attribute in attributes])
    listed = np.array([attribute.kind != "numeric" for attribute in attributes])
    facts = (column, values, n_bins, nominal, listed, edges)
    return Cells(codes, by_attribute, numbers, *facts)


def _room_for_codes(n_rows: int, p: int) -> NDArray[np.uint8]:
    """Return room for codes, few rows of which lie across two lines of the cache."""
    width = 1 << (p - 1).bit_length() if p <= LINE // 2 else -(-p // 32) * 32
    room = np.empty(n_rows * width + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + n_rows * width].reshape(n_rows, width)


def _matrix(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return columns side by side, or the array that they are all views of."""
    if not columns:
        return np.zeros((0, 0), np.float64)
    base = matrix_behind(columns)
    if base is not None:
        return base
    small = all(column.dtype == np.float32 for column in columns)
    return np.column_stack(columns).astype(
        np.float32 if small else np.float64, copy=False
    )


def _code_numbers(
    numbers: NDArray[Any],
    places: NDArray[np.int64],
    both: tuple[NDArray[np.uint8], NDArray[np.uint8]],
    column: NDArray[np.int64],
    values: Floats,
    n_bins: NDArray[np.int64],
    ends: Floats,
) -> None:
    """Code the numeric columns, and find which have one value a bin."""
    n_rows, q = numbers.shape
    if not q:
        return
    edges, n_edges = np.full((q, BINS), np.inf), np.zeros(q, np.int64)
    expected, own = np.zeros(q, np.bool_), np.full((q, BINS), np.nan)
    step = max(1, n_rows // SAMPLE)
    # One row of each stretch, at a place that no period of the table can follow.
    starts = np.arange(0, n_rows - n_rows % step, step)
    rows = starts + np.random.default_rng(0).integers(0, step, len(starts))
    sample = numbers[rows].astype(np.float64)
    # Each thread takes every so manieth column.
    shares = [sample.T[first :: n_threads()] for first in range(n_threads())]
    sampled = run_all([partial(_edges, share) for share in shares])
    for j in range(q):
        found, known = sampled[j % n_threads()][j // n_threads()]
        edges[j, : len(found)], n_edges[j] = found, len(found)
        expected[j] = known is not None
        if known is not None:
            own[j, : len(known)] = known
    first, low, scale = np.zeros((q, CELLS), np.uint8), np.zeros(q), np.zeros(q)
    steps = np.zeros(q, np.int64)
    prepare(edges, n_edges, first, low, scale, steps)
    tables = (edges, first, low, scale, steps, own, expected)

    def code(start: int, stop: int) -> NDArray[np.int64]:
        odd = np.zeros(q, np.int64)
        code_rows(numbers, start, stop, *tables, odd, *both, places)
        return odd

    odd = np.sum(in_threads(code, n_rows), axis=0)
    exact = expected & (odd == 0)
    column[places] = np.where(exact, -1, np.arange(q))
    # A bin that may hold other values than the one in the sample has none of its own.
    values[places] = np.where(exact[:, None], own, np.nan)
    n_bins[places], ends[places] = n_edges + 1, edges


def _edges(columns: Floats) -> list[tuple[Floats, Floats | None]]:
    """Return the edges between the bins of columns, and the values of bins of one."""
    return [edges_of(column) for column in columns]


def labels_of_classes(
    classes: NDArray[Any], weights: Floats | None, n_classes: int
) -> Labels:
    """Return classes and weights."""
    whole = weights is None or bool(np.all(weights == np.floor(weights)))
    # Half a word holds the sum of all weights.
    fits = weights is None or float(weights.sum()) < 2.0**32
    halves = n_classes == 2 and whole and fits
    return Labels(classes.astype(np.int32), _weights(weights), np.zeros(0), halves)


def labels_of_numbers(numbers: Floats, weights: Floats | None) -> Labels:
    """Return numbers, measured from their origin, and weights."""
    return Labels(np.zeros(0, np.int32), _weights(weights), numbers, halves=False)


def _weights(weights: Floats | None) -> Floats:
    """Return weights, none where every row weighs 1."""
    return np.zeros(0) if weights is None else np.asarray(weights, np.float64)
