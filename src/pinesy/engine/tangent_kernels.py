"""The compiled loops of tangents: how the values of a program change with its inputs.

Importing this module loads Numba.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
from numba.core import types

from pinesy._common.jit import compiled
from pinesy.engine.gradient_kernels import CONSTANTS, OPTIONS, SEGMENTS, count_ties, load, loop
from pinesy.engine.kernels import GIVEN, MAXMIN, NUMBERS, STORE, TABLE, fold


@loop
def _push(work, changes, target, lanes, ties, op, args, begin, end):
    """Set the change of an instruction's value to the mean over the operands that attain it.

    Of pairs that attain it, it is the mean over theirs.
    """
    count_ties(work, target, lanes, ties, op, args, begin, end)
    for i in range(lanes):
        changes[target, i] = 0.0
    sign = -1.0 if op == MAXMIN else 1.0
    for k in range(begin, end):
        one = args[k]
        two = one if op < MAXMIN else args[begin + ((k - begin) ^ 1)]
        half = 1.0 if op < MAXMIN else 0.5
        for i in range(lanes):
            value = work[target, i]
            part = half if work[one, i] == work[two, i] else 1.0
            attains = (work[one, i] == value) & (sign * work[two, i] <= sign * value)
            changes[target, i] += part * changes[one, i] if attains else 0.0
    for i in range(lanes):
        changes[target, i] /= ties[i]


@compiled(
    types.void(GIVEN, GIVEN, types.int64, CONSTANTS, CONSTANTS, *SEGMENTS, *[TABLE] * 3, NUMBERS),
    **OPTIONS,
)
def push_blocks(
    x,
    dx,
    shift,
    constants,
    dconstants,
    cuts,
    load_starts,
    loads,
    ops,
    targets,
    starts,
    args,
    n_kept,
    work,
    changes,
    out,
    ties,
):
    """Set ``out[:, shift:]`` to the changes of the outputs for changes `dx` of the inputs `x`.

    `ties` has room for a block; the rest as in `back_blocks`.
    """
    for first in range(0, x.shape[0], work.shape[1]):
        lanes = min(work.shape[1], x.shape[0] - first)
        for s in range(cuts.shape[0] - 1):
            begin, end = load_starts[s], load_starts[s + 1]
            load(x, first, lanes, constants, loads, begin, end, work, n_kept)
            load(dx, first, lanes, dconstants, loads, begin, end, changes, n_kept)
            for k in range(cuts[s], cuts[s + 1]):
                begin, end = starts[k], starts[k + 1]
                if ops[k] < STORE:
                    fold(work, targets[k], lanes, ops[k], args, begin, end)
                    _push(work, changes, targets[k], lanes, ties, ops[k], args, begin, end)
                else:
                    for i in range(lanes):
                        out[targets[k], shift + first + i] = changes[args[begin], i]
