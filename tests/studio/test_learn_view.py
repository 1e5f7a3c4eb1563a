"""The Learn view: learns as the library does, stops, and changes nothing until it is accepted."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from pinesy import Cascade, induction, learn, load, parse
from pinesy._common.console import check_stop
from pinesy.studio import Session, learn_view
from studio.conftest import RAIN, ask, client_of


def same(one: Cascade, other: Cascade) -> bool:
    pairs = zip(one.order, other.order, strict=True)
    return all((a.s == b.s).all() and (a.r == b.r).all() for a, b in pairs)


@pytest.mark.parametrize("method", ["exact", "counts", "gradient"])
def test_what_is_learned_is_the_librarys(
    data_client: TestClient,
    labelled: Session,
    method: Any,
) -> None:
    before, batch = labelled.work.rules, labelled.rows.batch()
    status = ask(data_client, "learn/start", method=method, share=0)
    assert status["state"] == "done"
    assert labelled.work.rules is before
    expected = learn(before, batch.evidence, batch.targets, method=method).cascade
    page = ask(data_client, "learn/parameters", all=True)
    assert [row["after"] for row in page["rows"]] == np.stack(
        [expected.rule_sets[0].s, expected.rule_sets[0].r], axis=1
    ).tolist()
    assert ask(data_client, "learn/accept")["version"] == 1
    assert same(labelled.work.rules, expected)
    assert labelled.work.learned is not None
    assert ask(data_client, "learn/status")["job"]["decided"]
    ask(data_client, "shell/undo")
    assert labelled.work.rules is before


def test_what_changed_most_comes_first(data_client: TestClient) -> None:
    ask(data_client, "learn/start", method="counts")
    page = ask(data_client, "learn/parameters")
    moves = [
        max(abs(a - b) for a, b in zip(row["before"], row["after"], strict=True))
        for row in page["rows"]
    ]
    assert moves == sorted(moves, reverse=True)
    assert page["total"] == page["changed"] == len(moves) > 0


def test_learning_is_stopped_and_nothing_changes(
    data_client: TestClient,
    labelled: Session,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def endless(*_: Any) -> None:
        while True:
            check_stop()
            time.sleep(0.001)

    monkeypatch.setattr(learn_view, "propose_learning", endless)
    status = data_client.post("/api/learn/start", json={}).json()
    assert status["state"] == "running"
    again = data_client.post("/api/learn/start", json={})
    assert "under way already" in again.json()["error"]
    # Another page, or the same one after it was closed, finds the learning that runs.
    assert data_client.post("/api/learn/status", json={}).json()["job"]["state"] == "running"
    data_client.post("/api/shell/stop", json={"job": status["job"]})
    assert labelled.jobs.job(status["job"]).wait(10)
    assert ask(data_client, "learn/status")["job"]["state"] == "stopped"
    assert labelled.version == 0
    assert "nothing was learned yet" in ask(data_client, "learn/accept")["error"]


def test_rules_that_changed_meanwhile_are_not_overwritten(
    data_client: TestClient,
    labelled: Session,
) -> None:
    ask(data_client, "learn/start", method="counts")
    labelled.use(labelled.work.with_rules(labelled.work.rules))
    assert "the rules have changed" in ask(data_client, "learn/accept")["error"]


def test_saving_to_a_new_file(
    data_client: TestClient,
    tmp_path: Path,
) -> None:
    ask(data_client, "learn/start", method="counts")
    ask(data_client, "learn/save", name="better.json")
    found = load(tmp_path / "better.json")
    assert found.provenance["data"] == "days.jsonl"
    assert "is there already" in ask(data_client, "learn/save", name="better.json")["error"]
    ask(data_client, "learn/save", name="better.rules")
    assert same(load(tmp_path / "better.rules"), found.cascade)


@pytest.mark.parametrize(
    "name", ["../x.json", "/tmp/x.json", ".x.json", "x.txt", "", None, 3, "a/b.json", "a\0.json"]
)
def test_names_that_files_must_not_have(data_client: TestClient, name: Any) -> None:
    ask(data_client, "learn/start", method="counts")
    answer = data_client.post("/api/learn/save", json={"name": name})
    assert answer.status_code == 422


def test_rules_are_induced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")

    def quick(table: Any, target: str, **how: Any) -> Cascade:
        assert (list(table), target, how["max_rules"]) == (["age", "risk"], "risk", 4)
        return parse(
            "number age cuts {50} attribute risk in {high, low} "
            "if age >= 50 then risk in {high} if age < 50 then risk in {low}"
        )

    monkeypatch.setattr(induction, "induce", quick)  # which other tests run
    rules, data = tmp_path / "risk.rules", tmp_path / "people.csv"
    rules.write_text(
        "number age cuts {30} attribute risk in {low, high} "
        "if age >= 30 then risk in {high} if age < 30 then risk in {low}"
    )
    ages = [25, 33, 41, 52, 60, 68] * 4
    lines = [f"{age},{'high' if age > 50 else 'low'}" for age in ages]
    data.write_text("age,risk\n" + "\n".join(lines))
    session = Session.open(rules, data)
    session.rows.wait()
    client = client_of(session)
    status = ask(client, "learn/induce", target="risk", max_rules=4)
    trial = status["result"]["trial"]
    assert (trial["unseen"], trial["after"]["right"]) == (True, trial["after"]["samples"])
    assert trial["before"]["samples"] == trial["after"]["samples"] == 8  # a third of the rows
    assert "induced rules are new" in ask(client, "learn/parameters")["error"]
    ask(client, "learn/accept")
    assert session.work.rules.infer({"age": 70})["risk"].best == "high"
    session.rows.wait()
    assert ask(client, "data/figures")["result"]["counts"]["right"] == 24


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("start", {"method": "magic"}, "there is no method 'magic'"),
        ("start", {"method": ["exact"]}, "there is no method"),
        ("start", {"fixed": "all"}, "fixed is 'all'"),
        ("start", {"tolerance": -1}, "the tolerance is -1"),
        ("start", {"tolerance": "a"}, "the tolerance is 'a'"),
        ("start", {"smoothing": None}, "the smoothing is None"),
        ("start", {"share": 2}, "the share of rows is 2"),
        ("start", {"targets": "street"}, "targets is a list"),
        ("start", {"targets": ["sky"]}, "the data has no labels of 'sky'"),
        ("parameters", {}, "nothing was learned yet"),
        ("accept", {}, "nothing was learned yet"),
        ("discard", {}, "nothing was learned yet"),
        ("save", {"name": "x.json"}, "nothing was learned yet"),
    ],
)
def test_bad_questions(
    data_client: TestClient,
    name: str,
    content: dict[str, Any],
    message: str,
) -> None:
    answer = data_client.post(f"/api/learn/{name}", json=content)
    assert answer.status_code == 422
    assert message in answer.json()["error"]


def test_a_column_that_there_is_not_fails_in_words(data_client: TestClient) -> None:
    pytest.importorskip("pandas")
    assert "has no column 'x'" in ask(data_client, "learn/induce", target="x")["error"]


def test_new_rules_are_tried_on_rows_that_were_not_learned_from(tmp_path: Path) -> None:
    rules, data = tmp_path / "rain.rules", tmp_path / "days.csv"
    rules.write_text(RAIN)
    rng = np.random.default_rng(0)
    skies = rng.integers(2, size=60)
    streets = np.where(rng.random(60) < 0.2, 1 - skies, skies)
    names = [("clear", "dark"), ("dry", "wet")]
    lines = [f"{names[0][a]},{names[1][b]}" for a, b in zip(skies, streets, strict=True)]
    data.write_text("sky,street\n" + "\n".join(lines))
    session = Session.open(rules, data)
    session.rows.wait()
    client = client_of(session)
    trial = ask(client, "learn/start", method="counts")["result"]["trial"]
    known, tried = learn_view.split_rows(60, 1 / 3)
    assert (len(known), len(tried), trial["unseen"]) == (40, 20, True)
    batch = session.rows.batch()
    part = batch.targets["street"][known]
    expected = learn(parse(RAIN), batch.evidence[known], {"street": part}, method="counts")
    page = ask(client, "learn/parameters", all=True)
    learned = expected.cascade.rule_sets[0]
    assert [row["after"] for row in page["rows"]] == np.stack([learned.s, learned.r], 1).tolist()
    weights = expected.sets["street"].counts.weights
    held = [[w[0], w[0] + w[1]] for w in weights.tolist()]
    assert [row["held"] for row in page["rows"]] == held
    right = (skies == streets)[tried].sum()
    assert trial["before"]["right"] == trial["after"]["right"] == right
    assert trial["title"] == "The same answers, with other certainties"


def test_choices(data_client: TestClient) -> None:
    found = ask(data_client, "learn/choices")
    assert found["targets"] == ["street"]
    assert found["methods"] == ["exact", "counts", "gradient"]
