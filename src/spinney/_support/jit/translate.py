"""Loops that are optimised once, with the entry that Python calls.

Numba alone optimises a function again inside each of its callers, and their callers.
Here a kernel is only translated, and optimised once together with its entry: half the
time for the same machine code.

This uses private parts of Numba. If they have changed, ``compile`` uses ``njit``
instead.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.registry import cpu_target

from spinney._support.jit.call_arguments import Code, Kind
from spinney._support.jit.code_cache import kinds_digest
from spinney._support.jit.entry_block import RESULTS, block_module, types_of

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,  # nobody counts who holds an array: taking one costs nothing
}

# What Numba has a copy of, and every process as well.
_C_NAMES = {"numba_nextafter": "nextafter"}


def translated(loop: Callable[..., Any]) -> Any:
    """Return a kernel that is optimised together with the entry points that call it."""
    return numba.njit(**_OPTIONS, pipeline_class=_Translator)(loop)


def type_of_kernel(loop: Any) -> Any:
    """Return the Numba type of a translated kernel."""
    return types.Dispatcher(loop)


def type_of_intrinsic(intrinsic: Any) -> Any:
    """Return the Numba type of an intrinsic function for the kernels that call it."""
    context = cpu_target.typing_context
    context.refresh()  # it may have been written since the compiler began
    cpu_target.target_context.refresh()
    return context.resolve_value_type(intrinsic)


@global_compiler_lock
def machine_code(loop: Callable[..., Any], kinds: tuple[Kind, ...]) -> Code:
    """Return the machine code of an entry with all kernels that it calls."""
    with _without_garbage_collection(), _memoised_types():
        dispatcher = translated(loop)
        dispatcher.compile(types_of(kinds))
        (compiled,) = dispatcher.overloads.values()
        name = f"spinney_{loop.__name__}_{kinds_digest(kinds)}"
        codegen = compiled.target_context.codegen()
        library = _Program(codegen, name)
        library.add_ir_module(
            block_module(compiled.target_context, compiled.fndesc, name)
        )
        for library_part in compiled.library.parts():
            library.add_linking_library(library_part)
        library.finalize()
        result = RESULTS[compiled.fndesc.restype]
        return Code(name, result, library.needs(), library.binary)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause garbage collection: there is little garbage."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


@contextmanager
def _memoised_types() -> Iterator[None]:
    """Cache the sizes of types and the signatures of functions in the compiler.

    Without the cache the compiler writes and reads a module for each size, and resolves
    its own functions, such as sums, at each call.
    """
    context, typing = cpu_target.target_context, cpu_target.typing_context
    size_of, resolve = context.get_abi_sizeof, typing.resolve_function_type
    sizes: dict[str, int] = {}
    signatures: dict[Any, Any] = {}

    def remembered_size(kind: Any) -> int:
        key = str(kind)
        if key not in sizes:
            sizes[key] = size_of(kind)
        return sizes[key]

    def remembered_signature(function: Any, args: Any, kws: Any) -> Any:
        if kws or not isinstance(function, types.Function):
            return resolve(function, args, kws)
        key = function, tuple(args)
        if signatures.get(key) is None:
            signatures[key] = resolve(function, args, kws)
        return signatures[key]

    context.get_abi_sizeof = remembered_size
    typing.resolve_function_type = remembered_signature
    try:
        yield
    finally:
        del context.get_abi_sizeof, typing.resolve_function_type


class _Program(JITCodeLibrary):
    """An entry with all kernels that it calls, stored for other processes."""

    binary = b""

    def _finalize_final_module(self) -> None:
        for function in self._final_module.functions:
            if function.is_declaration:
                if function.name in _C_NAMES:
                    function.name = _C_NAMES[function.name]
            elif function.name != self.name:
                # Numba numbers functions by process: others have the same names, and
                # whoever loads both would call one for the other.
                function.linkage = "internal"
        self.binary = self._codegen._tm.emit_object(self._final_module)
        self._finalized = True

    def needs(self) -> tuple[str, ...]:
        """Return the functions of other libraries that the machine code calls."""
        return tuple(
            function.name
            for function in self._final_module.functions
            if function.is_declaration and not function.name.startswith("llvm.")
        )


class _WithoutEnvironment:
    """A code generator without environments: a translated kernel has no address."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, env: Any) -> None:
        """Do nothing."""


class _Translation(JITCodeLibrary):
    """A translated kernel, to be linked into its entry."""

    @property
    def codegen(self) -> Any:
        return _WithoutEnvironment(self._codegen)

    def finalize(self) -> None:
        """Do nothing: the entry links and optimises this kernel with its callees."""
        self._finalized = True

    def parts(self) -> list[Any]:
        """Return this kernel and all that it calls, each once."""
        parts, pending = dict[int, Any](), [self]
        while pending:
            library_part = pending.pop()
            if id(library_part) not in parts:
                parts[id(library_part)] = library_part
                if isinstance(library_part, _Translation):
                    pending += library_part._linking_libraries
        return list(parts.values())

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


@register_pass(mutates_CFG=False, analysis_only=True)
class _Translate(AnalysisPass):
    """The compiler pass that only translates a kernel."""

    _name = "translate_only"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        name = state.func_id.func_qualname
        state.library = _Translation(state.targetctx.codegen(), name)
        return False


# Steps for what no loop has: closures, and expressions of whole arrays.
_UNUSED_STEPS = {"inline_closure_likes", "nopython_rewrites"}


class _Translator(CompilerBase):
    """Numba's usual passes, except those without effect, then ``_Translate``."""

    def define_pipelines(self) -> list[Any]:
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.passes = [
            step for step in steps.passes if step[0]._name not in _UNUSED_STEPS
        ]
        steps.add_pass_after(_Translate, steps.passes[0][0])
        steps.finalize()
        return [steps]
