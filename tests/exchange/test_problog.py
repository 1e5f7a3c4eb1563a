"""ProbLog, an independent tool, computes the same probabilities from the text of `to_problog`."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinesy import (
    Attribute,
    Cascade,
    DegreeError,
    Iff,
    RuleSet,
    RuleSetError,
    UnknownAttributeError,
    parse,
    to_problog,
)
from pinesy.exchange import problog_text
from pinesy.problems import addition
from strategies import ODD_NAMES, ODD_TEXTS, chosen

problog = pytest.importorskip("problog")


def by_problog(text: str) -> dict[str, float]:
    model = problog.program.PrologString(text)
    found = problog.get_evaluatable().create_from(model).evaluate()
    return {str(query): probability for query, probability in found.items()}


def check(rules: Cascade, inputs: dict[str, Any]) -> None:
    """Compare ProbLog's answers with those of inference."""
    found = by_problog(to_problog(rules, inputs))
    for name, answer in rules.infer(inputs, semantics="probabilistic").items():
        atom, terms = problog_text._atom(name), problog_text._terms(rules.attributes[name])
        wanted = [found.get(f"value({atom},{term})", 0.0) for term in terms]
        np.testing.assert_allclose(answer.weights, wanted, rtol=1e-9, atol=1e-12)


def drawn(rules: Cascade, rng: np.random.Generator) -> dict[str, list[float]]:
    """Draw probabilities of all inputs, some of them 0."""
    inputs = {}
    for a in rules.inputs:
        counts = rng.integers(0, 3, len(a.domain)) + (np.arange(len(a.domain)) < 2)
        inputs[a.name] = (counts / counts.sum()).tolist()
    return inputs


LOOP = """
    attribute a in {0, 1, 2}
    attribute b in {0, 1}
    attribute c in {0, 1}
    attribute d in {0, 1, 2}
    iff a in {0, 1} then b in {1}
    if a in {1} then c in {1}
    iff b in {1} and c in {0} then d in {0}
    iff b in {0} then d in {2}
"""


@pytest.mark.parametrize("rules", [parse(LOOP), addition(1)], ids=["loop", "addition"])
def test_problog_says_the_same(rules: Cascade) -> None:
    check(rules, drawn(rules, np.random.default_rng(0)))


#: Contradictory for some inputs; of d some values are told apart by no rule.
OPEN = """
    attribute a in {0, 1, 2}
    attribute b in {0..4}
    attribute c in {0, 1}
    attribute d in {0..3}
    if a in {0, 1} then b in {0..2}
    if a in {1, 2} then b in {2..4}
    if a in {2} then b in {0}
    if not (b in {1, 2}) or a in {0} then c in {1}
    if c in {1} then d in {1..3}
    if b in {0} then d in {0, 1}
"""


def test_lots_are_drawn_and_contradictions_lose_their_worlds() -> None:
    rules = parse(OPEN)
    inputs = {"a": [0.5, 0.25, 0.25]}
    assert rules.infer(inputs, semantics="probabilistic")["d"].total == 0.75
    check(rules, inputs)


@settings(max_examples=10)
@given(st.data())
def test_problog_says_the_same_of_random_rules(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=4, max_size=4))
    a, b, c, d = (Attribute(n, range(k)) for n, k in zip("abcd", sizes, strict=True))
    sets = []
    for known, output in (((a, b), c), ((c, a), d)):
        rules = []
        for _ in range(data.draw(st.integers(1, 2))):
            masks = [data.draw(st.integers(0, x.full)) for x in known]
            parts = [x.isin(chosen(x, mask)) for x, mask in zip(known, masks, strict=True)]
            conclusion = output.isin(chosen(output, data.draw(st.integers(1, output.full))))
            s, r = (data.draw(st.sampled_from([0.0, 1.0])) for _ in "sr")
            rules.append(Iff(parts[0] & parts[1]).then(conclusion, s=s, r=r))
        sets.append(RuleSet(rules))
    cascade = Cascade(*sets)
    check(cascade, drawn(cascade, np.random.default_rng(data.draw(st.integers(0, 9)))))


@pytest.mark.parametrize("name", [*ODD_NAMES, "query", "value", "A", "_", "%"])
def test_odd_names_are_quoted(name: str) -> None:
    a, b = Attribute(name, [0, 1]), Attribute(f"{name}?", [-1, 2])
    check(Cascade(RuleSet([Iff(a.isin({1})).then(b.isin({2}))])), {name: [0.25, 0.75]})


def test_odd_values_are_quoted_and_told_apart() -> None:
    domain = [*ODD_TEXTS, 1, 0, -1, None, ("a", 1), "1", 1.25, "\\n", "\U000e0001"]
    a, b = Attribute("a", [0, 1]), Attribute("b", domain)
    rules = Cascade(RuleSet([Iff(a.isin({1})).then(b.isin(domain[::2]))]))
    check(rules, {"a": [0.25, 0.75]})


def test_what_is_not_known_is_even_and_what_is_not_asked_is_left_out() -> None:
    rules = parse(LOOP)
    text = to_problog(rules, query=["b"])
    assert "'d'" not in text
    found = by_problog(text)
    assert found == pytest.approx({"value('b',0)": 1 / 3, "value('b',1)": 2 / 3})


def test_what_cannot_be_written_is_refused() -> None:
    rules = parse(LOOP.replace("then c in {1}", "then c in {1} [s=1, r=0.25]"))
    with pytest.raises(RuleSetError, match=r"ProbLog has no uncertain rules: .*r = 0.25.*to_onnx"):
        to_problog(rules)
    to_problog(rules, query=["b"])  # which does not depend on it
    with pytest.raises(UnknownAttributeError, match="'bb'"):
        to_problog(rules, query=["bb"])
    with pytest.raises(DegreeError, match="one sample; got a batch of 2"):
        to_problog(parse(LOOP), {"a": np.full((2, 3), 1 / 3)})


def test_too_many_clauses_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problog_text, "MAX_CLAUSES", 20)
    with pytest.raises(RuleSetError, match=r"rules on 'b' leave .* more than 20 clauses"):
        to_problog(parse(OPEN))
