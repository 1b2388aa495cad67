"""Refusals of values that mean nothing."""

from sys import float_info
from typing import Any

import numpy as np

from spinney.criteria import Criterion
from spinney.errors import ParameterError

__all__ = [
    "LARGEST_SEED",
    "check_branches",
    "check_choice",
    "check_number",
    "check_whole",
]

LARGEST_SEED = 2**32 - 1
"""The largest seed of scikit-learn, and so of everything here."""


def check_branches(criterion: Criterion, grouping: str) -> None:
    """Refuse a criterion of two branches where there may be more.

    Thresholds have two anyway, but whether a recipe can be used must not depend on
    the table that it meets.
    """
    if criterion.binary and grouping != "binary":
        msg = (
            f"criterion={criterion.name!r} compares two branches, and "
            f"grouping={grouping!r} makes more of a nominal attribute: set "
            'grouping="binary" (the recipe "cart" has it), or take another criterion'
        )
        raise ParameterError(msg)


def check_choice(name: str, value: object) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, (bool, np.bool_)):
        msg = f"{name}={value!r} must be True or False"
        raise ParameterError(msg)


def check_whole(
    name: str,
    value: Any,
    *,
    least: int,
    most: int | None = None,
    optional: bool = False,
) -> None:
    """Refuse what is no whole number, below the least or above the most.

    >>> check_whole("seed", -1, least=0, most=9)
    Traceback (most recent call last):
    spinney.errors.ParameterError: seed=-1 must be a whole number from 0 to 9
    """
    if value is None and optional:
        return
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        remedy = ", or None" if optional else ""
        msg = f"{name}={value!r} must be a whole number {limits}{remedy}"
        raise ParameterError(msg)


def check_number(name: str, value: object, *, most: float = float_info.max) -> None:
    """Refuse what is no number from 0 on."""
    number = isinstance(
        value, (int, float, np.integer, np.floating)
    ) and not isinstance(value, bool)
    if not number or not 0 <= value <= most:  # type: ignore[operator]
        limit = f" and at most {most}" if most < float_info.max else ""
        msg = f"{name}={value!r} must be a number of at least 0{limit}"
        raise ParameterError(msg)
