"""Sets of inputs and answers: the true tuple is in them, and every value is in some tuple."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.adders import LEVELS, TRIALS, N, adder, answers, evidence, least_successes, samples
from messages import raises_saying
from pinesy import DataError, ShapeError, calibrate, consistent_sets, parse
from pinesy.calibration.score_counts import exceeds
from pinesy.guarantees import CalibratedTuples, calibrate_tuples
from pinesy.problems import addition
from strategies import DEGREES

#: Both inputs decide both outputs: the graph of the rules has a loop.
LOOP = """
attribute left in {0..3}
attribute right in {0..3}
attribute high in {yes, no}
attribute low in {yes, no}
iff left in {2, 3} and right in {2, 3} then high in {yes}
iff left in {0, 1} and right in {0, 1} then low in {yes}
"""
ATTRIBUTES = ("left", "right", "total", "same")


def inputs(truth: Any) -> dict[str, Any]:
    return {"left": truth[:, 0], "right": truth[:, 1]}


def read_sums(truth: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Return the probabilities of a second network, which reads the sum."""
    logits = 4.0 * np.eye(7)[truth.sum(axis=1)] + 2.0 * rng.normal(size=(len(truth), 7))
    p = np.exp(logits)
    return {"total": p / p.sum(axis=1, keepdims=True)}


def tuples_at(degrees: dict[str, Any], level: float) -> list[tuple[int, int, int, bool]]:
    """Return the consistent tuples of one sample, by trying all of them."""
    members = {name: exceeds(d, level) for name, d in degrees.items()}
    everything = [(a, b, a + b, a == b) for a, b in product(range(4), range(4))]
    indices = {"left": 0, "right": 1, "total": 2, "same": 3}
    return [
        values
        for values in everything
        if all(mask[int(values[indices[name]])] for name, mask in members.items())
    ]


@settings(max_examples=30)
@given(st.data())
def test_sets_are_the_projections_of_the_consistent_tuples(data: st.DataObject) -> None:
    rows = st.lists(DEGREES, min_size=4, max_size=4).map(lambda d: [*d[:3], 1.0])
    p = np.array(data.draw(st.lists(st.tuples(rows, rows), min_size=6, max_size=6)))
    truth = np.array(
        data.draw(st.lists(st.tuples(*[st.integers(0, 3)] * 2), min_size=5, max_size=5))
    )
    sure: Any = calibrate(adder(), evidence(p[:5]), inputs(truth))
    known = data.draw(st.sampled_from([None, {"total": 3}, {"total": 2, "same": True}]))
    level = data.draw(st.sampled_from([0.5, 0.6, 0.8]))
    sets = consistent_sets(sure, {n: d[5] for n, d in evidence(p).items()}, level, known=known)
    degrees = dict(zip(("left", "right"), np.split(sure.degrees(evidence(p))[5], 2), strict=True))
    for name, value in (known or {}).items():
        domain = adder()[name].output.domain
        degrees[name] = np.array([1.0 * (v == value) for v in domain])
    consistent = tuples_at(degrees, level)
    assert sets.exact
    assert bool(sets.is_empty) == (not consistent)
    for i, name in enumerate(ATTRIBUTES):
        assert set(sets[name]) == {values[i] for values in consistent}


def joint_coverage(level: float, method: Any) -> int:
    """Return in how many seeded splits the whole true tuple of a new sample is in its sets."""
    covered = 0
    for seed in range(TRIALS):
        p, truth = samples(np.random.default_rng(seed), N + 1, 2, 4)
        covered += method(p, truth, level)
    return covered


def by_consistent_sets(p: Any, truth: Any, level: float) -> bool:
    sure = calibrate(adder(), evidence(p[:N]), inputs(truth[:N]))
    sets = consistent_sets(sure, {n: d[N] for n, d in evidence(p).items()}, level)
    left, right = truth[N].tolist()
    values = dict(zip(ATTRIBUTES, (left, right, left + right, left == right), strict=True))
    return all(value in sets[name] for name, value in values.items())


