"""A teacher's parameters, seen only through what its rules infer, are learned again."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from learning.oracle_help import Inputs, Targets
from pinesy import Attribute, Cascade, Iff, LearningError, RuleSet, learn
from pinesy.learning import LearningResult, learn_batches
from pinesy.problems import addition
from strategies import BatchCase, batches, random_batch


def unknowing(cascade: Cascade) -> Cascade:
    """The same rules with parameters that say nothing."""
    ones = {s.output.name: (np.ones(len(s)), np.ones(len(s))) for s in cascade.rule_sets}
    return cascade.with_parameters(ones)


def lessons(teacher: Cascade, inputs: Inputs) -> tuple[Inputs, Targets]:
    """Return what the teacher infers of all attributes, for the samples it is coherent on."""
    trace = teacher.trace(inputs)
    found = {name: np.array(trace[name].degrees) for name in trace}
    good = np.all([degrees.max(axis=1) == 1.0 for degrees in found.values()], axis=0)
    chosen = {name: x[good] for name, x in inputs.items()}
    return chosen, {name: degrees[good] for name, degrees in found.items()}


def check_pupil(teacher: Cascade, inputs: Inputs, targets: Targets, pupil: LearningResult) -> None:
    """The pupil infers what the teacher infers, with parameters that are nowhere higher."""
    for name, one in pupil.sets.items():
        assert not pupil.nabla[name].any()
        assert (one.distance, one.summary.smallest) == (0.0, 0.0)
        assert one.n_reliable == pupil.samples
        assert (one.s <= teacher[name].s).all()
        assert (one.r <= teacher[name].r).all()
    trace = pupil.cascade.trace(inputs)
    for name, expected in targets.items():
        assert trace[name].degrees.tolist() == expected.tolist()


@given(batches(sizes=(1, 2, 30, 129)), st.sampled_from([None, 5e-324, 1e-12, 0.5]))
def test_any_cascade(case: BatchCase, tau: float | None) -> None:
    """What is consistent is kept by any tolerance."""
    inputs, targets = lessons(case.cascade, case.evidence)
    assume(len(next(iter(targets.values()))) > 0)
    pupil = learn(unknowing(case.cascade), inputs, targets, tolerance=tau, fixed=None)
    assert set(pupil.sets) == {s.output.name for s in case.cascade.rule_sets}
    check_pupil(case.cascade, inputs, targets, pupil)


def test_one_rule_is_found_exactly() -> None:
    rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    for s in (0.0, 0.3, 1.0):
        for r in (0.0, 0.1, 1.0):
            teacher = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}), s, r)])
            inputs = {"rain": np.eye(2)}
            taught = teacher.infer(inputs).degrees
            unknown = teacher.with_parameters([1.0], [1.0])
            (rule,) = learn(unknown, inputs, taught, fixed=None).rule_set.rules
            assert (rule.s, rule.r) == (s, r)


@pytest.mark.parametrize("k", [1, 3])
def test_the_rules_of_addition(k: int) -> None:
    rng = np.random.default_rng(k)
    rules = addition(k)
    parameters = {
        s.output.name: tuple(rng.integers(0, 4, (2, len(s))) / 10) for s in rules.rule_sets
    }
    teacher = rules.with_parameters(parameters)
    inputs = {a.name: random_batch(rng, 150, 10, 100) for a in rules.inputs}
    inputs, targets = lessons(teacher, inputs)
    assert len(inputs["a_1"]) == 150
    pupil = learn(unknowing(rules), inputs, targets, fixed=None)
    check_pupil(teacher, inputs, targets, pupil)
    cuts: list[Any] = [slice(0, 70), slice(70, 150)]
    each = [
        ({n: x[c] for n, x in inputs.items()}, {n: t[c] for n, t in targets.items()}) for c in cuts
    ]
    streamed = learn_batches(unknowing(rules), each, fixed=None)
    assert streamed.cascade == pupil.cascade


def test_a_lie_is_told_from_the_lessons() -> None:
    """A wrong label among right ones has a distance of its own and is left out."""
    rules = addition(1)
    rng = np.random.default_rng(0)
    inputs, targets = lessons(
        rules, {a.name: np.eye(10)[rng.integers(0, 10, 50)] for a in rules.inputs}
    )
    wrong = {**targets, "y_1": targets["y_1"].copy()}
    wrong["y_1"][7] = np.roll(wrong["y_1"][7], 1)
    result = learn(rules, inputs, wrong, tolerance=0.1)
    assert result.reliable["y_1"].tolist() == [i != 7 for i in range(50)]
    assert result["y_1"].lowest.tolist() == learn(rules, inputs, targets)["y_1"].lowest.tolist()
    only = ({n: x[7:8] for n, x in inputs.items()}, {n: t[7:8] for n, t in wrong.items()})
    with pytest.raises(LearningError, match="'y_1': none of the 1 samples is reliable"):
        learn(rules, *only, tolerance=0.1)
