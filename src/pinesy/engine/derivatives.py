"""How what a program gives depends on its inputs and constants, backwards and forwards."""

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from pinesy._common.caching import load_kernels
from pinesy._common.threads import n_threads, share
from pinesy._common.validation import FloatArray
from pinesy.engine.code import Code
from pinesy.engine.segments import Segments, segments_of

GRADIENT_KERNELS = "pinesy.engine.gradient_kernels"
TANGENT_KERNELS = "pinesy.engine.tangent_kernels"
#: Samples a block: few enough for several threads, many enough to be worth an instruction.
MIN_WIDTH, MAX_WIDTH = 16, 64
#: The number of tasks does not depend on the threads: sums over samples are taken in one order.
MOST_TASKS = 32
#: Steps (instructions times samples) below which a second thread costs more than it gives.
THREAD_STEPS = 100_000


class Derivatives:
    """The derivatives of a program's outputs.

    Each minimum or maximum hands its gradient to the operands that attain it, in equal shares
    (docs/decisions/0004-backwards-and-why.md).

    Parameters
    ----------
    code : the program
    """

    def __init__(self, code: Code) -> None:
        self._code = code

    @cached_property
    def _segments(self) -> Segments:
        return segments_of(self._code)

    def gradient(
        self, x: FloatArray, given: FloatArray, constants: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the gradients (n, input columns) of inputs, and (constants,) of constants.

        The latter is summed over samples, and empty unless constants are given. Time: a few times
        that of inference. Memory: the result, and per thread scratch for a block of samples that
        grows only with the values that many rule sets have between them.

        Parameters
        ----------
        x : the input columns (n, columns), as `Program.run` takes and checks them
        given : the gradient of the output columns (columns, n)
        constants : the values of the program's constants, if they are others
        """
        out, width, chunk = np.zeros_like(x), _width(len(x)), _chunk(len(x))
        n_sums = 0 if constants is None else len(constants)
        sums = np.zeros((-(-len(x) // chunk), n_sums))
        numbers = self._code.constants if constants is None else constants
        parts = self._segments

        def work(queue: Iterator[int]) -> None:
            back_blocks = load_kernels(GRADIENT_KERNELS).back_blocks
            values, gradients = np.empty((2, parts.n_rows, width))
            shares = np.empty(width)
            for start in queue:
                rows, total = slice(start, start + chunk), sums[start // chunk]
                program = (numbers, parts.exports, *parts.program(self._code))
                results = (values, gradients, out[rows], total, shares)
                back_blocks(x[rows], given, start, *program, *results)

        self._share(work, len(x))
        return out, sums.sum(axis=0)

    def tangent(
        self,
        x: FloatArray,
        dx: FloatArray,
        constants: FloatArray | None = None,
        dconstants: FloatArray | None = None,
    ) -> FloatArray:
        """Return the change (output columns, n) for one of inputs (n, columns) and of constants.

        A minimum or maximum changes as the mean of the operands that attain it, so that this is the
        transpose of `gradient`, which has the same parameters.
        """
        out, width, chunk = np.zeros((self._code.n_outputs, len(x))), _width(len(x)), _chunk(len(x))
        numbers = self._code.constants if constants is None else constants
        changes = np.zeros_like(numbers) if dconstants is None else dconstants
        parts = self._segments

        def work(queue: Iterator[int]) -> None:
            push_blocks = load_kernels(TANGENT_KERNELS).push_blocks
            scratch, ties = np.empty((2, parts.n_rows, width)), np.empty(width)
            for start in queue:
                rows = slice(start, start + chunk)
                program = (numbers, changes, *parts.program(self._code))
                push_blocks(x[rows], dx[rows], start, *program, *scratch, out, ties)

        self._share(work, len(x))
        return out

    def _share(self, work: Callable[[Iterator[int]], None], n: int) -> None:
        starts = range(0, n, _chunk(n))
        enough = len(self._code.ops) * n > THREAD_STEPS
        share(work, starts, min(n_threads(), len(starts)) if enough else 1)


def _width(n: int) -> int:
    """Return the samples of a block, a multiple of the widest vector if there are enough."""
    quarter = n // 4 // MIN_WIDTH * MIN_WIDTH
    return min(n, max(MIN_WIDTH, min(MAX_WIDTH, quarter)))


def _chunk(n: int) -> int:
    """Return the samples of a task, whole blocks."""
    width = max(1, _width(n))
    return max(1, -(-n // (MOST_TASKS * width))) * width
