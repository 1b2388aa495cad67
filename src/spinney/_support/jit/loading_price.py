"""When compiled loops are worth their loading.

Whoever grows one small tree never waits for loops. Whoever grows a second one will grow
more: then loops are loaded, which takes as long as a few small trees without them.
Where this machine never compiled them, it does when as much time was spent without.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from time import perf_counter

from spinney._support.jit.kept_code import KeptCode

# In seconds, on a machine of two cores: to load a set of loops, and to compile it.
LOADING, COMPILING = 0.05, 12.0

_PACKAGE = Path(__file__).parents[2]


class _Clock:
    """How long this process has worked without loops that it might have loaded."""

    spent = 0.0


@contextmanager
def without_loops() -> Iterator[None]:
    """Count the time that is spent meanwhile."""
    began = perf_counter()
    try:
        yield
    finally:
        _Clock.spent += perf_counter() - began


def worth_loading(module: str, name: str, *, instead: float) -> bool:
    """Return whether to load an entry of a module, or to do without in some seconds.

    Asking loads nothing.
    """
    loaded = getattr(sys.modules.get(module), name, None)
    if loaded is not None and getattr(loaded, "is_loaded", True):
        return True
    if instead <= LOADING and not _Clock.spent:
        return False
    waited = max(instead, _Clock.spent)
    return waited > COMPILING or _is_compiled(module, name)


@cache
def _is_compiled(module: str, name: str) -> bool:
    """Return whether there is machine code of an entry on this machine."""
    file = _PACKAGE.parent / Path(*module.split("."))
    return KeptCode(file.with_suffix(".py"), name).exists()
