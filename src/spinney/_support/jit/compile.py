"""How loops are compiled: without the interpreter's lock, and kept on disk.

Kernels allocate nothing, all arrays come from Python: so references are not counted.

A *kernel* is a loop that other loops call; an *entry* is one that Python calls. Neither
needs Numba before it is compiled: whoever finds machine code on disk never imports it.

How ``translate`` compiles them takes private parts of Numba. Should a version of Numba
have changed these, the environment variable SPINNEY_PLAIN_JIT=1 leaves everything to
Numba's own ``njit``: the same results, after a longer wait for the first of them. Numba
then keeps machine code by the file of a loop only, not by those that it calls; who
changes loops is to delete what is kept.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, update_wrapper
from importlib import import_module
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np

from spinney._support.jit.call_arguments import (
    Kind,
    MissingSymbolError,
    Slot,
    call_of,
    flatten,
)
from spinney._support.jit.kept_code import KeptCode
from spinney._support.jit.steady_clock import standing_still

# Loops run as they are written.
OFF = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
PLAIN = os.environ.get("SPINNEY_PLAIN_JIT") == "1"

_COMPILING = RLock()


def kernel(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Return a loop that other compiled loops can call, and Python cannot.

    What it divides by 0 is infinite or NaN.
    """
    if OFF:
        return loop
    return _plain(loop) if PLAIN else Kernel(loop)


def entry(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Return a loop as machine code that Python can call, kept on disk.

    It takes numbers, arrays and tuples of these. Named tuples are read by their fields,
    and not unpacked. Arrays may be read-only, if they are only read: that compiles
    nothing again.
    """
    if OFF:
        return loop
    return _plain(loop) if PLAIN else Entry(loop)


def instruction(home: str, name: str, plain: Callable[..., Any]) -> Any:
    """Return what is written for the compiler, as that of a name in a module.

    The module is imported when a loop is compiled; ``plain`` does the same in Python.
    """
    return plain if OFF else Instruction(home, name)


def _plain(loop: Callable[..., Any]) -> Any:
    import numba

    return numba.njit(nogil=True, error_model="numpy", cache=True)(loop)


class Instruction:
    """A function written for the compiler, out of which loops can be made."""

    def __init__(self, home: str, name: str) -> None:
        self.home, self.name = home, name

    @cached_property
    def _numba_type_(self) -> Any:
        """What Numba asks of an object that a loop names."""
        from spinney._support.jit.translate import type_of_intrinsic

        return type_of_intrinsic(getattr(import_module(self.home), self.name))


class Kernel:
    """A loop that becomes a part of the entries that call it."""

    def __init__(self, loop: Callable[..., Any]) -> None:
        self.loop = loop
        update_wrapper(self, loop)

    @cached_property
    def _numba_type_(self) -> Any:
        """What Numba asks of an object that a loop names."""
        from spinney._support.jit.translate import translated, type_of_kernel

        self._translated = translated(self.loop)  # a type does not keep it
        return type_of_kernel(self._translated)

    def __call__(self, *values: Any) -> Any:
        """Refuse: it has no machine code of its own."""
        msg = f"{self.loop.__name__} is a kernel: only compiled loops can call it"
        raise TypeError(msg)


class Entry(Kernel):
    """A loop that Python calls: by machine code from disk, compiled if there is none.

    There is code for every kind of arguments that it was called with.
    """

    def __init__(self, loop: Callable[..., Any]) -> None:
        super().__init__(loop)
        self.kept = KeptCode(Path(loop.__code__.co_filename), loop.__name__)
        self._ready: dict[tuple[Kind, ...], Callable[[list[Slot]], Any]] = {}

    def __call__(self, *values: Any) -> Any:
        """Run the loop, without the interpreter's lock."""
        kinds: list[Kind] = []
        slots: list[Slot] = []
        for value in values:
            flatten(value, kinds, slots)
        key = tuple(kinds)
        return (self._ready.get(key) or self._made_ready(key))(slots)

    @property
    def is_loaded(self) -> bool:
        """Whether it has been called before."""
        return bool(self._ready)

    def _made_ready(self, key: tuple[Kind, ...]) -> Callable[[list[Slot]], Any]:
        with _COMPILING:
            if key not in self._ready:
                with standing_still():
                    self._ready[key] = self._loaded(key) or self._compiled(key)
            return self._ready[key]

    def _loaded(self, key: tuple[Kind, ...]) -> Callable[[list[Slot]], Any] | None:
        """Return the code that is kept; None where there is none that can be called."""
        code = self.kept.load(key)
        with suppress(MissingSymbolError):
            return None if code is None else call_of(code, key)
        return None

    def _compiled(self, key: tuple[Kind, ...]) -> Callable[[list[Slot]], Any]:
        """Compile the loop, and keep its code."""
        from spinney._support.jit.translate import machine_code

        code = machine_code(self.loop, key)
        self.kept.save(key, code)
        return call_of(code, key)


# A plain 0 or 1 would be a type of its own to the compiler, and every kernel that takes
# one would be compiled again for it; NumPy's numbers are all of one type.
ZERO, FALSE = np.int64(0), np.bool_(False)
