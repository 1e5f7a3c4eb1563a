"""Monitoring: p-values and bets by their definitions, false alarms and changes by simulation."""

import json
from math import exp, lgamma, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinesy import Attribute, Iff, RuleSet
from pinesy.calibration import (
    CalibratedRules,
    ConformalMartingale,
    DriftMonitor,
    ScoreCounts,
    calibrate,
    novelty,
)
from pinesy.calibration.conformal_martingale import MOST_POINTS, SHAPES
from pinesy.calibration.martingale_kernels import bet
from pinesy.exceptions import DataError, DomainError, PinesyError, ShapeError

TENTHS = st.integers(0, 5).map(lambda k: k / 10)
SCORES = st.lists(TENTHS, min_size=1, max_size=12)


@given(SCORES, SCORES, st.integers(0, 5))
def test_p_values_are_ranks_among_all_that_came_before(
    known: list[float], new: list[float], cut: int
) -> None:
    test = ConformalMartingale(ScoreCounts.of(known), seed=3)
    found = [*test.update(new[:cut]).p_values, *test.update(new[cut:]).p_values]
    lots = np.random.default_rng(3).random(len(new))
    for i, score in enumerate(new):
        so_far = known + new[: i + 1]
        above, equal = sum(s > score for s in so_far), so_far.count(score)
        assert found[i] == (above + lots[i] * equal) / len(so_far)


def mixture(p: list[float]) -> float:
    """Return the martingale: over all bets and all samples at which they may begin."""
    bets = [(a, b) for a in SHAPES for b in SHAPES if (a, b) != (1.0, 1.0)]
    reserve = [1.0 / (1.0 + log(1.0 + t)) for t in range(len(p) + 1)]
    total = reserve[-1]
    for a, b in bets:
        beta = exp(lgamma(a) + lgamma(b) - lgamma(a + b))
        densities = [x ** (a - 1) * (1 - x) ** (b - 1) / beta for x in p]
        for begin in range(len(p)):
            stake = (reserve[begin] - reserve[begin + 1]) / len(bets)
            total += stake * float(np.prod(densities[begin:]))
    return total


@given(st.lists(st.floats(0.01, 0.99), min_size=1, max_size=15))
@settings(max_examples=30)
def test_the_martingale_is_the_mixture_of_all_bets_and_beginnings(p: list[float]) -> None:
    test, out = ConformalMartingale(ScoreCounts.of([0.5])), np.empty(len(p))
    bet(np.array(p), test._bets, 0, test._capital, out)
    assert out.tolist() == pytest.approx([log(mixture(p[: i + 1])) for i in range(len(p))])


def test_bets_are_fair() -> None:
    """The mean of the capital over all p-values is what it was before."""
    test, before = ConformalMartingale(ScoreCounts.of([0.5])), np.empty(1)
    bet(np.array([0.2]), test._bets, 0, test._capital, before)
    after, out = [], np.empty(1)
    for p in (np.arange(1000) + 0.5) / 1000:
        bet(np.array([p]), test._bets, 1, test._capital.copy(), out)
        after.append(exp(out[0]))
    assert np.mean(after) == pytest.approx(exp(before[0]), rel=0.01)


