"""The weights of worlds equal those of all worlds listed in exact fractions."""

from contextlib import redirect_stdout
from fractions import Fraction
from io import StringIO
from itertools import permutations, product
from math import prod
from runpy import run_path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inverse.conditioning_problems import trees
from pinesy import (
    Attribute,
    Cascade,
    If,
    Iff,
    RuleSet,
    all_different,
    function,
    parity_of,
    parse,
    sum_of,
)
from pinesy.exceptions import CascadeError, RuleSetError
from pinesy.problems import addition, sudoku
from pinesy.rulebase.cascade_worlds import joint_part, world_parts
from pinesy.semantics import SEMANTICS
from pinesy.semantics.semirings import NumpyWeights
from pinesy.semantics.worlds import marginals
from semantics.worlds_oracle import likelihood, weights
from strategies import Draw, random_batch, shaped_cascades

MOST_WORLDS = 3000
NAMES = [name for name in SEMANTICS if SEMANTICS[name].sums_out]


class Case(NamedTuple):
    cascade: Cascade
    inputs: dict[str, list[Fraction]]


def certain(cascade: Cascade) -> Cascade:
    """The same rules without uncertainty: parameters of at least 0.5 are 1."""
    return cascade.with_parameters(
        {
            s.output.name: ((s.s >= 0.5).astype(float), (s.r >= 0.5).astype(float))
            for s in cascade.stated
        }
    )


@st.composite
def loops(draw: Draw) -> Case:
    """Functions of functions of the same attributes: two ways lead from the first to the last."""
    a, b = Attribute("a", range(3)), Attribute("b", range(2))
    first = _function(draw, "c", [a, b])
    second = _function(draw, "d", [a, b])
    last = _function(draw, "e", [first.attributes["c"], second.attributes["d"], a])
    counts = {x.name: draw(st.permutations(range(1, len(x.domain) + 1))) for x in (a, b)}
    inputs = {name: [Fraction(n, sum(many)) for n in many] for name, many in counts.items()}
    return Case(Cascade(first, second, last), inputs)


def _function(draw: Draw, name: str, inputs: list[Attribute]) -> Cascade:
    """A function of some attributes, drawn value by value."""
    cells = list(product(*(a.domain for a in inputs)))
    values = draw(st.lists(st.integers(0, 2), min_size=len(cells), max_size=len(cells)))
    values[:2] = 0, 1  # so that there is something to tell apart
    table = dict(zip(cells, values, strict=True))
    return function(name, inputs, lambda *cell: table[cell])


@st.composite
def cases(draw: Draw) -> Case:
    cascade = certain(draw(trees() | shaped_cascades()))
    if prod(len(a.domain) for a in cascade.attributes.values()) > MOST_WORLDS:
        cascade = Cascade(cascade.order[0])
    inputs = {}
    for a in cascade.inputs:
        counts = draw(st.lists(st.integers(0, 4), min_size=len(a.domain), max_size=len(a.domain)))
        counts[draw(st.integers(0, len(counts) - 1))] += 1
        inputs[a.name] = [Fraction(c, sum(counts)) for c in counts]
    return Case(cascade, inputs)


def arrays(inputs: dict[str, list[Fraction]], n: int = 1) -> dict[str, Any]:
    return {name: np.array([list(map(float, p))] * n) for name, p in inputs.items()}


def expected(case: Case, name: str, semantics: str) -> list[float]:
    found = weights(case.cascade, case.inputs, name, semantics)
    if semantics == "most probable explanation" and max(found) > 0:
        found = [w / max(found) for w in found]
    return [float(w) for w in found]


@given(cases() | loops(), st.sampled_from(NAMES))
def test_weights_are_those_of_all_worlds(case: Case, semantics: Any) -> None:
    outputs = [s.output.name for s in case.cascade.order]
    result = case.cascade.infer(arrays(case.inputs), outputs, semantics=semantics)
    for name in outputs:
        np.testing.assert_allclose(
            result[name].weights[0], expected(case, name, semantics), rtol=1e-12, atol=1e-15
        )


@given(cases(), st.sampled_from(NAMES), st.sampled_from([1, 4, 20, 100]))
def test_small_tables_give_the_same_or_are_refused(
    case: Case, semantics: Any, largest: int
) -> None:
    name = case.cascade.order[-1].output.name
    try:
        found = case.cascade.infer(
            arrays(case.inputs), [name], semantics=semantics, largest=largest
        )[name]
    except (CascadeError, RuleSetError):
        return
    wanted = expected(case, name, semantics)
    np.testing.assert_allclose(found.weights[0], wanted, rtol=1e-12, atol=1e-15)


