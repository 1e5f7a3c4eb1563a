"""Notices and progress bars of long work, and its cancellation from another thread."""

import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import cache, partial
from importlib import import_module
from time import monotonic

from pinesy._common.validation import printable

#: Seconds of silence before a notice, and before a progress bar.
NOTICE_AFTER = BAR_AFTER = 2.0
#: Seconds between two drawings of a bar in a notebook.
REDRAW = 0.1
#: Held by the bar on the screen: two would draw over each other.
_screen = threading.Lock()


class WorkStopped(KeyboardInterrupt):
    """Work was cancelled by another thread, or ran out of time.

    A subclass of `KeyboardInterrupt`, so that code that handles Ctrl-C handles it too.
    """


class Watch:
    """The progress of work as another thread sees it, and a request to stop the work.

    Parameters
    ----------
    seconds : the time limit of the work; None for no limit

    Attributes
    ----------
    label : the current task
    done, total : the amount of work done, and of all work (None if unknown)
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.label, self.done = "", 0.0
        self.total: float | None = None
        self.seconds = seconds
        self._end: float | None = None
        self._stop = False

    def begin(self) -> None:
        """Start the time limit."""
        self._end = None if self.seconds is None else monotonic() + self.seconds

    def stop(self) -> None:
        """Request that the work stop at its next check."""
        self._stop = True

    @property
    def stopped(self) -> bool:
        """Whether the work should stop."""
        return self._stop or (self._end is not None and monotonic() >= self._end)

    def check(self) -> None:
        """Raise `WorkStopped` if the work should stop."""
        if self.stopped:
            raise WorkStopped

    def update(self, label: str, completed: float, total: float | None) -> None:
        """Record the progress; raise `WorkStopped` if the work should stop."""
        self.label, self.done, self.total = label, completed, total
        self.check()


_current: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watched_by(watch: Watch) -> Iterator[None]:
    """Report the progress of the block, in this thread, to a `Watch`."""
    watch.begin()
    token = _current.set(watch)
    try:
        yield
    finally:
        _current.reset(token)


def check_stop() -> None:
    """Raise `WorkStopped` if a `Watch` of this thread says so; long loops call it regularly."""
    watch = _current.get()
    if watch is not None:
        watch.check()


class Bar:
    """A progress bar: counts completed work, and draws it once `show` has been called."""

    def __init__(self, label: str, total: float | None) -> None:
        self._label = label
        self._total = total
        self._done = 0.0
        self._lock = threading.Lock()
        self._closed = False
        self._drawn: TerminalBar | NotebookBar | None = None
        self._watch = _current.get()

    def advance(self, n: float = 1, label: str = "") -> None:
        """Add `n` to the completed work, and change the label if one is given."""
        with self._lock:
            self._done += n
            self._label = label or self._label
            if self._drawn:
                self._drawn.update(self._label, self._done)
        if self._watch is not None:
            self._watch.update(self._label, self._done, self._total)

    def show(self) -> None:
        """Draw the bar, unless it is closed or another bar is on the screen."""
        with self._lock:
            if not self._closed and _screen.acquire(blocking=False):
                kind = NotebookBar if in_notebook() else TerminalBar
                self._drawn = kind(self._label, self._done, self._total)

    def close(self) -> None:
        """Remove the bar from the screen."""
        with self._lock:
            self._closed = True
            if self._drawn:
                self._drawn.stop()
                _screen.release()


class TerminalBar:
    """A bar on a terminal, by Rich."""

    def __init__(self, label: str, completed: float, total: float | None) -> None:
        # Not at the top: rich is slow to import, and most work is quick.
        from rich.console import Console
        from rich.progress import Progress

        console = Console(file=sys.stderr)
        self._progress = Progress(console=console, transient=True, redirect_stdout=False)
        self._task = self._progress.add_task("", total=total)
        self.update(label, completed)
        self._progress.start()

    def update(self, label: str, completed: float) -> None:
        """Draw the progress; the label is escaped, as it may be the name of a file."""
        from rich.markup import escape

        self._progress.update(self._task, completed=completed, description=escape(printable(label)))

    def stop(self) -> None:
        """Remove the bar from the screen."""
        self._progress.stop()


class NotebookBar:
    """A bar of HTML in a notebook, without widgets."""

    def __init__(self, label: str, completed: float, total: float | None) -> None:
        self._total = total
        self._last = monotonic()
        display = import_module("IPython.display").display
        self._handle = display(self._content(label, completed), raw=True, display_id=True)

    def _content(self, label: str, completed: float) -> dict[str, str]:
        """Return the bar by MIME type: as HTML, and as plain text."""
        from pinesy.display.markup import tag

        size = {"max": f"{self._total:g}", "value": f"{completed:g}"} if self._total else {}
        share = f" {min(1.0, completed / self._total):.0%}" if self._total else ""
        text = f"{label}{share}"
        return {"text/plain": text, "text/html": tag("div", tag("progress", **size), f" {text}")}

    def update(self, label: str, completed: float) -> None:
        """Draw the progress, at most once in `REDRAW` seconds."""
        if monotonic() - self._last >= REDRAW:
            self._last = monotonic()
            self._handle.update(self._content(label, completed), raw=True)

    def stop(self) -> None:
        """Remove the bar from the page."""
        self._handle.update({"text/plain": "", "text/html": ""}, raw=True)


@contextmanager
def progress(label: str, total: float | None = None) -> Iterator[Bar]:
    """Yield a `Bar`, which is shown if the block takes longer than `BAR_AFTER`.

    It is drawn on stderr if that is a terminal, below the cell in a notebook, otherwise not at all.
    Of nested bars only the first is shown. If there is a `Watch`, it gets the progress instead.

    Parameters
    ----------
    label : the task; empty for no bar
    total : the amount of work; None if unknown
    """
    bar = Bar(label, total)
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    drawn = label and (is_terminal or in_notebook()) and _current.get() is None
    with _call_if_slow(BAR_AFTER, bar.show) if drawn else nullcontext(), closing(bar):
        yield bar


@contextmanager
def notice(line: str) -> Iterator[None]:
    """Print `line` to stderr if the block takes longer than `NOTICE_AFTER`; once in a process."""
    with _call_if_slow(NOTICE_AFTER, partial(_print_once, line)):
        yield


@cache
def _print_once(line: str) -> None:
    sys.stderr.write(line + "\n")


@cache
def warn_once(text: str) -> None:
    """Raise a `RuntimeWarning`, once in a process."""
    warnings.warn(text, RuntimeWarning, stacklevel=2)


@contextmanager
def _call_if_slow(seconds: float, action: Callable[[], object]) -> Iterator[None]:
    """Call `action` if the block takes longer than `seconds`."""
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    with suppress(RuntimeError):  # if no thread can be started, nothing is shown
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")  # a shell in a terminal has none
