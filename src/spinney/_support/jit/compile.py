"""The compilation of loops to machine code on disk, which runs without the GIL.

Kernels allocate nothing, and all arrays come from Python, so references are not
counted.

A *kernel* is a loop that other kernels call; an *entry* is one that Python calls.
Neither needs Numba before it is compiled: if machine code is on disk, Numba is never
imported.

``translate`` uses private parts of Numba. If these have changed, Numba's own ``njit``
compiles everything: the results are the same, but the first call takes longer. This
happens with an untested version of Numba, after any error in compiling or loading, and
if SPINNEY_PLAIN_JIT is 1. Numba's cache depends on the file of a loop only, not on the
loops that it calls: after a change of loops, delete this cache.
"""

import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, update_wrapper
from importlib import import_module
from pathlib import Path
from threading import Lock, RLock
from typing import Any, cast

import numpy as np

from spinney._support.jit.call_arguments import (
    Kind,
    MissingSymbolError,
    Slot,
    call_of,
    flatten,
)
from spinney._support.jit.code_cache import CachedCode, users_folder
from spinney._support.jit.loading_time import LOADING_TIME
from spinney._support.jit.trusted_folder import trusted_folder
from spinney.errors import warn

# Loops run as they are written.
OFF = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

# The versions of Numba whose private parts are known, from one to before the other.
SUPPORTED_NUMBA = ((0, 61), (0, 69))
UNSUPPORTED = "Spinney was not tried with this version of Numba"

_COMPILING = RLock()


def is_supported_numba() -> bool:
    """Return whether ``translate`` is known to work with this version of Numba.

    Only the first two parts of the version count.
    """
    import numba

    oldest, next_version = SUPPORTED_NUMBA
    with suppress(ValueError):
        version = tuple(map(int, numba.__version__.split(".")[:2]))
        return oldest <= version < next_version
    return False


class NumbaFallback:
    """Whether Numba's own ``njit`` compiles loops in this process."""

    now = os.environ.get("SPINNEY_PLAIN_JIT") == "1"

    @classmethod
    def since(cls, reason: str) -> None:
        """Use ``njit`` for all further loops, and warn once."""
        if not cls.now:
            cls.now = True
            (_, oldest), (_, next_version) = SUPPORTED_NUMBA
            warn(
                f"{reason}; Numba's own compiler is used: results are the same, the "
                "first run takes longer",
                remedy=f"install numba>=0.{oldest},<0.{next_version}",
            )


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a compiled loop that only other kernels can call.

    Division by 0 gives infinity or NaN.
    """
    return function if OFF else Kernel(function)


def entry(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a compiled loop that Python can call, with its machine code on disk.

    Arguments are numbers, arrays and tuples of these. Named tuples are read by their
    fields, and not unpacked. Read-only arrays are accepted for reading without
    compiling again.
    """
    return function if OFF else Entry(function)


def _numba_folder() -> str | None:
    """Return the folder for Numba's cache, or None if others could write there.

    Numba creates files with the user's umask, and stores pickles, so nobody else may
    have access.
    """
    if sys.platform == "win32":
        return str(users_folder() / "spinney-numba")
    base = Path(os.environ.get("NUMBA_CACHE_DIR") or users_folder())
    folder = base / "spinney-numba"
    with suppress(OSError, RuntimeError), trusted_folder(base, create=True):
        with suppress(FileExistsError):
            folder.mkdir(0o700)
        with trusted_folder(folder):
            status = folder.stat(follow_symlinks=False)
        if status.st_uid == os.geteuid() and not status.st_mode & 0o077:
            return str(folder)
    return None


_CACHE_DIR_LOCK = Lock()


def _by_njit(function: Callable[..., Any]) -> Any:
    """Return a loop compiled by Numba's ``njit``, whose cache folder is chosen here."""
    import numba

    folder, config = _numba_folder(), cast("Any", numba.config)
    with _CACHE_DIR_LOCK:
        before = config.CACHE_DIR
        config.CACHE_DIR = folder or before
        try:
            stored = folder is not None
            return numba.njit(nogil=True, error_model="numpy", cache=stored)(function)
        finally:
            config.CACHE_DIR = before


class Instruction:
    """A function that generates compiler instructions, for use in kernels.

    Its module is imported when a loop is compiled; ``plain`` is the same in Python.
    """

    def __init__(self, module: str, name: str, plain: "Kernel") -> None:
        self.module, self.name, self.plain = module, name, plain

    @property
    def _numba_type_(self) -> Any:
        """The Numba type of this object."""
        return self.plain._numba_type_ if NumbaFallback.now else self._kernel_type

    @cached_property
    def _kernel_type(self) -> Any:
        from spinney._support.jit.translate import type_of_intrinsic

        return type_of_intrinsic(getattr(import_module(self.module), self.name))

    def __reduce__(self) -> tuple[Any, ...]:
        """Let Numba distinguish loops by the objects that they close over."""
        return type(self), (self.module, self.name, self.plain)


