"""The paper's formulas for learning: the definitions in fractions, and the compiled baselines."""

from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
import paper_formulas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from equations.minmax_oracle import Matrix, Vector, box
from golden import PAPER
from oracles import decimal
from pinesy import Attribute, Cascade, Iff, RuleSet
from strategies import DEGREES, FloatArray, LearningProblem, learning_problems

FEWER = settings(max_examples=30)
EXAMPLE: dict[str, Any] = PAPER["same_digit"]
LEARNING: dict[str, Any] = EXAMPLE["cascade_learning"]
#: Results of a few subtractions of degrees.
CLOSE = 1e-12

Signs = list[list[bool]]


def decimals(degrees: list[Any]) -> Any:
    """Turn numbers, in lists of any depth, to fractions."""
    return [decimals(d) if isinstance(d, list) else decimal(d) for d in degrees]


def signs_of(name: str) -> Signs:
    return [[number > 0 for number in row] for row in EXAMPLE[f"partition_{name}"]["signs"]]


# --- the compiled baselines and the definitions give the same ----------------------------------


def assert_baselines_exact(
    signs: Signs, lambdas: Matrix, rhos: Matrix, targets: Matrix
) -> oracles.Stacked:
    """Compare both baselines with the definitions, whose answer is returned."""
    exact = oracles.learn_stacked_exact(signs, lambdas, rhos, targets)
    arrays = (floats(lambdas), floats(rhos), floats(targets), np.array(signs))
    assert paper_formulas.sample_distances(*arrays) == approx(exact.nablas)
    distance, x = paper_formulas.learn_stacked(*arrays)
    assert distance == pytest.approx(float(exact.distance), abs=CLOSE, rel=0.0)
    assert x == approx(exact.x)
    return exact


def floats(values: Matrix | Vector) -> FloatArray:
    return np.array(values, dtype=np.float64)


def approx(values: Vector) -> Any:
    return pytest.approx(floats(values), abs=CLOSE, rel=0.0)


@st.composite
def stacks(draw: st.DrawFn, degrees: st.SearchStrategy[float]) -> tuple[Signs, list[Matrix]]:
    """Signs, and rows of lambdas, rhos and targets for one to four samples."""
    n, omega, samples = (draw(st.integers(1, most)) for most in (4, 5, 4))
    row = st.lists(st.booleans(), min_size=n, max_size=n)
    signs = draw(st.lists(row, min_size=omega, max_size=omega))
    rows = [st.lists(degrees, min_size=size, max_size=size) for size in (n, n, omega)]
    tables = [draw(st.lists(one, min_size=samples, max_size=samples)) for one in rows]
    return signs, [decimals(table) for table in tables]


@given(stacks(DEGREES))
def test_systems_on_decimal_grids(stack: tuple[Signs, list[Matrix]]) -> None:
    signs, tables = stack
    assert_baselines_exact(signs, *tables)


@FEWER
@given(st.integers(0, 2**32 - 1))
def test_systems_of_any_degrees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples, omega, n = rng.integers(1, 6, 3)
    signs = (rng.random((omega, n)) < 0.5).tolist()
    tables = [decimals(rng.random((samples, size)).tolist()) for size in (n, n, omega)]
    assert_baselines_exact(signs, *tables)


def test_more_equations_than_a_core_takes_at_a_time() -> None:
    rng = np.random.default_rng(0)
    signs = [[True, True], [True, False], [False, True], [False, False]]
    samples = paper_formulas.ROWS // len(signs) + 3
    sizes = (2, 2, len(signs))
    tables = [decimals((rng.integers(0, 101, (samples, k)) / 100).tolist()) for k in sizes]
    exact = assert_baselines_exact(signs, *tables)
    assert exact.distance > 0


def test_no_parameter_comes_of_rounding() -> None:
    """0.8 - 0.7 is more than 0.1 in floats, so the paper's comparison alone would give s = 0.1."""
    tables = [decimals(table) for table in ([[0.1]], [[1]], [[0.8, 0.3]])]
    exact = assert_baselines_exact([[True], [False]], *tables)
    assert exact.nablas == [Fraction(7, 10)]
    assert exact.x == [0, 0]


