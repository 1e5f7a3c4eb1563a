"""Vectors for kernels: some samples of a row at a time, whatever the type of numbers.

Written as loops over samples, each minimum would read its result from memory and write it back, and
each loop would first ask whether its rows overlap: twice the time. So the kernels say what the
machine shall do: take as many samples as `LANE_BYTES` hold (lanes), and keep them in registers.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg"
# ruff: noqa: ARG001, ARG005 (Numba calls by the names of the arguments)
from typing import NamedTuple

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, models, overload, register_model

#: Two of the widest registers, four or eight of others: enough to hide how long an operation takes.
LANE_BYTES = 128


class Lanes(types.Type):
    """The type of so many numbers of a row, in registers."""

    def __init__(self, number):
        self.number = number
        self.count = LANE_BYTES * 8 // number.bitwidth
        super().__init__(f"Lanes({number})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, lanes):
        number = manager.lookup(lanes.number).get_value_type()
        super().__init__(manager, lanes, ir.VectorType(number, lanes.count))


def n_lanes(table):
    """Return how many numbers of a table's type are taken at a time."""


@overload(n_lanes, inline="always")
def _n_lanes(table):
    count = Lanes(table.dtype).count
    return lambda table: count


def _place(context, builder, kind, table, row, i, vector):
    """Return a pointer to the numbers of a table's row from `i` on, as a vector."""
    array = context.make_array(kind)(context, builder, table)
    stride = builder.extract_value(array.strides, 0)
    start = builder.mul(row, stride)
    size = ir.Constant(i.type, kind.dtype.bitwidth // 8)
    first = builder.bitcast(array.data, ir.IntType(8).as_pointer())
    address = builder.gep(first, [builder.add(start, builder.mul(i, size))])
    return builder.bitcast(address, vector.as_pointer())


class Lane(NamedTuple):
    """A place in a row, of one sample; an `i` by itself is that of many, from there."""

    i: int


@intrinsic
def operand(_context, table, row, i):
    """Return what stands in a table's row: the lanes from sample `i` on, or one number of it.

    No loop of Numba's own does this, because it would count references to the table at each call.
    """
    is_one = isinstance(i, types.BaseTuple)
    kind = table.dtype if is_one else Lanes(table.dtype)

    def code(context, builder, signature, arguments):
        table, row, i = arguments
        i = builder.extract_value(i, 0) if is_one else i
        vector = context.get_value_type(kind)
        pointer = _place(context, builder, signature.args[0], table, row, i, vector)
        return builder.load(pointer, align=None if is_one else 1)

    return kind(table, types.int64, i if is_one else types.int64), code


@intrinsic
def store_lanes(_context, table, row, i, lanes):
    """Write lanes to a table's row from sample `i` on."""

    def code(context, builder, signature, arguments):
        *where, value = arguments
        pointer = _place(context, builder, signature.args[0], *where, value.type)
        builder.store(value, pointer, align=1)

    return types.void(table, types.int64, types.int64, lanes), code


@intrinsic
def checked(_context, degrees):
    """Return degrees (a number, or lanes), with 2 in the place of floats that are not in [0, 1].

    NaN fails the comparisons. Unsigned integers are degrees all of them.
    """

    def code(_context, builder, _signature, arguments):
        (value,) = arguments
        if isinstance(_element(value.type), ir.IntType):
            return value
        bounds = (_filled(value.type, number) for number in (0.0, 1.0, 2.0))
        low, high, wrong = bounds
        over = builder.fcmp_ordered(">=", value, low)
        return builder.select(
            builder.and_(over, builder.fcmp_ordered("<=", value, high)), value, wrong
        )

    return degrees(degrees), code


def _element(kind):
    return kind.element if isinstance(kind, ir.VectorType) else kind


def _filled(kind, number):
    """Return a constant that has a number everywhere."""
    if isinstance(kind, ir.VectorType):
        return ir.Constant(kind, [number] * kind.count)
    return ir.Constant(kind, number)


def _side(number):
    """Return the side of the squares that are turned: as many vectors as there are registers."""
    return 16 if number.bitwidth <= 16 else 8


def square_side(table):
    """Return how many rows and columns of a table's type are turned at a time."""


@overload(square_side, inline="always")
def _square_side(table):
    side = _side(table.dtype)
    return lambda table: side


@intrinsic
def turn_square(_context, x, row, column, work, target, i):
    """Copy ``x[row + k, column + c]`` to ``work[target + c, i + k]``, for a square of `k` and `c`.

    Each of log2(side) rounds shuffles rows j and j + side/2 together. -0.0 becomes 0.0.
    """
    side = _side(x.dtype)

    def code(context, builder, signature, arguments):
        x, row, column, work, target, i = arguments
        vector = ir.VectorType(context.get_value_type(signature.args[0].dtype), side)
        is_float = not isinstance(vector.element, ir.IntType)
        rows = []
        for k in range(side):
            line = builder.add(row, ir.Constant(row.type, k))
            pointer = _place(context, builder, signature.args[0], x, line, column, vector)
            loaded = builder.load(pointer, align=1)
            rows.append(builder.fadd(loaded, _filled(vector, 0.0)) if is_float else loaded)
        for c, turned in enumerate(_turned(builder, rows)):
            line = builder.add(target, ir.Constant(target.type, c))
            pointer = _place(context, builder, signature.args[3], work, line, i, vector)
            builder.store(turned, pointer, align=1)

    return types.void(x, *[types.int64] * 2, work, *[types.int64] * 2), code


def _turned(builder, rows):
    """Return the columns of as many rows, each a vector."""
    side = len(rows)
    half, kind = side // 2, ir.VectorType(ir.IntType(32), side)
    order = [k // 2 + k % 2 * side for k in range(side)]
    low, high = ir.Constant(kind, order), ir.Constant(kind, [k + half for k in order])
    for _ in range(side.bit_length() - 1):
        pairs = [(rows[j], rows[j + half]) for j in range(half)]
        rows = [builder.shuffle_vector(*pair, part) for pair in pairs for part in (low, high)]
    return rows
