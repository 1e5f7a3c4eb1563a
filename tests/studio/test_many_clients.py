"""Many pages at once: every one gets its own answers, and the same as alone."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

from pinesy.studio import Session
from pinesy.studio.session import REMEMBERED, RememberedReports
from studio.conftest import ask, client_of

CLIENTS = 50


def test_fifty_clients_at_once(labelled: Session) -> None:
    def asked(number: int) -> list[Any]:
        client = client_of(labelled)
        row = number % 6
        sample = {"row": row, "inputs": {}}
        about = {"sample": sample, "attribute": "street"}
        tree = ask(client, "why/explain", **about)["explanation"]
        loser = min(range(2), key=lambda i: tree["distribution"][i]["possibility"])
        answer = ask(client, "why/ask_why_not", **about, place=loser)["result"]["answer"]
        accuracy = ask(client, "data/evaluate")["result"]["accuracy"]
        page = ask(client, "data/page", start=row, count=1)["rows"]
        return [tree, answer, accuracy, page]

    alone = [asked(row) for row in range(6)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        found = list(pool.map(asked, range(CLIENTS)))
    assert found == [alone[number % 6] for number in range(CLIENTS)]


def test_a_report_is_made_once_for_all_who_ask_meanwhile() -> None:
    reports, made, go = RememberedReports(), [], Event()

    def make() -> str:
        made.append(1)
        go.wait(10)
        return "report"

    with ThreadPoolExecutor(5) as pool:
        waiting = [pool.submit(reports.get, "key", make) for _ in range(5)]
        go.set()
        assert [one.result() for one in waiting] == ["report"] * 5
    assert len(made) == 1
    for number in range(REMEMBERED):
        reports.get(number, lambda: "other")
    assert reports.get("key", lambda: "made again") == "made again"