# --- the paper's numbers -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["b", "c"])
def test_consistent_samples(name: str) -> None:
    sample = EXAMPLE[f"consistent_sample_{name}"]
    tables = [decimals([sample[key]]) for key in ("lambda", "rho", "target")]
    exact = assert_baselines_exact(signs_of(name), *tables)
    assert exact.nablas == [exact.distance] == [0]
    assert exact.repaired == tables[2]
    assert exact.x == decimals(sample["lowest"])


def test_an_inconsistent_sample() -> None:
    sample = EXAMPLE["inconsistent_sample_b"]
    tables = [decimals([sample[key]]) for key in ("lambda", "rho", "target")]
    exact = assert_baselines_exact(signs_of("b"), *tables)
    assert exact.nablas == decimals([sample["nabla"]])
    assert exact.repaired == decimals([sample["lowest_approximation"]])
    assert exact.x == decimals(sample["lowest_approximate_solution"])


def test_two_stacked_samples() -> None:
    stack = EXAMPLE["stacked_b"]
    targets = decimals(stack["targets"])
    lambdas, rhos = (decimals([stack[key]] * 2) for key in ("lambda", "rho"))
    exact = assert_baselines_exact(signs_of("b"), lambdas, rhos, targets)
    assert exact.nablas == [0, 0]
    assert exact.repaired == targets
    assert exact.distance == decimal(stack["nabla"])
    assert exact.x == decimals(stack["solution"])


def test_the_golden_file_tells_one_story() -> None:
    """The samples of the inference examples are those of the learning example."""
    for one, other in zip(EXAMPLE["inference"], LEARNING["samples"], strict=True):
        shared = one.keys() & other.keys()
        assert shared == {"a1", "a2", "inferred_b", "premises_c"}
        assert {key: one[key] for key in shared} == {key: other[key] for key in shared}


@pytest.mark.parametrize("name", ["b", "c"])
def test_samples_of_the_cascade(name: str) -> None:
    """Distances and approximations of all four, and the system of the two that are reliable."""
    premises = decimals([sample[f"premises_{name}"] for sample in EXAMPLE["inference"]])
    cells = EXAMPLE[f"partition_{name}"]["values"]
    targets = [
        [Fraction(int(sample[name] in cell)) for cell in cells] for sample in LEARNING["samples"]
    ]
    tables: list[Matrix] = [
        [row[::2] for row in premises],
        [row[1::2] for row in premises],
        targets,
    ]
    exact = assert_baselines_exact(signs_of(name), *tables)
    assert exact.nablas == decimals([s[f"nabla_{name}"] for s in LEARNING["samples"]])
    assert exact.repaired == decimals([s[f"approximation_{name}"] for s in LEARNING["samples"]])

    kept = assert_baselines_exact(signs_of(name), *(rows[:2] for rows in tables))
    assert kept.distance == 0
    assert kept.x == decimals(LEARNING[f"parameters_{name}"])
    for x in (kept.x, decimals(LEARNING[f"other_solution_{name}"])):
        for i in range(2):
            gamma = oracles.signed_matrix(signs_of(name), tables[0][i], tables[1][i])
            assert box(gamma, x) == kept.repaired[i]


# --- learning in cascade -----------------------------------------------------------------------


A1, A2, C = (Attribute(name, (0, 1)) for name in ("a1", "a2", "c"))
B = Attribute.product("b", A1, A2)
PAIRS = RuleSet(
    [Iff(A1.isin({d})).then(B.where(f"a1 == {d}")) for d in (0, 1)]
    + [Iff(A2.isin({d})).then(B.where(f"a2 == {d}")) for d in (0, 1)]
)
SAME = RuleSet(
    [Iff(B.where("a1 == a2")).then(C.isin({1})), Iff(B.where("a1 != a2")).then(C.isin({0}))]
)
SAMPLES = [{a: decimals(sample[a]) for a in ("a1", "a2")} for sample in LEARNING["samples"]]
TARGETS: dict[str, list[Any]] = {
    "b": [tuple(sample["b"]) for sample in LEARNING["samples"]],
    "c": [sample["c"] for sample in LEARNING["samples"]],
}


