"""Learning against exact fractions and against the dense solver."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from learning.oracle_help import (
    CLOSE,
    DIAMOND,
    as_floats,
    assert_certified,
    assert_same,
    bits,
    dyadic,
    evidence_of,
    floats,
    random_samples,
)
from pinesy import Cascade, LearningError, RuleSet, learn
from strategies import BatchCase, LearningProblem, batches, learning_problems

#: Distances are multiples of 1/32, often one of these: a sample is reliable only below them.
TAUS = st.sampled_from([Fraction(i, 16) for i in (1, 2, 4, 8, 12, 16)])


# --- against fractions -------------------------------------------------------------------------


@given(learning_problems().map(dyadic), st.data())
def test_binary_fractions_to_the_last_bit(problem: LearningProblem, data: st.DataObject) -> None:
    """Nothing is rounded on this grid, so that ties, of tolerances too, are decided as they are."""
    taus = {name: data.draw(TAUS | st.none()) for name in problem.targets}
    inputs, targets = as_floats(problem)
    given_taus = {name: None if tau is None else float(tau) for name, tau in taus.items()}
    try:
        exact = oracles.learn_cascade_exact(*problem, tolerances=taus)
    except oracles.NoReliableSampleError:
        with pytest.raises(LearningError, match=r"none of the \d samples is reliable"):
            learn(problem.cascade, inputs, targets, tolerance=given_taus, fixed=None)
        return
    result = learn(problem.cascade, inputs, targets, tolerance=given_taus, fixed=None)
    assert set(result.sets) == set(exact)
    for name, found in exact.items():
        assert_same(result[name], found)
    inferred_as_the_oracle_does(problem, result.cascade)


def inferred_as_the_oracle_does(problem: LearningProblem, learned: Cascade) -> None:
    inputs, _ = as_floats(problem)
    trace = learned.trace(inputs)
    for i in range(len(problem.samples)):
        outcome = oracles.infer(learned.rule_sets, evidence_of(problem, i)).distributions
        for name in trace:
            assert trace[name].degrees[i].tolist() == floats([*outcome[name].values()]).tolist()


@given(learning_problems())
def test_decimals(problem: LearningProblem) -> None:
    """Distances are rounded; a set is compared if all before it were learned without rounding."""
    inputs, targets = as_floats(problem)
    result = learn(problem.cascade, inputs, targets, fixed=None)
    rounded: set[str] = set()
    exact = oracles.learn_cascade_exact(*problem)
    for rule_set in problem.cascade.order:
        name = rule_set.output.name
        if rounded & {a.name for a in rule_set.inputs}:
            rounded.add(name)
        elif name in exact:
            one, found = result[name], exact[name]
            assert one.nabla == pytest.approx(floats(found.nablas), abs=CLOSE)
            assert one.distance == pytest.approx(float(found.distance), abs=CLOSE)
            assert one.lowest[0::2] == pytest.approx(floats(found.s), abs=CLOSE)
            assert one.lowest[1::2] == pytest.approx(floats(found.r), abs=CLOSE)
            if one.s.tolist() + one.r.tolist() != floats(found.s + found.r).tolist():
                rounded.add(name)


# --- against the dense solver ------------------------------------------------------------------


@given(batches(sizes=(1, 2, 9, 40)), st.integers(0, 2**16), st.sampled_from([16, 2**40]))
def test_the_dense_stacked_systems(case: BatchCase, seed: int, grid: int) -> None:
    """Degrees with many ties, and with none."""
    inputs, targets = random_samples(case.cascade, case.n, seed, grid=grid)
    assert_certified(inputs, targets, learn(case.cascade, inputs, targets, fixed=None))


@pytest.mark.parametrize("n", [127, 128, 129, 300])
def test_the_dense_solver_at_block_boundaries(n: int) -> None:
    inputs, targets = random_samples(DIAMOND, n, seed=n)
    assert_certified(inputs, targets, learn(DIAMOND, inputs, targets, tolerance=0.35))


# --- targets that are values and the same as degrees -------------------------------------------


@given(batches(), st.integers(0, 2**16), st.sampled_from([None, 0.3, 0.6]))
def test_values_and_the_same_as_degrees(case: BatchCase, seed: int, tau: float | None) -> None:
    """The domains of the sets are often larger than their partitions: cells hold several values."""
    _, targets = random_samples(case.cascade, case.n, seed, graded=False)
    degrees = {name: one_hot(case.cascade[name], each) for name, each in targets.items()}
    found = [outcome(case, each, tau) for each in (targets, degrees)]
    assert found[0] == found[1]


def one_hot(rule_set: RuleSet, values: list[Any]) -> Any:
    size = len(rule_set.output.domain)
    return np.eye(size)[[rule_set.output.position(v) for v in values]]


def outcome(case: BatchCase, targets: Any, tau: float | None) -> Any:
    try:
        result = learn(case.cascade, case.evidence, targets, tolerance=tau, fixed=None)
    except LearningError as error:
        return str(error)
    nabla = {name: each.tobytes() for name, each in result.nabla.items()}
    return bits(result), nabla, str(result.cascade)


# --- a single sample ---------------------------------------------------------------------------


@given(batches(sizes=(1,)), st.integers(0, 2**16), st.data())
def test_every_solution_between_lowest_and_greatest(
    case: BatchCase, seed: int, data: st.DataObject
) -> None:
    """For one sample all parameters of the interval infer the repaired target."""
    inputs, targets = random_samples(case.cascade, 1, seed, grid=16)
    result = learn(case.cascade, inputs, targets, fixed=None)
    expected = result.cascade.trace(inputs)
    chosen = {}
    for name, one in result.sets.items():
        assert one.greatest is not None
        assert (one.lowest <= one.greatest).all()
        high = data.draw(st.lists(st.booleans(), min_size=len(one.s), max_size=len(one.s)))
        side = np.where(np.repeat(high, 2), one.greatest, one.lowest)
        chosen[name] = (side[0::2], side[1::2])
    found = result.cascade.with_parameters(chosen).trace(inputs)
    for name in result.sets:
        assert found[name].degrees.tolist() == expected[name].degrees.tolist()


def test_one_sample_given_alone() -> None:
    inputs, targets = random_samples(DIAMOND, 1, seed=1)
    alone = {name: x[0] for name, x in inputs.items()}
    one = {name: each[0] for name, each in targets.items()}
    result = learn(DIAMOND, alone, one)
    assert bits(result) == bits(learn(DIAMOND, inputs, targets))
    assert result["b"].greatest is not None
    several = learn(DIAMOND, *random_samples(DIAMOND, 2, seed=1))
    assert several["b"].greatest is None
