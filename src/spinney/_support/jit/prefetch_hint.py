"""The hint to the memory, as the compiler takes it."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Emit the hint for the cell of an array at the indices that follow it."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    pointer = cgutils.get_item_pointer(
        context, builder, signature.args[0], array, list(args[1:]), wraparound=False
    )
    pointer = builder.bitcast(pointer, ir.PointerType(ir.IntType(8)))
    word = ir.IntType(32)
    hint = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(ir.VoidType(), [pointer.type, word, word, word]),
        "llvm.prefetch.p0",
    )
    # To read (0), to keep in all caches (3), data (1).
    builder.call(hint, [pointer, word(0), word(3), word(1)])
    return context.get_dummy_value()


@intrinsic
def hint(_typing: Any, matrix: Any, row: Any, column: Any) -> Any:
    """Ask for the cache line of a cell of a matrix, and go on at once."""
    return types.void(matrix, types.int64, types.int64), _generate
