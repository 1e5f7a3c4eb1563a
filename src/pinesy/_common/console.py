"""What a user sees: a notice or a progress bar while work takes long, text in columns, tables."""

import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pinesy._common.watching import current_watch
from pinesy.exceptions import DataError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: Seconds of silence before a notice, and before a progress bar.
NOTICE_AFTER = BAR_AFTER = 2.0


#: Held by the bar on the screen: two would draw over each other.
_screen = threading.Lock()


class Bar:
    """Counts what is done; draws it once `show` has been called."""

    def __init__(self, label: str, total: float | None) -> None:
        self._label = label
        self._total = total
        self._done = 0.0
        self._lock = threading.Lock()
        self._closed = False
        self._drawn: tuple[Progress, TaskID] | None = None
        self._watch = current_watch()

    def advance(self, n: float = 1, label: str = "") -> None:
        """Count `n` more as done, and change the label if one is given."""
        with self._lock:
            self._done += n
            self._label = label or self._label
            if self._drawn:
                drawn, task = self._drawn
                drawn.update(task, completed=self._done, description=self._label)
        if self._watch is not None:
            self._watch.see(self._label, self._done, self._total)

    def show(self) -> None:
        """Draw the bar, unless the work is over or another bar is on the screen."""
        with self._lock:
            if not self._closed and _screen.acquire(blocking=False):
                self._drawn = self._start()

    def _start(self) -> "tuple[Progress, TaskID]":
        # Not at the top: rich is slow to import, and most work is quick.
        from rich.console import Console
        from rich.progress import Progress

        console = Console(file=sys.stderr)
        drawn = Progress(console=console, transient=True, redirect_stdout=False)
        task = drawn.add_task(self._label, total=self._total)
        drawn.update(task, completed=self._done)
        drawn.start()
        return drawn, task

    def close(self) -> None:
        """Take the bar off the screen."""
        with self._lock:
            self._closed = True
            if self._drawn:
                self._drawn[0].stop()
                _screen.release()


@contextmanager
def progress(label: str, total: float | None = None) -> Iterator[Bar]:
    """Give a `Bar` to advance; it is shown if the block takes longer than `BAR_AFTER`.

    It is drawn on stderr, and only if that is a terminal. Of nested ones the first is shown.
    Who watches the work (`Watch`) is told in its place.

    Parameters
    ----------
    label : what is being done; empty for no bar at all
    total : how much there is to do, or None where that is not known
    """
    bar = Bar(label, total)
    seen = sys.stderr is not None and sys.stderr.isatty() and current_watch() is None
    drawn = label and seen
    with _after(BAR_AFTER, bar.show) if drawn else nullcontext(), closing(bar):
        yield bar


@contextmanager
def notice(line: str) -> Iterator[None]:
    """Print `line` to stderr if the block takes longer than `NOTICE_AFTER`; once in a process."""
    with _after(NOTICE_AFTER, partial(_say, line)):
        yield


@cache
def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


@cache
def warn_once(text: str) -> None:
    """Warn that something works, but not as it should; once in a process."""
    warnings.warn(text, RuntimeWarning, stacklevel=2)


@contextmanager
def _after(seconds: float, action: Callable[[], object]) -> Iterator[None]:
    """Do something if the block takes longer than some seconds."""
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    with suppress(RuntimeError):  # where no thread can be started, nothing is shown
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def text_table(lines: Iterable[Sequence[str]]) -> str:
    """Return lines of cells as text, each column as wide as its widest cell.

    Examples
    --------
    >>> print(text_table([["rule", "s"], ["1", "0.25"]]))
    rule  s
    1     0.25
    """
    lines = list(lines)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def data_frame(content: Any) -> Any:
    """Return a pandas DataFrame of what one is made of, or say what to install."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise DataError(
            "to_frame needs pandas; install it with: pip install 'pinesy[frame]'"
        ) from None
    return pandas.DataFrame(content)
