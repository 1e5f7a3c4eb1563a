"""Many pages at once: every one gets its own answers, and the same as alone."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Semaphore
from typing import Any
from urllib.request import Request, urlopen

import pytest

from pinesy.studio import Session
from pinesy.studio.guard import TOKEN_HEADER
from pinesy.studio.session import MAX_REPORTS, Payload, ReportCache
from pinesy.studio.web_application import ENDPOINTS, THREADS
from studio.conftest import ask, client_of

SOURCE = Path(__file__).parents[2] / "src"

CLIENTS = 50


def test_fifty_clients_at_once(labelled: Session) -> None:
    def asked(number: int) -> list[Any]:
        client = client_of(labelled)
        row = number % 6
        sample = {"row": row, "inputs": {}}
        about = {"sample": sample, "attribute": "street"}
        answer = ask(client, "ask/answer", **about, place=row % 2)
        figures = ask(client, "data/figures")["result"]
        page = ask(client, "data/page", start=row, count=1)["rows"]
        shared = ask(client, "share/overview", **about)["verdict"]
        return [answer, figures, page, shared]

    alone = [asked(row) for row in range(6)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        found = list(pool.map(asked, range(CLIENTS)))
    assert found == [alone[number % 6] for number in range(CLIENTS)]


def test_requests_that_take_long_leave_threads_for_others(
    serving: Callable[[Session], str], session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """45 texts that were not read to the end took every thread of the studio."""
    go, running = Event(), Semaphore(0)

    def wait(_session: Session, _payload: Payload) -> str:
        running.release()
        go.wait(30)
        return "done"

    monkeypatch.setitem(ENDPOINTS["rules"], "look", wait)
    root, token = entered(serving(session))
    with ThreadPoolExecutor(45) as pool:
        waiting = [pool.submit(post, root, token, "rules/look") for _ in range(45)]
        for _ in range(THREADS):
            assert running.acquire(timeout=30)
        assert post(root, token, "shell/state")["version"] == 0
        assert not running.acquire(blocking=False)  # no more of them than threads
        go.set()
        assert [answer.result() for answer in waiting] == ["done"] * 45


def entered(address: str) -> tuple[str, str]:
    """Return the root of a studio, and the token that the code of its address is exchanged for."""
    root, _, code = address.partition("?code=")
    with urlopen(f"{root}api/enter", json.dumps({"code": code}).encode(), timeout=60) as answer:
        return root, json.load(answer)["token"]


def post(root: str, token: str, path: str) -> Any:
    request = Request(f"{root}api/{path}", b"{}", {TOKEN_HEADER: token})
    with urlopen(request, timeout=60) as answer:
        return json.load(answer)


#: A studio with an endpoint that never answers.
STUCK = """
import sys
from threading import Event
from pinesy.studio import Session
from pinesy.studio.web_application import ENDPOINTS, serve

def stuck(session, asked):
    print("stuck", flush=True)
    Event().wait()

ENDPOINTS["rules"]["look"] = stuck
serve(lambda: Session.open(sys.argv[1]), 0, False, print)
"""


def test_an_interrupt_ends_a_studio_whose_requests_do_not_end(rules: Path) -> None:
    command = [sys.executable, "-c", STUCK, str(rules)]
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "PYTHONUNBUFFERED": "1"}
    with (
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as run,
        ThreadPoolExecutor(1) as pool,
    ):
        assert run.stdout is not None
        address = run.stdout.readline().split()[-1]
        run.stdout.readline()
        root, token = entered(address)
        request = Request(f"{root}api/rules/look", b"{}", {TOKEN_HEADER: token})
        answer = pool.submit(urlopen, request, timeout=60)
        assert run.stdout.readline() == "stuck\n"
        run.send_signal(signal.SIGINT)
        try:
            assert run.wait(30) == 0
        finally:
            run.kill()
        assert answer.exception() is not None


def test_a_report_is_made_once_for_all_who_ask_meanwhile() -> None:
    reports, made, go = ReportCache(), [], Event()

    def make() -> str:
        made.append(1)
        go.wait(10)
        return "report"

    with ThreadPoolExecutor(5) as pool:
        waiting = [pool.submit(reports.get, "key", make) for _ in range(5)]
        go.set()
        assert [one.result() for one in waiting] == ["report"] * 5
    assert len(made) == 1
    for number in range(MAX_REPORTS):
        reports.get(number, lambda: "other")
    assert reports.get("key", lambda: "made again") == "made again"
