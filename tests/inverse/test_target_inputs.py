"""What a result says, and in which forms targets may come."""

from typing import Any

import numpy as np
import pytest

from pinesy import Attribute, Cascade, Iff, Possibility, RuleSet
from pinesy.evidence.targets import Target
from pinesy.inverse import backpropagate

A, B, C = Attribute("a", (0, 1, 2)), Attribute("b", (0, 1)), Attribute("c", (0, 1))
SAME = RuleSet([Iff(A.isin([v])).then(B.isin([v])) for v in (0, 1)])
CHAIN = Cascade(SAME, RuleSet([Iff(B.isin([0])).then(C.isin([0]), s=0.1, r=0.2)]))

ONE: list[Any] = [
    0, {0: 1.0}, [1.0, 0.0], np.array([1.0, 0.0]), {"b": 0}, {B: 0}, {"b": {0: 1.0}},
    Possibility(B, np.array([1.0, 0.0])), {"b": [1.0, 0.0]},
]  # fmt: skip
MANY: list[Any] = [
    [0, 1], np.array([0, 1]), [[1.0, 0.0], [0.0, 1.0]], np.eye(2), {"b": [0, 1]}, {B: np.eye(2)},
    Possibility(B, np.eye(2)), Target.of([0, 1], B),
]  # fmt: skip


@pytest.mark.parametrize("target", ONE)
def test_forms_of_one_target(target: Any) -> None:
    for inputs in (None, {"a": [1.0, 0.5, 0.0]}):
        found = backpropagate(SAME, inputs, target)
        assert not found.is_batch
        assert found.inputs["a"].to_dict() == {0: 1.0, 1: 0.0, 2: 0.0}
        assert found.reproduced is True


@pytest.mark.parametrize("target", MANY)
def test_forms_of_a_batch(target: Any) -> None:
    for inputs in (None, np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0]])):
        found = backpropagate(SAME, inputs, target)
        assert found.is_batch
        assert found.inputs["a"].degrees.tolist() == [[1, 0, 0], [0, 1, 0]]
        assert found.reproduced.tolist() == [True, True]


def test_degrees_of_a_product_that_are_whole_numbers() -> None:
    pair = Attribute.product("pair", B, C)
    rules = RuleSet([Iff(B.isin([0])).then(pair.where("b == 0"))])
    assert not backpropagate(rules, None, [0, 0, 1, 0]).is_batch
    assert backpropagate(rules, None, [(0, 0), (0, 1)]).is_batch


def test_a_single_result_in_words() -> None:
    found = backpropagate(SAME, None, [1.0, 0.25])
    assert repr(found) == "Backpropagation(b -> 1 inputs: reproduced)"
    assert str(found) == f"{found!r}\n  Possibility(a, {{0: 1, 1: 0.25, 2: 0.25}})"
    assert repr(backpropagate(SAME, None, [0, 1])) == (
        "Backpropagation(b -> 1 inputs: 2 of 2 samples reproduced)"
    )


def test_a_target_below_the_parameters_is_repaired() -> None:
    found = backpropagate(CHAIN, None, {"c": 1})
    assert found.repaired["c"].to_dict() == {0: 0.1, 1: 1.0}
    assert found.nabla == {"c": 0.1}
    assert not found.reproduced
    assert found.solved
    assert found.distance == 0.1
    assert found.inputs["a"].to_dict() == {0: 0.1, 1: 1.0, 2: 0.1}
    assert found.probabilities()["a"] == pytest.approx([1 / 30, 1 - 2 / 30, 1 / 30])
    (conflict,) = found.conflicts
    assert (conflict.kind, conflict.attribute, conflict.distance) == ("target", "c", 0.1)
    assert str(conflict) == (
        "the target of 'c' cannot be inferred from any premise degrees: its distance from those "
        "that can be is 0.1; 0 cannot be below 0.1, the target is 0\n"
        "  rule 3: if b in {0} then c in {0} [s=0.1, r=0.2]"
    )
    assert "not reproduced, distance 0.1, the repaired target is" in repr(found)
    lowest = found.most_specific()["a"]
    assert lowest.to_dict() == {0: 0.0, 1: 1.0, 2: 0.0}
    assert CHAIN.infer({"a": lowest})["c"].to_dict() == {0: 0.1, 1: 1.0}


