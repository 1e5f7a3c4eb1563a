"""Numba kernels of inference: a program of min and max over blocks of samples.

Importing this module loads Numba, so only `run` and the kernels of derivatives import it, when
first needed. Loops assign single numbers, not slices: Numba would compile the error of a wrong
shape, which takes seconds. `kernels_of` returns the kernels of a dtype.
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
from pinesy.engine.simd_kernels import (
    ScalarIndex,
    load_operand,
    mark_invalid,
    store_vector,
    tile_size,
    transpose_tile,
    vector_size,
)

#: The last rows of scratch: the lowest heights and highest degrees of `_first_invalid`.
EXTRA_ROWS = 2

#: Floats from here on have no fraction.
_NO_FRACTION = 2.0**52

TABLE = types.float64[:, ::1]
INTS = types.uint32[::1]
READONLY_TABLE = types.Array(types.float64, 2, "C", readonly=True)
NUMBERS = types.float64[::1]

#: No reference counts of arrays, which would take longer than an instruction: callers hold them.
NO_COUNTS: Any = {"_nrt": False}
#: Functions that kernels call.
_inner: Any = numba.njit(**NO_COUNTS)
inlined: Any = numba.njit(inline="always", **NO_COUNTS)


# --- instructions --------------------------------------------------------------------------------


@inlined
def _reduce(work, op, args, begin, end, i):
    """Return ``op(work[args[begin:end], i])``: a vector from sample `i` on, or a scalar."""
    value = load_operand(work, args[begin], i)
    if op == MAX:
        for k in range(begin + 1, end):
            value = machine_max(value, load_operand(work, args[k], i))
    elif op == MIN:
        for k in range(begin + 1, end):
            value = machine_min(value, load_operand(work, args[k], i))
    elif op == MAXMIN:
        value = machine_min(value, load_operand(work, args[begin + 1], i))
        for k in range(begin + 2, end, 2):
            pair = machine_min(load_operand(work, args[k], i), load_operand(work, args[k + 1], i))
            value = machine_max(value, pair)
    else:
        value = machine_max(value, load_operand(work, args[begin + 1], i))
        for k in range(begin + 2, end, 2):
            pair = machine_max(load_operand(work, args[k], i), load_operand(work, args[k + 1], i))
            value = machine_min(value, pair)
    return value


@_inner
def execute_instruction(work, target, n_samples, op, args, begin, end):
    """Compute one instruction for a block: ``work[target] = op(work[args[begin:end]])``.

    Where rows are long enough, some numbers after the last sample are computed too.
    """
    step = vector_size(work)
    i = 0
    while i < n_samples and i + step <= work.shape[1]:
        store_vector(work, target, i, _reduce(work, op, args, begin, end, i))
        i += step
    while i < n_samples:
        work[target, i] = _reduce(work, op, args, begin, end, ScalarIndex(i))
        i += 1


# --- inputs --------------------------------------------------------------------------------------


@_inner
def transpose_samples(x, first, n_samples, work, base):
    """Copy samples ``first ..`` of `x`, transposed, into the rows of `work` from `base` on."""
    side, last = tile_size(x), x.shape[1] - tile_size(x)
    even = n_samples - n_samples % side if last >= 0 else 0
    for i in range(0, even, side):
        for c in range(0, x.shape[1], side):  # the last tile may overlap the one before
            transpose_tile(x, first + i, min(c, last), work, base + min(c, last), i)
    for i in range(even, n_samples):
        for c in range(x.shape[1]):
            work[base + c, i] = x[first + i, c] + work[ZERO, 0]  # -0.0 becomes 0.0


@_inner
def _copy_samples(columns, where, first, n_samples, work, base):
    """Copy samples ``first ..`` of the input columns ``columns[where]`` into `work`."""
    zero = work[ZERO, 0]
    for c in range(where.shape[0]):
        row, column = work[base + c], columns[where[c], first:]
        for i in range(n_samples):
            row[i] = column[i] + zero


def _to_number(degree, out):
    """Return a degree as a number of the dtype of `out`, rounded."""


@overload(_to_number, inline="always")
def _to_number_of(degree, out):  # noqa: ARG001
    if isinstance(out.dtype, types.Float):
        return lambda degree, out: degree  # noqa: ARG005
    top = float(2**out.dtype.bitwidth - 1)
    # The sum is rounded, to even where it ties.
    return lambda degree, out: (degree * top + _NO_FRACTION) - _NO_FRACTION  # noqa: ARG005


def _round_rows(x, out):
    """Set `out` to the degrees `x` in its dtype; rows with invalid degrees become 0."""
    for i in range(x.shape[0]):
        is_valid = True
        for c in range(x.shape[1]):
            is_degree = (x[i, c] >= 0.0) & (x[i, c] <= 1.0)
            out[i, c] = _to_number(x[i, c] if is_degree else 0.0, out)
            is_valid &= is_degree
        for c in range(0 if is_valid else x.shape[1]):
            out[i, c] = 0


@inlined
def _height_and_maximum(work, base, bounds, min_heights, i):
    """Return the lowest height of the inputs that must be normalised, and the highest degree."""
    low, high = load_operand(work, ONE, i), load_operand(work, ZERO, i)
    for a in range(bounds.shape[0] - 1):
        top = load_operand(work, ZERO, i)
        for c in range(base + bounds[a], base + bounds[a + 1]):
            top = machine_max(top, mark_invalid(load_operand(work, c, i)))
        high = machine_max(high, top)
        if min_heights[a] > 0:
            low = machine_min(low, top)
    return low, high


@_inner
def _first_invalid(work, n_samples, base, bounds, min_heights):
    """Return the first sample with degrees outside of [0, 1], or not normalised; else `n_samples`.

    Only inputs with ``min_heights > 0`` must be normalised.
    """
    lows = work.shape[0] - EXTRA_ROWS
    for i in range(0, n_samples, vector_size(work)):
        low, high = _height_and_maximum(work, base, bounds, min_heights, i)
        store_vector(work, lows, i, low)
        store_vector(work, lows + 1, i, high)
    for i in range(n_samples):
        if (work[lows, i] < work[ONE, i]) | (work[lows + 1, i] > work[ONE, i]):
            return i
    return n_samples


# --- programs ------------------------------------------------------------------------------------


@_inner
def _fill_constants(constants, work):
    for c in range(constants.shape[0]):
        for i in range(work.shape[1]):
            work[c, i] = constants[c]


@_inner
def _execute_block(ops, targets, starts, args, work, n_samples, out, start):
    """Execute all instructions on a block, and store its results from column `start` on."""
    for i in range(ops.shape[0]):
        begin, end = starts[i], starts[i + 1]
        if ops[i] < STORE:
            execute_instruction(work, targets[i], n_samples, ops[i], args, begin, end)
        else:
            row, stored = work[args[begin]], out[targets[i], start:]
            for k in range(n_samples):
                stored[k] = row[k]


def _run_columns(
    columns,
    where,
    begin,
    end,
    out,
    bounds,
    min_heights,
    ops,
    targets,
    starts,
    args,
    constants,
    work,
    n,
):
    """Run the program on the samples from `begin` to `end` of ``columns[where]`` (inputs, samples).

    Results go to the same columns of `out`, `n` samples at a time. Returns -1, or the first invalid
    sample (see `_first_invalid`).
    """
    _fill_constants(constants, work)
    base = constants.shape[0]
    for first in range(begin, end, n):
        n_samples = min(n, end - first)
        _copy_samples(columns, where, first, n_samples, work, base)
        bad = _first_invalid(work, n_samples, base, bounds, min_heights)
        if bad < n_samples:
            return first + bad
        _execute_block(ops, targets, starts, args, work, n_samples, out, first)
    return -1


def _run_blocks(x, out, shift, bounds, min_heights, ops, targets, starts, args, constants, work, n):
    """Run the program on all samples of `x` (samples, inputs), `n` at a time.

    Results go to ``out[:, shift:]``. Returns -1, or the first invalid sample.
    """
    _fill_constants(constants, work)
    base = constants.shape[0]
    for first in range(0, x.shape[0], n):
        n_samples = min(n, x.shape[0] - first)
        transpose_samples(x, first, n_samples, work, base)
        bad = _first_invalid(work, n_samples, base, bounds, min_heights)
        if bad < n_samples:
            return first + bad
        _execute_block(ops, targets, starts, args, work, n_samples, out, shift + first)
    return -1


def _run_sample(x, out, bounds, min_heights, ops, targets, starts, args, constants, work):
    """Run the program on the only sample of `x`, with one column of scratch; return -1, or 0."""
    base, first = constants.shape[0], ScalarIndex(0)
    _fill_constants(constants, work)
    transpose_samples(x, 0, 1, work, base)
    low, high = _height_and_maximum(work, base, bounds, min_heights, first)
    if (low < constants[ONE]) | (high > constants[ONE]):
        return 0
    for i in range(ops.shape[0]):
        begin, end = starts[i], starts[i + 1]
        if ops[i] < STORE:
            work[targets[i], 0] = _reduce(work, ops[i], args, begin, end, first)
        else:
            out[targets[i], 0] = work[args[begin], 0]
    return -1


class Kernels:
    """The kernels of one dtype; each is compiled when it is first called."""

    extra_rows = EXTRA_ROWS

    def __init__(self, dtype: np.dtype[Any]) -> None:
        number, size = numba.from_dtype(dtype), types.int64
        row, table = number[::1], number[:, ::1]
        readonly = types.Array(number, 2, "C", readonly=True)
        program = (INTS, row, INTS, INTS, INTS, INTS, row)
        self.round_rows = compiled(types.void(READONLY_TABLE, table), **NO_COUNTS)(_round_rows)
        self.run_sample = compiled(size(readonly, table, *program, table), **NO_COUNTS)(_run_sample)
        self.run_blocks = compiled(size(readonly, table, size, *program, table, size), **NO_COUNTS)(
            _run_blocks
        )
        self.run_columns = compiled(
            size(readonly, INTS, size, size, table, *program, table, size), **NO_COUNTS
        )(_run_columns)


#: The kernels of a dtype.
kernels_of = cache(Kernels)
