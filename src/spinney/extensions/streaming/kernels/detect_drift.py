"""The detection of concept drift: if the errors of a subtree rise, it is reset.

An inner node tracks the error rate of the rows that pass it. Hoeffding's bound for
means of successive rows separates a rise from chance (HDDM-A, Frías-Blanco et al.
2015). Let m be the row at which the upper bound on the mean was least. By chance, the
mean of all n rows differs from the mean of the first m rows by at most ::

    ε = √((1/m − 1/n) ln(2/δ) / 2)

A fall is detected in the same way. Learning causes falls, so they reset the statistics.
"""

import math

import numpy as np

from spinney._support.jit.compile import kernel
from spinney.extensions.streaming.kernels import layout
from spinney.extensions.streaming.kernels.leaf_statistics import release_slot, take_slot


@kernel
def update_path(stream, leaf, is_wrong):
    """Update the errors above a leaf; reset the highest node whose errors rose."""
    nodes, drifted = stream.nodes, np.int64(-1)
    node = nodes.parent[leaf]
    while node >= 0:
        if _has_risen(nodes.errors[node], is_wrong, stream.bounds[layout.LOG_DELTA]):
            drifted = node
        node = nodes.parent[node]
    if drifted >= 0:
        _reset_subtree(stream, drifted)


@kernel
def _has_risen(errors, is_wrong, log_delta):
    """Count a row; return whether errors rose. After a fall, reset the statistics."""
    errors[layout.ALL_ROWS] += 1.0
    errors[layout.ALL_WRONG] += is_wrong
    n, n_wrong = errors[layout.ALL_ROWS], errors[layout.ALL_WRONG]
    mean, bound = n_wrong / n, math.sqrt(log_delta / (2.0 * n))
    m = errors[layout.LOW_ROWS]
    if m == 0.0 or mean + bound <= _error_rate(errors, layout.LOW_WRONG) + math.sqrt(
        log_delta / (2.0 * m)
    ):
        errors[layout.LOW_ROWS], errors[layout.LOW_WRONG] = n, n_wrong
    m = errors[layout.HIGH_ROWS]
    if m == 0.0 or mean - bound >= _error_rate(errors, layout.HIGH_WRONG) - math.sqrt(
        log_delta / (2.0 * m)
    ):
        errors[layout.HIGH_ROWS], errors[layout.HIGH_WRONG] = n, n_wrong
    low, high = (
        _error_rate(errors, layout.LOW_WRONG),
        _error_rate(errors, layout.HIGH_WRONG),
    )
    if high - mean > _chance_difference(errors[layout.HIGH_ROWS], n, log_delta):
        for i in range(len(errors)):
            errors[i] = 0.0
        return False
    return mean - low > _chance_difference(errors[layout.LOW_ROWS], n, log_delta)


@kernel
def _error_rate(errors, wrong):
    """Return an error rate: ``errors[wrong]`` over the number of rows before it."""
    return errors[wrong] / errors[wrong - 1]


@kernel
def _chance_difference(m, n, log_delta):
    """Return the largest difference by chance of the means of m rows and of all n."""
    return math.sqrt((1.0 / m - 1.0 / n) * (log_delta + math.log(2.0)) / 2.0)


@kernel
def _reset_subtree(stream, node):
    """Make an empty leaf of an inner node, and remove the nodes below it."""
    nodes, state = stream.nodes, stream.state
    n_removed = np.int64(0)
    for below in range(node + 1, state[layout.N_NODES]):  # children follow parents
        above = nodes.parent[below]
        if nodes.attribute[below] == layout.REMOVED:
            continue
        if above != node and nodes.attribute[above] != layout.REMOVED:
            continue
        if nodes.attribute[below] == layout.LEAF:
            n_removed += 1
            if nodes.slot[below] >= 0:
                release_slot(stream, nodes.slot[below])
            else:
                state[layout.N_INACTIVE] -= 1
        nodes.attribute[below] = layout.REMOVED
    state[layout.N_LEAVES] -= n_removed - 1
    state[layout.N_DRIFTS] += 1
    new_leaf(nodes, node, nodes.parent[node], nodes.depth[node])
    nodes.slot[node] = take_slot(stream)
    state[layout.N_INACTIVE] += nodes.slot[node] < 0


@kernel
def new_leaf(nodes, node, parent, depth):
    """Make a leaf without rows."""
    nodes.attribute[node] = layout.LEAF
    nodes.parent[node], nodes.depth[node] = parent, depth
    nodes.rows[node], nodes.slot[node], nodes.label[node] = 0, -1, -1
    for c in range(nodes.weights.shape[1]):
        nodes.weights[node, c] = 0.0
    for i in range(nodes.errors.shape[1]):
        nodes.errors[node, i] = 0.0
    nodes.correct[node, layout.BY_COUNTS] = nodes.correct[node, layout.BY_BAYES] = 0.0
