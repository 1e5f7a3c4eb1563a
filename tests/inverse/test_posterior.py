"""Conditioning against the listed joint distribution: exact on trees, a bound with loops."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from inverse.conditioning_problems import Problem, problems, trees
from inverse.joint_oracle import attributes_of, joint, projections
from messages import raises_saying
from pinesy import Attribute, Cascade, Iff, Possibility, RuleSet, antipignistic
from pinesy.exceptions import DataError, DegreeError, DomainError, UnknownAttributeError
from pinesy.inverse import Posterior, posterior
from pinesy.inverse.posterior import factor_graph
from pinesy.problems import addition, sudoku
from strategies import random_batch

DIGITS = {"a_1": antipignistic({3: 0.8, 8: 0.2}), "a_2": antipignistic({4: 0.9, 9: 0.1})}


def all_of(problem: Problem) -> Posterior:
    names = attributes_of(problem.cascade)
    return posterior(problem.cascade, problem.beliefs, problem.targets, names)


# --- the definition ------------------------------------------------------------------------------


@given(problems(trees()))
def test_trees_are_exact(problem: Problem) -> None:
    found = all_of(problem)
    c = joint(*problem)
    assert found.exact
    assert found.compatibility == c.max()
    for name, expected in projections(problem.cascade, c).items():
        assert found.joint[name].degrees.tolist() == expected.tolist()
        rescaled = [_ratio(d, c.max()) for d in expected.tolist()]
        assert found[name].degrees.tolist() == rescaled


def _ratio(degree: float, top: float) -> float:
    return float(Fraction(degree) / Fraction(top)) if top else 0.0


@given(problems())
def test_any_shape_gives_an_upper_bound(problem: Problem) -> None:
    found = all_of(problem)
    c = joint(*problem)
    assert found.compatibility >= c.max()
    for name, expected in projections(problem.cascade, c).items():
        assert (found.joint[name].degrees >= expected).all()
        if found.exact:
            assert found.joint[name].degrees.tolist() == expected.tolist()


def test_a_loop_is_seen_and_its_bound_is_above() -> None:
    """Two copies of a bit are never different, but each alone allows both values."""
    bit, one, two, same = (Attribute(n, range(2)) for n in ("bit", "one", "two", "same"))
    copies = [RuleSet([Iff(bit.isin({1})).then(a.isin({1}))]) for a in (one, two)]
    equal = [Iff(one.isin({v}), two.isin({v})).then(same.isin({1}), s=1.0) for v in range(2)]
    loop = Cascade(*copies, RuleSet(equal))
    found = posterior(loop, {"bit": [1.0, 1.0]}, {"same": 0})
    assert not found.exact
    assert found.compatibility == 1.0
    assert joint(loop, {"bit": [1.0, 1.0]}, {"same": [1.0, 0.0]}).max() == 0.0


@given(problems(), st.integers(0, 2**32 - 1))
def test_a_batch_is_its_samples(problem: Problem, seed: int) -> None:
    cascade = problem.cascade
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 130]))
    inputs = {a.name: random_batch(rng, n, len(a.domain)) for a in cascade.inputs}
    targets = {
        name: random_batch(rng, n, len(degrees)) for name, degrees in problem.targets.items()
    }
    names = attributes_of(cascade)
    found = posterior(cascade, inputs, targets, names)
    for i in {0, n // 2, n - 1}:
        one = posterior(
            cascade,
            {k: v[i] for k, v in inputs.items()},
            {k: v[i] for k, v in targets.items()},
            names,
        )
        assert found.compatibility[i] == one.compatibility
        for a in names:
            assert found[a].degrees[i].tolist() == one[a].degrees.tolist()


@given(st.data())
def test_a_conjunction_of_many_attributes_in_closed_form(data: st.DataObject) -> None:
    """One rule on up to seven attributes, with repeated, empty and full subsets."""
    inputs = [Attribute(f"x_{i}", range(2)) for i in range(data.draw(st.integers(2, 7)))]
    output = Attribute("b", range(3))
    masks = data.draw(st.lists(st.integers(0, 3), min_size=len(inputs), max_size=len(inputs)))
    subsets = [[v for v in range(2) if mask >> v & 1] for mask in masks]
    premise = [a.isin(s) for a, s in zip(inputs, subsets, strict=True)]
    s, r = data.draw(st.sampled_from([(0.0, 0.0), (0.3, 0.6), (1.0, 0.2)]))
    conclusion = data.draw(st.sampled_from([[0], [1, 2], [0, 1, 2]]))
    rule = Iff(*premise, inputs[0].isin([0, 1])).then(output.isin(conclusion), s, r)
    problem = data.draw(problems(st.just(Cascade(RuleSet([rule])))))
    expected = projections(problem.cascade, joint(*problem))
    found = all_of(problem)
    assert found.exact
    for name, degrees in expected.items():
        assert found.joint[name].degrees.tolist() == degrees.tolist()


@given(problems())
def test_rules_that_need_too_large_a_table_give_a_bound(problem: Problem) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pinesy.semantics.factors.MAX_TABLE", 4)
        found = all_of(problem._replace(cascade=Cascade(*problem.cascade.rule_sets)))
    for name, expected in projections(problem.cascade, joint(*problem)).items():
        assert (found.joint[name].degrees >= expected).all()
        if found.exact:
            assert found.joint[name].degrees.tolist() == expected.tolist()


# --- the problems of the paper -------------------------------------------------------------------


def test_a_sum_of_two_digits() -> None:
    found = posterior(addition(1), DIGITS, {"y_0": 1, "y_1": 2})
    assert found.compatibility == 0.4
    assert {v: d for v, d in found["a_1"].to_dict().items() if d} == {8: 1.0, 3: 0.5}
    assert {v: d for v, d in found["a_2"].to_dict().items() if d} == {4: 1.0, 9: 0.5}
    expected = oracles.antipignistic_inverse([Fraction(1), Fraction(1, 2)])
    assert found.probabilities()["a_1"][[8, 3]] == pytest.approx([float(p) for p in expected])


@pytest.mark.parametrize("base", [2, 3])
def test_addition_2_for_every_sum(base: int) -> None:
    """All pairs of two-digit numbers with a given sum, best and worst digit of each."""
    rules = addition(2, base)
    assert factor_graph(rules).is_forest
    rng = np.random.default_rng(base)
    beliefs = {a.name: random_batch(rng, 1, base)[0] for a in rules.inputs}
    for total in range(2 * base**2 - 1):
        digits = [total // base**2, total // base % base, total % base]
        found = posterior(rules, beliefs, dict(zip(("y_0", "y_1", "y_2"), digits, strict=True)))
        best: dict[str, Any] = {f"a_{i}": [0.0] * base for i in range(1, 5)}
        for x in product(range(base), repeat=4):
            if base * (x[0] + x[2]) + x[1] + x[3] == total:
                degree = min(beliefs[f"a_{i}"][v] for i, v in enumerate(x, 1))
                for i, v in enumerate(x, 1):
                    best[f"a_{i}"][v] = max(best[f"a_{i}"][v], degree)
        assert {n: found.joint[n].degrees.tolist() for n in best} == best


def test_a_sudoku_has_loops_so_it_is_a_bound() -> None:
    """Where all but one cell is known and the grid must be valid, the last digit follows."""
    grid = [[0, 1, 2, 3], [2, 3, 0, 1], [1, 0, 3, 2], [3, 2, 1, 0]]
    beliefs = {f"a_{i + 1}_{j + 1}": np.eye(4)[grid[i][j]] for i in range(4) for j in range(4)}
    beliefs["a_2_2"] = np.array([1.0, 0.4, 0.2, 0.1])
    found = posterior(sudoku(4), beliefs, {"c": 1})
    assert not found.exact
    assert found.compatibility == 0.1
    assert found["a_2_2"].to_dict() == {0: 0.0, 1: 0.0, 2: 0.0, 3: 1.0}
    broken = posterior(sudoku(4), beliefs, {"c": 0})
    assert broken["a_2_2"].to_dict() == {0: 1.0, 1: 0.4, 2: 0.2, 3: 0.1}


# --- results -------------------------------------------------------------------------------------


def test_results_are_mappings() -> None:
    rules = addition(1)
    found = posterior(rules, DIGITS, {"y_1": 2}, ["a_1", rules.attributes["c_1"]])
    assert list(found) == ["a_1", "c_1"]
    assert len(found) == 2
    assert found[rules.attributes["a_1"]].best == 8
    assert isinstance(found["c_1"], Possibility)
    assert repr(found) == "Posterior(a_1, c_1; compatibility 0.4, exact)"
    batch = {
        name: np.tile([pi.get(d, 0.0) for d in range(10)], (3, 1)) for name, pi in DIGITS.items()
    }
    assert repr(posterior(rules, batch, {"y_1": [2, 7, 7]})) == (
        "Posterior(3 samples of a_1, a_2; exact)"
    )
    with raises_saying(
        UnknownAttributeError, "'w_1' is not among the attributes", "did you mean 'c_1'"
    ):
        found["w_1"]


def test_side_by_side_inputs_and_targets_on_inputs() -> None:
    rules = addition(1)
    rows = np.concatenate([[DIGITS[n].get(d, 0.0) for d in range(10)] for n in ("a_1", "a_2")])
    found = posterior(rules, rows, {"y_1": 2, "a_1": [0.0] * 9 + [1.0]})
    assert found.compatibility == 0.0
    assert posterior(rules, rows, {"a_1": 8})["a_1"].best == 8


def test_contradictions_are_flagged() -> None:
    rules = addition(1)
    impossible = posterior(rules, DIGITS, {"y_0": 1, "y_1": 0})
    assert impossible.compatibility == 0.0
    assert not impossible["a_1"].normalised
    assert repr(impossible) == (
        "Posterior(a_1, a_2; compatibility 0: a contradiction, no distribution is left)"
    )
    with raises_saying(DegreeError, "contradict", "compatibility 0", "leave out"):
        impossible.probabilities()
    batch = {
        name: np.tile([pi.get(d, 0.0) for d in range(10)], (3, 1)) for name, pi in DIGITS.items()
    }
    found = posterior(rules, batch, {"y_1": [2, 7, 0]})
    assert found.compatibility.tolist() == [0.4, 1.0, 0.0]
    assert repr(found) == (
        "Posterior(3 samples of a_1, a_2; exact, 1 of compatibility 0 (contradictions))"
    )
    with raises_saying(DegreeError, "row 2: ", "contradict"):
        found.probabilities()


BAD: list[tuple[Any, Any, type[Exception], list[str]]] = [
    (DIGITS, {"y_9": 1}, UnknownAttributeError, ["a target for 'y_9'", "did you mean"]),
    (DIGITS, {"y_1": 10}, DomainError, ["'y_1' has no value 10"]),
    (DIGITS, {"y_1": None}, DomainError, ["'y_1' has no value None"]),
    (DIGITS, {"y_1": np.int64(12)}, DomainError, ["'y_1' has no value np.int64(12)"]),
    (DIGITS, {"c_1": (1, 12, 0)}, DomainError, ["'c_1' has no value (1, 12, 0)"]),
    (DIGITS, {"y_1": (1, 0, 1)}, DegreeError, ["'y_1' has 10 values", "got shape (3,)"]),
    (DIGITS, {"y_1": {3: 0.5}}, DegreeError, ["target of 'y_1'", "not normalised"]),
    (DIGITS, {"y_1": {13: 1.0}}, DomainError, ["'y_1' has no value 13"]),
    (DIGITS, 7, DataError, ["targets are int 7", "give a mapping"]),
    (DIGITS, {Attribute("y_1", [0]): 0}, DataError, ["the rules use", "y_1"]),
    ({"a_1": {3: 0.5}, "a_2": {1: 1}}, {}, DegreeError, ["'a_1'", "not normalised"]),
    ({"a_1": {3: 1}}, {}, Exception, ["no distribution is given for a_2"]),
    (
        {"a_1": np.eye(10)[:2], "a_2": np.eye(10)[:2]},
        {"y_1": [1, 2, 3]},
        DataError,
        ["there are 2 samples of inputs but 3 of the target 'y_1'"],
    ),
    (
        {"a_1": np.eye(10)[:2], "a_2": np.eye(10)[:2] * [[1], [0.5]]},
        {},
        DegreeError,
        ["'a_2', row 1", "not normalised"],
    ),
]


@pytest.mark.parametrize(("inputs", "targets", "error", "parts"), BAD, ids=lambda p: str(p)[:30])
def test_bad_input(inputs: Any, targets: Any, error: Any, parts: list[str]) -> None:
    with raises_saying(error, *parts):
        posterior(addition(1), inputs, targets)


def test_bad_attributes() -> None:
    with raises_saying(UnknownAttributeError, "attributes: no rule uses 'b'"):
        posterior(addition(1), DIGITS, {}, ["b"])
    with raises_saying(DataError, "attributes is 'a_1'; give a list"):
        posterior(addition(1), DIGITS, {}, "a_1")
    y = addition(1).attributes["y_1"]
    with raises_saying(DataError, "the target 'y_1' is given twice"):
        posterior(addition(1), DIGITS, {"y_1": 1, y: 1})
