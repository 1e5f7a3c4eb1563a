"""The paper's example of backpropagation: the pair (1, 0), shown as a 0 and a 1."""

from typing import Any

import pytest

from golden import PAPER
from paper.same_digit import FIRST, B
from pinesy.inverse import Backpropagation, backpropagate, premise_equations

EXAMPLE: dict[str, Any] = PAPER["same_digit"]["backpropagation"]
TARGET: dict[Any, float] = {
    tuple(map(int, value.split(","))): float(d) for value, d in EXAMPLE["target_b"].items()
}
SAMPLE = {"a1": [1.0, 0.0], "a2": [0.0, 1.0]}


@pytest.fixture
def found() -> Backpropagation:
    return backpropagate(FIRST, SAMPLE, TARGET)


def test_all_parameters_are_zero() -> None:
    assert EXAMPLE["parameters"] == 0
    assert not FIRST.s.any()
    assert not FIRST.r.any()


def test_the_output_vector() -> None:
    """In the order of the cells: (1,1), (0,1), (1,0), (0,0)."""
    assert premise_equations(FIRST, TARGET).target.tolist() == [0, 0, 1, 0]


def test_the_system_is_consistent_and_its_lowest_solution(found: Backpropagation) -> None:
    system = premise_equations(FIRST, TARGET)
    assert system.is_consistent
    assert system.lowest_solution.tolist() == EXAMPLE["lowest"]
    assert found.premises["b"].lowest_solution.tolist() == EXAMPLE["lowest"]
    assert found.nabla == {"b": 0.0}


def test_the_target_inputs(found: Backpropagation) -> None:
    """Greatest and most specific ones are the same here, and reproduce the target."""
    for inputs in (found.inputs, found.most_specific()):
        assert inputs["a1"].degrees.tolist() == EXAMPLE["target_a1"]
        assert inputs["a2"].degrees.tolist() == EXAMPLE["target_a2"]
        assert FIRST.infer(inputs).to_dict() == {v: TARGET.get(v, 0.0) for v in B.domain}
    assert found.reproduced
    assert found.conflicts == ()


def test_the_target_probabilities(found: Backpropagation) -> None:
    probabilities = found.probabilities()
    assert probabilities["a1"].tolist() == EXAMPLE["probability_a1"]
    assert probabilities["a2"].tolist() == EXAMPLE["probability_a2"]


def test_the_sample_does_not_match(found: Backpropagation) -> None:
    assert not found.matches
    assert found.input_distance == {"a1": 1.0, "a2": 1.0}
    assert found.output_distance == 1.0
    assert backpropagate(FIRST, found.inputs, TARGET).matches
