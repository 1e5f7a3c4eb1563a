"""How what a program gives depends on its inputs and constants, backwards and forwards.

Going back through a program takes the values that it made. To hold all of them is out of cache for
large programs, and much memory. So the instructions are cut into segments where few values are
alive: those that a later segment uses keep a row of their own, all others share rows from segment
to segment and are made again when the way back comes to their segment. Constants and inputs are
brought into rows where they are used.
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

Places = npt.NDArray[np.intp]
Indices = npt.NDArray[np.uint32]
#: Operands a segment: with a block of samples, its values and gradients stay in cache.
SEGMENT_OPERANDS = 1024
KERNELS = "pinesy.engine.derivative_kernels"
#: Samples a block: few enough for several threads, many enough to be worth an instruction.
MIN_WIDTH, MAX_WIDTH = 16, 64
#: The number of tasks does not depend on the threads: sums over samples are taken in one order.
MOST_TASKS = 32
#: Steps (instructions times samples) below which a second thread costs more than it gives.
THREAD_STEPS = 100_000


@dataclass(frozen=True, eq=False)
class Segments:
    """A program in segments, in numbers of rows of scratch.

    Attributes
    ----------
    cuts : the first instruction of each segment, and the number of instructions
    exports : whether a later segment uses a value of each segment
    load_starts, loads : the constants, and after them the input columns, of each segment; they
        stand in the rows from `n_kept` on
    targets, args : as those of `Code`; the first `n_kept` rows are those of values that later
        segments use
    n_rows : how many rows there are in all
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
        """Return what the kernels take of it, and of the program it was made of."""
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
    last = np.arange(n)  # where the value of each instruction is used last
    np.maximum.at(last, values[is_result] - n_fixed, instruction[is_result])
    cuts = _cuts(code.starts, _alive(last), size)
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


def operand_values(code: Code) -> tuple[Places, Places]:
    """Return the instruction of each operand, and the value that it is.

    That is a fixed one (a constant or an input), or the number of fixed ones and the place of the
    instruction that makes it. A row of a program's scratch holds several values one after the
    other; an operand is the one that was written last before it.
    """
    n, n_fixed = len(code.ops), len(code.constants) + code.n_inputs
    instruction = np.repeat(np.arange(n), np.diff(code.starts))
    makers = np.flatnonzero(code.ops < STORE)
    written = code.targets[makers] * np.int64(n + 1) + makers + 1
    order = np.argsort(written)
    key = code.args * np.int64(n + 1) + instruction
    latest = np.searchsorted(written[order], key, side="right") - 1
    is_fixed = code.args < n_fixed  # constants and inputs keep the first rows
    maker = np.append(makers[order], 0)[latest]  # of fixed values it means nothing
    return instruction, np.where(is_fixed, code.args, n_fixed + maker)


def _alive(last: Places) -> Places:
    """Return how many values pass each place between instructions, before the first to the end."""
    change = np.zeros(len(last) + 1, dtype=np.intp)
    change[1:] += 1
    np.subtract.at(change, last + 1, 1)
    return np.cumsum(change)


def _cuts(starts: Indices, alive: Places, size: int) -> Places:
    """Return where segments begin: each in the second half of what fits, where least is alive."""
    n = len(starts) - 1
    cuts = [0]
    while cuts[-1] < n:
        begin, first = cuts[-1], int(starts[cuts[-1]])
        half, full = np.searchsorted(starts, [first + size // 2, first + size], "right") - 1
        low, high = max(begin + 1, int(half)), max(begin + 1, int(full))
        cuts.append(n if high >= n else low + int(np.argmin(alive[low : high + 1])))
    return np.array(cuts)


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
        self, x: FloatArray, out_gradient: FloatArray, constants: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the gradients (n, input columns) of inputs, and (constants,) of constants.

        The latter is summed over samples, and empty unless constants are given. Time: a few times
        that of inference. Memory: the result, and per thread scratch for a block of samples that
        grows only with the values that many rule sets have between them.

        Parameters
        ----------
        x : the input columns (n, columns), as `Program.run` takes and checks them
        out_gradient : the gradient of the output columns (columns, n)
        constants : the values of the program's constants, if they are others
        """
        out, width, chunk = np.zeros_like(x), _width(len(x)), _chunk(len(x))
        n_sums = 0 if constants is None else len(constants)
        sums = np.zeros((-(-len(x) // chunk), n_sums))
        numbers = self._code.constants if constants is None else constants
        parts = self._segments
        program = parts.program(self._code)

        def work(queue: Iterator[int]) -> None:
            back_blocks = load_kernels(KERNELS).back_blocks
            values, gradients = np.empty((2, parts.n_rows, width))
            shares = np.empty(width)
            for start in queue:
                rows, total = slice(start, start + chunk), sums[start // chunk]
                results = (values, gradients, out[rows], total, shares)
                back_blocks(x[rows], out_gradient, start, numbers, parts.exports, program, *results)

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
        program = parts.program(self._code)

        def work(queue: Iterator[int]) -> None:
            push_blocks = load_kernels(KERNELS).push_blocks
            scratch, ties = np.empty((2, parts.n_rows, width)), np.empty(width)
            for start in queue:
                rows = slice(start, start + chunk)
                changed = (x[rows], dx[rows], start, numbers, changes)
                push_blocks(*changed, program, *scratch, out, ties)

        self._share(work, len(x))
        return out

    def _share(self, work: Callable[[Iterator[int]], None], n: int) -> None:
        starts = range(0, n, _chunk(n))
        enough = len(self._code.ops) * n > THREAD_STEPS
        run_on_threads(work, starts, min(n_threads(), len(starts)) if enough else 1)


def _width(n: int) -> int:
    """Return the samples of a block, a multiple of the widest vector if there are enough."""
    quarter = n // 4 // MIN_WIDTH * MIN_WIDTH
    return min(n, max(MIN_WIDTH, min(MAX_WIDTH, quarter)))


def _chunk(n: int) -> int:
    """Return the samples of a task, whole blocks."""
    width = max(1, _width(n))
    return max(1, -(-n // (MOST_TASKS * width))) * width