@given(cases() | loops(), st.sampled_from(NAMES), st.data())
def test_the_weight_of_answers_is_that_of_the_worlds_that_agree(
    case: Case, semantics: str, data: st.DataObject
) -> None:
    sets = data.draw(st.lists(st.sampled_from(case.cascade.order), min_size=1, unique=True))
    answers = {s.output.name: data.draw(st.sampled_from(s.output.domain)) for s in sets}
    part = joint_part(case.cascade, tuple(answers), SEMANTICS[semantics], 1 << 20)
    inputs = arrays(case.inputs, 3)
    one_hot = [
        np.eye(len(a.domain))[[a.position(value)] * 3]
        for a, value in ((case.cascade[n].output, v) for n, v in answers.items())
    ]
    n_inputs = len(part.given) - len(answers)
    weight, logs = part.run(
        NumpyWeights(SEMANTICS[semantics].semiring),
        [inputs[name] for name in part.given[:n_inputs]] + one_hot,
        scale=semantics != "goedel",
    )
    wanted = float(likelihood(case.cascade, case.inputs, answers, semantics))
    np.testing.assert_allclose(weight * np.exp(logs), wanted, rtol=1e-12, atol=1e-15)


def test_goedel_of_possibilities_is_the_possibilistic_semantics() -> None:
    """For normalised inputs, where the possibilistic semantics is exact: the same, to the bit."""
    rules, rng = addition(3), np.random.default_rng(0)
    pi = {a.name: random_batch(rng, 20, 10) for a in rules.inputs}
    names = tuple(s.output.name for s in rules.order)
    parts, _ = world_parts(rules, names, SEMANTICS["goedel"], 1 << 20)
    found = marginals(parts, NumpyWeights(SEMANTICS["goedel"].semiring), pi)
    for name, inferred in rules.infer(pi, names).items():
        np.testing.assert_array_equal(found[name], inferred.degrees)


def test_sums_of_long_numbers_are_convolutions() -> None:
    """The marginals of Addition-100 are those of a chain of carries, computed by hand."""
    rng = np.random.default_rng(0)
    k, rules = 100, addition(100)
    p = {a.name: rng.dirichlet(np.full(10, 0.2), size=4) for a in rules.inputs}
    result = rules.infer(p, semantics="probabilistic")
    carry = np.tile([1.0, 0.0], (4, 1))
    for i in range(k, 0, -1):
        two = np.zeros((4, 20))
        for u in range(10):
            for v in range(10):
                both = p[f"a_{i}"][:, u] * p[f"a_{k + i}"][:, v]
                two[:, u + v] += both * carry[:, 0]
                two[:, u + v + 1] += both * carry[:, 1]
        carry = np.stack([two[:, :10].sum(axis=1), two[:, 10:].sum(axis=1)], axis=1)
        np.testing.assert_allclose(result[f"y_{i}"].weights, two[:, :10] + two[:, 10:], rtol=1e-9)
    np.testing.assert_allclose(result["y_0"].weights, carry, rtol=1e-9)


def test_loops_are_joined() -> None:
    cells = [Attribute(f"cell{i}", range(4)) for i in range(4)]
    rng = np.random.default_rng(1)
    p = {a.name: rng.dirichlet(np.ones(4), size=5) for a in cells}
    found = all_different("valid", cells).infer(p, semantics="probabilistic")["valid"]
    wanted = sum(
        np.prod([p[f"cell{i}"][:, v] for i, v in enumerate(q)], axis=0)
        for q in permutations(range(4))
    )
    np.testing.assert_allclose(found[True], wanted, rtol=1e-12)


def test_loops_that_join_too_much_are_refused() -> None:
    """A Sudoku asks for the joint distribution of most of its cells."""
    rules = sudoku(4)
    p = {a.name: np.full((1, 4), 0.25) for a in rules.inputs}
    with pytest.raises(CascadeError, match=r"loops tie .* together, .* entries; .*raise largest"):
        rules.infer(p, semantics="probabilistic")


