"""Where results go, and how far they are."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from pinesy._common.files import writing

#: Seconds before a progress bar shows up.
PATIENCE = 2.0


class Screen(Console):
    """A console that leaves a reader's going away to the caller, where Rich would exit with 1."""

    def on_broken_pipe(self) -> None:
        """Pass the error on."""
        raise BrokenPipeError


@contextmanager
def open_output(path: Path | None) -> Iterator[TextIO]:
    """Open a file that takes its name only once it is whole; standard output without a path."""
    if path is None:
        yield sys.stdout
    else:
        with writing(path) as stream:
            yield stream


@contextmanager
def progress(total: int | None, wanted: bool) -> Iterator[Callable[[int, int], None]]:
    """Give a function of the samples just done and the bytes read; it draws a bar if that is slow.

    Parameters
    ----------
    total : the bytes there are, if it is known
    wanted : False where a bar would disturb the results on the screen
    """
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=total)
    done = 0
    late = time.monotonic() + PATIENCE
    wanted = wanted and sys.stderr.isatty()

    def advance(samples: int, position: int) -> None:
        nonlocal done
        done += samples
        bar.update(task, description=f"{done:,} samples", completed=position)
        if wanted and time.monotonic() > late and not bar.live.is_started:
            bar.start()

    try:
        yield advance
    finally:
        if bar.live.is_started:
            bar.stop()
