"""Gradients through a program: run forward with a place for every value, then backward."""

from collections.abc import Iterator

import numpy as np

from pinesy._common.caching import load_kernels
from pinesy._common.threads import n_threads, share
from pinesy._common.validation import FloatArray
from pinesy.engine.code import Code

KERNELS = "pinesy.engine.gradient_kernels"
#: Samples a block, and a task.
WIDTH, CHUNK = 16, 64
#: Instructions times samples below which a second thread costs more than it gives.
THREAD_STEPS = 100_000


def gradient(code: Code, x: FloatArray, given: FloatArray) -> FloatArray:
    """Return the gradient (n, input columns) of a sum of outputs with the weights `given`.

    Each minimum or maximum hands its gradient to the operands that attain it, in equal shares
    (docs/decisions/0004-backwards-and-why.md).

    Parameters
    ----------
    code : a program linked without reuse of scratch (`Program.gradient` has one)
    x : the inputs (n, input columns)
    given : the gradient of each output (output columns, n)
    """
    out = np.empty_like(x)

    def work(queue: Iterator[int]) -> None:
        values, gradients = np.empty((2, code.n_slots, WIDTH))
        for start in queue:
            rows = slice(start, start + CHUNK)
            load_kernels(KERNELS).back_blocks(
                x[rows], given, start, *code.program, values, gradients, out[rows]
            )

    starts = range(0, len(x), CHUNK)
    enough = len(code.ops) * len(x) > THREAD_STEPS
    share(work, starts, min(n_threads(), len(starts)) if enough else 1)
    return out
