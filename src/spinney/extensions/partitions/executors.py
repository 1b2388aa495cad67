"""Executors: where functions run on partitions.

Every submitted function is pure. A lost result is recomputed by the same calls, and
nothing is counted twice.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Protocol

FAN_IN = 4
"""The number of answers that are added at once."""


class Executor(Protocol):
    """Runs functions, perhaps elsewhere."""

    @property
    def has_latency(self) -> bool:
        """Whether each request takes a while, so that few rows are better fetched."""
        ...

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a handle to the result of a function; handles may be arguments."""
        ...

    def gather(self, handle: Any) -> Any:
        """Return the result behind a handle."""
        ...


class InThisProcess:
    """Runs everything at once, here: a handle is the result itself."""

    has_latency = False

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a function."""
        return function(*arguments)

    def gather(self, handle: Any) -> Any:
        """Return a result."""
        return handle


def sum_results(
    executor: Executor, handles: Sequence[Any], add: Callable[..., Any]
) -> Any:
    """Return the sum of all results, along a tree of which the client sees the root.

    Which are added to which does not depend on who is ready first, so that sums of
    floats are the same on every run, however many workers there are.
    """
    level = list(handles)
    while len(level) > 1:
        starts = range(0, len(level), FAN_IN)
        groups = [level[start : start + FAN_IN] for start in starts]
        level = [executor.submit(add, *group) for group in groups]
    return executor.gather(level[0])


def plus(*partitions: Any) -> Any:
    """Return the sum of some results that can be added to each other."""
    return reduce(lambda one, other: one.plus(other), partitions)
