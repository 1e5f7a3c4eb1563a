"""Relational rules as text, JSON and Python; and what is said of mistakes."""

from pathlib import Path

import pytest
from hypothesis import given

from pinesy import load, parse, save
from pinesy.exceptions import DataError, RuleSetError, RulesTextError
from pinesy.relations import (
    Graph,
    Relation,
    RelationalRules,
    RelationLiteral,
    Variable,
    variables,
)
from pinesy.relations.relational_json import read_relational_rules, rules_content
from pinesy.rulebase.parse import declares_relations
from relations.programs import programs

EVERYTHING = """
    relation parent(person, person)
    closed relation married(person, person)
    attribute digit(image) in 0..9
    relation next(image, image)
    relation rain
    function total(X, Y) = digit(X) + digit(Y) for next(X, Y) and X != Y
    if parent(X, Y) or parent(X, Z) and ancestor(Z, Y) then ancestor(X, Y)
    if parent(Z, X) and parent(Z, Y) and X != Y then sibling(X, Y) [certainty=0.9]
    iff exists Y: married(X, Y) then spouse(X) [s=0.25, r=0.125]
    if total(X, Y) > 12 and digit(X) not in {1, 2} then big(X)
    if next(X, Y) and digit(Y) == 3 then digit(X) in {4, 5} [certainty=0.5]
    if at least 2 Z: (parent(X, Z) and Z != "Ann Lee") then many(X)
    if parent(X, "Bob") and rain then not sibling(X, 7)
"""


@given(programs())
def test_text_and_json_give_the_rules_back(program: tuple[RelationalRules, Graph]) -> None:
    rules, _ = program
    assert RelationalRules.parse(str(rules)) == rules
    assert read_relational_rules(__import__("json").dumps(rules_content(rules))) == rules