def test_learning_in_cascade() -> None:
    tau = decimal(LEARNING["tau"])
    learnt = oracles.learn_cascade_exact(
        Cascade(SAME, PAIRS), SAMPLES, TARGETS, {"b": tau, "c": tau}
    )
    assert list(learnt) == ["b", "c"]
    for name, found in learnt.items():
        assert found.nablas == decimals([s[f"nabla_{name}"] for s in LEARNING["samples"]])
        assert found.reliable == LEARNING["reliable"]
        assert found.distance == 0
        x = list(chain(*zip(found.s, found.r, strict=True)))
        assert x == decimals(LEARNING[f"parameters_{name}"])


def test_a_sample_at_the_tolerance_is_not_reliable() -> None:
    learnt = oracles.learn_rules(PAIRS.rules, known_pairs(), TARGETS["b"], Fraction(4, 100))
    assert learnt.reliable == [False, True, False, False]
    message = "'b', Fraction\\(3, 100\\)"
    with pytest.raises(oracles.NoReliableSampleError, match=message):
        oracles.learn_rules(PAIRS.rules, known_pairs(), TARGETS["b"], Fraction(3, 100))
    assert all(oracles.learn_rules(PAIRS.rules, known_pairs(), TARGETS["b"], None).reliable)


def known_pairs() -> list[dict[str, oracles.Distribution]]:
    return [{name: dict(enumerate(pi)) for name, pi in sample.items()} for sample in SAMPLES]


def test_only_reliable_samples_count() -> None:
    """The second sample alone would ask for r; its distance is 0.1."""
    rules = [Iff(A1.isin({0})).then(C.isin({0}))]
    known: list[oracles.Known] = [{"a1": dict(enumerate(decimals(pi)))} for pi in ([0, 1], [1, 0])]
    targets = decimals([[0.3, 1], [0.9, 1]])
    kept = oracles.learn_rules(rules, known, targets, Fraction(1, 10))
    assert (kept.nablas, kept.reliable) == (decimals([0, 0.1]), [True, False])
    assert (kept.s, kept.r) == (decimals([0.3]), decimals([0]))
    everything = oracles.learn_rules(rules, known, targets, None)
    assert (everything.s, everything.r) == (decimals([0.3]), decimals([0.9]))


def test_sets_without_target_keep_their_parameters() -> None:
    """With s = 1 for all of its rules, the first set says nothing that the second could use."""
    vague = PAIRS.with_parameters([1.0] * 4, [1.0] * 4)
    only_c = {"c": TARGETS["c"]}
    assert oracles.learn_cascade_exact(Cascade(vague, SAME), SAMPLES, only_c)["c"].nablas == [1] * 4
    learnt = oracles.learn_cascade_exact(Cascade(PAIRS, SAME), SAMPLES, only_c)
    assert set(learnt) == {"c"}
    assert learnt["c"].nablas == decimals([s["nabla_c"] for s in LEARNING["samples"]])


@given(learning_problems())
def test_what_is_learnt_comes_as_near_as_it_says(problem: LearningProblem) -> None:
    """Infer each set with what was learnt of it: no repaired target is further than `distance`."""
    cascade, samples, targets = problem
    learnt = oracles.learn_cascade_exact(cascade, samples, targets)
    assert learnt.keys() == targets.keys()
    final = cascade.with_parameters(
        {name: (list(map(float, f.s)), list(map(float, f.r))) for name, f in learnt.items()}
    )
    for i, sample in enumerate(samples):
        evidence = {name: list(map(float, pi)) for name, pi in sample.items()}
        inferred = final.trace(evidence)
        for name, found in learnt.items():
            target = oracles.target_distribution(cascade[name].output, targets[name][i])
            errors = [abs(inferred[name][u] - float(d)) for u, d in cells_of(final, name, target)]
            assert max(errors) <= found.nablas[i] + found.distance + CLOSE


def cells_of(cascade: Cascade, name: str, target: oracles.Distribution) -> list[tuple[Any, Any]]:
    """A value of each cell, and the largest target in it."""
    rules = cascade[name].rules
    parts = oracles.inductive_partition(
        cascade[name].output.domain, [rule.conclusion.values for rule in rules]
    )
    return [(cell[0], oracles.possibility(target, cell)) for _, cell in parts]
