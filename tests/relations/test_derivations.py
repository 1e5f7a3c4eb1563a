"""Why an atom is certain, and what is missing where it is not."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinesy.exceptions import DataError
from pinesy.relations import Derivation, Graph, GroundAtom, RelationalRules, Table
from relations.programs import programs

FAMILY = """
    relation parent(person, person)
    closed relation married(person, person)
    if parent(X, Y) and parent(Y, Z) then grandparent(X, Z)
    if parent(Z, X) and parent(Z, Y) and X != Y then sibling(X, Y) [certainty=0.9]
    if parent(X, Y) or parent(X, Z) and ancestor(Z, Y) then ancestor(X, Y)
    if married(X, Y) then not sibling(X, Y) [certainty=0.99]
    if parent(X, Y) and not married(X, Y) then kin(X, Y)
"""


def family() -> RelationalRules:
    return RelationalRules.parse(FAMILY)


def graph() -> Graph:
    facts = [("ann", "bob", 0.8), ("ann", "dan", 1.0), ("bob", "cleo", 1.0), ("dan", "eve", 0.7)]
    return Graph({"parent": facts, "married": [("bob", "dan")]})


def check_derivation(derivation: Derivation) -> None:
    """Check that no step rests on itself, and that its degree is that of its weakest link."""
    for _, step in derivation.steps():
        below = [s for premise in step.premises for _, s in premise.steps()]
        assert step not in below
        assert step.text not in [s.text for s in below]
        if step.rule is not None:
            assert step.certain == min(step.rule.certainty, *(p.certain for p in step.premises))


@given(programs(), st.data())
def test_a_derivation_is_as_certain_as_its_atom(
    program: tuple[RelationalRules, Graph], data: st.DataObject
) -> None:
    rules, facts = program
    known = rules.infer(facts)
    for name in ("p", "q", "w"):
        table = known[name]
        assert isinstance(table, Table)
        rows = [r for r, c in zip(table.rows(), table.certain, strict=True) if c > 0]
        if rows:
            row = data.draw(st.sampled_from(rows))
            why = rules.infer(facts).why(f"{name}({', '.join(map(str, row))})")
            assert why.derivation is not None
            assert why.derivation.certain == why.certain == table[row].certain
            check_derivation(why.derivation)
            assert why.certain == 1.0 or why.weakest


def test_the_best_derivation_is_shown_with_its_weakest_link() -> None:
    known = family().infer(graph())
    why = known.why("grandparent(ann, cleo)")
    assert why.weakest == ["parent(ann, bob)"]
    assert why.facts == ["parent(ann, bob)", "parent(bob, cleo)"]
    assert "parent(ann, bob)  0.8  fact  <- weakest link" in str(why)
    assert why.to_dict()["steps"][0]["premises"] == ["parent(ann, bob)", "parent(bob, cleo)"]


def test_why_not_of_an_atom_and_its_negation() -> None:
    known = family().infer(graph())
    assert known.why("not sibling(bob, dan)").weakest == ["rule 4"]
    assert known.why("sibling(bob, dan)").weakest == ["parent(ann, bob)"]
    assert known.why("sibling(cleo, eve)").derivation is None


def test_what_is_closed_is_a_reason() -> None:
    derivation = family().infer(graph()).why("kin(ann, dan)").derivation
    assert derivation is not None
    notes = {step.text: step.note for step in derivation.premises}
    assert notes["not married(ann, dan)"] == "not listed: the relation is closed"


def test_a_long_chain_is_explained() -> None:
    names = [f"n{i}" for i in range(3000)]
    rules = RelationalRules.parse("""
        relation next(n, n)
        if next(X, Y) or next(X, Z) and after(Z, Y) then after(X, Y)
    """)
    known = rules.infer(Graph({"next": [*pairwise(names)]}))
    why = known.why("after(n0, n2999)")
    assert len(why.facts) == 2999
    assert why.text().endswith("more steps")


def test_the_picture_escapes_names() -> None:
    rules = RelationalRules.parse("relation p(t) if p(X) then q(X) [certainty=0.5]")
    name = '<script>"a"</script>'
    known = rules.infer(Graph({"p": [name]}))
    why = known.why(f"q({rules_text(name)})")
    assert "<script>" not in why.to_svg()
    assert "<script>" not in why._repr_html_()
    assert "certain 0.5" in why.to_svg()


def rules_text(name: str) -> str:
    return '"' + name.replace('"', '\\"') + '"'


@given(programs(), st.data())
def test_repairs_suffice(program: tuple[RelationalRules, Graph], data: st.DataObject) -> None:
    rules, facts = program
    known = rules.infer(facts)
    names = known.ranked.entities.names
    if not names:
        return
    name = data.draw(st.sampled_from(["p", "q", "w"]))
    arity = len(rules.relations[name].sorts)
    row = [data.draw(st.sampled_from(names)) for _ in range(arity)]
    question = f"{name}({', '.join(map(str, row))})"
    degree = data.draw(st.sampled_from([0.25, 0.5]))
    missing = known.why_not(question, certain=degree)
    if missing.repairs is None or any(r.name in ("shade",) for r in missing.repairs):
        return
    if any(r.negated and r.name in rules.closed for r in missing.repairs):
        return  # such a fact would have to go
    repaired = Graph()
    for relation in facts.relations:
        table = facts.facts(relation)
        for column, certain, against in zip(
            table.columns.T, table.certain, table.against, strict=True
        ):
            entities = tuple(facts.entities.names[i] for i in column)
            repaired.add(relation, [entities], certainty=[certain], possibility=[1.0 - against])
    for attribute, attached in facts.attached.items():
        members = [facts.entities.names[i] for i in attached.columns[0]]
        repaired.attach(attribute, attached.degrees, members, transform=None)
    for repair in missing.repairs:
        possible = 0.0 if repair.negated else 1.0
        repaired.add(repair.name, [repair.entities], possibility=[possible])
    atom = rules.infer(repaired).ask(question)
    assert isinstance(atom, GroundAtom)
    # A fact that was added may close what "not" of a closed relation needed; else it follows.
    uses_not = any(
        lit.negated
        for rule in rules.rules
        for part in rule.parts()
        for lit in [part]
        if hasattr(lit, "negated")
    )
    if not uses_not:
        assert atom.certain >= missing.certain
        assert atom.certain >= missing.would_be or not missing.repairs


def test_fewest_repairs_are_found() -> None:
    known = family().infer(graph())
    missing = known.why_not("grandparent(ann, cleo)", certain=0.9)
    assert missing.repairs is not None
    assert [(r.text, r.now) for r in missing.repairs] == [("parent(ann, bob)", 0.8)]
    assert missing.would_be == 1.0
    missing = known.why_not("sibling(cleo, eve)")
    assert missing.certain == missing.would_be == 0.9
    assert missing.repairs is not None
    assert len(missing.repairs) == 1  # one parent of both; the other link is there
    assert known.why_not("grandparent(ann, cleo)", certain=0.5).repairs == ()


def test_questions_that_cannot_be_explained() -> None:
    known = family().infer(graph())
    with pytest.raises(DataError, match="variable X"):
        known.why("ancestor(ann, X)")
    with pytest.raises(DataError, match="ancestor"):
        known.why("ancester(ann, bob)")
    with pytest.raises(DataError, match="2 arguments"):
        known.why("ancestor(ann)")
