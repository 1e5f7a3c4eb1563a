"""The loops of `transform_loops`, compiled. Importing this loads Numba.

Two of them are written with vectors: as loops they would ask at each row whether those that they
read and those that they write overlap, and this takes longer than what they do.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg"
# ruff: noqa: ARG001 (Numba calls by the names of the arguments)
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload, register_jitable

from pinesy._common import transform_loops as loops
from pinesy._common.jit import compiled

#: Numbers that are taken at a time: what two of the widest registers hold.
LANES = 16


def _places(context, builder, kind, array, offsets):
    """Return pointers to the lanes of an array from some offsets on."""
    data = context.make_array(kind)(context, builder, array).data
    lanes = ir.VectorType(data.type.pointee, LANES).as_pointer()
    return [builder.bitcast(builder.gep(data, [i]), lanes) for i in offsets]


@intrinsic
def _exchange_lanes(_context, values, places, one, two):
    """Do as `exchange_one` with so many numbers from `one` and `two` on."""

    def code(context, builder, signature, arguments):
        *arrays, one, two = arguments
        pairs = [
            _places(context, builder, kind, array, (one, two))
            for kind, array in zip(signature.args[:2], arrays, strict=True)
        ]
        (a, b), (j, k) = ([builder.load(p, align=4) for p in pair] for pair in pairs)
        swap = builder.or_(
            builder.fcmp_ordered(">", b, a),
            builder.and_(builder.fcmp_ordered("==", b, a), builder.icmp_unsigned("<", k, j)),
        )
        for (high, low), first, second in zip(pairs, (a, j), (b, k), strict=True):
            builder.store(builder.select(swap, second, first), high, align=4)
            builder.store(builder.select(swap, first, second), low, align=4)

    return types.void(values, places, types.int64, types.int64), code


@overload(loops.exchange)
def _exchange(values, places, one, two, count):
    def in_lanes(values, places, one, two, count):
        even = count // LANES * LANES
        for i in range(0, even, LANES):
            _exchange_lanes(values, places, one + i, two + i)
        for i in range(even, count):
            loops.exchange_one(values, places, one + i, two + i)

    return in_lanes


@intrinsic
def _antipignistic_lanes(_context, here, below, top, rank, before, result, i):
    """Do as `antipignistic_one` with so many numbers from `i` on."""

    def code(context, builder, signature, arguments):
        *arrays, i = arguments
        rank = arrays.pop(3)
        row = signature.args[0]
        *given, target = (_places(context, builder, row, a, [i])[0] for a in arrays)
        here, below, top, before = (builder.load(place, align=8) for place in given)
        one = ir.Constant(here.type, [1.0] * LANES)
        ranks = ir.Constant(here.type, ir.Undefined)
        for lane in range(LANES):
            ranks = builder.insert_element(ranks, rank, ir.Constant(ir.IntType(32), lane))
        total = builder.fadd(before, builder.fmul(ranks, builder.fsub(here, below)))
        is_one = builder.or_(
            builder.fcmp_ordered("==", here, top), builder.fcmp_ordered(">", total, one)
        )
        builder.store(builder.select(is_one, one, total), target, align=8)

    return types.void(here, below, top, rank, before, result, types.int64), code


@overload(loops.antipignistic)
def _antipignistic(here, below, top, rank, before, result):
    def in_lanes(here, below, top, rank, before, result):
        even = len(result) // LANES * LANES
        for i in range(0, even, LANES):
            _antipignistic_lanes(here, below, top, rank, before, result, i)
        for i in range(even, len(result)):
            result[i] = loops.antipignistic_one(here[i], below[i], top[i], rank, before[i])

    return in_lanes


for _name, _function in vars(loops).copy().items():
    if callable(_function) and _name not in (
        "exchange",
        "antipignistic",
        "summation",
        "transform_rows",
    ):
        register_jitable(_function)

transform_rows = compiled(
    types.int64(
        types.Array(types.float64, 2, "C", readonly=True),
        types.float64[:, ::1],
        types.uint32[::1],
        types.int64,
        types.uint32[:, ::1],
        types.int64,
        types.float64,
    )
)(loops.transform_rows)
