"""Runs a program on samples: blocks that stay in cache, threads over samples."""

import threading
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType

import numpy as np

from pinesy._common.console import KERNELS, notice
from pinesy._common.threads import n_threads, share
from pinesy._common.validation import FloatArray
from pinesy.engine.code import Code
from pinesy.engine.evidence import Rows

#: Scratch for one block of samples should stay in a core's second-level cache.
SCRATCH_BYTES = 512 * 1024
#: Samples a block; a multiple of the widest vector.
MIN_WIDTH, MAX_WIDTH = 16, 128
#: Input rows are brought together for this many bytes at a time, whatever the batch.
CHUNK_BYTES = 2 * 1024 * 1024
#: Steps (instructions times samples) below which a second thread costs more than it gives.
THREAD_STEPS = 200_000


def run(code: Code, rows: Rows) -> FloatArray:
    """Return the outputs of the program, of shape ``(code.n_outputs, n_samples)``.

    Memory: the result, and per thread a block of scratch and a chunk of input rows.
    """
    out = np.empty((code.n_outputs, rows.n))
    if rows.n == 1:
        _run_one(code, rows, out)
    else:
        _run_blocks(code, rows, out)
    out.setflags(write=False)  # results are values
    return out


def _run_one(code: Code, rows: Rows, out: FloatArray) -> None:
    work = np.empty(code.n_slots)
    if kernels().run_one(rows.block(0, 1)[0], out[:, 0], *code.program, work) >= 0:
        rows.refuse(0)


def _run_blocks(code: Code, rows: Rows, out: FloatArray) -> None:
    width = _width(code, rows.n)
    chunk = max(1, CHUNK_BYTES // (8 * width * max(1, code.n_inputs))) * width
    starts = range(0, rows.n, chunk)
    run_blocks, run_columns = kernels().run_blocks, kernels().run_columns
    columns, local = rows.columns, threading.local()

    def run_chunk(start: int) -> int:
        if not hasattr(local, "work"):
            local.work = np.empty((code.n_slots, width))
        stop = min(start + chunk, rows.n)
        if columns is not None:
            return int(run_columns(*columns, start, stop, out, *code.program, local.work))
        bad = int(run_blocks(rows.block(start, stop), out, start, *code.program, local.work))
        return bad if bad < 0 else start + bad

    bad = _map(run_chunk, starts, len(code.ops) * rows.n)
    if bad >= 0:
        rows.refuse(bad)


def _map(run_chunk: Callable[[int], int], starts: range, steps: int) -> int:
    """Run all chunks, on several threads if it pays; return the first bad row, or -1."""
    threads = min(n_threads(), len(starts)) if steps > THREAD_STEPS else 1

    def work(queue: Iterator[int]) -> int:
        return next((bad for start in queue if (bad := run_chunk(start)) >= 0), -1)

    return min((bad for bad in share(work, starts, threads) if bad >= 0), default=-1)


def _width(code: Code, n: int) -> int:
    """Return the samples of a block: as many as keep the scratch in cache.

    The rows of the inputs do not count: they stream through, each is used for a short while.
    """
    fitting = SCRATCH_BYTES // (8 * (code.n_slots - code.n_inputs))
    width = max(MIN_WIDTH, min(MAX_WIDTH, fitting // MIN_WIDTH * MIN_WIDTH))
    return max(1, min(width, n))


@cache
def kernels() -> ModuleType:
    """Load the compiled loops; the first time ever on a machine they are compiled."""
    with notice(KERNELS):
        from pinesy.engine import kernels as module
    return module