def by_single_quantiles(p: Any, truth: Any, level: float) -> bool:
    """Cover wrongly: a quantile for each input, without a correction for their number."""
    scores = 1.0 - np.take_along_axis(p, truth[..., None], axis=2)[..., 0]
    rank = int(np.ceil((N + 1) * level)) - 1
    limits = np.sort(scores[:N], axis=0)[rank]
    return bool((scores[N] <= limits).all())


@pytest.mark.parametrize("level", LEVELS)
def test_the_whole_true_tuple_is_covered(level: float) -> None:
    assert joint_coverage(level, by_consistent_sets) >= least_successes(level)


def test_the_check_sees_single_quantiles() -> None:
    """Independent errors: each input is covered at 80 %, both in 64 %."""

    def independent(p: Any, truth: Any, level: float) -> bool:
        rng = np.random.default_rng(int(1e6 * p[0, 0, 0]))
        return by_single_quantiles(rng.dirichlet(np.ones(4), p.shape[:2]), truth, level)

    assert joint_coverage(0.8, independent) < least_successes(0.8)


def test_tuples_with_a_predicted_answer_are_covered() -> None:
    level, covered = 0.8, 0
    rules, n = adder(), 80
    for seed in range(TRIALS):
        rng = np.random.default_rng(seed)
        p, truth = samples(rng, n + 1, 2, 4)
        sums = read_sums(truth, rng)
        known = {name: p[:n] for name, p in evidence(p).items()}
        predicted = {"total": sums["total"][:n]}
        tuples = calibrate_tuples(rules, known, predicted, inputs(truth[:n]) | answers(truth[:n]))
        new = {name: p[n] for name, p in evidence(p).items()}
        sets = consistent_sets(tuples, new, level, predicted={"total": sums["total"][n]})
        left, right = truth[n].tolist()
        covered += left in sets["left"] and right in sets["right"] and left + right in sets["total"]
    assert isinstance(tuples, CalibratedTuples)
    assert "and of total are in their sets together" in tuples.guarantee
    assert covered >= least_successes(level)


def test_a_predicted_answer_restricts_the_inputs() -> None:
    rng = np.random.default_rng(0)
    p, truth = samples(rng, 400, 2, 4)
    tuples = calibrate_tuples(
        adder(), evidence(p), read_sums(truth, rng), inputs(truth) | answers(truth)
    )
    unknown = {"left": np.full(4, 0.25), "right": np.full(4, 0.25)}
    sets = consistent_sets(tuples, unknown, 0.9, predicted={"total": np.eye(7)[6]})
    assert (sets["left"], sets["right"], sets["total"]) == ((3,), (3,), (6,))
    assert not sets.is_empty


@pytest.mark.parametrize("known", [None, {"y_0": 0, "y_1": 7}])
def test_reasons_name_what_every_tuple_needs(known: Any) -> None:
    """Each need alone, if it were met, would make the value possible; none is met."""
    rng = np.random.default_rng(0)
    digits = rng.integers(10, size=(300, 2))
    noisy = np.eye(10)[digits] + rng.gamma(0.1, size=(300, 2, 10))
    p = noisy / noisy.sum(axis=2, keepdims=True)
    rules = addition(1)
    sure = calibrate(
        rules, {"a_1": p[:, 0], "a_2": p[:, 1]}, {"a_1": digits[:, 0], "a_2": digits[:, 1]}
    )
    sample = {
        "a_1": np.eye(10)[3] * 0.5 + np.eye(10)[4] * 0.5,
        "a_2": np.eye(10)[3] * 0.5 + np.eye(10)[2] * 0.5,
    }
    sets = consistent_sets(sure, sample, known=known)
    for attribute in ("a_1", "a_2", "y_1"):
        for value in range(10):
            reason = sets.why_excluded(attribute, value)
            assert reason.is_excluded == (value not in sets[attribute])
            if not reason.is_excluded:
                assert "is in the set" in reason.text
                continue
            assert f"{attribute} = {value} is excluded at 95 %" in reason.text
            assert reason.needs
            for need in reason.needs:
                assert need.values
                assert not set(need.values) & set(need.remaining)
            assert reason.to_dict()["needs"][0]["attribute"] == reason.needs[0].attribute
    if known is None:
        text = str(sets.why_excluded("y_1", 1))
        assert "every tuple that has it needs" in text
        assert "of p-values up to" in text


