"""How loops are compiled: without the interpreter's lock, and kept on disk.

Numba keeps machine code by the source file of a function, and does not look at the
functions that it calls. Kernels call each other across files, so the key here has a
digest of all of them.
"""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import numba
from numba.core.caching import FunctionCache

__all__ = ["kernel"]

_SOURCES = sorted(Path(__file__).parent.glob("*.py"))
_DIGEST = sha256(b"".join(path.read_bytes() for path in _SOURCES)).hexdigest()


class _Cache(FunctionCache):
    """Machine code on disk, for these very sources."""

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (*super()._index_key(sig, codegen), _DIGEST)


def kernel(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function as machine code; what it divides by 0 is infinite or NaN."""
    compiled = numba.njit(nogil=True, error_model="numpy")(loop)
    if hasattr(compiled, "_cache"):  # not where compiling is turned off
        compiled._cache = _Cache(loop)
    return cast("Callable[..., Any]", compiled)
