"""The compiled loops: a program of min and max over blocks of samples, samples contiguous.

Importing this module loads Numba. Only `run` and the kernels of gradients import it, when first
needed, so that importing pinesy does not. No array is assigned to a slice here: Numba would
compile the text of the error that may raise, which takes seconds. Loops do the same.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
import numba
import numpy as np
from numba.core import types

from pinesy._common.jit import compiled, machine_max, machine_min

MAX, MIN, MAXMIN, MINMAX, STORE = 0, 1, 2, 3, 4


_NUMBERS, TABLE = types.float64[::1], types.float64[:, ::1]
INTS = types.uint32[::1]
#: What the caller gives may be read-only.
GIVEN = types.Array(types.float64, 2, "C", readonly=True)
_GIVEN_ROW = types.Array(types.float64, 1, "C", readonly=True)
PROGRAM = (INTS, _NUMBERS, INTS, INTS, INTS, INTS, _NUMBERS)


@numba.njit(inline="always")
def _rows(work, args, k):
    """Return the four rows that the operands from `k` on name."""
    return work[args[k]], work[args[k + 1]], work[args[k + 2]], work[args[k + 3]]


@compiled("void(float64[:, ::1], int64, int64, uint32, uint32[::1], int64, int64)")
def fold(work, target, lanes, op, args, begin, end):
    """Compute one instruction for a block: ``work[target] = op(work[args[begin:end]])``."""
    result = work[target]
    one = work[args[begin]]
    if op == MAX:
        for i in range(lanes):
            result[i] = one[i]
        for k in range(begin + 1, end):
            one = work[args[k]]
            for i in range(lanes):
                result[i] = machine_max(result[i], one[i])
    elif op == MIN:
        for i in range(lanes):
            result[i] = one[i]
        for k in range(begin + 1, end):
            one = work[args[k]]
            for i in range(lanes):
                result[i] = machine_min(result[i], one[i])
    elif op == MAXMIN:
        two = work[args[begin + 1]]
        for i in range(lanes):
            result[i] = machine_min(one[i], two[i])
        for k in range(
            begin + 2, end - 2, 4
        ):  # two pairs at a time: the result is read half as often
            one, two, three, four = _rows(work, args, k)
            for i in range(lanes):
                result[i] = machine_max(
                    machine_max(result[i], machine_min(one[i], two[i])),
                    machine_min(three[i], four[i]),
                )
        if (end - begin) % 4 == 0:
            one, two = work[args[end - 2]], work[args[end - 1]]
            for i in range(lanes):
                result[i] = machine_max(result[i], machine_min(one[i], two[i]))
    else:
        two = work[args[begin + 1]]
        for i in range(lanes):
            result[i] = machine_max(one[i], two[i])
        for k in range(begin + 2, end - 2, 4):
            one, two, three, four = _rows(work, args, k)
            for i in range(lanes):
                result[i] = machine_min(
                    machine_min(result[i], machine_max(one[i], two[i])),
                    machine_max(three[i], four[i]),
                )
        if (end - begin) % 4 == 0:
            one, two = work[args[end - 2]], work[args[end - 1]]
            for i in range(lanes):
                result[i] = machine_min(result[i], machine_max(one[i], two[i]))


@numba.njit(inline="always")
def _checked(degree):
    """Return the degree, or 2 iff it is none (NaN fails the comparison): then the maximum is 2."""
    return degree if (degree >= 0.0) & (degree <= 1.0) else 2.0


@compiled(types.int64(GIVEN, types.int64, types.int64, TABLE, types.int64, INTS, _NUMBERS))
def turn(x, first, lanes, work, base, bounds, least):
    """Copy samples ``first ..`` of `x` into the rows of `work` from `base` on, a row a column.

    Returns the first lane with an input that is no distribution, or is below the `least` height
    that is asked of it, or `lanes`.
    """
    bad = lanes
    even = lanes - lanes % 4
    for i in range(0, even, 4):  # four samples at a time: their rows are read as they lie
        one, two, three, four = x[first + i], x[first + i + 1], x[first + i + 2], x[first + i + 3]
        for a in range(bounds.shape[0] - 1):
            top_1, top_2, top_3, top_4 = 0.0, 0.0, 0.0, 0.0
            for c in range(bounds[a], bounds[a + 1]):
                row = work[base + c]
                row[i] = one[c] + 0.0  # -0.0 becomes 0.0
                row[i + 1] = two[c] + 0.0
                row[i + 2] = three[c] + 0.0
                row[i + 3] = four[c] + 0.0
                top_1 = machine_max(top_1, _checked(one[c]))
                top_2 = machine_max(top_2, _checked(two[c]))
                top_3 = machine_max(top_3, _checked(three[c]))
                top_4 = machine_max(top_4, _checked(four[c]))
            low = machine_min(machine_min(top_1, top_2), machine_min(top_3, top_4))
            high = machine_max(machine_max(top_1, top_2), machine_max(top_3, top_4))
            if (low < least[a]) | (high > 1.0):
                tops = (top_1, top_2, top_3, top_4)
                for k in range(4):
                    if (tops[k] < least[a]) | (tops[k] > 1.0):
                        bad = min(bad, i + k)
    for i in range(even, lanes):
        for a in range(bounds.shape[0] - 1):
            top = 0.0
            for c in range(bounds[a], bounds[a + 1]):
                work[base + c, i] = x[first + i, c] + 0.0
                top = machine_max(top, _checked(x[first + i, c]))
            if (top < least[a]) | (top > 1.0):
                bad = min(bad, i)
    return bad


@compiled(
    types.int64(GIVEN, INTS, types.int64, types.int64, TABLE, types.int64, INTS, _NUMBERS, _NUMBERS)
)
def _copy(columns, where, first, lanes, work, base, bounds, least, top):
    """Copy samples ``first ..`` of inputs that lie column by column; else as `turn`."""
    bad = lanes
    for a in range(bounds.shape[0] - 1):
        for i in range(lanes):
            top[i] = 0.0
        for c in range(bounds[a], bounds[a + 1]):
            row, given = work[base + c], columns[where[c], first:]
            for i in range(lanes):
                row[i] = given[i] + 0.0  # -0.0 becomes 0.0
                top[i] = machine_max(top[i], _checked(given[i]))
        for i in range(lanes):
            if (top[i] < least[a]) | (top[i] > 1.0):
                bad = min(bad, i)
    return bad


@compiled(types.void(INTS, INTS, INTS, INTS, TABLE, types.int64, TABLE, types.int64))
def _execute(ops, targets, starts, args, work, lanes, out, start):
    """Run the instructions on a block, and store its results from column `start` on."""
    for i in range(ops.shape[0]):
        begin, end = starts[i], starts[i + 1]
        if ops[i] < STORE:
            fold(work, targets[i], lanes, ops[i], args, begin, end)
        else:
            result, value = out[targets[i], start:], work[args[begin]]
            for lane in range(lanes):
                result[lane] = value[lane]


@compiled(types.int64(GIVEN, INTS, types.int64, types.int64, TABLE, *PROGRAM, TABLE))
def run_columns(
    columns, where, begin, end, out, bounds, least, ops, targets, starts, args, constants, work
):
    """Run the program on the samples from `begin` to `end` of ``columns[where]`` (inputs, n).

    Results go to the same columns of `out`. Returns -1, or the first sample found with an input
    whose degrees are not in [0, 1], or whose highest is below its `least`.
    """
    for c in range(constants.shape[0]):
        for i in range(work.shape[1]):
            work[c, i] = constants[c]
    base, top = constants.shape[0], np.empty(work.shape[1])
    for first in range(begin, end, work.shape[1]):
        lanes = min(work.shape[1], end - first)
        bad = _copy(columns, where, first, lanes, work, base, bounds, least, top)
        if bad < lanes:
            return first + bad
        _execute(ops, targets, starts, args, work, lanes, out, first)
    return -1


@compiled(types.int64(GIVEN, TABLE, types.int64, *PROGRAM, TABLE))
def run_blocks(x, out, shift, bounds, least, ops, targets, starts, args, constants, work):
    """Run the program on all samples of `x` (n, inputs), a block of ``work.shape[1]`` at a time.

    Results go to ``out[:, shift:shift + n]``. Returns -1, or the row of the first sample found
    with an input whose degrees are not in [0, 1], or whose highest is below its `least`.
    """
    for c in range(constants.shape[0]):
        for i in range(work.shape[1]):
            work[c, i] = constants[c]
    base = constants.shape[0]
    for first in range(0, x.shape[0], work.shape[1]):
        lanes = min(work.shape[1], x.shape[0] - first)
        bad = turn(x, first, lanes, work, base, bounds, least)
        if bad < lanes:
            return first + bad
        _execute(ops, targets, starts, args, work, lanes, out, shift + first)
    return -1


@compiled(types.int64(_GIVEN_ROW, _NUMBERS, *PROGRAM, _NUMBERS))
def run_one(x, out, bounds, least, ops, targets, starts, args, constants, work):
    """Run the program on one sample: as `run_blocks`, without the inner loops."""
    base = constants.shape[0]
    for c in range(base):
        work[c] = constants[c]
    for a in range(bounds.shape[0] - 1):
        top = 0.0
        for c in range(bounds[a], bounds[a + 1]):
            work[base + c] = x[c] + 0.0  # -0.0 becomes 0.0
            top = machine_max(top, _checked(x[c]))
        if (top < least[a]) | (top > 1.0):
            return 0
    for i in range(ops.shape[0]):
        op, begin, end = ops[i], starts[i], starts[i + 1]
        if op == MAX:
            value = work[args[begin]]
            for k in range(begin + 1, end):
                value = machine_max(value, work[args[k]])
        elif op == MIN:
            value = work[args[begin]]
            for k in range(begin + 1, end):
                value = machine_min(value, work[args[k]])
        elif op == MAXMIN:
            value = machine_min(work[args[begin]], work[args[begin + 1]])
            for k in range(begin + 2, end - 2, 4):
                one = machine_min(work[args[k]], work[args[k + 1]])
                value = machine_max(
                    value, machine_max(one, machine_min(work[args[k + 2]], work[args[k + 3]]))
                )
            if (end - begin) % 4 == 0:
                value = machine_max(value, machine_min(work[args[end - 2]], work[args[end - 1]]))
        elif op == MINMAX:
            value = machine_max(work[args[begin]], work[args[begin + 1]])
            for k in range(begin + 2, end, 2):
                value = machine_min(value, machine_max(work[args[k]], work[args[k + 1]]))
        else:
            out[targets[i]] = work[args[begin]]
            continue
        work[targets[i]] = value
    return -1
