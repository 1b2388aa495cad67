"""Logarithms of tail probabilities, finite where the probability itself underflows.

A χ² of 2,000 with one degree of freedom has p ≈ 10⁻⁴³⁶, which no float holds. Tests of
many rows give such values, and attributes must still be compared by them. Here log p is
the logarithm of SciPy's probability if that has full precision. In the far tail it is
the logarithm of the leading factor, plus the logarithm of a continued fraction, which
converges fast there:

- log Q(a, x), the regularised upper incomplete gamma function: DLMF 8.9.2 [1]_;
- log I_x(a, b), the regularised incomplete beta function: DLMF 8.17.22 [1]_.

Both fractions are evaluated from the front by the modified method of Lentz [2]_.

References
----------
.. [1] NIST Digital Library of Mathematical Functions, https://dlmf.nist.gov/8
.. [2] Thompson and Barnett (1986), Coulomb and Bessel functions of complex
   arguments and order, Journal of Computational Physics 64, 490-509.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats

# Below this SciPy's probabilities lose digits, and soon vanish.
SMALL = 1e-280
STEPS = 100_000

Masks = NDArray[np.bool_]
Coefficients = Callable[[int], tuple[Floats, Floats]]


def log_chi_square_tail(statistic: Floats, degrees: Floats) -> Floats:
    """Return log P(χ² ≥ statistic); 0 where there are no degrees of freedom.

    With two degrees the tail is exp(−x / 2):

    >>> log_chi_square_tail(np.array([10.0, 20_000.0]), np.array([2.0, 2.0])).tolist()
    [-5.0, -10000.0]
    """
    tested = (degrees > 0) & (statistic > 0)
    shape = np.where(tested, degrees, 2.0) / 2
    point = np.where(tested, statistic, 0) / 2
    logs = _log(
        _gamma_tail(shape, point, upper=True),
        lambda is_large: _gamma_tail(shape[is_large], point[is_large], upper=False),
    )
    far = tested & (logs < np.log(SMALL))
    if far.any():
        logs[far] = _log_gamma_far(shape[far], point[far])
    return np.where(tested, logs, 0.0)


def _gamma_tail(shape: Floats, point: Floats, *, upper: bool) -> Floats:
    """Return Q(a, x) if ``upper``, else P(a, x).

    With one degree of freedom (two branches and two classes) these are erfc and erf of
    √x, which take a tenth of the time.
    """
    from scipy import special

    gamma, error = special.gammainc, special.erf
    if upper:
        gamma, error = special.gammaincc, special.erfc
    tail, has_one_degree = np.empty(np.shape(point)), np.asarray(shape == 0.5)
    tail[has_one_degree] = error(np.sqrt(point[has_one_degree]))
    tail[~has_one_degree] = gamma(shape[~has_one_degree], point[~has_one_degree])
    return tail


def log_f_tail(statistic: Floats, between: Floats, within: Floats) -> Floats:
    """Return log P(F ≥ statistic); 0 where either has no degrees of freedom.

    P(F ≥ f) = I_x(within / 2, between / 2) at x = within / (within + between · f).
    With two degrees between, that is x to the power of within / 2:

    >>> tail = log_f_tail(np.array([9.0]), np.array([2.0]), np.array([2.0]))
    >>> bool(np.isclose(tail[0], np.log(0.1)))
    True
    """
    from scipy import special

    tested = (between > 0) & (within > 0) & (statistic > 0)
    second = np.where(tested, between, 2.0) / 2
    first = np.where(tested, within, 2.0) / 2
    odds = second * np.where(tested, statistic, 0) / first
    logs = _log(
        special.betainc(first, second, 1 / (1 + odds)),
        lambda is_large: special.betainc(
            second[is_large], first[is_large], (odds / (1 + odds))[is_large]
        ),
    )
    far = tested & (logs < np.log(SMALL))
    if far.any():
        logs[far] = _log_beta_far(first[far], second[far], odds[far])
    return np.where(tested, logs, 0.0)


def _log(upper: Floats, lower_of: Callable[[Masks], Floats]) -> Floats:
    """Return log of the upper tail, by whichever tail keeps the digits; never > 0.

    ``lower_of`` gives the lower tail of those elements that it is asked for.
    """
    logs = np.asarray(np.log(np.maximum(upper, np.finfo(np.float64).tiny)))
    is_large = np.asarray(upper > 0.5)
    logs[is_large] = np.log1p(-np.minimum(lower_of(is_large), 0.75))
    return np.asarray(np.minimum(logs, 0.0))


def _log_gamma_far(shape: Floats, point: Floats) -> Floats:
    """Return log Q(a, x) for x well above a.

    Γ(a, x) = e^(−x) x^a / (b₀ + a₁ / (b₁ + a₂ / (b₂ + …))) with a_n = −n (n − a)
    and b_n = x + 2n + 1 − a.
    """
    from scipy import special

    fraction = _fraction(
        point + 1 - shape,
        lambda n: (-n * (n - shape), point + 2 * n + 1 - shape),
    )
    leading = shape * np.log(point) - point - special.gammaln(shape)
    return np.asarray(leading - np.log(fraction))


def _log_beta_far(first: Floats, second: Floats, odds: Floats) -> Floats:
    """Return log I_x(a, b) at x = 1 / (1 + odds) well below a / (a + b).

    I_x(a, b) = x^a (1 − x)^b / (a B(a, b)) / (1 + d₁ / (1 + d₂ / (1 + …))).
    """
    from scipy import special

    point = 1 / (1 + odds)

    def coefficients(n: int) -> tuple[Floats, Floats]:
        m = n // 2
        if n % 2:
            numerator = -(first + m) * (first + second + m)
            denominator = (first + 2 * m) * (first + 2 * m + 1)
        else:
            numerator = m * (second - m)
            denominator = (first + 2 * m - 1) * (first + 2 * m)
        return numerator / denominator * point, np.ones_like(point)

    fraction = _fraction(np.ones_like(point), coefficients)
    # log x and log(1 − x) from the odds: neither x nor 1 − x keeps all digits.
    leading = -first * np.log1p(odds) - second * np.log1p(1 / odds)
    leading = leading - np.log(first) - special.betaln(first, second)
    return np.asarray(leading - np.log(fraction))


def _fraction(start: Floats, coefficients: Coefficients) -> Floats:
    """Return b₀ + a₁ / (b₁ + a₂ / (b₂ + …)), all elements at once."""
    fraction = np.array(start)
    c, d = fraction.copy(), np.zeros_like(fraction)
    for step in range(1, STEPS):
        a, b = coefficients(step)
        d = 1 / (b + a * d)
        c = b + a / c
        change = c * d
        fraction *= change
        if np.all(np.abs(change - 1) <= 2e-16):
            break
    return fraction
