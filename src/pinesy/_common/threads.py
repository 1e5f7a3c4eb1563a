"""Thread pools: each thread takes the next task when it has finished one."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from pinesy._common.console import warn_once
from pinesy.exceptions import DomainError


def n_threads() -> int:
    """Return the number of threads: ``PINESY_NUM_THREADS``, or the cores this process may use."""
    setting = os.environ.get("PINESY_NUM_THREADS", "")
    if setting:
        if not setting.isdecimal() or int(setting) < 1:
            raise DomainError(
                f"PINESY_NUM_THREADS is {setting!r:.60}; it must be an integer, at least 1"
            )
        return int(setting)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_on_threads(
    work: Callable[[Iterator[Any]], Any], tasks: Iterable[Any], threads: int
) -> list[Any]:
    """Call `work` on every thread with one iterator over all tasks; return their results.

    An error in a thread is raised once the others have done the remaining tasks; an error in the
    calling thread is raised after the current tasks.
    """
    if threads <= 1:
        return [work(iter(tasks))]
    queue = _Queue(tasks)
    with ThreadPoolExecutor(threads - 1) as pool:
        others = list(_start(pool, work, queue, threads - 1))
        try:
            first = work(queue)
            return [first, *(other.result() for other in others)]
        finally:
            queue.stopped = True


def run_in_chunks(
    work: Callable[[int, int], None], n: int, step: int, threads: int | None = None
) -> None:
    """Call ``work(start, stop)`` for chunks of `step` of `n` rows.

    By default on all threads, if there are as many chunks.
    """
    starts = range(0, n, step)

    def each(queue: Iterator[int]) -> None:
        for start in queue:
            work(start, min(start + step, n))

    run_on_threads(each, starts, min(n_threads(), len(starts)) if threads is None else threads)


def _start(
    pool: ThreadPoolExecutor, work: Callable[[Iterator[Any]], Any], queue: "_Queue", n: int
) -> "Iterator[Future[Any]]":
    """Start threads, as many of `n` as the system gives: the calling one does what is left."""
    try:
        for _ in range(n):
            yield pool.submit(work, queue)
    except RuntimeError as error:
        warn_once(
            f"pinesy works on fewer threads than it may, because the system reports: {error}; "
            "PINESY_NUM_THREADS=1 in the environment starts no others"
        )


class _Queue(Iterator[Any]):
    """An iterator that several threads may draw from (that of a list or range is atomic)."""

    def __init__(self, tasks: Iterable[Any]) -> None:
        self._tasks = iter(list(tasks))
        self.stopped = False

    def __next__(self) -> Any:
        if self.stopped:
            raise StopIteration
        return next(self._tasks)
