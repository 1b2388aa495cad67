"""Training errors of a leaf, and their estimates, as ``growth.prune.error_limits``."""

from math import sqrt

import numpy as np

from spinney._support.jit.compile import kernel
from spinney._support.ties import TOLERANCE

EQUAL = 1e-6


@kernel
def _size(weights, node):
    size = 0.0
    for c in range(weights.shape[1]):
        size += weights[node, c]
    return size


@kernel
def _label_of(rules, weights, node, prior, scale):
    """Return the most probable label, or the label of least cost; ties go to the last.

    With ``scale`` 0 weights replace probabilities. Otherwise probabilities are the
    weights plus the prior, over their sum; the prior weighs ``scale`` − 1.
    """
    n_classes, costs = weights.shape[1], rules.costs
    size = _size(weights, node) + scale - 1
    by_fraction = scale > 0.0 and size > 0.0
    best, label = -np.inf, 0
    for second_pass in range(2):
        for c in range(n_classes):
            if len(costs) > 0:
                merit = 0.0
                for true in range(n_classes):
                    x = weights[node, true]
                    x = (x + prior[true]) / size if by_fraction else x
                    merit -= x * (costs[c, true] / rules.max_cost)
            else:
                merit = weights[node, c]
                merit = (merit + prior[c]) / size if by_fraction else merit
            if second_pass == 0:
                best = max(best, merit)
            elif merit >= best - TOLERANCE * max(1.0, abs(best)):
                label = c
    return label


@kernel
def leaf_errors(rules, weights, node, prior):
    """Return the weight outside the majority class of a node."""
    label = _label_of(rules, weights, node, prior, 0.0)
    return _size(weights, node) - weights[node, label]


@kernel
def risk(rules, weights, node, prior):
    """Return the weight outside the predicted class, or its cost."""
    label = _label_of(rules, weights, node, prior, rules.scale)
    if len(rules.costs) == 0:
        return _size(weights, node) - weights[node, label]
    cost = 0.0
    for c in range(weights.shape[1]):
        cost += weights[node, c] * rules.costs[label, c]
    return cost


@kernel
def _added_errors(weight, errors, z):
    """Return the number to add to one or more training errors."""
    if errors + 0.5 >= weight:
        return max(weight - errors, 0.0)
    f = (errors + 0.5) / weight
    spread = sqrt(f / weight - f * f / weight + z * z / (4 * weight * weight))
    limit = (f + z * z / (2 * weight) + z * spread) / (1 + z * z / weight)
    return limit * weight - errors


@kernel
def estimated_errors(rules, weights, node, prior):
    """Return the estimated errors of a node as a leaf."""
    weight = _size(weights, node)
    if weight <= EQUAL:
        return 0.0
    errors = leaf_errors(rules, weights, node, prior)
    if errors >= 1:
        return errors + _added_errors(weight, errors, rules.z)
    without_errors = weight * (1 - rules.confidence ** (1 / weight))
    if errors <= 0:
        return errors + without_errors
    return (
        errors
        + without_errors
        + errors * (_added_errors(weight, 1.0, rules.z) - without_errors)
    )
