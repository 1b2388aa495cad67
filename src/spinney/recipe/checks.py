"""Refusals of values that mean nothing."""

from sys import float_info

import numpy as np

from spinney.criteria import Criterion
from spinney.errors import ParameterError

__all__ = ["check_branches", "check_choice", "check_number", "check_whole"]


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


def check_whole(name: str, value: object, *, least: int) -> None:
    """Refuse what is no whole number, or below the least."""
    if value is None:
        return
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < least:  # type: ignore[operator]
        msg = f"{name}={value!r} must be a whole number of at least {least}, or None"
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
