"""The compiled loops of gradients: a program of min and max, run forward and then backward.

Importing this module compiles them, or loads them from Numba's cache on disk.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
import numba
from numba.core import types

from pinesy._common.jit import compiled
from pinesy.engine.kernels import (
    GIVEN,
    INTS,
    MAX,
    MAXMIN,
    MIN,
    PROGRAM,
    STORE,
    TABLE,
    fold,
    turn,
)


@numba.njit(inline="always")
def _beats(a, b, sign):
    """Tell whether `a` is attained rather than `b`: larger if the sign is 1, smaller if -1."""
    return sign * a > sign * b


@compiled("void(float64[:, ::1], float64[:, ::1], int64, int64, uint32[::1], int64, int64)")
def _unfold_plain(work, grads, target, lanes, args, begin, end):
    """Hand the gradient of a min or max to the operands that attain it, in equal shares."""
    for i in range(lanes):
        given = grads[target, i]
        if given == 0.0:
            continue
        value, ties = work[target, i], 0
        for k in range(begin, end):
            ties += work[args[k], i] == value
        for k in range(begin, end):
            if work[args[k], i] == value:
                grads[args[k], i] += given / ties


@numba.njit(inline="always")
def _inner(a, b, sign):
    return a if _beats(a, b, sign) else b


_UNFOLD = "void(float64[:, ::1], float64[:, ::1], int64, int64, float64, uint32[::1], int64, int64)"


@compiled(_UNFOLD)
def _unfold_pairs(work, grads, target, lanes, sign, args, begin, end):
    """Hand on the gradient of an operation on pairs; `sign` is 1 if the inner one is max.

    Pairs that attain the value share its gradient; in a pair, operands that attain it do.
    """
    for i in range(lanes):
        given = grads[target, i]
        if given == 0.0:
            continue
        value, ties = work[target, i], 0
        for k in range(begin, end, 2):
            ties += _inner(work[args[k], i], work[args[k + 1], i], sign) == value
        share = given / ties
        for k in range(begin, end, 2):
            one, two = work[args[k], i], work[args[k + 1], i]
            if _inner(one, two, sign) != value:
                continue
            if one == two:
                grads[args[k], i] += share / 2
                grads[args[k + 1], i] += share / 2
            elif _beats(one, two, sign):
                grads[args[k], i] += share
            else:
                grads[args[k + 1], i] += share


@compiled(types.void(GIVEN, types.int64, types.int64, INTS, INTS, INTS, INTS, TABLE, TABLE))
def _unfold(given, first, lanes, ops, targets, starts, args, work, grads):
    """Go back through the program, from the gradients of the outputs to those of all values."""
    grads[:, :] = 0.0
    for i in range(ops.shape[0] - 1, -1, -1):
        begin, end, op = starts[i], starts[i + 1], ops[i]
        if op == STORE:
            for lane in range(lanes):
                grads[args[begin], lane] += given[targets[i], first + lane]
        elif op in (MAX, MIN):
            _unfold_plain(work, grads, targets[i], lanes, args, begin, end)
        else:
            sign = -1.0 if op == MAXMIN else 1.0
            _unfold_pairs(work, grads, targets[i], lanes, sign, args, begin, end)


@compiled(types.void(GIVEN, GIVEN, types.int64, *PROGRAM, TABLE, TABLE, TABLE))
def back_blocks(
    x, given, shift, _bounds, _least, ops, targets, starts, args, constants, work, grads, out
):
    """Set ``out`` (n, inputs) to the gradients of all samples of `x` (n, inputs).

    `given` has the gradient of each output column, samples from `shift` on; `work` and `grads`
    have a row for each value of the program.
    """
    for c in range(constants.shape[0]):
        work[c, :] = constants[c]
    base = constants.shape[0]
    for first in range(0, x.shape[0], work.shape[1]):
        lanes = min(work.shape[1], x.shape[0] - first)
        turn(x, first, lanes, work, base)
        for i in range(ops.shape[0]):
            if ops[i] < STORE:
                fold(work, targets[i], lanes, ops[i], args, starts[i], starts[i + 1])
        _unfold(given, shift + first, lanes, ops, targets, starts, args, work, grads)
        for lane in range(lanes):
            for c in range(x.shape[1]):
                out[first + lane, c] = grads[base + c, lane]
