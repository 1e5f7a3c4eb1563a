"""Questions visit what they reach, stop at a level, and refuse what would not fit."""

import numpy as np
import pytest

from pinesy.exceptions import DataError
from pinesy.relations import Graph, GroundAtom, RelationalRules, Table
from pinesy.relations.definite_clauses import AtomTable
from pinesy.relations.known_graph import KnownGraph

PATHS = """
    relation edge(node, node)
    if edge(X, Y) or path(X, Z) and edge(Z, Y) then path(X, Y)
"""
#: The same relation in a form that is not recognised as a closure.
GUARDED = """
    relation edge(node, node)
    if edge(X, Y) and X != Y then path(X, Y)
    if path(X, Z) and edge(Z, Y) and X != Y then path(X, Y)
"""


def islands(n: int, seed: int = 0) -> Graph:
    """Return a graph of two parts: 30 nodes, and `n` that they do not reach."""
    rng = np.random.default_rng(seed)
    small = rng.integers(0, 30, (90, 2))
    large = rng.integers(30, 30 + n, (5 * n, 2))
    return Graph({"edge": [tuple(row) for row in np.concatenate([small, large]).tolist()]})


@pytest.mark.parametrize("text", [PATHS, GUARDED])
@pytest.mark.parametrize("question", ["path(0, X)", "path(X, 0)", "path(0, 1)"])
def test_a_question_visits_no_more_than_is_reachable(text: str, question: str) -> None:
    visits = []
    for n in (100, 10_000):
        known = RelationalRules.parse(text).infer(islands(n))
        known.evaluate(["edge"])
        before = known.evaluation.instances
        known.ask(question)
        visits.append(known.evaluation.instances - before)
    assert visits[0] == visits[1]
    # Each edge of the small part is met at most once from each atom of the answer.
    assert 0 < visits[0] <= 2 * 90 * 30


def test_the_engines_are_chosen_by_the_rules() -> None:
    for text, engine in ((PATHS, "widest"), (GUARDED, "certainty")):
        known = RelationalRules.parse(text).infer(islands(100))
        known.evaluate(["path"])
        assert known.evaluation.engines["path", "certain"] == engine
        assert known.evaluation.engines["edge", "certain"] == "columnar"


@pytest.mark.parametrize(
    "step", ["path(X, Z) and edge(Z, Y)", "edge(X, Z) and path(Z, Y)", "path(X, Z) and path(Z, Y)"]
)
@pytest.mark.parametrize("certainties", [(1.0, 0.5), (0.5, 1.0), (0.75, 0.75)])
def test_closures_equal_the_general_engine(step: str, certainties: tuple[float, float]) -> None:
    rng = np.random.default_rng(1)
    rows = [
        (*row, float(d))
        for row, d in zip(rng.integers(0, 20, (60, 2)).tolist(), rng.random(60), strict=True)
    ]
    rules = RelationalRules.parse(f"""
        relation edge(node, node)
        if edge(X, Y) then path(X, Y) [certainty={certainties[0]}]
        if {step} then path(X, Y) [certainty={certainties[1]}]
    """)
    tables = []
    for engine in (None, "certainty"):
        known = rules.infer(Graph({"edge": rows}))
        known.engine = engine
        table = known["path"]
        assert isinstance(table, Table)
        tables.append(table.to_dict())
        assert known.evaluation.engines["path", "certain"] == (engine or "widest")
    assert tables[0] == tables[1]
    whole = known["path"]
    assert isinstance(whole, Table)
    some = rules.infer(Graph({"edge": rows})).ask("path(X, Y)", among={"X": [3, 4]})
    assert isinstance(some, Table)
    expected = whole.select(np.isin([row[0] for row in whole.rows()], [3, 4])).sorted()
    assert dict(zip(some.rows(), some.certain, strict=True)) == dict(
        zip(expected.rows(), expected.certain, strict=True)
    )


def test_a_level_stops_the_search() -> None:
    graph = islands(2_000)
    table = graph.facts("edge")
    degrees = np.random.default_rng(0).integers(1, 11, len(table)) / 10
    rows = [(*row, d) for row, d in zip(table.columns.T.tolist(), degrees.tolist(), strict=True)]
    known = RelationalRules.parse(GUARDED).infer(Graph({"edge": rows}))
    counts = []
    for level in (0.0, 0.6, 0.9):
        before = known.evaluation.instances
        answer = known.ask("path(40, X)", certain=level)
        assert isinstance(answer, Table)
        assert (answer.certain >= level).all()
        counts.append(known.evaluation.instances - before)
    assert counts[0] > counts[1] > counts[2]


def test_a_grounding_that_is_too_large_is_refused_with_its_rule() -> None:
    rules = RelationalRules.parse("relation p(t) relation q(t) if p(X) and q(Y) then both(X, Y)")
    n = 40_000
    known = rules.infer({"p": range(n), "q": range(n)})
    with pytest.raises(DataError, match=r"if p.X. and q.Y. then both.*1,600,040,000 ground inst"):
        known.evaluate(["both"])
    answer = known.ask("both(3, Y)")
    assert len(answer) == n  # type: ignore[arg-type]


