"""The Rules view: errors at their places, rules that are used and saved, the graph."""

from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from browser import SAILING
from pinesy import Cascade, parse
from pinesy.problems import addition, sudoku
from pinesy.studio import Session
from pinesy.studio.rules_view import LAYER, rule_graph
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


def members(graph: dict[str, Any], rules: Cascade) -> dict[str, set[str]]:
    """Return the attributes of each box."""
    boxes: dict[str, set[str]] = {box["key"]: set() for box in graph["boxes"]}
    for name in [*(a.name for a in rules.inputs), *rules.sets]:
        boxes[graph["home"].get(name, name)].add(name)
    return boxes


def test_small_graphs_have_a_box_for_each_attribute() -> None:
    rules = addition(2)
    graph = rule_graph(rules)
    assert {key: {key} for key in rules.attributes} == members(graph, rules)
    layers = {box["key"]: box["layer"] for box in graph["boxes"]}
    links = {(a, b) for a, b, _ in graph["links"]}
    assert links == {(a.name, s.output.name) for s in rules.order for a in s.inputs}
    assert all(layers[a] < layers[b] for a, b in links)
    places = [(box["layer"], box["rank"]) for box in graph["boxes"]]
    assert len(set(places)) == len(places)


def test_equal_sets_of_large_graphs_are_folded_until_they_are_opened() -> None:
    rules = sudoku(4)
    graph = rule_graph(rules)
    assert [box["count"] for box in graph["boxes"]] == [16, 56, 1]
    assert sorted(link[2] for link in graph["links"]) == [56, 112]
    assert sorted(map(len, members(graph, rules).values())) == [1, 16, 56]
    opened = rule_graph(rules, [graph["boxes"][0]["key"]])
    assert sorted(box["count"] for box in opened["boxes"]) == [1] * 17 + [56]


def test_wide_layers_of_different_sets_stay_small() -> None:
    names = " ".join(
        f"attribute a{i} in {{0..{i + 1}}} attribute b{i} in {{0..{i + 1}}}" for i in range(99)
    )
    rules = parse(names + " ".join(f"if a{i} in {{1}} then b{i} in {{{i}}}" for i in range(99)))
    graph = rule_graph(rules)
    assert len(graph["boxes"]) == 2 * LAYER
    assert sum(map(len, members(graph, rules).values())) == 198
