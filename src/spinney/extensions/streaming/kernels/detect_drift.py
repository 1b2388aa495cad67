"""What was learned holds no more: the errors of a subtree rise, and it begins anew.

A node that asks watches whether the rows that pass it are told right. Of means of rows
that come one after another, Hoeffding's bound says when a rise is none of chance
(HDDM-A, Frías-Blanco et al. 2015): the mean of all n rows against that of the first m,
where m is the moment at which the upper bound on the mean was least, differs by ::

    ε = √((1/m − 1/n) ln(2/δ) / 2)

A fall is found in the same way; it is what learning does, and the watch begins anew.
"""

import math

import numpy as np

from spinney._support.jit.compile import kernel
from spinney.extensions.streaming.kernels.layout import (
    ALL_ROWS,
    ALL_WRONG,
    BY_BAYES,
    BY_COUNTS,
    GONE,
    HIGH_ROWS,
    HIGH_WRONG,
    LEAF,
    LOG_DELTA,
    LOW_ROWS,
    LOW_WRONG,
    N_CHANGES,
    N_IDLE,
    N_LEAVES,
    N_NODES,
)
from spinney.extensions.streaming.kernels.leaf_statistics import leave_slot, take_slot


@kernel
def watch_path(stream, leaf, is_wrong):
    """Watch the nodes above a leaf; the highest whose errors have risen begins anew."""
    nodes, anew = stream.nodes, np.int64(-1)
    node = nodes.parent[leaf]
    while node >= 0:
        if _has_risen(nodes.errors[node], is_wrong, stream.bounds[LOG_DELTA]):
            anew = node
        node = nodes.parent[node]
    if anew >= 0:
        _begin_anew(stream, anew)


@kernel
def _has_risen(errors, is_wrong, log_delta):
    """Count a row; return whether errors rose. Where they fell, the watch begins."""
    errors[ALL_ROWS] += 1.0
    errors[ALL_WRONG] += is_wrong
    n, mean = errors[ALL_ROWS], errors[ALL_WRONG] / errors[ALL_ROWS]
    bound = math.sqrt(log_delta / (2.0 * n))
    m = errors[LOW_ROWS]
    if m == 0.0 or mean + bound <= _mean(errors, LOW_WRONG) + math.sqrt(
        log_delta / (2.0 * m)
    ):
        errors[LOW_ROWS], errors[LOW_WRONG] = n, errors[ALL_WRONG]
    m = errors[HIGH_ROWS]
    if m == 0.0 or mean - bound >= _mean(errors, HIGH_WRONG) - math.sqrt(
        log_delta / (2.0 * m)
    ):
        errors[HIGH_ROWS], errors[HIGH_WRONG] = n, errors[ALL_WRONG]
    low, high = _mean(errors, LOW_WRONG), _mean(errors, HIGH_WRONG)
    if high - mean > _difference(errors[HIGH_ROWS], n, log_delta):
        for i in range(len(errors)):
            errors[i] = 0.0
        return False
    return mean - low > _difference(errors[LOW_ROWS], n, log_delta)


@kernel
def _mean(errors, wrong):
    """Return a share of wrong rows; their number stands before that of the wrong."""
    return errors[wrong] / errors[wrong - 1]


@kernel
def _difference(m, n, log_delta):
    """Return by how much the means of m rows and of all n may differ by chance."""
    return math.sqrt((1.0 / m - 1.0 / n) * (log_delta + math.log(2.0)) / 2.0)


@kernel
def _begin_anew(stream, node):
    """Make an empty leaf of a node that asks; what is below it is gone."""
    nodes, at = stream.nodes, stream.at
    n_gone = np.int64(0)
    for below in range(node + 1, at[N_NODES]):  # children stand after their parents
        above = nodes.parent[below]
        if nodes.attribute[below] == GONE:
            continue
        if above != node and nodes.attribute[above] != GONE:
            continue
        if nodes.attribute[below] == LEAF:
            n_gone += 1
            if nodes.slot[below] >= 0:
                leave_slot(stream, nodes.slot[below])
            else:
                at[N_IDLE] -= 1
        nodes.attribute[below] = GONE
    at[N_LEAVES] -= n_gone - 1
    at[N_CHANGES] += 1
    new_leaf(nodes, node, nodes.parent[node], nodes.depth[node])
    nodes.slot[node] = take_slot(stream)
    at[N_IDLE] += nodes.slot[node] < 0


@kernel
def new_leaf(nodes, node, parent, depth):
    """Make a leaf that has seen nothing."""
    nodes.attribute[node], nodes.parent[node], nodes.depth[node] = LEAF, parent, depth
    nodes.rows[node], nodes.slot[node], nodes.label[node] = 0, -1, -1
    for c in range(nodes.weights.shape[1]):
        nodes.weights[node, c] = 0.0
    for i in range(nodes.errors.shape[1]):
        nodes.errors[node, i] = 0.0
    nodes.right[node, BY_COUNTS] = nodes.right[node, BY_BAYES] = 0.0
