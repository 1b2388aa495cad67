"""How wrong a leaf or a rule may be, seen pessimistically.

A leaf that covers N training rows, E of them of other classes, will do worse on
new rows than E/N. C4.5 reads the E errors as if they were drawn: it takes the
greatest error rate U that has still a chance of CF to show no more than E errors
in N rows, the upper limit of a one-sided confidence interval (Quinlan 1993, C4.5:
Programs for Machine Learning, chapter 4).
"""

from math import sqrt
from statistics import NormalDist

__all__ = ["added_errors"]


def added_errors(weight: float, errors: float, confidence: float = 0.25) -> float:
    """Return how many errors to add to those seen at a leaf, as J48 computes it.

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
    (1.238, 1.264)
    """
    if errors < 1:
        none: float = weight * (1 - pow(confidence, 1 / weight))
        if errors <= 0:
            return none
        return none + errors * (added_errors(weight, 1.0, confidence) - none)
    if errors + 0.5 >= weight:
        return max(weight - errors, 0.0)
    z = NormalDist().inv_cdf(1 - confidence)
    f = (errors + 0.5) / weight
    spread = sqrt(f / weight - f * f / weight + z * z / (4 * weight * weight))
    limit = (f + z * z / (2 * weight) + z * spread) / (1 + z * z / weight)
    return limit * weight - errors
