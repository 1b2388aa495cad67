"""The choice between loading compiled kernels and working without them.

Work of a known size is done without kernels if that takes no longer than loading them
(``MIN_KERNEL_WORK``). For trees an estimate in seconds decides (``worth_loading``): one
small tree never waits for kernels. For a second tree kernels are loaded, which takes as
long as growing a few small trees. If there is no machine code yet, kernels are compiled
after as much time was spent without them.

Loading and compiling happen once per process, and must not count in the times of
recipes. So there is a clock that stops meanwhile.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from time import perf_counter

# In seconds, on a machine of two cores: to load a set of kernels, and to compile it.
LOADING_SECONDS, COMPILING_SECONDS = 0.05, 12.0

# The least work that kernels are loaded for: rows times levels of full trees; cells;
# and rows times clusters times columns, of numbers alone or of mixed ones.
MIN_KERNEL_WORK = {
    "predict": 4_000_000,
    "hash": 2_000_000,
    "k-means": 4_000_000,
    "k-prototypes": 1_000_000,
}


class Stopwatch:
    """The seconds of this process spent in a kind of work."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.since: float | None = None  # when it was started last, while it runs

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the time inside this block."""
        began = self.since = perf_counter()
        try:
            yield
        finally:
            self.since = None
            self.seconds += perf_counter() - began


TIME_WITHOUT_KERNELS = Stopwatch()
"""Of work without loops that might have been loaded."""
LOADING_TIME = Stopwatch()
"""Of loading and compiling, which one thread does at a time."""


def seconds_without_loading() -> float:
    """Return a clock in seconds that stops while kernels are loaded or compiled."""
    since = LOADING_TIME.since
    return (perf_counter() if since is None else since) - LOADING_TIME.seconds


def wants_kernels(task: str, work: float) -> bool:
    """Return whether this amount of work is worth loading kernels."""
    return work >= MIN_KERNEL_WORK[task]


def worth_loading(module: str, name: str, *, instead: float) -> bool:
    """Return whether to load an entry, or to spend ``instead`` seconds without it.

    The check loads nothing.
    """
    loaded = getattr(sys.modules.get(module), name, None)
    if loaded is not None and getattr(loaded, "is_loaded", True):
        return True
    if instead <= LOADING_SECONDS and not TIME_WITHOUT_KERNELS.seconds:
        return False
    waited = max(instead, TIME_WITHOUT_KERNELS.seconds)
    return waited > COMPILING_SECONDS or _is_compiled(module, name)


@cache
def _is_compiled(module: str, name: str) -> bool:
    """Return whether this machine has machine code of an entry."""
    from spinney._support.jit.code_cache import PACKAGE, CachedCode

    file = PACKAGE.parent / Path(*module.split("."))
    return CachedCode(file.with_suffix(".py"), name).exists()
