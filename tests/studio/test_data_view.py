"""The Data view: figures and rows as the library has them, other labels, and refusals in words."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from pinesy import audit, decide, induce, learn, parse, save
from pinesy.calibration.coverage_report import share_band
from pinesy.guarantees import SelectiveRules, selective_report
from pinesy.learning import evaluate
from pinesy.studio import Session, data_view
from studio.conftest import RAIN, ask, client_of


def test_figures_are_the_librarys(data_client: TestClient, labelled: Session) -> None:
    found = ask(data_client, "data/figures")["result"]
    batch = labelled.rows.batch()
    report = evaluate(labelled.work.rules, batch.evidence, batch.targets)
    counts = found["counts"]
    assert counts["right"] / counts["samples"] == report.scores.accuracy == 5 / 6
    assert (counts["wrong"], counts["undecided"], counts["contradiction"]) == (1, 0, 0)
    assert counts["rightRange"] == list(share_band(5, 6))
    assert [right for _, right in found["curve"]] == report.selective_accuracy.tolist()
    assert "It takes" in found["coverage"]["missing"]


def test_coverage_is_tried_on_rows_that_did_not_calibrate(tmp_path: Path) -> None:
    rules, data = tmp_path / "rain.rules", tmp_path / "days.jsonl"
    rules.write_text(RAIN)
    draw = np.random.default_rng(0).random(200)
    lines = [
        json.dumps({"sky": ("clear", "dark")[i % 2], "street": ("dry", "wet")[(i + (x < 0.1)) % 2]})
        for i, x in enumerate(draw.tolist())
    ]
    data.write_text("\n".join(lines))
    session = Session.open(rules, data)
    session.rows.wait()
    coverage = ask(client_of(session), "data/figures")["result"]["coverage"]
    assert (coverage["samples"], coverage["how"]) == (
        100,
        "calibrated on 100 rows, tried on the other 100",
    )
    for row in coverage["levels"]:
        assert row["low"] <= row["observed"] <= row["high"]
        assert row["high"] >= row["level"]


@pytest.mark.parametrize("method", ["given", "counts"])
def test_the_worst_row_comes_first(data_client: TestClient, labelled: Session, method: str) -> None:
    result = ask(data_client, "data/audit", method=method)["result"]
    assert (result["samples"], result["suspicious"]) == (6, 1)
    assert ("out of fold" in result["basis"]) == (method == "counts")
    page = ask(data_client, "data/page", method=method, filter="suspicious")
    batch = labelled.rows.batch()
    expected: Any = method
    found = audit(labelled.work.rules, batch.evidence, batch.targets, method=expected)
    [row] = page["rows"]
    assert row["row"] == found.order[0]
    assert row | {"line": 4, "label": "wet", "ids": {"id": "d3"}, "state": "wrong"} == row
    assert row["remark"].startswith("The label is possible at ")
    assert "only" in row["remark"]


def test_induced_and_learned_rules_are_judged_out_of_fold(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=60).round(3), rng.normal(size=60).round(3)
    labels = np.where((x > 0) ^ (np.arange(60) == 7), "yes", "no").tolist()
    data, rules = tmp_path / "table.csv", tmp_path / "card.rules"
    lines = [f"{a},{b},{label}" for a, b, label in zip(x, z, labels, strict=True)]
    data.write_text("\n".join(["x,z,label", *lines]) + "\n")
    table = {"x": x, "z": z}
    save(induce({**table, "label": labels}, "label"), rules)
    session = Session.open(rules, data)
    session.rows.wait()
    found = ask(client_of(session), "data/audit")["result"]
    assert "by rules induced without each of 5 folds" in found["basis"]
    rows = ask(client_of(session), "data/page", count=60, filter="suspicious")["rows"]
    expected = audit(session.work.rules, table, {"label": labels})
    assert [row["row"] for row in rows] == expected.order[: expected.suspicious.sum()].tolist()
    assert rows[0]["row"] == 7
    model = tmp_path / "model.json"
    learned = learn(session.work.rules, table, {"label": labels}, method="counts")
    save(learned, model)
    session = Session.open(model, data)
    session.rows.wait()
    found = ask(client_of(session), "data/audit")["result"]
    assert "parameters learned (counts) without each of 5 folds" in found["basis"]


def test_rows_are_filtered_and_paged(data_client: TestClient) -> None:
    def numbers(**how: Any) -> list[int]:
        return [row["row"] for row in ask(data_client, "data/page", **how)["rows"]]

    assert numbers(start=2, count=2) == [2, 3]
    assert numbers(filter="wrong") == [3]
    assert numbers(filter="undecided") == []
    assert numbers(start=100) == []


def test_a_row_has_its_id_what_is_known_and_its_answer(data_client: TestClient) -> None:
    row = ask(data_client, "data/page", start=1, count=1)["rows"][0]
    assert row == {
        "row": 1,
        "line": 2,
        "ids": {"id": "d1"},
        "known": "sky dark",
        "label": "wet",
        "attribute": "street",
        "place": 1,
        "answer": "wet",
        "certainty": 0.8,
        "state": "right",
        "images": {},
        "remark": "",
    }


def test_rows_without_an_answer_say_why(session: Session) -> None:
    client = client_of(session)
    rules = session.work.rules
    rows = ask(client, "data/page", attribute="sailing", count=3)["rows"]
    for row in rows:
        found = rules.infer(session.rows.sample(row["row"]), ["sailing"])["sailing"]
        assert row["state"] == {"decided": "answered"}.get(found.outcome, "undecided")
        assert bool(row["remark"]) == (found.outcome != "decided")
    assert "No rule decides." in {row["remark"] for row in rows}


def test_another_label_changes_what_follows_and_is_undone(data_client: TestClient) -> None:
    before = ask(data_client, "data/figures")["result"]["counts"]
    overview = ask(data_client, "data/label", row=3, attribute="street", place=0)
    assert overview["edits"] == [
        {"row": 3, "line": 4, "attribute": "street", "was": "wet", "now": "dry"}
    ]
    assert ask(data_client, "data/figures")["result"]["counts"]["right"] == 6
    assert ask(data_client, "data/audit")["result"]["suspicious"] == 0
    changed = ask(data_client, "data/consequences", method="counts")["result"]
    assert changed["changed"] == 1
    assert changed["rows"][0]["before"] != changed["rows"][0]["after"]
    assert ask(data_client, "data/undo_label")["edits"] == []
    assert ask(data_client, "data/figures")["result"]["counts"] == before


def test_learning_takes_the_labels_as_they_were_changed(data_client: TestClient) -> None:
    ask(data_client, "data/label", row=3, attribute="street", place=0)
    status = ask(data_client, "learn/start", method="counts")
    assert status["result"]["trial"]["before"]["right"] == 6


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("label", {"row": 6, "attribute": "street", "place": 0}, "there is no row 7"),
        ("label", {"row": -1, "attribute": "street", "place": 0}, "row is -1"),
        ("label", {"row": 0, "attribute": "sky", "place": 0}, "the data has no labels of 'sky'"),
        ("label", {"row": 0, "attribute": "street", "place": 2}, "street has 2 values"),
        ("label", {"row": 0, "attribute": None, "place": 0}, "the data has no labels of None"),
        ("page", {"filter": "<b>"}, "there is no filter '<b>'"),
        ("page", {"filter": ["all"]}, "there is no filter"),
        ("page", {"filter": "suspicious", "method": "magic"}, "there is no method 'magic'"),
        ("page", {"attribute": "x"}, "conclude on no attribute 'x'"),
        ("page", {"start": -1}, "start is -1"),
        ("page", {"count": 0}, "count is 0"),
        ("page", {"attribute": 3}, "conclude on no attribute 3"),
        ("undo_label", {}, "nothing to undo"),
    ],
)
def test_bad_questions(
    data_client: TestClient, name: str, content: dict[str, Any], message: str
) -> None:
    answer = data_client.post(f"/api/data/{name}", json=content)
    assert answer.status_code == 422
    assert message in answer.json()["error"]


def test_rules_without_data(rules: Path) -> None:
    answer = client_of(Session.open(rules)).post("/api/data/overview", json={})
    assert "there is no data" in answer.json()["error"]


def test_an_input_is_no_answer(data_client: TestClient) -> None:
    assert "on no attribute 'sky'" in ask(data_client, "data/figures", attribute="sky")["error"]


def test_rows_with_images(labelled: Session) -> None:
    labelled.rows.images = {"sky": np.zeros((6, 4, 4), np.uint8)}
    row = ask(client_of(labelled), "data/page", count=1)["rows"][0]
    assert row["images"]["sky"].startswith("data:image/png;base64,")


def test_data_without_labels(rules: Path, tmp_path: Path) -> None:
    data = tmp_path / "bare.jsonl"
    data.write_text('{"sky": "dark", "wind": 3}')
    session = Session.open(rules, data)
    session.rows.wait()
    client = client_of(session)
    assert ask(client, "data/overview")["targets"] == []
    figures = ask(client, "data/figures")["result"]
    assert figures["counts"]["labelled"] is False
    assert figures["curve"] == []
    assert figures["coverage"] == {"missing": "It takes rows with labels."}
    assert "the data has no labels" in ask(client, "data/audit")["error"]
    assert ask(client, "learn/choices")["targets"] == []
    assert "the data has no labels" in ask(client, "learn/start")["error"]


def test_labels_and_answers_are_counted(labelled: Session) -> None:
    found = data_view.data_figures(labelled, "street")["confusion"]
    assert found == {
        "title": "street",
        "labels": ["dry", "wet"],
        "answers": ["dry", "wet"],
        "counts": [[2, 0], [1, 3]],
    }


def test_decisions_are_counted_where_a_model_has_a_threshold(selective: Session) -> None:
    found = ask(client_of(selective), "data/figures")["result"]["decisions"]
    model, batch = selective.work.selective, selective.rows.batch()
    assert isinstance(model, SelectiveRules)
    row = selective_report(model.decisions(batch.evidence), batch.targets).rows[0]
    assert 0 < row.wrong < row.decided < row.samples == 300
    assert found == {
        "promise": model.promise,
        "samples": row.samples,
        "decided": row.decided,
        "wrong": row.wrong,
        "range": [row.low, row.high],
    }


@pytest.mark.usefixtures("selective")
def test_decisions_without_labels_or_threshold(data_client: TestClient, tmp_path: Path) -> None:
    assert ask(data_client, "data/figures")["result"]["decisions"] is None
    data = tmp_path / "unlabelled.jsonl"
    data.write_text(json.dumps({"sky": [1.0, 0.0]}) + "\n" + json.dumps({"sky": [1.0, 0.99]}))
    session = Session.open(tmp_path / "sure.json", data)
    session.rows.wait()
    found = ask(client_of(session), "data/figures")["result"]["decisions"]
    assert (found["samples"], found["decided"], found["wrong"]) == (2, 1, None)


def test_costs_are_no_wrong_answers(tmp_path: Path) -> None:
    rules = parse(RAIN)
    sky = np.tile([1.0, 0.0], (2000, 1))
    street = ["dry"] * 2000
    costs = np.array([[0.0, 2.0], [1.0, 0.0]])
    save(
        decide(rules, {"sky": sky}, {"street": street}, error=0.1, costs=costs), tmp_path / "m.json"
    )
    data = tmp_path / "days.jsonl"
    data.write_text(json.dumps({"sky": [1.0, 0.0], "street": "dry"}))
    session = Session.open(tmp_path / "m.json", data)
    session.rows.wait()
    found = ask(client_of(session), "data/figures")["result"]["decisions"]
    assert (found["decided"], found["wrong"]) == (1, None)
