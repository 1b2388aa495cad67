"""Bonferroni multipliers of CHAID: the number of possible groupings.

An attribute of c categories that was merged into r groups had many chances to look
significant. Its p-value is multiplied by the number of groupings, so that attributes
with many categories have no advantage (Kass 1980, section 3)::

    nominal                  S(c, r), Stirling's number of the second kind
    ordinal                  C(c − 1, r − 1)
    ordinal with missing     C(c − 2, r − 2) + r C(c − 2, r − 1)

In the last line, c includes the missing category, which may join any group or stand
alone. Exhaustive CHAID always merges down to two groups. So its multiplier is the
number of pairs that could be merged, summed over its stages, and does not depend on r
(Biggs, de Ville and Suen 1991)::

    nominal                  Σ_k C(k, 2) = c (c² − 1) / 6
    ordinal                  Σ_k (k − 1) = c (c − 1) / 2
    ordinal with missing     c (c − 1) / 2

The last is (c − 1)(c − 2) / 2 for the values in order and c − 1 places for the
missing ones, as SPSS documents it. For nominal attributes SPSS is reported to use
c (c² − 1) / 2, three times the sum that it describes; the sum is used here.
"""

from functools import lru_cache
from math import comb, exp, expm1, factorial, lgamma, log, log1p, pi

from spinney.errors import ParameterError

EXACT = 1000


@lru_cache(maxsize=4096)
def bonferroni(
    categories: int,
    groups: int,
    *,
    kind: str = "nominal",
    floating: bool = False,
    exhaustive: bool = False,
) -> float:
    """Return the natural logarithm of the multiplier.

    Parameters
    ----------
    categories, groups : int
        c and r: how many categories there were, the missing one included, and how
        many groups they were merged into.
    kind : {"nominal", "ordinal"}
        Whether any categories could merge, or only neighbours.
    floating : bool
        Whether one of an ordinal attribute's categories is the missing one.
    exhaustive : bool
        Whether merging went on to two groups.

    Notes
    -----
    Up to 1,000 categories whole numbers are counted exactly. Beyond, binomials are
    taken by logarithms of the gamma function, and Stirling numbers by their
    alternating sum where it does not cancel and by Good's saddle-point formula
    (1961) where it does; the logarithm then errs by less than 0.001.

    Examples
    --------
    >>> round(exp(bonferroni(4, 2)))                  # a|bcd … ab|cd …
    7
    >>> round(exp(bonferroni(4, 2, kind="ordinal")))
    3
    >>> round(exp(bonferroni(4, 2, kind="ordinal", floating=True)))
    5
    """
    if not 1 <= groups <= categories:
        msg = (
            f"groups={groups} of categories={categories}: "
            "there is at least one group, and at most one for each category"
        )
        raise ParameterError(msg)
    if categories == 1:
        return 0.0
    if exhaustive:
        pairs = comb(categories, 2) if kind == "ordinal" else comb(categories + 1, 3)
        return log(pairs)
    if kind == "nominal":
        return _log_stirling(categories, groups)
    if not floating:
        return _log_binomial(categories - 1, groups - 1)
    return _log_floating(categories, groups)


def _log_floating(categories: int, groups: int) -> float:
    if groups == categories:
        return 0.0
    together = log(groups) + _log_binomial(categories - 2, groups - 1)
    if groups == 1:
        return together
    alone = _log_binomial(categories - 2, groups - 2)
    low, high = sorted((together, alone))
    return high + log1p(exp(low - high))


def _log_binomial(n: int, k: int) -> float:
    if n <= EXACT:
        return log(comb(n, k))
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _log_stirling(n: int, k: int) -> float:
    """Return log S(n, k), S(n, k) being the Stirling number of the second kind.

    k! S(n, k) = Σ_j (−1)^j C(k, j) (k − j)^n.
    """
    if k == n:
        return 0.0
    if n <= EXACT:
        terms = (comb(k, j) * (k - j) ** n * (-1) ** j for j in range(k))
        return log(sum(terms) // factorial(k))
    # Terms relative to the first, r^n. They fall at once if the second is below 1.
    second = log(k) + n * log1p(-1 / k) if k > 1 else -1e9
    if second < -1:
        rest = 0.0
        for j in range(1, k):
            term = _log_binomial(k, j) + n * log1p(-j / k)
            if term < -50:
                break
            rest += (-1) ** j * exp(term)
        return n * log(k) - lgamma(k + 1) + log1p(rest)
    return _log_stirling_saddle(n, k)


def _log_stirling_saddle(n: int, k: int) -> float:
    """Return log S(n, k) by the saddle point of (e^z − 1)^k / z^n at z = u > 0.

    S(n, k) = n! / k! · [z^n] (e^z − 1)^k. At the saddle u / (1 − e^(−u)) = n / k,
    and the second derivative of the logarithm along the circle is n (1 + u − n / k)
    (Good 1961). What that leaves is nearly the error of Stirling's formula for
    (n − k)!, and is taken off.
    """
    ratio = n / k
    low, high = 0.0, 2.0 * ratio
    for _ in range(200):
        u = (low + high) / 2
        low, high = (u, high) if u / -expm1(-u) < ratio else (low, u)
    u = (low + high) / 2
    leading = lgamma(n + 1) - lgamma(k + 1) + k * log(expm1(u)) - n * log(u)
    rest = 1 / (12 * (n - k)) - 1 / (360 * (n - k) ** 3)
    return leading - log(2 * pi * n * (1 + u - ratio)) / 2 - rest
