"""A clock that stands still while loops are loaded or compiled.

A process does that once, and whoever measures a recipe in it means what comes again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

__all__ = ["standing_still", "steady_seconds"]


class _Lost:
    """How long this process has been loading and compiling, and since when it is."""

    seconds = 0.0
    since: float | None = None


@contextmanager
def standing_still() -> Iterator[None]:
    """Let the clock stand meanwhile. One thread at a time may ask for that."""
    began = _Lost.since = perf_counter()
    try:
        yield
    finally:
        _Lost.since = None
        _Lost.seconds += perf_counter() - began


def steady_seconds() -> float:
    """Return the seconds since some moment, without those in which it stood still."""
    now = perf_counter() if _Lost.since is None else _Lost.since
    return now - _Lost.seconds
