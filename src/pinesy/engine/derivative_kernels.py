"""Numba kernels of derivatives: reverse mode (gradients) and forward mode (tangents).

Importing this module loads Numba.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from typing import Any

import numba
from numba.core import types

from pinesy._common.jit import compiled
from pinesy.engine.circuit import MAXMIN, STORE
from pinesy.engine.kernels import (
    INTS,
    NO_COUNTS,
    NUMBERS,
    READONLY_TABLE,
    TABLE,
    execute_instruction,
    inlined,
)

_CONSTANTS = types.Array(types.float64, 1, "C", readonly=True)
#: A function that kernels call.
_inner: Any = numba.njit(error_model="numpy", **NO_COUNTS)
#: `Segments.program`: cuts, load_starts, loads, ops, targets, starts, args, n_kept.
_SEGMENTS = types.Tuple((*[INTS] * 7, types.int64))


@inlined
def _count_ties(work, target, n_samples, ties, op, args, begin, end):
    """Count the operands, or pairs of operands, that attain the value of an instruction."""
    for i in range(n_samples):
        ties[i] = 0.0
    if op < MAXMIN:
        for k in range(begin, end):
            left = args[k]
            for i in range(n_samples):
                ties[i] += 1.0 if work[left, i] == work[target, i] else 0.0
    else:
        sign = -1.0 if op == MAXMIN else 1.0
        for k in range(begin, end, 2):
            left, right = args[k], args[k + 1]
            for i in range(n_samples):
                a, b = work[left, i], work[right, i]
                pair = a if sign * a > sign * b else b
                ties[i] += 1.0 if pair == work[target, i] else 0.0


@_inner
def _backpropagate_instruction(work, grads, target, n_samples, share, op, args, begin, end):
    """Add the gradient of an instruction to its operands that attain its value, in equal shares.

    Pairs that attain the value share its gradient; in a pair, the operands that attain it.
    """
    _count_ties(work, target, n_samples, share, op, args, begin, end)
    for i in range(n_samples):
        share[i] = grads[target, i] / share[i]
    if op < MAXMIN:
        for k in range(begin, end):
            left = args[k]
            for i in range(n_samples):
                grads[left, i] += share[i] if work[left, i] == work[target, i] else 0.0
    else:
        sign = -1.0 if op == MAXMIN else 1.0
        for k in range(begin, end):
            left, right = args[k], args[begin + ((k - begin) ^ 1)]
            for i in range(n_samples):
                value = work[target, i]
                part = 0.5 * share[i] if work[left, i] == work[right, i] else share[i]
                attains = (work[left, i] == value) & (sign * work[right, i] <= sign * value)
                grads[left, i] += part if attains else 0.0


@_inner
def _load_segment(x, first, n_samples, constants, segments, s, work):
    """Copy the constants and input columns of segment `s` to its rows, samples from `first` on."""
    _, load_starts, loads, _, _, _, _, row = segments
    begin, n = load_starts[s], constants.shape[0]
    for k in range(begin, load_starts[s + 1]):
        if loads[k] < n:
            for i in range(n_samples):
                work[row + k - begin, i] = constants[loads[k]]
        else:
            for i in range(n_samples):
                work[row + k - begin, i] = x[first + i, loads[k] - n]


@_inner
def _add_gradients(grads, row, loads, begin, end, first, n_samples, out, sums, n):
    """Add the gradients of a segment's inputs to ``out``, and of its constants to their sums."""
    for k in range(begin, end):
        if loads[k] >= n:
            for i in range(n_samples):
                out[first + i, loads[k] - n] += grads[row + k - begin, i]
        elif sums.shape[0] > 0:
            for i in range(n_samples):
                sums[loads[k]] += grads[row + k - begin, i]


@inlined
def _clear(table, begin, end, n_samples):
    for row in range(begin, end):
        for i in range(n_samples):
            table[row, i] = 0.0


@_inner
def _execute_segment(segments, s, work, n_samples):
    """Execute the instructions of segment `s`."""
    cuts, _, _, ops, targets, starts, args, _ = segments
    for k in range(cuts[s], cuts[s + 1]):
        if ops[k] < STORE:
            execute_instruction(work, targets[k], n_samples, ops[k], args, starts[k], starts[k + 1])


@_inner
def _backpropagate_segment(segments, s, work, grads, n_samples, first, out_grads, share):
    """Backpropagate through segment `s`, from gradients of results to gradients of operands."""
    cuts, _, _, ops, targets, starts, args, _ = segments
    for k in range(cuts[s + 1] - 1, cuts[s] - 1, -1):
        begin, end = starts[k], starts[k + 1]
        if ops[k] < STORE:
            _backpropagate_instruction(
                work, grads, targets[k], n_samples, share, ops[k], args, begin, end
            )
        else:
            row = args[begin]
            for i in range(n_samples):
                grads[row, i] += out_grads[targets[k], first + i]


