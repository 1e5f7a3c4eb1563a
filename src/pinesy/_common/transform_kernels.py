"""The loops of `transform_loops`, compiled. Importing this loads Numba.

Three of them are written with vectors: as loops two would ask at each row whether those that they
read and those that they write overlap, which takes longer than what they do.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg"
# ruff: noqa: ARG001 (Numba calls by the names of the arguments)
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload, register_jitable

from pinesy._common import transform_loops as loops
from pinesy._common.jit import compiled

#: Numbers that are taken at a time: what two of the widest registers hold.
LANES = 16
#: Below this a remainder may be rounded.
SMALL = 2.0**-900


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


@intrinsic
def _divide_lanes(_context, row, total, reciprocal, i):
    """Divide so many numbers from `i` on, which is exact though it multiplies.

    With ``y`` the nearest number to ``1/b``, ``q`` within one unit of ``a/b`` and ``r = a - b q``,
    which a fused operation computes exactly, ``q + r y`` rounds to the nearest number to ``a/b``
    (Markstein, IBM Journal of Research and Development 34, 1990), unless numbers are so small that
    `r` is not exact: these, and zeros, for the sign, are divided.
    """

    def code(context, builder, signature, arguments):
        *arrays, i = arguments
        at = [_places(context, builder, signature.args[0], a, [i])[0] for a in arrays]
        a, b, y = (builder.load(place, align=8) for place in at)
        fused = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(a.type, [a.type] * 3), f"llvm.fma.v{LANES}f64"
        )
        small = builder.fcmp_unordered("<", a, ir.Constant(a.type, [SMALL] * LANES))
        bits = builder.bitcast(small, ir.IntType(LANES))
        with builder.if_else(builder.icmp_unsigned("!=", bits, bits.type(0))) as (some, none):
            with some:
                builder.store(builder.fdiv(a, b), at[0], align=8)
            with none:
                minus, q = builder.fneg(b), builder.fmul(a, y)
                for _ in range(2):
                    q = builder.call(fused, [builder.call(fused, [minus, q, a]), y, q])
                builder.store(q, at[0], align=8)

    return types.void(row, total, reciprocal, types.int64), code


@overload(loops.divide)
def _divide(row, total, _reciprocal):
    def in_lanes(row, total, _reciprocal):
        even = len(row) // LANES * LANES
        for i in range(0, even, LANES):
            _divide_lanes(row, total, _reciprocal, i)
        for i in range(even, len(row)):
            row[i] /= total[i]

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
