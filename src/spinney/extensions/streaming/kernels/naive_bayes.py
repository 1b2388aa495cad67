"""What a leaf tells of a row: its commonest class, or what naive Bayes makes of it.

A leaf has counts of every attribute by class, and naive Bayes multiplies what they say:
the share of the row's value among the rows of a class, with one row more of it and one
of another; of a number the density of a normal distribution, whose variance has one row
more of the variance within all classes. A leaf adapts: it tells by naive Bayes as long
as that was right more often there (Gama et al. 2003; Holmes et al. 2005).
"""

import math

import numpy as np

from spinney._support.jit.compile import entry, kernel
from spinney.extensions.streaming.kernels.layout import (
    ADAPTS,
    BY_BAYES,
    BY_COUNTS,
    MEAN,
    NUMBER,
    SQUARES,
    WEIGHT,
)

EQUAL = 1e-9
"""Logarithms of chances that differ by less are equal: the first class wins."""

LEAST, MOST = 1e-150, 1e150


@kernel
def tell(stream, leaf, cells, row):
    """Return the class of a row by counts, by naive Bayes, and that which is told."""
    nodes = stream.nodes
    label = nodes.label[leaf]
    if stream.limits[ADAPTS] == 0 or nodes.slot[leaf] < 0 or label < 0:
        return label, label, label
    weigh(stream, leaf, cells, row)
    scores, most, best = stream.room.scores, -np.inf, np.int64(0)
    for c in range(len(scores)):
        most = max(most, scores[c])
    while scores[best] < most - EQUAL:
        best += 1
    if nodes.right[leaf, BY_BAYES] > nodes.right[leaf, BY_COUNTS]:
        return label, best, best
    return label, best, label


@kernel
def weigh(stream, leaf, cells, row):
    """Set the logarithm of each class's chance, but for what all have alike."""
    nodes, slots, columns = stream.nodes, stream.slots, stream.columns
    scores, product, slot = stream.room.scores, stream.room.product, nodes.slot[leaf]
    for c in range(len(scores)):
        weight = nodes.weights[leaf, c]
        scores[c] = math.log(weight) if weight > 0.0 else -np.inf
        product[c] = 1.0  # the square of a part of the chance
    for a in range(len(columns.kind)):
        value = cells[row, a]
        if value != value:
            continue
        if columns.kind[a] == NUMBER:
            _weigh_number(stream, slots.moments[slot, columns.number[a]], value)
            continue
        first, absent = columns.first[a], columns.first[a] + columns.n_lines[a]
        for c in range(len(scores)):
            total = slots.totals[slot, c] - slots.counts[slot, absent, c]
            share = (slots.counts[slot, first + np.int64(value), c] + 1.0) / (
                total + 2.0
            )
            _multiply(stream, c, share * share)
    for c in range(len(scores)):
        scores[c] += 0.5 * math.log(product[c])


@kernel
def _multiply(stream, c, factor):
    """Multiply the chance of a class; what gets too small or large becomes a sum."""
    product = stream.room.product
    product[c] *= factor
    if product[c] < LEAST or product[c] > MOST:
        stream.room.scores[c] += 0.5 * math.log(product[c])
        product[c] = 1.0


@kernel
def _weigh_number(stream, moments, value):
    """Multiply the chances by the densities of a number."""
    weight, total, squares = 0.0, 0.0, 0.0
    for c in range(len(moments)):
        weight += moments[c, WEIGHT]
        total += moments[c, WEIGHT] * moments[c, MEAN]
        squares += moments[c, SQUARES]
    if not squares > 0.0:
        return
    within, middle = squares / weight, total / weight
    for c in range(len(moments)):
        own = moments[c, WEIGHT]
        mean = moments[c, MEAN] if own > 0.0 else middle
        variance = (moments[c, SQUARES] + within) / (own + 1.0)
        step = value - mean
        stream.room.scores[c] -= step * step / (2.0 * variance)
        _multiply(stream, c, 1.0 / variance)


@entry
def tell_rows(stream, cells, leaves, outputs):
    """Set what leaves tell of rows: the share of each class."""
    nodes, scores = stream.nodes, stream.room.scores
    n_classes = outputs.shape[1]
    for row in range(len(leaves)):
        leaf = leaves[row]
        adapts = stream.limits[ADAPTS] > 0 and nodes.slot[leaf] >= 0
        by_bayes = nodes.right[leaf, BY_BAYES] > nodes.right[leaf, BY_COUNTS]
        best, total = -np.inf, 0.0
        if adapts and by_bayes:
            weigh(stream, leaf, cells, row)
            for c in range(n_classes):
                best = max(best, scores[c])
        for c in range(n_classes):
            share = nodes.weights[leaf, c]
            if adapts and by_bayes:
                share = math.exp(scores[c] - best)
            outputs[row, c] = share
            total += share
        for c in range(n_classes):
            outputs[row, c] = outputs[row, c] / total if total > 0.0 else 0.0
