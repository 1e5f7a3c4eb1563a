"""The paper's example of a justification, and the literature's of reduction and the unexpected."""

from typing import Any

import pytest

from golden import PAPER
from paper.blood_glucose import FUTURE, RULES
from paper.same_digit import A1, A2, FIRST, B
from pinesy.explanations import Triplet, TripletProposition, explain

SAME_DIGIT: dict[str, Any] = PAPER["same_digit"]["explanation"]
GLUCOSE: dict[str, Any] = PAPER["blood_glucose"]


def triplets(rules: Any, evidence: Any, proposition: Any) -> list[Triplet]:
    [node] = explain(rules, evidence, proposition, eta=0.1).values
    assert node.justification is not None
    return sorted(node.justification.triplets, key=lambda t: t.number)


def test_the_same_digit() -> None:
    evidence = {A1: SAME_DIGIT["a1"], A2: SAME_DIGIT["a2"]}
    value = tuple(SAME_DIGIT["value"])
    found = explain(FIRST, evidence)
    assert (found.values[0].value, found.possibility) == (value, SAME_DIGIT["degree"])
    assert [
        [f"p{t.number}", t.semantics, t.degree] for t in triplets(FIRST, evidence, B.isin({value}))
    ] == SAME_DIGIT["triplets"]


@pytest.mark.parametrize("value", GLUCOSE["justification"])
def test_blood_glucose_justification(value: str) -> None:
    found = triplets(RULES, GLUCOSE["inputs"], FUTURE.isin({value}))
    expected = GLUCOSE["justification"][value]
    assert [[t.number, t.semantics, t.degree] for t in found] == expected


def shown(parts: tuple[TripletProposition, ...]) -> dict[str, list[Any]]:
    return {p.proposition.attribute.name: sorted(p.reduced.values, key=str) for p in parts}


def test_blood_glucose_reductions() -> None:
    expected = GLUCOSE["reductions"]
    one, two, three = triplets(RULES, GLUCOSE["inputs"], FUTURE.isin({"high"}))
    assert shown(one.reduced) == expected["rule 1, possibility"]
    assert one.unexpected == ()
    assert list(shown(two.reduced)) == expected["rule 2, kept under necessity"]
    assert list(shown(two.unexpected)) == expected["rule 2, unexpected under necessity"]
    assert [p.degree for p in two.unexpected] == [1.0]
    assert list(shown(three.unexpected)) == ["current-blood-glucose"]


def test_blood_glucose_certainty() -> None:
    found = explain(RULES, GLUCOSE["inputs"], eta=0.1)
    assert (found.possibility, found.certainty) == (1.0, 0.7)
    assert [node.value for node in found.rivals] == ["low", "medium"]
    for node in found.rivals:
        [triplet] = node.justification.triplets if node.justification else ()
        assert shown(triplet.reduced) == GLUCOSE["reductions"]["rule 1, necessity"]
        assert (triplet.semantics, triplet.degree, triplet.unexpected) == ("C", 0.7, ())
