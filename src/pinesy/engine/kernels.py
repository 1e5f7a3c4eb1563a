"""The compiled loops: a program of min and max over blocks of samples, samples contiguous.

Importing this module loads Numba. Only `run` and the kernels of gradients import it, when first
needed, so that importing pinesy does not. No array is assigned to a slice here: Numba would
compile the text of the error that may raise, which takes seconds. Loops do the same.

The loops are written once for all types of numbers; `kernels_of` has those of a type.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,var-annotated"
from functools import cache
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.extending import overload

from pinesy._common.jit import compiled, machine_max, machine_min
from pinesy.engine.circuit import MAX, MAXMIN, MIN, ONE, STORE, ZERO
from pinesy.engine.lane_kernels import (
    Lane,
    checked,
    n_lanes,
    operand,
    square_side,
    store_lanes,
    turn_square,
)

#: Rows of scratch beside those of a program, the last ones: of what `_refused` finds.
EXTRA_ROWS = 2

_NO_FRACTION = 2.0**52

TABLE = types.float64[:, ::1]
INTS = types.uint32[::1]
#: What the caller gives may be read-only.
GIVEN = types.Array(types.float64, 2, "C", readonly=True)
NUMBERS = types.float64[::1]


#: References to arrays are not counted, which would take longer than an instruction: callers hold
#: them.
_OPTIONS: Any = {"_nrt": False}
#: Loops that kernels call.
_inner: Any = numba.njit(**_OPTIONS)
_inlined: Any = numba.njit(inline="always", **_OPTIONS)


# --- instructions --------------------------------------------------------------------------------


@_inlined
def _folded(work, op, args, begin, end, i):
    """Return ``op(work[args[begin:end]])``."""
    value = operand(work, args[begin], i)
    if op == MAX:
        for k in range(begin + 1, end):
            value = machine_max(value, operand(work, args[k], i))
    elif op == MIN:
        for k in range(begin + 1, end):
            value = machine_min(value, operand(work, args[k], i))
    elif op == MAXMIN:
        value = machine_min(value, operand(work, args[begin + 1], i))
        for k in range(begin + 2, end, 2):
            pair = machine_min(operand(work, args[k], i), operand(work, args[k + 1], i))
            value = machine_max(value, pair)
    else:
        value = machine_max(value, operand(work, args[begin + 1], i))
        for k in range(begin + 2, end, 2):
            pair = machine_max(operand(work, args[k], i), operand(work, args[k + 1], i))
            value = machine_min(value, pair)
    return value


@_inner
def fold(work, target, lanes, op, args, begin, end):
    """Compute one instruction for a block: ``work[target] = op(work[args[begin:end]])``.

    Where rows are long enough, that is done for some numbers behind the last lane too.
    """
    step = n_lanes(work)
    i = 0
    while i < lanes and i + step <= work.shape[1]:
        store_lanes(work, target, i, _folded(work, op, args, begin, end, i))
        i += step
    while i < lanes:
        work[target, i] = _folded(work, op, args, begin, end, Lane(i))
        i += 1


# --- inputs --------------------------------------------------------------------------------------


@_inner
def turn(x, first, lanes, work, base):
    """Copy samples ``first ..`` of `x` into the rows of `work` from `base` on, a row a column."""
    side = square_side(x)
    even, wide = lanes - lanes % side, x.shape[1] - x.shape[1] % side
    for i in range(0, even, side):
        for c in range(0, wide, side):
            turn_square(x, first + i, c, work, base + c, i)
    for i in range(lanes):
        for c in range(wide if i < even else 0, x.shape[1]):
            work[base + c, i] = x[first + i, c] + work[ZERO, 0]  # -0.0 becomes 0.0


@_inner
def _copy(columns, where, first, lanes, work, base):
    """Copy samples ``first ..`` of inputs that lie column by column; else as `turn`."""
    zero = work[ZERO, 0]
    for c in range(where.shape[0]):
        row, column = work[base + c], columns[where[c], first:]
        for i in range(lanes):
            row[i] = column[i] + zero


def _to_whole(degree, out):
    """Return the number that `out` shall hold of a degree."""


@overload(_to_whole, inline="always")
def _to_whole_of(degree, out):  # noqa: ARG001
    if isinstance(out.dtype, types.Float):
        return lambda degree, out: degree  # noqa: ARG005
    top = float(2**out.dtype.bitwidth - 1)
    # Numbers from 2^52 on have no fraction, so a sum with it is rounded (to even where it ties).
    return lambda degree, out: (degree * top + _NO_FRACTION) - _NO_FRACTION  # noqa: ARG005


def _round_rows(x, out):
    """Set `out` to the degrees `x` in its type of numbers; rows with others become 0."""
    for i in range(x.shape[0]):
        good = True
        for c in range(x.shape[1]):
            is_degree = (x[i, c] >= 0.0) & (x[i, c] <= 1.0)
            out[i, c] = _to_whole(x[i, c] if is_degree else 0.0, out)
            good &= is_degree
        for c in range(0 if good else x.shape[1]):
            out[i, c] = 0


@_inlined
def _extremes(work, base, bounds, least, i):
    """Return the lowest height of the inputs that must be normalised, and the highest degree."""
    low, high = operand(work, ONE, i), operand(work, ZERO, i)
    for a in range(bounds.shape[0] - 1):
        top = operand(work, ZERO, i)
        for c in range(base + bounds[a], base + bounds[a + 1]):
            top = machine_max(top, checked(operand(work, c, i)))
        high = machine_max(high, top)
        if least[a] > 0:
            low = machine_min(low, top)
    return low, high


@_inner
def _refused(work, lanes, base, bounds, least):
    """Return the first lane whose inputs are not in [0, 1], or not normalised though they must be.

    `lanes` if there is none.
    """
    lows = work.shape[0] - EXTRA_ROWS
    for i in range(0, lanes, n_lanes(work)):
        low, high = _extremes(work, base, bounds, least, i)
        store_lanes(work, lows, i, low)
        store_lanes(work, lows + 1, i, high)
    for i in range(lanes):
        if (work[lows, i] < work[ONE, i]) | (work[lows + 1, i] > work[ONE, i]):
            return i
    return lanes


# --- programs ------------------------------------------------------------------------------------


@_inner
def _fill(constants, work):
    for c in range(constants.shape[0]):
        for i in range(work.shape[1]):
            work[c, i] = constants[c]


@_inner
def _execute(ops, targets, starts, args, work, lanes, out, start):
    """Run the instructions on a block, and store its results from column `start` on."""
    for i in range(ops.shape[0]):
        begin, end = starts[i], starts[i + 1]
        if ops[i] < STORE:
            fold(work, targets[i], lanes, ops[i], args, begin, end)
        else:
            row, stored = work[args[begin]], out[targets[i], start:]
            for k in range(lanes):
                stored[k] = row[k]


def _run_columns(
    columns, where, begin, end, out, bounds, least, ops, targets, starts, args, constants, work, n
):
    """Run the program on the samples from `begin` to `end` of ``columns[where]`` (inputs, samples).

    Results go to the same columns of `out`, `n` samples at a time. Returns -1, or the first sample
    found with an input whose degrees are not in [0, 1], or whose highest is below its `least`.
    """
    _fill(constants, work)
    base = constants.shape[0]
    for first in range(begin, end, n):
        lanes = min(n, end - first)
        _copy(columns, where, first, lanes, work, base)
        bad = _refused(work, lanes, base, bounds, least)
        if bad < lanes:
            return first + bad
        _execute(ops, targets, starts, args, work, lanes, out, first)
    return -1


def _run_blocks(x, out, shift, bounds, least, ops, targets, starts, args, constants, work, n):
    """Run the program on all samples of `x` (samples, inputs), `n` at a time.

    Results go to ``out[:, shift:]``. Returns as `_run_columns`.
    """
    _fill(constants, work)
    base = constants.shape[0]
    for first in range(0, x.shape[0], n):
        lanes = min(n, x.shape[0] - first)
        turn(x, first, lanes, work, base)
        bad = _refused(work, lanes, base, bounds, least)
        if bad < lanes:
            return first + bad
        _execute(ops, targets, starts, args, work, lanes, out, shift + first)
    return -1


def _run_one(x, out, bounds, least, ops, targets, starts, args, constants, work):
    """Run the program on the only sample of `x`, with one column of scratch. Returns as above."""
    base, only = constants.shape[0], Lane(0)
    _fill(constants, work)
    turn(x, 0, 1, work, base)
    low, high = _extremes(work, base, bounds, least, only)
    if (low < constants[ONE]) | (high > constants[ONE]):
        return 0
    for i in range(ops.shape[0]):
        begin, end = starts[i], starts[i + 1]
        if ops[i] < STORE:
            work[targets[i], 0] = _folded(work, ops[i], args, begin, end, only)
        else:
            out[targets[i], 0] = work[args[begin], 0]
    return -1


class Kernels:
    """The loops for one type of numbers; each is compiled when it is first called."""

    extra_rows = EXTRA_ROWS

    def __init__(self, dtype: np.dtype[Any]) -> None:
        number, size = numba.from_dtype(dtype), types.int64
        row, table = number[::1], number[:, ::1]
        readonly = types.Array(number, 2, "C", readonly=True)
        program = (INTS, row, INTS, INTS, INTS, INTS, row)
        self.round_rows = compiled(types.void(GIVEN, table), **_OPTIONS)(_round_rows)
        self.run_one = compiled(size(readonly, table, *program, table), **_OPTIONS)(_run_one)
        self.run_blocks = compiled(size(readonly, table, size, *program, table, size), **_OPTIONS)(
            _run_blocks
        )
        self.run_columns = compiled(
            size(readonly, INTS, size, size, table, *program, table, size), **_OPTIONS
        )(_run_columns)


#: The kernels of a type of numbers.
kernels_of = cache(Kernels)
