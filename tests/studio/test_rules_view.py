"""The Rules view: errors at their places, findings, rules that are used and saved, the picture."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from browser import SAILING
from pinesy import Cascade, Target, evaluate, induce, load, parse, save
from pinesy.induction.points_cascade import card_of
from pinesy.problems import addition, sudoku
from pinesy.rulebase.check_report import Finding
from pinesy.samples import Batch
from pinesy.studio import Session, rules_view
from pinesy.studio.row_table import RowTable
from pinesy.studio.rule_cards import numbered_rules
from pinesy.studio.rules_picture import MAX_CARDS, rules_picture, visible_edges
from pinesy.studio.rules_view import finding_data, rule_lines
from pinesy.studio.session import Work
from studio.conftest import ask
from studio.touched_files import touch


def post(client: TestClient, endpoint: str, **content: Any) -> tuple[int, Any]:
    """Return the status and the answer of an endpoint."""
    answer = client.post(f"/api/rules/{endpoint}", json=content)
    return answer.status_code, answer.json()


def test_the_text_is_that_of_the_file(client: TestClient) -> None:
    _, told = post(client, "text")
    assert (told["text"], told["file"]) == (SAILING, "sail.rules")
    assert {"iff", "number", "attribute", "then"} < set(told["keywords"])


def test_errors_have_their_place(client: TestClient, session: Session) -> None:
    wrong = SAILING.replace("then street", "than street")
    status, told = post(client, "look", text=wrong)
    line = wrong.split("\n").index("iff sky in {dark} than street in {wet} [s=0.1, r=0.2]") + 1
    assert (status, told["line"], told["column"]) == (422, line, 19)
    assert "expected 'then'" in told["error"]
    assert post(client, "use", text=wrong)[0] == 422
    assert post(client, "look", text=3)[1]["error"] == "there is no text of rules"
    assert (session.version, session.work.text) == (0, SAILING)


def test_findings_are_those_of_check(client: TestClient, session: Session) -> None:
    text = SAILING + "if sky in {dark} then sailing in {no, yes}\n"
    _, told = post(client, "look", text=text)
    assert [f["text"] for f in told["findings"]] == list(map(str, parse(text).check().findings))
    assert session.version == 0


def test_rules_are_used_and_saved(client: TestClient, session: Session, rules: Path) -> None:
    text = SAILING.replace("r=0.25", "r=0.5") + "# mine\n"
    assert post(client, "use", text=text) == (200, {"version": 1})
    assert (session.work.rules, session.work.text) == (parse(text), text)
    assert rules.read_text() == SAILING
    assert post(client, "save") == (200, {"file": "sail.rules"})
    assert rules.read_text() == text
    assert session.changed_files() == []
    touch(rules, SAILING)
    status, told = post(client, "save")
    assert (status, "changed on disk" in told["error"]) == (422, True)
    assert rules.read_text() == SAILING


def test_only_files_of_rules_are_written(session: Session, client: TestClient) -> None:
    session.path = None
    assert "come from no .rules file" in post(client, "save")[1]["error"]


# --- findings and lines ---------------------------------------------------------------------------


def test_rules_have_their_lines() -> None:
    written = SAILING.replace("then sailing", "\n  then sailing", 1)
    rules = parse(written)
    lines = written.split("\n")
    found = rule_lines(written, rules)
    assert sorted(found) == [1, 2, 3]
    for number, _, rule in numbered_rules(rules):
        premise = str(rule.premise).split(" ", 1)[0]
        assert lines[found[number] - 1].lstrip().startswith(("if", "iff"))
        assert premise in lines[found[number] - 1]


def test_rules_of_templates_have_no_lines() -> None:
    written = (
        "attribute a[1..3] in {0, 1} attribute b[1..3] in {0, 1}\n"
        "for i in 1..3:\n  if a[i] == 1 then b[i] == 1\n"
    )
    assert rule_lines(written, parse(written)) == {}


def test_a_case_is_a_sample_of_the_page() -> None:
    case = {"sky": "dark", "wind": 12.0}
    finding = Finding("note", "gap", "sail", "no rule decides", rules=(1,), case=case)
    content = finding_data(parse(SAILING), finding, {1: 7})
    assert content["case"] == {"sky": {"value": 2}, "wind": {"number": 12.0}}
    assert content["lines"] == [7]


def test_many_rules_are_checked_on_request(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules_view, "QUICK", 1)
    assert post(client, "look", text=SAILING)[1]["findings"] is None
    assert post(client, "look", text=SAILING, thoroughly=True)[1]["findings"] is not None


def test_rules_at_work_are_those_of_evaluate(data_client: TestClient, labelled: Session) -> None:
    found = ask(data_client, "rules/work")["result"]
    batch = labelled.rows.batch()
    report = evaluate(labelled.work.rules, batch.evidence, batch.targets)
    counts = {row["number"]: (row["decides"], row["right"]) for row in found["rules"]}
    pairs = zip(report.decides.tolist(), report.decides_right.tolist(), strict=True)
    assert counts == dict(enumerate(pairs, 1))
    assert found["samples"] == 6


# --- the picture ----------------------------------------------------------------------------------


def ids(picture: Mapping[str, Any]) -> dict[str, int]:
    """Return the layer of each card."""
    layers = enumerate(picture["layers"])
    return {card["id"]: i for i, layer in layers for card in layer["cards"]}


def test_formulas_are_inside_their_rules() -> None:
    picture = rules_picture(parse(SAILING))
    titles = [layer["title"] for layer in picture["layers"]]
    assert titles == [
        "Given", "Rules on street", "In between", "Rules on sailing", "Answer",
    ]  # fmt: skip
    cards = {card["id"]: card for layer in picture["layers"] for card in layer["cards"]}
    assert cards["r 2"]["premise"] == "wind is at least 30 or street is wet"
    assert ["a wind", "r 2"] in picture["edges"]
    assert ["a street", "r 2"] in picture["edges"]
    assert not any("or street" in key for key in cards)


@pytest.mark.parametrize("rules", [parse(SAILING), addition(1), addition(2), addition(6)])
def test_edges_lead_to_later_layers(rules: Cascade) -> None:
    picture = rules_picture(rules)
    layer = ids(picture)
    edges = list(visible_edges(picture))
    assert edges == [tuple(edge) for edge in picture["edges"]]
    assert all(layer[start] < layer[end] for start, end in edges)
    assert len(set(edges)) == len(edges) > 0


def test_equal_sets_of_large_rule_bases_are_folded_until_they_are_unfolded() -> None:
    rules = sudoku(4)
    picture = rules_picture(rules)
    [given] = picture["layers"][0]["cards"]
    assert (given["count"], given["title"], given["last"]) == (16, "a_1_1", "a_4_4")
    unfolded = rules_picture(rules, [given["id"]])
    assert [card["count"] for card in unfolded["layers"][0]["cards"]] == [1] * 16
    layer = ids(unfolded)
    assert all(layer[start] < layer[end] for start, end in visible_edges(unfolded))


def test_wide_layers_of_different_sets_stay_small() -> None:
    names = " ".join(
        f"attribute a{i} in {{0..{i + 1}}} attribute b{i} in {{0..{i + 1}}}" for i in range(99)
    )
    rules = parse(names + " ".join(f"if a{i} in {{1}} then b{i} in {{{i}}}" for i in range(99)))
    picture = rules_picture(rules)
    assert [len(layer["cards"]) for layer in picture["layers"]] == [MAX_CARDS] * 3
    assert picture["layers"][0]["more"] == f"and {99 - MAX_CARDS} more attributes"
    assert len(list(visible_edges(picture))) == 2 * MAX_CARDS


def test_many_rules_on_an_attribute_are_counted() -> None:
    names = "attribute a in {0..30} attribute b in {0..30} "
    rules = parse(names + " ".join(f"if a == {i} then b == {i}" for i in range(30)))
    cards = rules_picture(rules)["layers"][1]["cards"]
    assert [card.get("number") for card in cards] == [1, 2, 3, None]
    assert cards[-1]["text"] == "and 27 more rules"


# --- score cards ----------------------------------------------------------------------------------


def test_induced_rules_are_their_score_card() -> None:
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(0)
    table: dict[str, Any] = {name: rng.normal(size=200).round(3) for name in ("x", "y", "z")}
    labels = np.where(table["x"] + table["y"] > 0, "yes", "no").tolist()
    rules = induce({**table, "label": labels}, "label", max_rules=6)
    session = Session(Work(rules, str(rules)))
    content = rules_view.text(session, {})["card"]
    card = card_of(rules)
    assert card is not None
    lines = [line for entry in content["classes"] for line in entry["lines"]]
    assert sorted(line["points"] for line in lines) == sorted(c.points for c in card.lines)
    assert [entry["start"] for entry in content["classes"]] == list(card.start.values())
    assert content["leads"] == list(card.certainties)
    picture = rules_view.picture(session, {})
    assert (picture["layers"], picture["card"]) == ([], content)
    target = Target.of(labels, card.output)
    degrees = [a.scale.degrees(table[a.name]) for a in rules.inputs if a.scale is not None]
    session.rows = RowTable(
        lambda: [Batch(np.hstack(degrees), range(200), 0, {"label": target})], rules.inputs
    )
    session.rows.wait()
    work = rules_view.rules_at_work(session)
    assert work["lines"]
    for row in work["rules"]:
        [rule] = rules[card.lines[row["number"] - 1].attribute].rules
        gives = rules[rule.conclusion.attribute.name]
        inferred = gives.infer({a.name: table[a.name] for a in gives.inputs})
        assert row["decides"] == (inferred.necessity(rule.conclusion) == 1.0).sum()
        assert 0 <= row["right"] <= row["decides"]


def test_a_score_card_is_saved_with_its_rules(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    x = np.random.default_rng(0).normal(size=60).round(3)
    rules = induce({"x": x, "label": np.where(x > 0, "yes", "no").tolist()}, "label")
    path = tmp_path / "card.rules"
    save(rules, path)
    session = Session.open(path)
    session.use(session.work.with_rules(rules))
    rules_view.save(session, {})
    assert card_of(load(path)) is not None
