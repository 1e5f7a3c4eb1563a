"""Margins: no smaller move changes the decision, and for coherent rules a larger one can."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from explanations import attempts
from explanations.small_functions import functions, questions
from inverse.conditioning_problems import trees
from messages import raises_saying
from pinesy import Attribute, Cascade, Iff, RuleSet, antipignistic, parse
from pinesy.exceptions import CascadeError, DataError, DegreeError, UnknownAttributeError
from pinesy.explanations import input_margins, is_coherent, margin
from pinesy.problems import addition, sudoku
from strategies import BatchCase, batches, shaped_cascades

DIGITS = {"a_1": antipignistic({3: 0.8, 8: 0.2}), "a_2": antipignistic({4: 0.9, 9: 0.1})}
ANY = functions() | trees() | shaped_cascades()
#: Moves are this little below or above a margin: rounding of ``1 - h`` is far less.
HAIR = Fraction(1, 10**12)


def moved(pi: Sequence[float], e: Fraction, signs: Sequence[int]) -> list[Fraction]:
    """Move each degree down, not at all or up by `e`, within [0, 1]; then see to normality.

    A value that can be 1 within `e` is raised to 1 if none is.
    """
    new = [
        min(Fraction(1), max(Fraction(0), Fraction(d) + k * e))
        for d, k in zip(pi, signs, strict=True)
    ]
    if max(new) < 1:
        able = [i for i, d in enumerate(pi) if Fraction(d) + e >= 1]
        new[able[signs[0] % len(able)]] = Fraction(1)
    return new


@given(questions(ANY), st.randoms(use_true_random=False))
def test_no_move_below_the_margin_changes_a_decision(question: Any, random: Any) -> None:
    cascade, evidence, output = question
    before = cascade.infer(evidence, [output])[output.name]
    found = margin(cascade, evidence, output)
    gap = before.degrees.max() - np.sort(before.degrees)[-2] if len(output.domain) > 1 else np.inf
    assert found >= gap / 2
    assert (found == 0.0) == (len(attempts.leaders(before)) > 1)
    assume(found > 0.0)
    event("coherent" if is_coherent(cascade, output) else "not known to be coherent")
    e = Fraction(min(found, 1.0)) - HAIR
    tries = [_random_signs(evidence, random) for _ in range(20)]
    tries += [_aimed(cascade, evidence, value, output, e) for value in output.domain]
    for degrees in infer_all(cascade, evidence, output, e, tries):
        place = int(before.degrees.argmax())
        assert degrees[place] > np.delete(degrees, place).max(initial=-1.0)


Signs = dict[str, list[int]]


def infer_all(
    cascade: Cascade, evidence: Any, output: Attribute, e: Fraction, tries: Sequence[Signs]
) -> Any:
    """What is inferred after each of some moves."""
    rows = {
        n: np.array([[float(d) for d in moved(pi, e, signs[n])] for signs in tries])
        for n, pi in evidence.items()
    }
    return cascade.infer(rows, [output])[output.name].degrees


def _random_signs(evidence: Any, random: Any) -> Signs:
    return {n: random.choices([-1, 0, 1], k=len(pi)) for n, pi in evidence.items()}


def _aimed(cascade: Cascade, evidence: Any, value: Any, output: Attribute, e: Fraction) -> Signs:
    """Raise what raises the value, lower the rest, seen one degree at a time."""
    places = [(n, i) for n, pi in evidence.items() for i in range(len(pi))]
    still = {n: [0] * len(pi) for n, pi in evidence.items()}
    single = [
        {n: [int((n, k) == place) for k in range(len(row))] for n, row in still.items()}
        for place in places
    ]
    column = output.position(value)
    base, *raised = infer_all(cascade, evidence, output, e, [still, *single])[:, column].tolist()
    gains = dict(zip(places, raised, strict=True))
    return {
        n: [1 if gains[n, k] > base else -1 for k in range(len(row))] for n, row in still.items()
    }


@given(questions(ANY))
@settings(max_examples=80)
def test_the_margin_of_coherent_rules_is_reached(question: Any) -> None:
    cascade, evidence, output = question
    assume(is_coherent(cascade, output))
    best = attempts.leaders(cascade.infer(evidence, [output])[output.name])[0]
    found = margin(cascade, evidence, output)
    event(f"finite: {found < np.inf}")
    e = Fraction(found) + HAIR if found < np.inf else Fraction(2)
    raised = {n: moved(pi, e, [1] * len(pi)) for n, pi in evidence.items()}
    wins = attempts.wins(attempts.infer(cascade, raised, output), best)
    assert wins == (found == np.inf)


@given(questions(ANY))
def test_the_margin_of_one_input(question: Any) -> None:
    """Only that input moves: it cannot below its margin, and can above where rules are coherent."""
    cascade, evidence, output = question
    best = attempts.leaders(cascade.infer(evidence, [output])[output.name])[0]
    found = input_margins(cascade, evidence, output)
    assert list(found.values()) == sorted(found.values())
    assert found.keys() == {a.name for a in cascade.compile([output]).inputs}
    for name, most in found.items():
        assert most >= margin(cascade, evidence, output)
        for signs in list(product([-1, 1], repeat=len(evidence[name])))[:16]:
            if most > 0:
                below = moved(evidence[name], Fraction(min(most, 1.0)) - HAIR, signs)
                after = attempts.infer(cascade, {**evidence, name: below}, output)
                assert attempts.wins(after, best)
        if is_coherent(cascade, output):
            e = Fraction(most) + HAIR if most < np.inf else Fraction(2)
            above = moved(evidence[name], e, [1] * len(evidence[name]))
            after = attempts.infer(cascade, {**evidence, name: above}, output)
            assert attempts.wins(after, best) == (most == np.inf)


@given(questions(functions() | trees(sizes=(1, 3)) | shaped_cascades()))
def test_coherence_is_what_all_crisp_inputs_show(question: Any) -> None:
    cascade = question[0]
    for output in (s.output for s in cascade.rule_sets):
        inputs = cascade.compile([output]).inputs
        rows = list(product(*(np.eye(len(a.domain)) for a in inputs)))
        crisp = {a.name: np.array([row[i] for row in rows]) for i, a in enumerate(inputs)}
        highest = cascade.compile([output]).infer(crisp)[output.name].degrees.max(axis=1)
        event(f"coherent: {bool((highest == 1.0).all())}")
        assert is_coherent(cascade, output) == bool((highest == 1.0).all())


def test_what_no_inputs_bring_about_does_not_count() -> None:
    """The second set leaves no value for b = 1 and a = 0, which rules exclude."""
    rules = parse("""
        attribute a in {0, 1}
        attribute b in {0, 1}
        attribute c in {0, 1}
        iff a in {1} then b in {1}
        if b in {1} then c in {1}
        if a in {0} then c in {0}
    """)
    assert not is_coherent(rules["c"])
    assert is_coherent(rules, "c")
    assert margin(rules, {"a": [1.0, 0.2]}, "c") == 0.8


CLASHING = parse("""
    attribute a in {0, 1}
    attribute b in {0, 1}
    attribute c in {0, 1, 2}
    if a in {1} then c in {0} [r=0.3]
    if b in {1} then c in {1} [r=0.6]
    if a in {0} then c in {0, 1}
