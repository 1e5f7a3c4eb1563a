"""Work in the background: watched, stopped, remembered."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from pinesy._common.console import check_stop, progress
from pinesy.exceptions import DataError
from pinesy.studio import background_jobs
from pinesy.studio.background_jobs import Jobs


def endless(begun: threading.Event | None = None) -> Callable[[], None]:
    def work() -> None:
        with progress("counting", 100) as bar:
            bar.advance(7)
            if begun is not None:
                begun.set()
            while True:
                check_stop()

    return work


def test_a_quick_job_is_done_at_once() -> None:
    status = Jobs().start("sum", lambda: 3, to_json=lambda n: {"n": n}).status()
    assert (status["state"], status["result"]) == ("done", {"n": 3})


def test_a_job_tells_how_far_it_is_and_stops() -> None:
    begun = threading.Event()
    jobs = Jobs()
    job = jobs.start("count", endless(begun))
    assert begun.wait(10)
    status = job.status()
    assert status["state"] == "running"
    assert (status["label"], status["done"], status["total"]) == ("counting", 7, 100)
    jobs.job(job.number).stop()
    assert job.wait(10)
    assert job.status()["state"] == "stopped"
    assert jobs.last("count") is job


def test_a_job_ends_with_its_time() -> None:
    job = Jobs().start("count", endless(), seconds=0.0)
    assert job.wait(10)
    assert job.status()["state"] == "stopped"


def test_what_goes_wrong_is_told() -> None:
    def wrong() -> None:
        raise DataError("the file is gone")

    def broken() -> None:
        raise ZeroDivisionError("oh")

    jobs = Jobs()
    assert jobs.start("a", wrong).status()["error"] == "the file is gone"
    assert "ZeroDivisionError" in jobs.start("b", broken).status()["error"]


@pytest.mark.parametrize("number", [7, None, "1", True, [1]])
def test_a_job_that_there_is_not(number: Any) -> None:
    with pytest.raises(DataError, match="there is no job"):
        Jobs().job(number)


def test_jobs_wait_for_their_turn_and_too_many_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(background_jobs, "MAX_RUNNING", 1)
    monkeypatch.setattr(background_jobs, "MAX_WAITING", 1)
    monkeypatch.setattr(background_jobs, "PATIENCE", 0.0)
    jobs = Jobs()
    first, second = jobs.start("count", endless()), jobs.start("count", endless())
    assert second.status()["state"] == "waiting"
    with pytest.raises(DataError, match="wait, or stop some"):
        jobs.start("count", endless())
    second.stop()
    first.stop()
    assert first.wait(10)
    assert second.wait(10)
    assert second.status()["state"] == "stopped"


def test_old_jobs_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_jobs, "MAX_ENDED", 2)
    jobs = Jobs()
    numbers = [jobs.start("sum", lambda: 1).number for _ in range(5)]
    with pytest.raises(DataError, match="ended long ago"):
        jobs.job(numbers[0])
    assert jobs.job(numbers[-1]).status()["state"] == "done"
