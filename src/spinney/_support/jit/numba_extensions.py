"""Extensions of Numba that loops need: a prefetch instruction, and tuples by reference.

A loop that gets the address of a named tuple reads the same fields as one that gets the
tuple. A field that is a named tuple is a reference too, so one tuple can hold all
arguments of a loop.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
)


class Reference(types.Type):
    """The type of the address of a named tuple."""

    def __init__(self, named: Any) -> None:
        self.named = named
        super().__init__(name=f"Reference({named})")

    def index_of(self, field: str) -> int:
        """Return the index of a field of the tuple."""
        return int(self.named.fields.index(field))

    def type_of(self, field: str) -> Any:
        """Return the type of a field; a named tuple has a reference type."""
        kind = self.named.types[self.index_of(field)]
        return Reference(kind) if isinstance(kind, types.BaseNamedTuple) else kind


@register_model(Reference)
class _Model(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Reference) -> None:
        pointee = dmm.lookup(fe_type.named).get_value_type()
        super().__init__(dmm, fe_type, ir.PointerType(pointee))


@infer_getattr
class _Fields(AttributeTemplate):
    key = Reference

    def generic_resolve(  # type: ignore[override]
        self, reference: Reference, field: str
    ) -> Any:
        if field in reference.named.fields:
            return reference.type_of(field)
        return None


@lower_getattr_generic(Reference)
def _field(
    context: Any, builder: Any, reference: Reference, value: Any, field: str
) -> Any:
    field_type = reference.type_of(field)
    pointer = cgutils.gep_inbounds(builder, value, 0, reference.index_of(field))
    if isinstance(field_type, Reference):
        return pointer
    return impl_ret_borrowed(context, builder, field_type, builder.load(pointer))


def _emit_hint(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Emit the prefetch instruction for an array cell at the given indices."""
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
    """Prefetch the cache line of a matrix cell, without waiting."""
    return types.void(matrix, types.int64, types.int64), _emit_hint
