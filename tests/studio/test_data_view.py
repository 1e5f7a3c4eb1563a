"""The Data view: figures and rows as the library has them, other labels, and refusals in words."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from pinesy import audit, induce, learn, save
from pinesy.learning import evaluate
from pinesy.studio import Session
from studio.conftest import ask, client_of


def test_figures_are_the_librarys(data_client: TestClient, labelled: Session) -> None:
    found = ask(data_client, "data/evaluate")["result"]
    batch = labelled.rows.batch()
    report = evaluate(labelled.work.rules, batch.evidence, batch.targets)
    assert found["accuracy"] == report.scores.accuracy == 5 / 6
    assert found["confusion"] == report.confusion.tolist()
    assert found["confused"] == [{"true": "wet", "predicted": "dry", "samples": 1}]
    assert [right for _, right in found["curve"]] == report.selective_accuracy.tolist()
    assert found["coverage"] is None


@pytest.mark.parametrize("method", ["given", "counts"])
def test_the_worst_row_comes_first(data_client: TestClient, labelled: Session, method: str) -> None:
    result = ask(data_client, "data/audit", method=method)["result"]
    assert (result["samples"], result["suspicious"]) == (6, 1)
    assert ("out of fold" in result["basis"]) == (method == "counts")
    rows = ask(data_client, "data/page", method=method, count=3)["rows"]
    batch = labelled.rows.batch()
    expected: Any = method
    found = audit(labelled.work.rules, batch.evidence, batch.targets, method=expected)
    assert [row["row"] for row in rows] == found.order[:3].tolist()
    assert rows[0] | {"line": 4, "label": "wet", "ids": {"id": "d3"}} == rows[0]


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
    rows = ask(client_of(session), "data/page", count=60)["rows"]
    expected = audit(session.work.rules, table, {"label": labels})
    assert [row["row"] for row in rows] == expected.order.tolist()
    assert rows[0]["row"] == 7
    model = tmp_path / "model.json"
    learned = learn(session.work.rules, table, {"label": labels}, method="counts")
    save(learned, model)
    session = Session.open(model, data)
    session.rows.wait()
    found = ask(client_of(session), "data/audit")["result"]
    assert "parameters learned (counts) without each of 5 folds" in found["basis"]


def test_rows_are_sorted_and_paged(data_client: TestClient) -> None:
    def numbers(**how: Any) -> list[int]:
        return [row["row"] for row in ask(data_client, "data/page", **how)["rows"]]

    assert numbers(sort="row", start=2, count=2) == [2, 3]
    assert numbers(sort="row", reversed=True, count=2) == [5, 4]
    assert numbers(sort="label", count=6) == [0, 5, 1, 2, 3, 4]
    assert numbers(sort="nabla", count=1) == [3]
    assert numbers(sort="row", start=100) == []


def test_another_label_changes_what_follows_and_is_undone(data_client: TestClient) -> None:
    before = ask(data_client, "data/evaluate")["result"]["accuracy"]
    overview = ask(data_client, "data/label", row=3, attribute="street", place=0)
    assert overview["edits"] == [
        {"row": 3, "line": 4, "attribute": "street", "was": "wet", "now": "dry"}
    ]
    assert ask(data_client, "data/evaluate")["result"]["accuracy"] == 1.0
    assert ask(data_client, "data/audit")["result"]["suspicious"] == 0
    changed = ask(data_client, "data/consequences", method="counts")["result"]
    assert changed["changed"] == 1
    assert changed["rows"][0]["before"] != changed["rows"][0]["after"]
    assert ask(data_client, "data/undo_label")["edits"] == []
    assert ask(data_client, "data/evaluate")["result"]["accuracy"] == before


def test_learning_takes_the_labels_as_they_were_changed(data_client: TestClient) -> None:
    ask(data_client, "data/label", row=3, attribute="street", place=0)
    status = ask(data_client, "learn/start", method="counts")
    assert status["result"]["accuracyBefore"] == 1.0


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("label", {"row": 6, "attribute": "street", "place": 0}, "there is no row 7"),
        ("label", {"row": -1, "attribute": "street", "place": 0}, "row is -1"),
        ("label", {"row": 0, "attribute": "sky", "place": 0}, "the data has no labels of 'sky'"),
        ("label", {"row": 0, "attribute": "street", "place": 2}, "street has 2 values"),
        ("label", {"row": 0, "attribute": None, "place": 0}, "the data has no labels of None"),
        ("page", {"sort": "<b>"}, "rows cannot be sorted by '<b>'"),
        ("page", {"sort": ["row"]}, "rows cannot be sorted by"),
        ("page", {"method": "magic"}, "there is no method 'magic'"),
        ("page", {"start": -1}, "start is -1"),
        ("page", {"count": 0}, "count is 0"),
        ("evaluate", {"attribute": 3}, "named by a text"),
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


def test_an_attribute_without_labels_fails_in_words(data_client: TestClient) -> None:
    assert "has no targets" in ask(data_client, "data/evaluate", attribute="sky")["error"]


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
    assert "the data has no labels" in ask(client, "data/evaluate")["error"]
    assert ask(client, "learn/choices")["targets"] == []
    assert "the data has no labels" in ask(client, "learn/start")["error"]
