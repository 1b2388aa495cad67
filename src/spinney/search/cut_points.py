"""Thresholds between two neighbouring values."""

import numpy as np

from spinney._support.arrays import Floats


def midpoint(low: float, high: float) -> float:
    """Return a threshold t between two neighbouring values, low ≤ t < high.

    It is the midpoint to 12 digits. Between neighbouring floats, where no number
    lies between, or the rounded one is outside, it falls back to ``low``: a value
    equal to the threshold goes left.

    >>> midpoint(0.36, 0.403), midpoint(-1.7e308, 1.7e308), midpoint(0.0, 5e-324)
    (0.3815, 0.0, 0.0)
    """
    with np.errstate(over="ignore"):
        middle = float(np.float64(low) + np.float64(high)) / 2
    if not np.isfinite(middle):
        middle = low / 2 + high / 2
    for threshold in (float(f"{middle:.12g}"), middle):
        if low <= threshold < high:
            return threshold
    return float(low)


def midpoints(low: Floats, high: Floats) -> Floats:
    """Return the :func:`midpoint` of each pair.

    A number is rounded to a whole number of twelve digits and scaled back by a power of
    ten that a float holds exactly. If the product is too close to a half, or there is
    no such power, the digits are written and read.

    >>> midpoints(np.array([0.36, 0.0]), np.array([0.403, 5e-324]))
    array([0.3815, 0.    ])
    """
    with np.errstate(all="ignore"):
        middle = (low + high) / 2
        exponents = 11 - np.floor(np.log10(np.abs(middle)))
        power = 10.0 ** np.clip(np.abs(exponents), 0, 22)
        scaled = np.where(exponents >= 0, middle * power, middle / power)
        digits = np.rint(scaled)
        rounded = np.where(exponents >= 0, digits / power, digits * power)
        # The product is below 2⁴⁰ and so right to 2⁻¹².
        certain = np.abs(np.abs(scaled - np.floor(scaled)) - 0.5) > 1e-3
        certain &= (np.abs(digits) >= 1e11) & (np.abs(digits) < 1e12)
        certain &= (np.abs(exponents) <= 22) & (low <= rounded) & (rounded < high)
    for index in np.flatnonzero(~certain):
        rounded[index] = midpoint(float(low[index]), float(high[index]))
    return np.asarray(rounded)
