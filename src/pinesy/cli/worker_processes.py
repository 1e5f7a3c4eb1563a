"""Work on several processes, whose results come in the order of one process."""

import multiprocessing
import pickle
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from itertools import cycle
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from pinesy.exceptions import DataError, PinesyError

T = TypeVar("T")
#: Returns the results of a process: of `(i, n)` those with the indices ``i``, ``i + n`` ...
Work = Callable[[tuple[int, int]], Iterator[T]]


def results_in_order(work: Work[T], jobs: int) -> Generator[T, None, None]:
    """Return what ``work((0, 1))`` yields, computed by `jobs` processes, which start at once.

    A process waits until its last result is taken, so that memory holds a few results of each. An
    error is raised where one process would raise it.
    """
    if jobs <= 1:
        return (result for result in work((0, 1)))
    context = multiprocessing.get_context(_start_method())
    workers = []
    for index in range(jobs):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(  # type: ignore[attr-defined]
            target=_send_results, args=(work, (index, jobs), sender), daemon=True
        )
        process.start()
        sender.close()
        workers.append((process, receiver))
    return _received(workers)


def _received(workers: Sequence[tuple[Any, Connection]]) -> Generator[Any, None, None]:
    """Yield the results of processes in turn, until one has no more; end all processes."""
    try:
        for process, receiver in cycle(workers):
            try:
                kind, content = receiver.recv()
            except EOFError:
                process.join()
                raise DataError(
                    f"a process of --jobs ended with code {process.exitcode}; most often memory "
                    "ran out: give a smaller --batch, or fewer jobs"
                ) from None
            if kind == "error":
                raise content
            if kind == "end":
                return
            yield content
    finally:
        for process, receiver in workers:
            receiver.close()
            process.terminate()
            process.join()


def _start_method() -> str:
    """Return how processes start: as copies of this one where that is safe, else anew."""
    for thread in threading.enumerate():  # of notices that were not needed
        if isinstance(thread, threading.Timer) and thread.finished.is_set():
            thread.join()
    is_safe = sys.platform == "linux" and threading.active_count() == 1
    return "fork" if is_safe else "spawn"


def _send_results(work: Work[Any], share: tuple[int, int], sender: Connection) -> None:
    """Send the results of a process, then why it ended."""
    with suppress(BrokenPipeError, KeyboardInterrupt):
        try:
            for result in work(share):
                sender.send(("result", result))
            sender.send(("end", None))
        except (PinesyError, OSError, MemoryError) as error:
            sender.send(("error", _portable(error)))


def _portable(error: Exception) -> Exception:
    """Return an error that can be sent to another process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return DataError(str(error))
    return error
