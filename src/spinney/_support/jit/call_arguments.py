"""Calls of machine code from Python: the arguments of an entry as words.

::

    work(Rules(limit=0.5, rows=array), 7)

    kinds   Rules, float, ("<f8", 1, C_ORDER | ALIGNED), int
    slots   0.5, address of the array, 7

The *kinds* are the argument types for which an entry is compiled. The *slots* are the
arguments of a call, a word each. The slot of an array is the address of its Python
object, from which machine code reads the data pointer and the shape.
"""

import ctypes
import struct
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import llvmlite.binding

Kind: TypeAlias = "type | tuple[str, int, int]"
Slot: TypeAlias = "int | float"

# What matters of the flags of an array: whether its numbers lie in the order of C, or
# else in that of Fortran, and where the machine wants them.
C_ORDER, FORTRAN_ORDER, ALIGNED = 0x1, 0x2, 0x100
_FLAGS = C_ORDER | FORTRAN_ORDER | ALIGNED
_BOTH_ORDERS = C_ORDER | FORTRAN_ORDER

TUPLE = "()"  # of so many parts, which have no names

_KINDS: dict[type, type] = {
    float: float,
    np.float64: float,
    np.float32: np.float32,
    bool: bool,
    np.bool_: bool,
    int: int,
    np.int64: int,
    np.uint64: np.uint64,
}
_FORMATS = {float: "d", np.float32: "d", bool: "q", int: "q", np.uint64: "Q"}


class Code(NamedTuple):
    """Machine code of an entry.

    Parameters
    ----------
    name : str
        The name of the function in the machine code.
    result : str
        The type of the result: "d" for float, "?" for bool, "q" for integer, "" for
        none.
    needs : tuple of str
        The functions of other libraries that the code calls.
    binary : bytes
        An object file.
    """

    name: str
    result: str
    needs: tuple[str, ...]
    binary: bytes


def flatten(value: Any, kinds: list[Kind], slots: list[Slot]) -> None:
    """Append the kinds and slots of a value to the lists.

    Slots refer to arrays by address, so the caller must hold the value during the call.
    """
    value_type = type(value)
    if isinstance(value, np.ndarray):
        flags = value.flags.num & _FLAGS
        if flags & _BOTH_ORDERS == _BOTH_ORDERS:
            flags -= FORTRAN_ORDER
        kinds.append((value.dtype.str, value.ndim, flags))
        slots.append(id(value))
    elif value_type in _KINDS:
        kinds.append(_KINDS[value_type])
        slots.append(value if value_type is not np.bool_ else bool(value))
    elif isinstance(value, tuple):
        kinds.append((TUPLE, len(value), 0) if value_type is tuple else value_type)
        for part in value:
            flatten(part, kinds, slots)
    elif isinstance(value, (int, np.integer)):
        flatten(int(value), kinds, slots)
    else:
        msg = f"loops take arrays, numbers and named tuples of them, not {value_type}"
        raise TypeError(msg)


def call_of(code: Code, kinds: tuple[Kind, ...]) -> Callable[[list[Slot]], Any]:
    """Return a function of slots that runs the machine code."""
    formats = "".join(map(_format_of, kinds))
    pack = struct.Struct("=q" + formats).pack
    run = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(_address_of(code))
    result = struct.Struct(f"={code.result}").unpack_from

    def call(slots: list[Slot]) -> Any:
        # The first word is for the result.
        block = ctypes.create_string_buffer(pack(0, *slots))
        if run(block):
            msg = "a loop went beyond its arrays; SPINNEY_PLAIN_JIT=1 says where"
            raise IndexError(msg)
        return result(block)[0] if code.result else None

    return call


def _format_of(kind: Kind) -> str:
    """Return the ``struct`` format of a kind's slot; a tuple has only its fields."""
    if isinstance(kind, tuple):
        return "" if kind[0] == TUPLE else "Q"
    return _FORMATS.get(kind, "")


class MissingSymbolError(Exception):
    """Machine code calls a function that no library in this process has."""


def _address_of(code: Code) -> int:
    """Load machine code into this process permanently; return its address."""
    import llvmlite.binding as llvm

    engine = _engine()
    if not all(map(llvm.address_of_symbol, code.needs)):
        _bring_functions_of_numba()
    for name in code.needs:
        if not llvm.address_of_symbol(name):
            raise MissingSymbolError(name)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code.binary))
    engine.finalize_object()
    return int(engine.get_function_address(code.name))


def _bring_functions_of_numba() -> None:
    """Let this process have what Numba brings along, as functions of vendors."""
    from numba.core.registry import cpu_target

    cpu_target.target_context.refresh()


@cache
def _engine() -> "llvmlite.binding.ExecutionEngine":
    """Return the execution engine that links machine code in this process."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
