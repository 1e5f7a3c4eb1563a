"""The paper's equation systems of training samples: matrices, solutions, distances, repairs."""

import numpy as np
import pytest

from pinesy import Attribute, DegreeError, DomainError, EquationSystem, Iff, MinMaxSystem, RuleSet
from pinesy.rules.partition import Partition

A1, A2 = Attribute("a1", [0, 1]), Attribute("a2", [0, 1])
B, C = Attribute.product("b", A1, A2), Attribute("c", [0, 1])
PAIRS = RuleSet(
    [Iff(A1.isin({d})).then(B.where(f"a1 == {d}")) for d in (0, 1)]
    + [Iff(A2.isin({d})).then(B.where(f"a2 == {d}")) for d in (0, 1)]
)
SAME = RuleSet(
    [Iff(B.where("a1 == a2")).then(C.isin({1})), Iff(B.where("a1 != a2")).then(C.isin({0}))]
)


def system(
    partition: Partition, lambdas: list[float], rhos: list[float], target: list[float]
) -> EquationSystem:
    return EquationSystem(partition, np.array(lambdas), np.array(rhos), np.array(target))


def assert_certified(equations: EquationSystem) -> None:
    """Check an equation system against the general solver and by what its parts must satisfy."""
    general = MinMaxSystem(equations.matrix, equations.target)
    assert equations.is_consistent == general.is_consistent
    assert equations.cell_distances.tolist() == general.row_distances.tolist()
    solution = equations.lowest_approximate_solution
    assert solution.tolist() == general.lowest_approximate_solution.tolist()
    certificate = general.verify(solution)
    assert certificate.attains
    assert certificate.solves == equations.is_consistent
    repaired = equations.lowest_approximation
    assert np.abs(repaired - equations.target).max() == pytest.approx(equations.distance, abs=1e-15)


def test_consistent_sample_of_the_first_set() -> None:
    equations = system(PAIRS.partition, [0.12, 0.18, 1, 1], [1, 1, 0.43, 0.66], [0.2, 0.87, 0.2, 1])
    assert equations.matrix.tolist() == [
        [1, 1, 0.18, 1, 1, 0.43, 1, 1],
        [0.12, 1, 1, 1, 1, 0.43, 1, 1],
        [1, 1, 0.18, 1, 1, 1, 1, 0.66],
        [0.12, 1, 1, 1, 1, 1, 1, 0.66],
    ]
    assert equations.symbolic[0] == ["1", "rho_1", "lambda_2", "1", "1", "rho_3", "lambda_4", "1"]
    assert equations.is_consistent
    assert equations.distance == 0.0
    assert equations.lowest_solution.tolist() == [1, 0, 0.2, 0, 0, 0.87, 0, 1]
    assert equations.greatest_solution.tolist() == [1, 0.2, 0.2, 1, 1, 0.87, 0.87, 1]
    assert_certified(equations)


def test_consistent_sample_of_the_second_set() -> None:
    equations = system(SAME.partition, [0.25, 0.35], [1, 1], [0.4, 1])
    assert equations.lowest_solution.tolist() == [1, 0, 0.4, 0]
    assert equations.greatest_solution.tolist() == [1, 0.4, 0.4, 1]
    assert_certified(equations)


def test_inconsistent_sample() -> None:
    equations = system(PAIRS.partition, [1, 0, 1, 0], [0, 1, 0, 1], [0.005, 0, 0, 1])
    assert not equations.is_consistent
    assert equations.cell_distances.tolist() == [0, 0.0025, 0.0025, 0]
    assert equations.distance == 0.0025
    assert equations.lowest_approximation.tolist() == [0.0025, 0.0025, 0.0025, 1]
    solution = [0, 0.0025, 0.0025, 0, 0, 0.0025, 0.0025, 0]
    assert equations.lowest_approximate_solution.tolist() == solution
    assert_certified(equations)


@pytest.mark.parametrize(
    ("a1", "a2", "target", "distance", "repaired"),
    [
        ([1, 0.01], [0.04, 1], (0, 1), 0.04, [0.01, 1, 0.01, 0.04]),
        ([0.03, 1], [0.02, 1], (1, 1), 0.03, [1, 0.03, 0.02, 0.02]),
        ([1, 1], [0.1, 1], (0, 1), 1.0, [1, 1, 0.1, 0.1]),
        ([1, 0.01], [0.05, 1], (0, 0), 1.0, [0.01, 1, 0.01, 0.05]),
    ],
)
def test_samples_of_the_cascade_example(
    a1: list[float],
    a2: list[float],
    target: tuple[int, int],
    distance: float,
    repaired: list[float],
) -> None:
    equations = PAIRS.equations({"a1": a1, "a2": a2}, target)
    assert equations.distance == distance
    assert equations.lowest_approximation.tolist() == repaired
    assert_certified(equations)


def test_targets_in_every_form() -> None:
    evidence = {"a1": [1, 0.01], "a2": [0.04, 1]}
    by_value = PAIRS.equations(evidence, (0, 1)).target.tolist()
    for target in ({(0, 1): 1.0}, [0, 1, 0, 0], np.array([0.0, 1.0, 0.0, 0.0])):
        assert PAIRS.equations(evidence, target).target.tolist() == by_value
    with pytest.raises(DegreeError, match="target of 'b': the distribution is not normalised"):
        PAIRS.equations(evidence, {(0, 1): 0.5})
    with pytest.raises(DomainError, match="'c' has no value 'x'"):
        SAME.equations({"b": {(0, 0): 1.0}}, "x")
    with pytest.raises(DegreeError, match="one sample; got a batch"):
        PAIRS.equations({"a1": np.eye(2), "a2": np.eye(2)}, (0, 1))


def test_random_systems_against_the_general_solver() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        lambdas, rhos = rng.integers(0, 11, (2, 4)) / 10
        target = rng.integers(0, 11, 4) / 10
        assert_certified(EquationSystem(PAIRS.partition, lambdas, rhos, target))
