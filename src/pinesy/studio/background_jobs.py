"""Background jobs in threads, with progress, time limit and cancellation.

The page starts a job, polls its status, and may stop it. If the page is closed, the job continues
to its end or time limit, and its status stays.
"""

import logging
from collections.abc import Callable
from itertools import count
from threading import BoundedSemaphore, Event, Lock, Thread
from time import monotonic
from typing import Any

from pinesy._common.console import Watch, WorkStopped, watched_by
from pinesy.exceptions import DataError, PinesyError

#: The maximal numbers of running, of waiting, and of ended jobs.
MAX_RUNNING, MAX_WAITING, MAX_ENDED = 4, 200, 200
#: Seconds that `Jobs.start` waits for the end of a job: most end by then.
PATIENCE = 0.2

log = logging.getLogger("pinesy.studio")


class Job:
    """A job: work in a thread.

    Attributes
    ----------
    number : the id of the job
    kind : the name of the work
    state : "waiting", "running", "done", "stopped" or "failed"
    content : the result of the work, once it is done
    error : the message of a failure
    decided : whether the result was accepted or discarded
    """

    def __init__(
        self,
        number: int,
        kind: str,
        work: Callable[[], Any],
        seconds: float | None,
        to_json: Callable[[Any], Any],
    ) -> None:
        self.number, self.kind, self.state = number, kind, "waiting"
        self.content: Any = None
        self.error, self.decided = "", False
        self._work, self._to_json = work, to_json
        self._watch = Watch(seconds)
        self._began = self._ended = monotonic()
        self._over = Event()

    def run(self, turn: BoundedSemaphore) -> None:
        """Do the work once `turn` is acquired; `status` reports the outcome."""
        with turn:
            self._began, self.state = monotonic(), "running"
            state = "failed"
            try:
                self._watch.check()  # it may have been stopped while it waited
                with watched_by(self._watch):
                    self.content = self._work()
                state = "done"
            except WorkStopped:
                state = "stopped"
            except PinesyError as error:
                self.error = str(error)
            except Exception as error:  # nothing else catches it in a thread
                log.exception("%s failed", self.kind)
                self.error = f"the studio failed; see the terminal: {error!r}"
            finally:
                self._ended, self.state = monotonic(), state
                self._over.set()

    def stop(self) -> None:
        """Request that the work stop."""
        self._watch.stop()

    @property
    def over(self) -> bool:
        """Whether the work is done, stopped or failed."""
        return self._over.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end; return whether the job is over."""
        return self._over.wait(seconds)

    def status(self) -> dict[str, Any]:
        """Return the state and progress, and the result once the job is done."""
        watch = self._watch
        content = {
            "job": self.number,
            "kind": self.kind,
            "state": self.state,
            "label": watch.label,
            "done": watch.done,
            "total": watch.total,
            "seconds": (self._ended if self.over else monotonic()) - self._began,
            "limit": watch.seconds,
            "decided": self.decided,
        }
        if self.state == "failed":
            content["error"] = self.error
        return content | ({"result": self._to_json(self.content)} if self.state == "done" else {})


class Jobs:
    """The jobs of a studio, by number; only the last ended ones are kept."""

    def __init__(self) -> None:
        self._jobs: dict[int, Job] = {}
        self._numbers, self._lock = count(1), Lock()
        self._turn = BoundedSemaphore(MAX_RUNNING)

    def start(
        self,
        kind: str,
        work: Callable[[], Any],
        *,
        seconds: float | None = None,
        to_json: Callable[[Any], Any] = lambda content: content,
    ) -> Job:
        """Start a job, and wait a moment for its end.

        Parameters
        ----------
        work : the function to call; it should call `check_stop` regularly
        seconds : the time limit; None for no limit
        to_json : converts the result to plain data for JSON
        """
        with self._lock:
            if sum(not job.over for job in self._jobs.values()) >= MAX_RUNNING + MAX_WAITING:
                raise DataError("too many jobs are running already; wait, or stop some of them")
            ended = [number for number, job in self._jobs.items() if job.over]
            for number in ended[: max(0, len(ended) - MAX_ENDED)]:
                del self._jobs[number]
            job = Job(next(self._numbers), kind, work, seconds, to_json)
            self._jobs[job.number] = job
        Thread(target=job.run, args=[self._turn], daemon=True, name=f"pinesy-{kind}").start()
        job.wait(PATIENCE)
        return job

    def job(self, number: object) -> Job:
        """Return a job by its number."""
        job = self._jobs.get(number) if type(number) is int else None
        if job is None:
            raise DataError(f"there is no job {number!r:.60}; it may have ended long ago")
        return job

    def last(self, kind: str) -> Job | None:
        """Return the last job of a kind; None if there was none."""
        with self._lock:
            return next((j for j in reversed(self._jobs.values()) if j.kind == kind), None)