def test_the_most_probable_sum_of_a_hundred_bits_does_not_vanish() -> None:
    bits = [Attribute(f"b{i}", (0, 1)) for i in range(400)]
    p = {a.name: np.array([[0.9, 0.1]]) for a in bits}
    odd = parity_of("odd", bits).infer(p, semantics="mpe")["odd"]
    np.testing.assert_allclose(odd.weights, [[1.0, 1 / 9]])


def test_what_rules_leave_open_is_decided_by_lot() -> None:
    rules = parse("""
        attribute sky in {clear, dark}
        attribute rain in {no, light, heavy}
        if sky in {dark} then rain in {light, heavy}
    """)
    p = {"sky": {"clear": 0.4, "dark": 0.6}}
    third = 0.4 / 3
    rain = rules.infer(p, semantics="probabilistic")["rain"]
    np.testing.assert_allclose(rain.weights, [third, third + 0.3, third + 0.3])
    best = rules.infer(p, semantics="most probable explanation")["rain"]
    np.testing.assert_allclose(best.weights, [2 / 3, 1.0, 1.0])


def test_contradictions_lose_their_weight() -> None:
    rules = parse("""
        attribute a in {0, 1}
        attribute b in {0, 1}
        if a in {1} then b in {1}
        if a in {1} then b in {0}
        if a in {0} then b in {0}
    """)
    b = rules.infer({"a": [0.25, 0.75]}, semantics="probabilistic")["b"]
    assert b.to_dict() == {0: 0.25, 1: 0.0}
    assert b.total == 0.25
    nothing = rules.infer({"a": 1}, semantics="probabilistic")["b"]
    assert nothing.best is None
    assert not nothing.decided


def test_many_open_rules_without_a_common_attribute_are_refused_or_listed() -> None:
    """How many values are left depends on all inputs at once."""
    inputs = [Attribute(f"a{i}", (0, 1)) for i in range(6)]
    b = Attribute("b", range(7))
    rules = Cascade(
        RuleSet(If(a.isin({1})).then(b.isin(set(b.domain) - {i})) for i, a in enumerate(inputs))
    )
    p = {a.name: [Fraction(1, 4), Fraction(3, 4)] for a in inputs}
    found = rules.infer(arrays(p), semantics="probabilistic")["b"].weights[0]
    np.testing.assert_allclose(found, [float(w) for w in weights(rules, p, "b", "probabilistic")])
    with pytest.raises(RuleSetError, match="depends on 6 inputs, too many to list"):
        rules.infer(arrays(p), semantics="probabilistic", largest=60)


def test_sums_of_many_digits_of_one_attribute_each() -> None:
    digits = [Attribute(f"d{i}", range(10)) for i in range(5)]
    p = {a.name: np.full((1, 10), 0.1) for a in digits}
    total = sum_of("total", digits).infer(p, semantics="probabilistic")["total"].weights[0]
    wanted = np.array([1.0])
    for _ in digits:
        wanted = np.convolve(wanted, np.full(10, 0.1))
    np.testing.assert_allclose(total, wanted, rtol=1e-12)


def test_long_premises_are_chains() -> None:
    """A table of 2 ** 30 entries is not made."""
    bits = [Attribute(f"b{i}", (0, 1)) for i in range(30)]
    out = Attribute("all", (False, True))
    premise: Any = bits[0].isin({1})
    for bit in bits[1:]:
        premise = premise & bit.isin({1})
    rules = Cascade(RuleSet([Iff(premise).then(out.isin({True}))]))
    p = {a.name: np.array([[0.1, 0.9]]) for a in bits}
    found = rules.infer(p, semantics="probabilistic")["all"]
    np.testing.assert_allclose(found.weights, [[1 - 0.9**30, 0.9**30]])


@pytest.mark.parametrize("name", ["date_is_valid", "last_digit", "pattern", "parity"])
@pytest.mark.parametrize("semantics", NAMES)
def test_tasks_of_the_examples_are_inferred(name: str, semantics: Any) -> None:
    """For sure inputs all semantics say what the possibilistic one does."""
    with redirect_stdout(StringIO()):
        rules = run_path(f"examples/{name}.py")["rules"]
    rng = np.random.default_rng(0)
    places = {a.name: rng.integers(0, len(a.domain), 5) for a in rules.inputs}
    sure = {a.name: np.eye(len(a.domain))[places[a.name]] for a in rules.inputs}
    inferred = rules.infer(sure)
    for attribute, found in rules.infer(sure, semantics=semantics).items():
        np.testing.assert_allclose(found.weights, inferred[attribute].degrees)
