"""Where results go, and how far they are."""

import os
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from pinesy.exceptions import DataError

__all__ = ["Screen", "open_output", "progress"]

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
        return
    try:
        with _file(path.resolve()) as stream:
            yield stream
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror or error}") from None


def _file(path: Path) -> AbstractContextManager[TextIO]:
    if path.exists() and not path.is_file():  # a pipe or device must stay one
        return _open(path, "w")
    return _replacing(path)


def _open(path: Path, mode: str) -> TextIO:
    return open(path, mode, encoding="utf-8", errors="backslashreplace", newline="")  # type: ignore[return-value]


@contextmanager
def _replacing(path: Path) -> Iterator[TextIO]:
    # Not tempfile.mkstemp, whose files only their owner may read.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with _open(temporary, "x") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if path.exists():
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


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
