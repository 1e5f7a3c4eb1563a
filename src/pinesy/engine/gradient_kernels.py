"""The compiled loops of gradients: a program of min and max, run forward and then backward.

Importing this module loads Numba.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from typing import Any

import numba
from numba.core import types

from pinesy._common.jit import compiled
from pinesy.engine.kernels import GIVEN, INTS, MAXMIN, NUMBERS, STORE, TABLE, fold

CONSTANTS = types.Array(types.float64, 1, "C", readonly=True)
#: References to arrays are not counted, as in `pinesy.engine.kernels`.
OPTIONS: Any = {"_nrt": False}
#: A loop that kernels call.
loop: Any = numba.njit(error_model="numpy", **OPTIONS)
_inlined: Any = numba.njit(inline="always", **OPTIONS)
#: What `Segments.program` gives.
SEGMENTS = (*[INTS] * 7, types.int64)


@_inlined
def _best(a, b, sign):
    """Return the larger one if the sign is 1, the smaller one if it is -1."""
    return a if sign * a > sign * b else b


@_inlined
def count_ties(work, target, lanes, ties, op, args, begin, end):
    """Count the operands, or pairs of operands, that attain the value of an instruction."""
    for i in range(lanes):
        ties[i] = 0.0
    if op < MAXMIN:
        for k in range(begin, end):
            one = args[k]
            for i in range(lanes):
                ties[i] += 1.0 if work[one, i] == work[target, i] else 0.0
    else:
        sign = -1.0 if op == MAXMIN else 1.0
        for k in range(begin, end, 2):
            one, two = args[k], args[k + 1]
            for i in range(lanes):
                best = _best(work[one, i], work[two, i], sign)
                ties[i] += 1.0 if best == work[target, i] else 0.0


@loop
def _unfold(work, grads, target, lanes, share, op, args, begin, end):
    """Hand the gradient of an instruction to the operands that attain it, in equal shares.

    Pairs that attain the value share its gradient; in a pair, operands that attain it do.
    """
    count_ties(work, target, lanes, share, op, args, begin, end)
    for i in range(lanes):
        share[i] = grads[target, i] / share[i]
    if op < MAXMIN:
        for k in range(begin, end):
            one = args[k]
            for i in range(lanes):
                grads[one, i] += share[i] if work[one, i] == work[target, i] else 0.0
    else:
        sign = -1.0 if op == MAXMIN else 1.0
        for k in range(begin, end):
            one, two = args[k], args[begin + ((k - begin) ^ 1)]
            for i in range(lanes):
                value = work[target, i]
                part = 0.5 * share[i] if work[one, i] == work[two, i] else share[i]
                attains = (work[one, i] == value) & (sign * work[two, i] <= sign * value)
                grads[one, i] += part if attains else 0.0


@loop
def load(x, first, lanes, constants, loads, begin, end, work, row):
    """Bring constants, and columns of the samples from `first` on, into the rows from `row` on."""
    n = constants.shape[0]
    for k in range(begin, end):
        if loads[k] < n:
            for i in range(lanes):
                work[row + k - begin, i] = constants[loads[k]]
        else:
            for i in range(lanes):
                work[row + k - begin, i] = x[first + i, loads[k] - n]


@loop
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


@loop
def _make(begin, end, ops, targets, starts, args, work, lanes):
    """Compute the values of some instructions."""
    for k in range(begin, end):
        if ops[k] < STORE:
            fold(work, targets[k], lanes, ops[k], args, starts[k], starts[k + 1])


@loop
def _unmake(begin, end, ops, targets, starts, args, work, grads, lanes, first, given, share):
    """Go back through some instructions, from gradients of results to those of operands."""
    for k in range(end - 1, begin - 1, -1):
        first_arg = starts[k]
        if ops[k] < STORE:
            _unfold(work, grads, targets[k], lanes, share, ops[k], args, first_arg, starts[k + 1])
        else:
            row = args[first_arg]
            for i in range(lanes):
                grads[row, i] += given[targets[k], first + i]


@compiled(
    types.void(
        GIVEN,
        GIVEN,
        types.int64,
        CONSTANTS,
        types.boolean[::1],
        *SEGMENTS,
        *[TABLE] * 3,
        NUMBERS,
        NUMBERS,
    ),
    **OPTIONS,
)
def back_blocks(
    x,
    given,
    shift,
    constants,
    exports,
    cuts,
    load_starts,
    loads,
    ops,
    targets,
    starts,
    args,
    n_kept,
    work,
    grads,
    out,
    sums,
    share,
):
    """Add to ``out`` (n, inputs) the gradients of all samples of `x` (n, inputs).

    `given` has the gradient of each output column, samples from `shift` on. `work` and `grads`
    have the rows of `Segments`, the first `n_kept` for values that later segments use. To
    ``sums`` are added the gradients of the constants, unless it is empty. `share` has room for
    a block.
    """
    n = cuts.shape[0] - 1
    for first in range(0, x.shape[0], work.shape[1]):
        lanes = min(work.shape[1], x.shape[0] - first)
        for s in range(n):
            if exports[s]:
                begin, end = load_starts[s], load_starts[s + 1]
                load(x, first, lanes, constants, loads, begin, end, work, n_kept)
                _make(cuts[s], cuts[s + 1], ops, targets, starts, args, work, lanes)
        _clear(grads, 0, n_kept, lanes)
        for s in range(n - 1, -1, -1):
            begin, end = load_starts[s], load_starts[s + 1]
            load(x, first, lanes, constants, loads, begin, end, work, n_kept)
            _make(cuts[s], cuts[s + 1], ops, targets, starts, args, work, lanes)
            _clear(grads, n_kept, grads.shape[0], lanes)
            _unmake(
                cuts[s],
                cuts[s + 1],
                ops,
                targets,
                starts,
                args,
                work,
                grads,
                lanes,
                shift + first,
                given,
                share,
            )
            _unload(grads, n_kept, loads, begin, end, first, lanes, out, sums, constants.shape[0])
