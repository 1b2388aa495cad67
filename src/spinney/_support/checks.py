"""Checks of parameter values.

Booleans do not count as numbers here, although they are integers in Python.
"""

from collections.abc import Callable, Collection
from sys import float_info
from typing import Any

import numpy as np

from spinney.errors import PythonOnly, Setting, refusal, refuse_unknown

LARGEST_SEED = 2**32 - 1
"""The largest seed of scikit-learn, and so of everything here."""

# Bounds of repetitions: more would run for days, or need too much memory.
MAX_TREES = 100_000
MAX_STARTS = 10_000
MAX_REPEATS = 10_000

Progress = Callable[[int, int], object]
"""A function of how much is done, and how much there is to do."""


def check_progress(progress: object) -> None:
    """Refuse a progress callback that cannot be called."""
    if progress is not None and not callable(progress):
        raise refusal(
            Setting("progress", progress), "must be a function of two numbers, or None"
        )


def is_real(value: object) -> bool:
    """Return whether a value is a number, Python's or NumPy's.

    >>> is_real(2), is_real(np.float32(0.5)), is_real(True), is_real("2")
    (True, True, False, False)
    """
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(
        value, bool
    )


def is_whole(value: object) -> bool:
    """Return whether a value is an integer, Python's or NumPy's.

    >>> is_whole(2), is_whole(np.int8(2)), is_whole(2.0), is_whole(True)
    (True, True, False, False)
    """
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def as_real(value: Any) -> float:
    """Return a number as a float, infinity if it is too large; else NaN.

    >>> as_real(2), as_real(10**400), as_real("2"), as_real(True)
    (2.0, inf, nan, nan)
    """
    if not is_real(value):
        return np.nan
    try:
        return float(value)
    except OverflowError:
        return np.inf if abs(value) == value else -np.inf


def check_choice(name: str, value: object) -> None:
    """Refuse values other than True and False."""
    if not isinstance(value, (bool, np.bool_)):
        raise refusal(Setting(name, value), "must be True or False")


def check_whole(
    name: str,
    value: Any,
    *,
    least: int,
    most: int | None = None,
    optional: bool = False,
) -> None:
    """Refuse values that are no whole numbers, or out of range.

    >>> check_whole("seed", -1, least=0, most=9)
    Traceback (most recent call last):
    spinney.errors.ParameterError: seed=-1 must be a whole number from 0 to 9
    """
    if value is None and optional:
        return
    if not is_whole(value) or value < least or (most is not None and value > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        none = PythonOnly(", or None") if optional else ""
        problem = (f"must be a whole number {limits}", none)
        raise refusal(Setting(name, value), problem)


def check_seed(name: str, value: Any) -> None:
    """Refuse values that are not valid seeds."""
    check_whole(name, value, least=0, most=LARGEST_SEED)


def check_named(parameter: str, value: object, known: Collection[str]) -> None:
    """Refuse values that are none of these names.

    >>> check_named("rule", "minimal", ["1-se", "minimum"])
    Traceback (most recent call last):
    spinney.errors.ParameterError: rule='minimal' is unknown: did you mean 'minimum'?
    """
    if not isinstance(value, str) or value not in known:
        refuse_unknown(parameter, value, known)


def check_number(
    name: str, value: Any, *, most: float = float_info.max, optional: bool = False
) -> None:
    """Refuse values that are not numbers of at least 0."""
    if value is None and optional:
        return
    if not 0 <= as_real(value) <= most:
        limit = f" and at most {most}" if most < float_info.max else ""
        raise refusal(Setting(name, value), f"must be a number of at least 0{limit}")