def test_rules_alone_may_exclude_a_value() -> None:
    p, truth = samples(np.random.default_rng(0), 100, 2, 4)
    sure = calibrate(adder(), evidence(p), inputs(truth))
    sets = consistent_sets(sure, {"left": np.ones(4), "right": np.ones(4)}, known={"same": True})
    assert sets["total"] == (0, 2, 4, 6)
    assert "total = 1 is excluded" in str(sets.why_excluded("total", 1))
    assert "same in {false}, but it is true" in str(sets.why_excluded("total", 1))


def test_a_batch_equals_its_samples_and_contradictions_are_told() -> None:
    p, truth = samples(np.random.default_rng(0), 200, 2, 4)
    sure = calibrate(adder(), evidence(p), inputs(truth))
    totals = np.arange(20) % 7
    batch = consistent_sets(sure, evidence(p[:20]), 0.8, known={"total": totals})
    for row in range(20):
        new = {name: d[row] for name, d in evidence(p).items()}
        single = consistent_sets(sure, new, 0.8, known={"total": int(totals[row])})
        assert all(batch[name][row] == single[name] for name in ATTRIBUTES)
        assert batch.outcomes["left"][row] == single.outcomes["left"]
    empty = np.flatnonzero(batch.is_empty)
    assert len(empty)
    assert batch.outcomes["total"][empty[0]] == "contradiction"
    assert str(batch.why_excluded("left", 0, int(empty[0])))


def test_what_has_no_joint_set_is_refused() -> None:
    p, truth = samples(np.random.default_rng(0), 100, 2, 4)
    by_answers = calibrate(adder(), evidence(p), answers(truth), transform="antipignistic")
    with raises_saying(DataError, "true values of all inputs"):
        consistent_sets(by_answers, evidence(p))
    single = calibrate(adder(), evidence(p), inputs(truth), unit="input")
    with raises_saying(DataError, "unit='sample'"):
        consistent_sets(single, evidence(p))
    sure = calibrate(adder(), evidence(p), inputs(truth))
    with raises_saying(DataError, "calibrate_tuples"):
        consistent_sets(sure, evidence(p), predicted={"total": np.ones((100, 7))})
    with raises_saying(DataError, "at least 199"):
        consistent_sets(sure, evidence(p), 0.995)
    with raises_saying(DataError, "give a row"):
        consistent_sets(sure, evidence(p)).why_excluded("left", 0)
    sums = {"total": np.full((100, 7), 1 / 7)}
    true = inputs(truth) | answers(truth)
    with raises_saying(DataError, "no rule concludes on 'left'"):
        calibrate_tuples(adder(), evidence(p), {"left": p[:, 0]}, true)
    with raises_saying(DataError, "no predicted answers"):
        calibrate_tuples(adder(), evidence(p), {}, true)
    with raises_saying(ShapeError, "(100, 7)"):
        calibrate_tuples(adder(), evidence(p), {"total": np.ones((100, 6))}, true)
    tuples = calibrate_tuples(adder(), evidence(p), sums, true)
    with raises_saying(DataError, "predicted=", "total"):
        consistent_sets(tuples, evidence(p))


def test_rules_with_loops_say_that_sets_may_be_larger() -> None:
    rules = parse(LOOP)
    p, truth = samples(np.random.default_rng(0), 60, 2, 4)
    sets = consistent_sets(
        calibrate(rules, evidence(p), inputs(truth)), evidence(p), known={"high": ["yes"] * 60}
    )
    assert not sets.exact
    assert "sets may be larger" in repr(sets)
    for row in range(60):
        assert all(value in range(4) for value in sets["left"][row])
