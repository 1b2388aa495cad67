"""A row of a node as one word: its number, its class and its weight.

The rows of a node lie far apart in memory, but their words lie side by side and move
together when the node is split, so that no label has to be fetched::

    bit   0 … 31   32 … 47   48 … 63
          number   class     weight; 0 where it is no whole number below 65,536

A weight that is not in the word is among the labels.
"""

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import kernel
from spinney.growth.binned.kernels.layout import Labels
from spinney.growth.binned.kernels.score import of_numbers

RowWords = NDArray[np.uint64]

LOWER = np.uint64(0xFFFFFFFF)
HALF, LAST = np.uint64(32), np.uint64(48)
CLASSES = np.uint64(0xFFFF)
HALF_BITS = np.uint64(5)  # 32 = 1 << 5


def words_of(labels: Labels, rows: NDArray[np.integer] | None = None) -> RowWords:
    """Return the words of rows, or of all rows."""
    n_rows = max(len(labels.classes), len(labels.numbers))
    own: NDArray[np.integer] | slice = slice(None) if rows is None else rows
    words = np.arange(n_rows, dtype=np.uint64)[own]
    if len(labels.classes):
        words |= labels.classes[own].astype(np.uint64) << HALF
    if not len(labels.weights):
        return words | (np.uint64(1) << LAST)
    weights = labels.weights[own]
    fits = (weights < 1 << 16) & (weights == np.floor(weights))
    return words | (np.where(fits, weights, 0.0).astype(np.uint64) << LAST)


@kernel
def word_of(number, label, weight):
    """Return the word of a row; its weight must fit."""
    return np.uint64(number) | (np.uint64(label) << HALF) | (np.uint64(weight) << LAST)


@kernel
def number_of(word):
    """Return the number of a row."""
    return word & LOWER


@kernel
def class_of(word):
    """Return the class of a row."""
    return (word >> HALF) & CLASSES


@kernel
def weight_of(labels, word):
    """Return the weight of a row."""
    weight = word >> LAST
    return np.float64(weight) if weight else labels.weights[number_of(word)]


@kernel
def whole_weight_of(labels, word):
    """Return the weight of a row, which is a whole number."""
    weight = word >> LAST
    if weight == 0:
        weight = np.uint64(labels.weights[number_of(word)])
    return np.int64(weight)


@kernel
def half_of(labels, word):
    """Return the weight of a row in the upper or lower half of a word, by its class."""
    return np.uint64(whole_weight_of(labels, word)) << (class_of(word) << HALF_BITS)


@kernel
def add_row(kind, labels, word, vectors, at):
    """Add the weight of a row to that of its class, or its moments to those."""
    weight = weight_of(labels, word)
    if of_numbers(kind):
        number = labels.numbers[number_of(word)]
        moved = weight * number
        vectors[at, 0] += weight
        vectors[at, 1 if number > 0 else 2] += moved
        vectors[at, 3] += moved * number
    else:
        vectors[at, class_of(word)] += weight
