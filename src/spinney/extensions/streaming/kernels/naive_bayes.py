"""The prediction of a leaf: its majority class, or the class by naive Bayes.

Naive Bayes multiplies the class probabilities of every attribute. For a value, they are
its proportions among the rows of each class, plus one row with the value and one
without. For a number, they are normal densities; each variance includes one row of the
variance within all classes. An adaptive leaf predicts by naive Bayes while naive Bayes
was correct more often there (Gama et al. 2003; Holmes et al. 2005).
"""

import math

import numpy as np

from spinney._support.jit.compile import entry, kernel
from spinney.extensions.streaming.kernels import layout

EQUAL = 1e-9
"""Log probabilities that differ by less are equal: the first class wins."""

SMALLEST, LARGEST = 1e-150, 1e150


@kernel
def predict(stream, leaf, cells, row):
    """Return the class of a row by counts, by naive Bayes, and as predicted."""
    nodes = stream.nodes
    label = nodes.label[leaf]
    if stream.limits[layout.IS_ADAPTIVE] == 0 or nodes.slot[leaf] < 0 or label < 0:
        return label, label, label
    _set_scores(stream, leaf, cells, row)
    scores, largest, best = stream.work.scores, -np.inf, np.int64(0)
    for c in range(len(scores)):
        largest = max(largest, scores[c])
    while scores[best] < largest - EQUAL:
        best += 1
    if nodes.correct[leaf, layout.BY_BAYES] > nodes.correct[leaf, layout.BY_COUNTS]:
        return label, best, best
    return label, best, label


@kernel
def _set_scores(stream, leaf, cells, row):
    """Set the log probability of each class, up to a constant."""
    nodes, slots, columns = stream.nodes, stream.slots, stream.columns
    scores, product, slot = stream.work.scores, stream.work.product, nodes.slot[leaf]
    for c in range(len(scores)):
        weight = nodes.weights[leaf, c]
        scores[c] = math.log(weight) if weight > 0.0 else -np.inf
        product[c] = 1.0  # the square of a factor of the probability
    for a in range(len(columns.kind)):
        value = cells[row, a]
        if value != value:
            continue
        if columns.kind[a] == layout.NUMBER:
            _multiply_densities(stream, slots.moments[slot, columns.number[a]], value)
            continue
        first, missing = columns.first[a], columns.first[a] + columns.n_lines[a]
        for c in range(len(scores)):
            total = slots.totals[slot, c] - slots.counts[slot, missing, c]
            count = slots.counts[slot, first + np.int64(value), c]
            probability = (count + 1.0) / (total + 2.0)
            _multiply(stream, c, probability * probability)
    for c in range(len(scores)):
        scores[c] += 0.5 * math.log(product[c])


@kernel
def _multiply(stream, c, factor):
    """Multiply the probability of a class; extreme products become logarithms."""
    product = stream.work.product
    product[c] *= factor
    if product[c] < SMALLEST or product[c] > LARGEST:
        stream.work.scores[c] += 0.5 * math.log(product[c])
        product[c] = 1.0


@kernel
def _multiply_densities(stream, moments, value):
    """Multiply the probabilities by the densities of a number."""
    weight, total, squares = 0.0, 0.0, 0.0
    for c in range(len(moments)):
        weight += moments[c, layout.WEIGHT]
        total += moments[c, layout.WEIGHT] * moments[c, layout.MEAN]
        squares += moments[c, layout.SQUARES]
    if not squares > 0.0:
        return
    within, middle = squares / weight, total / weight
    for c in range(len(moments)):
        size = moments[c, layout.WEIGHT]
        mean = moments[c, layout.MEAN] if size > 0.0 else middle
        variance = (moments[c, layout.SQUARES] + within) / (size + 1.0)
        step = value - mean
        stream.work.scores[c] -= step * step / (2.0 * variance)
        _multiply(stream, c, 1.0 / variance)


@entry
def predict_rows(stream, cells, leaves, outputs):
    """Set the class probabilities of rows at their leaves."""
    nodes, scores = stream.nodes, stream.work.scores
    n_classes = outputs.shape[1]
    for row in range(len(leaves)):
        leaf = leaves[row]
        adapts = stream.limits[layout.IS_ADAPTIVE] > 0 and nodes.slot[leaf] >= 0
        by_bayes = (
            nodes.correct[leaf, layout.BY_BAYES] > nodes.correct[leaf, layout.BY_COUNTS]
        )
        best, total = -np.inf, 0.0
        if adapts and by_bayes:
            _set_scores(stream, leaf, cells, row)
            for c in range(n_classes):
                best = max(best, scores[c])
        for c in range(n_classes):
            output = nodes.weights[leaf, c]
            if adapts and by_bayes:
                output = math.exp(scores[c] - best)
            outputs[row, c] = output
            total += output
        for c in range(n_classes):
            outputs[row, c] = outputs[row, c] / total if total > 0.0 else 0.0