def test_all_pairs_that_are_too_many_are_refused() -> None:
    known = KnownGraph(RelationalRules.parse(PATHS), islands(300), max_atoms=5_000)
    with pytest.raises(DataError, match="makes 5,001 atoms; the limit is 5,000: ask with const"):
        known["path"]
    known = KnownGraph(RelationalRules.parse(GUARDED), islands(300), max_instances=5_000)
    with pytest.raises(DataError, match="the limit is 5,000"):
        known["path"]
    open_body = RelationalRules.parse("relation e(t, t) iff e(X, Y) then some(X)")
    rows = [(i, i) for i in range(40_000)]
    graph = Graph({"e": rows}).add("e", [(0, 1)], possibility=0.5)
    with pytest.raises(DataError, match="close relations that an 'iff' reads"):
        open_body.infer(graph).evaluate(["some"])


def test_keys_that_do_not_fit_are_refused() -> None:
    rules = RelationalRules.parse("relation p(t, t, t, t, t) if p(X, A, B, C, D) then q(X)")
    graph = Graph({"p": [(i,) * 5 for i in range(10_000)]})
    with pytest.raises(DataError, match="64-bit"):
        rules.infer(graph).evaluate(["q"])


def test_contradictions_are_listed_worst_first() -> None:
    rules = RelationalRules.parse("""
        relation p(t) relation q(t)
        if p(X) then r(X)
        if q(X) then not r(X) [certainty=0.75]
    """)
    known = rules.infer({"p": [("a", 0.5), "b"], "q": ["a", "b", "c"]})
    contradictions = known.contradictions()
    assert [(c.entities, c.contradiction) for c in contradictions] == [
        (("b",), 0.75),
        (("a",), 0.5),
    ]
    assert known.contradictions(least=0.5) == contradictions[:1]


def test_entities_that_are_not_known_give_the_default() -> None:
    rules = RelationalRules.parse("""
        closed relation m(t, t)
        iff m(X, Y) then s(X) [s=0.25, r=0]
        if m(X, Y) then o(X)
    """)
    known = rules.infer({"m": [("a", "b")]})
    for question, degrees in {
        "s(zed)": (0.0, 0.25),
        "o(zed)": (0.0, 1.0),
        "m(zed, a)": (0.0, 0.0),
        "s(b)": (0.0, 0.25),
        "s(a)": (1.0, 1.0),
    }.items():
        atom = known.ask(question)
        assert isinstance(atom, GroundAtom)
        assert (atom.certain, atom.possible) == degrees


def test_numbers_and_texts_are_compared_among_themselves() -> None:
    rules = RelationalRules.parse("relation age(t, n) if age(X, A) and A >= 18 then adult(X)")
    known = rules.infer({"age": [("a", 17), ("b", 18), ("c", 40), ("d", "unknown")]})
    assert known["adult"].rows() == [("b",), ("c",)]


def test_wrong_questions() -> None:
    known = RelationalRules.parse(PATHS).infer(islands(100))
    for question, cure in {
        "pth(0, X)": "known: edge, path|did you mean",
        "path(0)": "takes 2",
        "path(0, X) and": "end",
        "path(f(X), 0)": "not functions",
    }.items():
        with pytest.raises(DataError, match=cure):
            known.ask(question)
    with pytest.raises(DataError, match="no variable 'Z'"):
        known.ask("path(0, X)", among={"Z": [3]})


def test_names_with_quotes_and_markup() -> None:
    rules = RelationalRules.parse("relation `is <b>` (t) if `is <b>`(X) then q(X)")
    known = rules.infer({"is <b>": ['<i>"x"</i>', "\x1b[31m"]})
    table = known["q"]
    assert "\x1b" not in str(table)
    assert "<i>" not in table._repr_html_()  # type: ignore[union-attr]
    atom = known.ask('q("<i>\\"x\\"</i>")')
    assert atom.certain == 1.0


def test_large_joins_are_made_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = RelationalRules.parse("relation e(t, t) if e(X, Y) and e(Y, Z) then two(X, Z)")
    graph = islands(300)
    facts = Graph({"e": [tuple(row) for row in graph.facts("edge").columns.T.tolist()]})
    expected = rules.infer(facts).atoms("two")
    monkeypatch.setattr("pinesy.relations.columnar.BLOCK", 64)
    atoms = rules.infer(facts).atoms("two")
    assert np.array_equal(atoms.keys, expected.keys)


def test_tables_without_row_pointers_are_searched() -> None:
    """Few atoms among many entities: the index has no row for each entity."""
    table = AtomTable(np.array([10**6 + 5, 3 * 10**6 + 1]), np.array([1, 2]), 2, 10**6)
    assert table.index((0,)).rows is None
    rows, others, ranks = table.compressed_rows(0)
    assert (others.tolist(), ranks.tolist(), rows[2] - rows[1]) == ([5, 1], [1, 2], 1)
