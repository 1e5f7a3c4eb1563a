"""Coverage reports against their definitions, in plain loops."""

import json
from itertools import permutations
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinesy import Attribute, Cascade, Iff, Possibility, RuleSet
from pinesy.calibration import CalibratedRules, ScoreCounts, calibrate, coverage, coverage_of
from pinesy.calibration.coverage_report import chance_of_so_few, share_band
from pinesy.exceptions import DataError, DegreeError, DomainError, ShapeError


def tail(k: int, n: int, p: float) -> float:
    return sum(comb(n, i) * p**i * (1.0 - p) ** (n - i) for i in range(k, n + 1))


@given(st.integers(1, 60), st.data())
def test_the_ends_of_a_band_have_the_chance_that_defines_them(n: int, data: Any) -> None:
    k = data.draw(st.integers(0, n))
    low, high = share_band(k, n)
    assert low == 0.0 if k == 0 else tail(k, n, low) == pytest.approx(0.025)
    assert high == 1.0 if k == n else 1.0 - tail(k + 1, n, high) == pytest.approx(0.025)


@pytest.mark.parametrize("alpha", [0.2, 0.4, 0.7, 0.1])
def test_the_chance_of_so_few_is_that_of_all_orders_of_the_scores(alpha: float) -> None:
    counts = []
    for order in permutations(range(7)):  # four calibration samples, then three new ones
        p = ScoreCounts.of(order[:4]).p_values(np.array(order[4:], dtype=float))
        counts.append(int((p > alpha).sum()))
    for k in range(4):
        share = sum(c <= k for c in counts) / len(counts)
        assert chance_of_so_few(k, 3, 4, alpha) == pytest.approx(share)


DEGREES = st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.5, 1.0])


@given(st.integers(1, 8), st.data())
def test_rows_are_what_loops_count(n: int, data: Any) -> None:
    shape = st.lists(st.lists(DEGREES, min_size=3, max_size=3), min_size=n, max_size=n)
    a, b = np.array(data.draw(shape)), np.array(data.draw(shape))
    truth = {name: data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)) for name in "ab"}
    groups = data.draw(st.lists(st.sampled_from("xy"), min_size=n, max_size=n))
    report = coverage_of({"a": a, "b": b}, truth, [0.8, 0.95], groups=groups)
    for row in report.rows:
        alpha = {0.8: 0.2, 0.95: 0.05}[row.level]
        names = [row.name[0]] if row.scope in ("output", "class") else ["a", "b"]
        samples = [
            i
            for i in range(n)
            if (row.scope != "group" or groups[i] == row.name)
            and (row.scope != "class" or row.name == f"{names[0]} = {truth[names[0]][i]}")
        ]
        sets = [
            [set(np.flatnonzero({"a": a, "b": b}[k][i] > alpha)) for k in names] for i in samples
        ]
        true = [[truth[k][i] for k in names] for i in samples]
        hits = [
            all(v in s for v, s in zip(t, ss, strict=True))
            for t, ss in zip(true, sets, strict=True)
        ]
        sizes = [float(np.prod([len(s) for s in ss])) for ss in sets]
        single = [hit for hit, size in zip(hits, sizes, strict=True) if size == 1]
        assert (row.samples, row.covered) == (len(samples), sum(hits))
        assert (row.low, row.high) == share_band(sum(hits), len(samples))
        assert row.mean_size == pytest.approx(np.mean(sizes))
        assert row.median_size == np.median(sizes)
        assert row.single == len(single) / len(samples)
        assert np.isnan(row.single_right) if not single else row.single_right == np.mean(single)


def sky_rules() -> RuleSet:
    sky, rain = Attribute("sky", ["dark", "clear"]), Attribute("rain", ["yes", "no"])
    return RuleSet([Iff(sky.isin({"dark"})).then(rain.isin({"yes"}))])


