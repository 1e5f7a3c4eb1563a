"""The compiled loops of derivatives: a program of min and max, run forward and then backward.

Or forward alone, with the changes of its values beside them. Importing this module loads Numba.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from typing import Any

import numba
from numba.core import types

from pinesy._common.jit import compiled
from pinesy.engine.circuit import MAXMIN, STORE
from pinesy.engine.kernels import GIVEN, INTS, NUMBERS, TABLE, fold

_CONSTANTS = types.Array(types.float64, 1, "C", readonly=True)
#: References to arrays are not counted, as in `pinesy.engine.kernels`.
_OPTIONS: Any = {"_nrt": False}
#: A loop that kernels call.
_loop: Any = numba.njit(error_model="numpy", **_OPTIONS)
_inlined: Any = numba.njit(inline="always", **_OPTIONS)
#: What `Segments.program` gives: cuts, load_starts, loads, ops, targets, starts, args, n_kept.
_SEGMENTS = types.Tuple((*[INTS] * 7, types.int64))


@_inlined
def _best(a, b, sign):
    """Return the larger one if the sign is 1, the smaller one if it is -1."""
    return a if sign * a > sign * b else b


@_inlined
def _count_ties(work, target, lanes, ties, op, args, begin, end):
    """Count the operands, or pairs of operands, that attain the value of an instruction."""
    for i in range(lanes):
        ties[i] = 0.0
    if op < MAXMIN:
        for k in range(begin, end):
            left = args[k]
            for i in range(lanes):
                ties[i] += 1.0 if work[left, i] == work[target, i] else 0.0
    else:
        sign = -1.0 if op == MAXMIN else 1.0
        for k in range(begin, end, 2):
            left, right = args[k], args[k + 1]
            for i in range(lanes):
                best = _best(work[left, i], work[right, i], sign)
                ties[i] += 1.0 if best == work[target, i] else 0.0


@_loop
def _unfold(work, grads, target, lanes, share, op, args, begin, end):
    """Hand the gradient of an instruction to the operands that attain it, in equal shares.

    Pairs that attain the value share its gradient; in a pair, operands that attain it do.
    """
    _count_ties(work, target, lanes, share, op, args, begin, end)
    for i in range(lanes):
        share[i] = grads[target, i] / share[i]
    if op < MAXMIN:
        for k in range(begin, end):
            left = args[k]
            for i in range(lanes):
                grads[left, i] += share[i] if work[left, i] == work[target, i] else 0.0
    else:
        sign = -1.0 if op == MAXMIN else 1.0
        for k in range(begin, end):
            left, right = args[k], args[begin + ((k - begin) ^ 1)]
            for i in range(lanes):
                value = work[target, i]
                part = 0.5 * share[i] if work[left, i] == work[right, i] else share[i]
                attains = (work[left, i] == value) & (sign * work[right, i] <= sign * value)
                grads[left, i] += part if attains else 0.0


@_loop
def _load(x, first, lanes, constants, loads, begin, end, work, row):
    """Bring constants, and columns of the samples from `first` on, into the rows from `row` on."""
    n = constants.shape[0]
    for k in range(begin, end):
        if loads[k] < n:
            for i in range(lanes):
                work[row + k - begin, i] = constants[loads[k]]
        else:
            for i in range(lanes):
                work[row + k - begin, i] = x[first + i, loads[k] - n]


@_loop
def _unload(grads, row, loads, begin, end, first, lanes, out, sums, n):
    """Add the gradients of a segment's inputs to ``out``, and of its constants to their sums."""
    for k in range(begin, end):
        if loads[k] >= n:
            for i in range(lanes):
                out[first + i, loads[k] - n] += grads[row + k - begin, i]
        elif sums.shape[0] > 0:
            for i in range(lanes):
                sums[loads[k]] += grads[row + k - begin, i]


@_inlined
def _clear(table, begin, end, lanes):
    for row in range(begin, end):
        for i in range(lanes):
            table[row, i] = 0.0


@_inlined
def _load_segment(x, first, lanes, constants, segments, s, work):
    """Bring what a segment uses into its rows."""
    load_starts, loads, row = segments[1], segments[2], segments[7]
    _load(x, first, lanes, constants, loads, load_starts[s], load_starts[s + 1], work, row)


@_loop
def _make(segments, s, work, lanes):
    """Compute the values of a segment."""
    cuts, _, _, ops, targets, starts, args, _ = segments
    for k in range(cuts[s], cuts[s + 1]):
        if ops[k] < STORE:
            fold(work, targets[k], lanes, ops[k], args, starts[k], starts[k + 1])


