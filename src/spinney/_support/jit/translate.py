"""Loops that are optimised once, with the entry that Python calls.

Left to itself, Numba optimises a function again within each function that calls it, and
those within theirs. Here a kernel is translated only, and everything below an entry is
optimised once, with it: half the time for the same machine code.

Numba keeps machine code by the source file of a function, and does not look at the
functions that it calls. Kernels call each other across files, so the key here has a
digest of all of them.

This takes private parts of Numba; ``compile`` says how to do without.
"""

import gc
import logging
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
from numba.core import config
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass

_PACKAGE = Path(__file__).parents[2]
SOURCES = sorted(
    [
        *Path(__file__).parent.glob("*.py"),
        *_PACKAGE.rglob("loops/*.py"),
        _PACKAGE / "_support" / "ties.py",  # its tolerance is compiled into loops
    ]
)
_DIGEST = sha256(b"".join(path.read_bytes() for path in SOURCES)).hexdigest()

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "_nrt": False,  # nobody counts who holds an array: taking one costs nothing
}


def translated(loop: Callable[..., Any]) -> Any:
    """Return a loop that becomes a part of the entries that call it."""
    options = {**_OPTIONS, "no_cpython_wrapper": True}
    return numba.njit(**options, pipeline_class=_Translator)(loop)


def optimised(loop: Callable[..., Any]) -> Any:
    """Return a loop with all that it calls as machine code, kept on disk."""
    compiled = numba.njit(**_OPTIONS, pipeline_class=_Optimiser)(loop)
    if hasattr(compiled, "_cache"):  # not where compiling is turned off
        compiled._cache = _Cache(loop)
    return compiled


class _Cache(FunctionCache):
    """Machine code on disk, for these very sources."""

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (
            *super()._index_key(sig, codegen),
            _DIGEST,
            getattr(config, "BOUNDSCHECK", None),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        code = super().load_overload(sig, target_context)
        if code is None:
            _announce()
        return code


def _announce() -> None:
    """Say once per process why nothing seems to happen."""
    if not _announced:
        _announced.append(True)
        logging.getLogger("spinney").warning(
            "Spinney translates its loops for this machine, once: this takes up to "
            "20 seconds. `spinney compile` does it ahead, for all of them."
        )


_announced: list[bool] = []


class _Optimiser(Compiler):
    """Numba's usual steps, with no search for garbage meanwhile: there is little."""

    def compile_extra(self, func: Any) -> Any:
        collecting = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            if collecting:
                gc.enable()


class _Untouched:
    """A code generator that sets no environment: a translated loop has no address."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, env: Any) -> None:
        """Set nothing."""


class _Translation(JITCodeLibrary):
    """A translated loop, waiting for the entry that it becomes a part of."""

    @property
    def codegen(self) -> Any:
        return _Untouched(self._codegen)

    def _optimize_final_module(self) -> None:
        """Leave it to the entry."""

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


@register_pass(mutates_CFG=False, analysis_only=True)
class _Translate(AnalysisPass):
    """Say that a loop is to be translated only."""

    _name = "translate_only"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        name = state.func_id.func_qualname
        state.library = _Translation(state.targetctx.codegen(), name)
        return False


class _Translator(CompilerBase):
    """Numba's usual steps, but for the last one."""

    def define_pipelines(self) -> list[Any]:
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.add_pass_after(_Translate, steps.passes[0][0])
        steps.finalize()
        return [steps]