def alarms(seed: int, fixed: bool) -> bool:
    """Tell whether a stream in which nothing changes raises an alarm."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(50, size=1030) / 50
    test = ConformalMartingale(ScoreCounts.of(scores[:30]), chance=0.1, seed=seed)
    if not fixed:
        return test.update(scores[30:]).alarm is not None
    above, equal = test.counts.above_and_equal(scores[30:])
    p, out = (above + rng.random(1000) * (equal + 1)) / 31, np.empty(1000)
    bet(p, test._bets, 0, test._capital, out)
    return bool(out.max() >= test.threshold)


def test_false_alarms_are_as_rare_as_promised_because_each_sample_joins_the_ranks() -> None:
    online = sum(alarms(seed, fixed=False) for seed in range(120))
    fixed = sum(alarms(seed, fixed=True) for seed in range(120))
    assert online <= 28  # at 0.1 each, more happen once in 100,000 times
    assert fixed > 60


@pytest.mark.parametrize("shift", [1.0, -1.0, 0.5])
def test_a_change_is_found(shift: float) -> None:
    delays = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        test = ConformalMartingale(ScoreCounts.of(rng.normal(size=300)), seed=seed)
        test.update(rng.normal(size=500))
        alarm = test.update(rng.normal(shift, size=500)).alarm
        assert alarm is not None
        assert alarm > 500
        delays.append(alarm - 500)
    assert np.median(delays) < (60 if abs(shift) == 1.0 else 250)


def test_the_alarm_is_raised_at_the_first_sample_that_reaches_the_threshold() -> None:
    test = ConformalMartingale(ScoreCounts.of(np.arange(50.0)), chance=0.05)
    path = test.update(np.arange(50.0, 90.0)).log_martingale
    assert test.alarm == 1 + int((path >= log(20.0)).argmax())
    assert test.highest == path.max() > log(20.0)
    test.update(np.arange(40.0))
    assert test.alarm == 1 + int((path >= log(20.0)).argmax())


def test_a_change_of_the_spread_is_found() -> None:
    rng = np.random.default_rng(0)
    test = ConformalMartingale(ScoreCounts.of(rng.normal(size=300)))
    assert test.update(3.0 * rng.normal(size=300)).alarm is not None


def test_the_path_of_a_long_stream_is_thinned_wherever_batches_are_cut() -> None:
    scores = np.random.default_rng(0).random(3 * MOST_POINTS)
    one, other = (ConformalMartingale(ScoreCounts.of([0.5])) for _ in range(2))
    whole = one.update(scores)
    for part in np.split(scores, [5, 5, 4000, 9000]):
        other.update(part)
    assert one.content == other.content
    times, values = one.path
    assert len(times) <= MOST_POINTS
    assert values[1:].tolist() == whole.log_martingale[times[1:] - 1].tolist()


# --- of calibrated rules ----------------------------------------------------------------------


def skies(n: int, spread: float = 0.3, seed: int = 0) -> tuple[dict[str, Any], Any]:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([spread, spread], n)
    return {"sky": p}, np.where(rng.random(n) < p[:, 0], "dark", "clear")


def sky_rules() -> RuleSet:
    sky, rain = Attribute("sky", ["dark", "clear"]), Attribute("rain", ["yes", "no"])
    return RuleSet([Iff(sky.isin({"dark"})).then(rain.isin({"yes"}))])


def calibrated(n: int = 199, **options: Any) -> CalibratedRules:
    evidence, seen = skies(n)
    return calibrate(sky_rules(), evidence, {"sky": seen}, **options)


def test_doubtful_samples_raise_an_alarm() -> None:
    monitor = DriftMonitor(calibrated())
    assert monitor.update(skies(200, seed=1)[0]).alarm is None
    status = monitor.update(skies(200, 3.0, seed=2)[0])
    assert repr(monitor) == f"DriftMonitor(400 samples, alarm at sample {monitor.alarm})"
    assert status.alarm == monitor.alarm
    assert monitor.update({"sky": np.empty((0, 2))}).alarm == monitor.alarm
    assert monitor.plot().get_title().startswith("400 samples, alarm")


def test_true_values_show_a_change_that_evidence_does_not() -> None:
    evidence, seen = skies(200, seed=1)
    wrong = np.where(seen == "dark", "clear", "dark")
    assert DriftMonitor(calibrated()).update(evidence).alarm is None
    assert DriftMonitor(calibrated(), labelled=True).update(evidence, {"sky": seen}).alarm is None
    monitor = DriftMonitor(calibrated(), labelled=True)
    assert monitor.update(evidence, {"sky": wrong}).alarm is not None


@pytest.mark.parametrize("labelled", [False, True])
def test_a_monitor_that_is_saved_goes_on_to_the_same_bits(tmp_path: Path, labelled: bool) -> None:
    sure, file = calibrated(), tmp_path / "monitor.json"
    monitor = DriftMonitor(sure, chance=0.05, labelled=labelled, seed=7)
    for seed in range(4):
        monitor.save(file)
        again = DriftMonitor.load(file, sure)
        evidence, seen = skies(50, 0.3 + seed, seed)
        targets = {"sky": seen} if labelled else None
        first, second = (one.update(evidence, targets) for one in (monitor, again))
        assert first.p_values.tolist() == second.p_values.tolist()
        assert first.log_martingale.tolist() == second.log_martingale.tolist()
        assert monitor.test.content == again.test.content
    assert monitor.alarm == again.alarm is not None


def test_files_of_others_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "monitor.json"
    DriftMonitor(calibrated()).save(file)
    with pytest.raises(DataError, match="of another calibration"):
        DriftMonitor.load(file, calibrated(100))
    content = json.loads(file.read_text())
    for change in ({"format": "?"}, {"samples": 3}, {"scores": None}, {"seed": -1}):
        file.write_text(json.dumps(content | change))
        with pytest.raises(PinesyError):
            DriftMonitor.load(file, calibrated())
    file.write_text("[]")
    with pytest.raises(DataError, match=r"is not what DriftMonitor\.save wrote"):
        DriftMonitor.load(file, calibrated())


@pytest.mark.parametrize("thing", [[], None, {}, 7, "model", sky_rules()])
def test_only_calibrations_are_monitored(thing: Any) -> None:
    with pytest.raises(DataError, match="give what calibrate returns"):
        DriftMonitor(thing)
    with pytest.raises(DataError, match="give what calibrate returns"):
        novelty(thing, skies(5)[0])


def test_what_cannot_be_monitored_is_refused() -> None:
    with pytest.raises(DataError, match="have weights"):
        DriftMonitor(calibrated(weights=np.linspace(0.5, 1.5, 199)))
    with pytest.raises(DataError, match="counts whole samples"):
        DriftMonitor(calibrated(unit="input"), labelled=True)
    with pytest.raises(DomainError, match="never raised"):
        DriftMonitor(calibrated(), chance=0.0)
    monitor = DriftMonitor(calibrated())
    evidence, seen = skies(5)
    with pytest.raises(DataError, match="labelled=True"):
        monitor.update(evidence, {"sky": seen})
    with pytest.raises(PinesyError, match="sky"):
        monitor.update({"sea": evidence["sky"]})
    with pytest.raises(PinesyError, match="nan"):
        monitor.update({"sky": np.array([[np.nan, 1.0]])})
    labelled = DriftMonitor(calibrated(), labelled=True)
    with pytest.raises(DataError, match="a labelled monitor needs"):
        labelled.update(evidence)
    with pytest.raises(DataError, match="no true values of 'sky'"):
        labelled.update(evidence, {"rain": ["yes"] * 5})
    with pytest.raises(ShapeError, match=r"\(n_samples,\)"):
        monitor.test.update([[0.5]])
    assert (monitor.samples, labelled.samples) == (0, 0)


def test_samples_that_conform_to_nothing_are_novel() -> None:
    sure = calibrated()
    usual, odd = skies(400, seed=1)[0]["sky"], np.array([[0.02, 0.02]])
    found = novelty(sure, {"sky": np.vstack([usual, odd])}, 0.99)
    assert found.novel[-1]
    assert found.novel[:-1].mean() <= 0.02
    assert found.order[0] == 400
    assert repr(found) == f"Novelty({found.novel.sum()} of 401 samples at 0.99)"
    with pytest.raises(DataError, match="at least 999 are needed"):
        novelty(sure, {"sky": odd}, 0.999)