def test_files_give_the_rules_back(tmp_path: Path) -> None:
    rules = RelationalRules.parse(EVERYTHING)
    assert parse(str(rules)) == rules
    for name in ("family.rules", "family.json"):
        save(rules, tmp_path / name)
        assert load(tmp_path / name) == rules
    with pytest.raises(DataError, match=r"\.zip"):
        save(rules, tmp_path / "family.zip")
    text = (tmp_path / "family.rules").read_text()
    (tmp_path / "cut.rules").write_text(text[: len(text) // 2])
    with pytest.raises(DataError, match="cut off"):
        load(tmp_path / "cut.rules")
    (tmp_path / "wrong.json").write_text('{"format":"pinesy relations","version":1,"rules":3}')
    with pytest.raises(DataError, match="form"):
        load(tmp_path / "wrong.json")


def test_rules_are_made_in_python() -> None:
    X, Y, Z = variables("X Y Z")
    parent = Relation("parent", ("person", "person"))
    ancestor = Relation("ancestor", ("person", "person"))
    made = RelationalRules(
        [parent],
        [
            ancestor(X, Y).when([parent(X, Y)], [parent(X, Z), ancestor(Z, Y)], certainty=0.75),
            (~ancestor(X, Y)).when(parent(Y, X)),
            Relation("root", ("person",))(X).exactly_when(parent(X, "ann"), s=0.5),
        ],
    )
    text = """
        relation parent(person, person)
        if parent(X, Y) or parent(X, Z) and ancestor(Z, Y) then ancestor(X, Y) [certainty=0.75]
        if parent(Y, X) then not ancestor(X, Y)
        iff parent(X, ann) then root(X) [s=0.5, r=0]
    """
    assert made == RelationalRules.parse(text)
    assert made.relations["ancestor"].sorts == ("person", "person")
    with pytest.raises(RuleSetError, match="2 arguments; got 1"):
        parent(X)
    with pytest.raises(RuleSetError, match="capital"):
        Variable("x")
    with pytest.raises(RuleSetError, match="literals"):
        ancestor(X, Y).when(3)  # type: ignore[arg-type]


def test_templates_write_relational_rules() -> None:
    rules = RelationalRules.parse("""
        let c = 0.5
        relation p(t)
        for i in 1..2 { if p(X) and p(i) then q(X, i) [certainty=c] }
        define same(name) { if p(X) then name(X) }
        same(copy)
    """)
    assert str(rules.rules[1]) == "if p(X) and p(2) then q(X, 2) [certainty=0.5]"
    assert str(rules.rules[2]) == "if p(X) then copy(X)"


def test_a_formula_is_written_in_cases() -> None:
    rules = RelationalRules.parse(
        "relation p(t) relation q(t) relation r(t)if r(X) and not (p(X) and not q(X)) then z(X)"
    )
    assert str(rules.rules[0]) == "if r(X) and not p(X) or r(X) and q(X) then z(X)"


@pytest.mark.parametrize(
    ("text", "line", "column", "cure"),
    [
        ("relation p(t)\nif p(X) then q(X, Y)", 2, 14, "add a relation that Y is in"),
        ("relation p(t)\nif p(X) and not p(Y) then q(X)", 2, 17, "add a relation that Y is in"),
        ("relation p(t)\nif p(X) and X < Y then q(X)", 2, 13, "add a relation that Y is in"),
        ("relation p(t)\nif p(X, Y) then q(X)", 2, 4, "takes 1 argument; got 2"),
        ("relation p(t)\nif pp(X) then q(X)", 2, 4, "did you mean 'p'"),
        ("relation p(a) relation q(b)\nif p(X) and q(X) then r(X)", 2, 13, "one name"),
        ("relation p(t)\niff p(X) then q(X)\niff p(X) then q(X)", 3, 15, "one 'iff' with 'or'"),
        ("closed relation p(t)\nrelation q(t)\nif q(X) and not p(X) then p(X)", 3, 17, "p -> p"),
        (
            "closed relation p(t) relation b(t)\nif b(X) and not p(X) then q(X)\nif q(X) then p(X)",
            2,
            17,
            "declare all of them closed",
        ),
        (
            "closed relation p(t) closed relation q(t) relation b(t)\n"
            "if b(X) and not p(X) then q(X)\nif q(X) then p(X)",
            2,
            17,
            "q -> p -> q",
        ),
        ("relation p(t)\nif p(X) and at least 2 Z: q(Z) then q(X)", 2, 13, "q -> q"),
        ("relation p(t)\nif not exists Y: p(Y) then q(a)", 2, 4, "iff exists Y"),
        ("relation p(t)\nif forall Y: p(Y) then q(a)", 2, 4, "iff exists Y"),
        ("relation p(t)\nif p(X) and exists X: p(X) then q(a)", 2, 13, "rename"),
        ("relation p(t)\nif p(_) then q(a)", 2, 6, "name"),
        ("relation p(t)\nif p(X) then q(X) and p(X)", 2, 19, "a rule for each"),
        ("relation p(t)\nif p(X) then q(X) [certainty=1.5]", 2, 20, "[0, 1]"),
        ("relation p(t)\nrelation p(t, t)", 2, 10, "declared twice"),
        ("relation p(t) attribute d(t) in 0..9\nif d(X) == 12 then p(X)", 2, 12, "12"),
        ("relation p(t) attribute d(t) in 0..9\nif d(X) then p(X)", 2, 4, "compare its value"),
        ("relation p(t) attribute d(t) in 0..9\nif d(X) in 0..9 then p(X)", 2, 4, "some of the"),
        ("relation p(t) attribute d(t) in 0..9\niff p(X) then d(X) == 3", 2, 15, "write 'if'"),
        ("relation p(t) attribute d(t) in 0..9\nfunction f(X) = d(X) + 1", 2, 1, "ends with 'for'"),
        ("relation p(t) attribute d(t) in 0..9\nfunction f(X) = d(Y) + 1 for p(X)", 2, 1, "Y"),
        ("relation p(t)\nnumber age", 2, 1, "statement"),
    ],
)
def test_mistakes_are_located_with_the_cure(text: str, line: int, column: int, cure: str) -> None:
    with pytest.raises(RulesTextError) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert cure in str(caught.value)


def test_texts_without_relations_are_read_as_before() -> None:
    text = "attribute relation in {0, 1} attribute b in {0, 1} if relation in {1} then b in {1}"
    assert not declares_relations(text)
    assert parse(text).attributes["relation"].domain == (0, 1)


def test_literals_are_written_so_that_they_are_read_back() -> None:
    literal = RelationLiteral("p", ("Ann", 'a "b"', -3, Variable("X"), "and"))
    assert str(literal) == 'p("Ann", "a \\"b\\"", -3, X, "and")'


def test_check_names_rules_whose_degrees_are_bounds() -> None:
    rules = RelationalRules.parse(
        "closed relation p(t) closed relation q(t) iff q(X) and p(X) or q(X) and not p(X) then r(X)"
    )
    (note,) = rules.check()
    assert "p with both signs" in note


def test_cases_of_a_rule_may_count_the_same_variable() -> None:
    text = """relation e(t, t)
relation p(t, t)
relation q(t)
if at least 1 C: (e(X, C)) or at least 2 C: (p(X, C)) then q(X)
"""
    rules = parse(text)
    assert parse(str(rules)) == rules
    with pytest.raises(RulesTextError, match="variable C is used outside"):
        parse(text.replace("then q(X)", "and q(C) then q(X)"))
