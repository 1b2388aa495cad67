"""The choice between loading compiled kernels and working without them.

Work of a known size is done without kernels if that takes no longer than loading them
(``MIN_KERNEL_WORK``). For trees an estimate in seconds decides (``worth_loading``): one
small tree never waits for kernels. With a second one kernels are loaded, which takes as
long as a few small trees without them. If this machine has never compiled them, it does
after as much time was spent without.

A process loads or compiles once, and measurements of a recipe must not include that: so
there is a clock that stops meanwhile.
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
    """How many seconds of this process were spent in some way."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.since: float | None = None  # when it was started last, while it runs

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let it run meanwhile."""
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
    """Return the seconds since some moment, without those of loading and compiling."""
    since = LOADING_TIME.since
    return (perf_counter() if since is None else since) - LOADING_TIME.seconds


def wants_kernels(task: str, work: float) -> bool:
    """Return whether so much work is worth the loading of kernels."""
    return work >= MIN_KERNEL_WORK[task]


def worth_loading(module: str, name: str, *, instead: float) -> bool:
    """Return whether to load an entry of a module, or to do without in some seconds.

    Asking loads nothing.
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
    """Return whether there is machine code of an entry on this machine."""
    from spinney._support.jit.code_cache import PACKAGE, CachedCode

    file = PACKAGE.parent / Path(*module.split("."))
    return CachedCode(file.with_suffix(".py"), name).exists()