def weather(n: int, seed: int = 0) -> tuple[dict[str, Any], Any]:
    """Return evidence whose probabilities are true ones, and the true skies."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.3, 0.3], n)
    return {"sky": p}, np.where(rng.random(n) < p[:, 0], "dark", "clear")


def rain(sky: Any) -> Any:
    return np.where(sky == "dark", "yes", "no")


def calibrated(n: int = 199, **options: Any) -> CalibratedRules:
    evidence, sky = weather(n)
    return calibrate(sky_rules(), evidence, {"sky": sky}, **options)


def test_a_calibration_keeps_what_it_promises_and_one_that_lies_is_found_out() -> None:
    evidence, sky = weather(500, seed=1)
    good = coverage(calibrated(), evidence, rain(sky))
    assert good.too_low == ()
    assert good.verdict.startswith("No level covers fewer")
    wrong = coverage(calibrated(), evidence, {"rain": rain(sky[::-1])})
    assert {row.level for row in wrong.too_low} >= {0.8, 0.9}
    assert "rules have exceptions" in wrong.verdict
    plain = coverage_of(sky_rules().infer({"sky": np.array([[1.0, 0.0]] * 40)}), ["no"] * 40)
    assert "no guaranteed levels" in plain.verdict


def test_what_is_guaranteed_is_judged_by_its_chance() -> None:
    evidence, sky = weather(300, seed=1)
    by_sample = coverage(calibrated(), evidence, rain(sky), 0.9).of("all")[0]
    assert by_sample.chance == chance_of_so_few(by_sample.covered, 300, 199, 0.1)
    assert coverage(calibrated(unit="input"), evidence, rain(sky), 0.9).of("all")[0].chance is None
    weighted = calibrated(weights=np.linspace(0.5, 1.5, 199))
    report = coverage(weighted, evidence, rain(sky), 0.9, weights=np.ones(300))
    assert report.of("all")[0].chance is None
    known, skies = weather(199)
    options: dict[str, Any] = {"class_conditional": True, "transform": "antipignistic"}
    by_class = calibrate(sky_rules(), known, {"rain": rain(skies)}, **options)
    report = coverage(by_class, evidence, {"rain": rain(sky)}, 0.9)
    assert report.of("all")[0].chance is None
    wet = report.of("class")[0]
    n = int((skies == "dark").sum())
    assert (wet.name, wet.chance) == ("yes", chance_of_so_few(wet.covered, wet.samples, n, 0.1))


def test_outcomes_are_counted_apart() -> None:
    rain = Attribute("rain", ["yes", "no"])
    pi = Possibility(rain, np.array([[1.0, 0.0], [1.0, 0.5], [0.5, 0.5], [0.5, 0.0]]))
    row = coverage_of(pi, ["yes"] * 4, 0.9).of("all")[0]
    assert (row.several, row.no_rule, row.novel, row.contradiction) == (0.25, 0.0, 0.0, 0.5)
    both = coverage_of({"rain": pi, "b": np.eye(2)[[0] * 4]}, {"rain": ["yes"] * 4, "b": [0] * 4})
    assert [row.contradiction for row in both.of("all")] == [0.5] * len(both.of("all"))


def test_columns_may_be_of_classes() -> None:
    pi = np.array([[1.0, 0.04], [0.3, 1.0]])
    report = coverage_of(pi, ["cat", "cat"], 0.9, classes=np.array(["cat", "dog"]))
    assert [(row.name, row.covered) for row in report.of("class")] == [("cat", 2)]
    with pytest.raises(DegreeError, match="has 3 values"):
        coverage_of(pi, ["a", "a"], classes=["a", "b", "c"])


def test_the_report_has_several_forms() -> None:
    evidence, sky = weather(60, seed=1)
    report = coverage(calibrated(), evidence, rain(sky), groups=["a", "b"] * 30)
    shown = str(report)
    assert "Coverage by class" in shown
    assert "Coverage by group" in shown
    content = json.loads(json.dumps(report.to_dict()))
    assert len(content["rows"]) == len(report.rows) == len(report.to_frame())
    assert content["rows"][0]["observed"] == report.rows[0].observed
    assert report.plot().get_title() == "Coverage"
    assert "<svg" in report.html()


def test_levels_that_calibration_cannot_guarantee_are_left_out_or_refused() -> None:
    evidence, sky = weather(30, seed=1)
    report = coverage(calibrated(19), evidence, rain(sky))
    assert [row.level for row in report.of("all")] == [0.8, 0.9, 0.95]
    with pytest.raises(DataError, match="at least 99 are needed"):
        coverage(calibrated(19), evidence, rain(sky), [0.9, 0.99])
    with pytest.raises(DataError, match=r"at level 0\.8: at least 4 are needed"):
        coverage(calibrated(3), evidence, rain(sky))
    with pytest.raises(DomainError, match="level is 95"):
        coverage(calibrated(19), evidence, rain(sky), 95)
    with pytest.raises(DataError, match="give at least one"):
        coverage(calibrated(19), evidence, rain(sky), [])


def test_samples_that_do_not_fit_are_refused() -> None:
    evidence, sky = weather(30, seed=1)
    sure = calibrated()
    with pytest.raises(DataError, match="no samples to report on"):
        coverage(sure, {"sky": np.empty((0, 2))}, {"rain": []})
    with pytest.raises(DomainError, match="row 0"):
        coverage(sure, evidence, ["rainy"] * 30)
    with pytest.raises(DataError, match="there are 30 samples of inputs but 29"):
        coverage(sure, evidence, rain(sky)[:29])
    with pytest.raises(ShapeError, match="one for each of 30 samples"):
        coverage(sure, evidence, rain(sky), groups=["a", "b"])
    with pytest.raises(DataError, match="are distributions"):
        coverage(sure, evidence, np.ones((30, 2)))
    with pytest.raises(ShapeError, match="n_samples, values"):
        coverage_of(np.ones(3), [0, 1, 2])
    with pytest.raises(DegreeError, match="is nan"):
        coverage_of(np.array([[1.0, np.nan]]), [0])


def test_several_outputs_count_together() -> None:
    a, b, c = (Attribute(name, range(2)) for name in "abc")
    rules = Cascade(
        RuleSet([Iff(a.isin({1})).then(b.isin({1}))]),
        RuleSet([Iff(a.isin({1})).then(c.isin({1}))]),
    )
    p = np.random.default_rng(0).dirichlet([0.5, 0.5], 80)
    truth = p.argmax(axis=1)
    sure = calibrate(rules, {"a": p[:40]}, {"a": truth[:40]})
    report = coverage(sure, {"a": p[40:]}, {"b": truth[40:], "c": 1 - truth[40:]}, 0.9)
    assert [row.name for row in report.of("output")] == ["b", "c"]
    covered = [row.covered for row in report.of("output")]
    assert report.of("all")[0].covered <= min(covered)