@_loop
def _unmake(segments, s, work, grads, lanes, first, out_grads, share):
    """Go back through a segment, from gradients of results to those of operands."""
    cuts, _, _, ops, targets, starts, args, _ = segments
    for k in range(cuts[s + 1] - 1, cuts[s] - 1, -1):
        begin, end = starts[k], starts[k + 1]
        if ops[k] < STORE:
            _unfold(work, grads, targets[k], lanes, share, ops[k], args, begin, end)
        else:
            row = args[begin]
            for i in range(lanes):
                grads[row, i] += out_grads[targets[k], first + i]


@compiled(
    types.void(
        GIVEN,
        GIVEN,
        types.int64,
        _CONSTANTS,
        types.boolean[::1],
        _SEGMENTS,
        *[TABLE] * 3,
        NUMBERS,
        NUMBERS,
    ),
    **_OPTIONS,
)
def back_blocks(x, out_grads, shift, constants, exports, segments, work, grads, out, sums, share):
    """Add to ``out`` (n, inputs) the gradients of all samples of `x` (n, inputs).

    `out_grads` has the gradient of each output column, samples from `shift` on. `work` and `grads`
    have the rows of `Segments`, the first `n_kept` for values that later segments use. To
    ``sums`` are added the gradients of the constants, unless it is empty. `share` has as
    many numbers as a block.
    """
    cuts, load_starts, loads, n_kept = segments[0], segments[1], segments[2], segments[7]
    n = cuts.shape[0] - 1
    for first in range(0, x.shape[0], work.shape[1]):
        lanes = min(work.shape[1], x.shape[0] - first)
        for s in range(n):
            if exports[s]:
                _load_segment(x, first, lanes, constants, segments, s, work)
                _make(segments, s, work, lanes)
        _clear(grads, 0, n_kept, lanes)
        for s in range(n - 1, -1, -1):
            begin, end = load_starts[s], load_starts[s + 1]
            _load_segment(x, first, lanes, constants, segments, s, work)
            _make(segments, s, work, lanes)
            _clear(grads, n_kept, grads.shape[0], lanes)
            _unmake(segments, s, work, grads, lanes, shift + first, out_grads, share)
            _unload(grads, n_kept, loads, begin, end, first, lanes, out, sums, constants.shape[0])


@_loop
def _push(work, changes, target, lanes, ties, op, args, begin, end):
    """Set the change of an instruction's value to the mean over the operands that attain it.

    Of pairs that attain it, it is the mean over theirs.
    """
    _count_ties(work, target, lanes, ties, op, args, begin, end)
    for i in range(lanes):
        changes[target, i] = 0.0
    sign = -1.0 if op == MAXMIN else 1.0
    for k in range(begin, end):
        left = args[k]
        right = left if op < MAXMIN else args[begin + ((k - begin) ^ 1)]
        half = 1.0 if op < MAXMIN else 0.5
        for i in range(lanes):
            value = work[target, i]
            part = half if work[left, i] == work[right, i] else 1.0
            attains = (work[left, i] == value) & (sign * work[right, i] <= sign * value)
            changes[target, i] += part * changes[left, i] if attains else 0.0
    for i in range(lanes):
        changes[target, i] /= ties[i]


@compiled(
    types.void(GIVEN, GIVEN, types.int64, _CONSTANTS, _CONSTANTS, _SEGMENTS, *[TABLE] * 3, NUMBERS),
    **_OPTIONS,
)
def push_blocks(x, dx, shift, constants, dconstants, segments, work, changes, out, ties):
    """Set ``out[:, shift:]`` to the changes of the outputs for changes `dx` of the inputs `x`.

    `ties` has as many numbers as a block; the rest as in `back_blocks`.
    """
    cuts, _, _, ops, targets, starts, args, _ = segments
    for first in range(0, x.shape[0], work.shape[1]):
        lanes = min(work.shape[1], x.shape[0] - first)
        for s in range(cuts.shape[0] - 1):
            _load_segment(x, first, lanes, constants, segments, s, work)
            _load_segment(dx, first, lanes, dconstants, segments, s, changes)
            for k in range(cuts[s], cuts[s + 1]):
                begin, end = starts[k], starts[k + 1]
                if ops[k] < STORE:
                    fold(work, targets[k], lanes, ops[k], args, begin, end)
                    _push(work, changes, targets[k], lanes, ties, ops[k], args, begin, end)
                else:
                    for i in range(lanes):
                        out[targets[k], shift + first + i] = changes[args[begin], i]