def test_lowest_approximations_need_not_be_normalised() -> None:
    """Why the lowest target above is used: it is normalised as the target is."""
    system = backpropagate(CHAIN, None, {"c": 1}).premises["c"]
    assert system.lowest_approximation.max() == 0.9
    assert system.reached.max() == 1.0


def test_rules_that_leave_no_value_are_named() -> None:
    rules = RuleSet([Iff(A.isin([0])).then(B.isin([0])), Iff(A.isin([1, 2])).then(B.isin([0]))])
    found = backpropagate(rules, None, 1)
    (conflict,) = found.conflicts
    assert (conflict.kind, conflict.attribute, conflict.distance) == ("height", "a", 1.0)
    assert [(output, number) for output, number, _ in conflict.rules] == [("b", 1), ("b", 2)]
    assert "the rules leave no value of 'a' possible at 1 (at most 0)" in str(found)
    assert "rule 2: iff a in {1, 2} then b in {0}" in str(found)
    assert "not normalised" in repr(found)


def test_lower_bounds_that_fail_are_named() -> None:
    """Rule 1 needs its premise at 0.5, rule 2 does not let it be above 0.2."""
    out = Attribute("out", (0, 1, 2))
    rules = RuleSet([Iff(A.isin([0])).then(out.isin([0])), Iff(A.isin([0, 1])).then(out.isin([1]))])
    found = backpropagate(rules, None, [0.5, 0.2, 1.0])
    assert found.normalised
    assert not found.solved
    conflict = next(c for c in found.conflicts if c.kind == "lower")
    assert conflict.rules[0][:2] == ("out", 1)
    assert ("out", 2) in [rule[:2] for rule in conflict.rules]
    assert conflict.distance == 0.3
    assert conflict.message == ("rule 1 needs its premise possible at 0.5; other rules leave 0.2")


def test_conflicts_of_a_batch_tell_the_row() -> None:
    rules = RuleSet([Iff(A.isin([0])).then(B.isin([0])), Iff(A.isin([1, 2])).then(B.isin([0]))])
    found = backpropagate(rules, None, [[0.0, 1.0], [1.0, 1.0], [0.0, 1.0]])
    assert [c.row for c in found.conflicts] == [0, 2]
    assert str(found.conflicts[1]).startswith("row 2: the rules leave no value of 'a'")
    assert found.sample(-1).conflicts[0].row is None
    assert str(found) == repr(found)


def test_intervals_of_premise_degrees_on_the_way() -> None:
    found = backpropagate(CHAIN, None, {"c": [1.0, 0.5]})
    last, first = found.premises["c"], found.premises["b"]
    assert last.greatest_solution.tolist() == [1.0, 0.5]
    assert last.lowest_solution.tolist() == [1.0, 0.5]
    assert first.greatest_solution.tolist() == [1.0, 0.5, 0.5, 1.0]
    assert found.premises.keys() == {"b", "c"}


def test_most_specific_keeps_what_the_actual_inputs_find_possible() -> None:
    rules = RuleSet([Iff(A.isin([0, 1])).then(B.isin([0]))])
    free = backpropagate(rules, None, 0)
    assert free.inputs["a"].to_dict() == {0: 1.0, 1: 1.0, 2: 0.0}
    assert free.most_specific()["a"].to_dict() == {0: 1.0, 1: 0.0, 2: 0.0}
    near = backpropagate(rules, {"a": [0.1, 0.4, 1.0]}, 0)
    assert near.most_specific()["a"].to_dict() == {0: 0.0, 1: 1.0, 2: 0.0}
