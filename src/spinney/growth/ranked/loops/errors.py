"""The errors that a leaf makes, and may make, as ``growth.prune.error_limits``."""

from math import sqrt

from spinney._support.jit.compile import kernel
from spinney._support.ties import TOLERANCE

EQUAL = 1e-6


@kernel
def wrong(weights, node, prior, scale):
    """Return the weight that is not of the label, the last of the greatest.

    With ``scale`` 0 the weights themselves are compared; else what is predicted, the
    weights and the prior over their sum, the prior's weight being ``scale`` − 1.
    """
    size, best, label = 0.0, -1.0, 0
    for c in range(weights.shape[1]):
        size += weights[node, c]
    for turn in range(2):
        for c in range(weights.shape[1]):
            x = weights[node, c]
            if scale > 0.0 and size + scale - 1 > 0.0:
                x = (x + prior[c]) / (size + scale - 1)
            if turn == 0:
                best = max(best, x)
            elif x >= best - TOLERANCE * max(1.0, best):
                label = c
    return size - weights[node, label]


@kernel
def _added(weight, errors, z):
    """Return the errors to add to one or more that were seen."""
    if errors + 0.5 >= weight:
        return max(weight - errors, 0.0)
    f = (errors + 0.5) / weight
    spread = sqrt(f / weight - f * f / weight + z * z / (4 * weight * weight))
    limit = (f + z * z / (2 * weight) + z * spread) / (1 + z * z / weight)
    return limit * weight - errors


@kernel
def estimate(rules, weights, node, prior):
    """Return how many errors a node may make as a leaf."""
    weight = 0.0
    for c in range(weights.shape[1]):
        weight += weights[node, c]
    if weight <= EQUAL:
        return 0.0
    errors = wrong(weights, node, prior, 0.0)
    if errors >= 1:
        return errors + _added(weight, errors, rules.z)
    none = weight * (1 - rules.confidence ** (1 / weight))
    if errors <= 0:
        return errors + none
    return errors + none + errors * (_added(weight, 1.0, rules.z) - none)
