"""SIMD intrinsics for kernels: several samples of a row in one vector, for every dtype.

Loops over samples would load and store the result of each minimum in memory, and check first
whether rows overlap: twice the time. So kernels load `VECTOR_BYTES` of a row as one SIMD vector and
keep it in registers.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg"
# ruff: noqa: ARG001, ARG005 (Numba calls by the names of the arguments)
from typing import NamedTuple

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, models, overload, register_model

#: Two of the widest registers, four or eight narrower ones: enough to hide the latency.
VECTOR_BYTES = 128


class SimdVector(types.Type):
    """The Numba type of a SIMD vector of `VECTOR_BYTES`."""

    def __init__(self, number):
        self.number = number
        self.count = VECTOR_BYTES * 8 // number.bitwidth
        super().__init__(f"SimdVector({number})")


@register_model(SimdVector)
class _SimdVectorModel(models.PrimitiveModel):
    def __init__(self, manager, vector):
        number = manager.lookup(vector.number).get_value_type()
        super().__init__(manager, vector, ir.VectorType(number, vector.count))


def vector_size(table):
    """Return how many numbers of a table's dtype are in a SIMD vector."""


@overload(vector_size, inline="always")
def _vector_size(table):
    count = SimdVector(table.dtype).count
    return lambda table: count


def _pointer(context, builder, table_type, table, row, i, vector):
    """Return a pointer to ``table[row, i:]``, of the LLVM type `vector`."""
    array = context.make_array(table_type)(context, builder, table)
    stride = builder.extract_value(array.strides, 0)
    start = builder.mul(row, stride)
    size = ir.Constant(i.type, table_type.dtype.bitwidth // 8)
    first = builder.bitcast(array.data, ir.IntType(8).as_pointer())
    address = builder.gep(first, [builder.add(start, builder.mul(i, size))])
    return builder.bitcast(address, vector.as_pointer())


class ScalarIndex(NamedTuple):
    """The index of one sample: `load_operand` returns a scalar; for an integer, a vector."""

    i: int


@intrinsic
def load_operand(_context, table, row, i):
    """Return the vector from ``table[row, i]`` on, or for a `ScalarIndex` that number alone.

    An intrinsic, because Numba would count references to the table at each indexing.
    """
    is_scalar = isinstance(i, types.BaseTuple)
    result = table.dtype if is_scalar else SimdVector(table.dtype)

    def code(context, builder, signature, arguments):
        table, row, i = arguments
        i = builder.extract_value(i, 0) if is_scalar else i
        vector = context.get_value_type(result)
        pointer = _pointer(context, builder, signature.args[0], table, row, i, vector)
        return builder.load(pointer, align=None if is_scalar else 1)

    return result(table, types.int64, i if is_scalar else types.int64), code


@intrinsic
def store_vector(_context, table, row, i, vector):
    """Store a vector to ``table[row, i:]``."""

    def code(context, builder, signature, arguments):
        *index, value = arguments
        pointer = _pointer(context, builder, signature.args[0], *index, value.type)
        builder.store(value, pointer, align=1)

    return types.void(table, types.int64, types.int64, vector), code


@intrinsic
def mark_invalid(_context, degrees):
    """Return degrees (a scalar or a vector) with 2 in place of NaN and floats outside of [0, 1].

    Unsigned integers are always degrees.
    """

    def code(_context, builder, _signature, arguments):
        (value,) = arguments
        if isinstance(getattr(value.type, "element", value.type), ir.IntType):
            return value
        low, high, invalid = (_constant(value.type, number) for number in (0.0, 1.0, 2.0))
        is_degree = builder.and_(
            builder.fcmp_ordered(">=", value, low), builder.fcmp_ordered("<=", value, high)
        )
        return builder.select(is_degree, value, invalid)

    return degrees(degrees), code


def _constant(llvm_type, number):
    """Return an LLVM constant, a scalar or a vector, with a number in every element."""
    is_vector = isinstance(llvm_type, ir.VectorType)
    return ir.Constant(llvm_type, [number] * llvm_type.count if is_vector else number)


def _tile_side(number):
    """Return the rows of a transposed tile: as many vectors as there are registers."""
    return 16 if number.bitwidth <= 16 else 8


def tile_size(table):
    """Return how many rows and columns of a table's dtype are transposed at a time."""


@overload(tile_size, inline="always")
def _tile_size(table):
    side = _tile_side(table.dtype)
    return lambda table: side


@intrinsic
def transpose_tile(_context, x, row, column, work, target, i):
    """Copy ``x[row + k, column + c]`` to ``work[target + c, i + k]``, for a square tile.

    -0.0 becomes 0.0.
    """
    side = _tile_side(x.dtype)

    def code(context, builder, signature, arguments):
        x, row, column, work, target, i = arguments
        vector = ir.VectorType(context.get_value_type(signature.args[0].dtype), side)
        is_float = not isinstance(vector.element, ir.IntType)
        rows = []
        for k in range(side):
            source = builder.add(row, ir.Constant(row.type, k))
            pointer = _pointer(context, builder, signature.args[0], x, source, column, vector)
            loaded = builder.load(pointer, align=1)
            rows.append(builder.fadd(loaded, _constant(vector, 0.0)) if is_float else loaded)
        for c, transposed in enumerate(_transpose(builder, rows)):
            destination = builder.add(target, ir.Constant(target.type, c))
            pointer = _pointer(context, builder, signature.args[3], work, destination, i, vector)
            builder.store(transposed, pointer, align=1)

    return types.void(x, *[types.int64] * 2, work, *[types.int64] * 2), code


def _transpose(builder, rows):
    """Return the columns of a square tile, given its rows as vectors.

    Each of log2(side) rounds shuffles the rows j and j + side/2 together.
    """
    side = len(rows)
    half, index = side // 2, ir.VectorType(ir.IntType(32), side)
    order = [k // 2 + k % 2 * side for k in range(side)]
    low, high = ir.Constant(index, order), ir.Constant(index, [k + half for k in order])
    for _ in range(side.bit_length() - 1):
        pairs = [(rows[j], rows[j + half]) for j in range(half)]
        rows = [builder.shuffle_vector(*pair, part) for pair in pairs for part in (low, high)]
    return rows
