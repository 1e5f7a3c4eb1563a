"""Programs that take probabilities: they are transformed as they are read."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messages import raises_saying
from named_columns import frame_of
from pinesy import (
    Attribute,
    DegreeError,
    DomainError,
    If,
    Possibility,
    RuleSet,
    antipignistic,
    minimum_specificity,
    parse,
)
from pinesy.problems import addition

RULES = parse("""
attribute sky in {clear, grey, dark}
attribute wind in {calm, strong}
number hour cuts {6, 12, 18}
attribute rain in {no, yes}
if sky in {dark} and wind in {strong} then rain in {yes} [s=0.2, r=0.1]
if sky in {clear} or hour < 6 then rain in {no} [s=0.3, r=0.05]
""")
TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "antipignistic": antipignistic,
    "minimum-specificity": minimum_specificity,
}
each_transform = pytest.mark.parametrize("name", TRANSFORMS)


def probabilities(n: int, m: int, seed: int = 0) -> npt.NDArray[np.float64]:
    x = np.exp(np.random.default_rng((seed, n, m)).normal(0, 3, (n, m)))
    return np.asarray(x / x.sum(axis=1, keepdims=True))


def evidence(n: int, seed: int = 0) -> dict[str, npt.NDArray[np.float64]]:
    return {a.name: probabilities(n, len(a.domain), seed) for a in RULES.inputs}


def degrees(result: Any) -> list[Any]:
    return [result[name].degrees.tolist() for name in result]


@each_transform
@settings(max_examples=25)
@given(n=st.integers(1, 300), seed=st.integers(0, 1000))
def test_the_same_as_transforming_before(name: str, n: int, seed: int) -> None:
    given_, transform = evidence(n, seed), TRANSFORMS[name]
    possibilities = {key: transform(p) for key, p in given_.items()}
    expected = degrees(RULES.infer(possibilities))
    assert degrees(RULES.infer(given_, transform=name)) == expected
    assert degrees(RULES.infer(given_, transform=transform)) == expected
    joined = np.hstack([*given_.values()])
    assert degrees(RULES.compile()(joined, transform=name)) == expected
    assert degrees(RULES.infer(np.asfortranarray(joined), transform=name)) == expected


def test_one_sample_in_each_form() -> None:
    program, given_ = RULES.compile(), {k: v[0] for k, v in evidence(1).items()}
    joined = np.concatenate([*given_.values()])
    before = np.concatenate([antipignistic(p) for p in given_.values()])
    dicts = {a: dict(zip(a.domain, given_[a.name].tolist(), strict=True)) for a in RULES.inputs}
    hour = RULES.attributes["hour"]
    for form in (joined, dicts, {**given_, "hour": dicts[hour]}):
        found = program.infer(form, transform="antipignistic")
        assert degrees(found) == degrees(program.infer(before))


def test_float32_is_computed_in_float64() -> None:
    single = {key: p.astype(np.float32) for key, p in evidence(40).items()}
    double = {key: antipignistic(p.astype(np.float64)) for key, p in single.items()}
    expected = degrees(RULES.infer(double))
    assert degrees(RULES.infer(single, transform="antipignistic")) == expected
    joined = np.hstack([*single.values()])
    assert degrees(RULES.infer(joined, transform="antipignistic")) == expected


def test_plain_values_and_possibilities_stay_what_they_are() -> None:
    wind = RULES.attributes["wind"]
    p = probabilities(2, 3)
    known = Possibility(wind, np.array([[1.0, 0.7], [0.4, 1.0]]))
    mixed = {"sky": p, "wind": known, "hour": [3.0, 20.0]}
    before = {**mixed, "sky": antipignistic(p)}
    found = RULES.infer(mixed, transform="antipignistic")
    assert degrees(found) == degrees(RULES.infer(before))
    unknown = {"sky": p[0], "wind": None, "hour": 3.0}
    before = {**unknown, "sky": antipignistic(p[0])}
    found = RULES.infer(unknown, transform="antipignistic")
    assert degrees(found) == degrees(RULES.infer(before))


def test_a_table_of_probabilities() -> None:
    names = [f"{a.name}={value}" for a in RULES.inputs for value in a.domain]
    rows = np.hstack([*evidence(4).values()])
    table: Any = frame_of(names, rows)
    expected = degrees(RULES.infer(rows, transform="antipignistic"))
    assert degrees(RULES.infer(table, transform="antipignistic")) == expected


def test_a_rule_set_alone() -> None:
    a, b = Attribute("a", ["x", "y"]), Attribute("b", ["x", "y"])
    rules = RuleSet([If(a.isin({"x"})).then(b.isin({"x"}), r=0.1)])
    found = rules.infer({"a": {"x": 0.8, "y": 0.2}}, transform="antipignistic")
    assert found.degrees.tolist() == rules.infer({"a": [1.0, 0.4]}).degrees.tolist()


def test_an_empty_batch() -> None:
    found = RULES.infer({k: v[:0] for k, v in evidence(3).items()}, transform="antipignistic")
    assert found["rain"].degrees.shape == (0, 2)


def test_what_is_no_probability_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINESY_NUM_THREADS", "2")
    bad = evidence(50_000)
    bad["wind"][[411, 40_000]] = 0.2
    bad["sky"][30_000] = np.nan
    where = "attribute 'wind', row 411: the probabilities sum to 0.4; they must sum to 1"
    with raises_saying(DegreeError, where, "softmax"):
        RULES.infer(bad, transform="antipignistic")
    one = {**{key: p[0] for key, p in evidence(1).items()}, "hour": 3.0}
    with raises_saying(DegreeError, "attribute 'sky': the probability of 'grey' is -0.5; must"):
        RULES.infer({**one, "sky": [1.0, -0.5, 0.5]}, transform="antipignistic")
    with raises_saying(DegreeError, "attribute 'sky': the probability of 'grey' is 1.5"):
        RULES.infer({**one, "sky": {"grey": 1.5}}, transform="antipignistic")
    low = Possibility(RULES.attributes["wind"], np.array([0.5, 0.2]))
    with raises_saying(DegreeError, "attribute 'wind': the distribution is not normalised"):
        RULES.infer({**one, "wind": low}, transform="antipignistic")


def test_an_unknown_transformation() -> None:
    with raises_saying(DomainError, "unknown transformation 'antipignostic'", "antipignistic"):
        RULES.infer(evidence(1), transform="antipignostic")


def test_there_is_no_second_array() -> None:
    program = addition(20).compile()
    x = probabilities(4000 * 40, 10).astype(np.float32).reshape(4000, 400)
    program.infer(x[:2], transform="antipignistic")
    tracemalloc.start()
    result = program.infer(x, transform="antipignistic")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    outputs = sum(result[name].degrees.nbytes for name in result)
    assert most < outputs + 10 * 2**20 < outputs + 8 * x.size
