"""What a user sees while work takes long: a notice or a progress bar; and how work is stopped."""

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
    """Work was stopped by another thread, or its time was over.

    What makes the best of Ctrl-C makes the best of this too.
    """


class Watch:
    """The state of some work, seen from outside, and a request to stop it.

    Parameters
    ----------
    seconds : that the work may take, from its beginning; by default as long as it does

    Attributes
    ----------
    label, done, total : what is being done and how far it is; the total is None if not known
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.label, self.done = "", 0.0
        self.total: float | None = None
        self.seconds = seconds
        self._end: float | None = None
        self._stop = False

    def begin(self) -> None:
        """Begin to count the seconds."""
        self._end = None if self.seconds is None else monotonic() + self.seconds

    def stop(self) -> None:
        """Request the work to end; it does so at its next check."""
        self._stop = True

    @property
    def stopped(self) -> bool:
        """Whether the work should end."""
        return self._stop or (self._end is not None and monotonic() >= self._end)

    def check(self) -> None:
        """Raise `WorkStopped` if the work should end."""
        if self.stopped:
            raise WorkStopped

    def see(self, label: str, completed: float, total: float | None) -> None:
        """Record how far the work is; raise `WorkStopped` if it should end."""
        self.label, self.done, self.total = label, completed, total
        self.check()


_current: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watched_by(watch: Watch) -> Iterator[None]:
    """Let the work of a block, in this thread, be watched."""
    watch.begin()
    token = _current.set(watch)
    try:
        yield
    finally:
        _current.reset(token)


def check_stop() -> None:
    """End work that should end; loops that may be long call it once in a round."""
    watch = _current.get()
    if watch is not None:
        watch.check()


class Bar:
    """Counts completed steps; draws them once `show` has been called."""

    def __init__(self, label: str, total: float | None) -> None:
        self._label = label
        self._total = total
        self._done = 0.0
        self._lock = threading.Lock()
        self._closed = False
        self._drawn: TerminalBar | NotebookBar | None = None
        self._watch = _current.get()

    def advance(self, n: float = 1, label: str = "") -> None:
        """Count `n` more as done, and change the label if one is given."""
        with self._lock:
            self._done += n
            self._label = label or self._label
            if self._drawn:
                self._drawn.update(self._label, self._done)
        if self._watch is not None:
            self._watch.see(self._label, self._done, self._total)

    def show(self) -> None:
        """Draw the bar, unless the work is over or another bar is on the screen."""
        with self._lock:
            if not self._closed and _screen.acquire(blocking=False):
                kind = NotebookBar if in_notebook() else TerminalBar
                self._drawn = kind(self._label, self._done, self._total)

    def close(self) -> None:
        """Take the bar off the screen."""
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
        """Draw the progress; the label may be the name of a file, and is no markup."""
        from rich.markup import escape

        self._progress.update(self._task, completed=completed, description=escape(printable(label)))

    def stop(self) -> None:
        """Take the bar off the screen."""
        self._progress.stop()


class NotebookBar:
    """A bar of HTML in a notebook, which any page shows without widgets."""

    def __init__(self, label: str, completed: float, total: float | None) -> None:
        self._total = total
        self._last = monotonic()
        display = import_module("IPython.display").display
        self._handle = display(self._content(label, completed), raw=True, display_id=True)

    def _content(self, label: str, completed: float) -> dict[str, str]:
        """Return the bar for pages that show HTML, and for those that do not."""
        from pinesy.display.markup import tag

        size = {"max": f"{self._total:g}", "value": f"{completed:g}"} if self._total else {}
        share = f" {min(1.0, completed / self._total):.0%}" if self._total else ""
        text = f"{label}{share}"
        return {"text/plain": text, "text/html": tag("div", tag("progress", **size), f" {text}")}

    def update(self, label: str, completed: float) -> None:
        """Draw the progress, if the last time is long enough ago: a page keeps up with so much."""
        if monotonic() - self._last >= REDRAW:
            self._last = monotonic()
            self._handle.update(self._content(label, completed), raw=True)

    def stop(self) -> None:
        """Take the bar off the page."""
        self._handle.update({"text/plain": "", "text/html": ""}, raw=True)


@contextmanager
def progress(label: str, total: float | None = None) -> Iterator[Bar]:
    """Give a `Bar` to advance; it is shown if the block takes longer than `BAR_AFTER`.

    It is drawn on stderr if that is a terminal, in a notebook below the cell, and else not at all.
    Of nested ones the first is shown. A `Watch` of the work, if there is one, is informed instead.

    Parameters
    ----------
    label : what is being done; empty for no bar at all
    total : how much there is to do, or None where that is not known
    """
    bar = Bar(label, total)
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    drawn = label and (is_terminal or in_notebook()) and _current.get() is None
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


def in_notebook() -> bool:
    """Return whether this runs in a notebook, whose pages show HTML."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")  # a shell in a terminal has none
