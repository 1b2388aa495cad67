"""Rows as the kernels take them: codes of one byte, and labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.counts import Floats
from spinney.kernels.coding import CELLS, code_rows, edges_of, prepare
from spinney.kernels.layout import ABSENT, BINS, Cells, Labels
from spinney.schema import Attribute
from spinney.swift.threads import in_threads

__all__ = ["cells_of", "labels_of_classes", "labels_of_numbers"]

SAMPLE = 8192


def cells_of(attributes: Sequence[Attribute], columns: Sequence[NDArray[Any]]) -> Cells:
    """Code columns as ``Schema.encode`` gives them."""
    p, n_rows = len(columns), len(columns[0])
    codes = np.empty((n_rows, p), np.uint8)
    column, n_bins = np.full(p, -1, np.int64), np.ones(p, np.int64)
    values = np.full((p, BINS), np.nan)
    numeric = [
        a for a, attribute in enumerate(attributes) if attribute.kind == "numeric"
    ]
    for a, attribute in enumerate(attributes):
        if attribute.kind != "numeric":
            codes[:, a] = np.where(columns[a] < 0, ABSENT, columns[a])
            n_bins[a] = max(1, len(attribute.values))
            values[a, : len(attribute.values)] = np.arange(len(attribute.values))
    numbers = _matrix([columns[a] for a in numeric])
    _code_numbers(numbers, np.array(numeric, np.int64), codes, column, values, n_bins)
    nominal = np.array([attribute.kind == "nominal" for attribute in attributes])
    listed = np.array([attribute.kind != "numeric" for attribute in attributes])
    return Cells(codes, numbers, column, values, n_bins, nominal, listed)


def _matrix(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return columns side by side, or the array that they are all views of."""
    if not columns:
        return np.zeros((0, 0), np.float64)
    base = columns[0].base
    if (
        isinstance(base, np.ndarray)
        and base.ndim == 2
        and base.shape[1] == len(columns)
    ):
        whole = all(
            column.base is base
            and column.shape[0] == base.shape[0]
            and column.strides[0] == base.strides[0]
            and column.ctypes.data == base.ctypes.data + place * base.strides[1]
            for place, column in enumerate(columns)
        )
        if whole and base.dtype.kind == "f" and base.dtype.itemsize in (4, 8):
            return base
    small = all(column.dtype == np.float32 for column in columns)
    return np.column_stack(columns).astype(
        np.float32 if small else np.float64, copy=False
    )


def _code_numbers(
    numbers: NDArray[Any],
    places: NDArray[np.int64],
    codes: NDArray[np.uint8],
    column: NDArray[np.int64],
    values: Floats,
    n_bins: NDArray[np.int64],
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
    for j in range(q):
        found, expected[j] = edges_of(sample[:, j])
        edges[j, : len(found)], n_edges[j] = found, len(found)
        if expected[j]:
            known = np.unique(sample[:, j][~np.isnan(sample[:, j])])
            own[j, : len(known)] = known
    first, low, scale = np.zeros((q, CELLS), np.uint8), np.zeros(q), np.zeros(q)
    steps = np.zeros(q, np.int64)
    prepare(edges, n_edges, first, low, scale, steps)
    into = codes if q == codes.shape[1] else np.empty((n_rows, q), np.uint8)
    tables = (edges, first, low, scale, steps, own, expected)

    def code(start: int, stop: int) -> NDArray[np.int64]:
        odd = np.zeros(q, np.int64)
        code_rows(numbers, start, stop, *tables, odd, into, 0)
        return odd

    odd = np.sum(in_threads(code, n_rows), axis=0)
    if into is not codes:
        codes[:, places] = into
    exact = expected & (odd == 0)
    column[places] = np.where(exact, -1, np.arange(q))
    values[places], n_bins[places] = own, n_edges + 1


def labels_of_classes(
    classes: NDArray[Any], weights: Floats | None, n_classes: int
) -> Labels:
    """Return classes and weights; two classes of whole weights are packed too."""
    own = np.ones(len(classes)) if weights is None else weights
    packed = np.zeros(0, np.uint64)
    # Half a word holds the sum of all weights.
    if n_classes == 2 and np.all(own == np.floor(own)) and own.sum() < 2.0**32:
        packed = own.astype(np.uint64) << (32 * classes.astype(np.uint64))
    return Labels(classes.astype(np.int32), own, np.zeros(0), packed)


def labels_of_numbers(numbers: Floats, weights: Floats | None) -> Labels:
    """Return numbers, measured from their origin, and weights."""
    own = np.ones(len(numbers)) if weights is None else weights
    return Labels(np.zeros(0, np.int32), own, numbers, np.zeros(0, np.uint64))
