"""Facts in all forms, and what is said of wrong ones."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pinesy.exceptions import DataError, DataWarning, DegreeError, ShapeError
from pinesy.relations import Graph, RelationalRules, Table, load_facts

networkx = pytest.importorskip("networkx")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

RULES = RelationalRules.parse("""
    relation parent(person, person)
    relation male(person)
    if parent(X, Y) and male(X) then father(X, Y)
""")


def facts(graph: Graph, relation: str) -> dict[tuple[Any, ...], tuple[float, float]]:
    table = graph.facts(relation)
    rows = [tuple(graph.entity_names(column)) for column in table.columns.T]
    return dict(
        zip(rows, zip(table.certain.tolist(), table.against.tolist(), strict=True), strict=True)
    )


@pytest.mark.parametrize("library", [pandas, polars])
def test_data_frames(library: Any) -> None:
    frame = library.DataFrame(
        {"a": ["x", "y"], "b": ["y", "z"], "certainty": [0.5, 0.0], "possibility": [1.0, 0.1]}
    )
    graph = Graph().add("parent", frame)
    assert facts(graph, "parent") == {("x", "y"): (0.5, 0.0), ("y", "z"): (0.0, 0.9)}


def test_rows_repeat_and_contradict() -> None:
    graph = Graph({"parent": [("x", "y", 0.5), ("x", "y", 0.75), ("y", "z")]})
    graph.add("parent", [("x", "y")], possibility=0.25)
    assert facts(graph, "parent") == {("x", "y"): (0.75, 0.75), ("y", "z"): (1.0, 0.0)}
    assert facts(Graph({"male": ["x", "y"]}), "male") == {("x",): (1.0, 0.0), ("y",): (1.0, 0.0)}
    assert facts(Graph({"rain": [()]}), "rain") == {(): (1.0, 0.0)}


def test_graphs_of_networkx_and_back() -> None:
    content = networkx.Graph()
    content.add_edge("x", "y", certainty=0.5)
    graph = Graph().add("parent", content, both_ways=True)
    assert facts(graph, "parent") == {("x", "y"): (0.5, 0.0), ("y", "x"): (0.5, 0.0)}
    table = RULES.infer(graph)["parent"]
    assert isinstance(table, Table)
    assert table.to_networkx().edges["y", "x"] == {"certainty": 0.5, "possibility": 1.0}
    assert table.to_pandas()["certain"].tolist() == [0.5, 0.5]
    assert table.to_polars()["X"].to_list() == ["x", "y"]


def test_files(tmp_path: Path) -> None:
    (tmp_path / "parent.csv").write_text('a,b,certainty\n"x, 1",y,0.5\n')
    (tmp_path / "male.tsv").write_text('who\n"x"\n')
    graph = load_facts(tmp_path, RULES.relations)
    assert facts(graph, "parent") == {("x, 1", "y"): (0.5, 0.0)}
    assert facts(graph, "male") == {('"x"',): (1.0, 0.0)}
    assert facts(load_facts(tmp_path / "parent.csv", RULES.relations), "parent")
    (tmp_path / "triples.tsv").write_text("head\trelation\ttail\nx\tparent\ty\nx\tparent\tz\t0.5\n")
    graph = load_facts(tmp_path / "triples.tsv", RULES.relations)
    assert facts(graph, "parent") == {("x", "y"): (1.0, 0.0), ("x", "z"): (0.5, 0.0)}
    graph.attach("digit", [[0.75, 0.25]], ["i"])
    graph.save(tmp_path / "graph.json")
    loaded = load_facts(tmp_path / "graph.json", RULES.relations)
    assert facts(loaded, "parent") == facts(graph, "parent")
    assert loaded.attached["digit"].degrees.tolist() == [[1.0, 0.5]]
    text = (tmp_path / "graph.json").read_text()
    for name, content in {
        "cut": text[:40],
        "other": "{}",
        "index": text.replace("[[0,", "[[9,"),
    }.items():
        (tmp_path / f"{name}.json").write_text(content)
        with pytest.raises(DataError, match=name):
            Graph.load(tmp_path / f"{name}.json")


def test_probabilities_of_a_network() -> None:
    graph = Graph().attach("male", np.array([0.75, 0.25]), ["x", "y"])
    assert facts(graph, "male") == {("x",): (0.5, 0.0), ("y",): (0.0, 0.5)}


@pytest.mark.parametrize(
    ("content", "error", "cure"),
    [
        ([("x", "y", 1.5)], DegreeError, "row 0: 1.5"),
        ([("x", "y", float("nan"))], DegreeError, "row 0"),
        ([("x", "y"), ("x",)], DataError, "row 1"),
        ([("x", None)], DataError, "missing"),
        ([("x", ["y"])], DataError, "texts and numbers"),
        ("parents", DataError, "rows"),
        (3, DataError, "list of tuples"),
    ],
)
def test_wrong_facts(content: Any, error: type[Exception], cure: str) -> None:
    with pytest.raises(error, match=cure):
        Graph().add("parent", content)


def test_wrong_triples_and_tables(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"row 1.*2 fields"):
        Graph().add_triples([("x", "r", "y"), ("x", "r")])
    with pytest.raises(DataError, match="row 0"):
        Graph().add_triples([("x", "", "y")])
    (tmp_path / "t.tsv").write_text("x\tr\ty\thigh\n")
    with pytest.raises(DegreeError, match="high"):
        Graph().add_triples(tmp_path / "t.tsv")
    (tmp_path / "parent.csv").write_text("a,b\nx\n")
    with pytest.raises(DataError, match="line 2"):
        Graph().add("parent", tmp_path / "parent.csv")
    with pytest.raises(ShapeError, match="1 facts"):
        Graph().add("parent", [("x", "y")], certainty=[0.5, 0.5])
    with pytest.raises(ShapeError, match="a row for each"):
        Graph().attach("digit", [[1.0, 0.0]], ["x", "y"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"no \.csv"):
        load_facts(tmp_path / "empty", ["parent"])
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "parnt.csv").write_text("a,b\nx,y\n")
    with pytest.raises(DataError, match="'parent'"):
        load_facts(tmp_path / "facts", ["parent"])


def test_facts_that_do_not_fit_the_rules() -> None:
    with pytest.raises(DataError, match="takes 2"):
        RULES.infer({"parent": ["x"]})
    with pytest.warns(DataWarning, match="did you mean 'parent'"):
        RULES.infer({"parnt": [("x", "y")]})
    rules = RelationalRules.parse("relation p(a) relation q(b) if p(X) then r(X)")
    with pytest.raises(DataError, match="'x' is of sort 'a' in 'p' and of sort 'b' in 'q'"):
        rules.infer({"p": ["x"], "q": ["x"]})
    rules = RelationalRules.parse("relation p(t) attribute d(t) in {u, v} if d(X) == u then p(X)")
    with pytest.raises(DataError, match="attach"):
        rules.infer({"d": ["x"]})
    with pytest.raises(DataError, match="3 columns"):
        rules.infer(Graph().attach("d", [[1.0, 0.5, 0.5]], ["x"], transform=None))
