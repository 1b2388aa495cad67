"""How loops are compiled: without the interpreter's lock, and kept on disk.

Kernels allocate nothing, all arrays come from Python: so references are not counted.

A *kernel* is a loop that other loops call; an *entry* is one that Python calls.

How ``translate`` compiles them takes private parts of Numba, and so do tuples by
reference. Should a version of Numba have changed these, the environment variable
SPINNEY_PLAIN_JIT=1 leaves everything to Numba's own ``njit``: the same results, after a
longer wait for the first of them. Numba then keeps machine code by the file of a loop
only, not by those that it calls; who changes loops is to delete what is kept.
"""

import os
from collections.abc import Callable
from typing import Any, cast

import numba
import numpy as np
from numba.core import config

OFF = bool(getattr(config, "DISABLE_JIT", False))  # loops run as they are written
PLAIN = os.environ.get("SPINNEY_PLAIN_JIT") == "1"

if PLAIN:
    translated = optimised = numba.njit(nogil=True, error_model="numpy", cache=True)
else:
    from spinney._support.jit.translate import optimised, translated


def kernel(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Return a loop that other compiled loops can call, and Python cannot.

    What it divides by 0 is infinite or NaN.
    """
    return cast("Callable[..., Any]", translated(loop))


def entry(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Return a loop as machine code that Python can call, kept on disk."""
    return cast("Callable[..., Any]", optimised(loop))


# A plain 0 or 1 would be a type of its own to the compiler, and every kernel that takes
# one would be compiled again for it; NumPy's numbers are all of one type.
ZERO = np.int64(0)