""")


@pytest.mark.parametrize(
    ("a", "b", "exact", "alone"),
    [
        ([0.9, 1.0], [0.0, 1.0], 0.3, [0.3, 0.9]),
        ([0.9, 1.0], [0.5, 1.0], 0.2, [0.3, 0.4]),
        ([0.1, 1.0], [1.0, 0.8], 0.5, [0.9, np.inf]),
        ([1.0, 0.5], [0.5, 1.0], 0.5, [0.5, 0.5]),
    ],
)
def test_margins_of_rules_that_may_contradict(
    a: list[float], b: list[float], exact: float, alone: list[float]
) -> None:
    """Half of the gap is 0.15, 0.15, 0.35 and 0.2. A little more than the margin and it is over."""
    sees = {"a": a, "b": b}
    assert margin(CLASHING, sees) == pytest.approx(exact)
    found = input_margins(CLASHING, sees)
    assert [found["a"], found["b"]] == pytest.approx(alone)
    best = attempts.leaders(CLASHING.infer(sees)["c"])[0]
    e = Fraction(exact) + HAIR
    for signs in product([-1, 0, 1], repeat=4):
        after = {"a": moved(a, e, signs[:2]), "b": moved(b, e, signs[2:])}
        if not attempts.wins(attempts.infer(CLASHING, after, CLASHING.outputs[0]), best):
            return
    raise AssertionError("no move of the margin changes the decision")


@given(batches(sizes=(1, 2, 130)))
@settings(max_examples=30)
def test_a_batch_is_its_samples(case: BatchCase) -> None:
    for output in (case.cascade.rule_sets[0].output, case.cascade.order[-1].output):
        found = margin(case.cascade, case.evidence, output)
        assert found.shape == (case.n,)
        for i in {0, case.n // 2, case.n - 1}:
            assert found[i] == margin(case.cascade, case.row(i), output)


def test_addition() -> None:
    assert is_coherent(addition(2), "y_0")
    assert margin(addition(1), DIGITS, "y_1") == 0.6
    assert input_margins(addition(1), DIGITS, "y_1") == {"a_1": 0.6, "a_2": 0.8}
    tie = {"a_1": {3: 1.0, 8: 1.0}, "a_2": {4: 1.0}}
    assert margin(addition(1), tie, "y_1") == 0.0


def test_a_sudoku() -> None:
    rules = sudoku(4)
    assert is_coherent(rules)
    grid = np.array([[0, 1, 2, 3], [2, 3, 0, 1], [1, 0, 3, 2], [3, 2, 1, 0]])
    sees = {
        f"a_{i + 1}_{j + 1}": np.maximum(np.eye(4)[grid[i, j]], 0.1) for i, j in np.ndindex(4, 4)
    }
    sees["a_3_1"] = np.array([0.4, 1.0, 0.1, 0.1])
    assert margin(rules, sees) == 0.6
    assert next(iter(input_margins(rules, sees).items())) == ("a_3_1", 0.6)


def test_parameters_below_1_do_not_make_a_margin_smaller() -> None:
    """The second value is at 0.7 by a parameter, but only its premise can raise it to 1."""
    a, b = Attribute("a", range(2)), Attribute("b", range(2))
    rules = Cascade(RuleSet([Iff(a.isin({1})).then(b.isin({1}), s=0.7, r=0.7)]))
    assert rules.infer({"a": [1.0, 0.3]})["b"].to_dict() == {0: 1.0, 1: 0.7}
    assert margin(rules, {"a": [1.0, 0.3]}) == 0.7


def test_a_decision_that_no_inputs_change() -> None:
    a, b = Attribute("a", range(2)), Attribute("b", range(2))
    always = Cascade(RuleSet([Iff(a.isin({0, 1})).then(b.isin({1}))]))
    assert margin(always, {"a": [1.0, 0.0]}) == np.inf
    assert input_margins(always, {"a": [1.0, 0.0]}) == {"a": np.inf}
    only = Cascade(RuleSet([Iff(a.isin({0})).then(Attribute("c", [0]).isin({0}))]))
    assert margin(only, {"a": [0.5, 1.0]}) == np.inf


def test_bad_input() -> None:
    rules = addition(1)
    with raises_saying(CascadeError, "have 2 outputs (y_1, y_0)", "output="):
        margin(rules, DIGITS)
    with raises_saying(UnknownAttributeError, "no rule set concludes on 'y_7'"):
        margin(rules, DIGITS, "y_7")
    with raises_saying(UnknownAttributeError, "the rules conclude on", "not on"):
        margin(rules, DIGITS, Attribute("y_1", range(3)))
    with raises_saying(DegreeError, "'a_1'", "not normalised"):
        margin(rules, {**DIGITS, "a_1": {3: 0.9}}, "y_1")
    with raises_saying(DegreeError, "'a_1'", "not normalised"):
        input_margins(rules, {**DIGITS, "a_1": {3: 0.9}}, "y_1")
    with raises_saying(DataError, "one sample", "batch"):
        input_margins(rules, {"a_1": np.eye(10), "a_2": np.eye(10)}, "y_1")


@pytest.mark.parametrize("output", ["y_0", "y_1", "c_1", "w_1"])
def test_any_attribute_that_rules_conclude_on(output: str) -> None:
    found = margin(addition(1), DIGITS, output)
    assert found == min(input_margins(addition(1), DIGITS, output).values())


def test_margins_of_rules_beside_a_formula() -> None:
    rules = parse(
        "attribute sky in {clear, dark} attribute wind in {low, high} "
        "attribute street in {dry, wet} attribute sail in {no, yes} "
        "iff sky in {dark} then street in {wet} [s=0.1, r=0.2] "
        "if wind in {high} or street in {wet} then sail in {no}"
    )
    sees = {"sky": [1.0, 0.5], "wind": "low"}
    assert margin(rules, sees, "street") == 0.5
    assert input_margins(rules, sees, "street") == {"sky": 0.5}
