"""Derivatives of a program by its inputs and constants: reverse mode and forward mode.

Reverse mode needs the values of the forward pass, which do not fit in the cache for large programs.
So the instructions are cut into segments where few values are alive (gradient checkpointing):
values that a later segment uses keep a row of scratch, all others share rows between segments and
are recomputed in the backward pass. Constants and inputs are copied to rows where they are used.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import load_kernels
from pinesy._common.threads import n_threads, run_on_threads
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.engine.circuit import STORE
from pinesy.engine.code import Code

IndexArray = npt.NDArray[np.intp]
Indices = npt.NDArray[np.uint32]
#: Operands of a segment: with a block of samples, its values and gradients fit in the cache.
SEGMENT_OPERANDS = 1024
KERNELS = "pinesy.engine.derivative_kernels"
#: Samples of a block: few enough for several threads, many enough to amortise an instruction.
MIN_WIDTH, MAX_WIDTH = 16, 64
#: Independent of the number of threads, so that sums over samples have one order.
MAX_TASKS = 32
#: Instructions times samples below which a second thread costs more than it saves.
THREAD_STEPS = 100_000


@dataclass(frozen=True, eq=False)
class Segments:
    """A program in segments; targets and operands are rows of scratch.

    Attributes
    ----------
    cuts : the first instruction of each segment, and the number of instructions
    exports : for each segment whether a later segment uses one of its values
    load_starts, loads : the constants, and after them the input columns, of each segment,
        concatenated; they are copied to the rows from `n_kept` on
    targets, args : as in `Code`; the first `n_kept` rows are for values that later segments use
    n_rows : the number of rows
    """

    cuts: Indices
    exports: BoolArray
    load_starts: Indices
    loads: Indices
    targets: Indices
    args: Indices
    n_kept: int
    n_rows: int

    def program(self, code: Code) -> tuple[npt.NDArray[Any] | int, ...]:
        """Return the arrays that the kernels take, of the segments and of the program."""
        return (
            self.cuts,
            self.load_starts,
            self.loads,
            code.ops,
            self.targets,
            code.starts,
            self.args,
            self.n_kept,
        )


def segments_of(code: Code, size: int = SEGMENT_OPERANDS) -> Segments:
    """Cut a program into segments of about `size` operands, in time linear in its length."""
    n, n_fixed = len(code.ops), len(code.constants) + code.n_inputs
    instruction, values = operand_values(code)
    is_result = values >= n_fixed
    last = np.arange(n)  # the last use of the value of each instruction
    np.maximum.at(last, values[is_result] - n_fixed, instruction[is_result])
    cuts = _segment_starts(code.starts, last, size)
    segment = np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))
    exported = segment[last] > segment
    n_kept = int(np.count_nonzero(exported))
    # Fixed values are loaded into the first rows of each segment that uses them.
    pairs, load_index = np.unique(
        segment[instruction[~is_result]] * n_fixed + values[~is_result], return_inverse=True
    )
    load_starts = np.searchsorted(pairs, np.arange(len(cuts)) * n_fixed)
    local = (code.ops < STORE) & ~exported
    before = np.concatenate([[0], np.cumsum(local)])
    rows = n_kept + np.diff(load_starts)[segment] + before[:-1] - before[cuts[:-1]][segment]
    rows[exported] = np.arange(n_kept)
    args = np.empty(len(values), dtype=np.intp)
    args[is_result] = rows[values[is_result] - n_fixed]
    args[~is_result] = n_kept + load_index - load_starts[segment[instruction[~is_result]]]
    sizes = np.diff(load_starts) + np.diff(before[cuts])
    return Segments(
        cuts=cuts.astype(np.uint32),
        exports=np.logical_or.reduceat(exported, cuts[:-1]) if n else np.zeros(0, dtype=bool),
        load_starts=load_starts.astype(np.uint32),
        loads=(pairs % n_fixed).astype(np.uint32),
        targets=np.where(code.ops < STORE, rows, code.targets).astype(np.uint32),
        args=args.astype(np.uint32),
        n_kept=n_kept,
        n_rows=n_kept + int(sizes.max(initial=0)),
    )


def operand_values(code: Code) -> tuple[IndexArray, IndexArray]:
    """Return the instruction of each operand, and its value (static single assignment).

    A value is the index of a constant or an input (`n_fixed` in all), or `n_fixed` and the index of
    the instruction that computes it. A row of scratch holds several values in turn; an operand is
    the one that was written last.
    """
    n, n_fixed = len(code.ops), len(code.constants) + code.n_inputs
    instruction = np.repeat(np.arange(n), np.diff(code.starts))
    writers = np.flatnonzero(code.ops < STORE)
    written = code.targets[writers] * np.int64(n + 1) + writers + 1
    order = np.argsort(written)
    key = code.args * np.int64(n + 1) + instruction
    latest = np.searchsorted(written[order], key, side="right") - 1
    is_fixed = code.args < n_fixed  # constants and inputs keep the first rows
    writer = np.append(writers[order], 0)[latest]  # meaningless for fixed values
    return instruction, np.where(is_fixed, code.args, n_fixed + writer)


def _segment_starts(starts: Indices, last_use: IndexArray, size: int) -> IndexArray:
    """Return the first instruction of each segment, and the number of instructions.

    A segment ends in the second half of the `size` operands that fit, where the fewest values are
    alive.
    """
    n = len(starts) - 1
    change = np.zeros(n + 1, dtype=np.intp)
    change[1:] += 1
    np.subtract.at(change, last_use + 1, 1)
    n_alive = np.cumsum(change)  # the values alive before each instruction
    cuts = [0]
    while cuts[-1] < n:
        begin, first = cuts[-1], int(starts[cuts[-1]])
        half, full = np.searchsorted(starts, [first + size // 2, first + size], "right") - 1
        low, high = max(begin + 1, int(half)), max(begin + 1, int(full))
        cuts.append(n if high >= n else low + int(np.argmin(n_alive[low : high + 1])))
    return np.array(cuts)


class Derivatives:
    """The derivatives of a program's outputs.

    The gradient of a minimum or maximum goes to the operands that attain it, in equal shares
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
        self, x: FloatArray, out_gradient: FloatArray, constants: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the gradients (n, input columns) of inputs, and (constants,) of constants.

        The gradients of constants are summed over samples; they are empty unless `constants` are
        given. Time: a few times that of inference. Memory: the result, and per thread scratch for a
        block of samples.

        Parameters
        ----------
        x : the input columns (n, columns), as `Program.run` takes and checks them
        out_gradient : the gradient of the output columns (columns, n)
        constants : values in place of the program's constants
        """
        out, width, chunk = np.zeros_like(x), _width(len(x)), _chunk(len(x))
        n_sums = 0 if constants is None else len(constants)
        sums = np.zeros((-(-len(x) // chunk), n_sums))
        numbers = self._code.constants if constants is None else constants
        parts = self._segments
        program = parts.program(self._code)

        def work(queue: Iterator[int]) -> None:
            backpropagate_blocks = load_kernels(KERNELS).backpropagate_blocks
            values, gradients = np.empty((2, parts.n_rows, width))
            shares = np.empty(width)
            for start in queue:
                rows, total = slice(start, start + chunk), sums[start // chunk]
                results = (values, gradients, out[rows], total, shares)
                backpropagate_blocks(
                    x[rows], out_gradient, start, numbers, parts.exports, program, *results
                )

        self._run_tasks(work, len(x))
        return out, sums.sum(axis=0)

    def tangent(
        self,
        x: FloatArray,
        dx: FloatArray,
        constants: FloatArray | None = None,
        dconstants: FloatArray | None = None,
    ) -> FloatArray:
        """Return the tangents (output columns, n) for those of inputs (n, columns) and constants.

        The tangent of a minimum or maximum is the mean of those of the operands that attain it:
        the transpose of `gradient`, which has the same parameters.
        """
        out, width, chunk = np.zeros((self._code.n_outputs, len(x))), _width(len(x)), _chunk(len(x))
        numbers = self._code.constants if constants is None else constants
        tangents = np.zeros_like(numbers) if dconstants is None else dconstants
        parts = self._segments
        program = parts.program(self._code)

        def work(queue: Iterator[int]) -> None:
            differentiate_blocks = load_kernels(KERNELS).differentiate_blocks
            scratch, ties = np.empty((2, parts.n_rows, width)), np.empty(width)
            for start in queue:
                rows = slice(start, start + chunk)
                arguments = (x[rows], dx[rows], start, numbers, tangents)
                differentiate_blocks(*arguments, program, *scratch, out, ties)

        self._run_tasks(work, len(x))
        return out

    def _run_tasks(self, work: Callable[[Iterator[int]], None], n: int) -> None:
        """Run `work` on all tasks of `n` samples, on several threads if that pays."""
        starts = range(0, n, _chunk(n))
        enough = len(self._code.ops) * n > THREAD_STEPS
        run_on_threads(work, starts, min(n_threads(), len(starts)) if enough else 1)


def _width(n: int) -> int:
    """Return the number of samples of a block, a multiple of the widest SIMD vector if possible."""
    quarter = n // 4 // MIN_WIDTH * MIN_WIDTH
    return min(n, max(MIN_WIDTH, min(MAX_WIDTH, quarter)))


def _chunk(n: int) -> int:
    """Return the number of samples of a task, a multiple of `_width`."""
    width = max(1, _width(n))
    return max(1, -(-n // (MAX_TASKS * width))) * width
