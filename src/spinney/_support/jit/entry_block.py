"""The first block of an entry, which reads its arguments from words of Python.

``call_arguments`` defines the words. A named tuple is written to the stack, and the
loop gets its address (``numba_extensions``). Numba would pass each of its arrays as
nine words, and calls with hundreds of arguments would take most of the compile time.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.np.numpy_support import from_dtype

from spinney._support.jit.call_arguments import (
    ALIGNED,
    C_ORDER,
    FORTRAN_ORDER,
    TUPLE,
    Kind,
)
from spinney._support.jit.numba_extensions import Reference

_WORD = ir.IntType(64)
_NUMBERS = {
    float: types.float64,
    np.float32: types.float32,
    bool: types.boolean,
    int: types.int64,
    np.uint64: types.uint64,
}

RESULTS = {types.float64: "d", types.boolean: "?", types.int64: "q", types.none: ""}
"""How ``struct`` reads what an entry returns, by its type."""

# In words, what an array of NumPy has after what every object of Python has: where its
# numbers are, how many dimensions, where their lengths are, and their strides. This is
# part of NumPy's interface to C.
_DATA, _LENGTHS, _STRIDES = np.array([0, 2, 3]) + object.__basicsize__ // 8


def types_of(kinds: tuple[Kind, ...]) -> tuple[Any, ...]:
    """Return the Numba types for kinds of arguments."""
    remaining, every = iter(kinds), []
    for kind in remaining:
        argument_type = _type_of(kind, remaining)
        named = isinstance(argument_type, types.BaseNamedTuple)
        every.append(Reference(argument_type) if named else argument_type)
    return tuple(every)


def _type_of(kind: Any, remaining: Iterator[Kind]) -> Any:
    if kind in _NUMBERS:
        return _NUMBERS[kind]
    if isinstance(kind, tuple):
        dtype, ndim, flags = kind
        if dtype == TUPLE:
            return types.Tuple(
                [_type_of(next(remaining), remaining) for _ in range(ndim)]
            )
        number: Any = from_dtype(np.dtype(dtype))
        order: Any = "A"
        if flags & (C_ORDER | FORTRAN_ORDER):
            order = "C" if flags & C_ORDER else "F"
        return types.Array(number, ndim, order, aligned=bool(flags & ALIGNED))
    return types.NamedTuple(
        [_type_of(next(remaining), remaining) for _ in kind._fields], kind
    )


def block_module(context: Any, description: Any, name: str) -> Any:
    """Return a module with a function that reads a block of words and calls a loop.

    The function returns whether the loop failed.
    """
    module, flag = context.create_module(name), ir.IntType(32)
    kind = ir.FunctionType(flag, [_WORD.as_pointer()])
    function = ir.Function(module, kind, name)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    words = _Words(context, builder, function.args[0])
    values = [words.value(argument_type) for argument_type in description.argtypes]
    kind = context.call_conv.get_function_type(
        description.restype, description.argtypes
    )
    loop = ir.Function(module, kind, description.llvm_func_name)
    status, result = context.call_conv.call_function(
        builder, loop, description.restype, description.argtypes, values
    )
    if description.restype != types.none:
        if description.restype == types.boolean:
            result = builder.zext(result, _WORD)
        to = builder.bitcast(function.args[0], result.type.as_pointer())
        builder.store(result, to)
    builder.ret(builder.zext(status.is_error, flag))
    return module


class _Words:
    """Reader of a block of words."""

    def __init__(self, context: Any, builder: Any, block: Any) -> None:
        self.context, self.builder, self.block = context, builder, block
        self.n_read = 1  # the first word is for the result

    def value(self, kind: Any) -> Any:
        """Return the next argument."""
        builder = self.builder
        if isinstance(kind, Reference):
            tuple_type = self.context.get_value_type(kind.named)
            pointer = cgutils.alloca_once(builder, tuple_type)
            self._fill(kind.named, pointer)
            return pointer
        if isinstance(kind, (types.UniTuple, types.Tuple)):
            parts = [self.value(part) for part in kind.types]
            return self.context.make_tuple(builder, kind, parts)
        word = self._next()
        if isinstance(kind, types.Array):
            return self._array(kind, word)
        if kind == types.boolean:
            return builder.trunc(word, ir.IntType(1))
        if isinstance(kind, types.Float):
            number = builder.bitcast(word, ir.DoubleType())
            is_short = kind == types.float32
            return builder.fptrunc(number, ir.FloatType()) if is_short else number
        return word

    def _fill(self, named: Any, pointer: Any) -> None:
        """Write the fields of a named tuple to its memory."""
        for i, kind in enumerate(named.types):
            field = cgutils.gep_inbounds(self.builder, pointer, 0, i)
            if isinstance(kind, types.BaseNamedTuple):
                self._fill(kind, field)
            else:
                self.builder.store(self.value(kind), field)

    def _next(self) -> Any:
        word = cgutils.gep_inbounds(self.builder, self.block, self.n_read)
        self.n_read += 1
        return self.builder.load(word)

    def _array(self, kind: Any, address: Any) -> Any:
        """Return an array, read from its Python object."""
        builder = self.builder
        argument_type = builder.inttoptr(address, _WORD.as_pointer())
        lengths, strides = (
            builder.inttoptr(self._at(argument_type, word), _WORD.as_pointer())
            for word in (_LENGTHS, _STRIDES)
        )
        array = self.context.make_array(kind)(self.context, builder)
        shape = [self._at(lengths, d) for d in range(kind.ndim)]
        n_items = _WORD(1)
        for length in shape:
            n_items = builder.mul(n_items, length)
        size = self.context.get_abi_sizeof(self.context.get_data_type(kind.dtype))
        null = cgutils.get_null_value
        array.meminfo, array.parent = null(array.meminfo.type), null(array.parent.type)
        array.nitems, array.itemsize = n_items, _WORD(size)
        array.data = builder.inttoptr(self._at(argument_type, _DATA), array.data.type)
        array.shape = cgutils.pack_array(builder, shape)
        array.strides = cgutils.pack_array(
            builder, [self._at(strides, d) for d in range(kind.ndim)]
        )
        return array._getvalue()

    def _at(self, pointer: Any, index: int) -> Any:
        return self.builder.load(
            cgutils.gep_inbounds(self.builder, pointer, int(index))
        )
