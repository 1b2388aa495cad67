"""Impurities: how mixed the classes of some rows are, or how far numbers spread.

Each function reads the last axis: weights by class, or the moments Σw, Σwy, Σwy² of
a numeric target. Impurities are never negative, and 0 without rows or variation, except
Poisson's, which is known up to a constant.
"""

from collections.abc import Callable, Sequence

import numpy as np

from spinney._support.arrays import Floats, maxima_over, sums_over
from spinney._support.ties import TOLERANCE
from spinney.trees.counts import ratio_of, spread_of

Impurity = Callable[[Floats], Floats]


def shares_of(weights: Floats) -> Floats:
    """Return weights over their sum along the last axis; 0 where the sum is 0."""
    total = sums_over(weights, -1)[..., None]
    return np.asarray(weights / np.where(total > 0, total, 1.0))


def entropy(weights: Floats | Sequence[float]) -> Floats:
    """Return the entropy of class weights in bits, −Σ p log₂ p, with 0 log 0 = 0.

    >>> round(float(entropy([8, 9])), 3)
    0.998
    """
    shares = shares_of(np.asarray(weights, dtype=np.float64))
    logs = np.log2(np.where(shares > 0, shares, 1.0))
    return np.asarray(-sums_over(shares * logs, -1) + 0.0)[()]


def gini(weights: Floats | Sequence[float]) -> Floats:
    """Return Gini's index of class weights, 1 − Σ p².

    >>> round(float(gini([9, 5])), 3)
    0.459
    """
    weights = np.asarray(weights, dtype=np.float64)
    shares = shares_of(weights)
    present = sums_over(weights, -1) > 0
    return np.asarray(np.where(present, 1 - sums_over(shares * shares, -1), 0.0))[()]


def misclassification(weights: Floats | Sequence[float]) -> Floats:
    """Return the error rate of the majority class, 1 − max p.

    >>> float(misclassification([3, 1]))
    0.25
    """
    weights = np.asarray(weights, dtype=np.float64)
    present = sums_over(weights, -1) > 0
    largest = maxima_over(shares_of(weights), -1)
    return np.asarray(np.where(present, 1 - largest, 0.0))[()]


def variance(moments: Floats | Sequence[float]) -> Floats:
    """Return the variance with n − 1 from the moments (Σw, Σwy, Σwy²).

    Rows that weigh no more than 1 together, but for rounding, allow no such estimate:
    theirs is the mean square around the mean, with n.

    >>> float(variance([3, 6, 14]))      # 1, 2, 3
    1.0
    >>> float(variance([1, 2, 5]))      # 1 and 3, which weigh a half each
    1.0
    """
    moments = np.asarray(moments, dtype=np.float64)
    total = moments[..., 0]
    below = np.where(total - 1 > TOLERANCE, total - 1, total)
    return ratio_of(spread_of(moments), below)


def squared_error(moments: Floats | Sequence[float]) -> Floats:
    """Return the mean squared error around the mean, Σw(y − mean)² / Σw (CART).

    >>> round(float(squared_error([3, 6, 14])), 3)      # 1, 2, 3
    0.667
    """
    moments = np.asarray(moments, dtype=np.float64)
    return ratio_of(spread_of(moments), moments[..., 0])


def deviation(moments: Floats | Sequence[float]) -> Floats:
    """Return the standard deviation √(Σw(y − mean)² / Σw) (M5, Quinlan 1992).

    >>> float(deviation([4, 4, 20]))      # -1, -1, 3, 3
    2.0
    """
    return np.asarray(np.sqrt(squared_error(moments)))[()]


def variance_root(moments: Floats | Sequence[float]) -> Floats:
    """Return the fifth root of the variance Σw(y − mean)² / Σw.

    Weka's M5P splits by it instead of M5's standard deviation: the flatter root gives
    less weight to the branch whose numbers spread most.

    >>> float(variance_root([2, 0, 64]))      # ±√32
    2.0
    """
    return np.asarray(np.power(squared_error(moments), 0.2))[()]


def poisson(moments: Floats | Sequence[float]) -> Floats:
    """Return −2 λ ln λ of the mean λ, the part of Poisson's deviance that varies.

    The mean deviance of counts y around λ is 2 · mean(y ln y) − 2 λ ln λ, and no
    split changes the mean of y ln y. The moments must be counted from 0.
    """
    moments = np.asarray(moments, dtype=np.float64)
    mean = np.asarray(ratio_of(moments[..., 1], moments[..., 0]))
    logs = np.log(mean, out=np.zeros_like(mean), where=mean > 0)
    return np.asarray(-2 * mean * logs + 0.0)[()]


def mean_square(moments: Floats) -> Floats:
    """Return Σwy² / Σw, the unit of variances, with y measured from the origin."""
    return ratio_of(moments[..., 2], moments[..., 0])


def root_mean_square(moments: Floats) -> Floats:
    """Return √(Σwy² / Σw), the unit of standard deviations."""
    return np.asarray(np.sqrt(mean_square(moments)))[()]


def variance_root_unit(moments: Floats) -> Floats:
    """Return the fifth root of Σwy² / Σw, the unit of fifth roots of variances."""
    return np.asarray(np.power(mean_square(moments), 0.2))[()]


def mean_of(moments: Floats) -> Floats:
    """Return Σwy / Σw, the unit of Poisson's deviance."""
    return ratio_of(moments[..., 1], moments[..., 0])


def description_length(weights: Floats | Sequence[float]) -> Floats:
    """Return the bits that encode the class of each row (Kononenko 1995).

    First which of the C(n + c − 1, c − 1) distributions of n rows over c classes it
    is, then which of the n! / (n₁! … n_c!) orders: log₂ of their product, which is
    Γ(n + c) / (Γ(c) Π Γ(nᵢ + 1)) and so is defined for fractions of rows too.

    >>> round(float(description_length([9, 5])), 3)      # log₂ 15 + log₂ 2002
    14.874
    """
    from scipy.special import gammaln

    weights = np.asarray(weights, dtype=np.float64)
    n_classes = weights.shape[-1]
    nats = gammaln(weights.sum(axis=-1) + n_classes) - gammaln(n_classes)
    nats = nats - gammaln(weights + 1).sum(axis=-1)
    return np.asarray(np.maximum(nats / np.log(2), 0.0))[()]
