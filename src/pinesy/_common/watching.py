"""Work that another thread watches: how far it is, and a way to stop it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic


class WorkStopped(KeyboardInterrupt):
    """Work was stopped by another thread, or its time was over.

    What makes the best of Ctrl-C makes the best of this too.
    """


class Watch:
    """What is seen of some work from outside, and the wish that it end.

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
        """Ask the work to end; it does so when it looks next."""
        self._stop = True

    @property
    def stopped(self) -> bool:
        """Whether the work should end."""
        return self._stop or (self._end is not None and monotonic() >= self._end)

    def check(self) -> None:
        """Raise `WorkStopped` if the work should end."""
        if self.stopped:
            raise WorkStopped

    def see(self, label: str, done: float, total: float | None) -> None:
        """Note how far the work is, and end it if that is wanted."""
        self.label, self.done, self.total = label, done, total
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


def current_watch() -> Watch | None:
    """Return who watches the work of this thread, None if nobody does."""
    return _current.get()


def check_stop() -> None:
    """End work that should end; loops that may be long call it once in a round."""
    watch = _current.get()
    if watch is not None:
        watch.check()