class Kernel:
    """A loop that is compiled into the entries that call it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        update_wrapper(self, function)

    @property
    def _numba_type_(self) -> Any:
        """The Numba type of this object."""
        return self._numba_dispatcher_type if NumbaFallback.now else self._kernel_type

    @cached_property
    def _numba_dispatcher_type(self) -> Any:
        from numba.core import types

        return types.Dispatcher(self._by_numba)

    @cached_property
    def _by_numba(self) -> Any:
        """The loop compiled by Numba's public ``njit``."""
        return _by_njit(self.function)

    @cached_property
    def _kernel_type(self) -> Any:
        from spinney._support.jit.translate import translated, type_of_kernel

        self._translated = translated(self.function)  # a type does not keep it
        return type_of_kernel(self._translated)

    def __reduce__(self) -> tuple[Any, ...]:
        """Let Numba distinguish loops by the kernels that they close over."""
        return type(self), (self.function,)

    def __call__(self, *values: Any) -> Any:
        """Raise an error: a kernel has no machine code of its own."""
        msg = f"{self.function.__name__} is a kernel: only compiled kernels can call it"
        raise TypeError(msg)


class Entry(Kernel):
    """A loop that Python calls, with machine code loaded from disk, or compiled.

    There is code for every combination of argument types that was used.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self.code_cache = CachedCode(
            Path(function.__code__.co_filename), function.__name__
        )
        self._callables: dict[tuple[Kind, ...], Callable[[list[Slot]], Any] | None] = {}

    def __call__(self, *values: Any) -> Any:
        """Run the loop without the GIL."""
        kinds: list[Kind] = []
        slots: list[Slot] = []
        for value in values:
            flatten(value, kinds, slots)
        key = tuple(kinds)
        call = self._callables.get(key) or self._get_callable(key)
        return self._by_numba(*values) if call is None else call(slots)

    @property
    def is_loaded(self) -> bool:
        """Whether the entry has been called before."""
        return bool(self._callables)

    def _get_callable(
        self, key: tuple[Kind, ...]
    ) -> Callable[[list[Slot]], Any] | None:
        """Return a function that runs the loop; None if Numba must run it."""
        with _COMPILING:
            if key not in self._callables:
                with LOADING_TIME.running():
                    self._callables[key] = self._loaded_or_compiled(key)
            return self._callables[key]

    def _loaded_or_compiled(
        self, key: tuple[Kind, ...]
    ) -> Callable[[list[Slot]], Any] | None:
        if NumbaFallback.now:
            return None
        try:
            call = self._loaded(key)
            if call is None and is_supported_numba():
                call = self._compiled(key)
            reason = UNSUPPORTED
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 # Numba does it if we cannot
            call = None
            reason = f"loops could not be compiled ({type(error).__name__}: {error})"
        if call is None:
            NumbaFallback.since(reason)
        return call

    def _loaded(self, key: tuple[Kind, ...]) -> Callable[[list[Slot]], Any] | None:
        """Return the stored code; None if there is none that can be called."""
        code = self.code_cache.load(key)
        with suppress(MissingSymbolError):
            return None if code is None else call_of(code, key)
        return None

    def _compiled(self, key: tuple[Kind, ...]) -> Callable[[list[Slot]], Any]:
        """Compile the loop, and store its code."""
        _announce_compiling(self.code_cache)
        from spinney._support.jit.translate import machine_code

        code = machine_code(self.function, key)
        self.code_cache.save(key, code)
        return call_of(code, key)


_announced: list[str] = []


def _announce_compiling(cache: CachedCode) -> None:
    """Log once per process that compiling takes a while."""
    if _announced:
        return
    if cache.can_save():
        message = (
            "Compiling for this machine (up to 20 s, first run only). "
            "`spinney compile` compiles everything in advance."
        )
    else:
        message = (
            "Compiling (20 s in every run: cannot store compiled code). Set "
            "NUMBA_CACHE_DIR to a folder that only you can write to."
        )
    _announced.append(message)
    logging.getLogger("spinney").warning(message)


# A plain 0 or 1 would be a type of its own to the compiler, and every kernel that takes
# one would be compiled again for it; NumPy's numbers are all of one type.
ZERO, FALSE = np.int64(0), np.bool_(False)


def _nothing(_matrix: Any, _row: int, _column: int) -> None:
    """Do nothing where loops are not compiled."""


prefetch: Any = _nothing
if not OFF:
    _EXTENSIONS = "spinney._support.jit.numba_extensions"
    prefetch = Instruction(_EXTENSIONS, "hint", Kernel(_nothing))
"""A hint to the memory: this cell of a matrix will be read soon."""
