"""Weights of samples, for a known shift: exact p-values, coverage, numbers of samples, refusals."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.adders import Floats, least_successes
from messages import raises_saying
from pinesy import Attribute, CalibratedRules, Iff, RuleSet, calibrate, load, save
from pinesy.calibration import (
    CalibratedInputs,
    ConformalMartingale,
    ConformalTransform,
    DriftMonitor,
    ScoreCounts,
    coverage,
    novelty,
    samples_needed,
)
from pinesy.exceptions import DataError, PinesyError, ShapeError

TENTHS = st.integers(0, 10).map(lambda k: k / 10)
#: Weights over 24 powers of ten.
WEIGHTS = st.floats(1e-12, 1e12)
SAMPLES = st.lists(st.tuples(TENTHS, WEIGHTS), min_size=1, max_size=20)
#: How much harder new samples are than those of calibration: the density of the hardness ``h``,
#: uniform on [0, 1] in calibration, is proportional to ``exp(SHIFT h)``.
SHIFT = 8.0


def oracle(samples: list[tuple[float, float]], t: float, weight: float) -> Fraction:
    """Return the p-value of a new sample by its definition."""
    own = Fraction(weight)
    worse = sum((Fraction(w) for s, w in samples if s >= t), Fraction())
    total = sum((Fraction(w) for _, w in samples), Fraction())
    return (own + worse) / (own + total)


@given(SAMPLES, WEIGHTS, TENTHS)
def test_p_values_are_those_of_the_definition(
    samples: list[tuple[float, float]], weight: float, t: float
) -> None:
    scores, weights = zip(*samples, strict=True)
    counts = ScoreCounts.of(scores, weights)
    expected = float(oracle(samples, t, weight))
    assert counts.p_values(np.array([t]), np.array([weight]))[0] == pytest.approx(expected, 1e-12)
    assert counts.samples == len(samples)
    again = ScoreCounts.read(json.loads(json.dumps(counts.content)))
    assert again == counts
    assert (again.samples, again.total) == (counts.samples, counts.total)


@given(SAMPLES, WEIGHTS, st.integers(-40, 40))
def test_a_constant_factor_of_all_weights_changes_no_bit(
    samples: list[tuple[float, float]], weight: float, power: int
) -> None:
    scores, weights = zip(*samples, strict=True)
    factor, t = 2.0**power, np.array([0.0, 0.35, 0.5, 1.0])
    plain = ScoreCounts.of(scores, weights).p_values(t, weight)
    scaled = ScoreCounts.of(scores, np.array(weights) * factor).p_values(t, weight * factor)
    assert scaled.tolist() == plain.tolist()


@pytest.mark.parametrize("unit", ["sample", "input"])
@pytest.mark.parametrize("by_class", [False, True])
def test_units_and_classes_take_the_weights_of_their_samples(unit: Any, by_class: bool) -> None:
    """Each input has the weight of its sample; a class is counted by itself, with its weights."""
    rng, m = np.random.default_rng(3), 1 if by_class and unit == "sample" else 2
    p, truth = rng.dirichlet(np.ones(3), (40, m)).round(2), rng.integers(3, size=(40, m))
    new, weights, own = p[:5], rng.gamma(1.0, size=40), rng.gamma(1.0, size=5)
    transform = ConformalTransform(unit=unit, class_conditional=by_class).fit(p, truth, weights)
    found = transform.p_values(new, own)
    true = 1.0 - np.take_along_axis(p, truth[..., None], axis=2)[..., 0]
    units = [(true[i].max(), truth[i, 0], weights[i]) for i in range(40)]
    if unit == "input":
        units = [(true[i, j], truth[i, j], weights[i]) for i in range(40) for j in range(m)]
    for i, j, value in np.ndindex(found.shape):
        counted = [(s, w) for s, v, w in units if v == value or not by_class]
        expected = float(oracle(counted, float(1.0 - new[i, j, value]), float(own[i])))
        assert found[i, j, value] == pytest.approx(expected, 1e-12)
    assert sum(counts.samples for counts in transform.counts_) == len(units)


@pytest.mark.parametrize("factor", [1.0, 0.1, 0.7, 20.0, 1 / 3, 1e-30, 1e30])
def test_a_constant_factor_changes_no_set_at_the_least_number_of_samples(factor: float) -> None:
    """At 19 samples the least p-value is 0.05, the limit of 0.95, whatever rounding does to it."""
    sure = calibrated(19, weights=np.full(19, factor))
    sets = sure.predict_set({"a": np.eye(2)}, 0.95, weights=np.full(2, factor))
    assert sets["b"] == [(0,), (1,)]
    assert sets["b"] == calibrated(19).predict_set({"a": np.eye(2)}, 0.95)["b"]
    assert sets.excluded_at("b").tolist() == [[0.0, 0.95], [0.95, 0.0]]


# --- rules ------------------------------------------------------------------------------------


def rules() -> RuleSet:
    a, b = Attribute("a", range(2)), Attribute("b", range(2))
    return RuleSet([Iff(a.isin({1})).then(b.isin({1}))])


def degrees(n: int, seed: int = 0) -> tuple[Floats, Any]:
    """Return possibilities of `a`, and true values: the more possible one nearly always."""
    rng = np.random.default_rng(seed)
    truth, doubt = rng.integers(2, size=n), rng.random(n) ** 2
    pi = np.ones((n, 2))
    pi[np.arange(n), 1 - truth] = doubt
    pi[: n // 10] = pi[: n // 10, ::-1]  # and sometimes the other one
    return pi, truth


def calibrated(n: int = 199, of: str = "a", **options: Any) -> CalibratedRules:
    pi, truth = degrees(n)
    return calibrate(rules(), {"a": pi}, {of: truth}, **options)


def ratio(hardness: Any) -> Any:
    """Return the density of new samples divided by that of calibration samples."""
    return SHIFT * np.exp(SHIFT * hardness) / np.expm1(SHIFT)


def shifted(seed: int, n: int) -> tuple[Floats, Floats, Floats, float]:
    """Return scores and weights of calibration samples, and a new sample's degrees and weight.

    True values are 0. A score is distributed in the same way given the hardness.
    """
    rng = np.random.default_rng(seed)
    hardness = rng.random(n)
    new = np.log1p(rng.random() * np.expm1(SHIFT)) / SHIFT
    scores = np.append(hardness, new) * np.sqrt(rng.random(n + 1))
    pi = np.column_stack([1.0 - scores, scores])
    return pi[:n], ratio(hardness), pi[n:], float(ratio(new))


@pytest.mark.parametrize("factor", [1.0, 20.0])
def test_coverage_holds_under_a_known_shift_and_not_with_weight_1(factor: float) -> None:
    """The chance of fewer covered samples is one in a million, if the guarantee holds."""
    trials, n, level = 2000, 19, 0.9
    covered = {"right": 0, "weight 1": 0, "no weights": 0}
    for seed in range(trials):
        pi, weights, new, weight = shifted(seed, n)
        truth = np.zeros(n, dtype=np.int64)
        weighted = ConformalTransform().fit(pi, truth, weights * factor)
        plain = ConformalTransform().fit(pi, truth)
        p_values = {
            "right": weighted.p_values(new, [weight * factor]),
            "weight 1": weighted.p_values(new, [1.0]),
            "no weights": plain.p_values(new),
        }
        for name, p in p_values.items():
            covered[name] += bool(p[0, 0] > 0.1)
    least = least_successes(level, trials)
    assert covered["right"] >= least, covered
    assert covered["weight 1"] < least, covered
    assert covered["no weights"] < least, covered


@pytest.mark.parametrize("of", ["a", "b"])
def test_sets_of_rules_cover_under_a_known_shift(of: str) -> None:
    trials, n, covered = 400, 29, np.zeros(2)
    for seed in range(trials):
        pi, weights, new, weight = shifted(seed, n)
        how: dict[str, Any] = {"transform": None if of == "a" else "antipignistic"}
        truth = np.zeros(n, dtype=np.int64)
        sure = calibrate(rules(), {"a": pi}, {of: truth}, weights=weights, **how)
        for i, level in enumerate((0.8, 0.9)):
            sets = sure.predict_set({"a": new}, level, weights=[weight])
            covered[i] += 0 in sets["b"][0]
    assert (covered >= [least_successes(level, trials) for level in (0.8, 0.9)]).all(), covered


def test_ten_samples_of_weight_20_are_ten_samples() -> None:
    sure = calibrated(10, weights=np.full(10, 20.0))
    assert sure.transform.n == 10
    assert "calibrated on 10 samples" in sure.guarantee
    assert repr(sure.transform.counts_[0]) == "ScoreCounts(10 samples of weight 200)"
    new = {"a": degrees(5, 1)[0]}
    for level, needed in ((0.95, 19), (0.99, 99)):
        with raises_saying(DataError, "10 calibration samples", f"at least {needed} are needed"):
            sure.predict_set(new, level, weights=np.full(5, 20.0))
        with raises_saying(DataError, f"at least {needed} are needed", "weights"):
            novelty(sure, new, level, weights=np.full(5, 20.0))
    with raises_saying(DataError, "at least 99 are needed"):
        coverage(sure, new, {"b": np.zeros(5, int)}, 0.99, weights=np.full(5, 20.0))
    report = coverage(sure, new, {"b": np.zeros(5, int)}, weights=np.full(5, 20.0))
    assert [row.level for row in report.of("all")] == [0.8, 0.9]
    plain, same = calibrated(10).infer(new), sure.infer(new, weights=np.full(5, 20.0))
    assert np.array_equal(plain["b"].degrees, same["b"].degrees)


def test_samples_of_weight_0_are_not_counted() -> None:
    weights = np.where(np.arange(199) % 2, 0.5, 0.0)
    assert calibrated(weights=weights).transform.n == 99
    assert calibrated(weights=weights).transform.doubt_.samples == 99
    with raises_saying(DataError, "weights are all 0"):
        calibrated(weights=np.zeros(199))


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_what_a_new_sample_needs_is_the_weight_of_as_many_samples_like_it(level: float) -> None:
    """A value can be excluded from a sample of weight w iff the others weigh (1/alpha - 1) w."""
    n, needed = 250, samples_needed(level)
    sure = calibrated(n, weights=np.full(n, 2.0))
    limit = 2.0 * n / needed
    certain = {"a": np.array([[1.0, 0.0]] * 3)}
    sets = sure.predict_set(certain, level, weights=[limit, limit * 1.001, limit * 1000.0])
    assert sets["b"] == [(0,), (0, 1), (0, 1)]
    highest = 2.0 * n / (2.0 * n + limit)
    assert sets.excluded_at("b")[0, 1] == pytest.approx(highest)


def weighted(n: int = 199, of: str = "a", **options: Any) -> CalibratedRules:
    return calibrated(n, of, weights=np.linspace(0.5, 1.5, n), **options)


@pytest.mark.parametrize("of", ["a", "b"])
def test_new_samples_need_their_weights(of: str) -> None:
    sure, (pi, truth) = weighted(of=of), degrees(6, 1)
    new, one, own = {"a": pi}, {"a": pi[0]}, np.linspace(0.2, 3.0, 6)
    asked: list[Any] = [
        lambda **w: sure.infer(new, **w)["b"].degrees.tolist(),
        lambda **w: sure.predict_set(new, 0.9, **w)["b"],
        lambda **w: sure.conformity(new, **w).tolist(),
        lambda **w: sure.doubt(new, **w).tolist(),
        lambda **w: novelty(sure, new, 0.9, **w).p_values.tolist(),
        lambda **w: coverage(sure, new, {"b": truth}, 0.9, **w).to_dict(),
        lambda **w: sure.transform({"b": pi}, **w)["b"].tolist(),
    ]
    for ask in asked:
        with raises_saying(DataError, "new samples", "give weights="):
            ask()
        assert ask(weights=own) == ask(weights=own.tolist())
        with raises_saying(ShapeError, "weights has shape (5,)", "6 samples"):
            ask(weights=own[:5])
        for bad in (0.0, -1.0, np.nan, np.inf):
            with raises_saying(DataError, "weights[2] is"):
                ask(weights=np.where(np.arange(6) == 2, bad, own))
        with raises_saying(DataError, "weights", "numbers"):
            ask(weights=["heavy"] * 6)
    for ask in (sure.explain, lambda e, **w: sure.why_not(e, 1 - int(pi[0].argmax()), **w)):
        with raises_saying(DataError, "give weights="):
            ask(one, level=0.9)
        assert "90 %" in ask(one, level=0.9, weights=0.3).text()
    p = sure.infer(one, weights=0.3)["b"].degrees[1 - int(pi[0].argmax())]
    reason = sure.why_not(one, 1 - int(pi[0].argmax()), level=0.9, weights=0.3)
    assert reason.p_value == p == reason.p_values[0][2]
    plain = calibrated(of=of)
    with raises_saying(DataError, "without weights", "leave weights out"):
        plain.infer(new, weights=own)


def test_one_distribution_takes_one_weight() -> None:
    pi, truth = degrees(50)
    transform = ConformalTransform().fit(pi, truth, np.full(50, 2.0))
    assert transform(pi[3], 5.0).tolist() == transform(pi[3:4], [5.0])[0].tolist()


def test_the_guarantee_names_the_shift() -> None:
    for of in ("a", "b"):
        said = weighted(of=of).guarantee
        assert "exchangeable" not in said
        assert "weights are the ratio" in said
        assert "given their inputs" in said
        assert "exchangeable" in calibrated(of=of).guarantee
        assert "ratio" not in calibrated(of=of).guarantee


def test_weighted_and_plain_samples_do_not_add() -> None:
    pi, truth = degrees(20, 1)
    for first, more in ((weighted(), None), (calibrated(), np.ones(20))):
        with raises_saying(DataError, "both have weights"):
            first.calibrate_more({"a": pi}, {"a": truth}, more)
    with raises_saying(DataError, "both have weights"):
        weighted() + calibrated()
    grown = weighted().calibrate_more({"a": pi}, {"a": truth}, np.full(20, 0.25))
    assert grown.transform.n == 219
    assert (weighted() + weighted()).transform.n == 398


def test_sums_of_float_weights_may_differ_in_their_last_bits() -> None:
    """What docs/guarantees.md says of weights and ties: equal up to rounding, not to the bit."""
    weights = [0.1, 0.2, 0.3]
    parts = ScoreCounts.of([0.5], weights[:1]) + ScoreCounts.of([0.5, 0.5], weights[1:])
    whole = ScoreCounts.of([0.5] * 3, weights)
    assert parts != whole
    assert parts.total == pytest.approx(whole.total, 1e-15)


def test_exceptions_are_weighted_as_the_samples_are() -> None:
    pi, truth = degrees(4)
    wrong = np.where(np.arange(4) == 3, 1 - truth, truth)  # the rules fail on the last
    given = {"a": truth, "b": wrong}
    sure = calibrate(rules(), {"a": pi}, given, weights=[1.0, 1.0, 1.0, 5.0])
    assert isinstance(sure, CalibratedInputs)
    assert sure.exception_rate(0.95) == 5 / 8
    known = calibrate(rules(), {"a": pi}, {"a": truth}, exceptions=0.25)
    assert isinstance(known, CalibratedInputs)
    more = known.calibrate_more({"a": pi}, given)
    assert more.exception_rate(0.95) == 0.25  # what is known is not mixed with what is counted


# --- monitors and files -----------------------------------------------------------------------


@pytest.mark.parametrize("weights", [np.full(199, 3.0), np.ones(199), np.linspace(0.5, 1.5, 199)])
def test_a_monitor_refuses_weights(weights: Floats) -> None:
    for labelled in (False, True):
        with raises_saying(DataError, "have weights", "without weights"):
            DriftMonitor(calibrated(weights=weights), labelled=labelled)
    with raises_saying(DataError, "have weights"):
        ConformalMartingale(ScoreCounts.of(np.linspace(0.0, 1.0, 199), weights))


@pytest.mark.parametrize("of", ["a", "b"])
def test_weights_are_saved(tmp_path: Path, of: str) -> None:
    sure, file = weighted(of=of), tmp_path / "m.json"
    save(sure, file)
    again = load(file)
    assert again.transform.n == 199
    assert again.guarantee == sure.guarantee
    new, own = {"a": degrees(6, 1)[0]}, np.linspace(0.2, 3.0, 6)
    found, expected = (one.infer(new, weights=own)["b"].degrees for one in (again, sure))
    assert found.tolist() == expected.tolist()
    with raises_saying(DataError, "give weights="):
        again.predict_set(new)


GOOD = {"scores": [0.25, 0.5], "counts": [1, 2]}
FORGED: list[dict[str, Any]] = [
    {"scores": [-1.0, 0.5]},
    {"scores": [0.5, 1e300]},
    {"scores": ["0.25", "0.5"]},
    {"scores": [False, True]},
    {"scores": [[0.25], [0.5]]},
    {"scores": [0.25, float("nan")]},
    {"counts": [1, float("inf")]},
    {"counts": [1, 1e300]},
    {"counts": [1, 2.5]},
    {"counts": [1, -2]},
    {"counts": [0, 2]},
    {"counts": ["1", "2"]},
    {"counts": [1]},
    {"weights": [1.0, -2.0]},
    {"weights": [1.0, 0.0]},
    {"weights": [1.0, float("inf")]},
    {"weights": [1e308, 1e308]},
    {"weights": ["1", "2"]},
    {"weights": [1.0]},
]


@pytest.mark.parametrize("part", ["counts", "doubt", "exceptions", "ranks"])
@pytest.mark.parametrize("change", FORGED, ids=str)
def test_forged_files_are_refused(tmp_path: Path, part: str, change: dict[str, Any]) -> None:
    file, pi = tmp_path / "m.json", degrees(60)[0]
    kinds = {"a": "digit"} if part == "ranks" else None
    given = {"a": pi.argmax(axis=1), "b": pi.argmax(axis=1)}
    save(calibrate(rules(), {"a": pi}, given, kinds=kinds), file)
    content = json.loads(file.read_text())
    calibration = content["calibration"]
    forged = GOOD | change
    whole = {"counts": [forged], "ranks": [["digit", forged]]}
    calibration[part] = whole.get(part, forged)
    file.write_text(json.dumps(content))
    with raises_saying(DataError, "m.json", f'"{next(iter(change))}"'):
        load(file)


@pytest.mark.parametrize(
    "change",
    [
        {"doubt": {"scores": [0.25], "counts": [59]}},  # of fewer samples than were counted
        {"doubt": {"scores": [0.25], "counts": [60], "weights": [1.0]}},
        {"class_conditional": "no"},
        {"exceptions": -0.5},
        {"exceptions": 2},
    ],
    ids=str,
)
def test_parts_that_do_not_fit_together_are_refused(tmp_path: Path, change: Any) -> None:
    file = tmp_path / "m.json"
    save(calibrated(60), file)
    content = json.loads(file.read_text())
    content["calibration"] |= change
    file.write_text(json.dumps(content))
    with raises_saying(PinesyError, "m.json", "calibrat"):
        load(file)


def test_version_1_says_to_calibrate_again(tmp_path: Path) -> None:
    """It did not tell weights from numbers of samples."""
    file = tmp_path / "m.json"
    save(calibrated(60), file)
    content = json.loads(file.read_text())
    content["calibration"]["version"] = 1
    file.write_text(json.dumps(content))
    with raises_saying(DataError, "version 1", "calibrate again"):
        load(file)