@compiled(
    types.void(
        READONLY_TABLE,
        READONLY_TABLE,
        types.int64,
        _CONSTANTS,
        types.boolean[::1],
        _SEGMENTS,
        *[TABLE] * 3,
        NUMBERS,
        NUMBERS,
    ),
    **NO_COUNTS,
)
def backpropagate_blocks(
    x, out_grads, shift, constants, exports, segments, work, grads, out, sums, share
):
    """Add to ``out`` (n, inputs) the gradients of all samples of `x` (n, inputs).

    `out_grads` has the gradient of each output column, samples from `shift` on. `work` and `grads`
    have the rows of `Segments`, the first `n_kept` for values that later segments use. To
    ``sums`` are added the gradients of the constants, unless it is empty. `share` has as
    many numbers as a block.
    """
    cuts, load_starts, loads, n_kept = segments[0], segments[1], segments[2], segments[7]
    n = cuts.shape[0] - 1
    for first in range(0, x.shape[0], work.shape[1]):
        n_samples = min(work.shape[1], x.shape[0] - first)
        for s in range(n):
            if exports[s]:
                _load_segment(x, first, n_samples, constants, segments, s, work)
                _execute_segment(segments, s, work, n_samples)
        _clear(grads, 0, n_kept, n_samples)
        for s in range(n - 1, -1, -1):
            begin, end = load_starts[s], load_starts[s + 1]
            _load_segment(x, first, n_samples, constants, segments, s, work)
            _execute_segment(segments, s, work, n_samples)
            _clear(grads, n_kept, grads.shape[0], n_samples)
            _backpropagate_segment(
                segments, s, work, grads, n_samples, shift + first, out_grads, share
            )
            _add_gradients(
                grads, n_kept, loads, begin, end, first, n_samples, out, sums, constants.shape[0]
            )


@_inner
def _differentiate_instruction(work, tangents, target, n_samples, ties, op, args, begin, end):
    """Set the tangent of an instruction to the mean of those of its operands that attain its value.

    In a pair that attains it, likewise the mean of its operands that do.
    """
    _count_ties(work, target, n_samples, ties, op, args, begin, end)
    for i in range(n_samples):
        tangents[target, i] = 0.0
    sign = -1.0 if op == MAXMIN else 1.0
    for k in range(begin, end):
        left = args[k]
        right = left if op < MAXMIN else args[begin + ((k - begin) ^ 1)]
        half = 1.0 if op < MAXMIN else 0.5
        for i in range(n_samples):
            value = work[target, i]
            part = half if work[left, i] == work[right, i] else 1.0
            attains = (work[left, i] == value) & (sign * work[right, i] <= sign * value)
            tangents[target, i] += part * tangents[left, i] if attains else 0.0
    for i in range(n_samples):
        tangents[target, i] /= ties[i]


@compiled(
    types.void(
        READONLY_TABLE,
        READONLY_TABLE,
        types.int64,
        _CONSTANTS,
        _CONSTANTS,
        _SEGMENTS,
        *[TABLE] * 3,
        NUMBERS,
    ),
    **NO_COUNTS,
)
def differentiate_blocks(x, dx, shift, constants, dconstants, segments, work, tangents, out, ties):
    """Set ``out[:, shift:]`` to the tangents of the outputs for tangents `dx` of the inputs `x`.

    `ties` has as many numbers as a block; see `backpropagate_blocks` for the other arguments.
    """
    cuts, _, _, ops, targets, starts, args, _ = segments
    for first in range(0, x.shape[0], work.shape[1]):
        n_samples = min(work.shape[1], x.shape[0] - first)
        for s in range(cuts.shape[0] - 1):
            _load_segment(x, first, n_samples, constants, segments, s, work)
            _load_segment(dx, first, n_samples, dconstants, segments, s, tangents)
            for k in range(cuts[s], cuts[s + 1]):
                begin, end = starts[k], starts[k + 1]
                if ops[k] < STORE:
                    execute_instruction(work, targets[k], n_samples, ops[k], args, begin, end)
                    _differentiate_instruction(
                        work, tangents, targets[k], n_samples, ties, ops[k], args, begin, end
                    )
                else:
                    for i in range(n_samples):
                        out[targets[k], shift + first + i] = tangents[args[begin], i]
