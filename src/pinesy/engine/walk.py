"""A program run by NumPy, instruction by instruction: for few samples, without loading Numba.

The results are those of `kernels`, bit for bit: minimum and maximum only copy numbers.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import BoolArray
from pinesy.engine.circuit import MAX, MIN, ONE, STORE
from pinesy.engine.code import Code

#: The time of an instruction, and of an operand of one sample, in nanoseconds.
INSTRUCTION_TIME, OPERAND_TIME = 3000, 1
#: Numbers of scratch, at most: all samples are computed together.
MAX_SCRATCH = 1_000_000


def walk_time(code: Code, n_samples: int) -> float:
    """Return about how many nanoseconds `walk` takes; infinite if it needs too much memory."""
    if code.n_slots * n_samples > MAX_SCRATCH:
        return np.inf
    return len(code.ops) * INSTRUCTION_TIME + len(code.args) * n_samples * OPERAND_TIME


def walk(code: Code, x: npt.NDArray[Any], out: npt.NDArray[Any]) -> int:
    """Run the program on samples `x` (n, inputs), and fill `out` (outputs, n).

    Returns -1, or the first sample with degrees outside of [0, 1], or not normalised.
    """
    base = len(code.constants)
    work = np.empty((code.n_slots, len(x)), code.dtype)
    work[:base] = code.constants[:, None]
    inputs = work[base : base + code.n_inputs]
    np.add(x.T, code.dtype.type(0), out=inputs)  # -0.0 becomes 0.0
    is_valid = _are_valid(code, inputs)
    if not is_valid.all():
        return int(np.argmin(is_valid))
    starts = code.starts.tolist()
    for i, (op, target) in enumerate(zip(code.ops.tolist(), code.targets.tolist(), strict=True)):
        operands = work[code.args[starts[i] : starts[i + 1]]]
        if op == STORE:
            out[target] = operands[0]
        elif op == MAX:
            np.maximum.reduce(operands, out=work[target])
        elif op == MIN:
            np.minimum.reduce(operands, out=work[target])
        else:
            outer, inner = (np.minimum, np.maximum) if op % 2 else (np.maximum, np.minimum)
            outer.reduce(inner(operands[::2], operands[1::2]), out=work[target])
    return -1


def _are_valid(code: Code, inputs: npt.NDArray[Any]) -> BoolArray:
    """Return which samples have degrees in [0, 1] only, normalised where they must be."""
    top = code.constants[ONE]
    is_valid: BoolArray = ((inputs >= 0) & (inputs <= top)).all(axis=0)
    for a in np.flatnonzero(code.min_heights > 0).tolist():
        heights = inputs[code.bounds[a] : code.bounds[a + 1]].max(axis=0)
        is_valid &= heights >= top
    return is_valid
