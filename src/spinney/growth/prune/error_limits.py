"""Upper confidence limits of errors: a pessimistic estimate for leaves and rules.

A leaf with N training rows, E of other classes, will have an error rate above E/N on
new rows. C4.5 treats the E errors as a sample. It takes the largest error rate U with
probability CF of at most E errors in N rows: the upper limit of a one-sided confidence
interval (Quinlan 1993, C4.5: Programs for Machine Learning, chapter 4).
"""

from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from spinney._support.arrays import Floats
from spinney._support.checks import as_real
from spinney.errors import Setting, refusal

CONFIDENCE = 0.25


def check_confidence(confidence: object) -> float:
    """Return a confidence level, or refuse it."""
    level = as_real(confidence)
    if not 0 < level < 1:
        raise refusal(
            Setting("confidence", confidence),
            "must be a number between 0 and 1, both left out; C4.5 takes "
            f"{CONFIDENCE}, and less prunes more",
        )
    return level


def upper_errors(
    errors: ArrayLike, weights: ArrayLike, confidence: float = CONFIDENCE
) -> Floats:
    """Return the upper limit of the error rate, U_CF(E, N), exactly.

    U solves P(X ≤ E) = CF for X binomial with N trials of probability U. That sum
    is the regularised incomplete beta function, P(X ≤ E) = 1 − I_U(E + 1, N − E),
    which is continuous in E and N: so weights that are no whole numbers need no
    rule of their own. (C4.5 interpolates linearly between 0 and 1 errors, and from
    1 error on takes a normal approximation.)

    Parameters
    ----------
    errors : array
        E, the weight of the rows that are wrong.
    weights : array
        N, the weight of all rows; the limit is 1 where it is not above E.
    confidence : float
        CF, between 0 and 1; the less, the more pessimistic.

    Examples
    --------
    Three figures of Quinlan's (1993, page 41):

    >>> upper_errors([0, 0, 0], [6, 9, 1]).round(3)
    array([0.206, 0.143, 0.75 ])
    """
    from scipy.special import betaincinv

    level = check_confidence(confidence)
    wrong, total = np.broadcast_arrays(
        np.asarray(errors, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    )
    has_correct = wrong < total
    correct = np.where(has_correct, total - wrong, 1.0)
    limit = betaincinv(np.maximum(wrong, 0.0) + 1.0, correct, 1.0 - level)
    return np.asarray(np.where(has_correct, limit, 1.0), dtype=np.float64)


def added_errors(weight: float, errors: float, confidence: float = CONFIDENCE) -> float:
    """Return the errors to add to the training errors of a leaf, as in J48.

    Without an error the limit is exact, N (1 − CF^(1/N)). From one error on it is
    the normal approximation with a continuity correction: with f = (E + ½) / N and
    z the quantile of 1 − CF, ::

        U = (f + z²/2N + z √(f/N − f²/N + z²/4N²)) / (1 + z²/N)

    Below one error it is interpolated, and within half a row of all rows wrong it
    is N itself (Witten, Frank and Hall, Data Mining, section 6.1; Weka's Stats).

    Parameters
    ----------
    weight, errors : float
        N, the weight of the rows, above 0; and E, that of the wrong ones.
    confidence : float
        CF, at most one half.

    Examples
    --------
    Quinlan (1993, page 41) has 6 × 0.206 for the first:

    >>> round(added_errors(6, 0), 3), round(added_errors(14, 5), 3)
    (1.238, 1.761)
    """
    if errors < 1:
        without_errors: float = weight * (1 - pow(confidence, 1 / weight))
        if errors <= 0:
            return without_errors
        return without_errors + errors * (
            added_errors(weight, 1.0, confidence) - without_errors
        )
    if errors + 0.5 >= weight:
        return max(weight - errors, 0.0)
    z = NormalDist().inv_cdf(1 - confidence)
    f = (errors + 0.5) / weight
    spread = sqrt(f / weight - f * f / weight + z * z / (4 * weight * weight))
    limit = (f + z * z / (2 * weight) + z * spread) / (1 + z * z / weight)
    return limit * weight - errors
