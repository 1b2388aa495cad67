"""What takes eight numbers with one instruction, written out for the compiler.

``lanes`` says what each of these does, and does the same by NumPy.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from spinney.extensions.clustering.loops.lanes import LANES

_WHOLE, _WORD = ir.IntType(64), ir.IntType(32)
_WORDS = ir.VectorType(_WORD, LANES)
_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
_LOOSE = ("contract",)


class _Emitter:
    """What the loops below are written with."""

    def __init__(self, context: Any, builder: Any, kinds: Any, args: Any) -> None:
        self.builder, self.args = builder, args
        self.arrays: list[Any] = [
            context.make_array(kind)(context, builder, value)
            if isinstance(kind, types.Array)
            else None
            for kind, value in zip(kinds, args, strict=True)
        ]
        kind = next(kind.dtype for kind in kinds if isinstance(kind, types.Array))
        self.number = context.get_value_type(kind)
        self.bytes = kind.bitwidth // 8
        self.vector = ir.VectorType(self.number, LANES)

    def columns(self, argument: int) -> Any:
        """Return how many columns an array has."""
        shape = cgutils.unpack_tuple(self.builder, self.arrays[argument].shape)
        return shape[-1]

    def at(self, argument: int, line: Any, width: Any) -> Any:
        """Return the address of a line of an array."""
        index = self.builder.mul(line, width)
        return self.builder.gep(self.arrays[argument].data, [index])

    def load(self, pointer: Any, index: Any, kind: Any = None) -> Any:
        """Return the vector that begins at an index."""
        kind = kind or self.vector
        pointer = self.builder.gep(pointer, [index])
        pointer = self.builder.bitcast(pointer, kind.as_pointer())
        return self.builder.load(pointer, align=4)

    def store(self, vector: Any, pointer: Any, index: Any) -> None:
        """Write a vector to an index."""
        pointer = self.builder.gep(pointer, [index])
        pointer = self.builder.bitcast(pointer, vector.type.as_pointer())
        self.builder.store(vector, pointer, align=4)

    def spread(self, number: Any, kind: Any = None) -> Any:
        """Return a vector of one number."""
        kind = kind or self.vector
        undefined = ir.Constant(kind, ir.Undefined)
        single = self.builder.insert_element(undefined, number, _WORD(0))
        nowhere = ir.Constant(_WORDS, [0] * LANES)
        return self.builder.shuffle_vector(single, undefined, nowhere)

    def constant(self, number: float) -> Any:
        """Return a vector of one constant."""
        return ir.Constant(self.vector, [number] * LANES)

    def variable(self, value: Any) -> Any:
        """Return room for a value that changes."""
        return cgutils.alloca_once_value(self.builder, value)

    def add_square(self, apart: Any, total: Any, flags: tuple[str, ...] = ()) -> None:
        """Add squares to a total."""
        squared = self.builder.fmul(apart, apart, flags=flags)
        summed = self.builder.fadd(self.builder.load(total), squared, flags=flags)
        self.builder.store(summed, total)

    def halved(self, vector: Any, join: Callable[[Any, Any], Any]) -> Any:
        """Return the one number that is left when halves are joined."""
        size = LANES
        while size > 1:
            size //= 2
            undefined = ir.Constant(vector.type, ir.Undefined)
            pair = []
            for first in (0, size):
                chosen = list(range(first, first + size))
                mask = ir.Constant(ir.VectorType(_WORD, size), chosen)
                pair.append(self.builder.shuffle_vector(vector, undefined, mask))
            vector = join(*pair)
        return self.builder.extract_element(vector, _WORD(0))

    def less(self, one: Any, other: Any) -> Any:
        """Return the lesser of two, of which none is NaN."""
        below = self.builder.fcmp_ordered("<", one, other)
        return self.builder.select(below, one, other)


def _emit_squares(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    emit = _Emitter(context, builder, signature.args, args)
    columns = emit.columns(0)
    row = emit.at(0, args[1], columns)
    group = emit.at(2, args[3], builder.mul(columns, _WHOLE(LANES)))
    sums = [emit.variable(emit.constant(0.0)) for _ in range(2)]

    def add(column: Any, total: Any) -> None:
        cells = emit.spread(builder.load(builder.gep(row, [column])))
        point = emit.load(group, builder.mul(column, _WHOLE(LANES)))
        emit.add_square(builder.fsub(cells, point), total)

    with cgutils.for_range(builder, builder.lshr(columns, _WHOLE(1))) as loop:
        column = builder.shl(loop.index, _WHOLE(1))
        add(column, sums[0])
        add(builder.add(column, _WHOLE(1)), sums[1])
    with builder.if_then(builder.trunc(columns, ir.IntType(1))):
        add(builder.sub(columns, _WHOLE(1)), sums[0])
    total = builder.fadd(builder.load(sums[0]), builder.load(sums[1]))
    emit.store(total, emit.arrays[4].data, _WHOLE(0))
    return emit.halved(total, emit.less)


def _emit_square(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    emit = _Emitter(context, builder, signature.args, args)
    columns = emit.columns(0)
    row, point = emit.at(0, args[1], columns), emit.at(2, args[3], columns)
    sums = emit.variable(emit.constant(0.0))
    rest = emit.variable(ir.Constant(emit.number, 0.0))
    groups = builder.lshr(columns, _WHOLE(3))
    with cgutils.for_range(builder, groups) as loop:
        first = builder.shl(loop.index, _WHOLE(3))
        apart = builder.fsub(emit.load(row, first), emit.load(point, first))
        emit.add_square(apart, sums, _LOOSE)
    done = builder.shl(groups, _WHOLE(3))
    with cgutils.for_range(builder, builder.sub(columns, done)) as loop:
        column = builder.add(loop.index, done)
        cells = [builder.load(builder.gep(start, [column])) for start in (row, point)]
        emit.add_square(builder.fsub(*cells), rest, _LOOSE)
    total = emit.halved(builder.load(sums), builder.fadd)
    return builder.fadd(total, builder.load(rest))


def _emit_gain(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    emit = _Emitter(context, builder, signature.args, args)
    distances = emit.load(emit.arrays[2].data, _WHOLE(0))
    off = builder.fsub(emit.spread(args[0]), distances)
    better = builder.fcmp_ordered(">", off, emit.constant(0.0))
    off = builder.select(better, off, emit.constant(0.0))
    if emit.number != ir.DoubleType():
        off = builder.fpext(off, _DOUBLES)
    off = builder.fmul(off, emit.spread(args[1], _DOUBLES))
    line = emit.at(3, args[4], _WHOLE(LANES))
    total = builder.fadd(emit.load(line, _WHOLE(0), _DOUBLES), off)
    emit.store(total, line, _WHOLE(0))
    return builder.bitcast(better, ir.IntType(8))


def _emit_two_least(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    emit = _Emitter(context, builder, signature.args, args)
    columns = emit.columns(0)
    line, norms = emit.at(0, args[1], columns), emit.arrays[2].data
    best, second = (emit.variable(emit.constant(float("inf"))) for _ in range(2))
    index = emit.variable(ir.Constant(_WORDS, [0] * LANES))
    with cgutils.for_range(builder, builder.lshr(columns, _WHOLE(3))) as loop:
        first = builder.shl(loop.index, _WHOLE(3))
        value = builder.fadd(emit.load(line, first), emit.load(norms, first))
        least = builder.load(best)
        below = builder.fcmp_ordered("<", value, least)
        worse = builder.select(below, least, value)
        builder.store(emit.less(worse, builder.load(second)), second)
        builder.store(builder.select(below, value, least), best)
        group = emit.spread(builder.trunc(loop.index, _WORD), _WORDS)
        builder.store(builder.select(below, group, builder.load(index)), index)
    lanes = emit.arrays[3].data
    emit.store(builder.load(best), lanes, _WHOLE(0))
    emit.store(builder.load(second), lanes, _WHOLE(LANES))
    emit.store(builder.load(index), emit.arrays[4].data, _WHOLE(0))
    return context.get_dummy_value()


@intrinsic
def squares(_: Any, rows: Any, row: Any, points: Any, group: Any, lanes: Any) -> Any:
    """Write the squared distances of a row to a group; return the least."""
    kinds = rows, types.int64, points, types.int64, lanes
    return rows.dtype(*kinds), _emit_squares


@intrinsic
def square(_: Any, rows: Any, row: Any, points: Any, point: Any) -> Any:
    """Return the squared distance of a row to a point."""
    return rows.dtype(rows, types.int64, points, types.int64), _emit_square


@intrinsic
def gain(_: Any, before: Any, weight: Any, lanes: Any, gains: Any, line: Any) -> Any:
    """Add up what points take off a squared distance."""
    kinds = before, types.float64, lanes, gains, types.int64
    return types.uint8(*kinds), _emit_gain


@intrinsic
def two_least(
    _: Any, products: Any, line: Any, norms: Any, lanes: Any, groups: Any
) -> Any:
    """Write the two least sums of each lane."""
    kinds = products, types.int64, norms, lanes, groups
    return types.void(*kinds), _emit_two_least
