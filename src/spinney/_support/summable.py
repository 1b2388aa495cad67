"""Numbers rounded so that their sums are exact in any order.

A float is the product of an integer and a power of two. If all numbers are multiples of
2^u, and their sum is at most 2^(u + 53), the sum of any of them is a float: nothing is
rounded. Integers have this property. Other numbers can be rounded once, to multiples of
2^u for the smallest possible u.
"""

from collections.abc import Sequence

import numpy as np

from spinney._support.arrays import Floats

MANTISSA = 53  # bits of a float
MIN_POWER = -1000  # of a multiple that is a float, and its parts as well
ZERO_POWER = 1024  # 0 is a multiple of every power of two
# The least of the numbers keeps so many bits, which are nine digits; and there are so
# few of them that one of average size is moved by less than 1e-12 of it, as ties are.
MIN_BITS = 29
MAX_NUMBERS = 8192


def round_to_exact_sums(
    numbers: Floats, factor_arrays: Sequence[Floats] = ()
) -> Floats:
    """Return numbers above 0, rounded so that they add up exactly.

    So do their products with each array in ``factor_arrays``, which has a factor for
    each number. Numbers that add up exactly are returned unchanged. So are numbers of
    very different size, or too many numbers, since rounding would change them visibly.

    >>> tenths = round_to_exact_sums(np.array([0.1, 0.2, 0.3]))
    >>> bool(tenths.sum() - tenths[0] - tenths[1] == tenths[2])
    True
    >>> bool(abs(tenths - [0.1, 0.2, 0.3]).max() < 1e-15)
    True
    >>> round_to_exact_sums(np.array([3.0, 0.5]))
    array([3. , 0.5])
    """
    if add_up_exactly(numbers, factor_arrays):
        return numbers
    # A little more than they are: rounding may raise each by half of a multiple.
    power = _power_for(numbers * (1 + 2.0**-24), factor_arrays)
    light = float(numbers.min()) < np.ldexp(1.0, power + MIN_BITS)
    if light or power < MIN_POWER or len(numbers) > MAX_NUMBERS:
        return numbers
    return np.asarray(np.ldexp(np.rint(np.ldexp(numbers, -power)), power))


def add_up_exactly(
    numbers: Floats, factor_arrays: Sequence[Floats] = (), repeats: int = 1
) -> bool:
    """Return whether all sums of numbers, and of their products, are exact.

    ``repeats`` is the greatest multiplicity of a number in a sum.

    >>> numbers = np.array([2.0**52, 1.0])
    >>> add_up_exactly(numbers), add_up_exactly(numbers, repeats=2)
    (True, False)
    """
    return least_bit(numbers) >= _power_for(numbers, factor_arrays, repeats)


def _power_for(
    numbers: Floats, factor_arrays: Sequence[Floats], repeats: int = 1
) -> int:
    """Return the smallest power of two whose multiples add up exactly."""
    powers = [-ZERO_POWER]
    for factors in (np.ones(len(numbers)), *factor_arrays):
        if total := repeats * float(numbers @ np.abs(factors)):
            power = int(np.frexp(total)[1]) - MANTISSA
            powers.append(power - min(0, least_bit(factors)))
    return max(powers)


def least_bit(numbers: Floats) -> int:
    """Return the exponent of the greatest power of two that divides all numbers.

    >>> least_bit(np.array([1.5, 12.0])), least_bit(np.array([0.0]))
    (-1, 1024)
    """
    parts, powers = np.frexp(numbers[numbers != 0])
    if not len(parts):
        return ZERO_POWER
    whole = np.ldexp(parts, MANTISSA).astype(np.int64)
    _, trailing = np.frexp((whole & -whole).astype(np.float64))
    return int((powers - MANTISSA + trailing - 1).min())
