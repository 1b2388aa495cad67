"""Rows of a node packed into words, and the values of their cells.

The rows of a node lie far apart in memory. Their words lie side by side and move
together when the node is split, so that no label has to be fetched::

bit   0 … 31   32 … 47   48 … 63
      number   class     weight; 0 if it is no integer below 65,536

A weight that does not fit into the word is read from the labels. Numbers keep the
precision of the table: one of two matrices has the cells, the other has no rows. So
kernels are compiled once for both.
"""

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import kernel, prefetch
from spinney.growth.binned.kernels.layout import Labels
from spinney.growth.binned.kernels.split_scores import is_numeric

PackedRows = NDArray[np.uint64]

ROW_MASK = np.uint64(0xFFFFFFFF)
CLASS_SHIFT, WEIGHT_SHIFT = np.uint64(32), np.uint64(48)
CLASS_MASK = np.uint64(0xFFFF)
HALF_BITS = np.uint64(5)  # 32 = 1 << 5


def pack_rows(labels: Labels, rows: NDArray[np.integer] | None = None) -> PackedRows:
    """Return the packed words of the given rows, or of all."""
    n_rows = max(len(labels.classes), len(labels.numbers))
    selection: NDArray[np.integer] | slice = slice(None) if rows is None else rows
    words = np.arange(n_rows, dtype=np.uint64)[selection]
    if len(labels.classes):
        words |= labels.classes[selection].astype(np.uint64) << CLASS_SHIFT
    if not len(labels.weights):
        return words | (np.uint64(1) << WEIGHT_SHIFT)
    weights = labels.weights[selection]
    fits = (weights < 1 << 16) & (weights == np.floor(weights))
    return words | (np.where(fits, weights, 0.0).astype(np.uint64) << WEIGHT_SHIFT)


@kernel
def pack_row(number, label, weight):
    """Return the word of a row; its weight must fit."""
    return (
        np.uint64(number)
        | (np.uint64(label) << CLASS_SHIFT)
        | (np.uint64(weight) << WEIGHT_SHIFT)
    )


@kernel
def row_of(word):
    """Return the number of a row."""
    return word & ROW_MASK


@kernel
def class_of(word):
    """Return the class of a row."""
    return (word >> CLASS_SHIFT) & CLASS_MASK


@kernel
def weight_of(labels, word):
    """Return the weight of a row."""
    weight = word >> WEIGHT_SHIFT
    return np.float64(weight) if weight else labels.weights[row_of(word)]


@kernel
def integer_weight_of(labels, word):
    """Return the weight of a row, which is an integer."""
    weight = word >> WEIGHT_SHIFT
    if weight == 0:
        weight = np.uint64(labels.weights[row_of(word)])
    return np.int64(weight)


@kernel
def packed_count_of(labels, word):
    """Return the weight of a row in the half of a word for its class."""
    return np.uint64(integer_weight_of(labels, word)) << (class_of(word) << HALF_BITS)


@kernel
def add_row(kind, labels, word, vectors, line):
    """Add a row to class weights, or to moments."""
    weight = weight_of(labels, word)
    if is_numeric(kind):
        number = labels.numbers[row_of(word)]
        weighted = weight * number
        vectors[line, 0] += weight
        vectors[line, 1 if number > 0 else 2] += weighted
        vectors[line, 3] += weighted * number
    else:
        vectors[line, class_of(word)] += weight


@kernel
def is_float32(cells):
    """Return whether numbers are in single precision."""
    return len(cells.singles) > 0


@kernel
def cell_value(cells, row, column):
    """Return the number of a cell; NaN if it is missing."""
    if is_float32(cells):
        return np.float64(cells.singles[row, column])
    return cells.doubles[row, column]


@kernel
def prefetch_cell(cells, row, column):
    """Prefetch a cell that will be read soon."""
    if is_float32(cells):
        prefetch(cells.singles, row, column)
    else:
        prefetch(cells.doubles, row, column)
