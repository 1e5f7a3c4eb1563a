"""The guarantee holds in every group, those that overlap too; blanks take the largest set."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibration.adders import LEVELS, TRIALS, adder, answers, evidence, least_successes
from messages import raises_saying
from pinesy import DataError, ShapeError, calibrate, load, save
from pinesy.guarantees import GroupedRules, calibrate_groups
from pinesy.guarantees.groups import Memberships

#: Calibration samples of each trial, and the level of wrong variants.
N, LEVEL = 120, 0.9
OLD, NEW = "old", "new"


def samples(n: int, seed: int) -> tuple[Any, Any, Any, Any]:
    """Return probabilities, digits, and of which camera and how dark images are.

    Images of the old camera, every fifth, are hard to read, and dark ones more so.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(4, size=(n, 2))
    camera = np.where(rng.random(n) < 0.2, OLD, NEW)
    is_dark = rng.random(n) < 0.4
    noise = np.where(camera == OLD, 4.0, 0.3) + np.where(is_dark, 0.7, 0.0)
    logits = 4.0 * np.eye(4)[truth] + noise[:, None, None] * rng.normal(size=(n, 2, 4))
    p = np.exp(logits - logits.max(axis=2, keepdims=True))
    return p / p.sum(axis=2, keepdims=True), truth, camera, is_dark


def inputs(truth: Any) -> dict[str, Any]:
    return {"left": truth[:, 0], "right": truth[:, 1]}


def conditions(camera: Any, is_dark: Any) -> dict[str, Any]:
    return {"old": camera == OLD, "dark": is_dark}


def covered_by(method: str, level: float, trials: int = TRIALS) -> dict[str, list[bool]]:
    """Return whether the true sum of one new sample of each group is covered, in each trial."""
    covered: dict[str, list[bool]] = {"old": [], "new": [], "dark": [], "bright": []}
    for seed in range(trials):
        p, truth, camera, is_dark = samples(N + 40, seed)
        known = evidence(p[:N]), inputs(truth[:N])
        new, totals = evidence(p[N:]), truth[N:].sum(axis=1).tolist()
        if method == "column":
            fair = calibrate_groups(adder(), *known, camera[:N])
            sets = fair.predict_set(new, level, groups=camera[N:])["total"]
        elif method == "conditions":
            fair = calibrate_groups(adder(), *known, conditions(camera[:N], is_dark[:N]))
            groups = conditions(camera[N:], is_dark[N:])
            sets = fair.predict_set(new, level, groups=groups)["total"]
        else:
            sets = calibrate(adder(), *known).predict_set(new, level)["total"]
        names = {"old": camera == OLD, "new": camera == NEW, "dark": is_dark, "bright": ~is_dark}
        for name, members in names.items():
            row = int(members[N:].argmax())
            covered[name].append(totals[row] in sets[row])
    return covered


@pytest.mark.parametrize(
    ("method", "groups"), [("column", ("old", "new")), ("conditions", ("old", "dark"))]
)
@pytest.mark.parametrize("level", LEVELS[:2])
def test_every_group_is_covered(method: str, groups: tuple[str, ...], level: float) -> None:
    covered = covered_by(method, level, 200)
    for name in groups:
        assert sum(covered[name]) >= least_successes(level, 200)


def test_the_check_sees_a_calibration_without_groups() -> None:
    covered = covered_by("plain", LEVEL, 200)
    assert sum(covered["old"]) < least_successes(LEVEL, 200)


def test_the_check_sees_a_minimum_in_place_of_the_maximum() -> None:
    """Of overlapping groups the largest p-value counts: the smallest covers too few."""
    covered = 0
    for seed in range(200):
        p, truth, camera, _ = samples(N + 40, seed)
        plain = calibrate(adder(), evidence(p[:N]), inputs(truth[:N]))
        is_old = camera[:N] == OLD
        old = calibrate(
            adder(),
            {name: d[is_old] for name, d in evidence(p[:N]).items()},
            inputs(truth[:N][is_old]),
        )
        row = N + int((camera[N:] == OLD).argmax())
        new = {name: d[row] for name, d in evidence(p).items()}
        pi = np.minimum(plain.infer(new)["total"].degrees, old.infer(new)["total"].degrees)
        covered += bool(pi[truth[row].sum()] > 1.0 - LEVEL)
    assert covered < least_successes(LEVEL, 200)


P, TRUTH, CAMERA, DARK = samples(600, 0)
FAIR = calibrate_groups(adder(), evidence(P), inputs(TRUTH), CAMERA)
ROWS = evidence(P[:50])


def test_a_column_has_the_calibration_of_its_group() -> None:
    sets = FAIR.predict_set(ROWS, 0.9, groups=CAMERA[:50])
    for name in (OLD, NEW):
        members = name == CAMERA
        part = calibrate(
            adder(), {n: d[members] for n, d in evidence(P).items()}, inputs(TRUTH[members])
        )
        rows = np.flatnonzero(members[:50])
        expected = part.infer(ROWS)["total"].degrees[rows]
        assert np.array_equal(sets.possibilities["total"].degrees[rows], expected)


@pytest.mark.parametrize("blank", [None, float("nan"), " "])
def test_a_blank_group_takes_the_maximum_over_all(blank: Any) -> None:
    groups = np.full(50, blank, dtype=object)
    degrees = FAIR.predict_set(ROWS, 0.9, groups=groups).possibilities["total"].degrees
    inputs_of = [rules.degrees(ROWS) for rules in (*FAIR.groups.values(), FAIR.base)]  # type: ignore[attr-defined]
    expected = adder().infer(np.max(inputs_of, axis=0))["total"].degrees
    assert np.array_equal(degrees, expected)


def test_conditions_take_the_maximum_of_those_that_hold() -> None:
    groups = conditions(CAMERA, DARK)
    fair = calibrate_groups(adder(), evidence(P), inputs(TRUTH), groups)
    parts = {name: rules.degrees(ROWS) for name, rules in fair.groups.items()}  # type: ignore[attr-defined]
    degrees = fair.base.degrees(ROWS)  # type: ignore[attr-defined]
    for name, holds in groups.items():
        degrees = np.where(holds[:50, None], np.maximum(degrees, parts[name]), degrees)
    new = {name: holds[:50] for name, holds in groups.items()}
    sets = fair.predict_set(ROWS, 0.9, groups=new)
    expected = adder().infer(degrees)["total"].degrees
    assert np.array_equal(sets.possibilities["total"].degrees, expected)
    unknown = fair.predict_set(ROWS, 0.9, groups={"old": [None] * 50})  # dark is not given
    maximum = np.maximum.reduce([fair.base.degrees(ROWS), *parts.values()])  # type: ignore[attr-defined]
    expected = adder().infer(maximum)["total"].degrees
    assert np.array_equal(unknown.possibilities["total"].degrees, expected)


def test_the_report_has_every_group_with_its_guarantee() -> None:
    p, truth, camera, is_dark = samples(900, 1)
    report = FAIR.coverage(evidence(p), answers(truth), [0.9], groups=camera)
    rows = {row.name: row for row in report.of("group")}
    assert set(rows) == {OLD, NEW}
    assert all(row.chance is not None and row.chance > 1e-6 for row in rows.values())
    fair = calibrate_groups(adder(), evidence(P), inputs(TRUTH), conditions(CAMERA, DARK))
    report = fair.coverage(evidence(p), answers(truth), [0.9], groups=conditions(camera, is_dark))
    assert {row.name for row in report.of("group")} == {"old", "dark"}
    assert f"old ({int((CAMERA == OLD).sum())})" in fair.guarantee


def test_weights_are_taken_by_group() -> None:
    weights = np.where(DARK, 3.0, 1.0)
    fair = calibrate_groups(adder(), evidence(P), inputs(TRUTH), CAMERA, weights=weights)
    sets = fair.predict_set(ROWS, 0.9, groups=CAMERA[:50], weights=weights[:50])
    members = CAMERA == OLD
    part = calibrate(
        adder(),
        {n: d[members] for n, d in evidence(P).items()},
        inputs(TRUTH[members]),
        weights=weights[members],
    )
    rows = np.flatnonzero(members[:50])
    expected = part.infer(ROWS, weights=weights[:50])["total"].degrees[rows]
    assert np.array_equal(sets.possibilities["total"].degrees[rows], expected)
    with raises_saying(DataError, "new samples need theirs"):
        fair.predict_set(ROWS, 0.9, groups=CAMERA[:50])


def test_groups_are_saved(tmp_path: Path) -> None:
    save(FAIR, tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert isinstance(again, GroupedRules)
    pair = [f.predict_set(ROWS, 0.9, groups=CAMERA[:50])["total"] for f in (FAIR, again)]
    assert pair[0] == pair[1]
    assert again.guarantee == FAIR.guarantee


def test_groups_that_guarantee_nothing_are_refused() -> None:
    with raises_saying(DataError, "'odl' was never calibrated", "old"):
        FAIR.predict_set(ROWS, 0.9, groups=["odl"] * 50)
    few = CAMERA.astype(object)
    few[:5] = "rare"
    fair = calibrate_groups(adder(), evidence(P), inputs(TRUTH), few)
    assert fair.predict_set(ROWS, 0.9, groups=[NEW] * 50)["total"]
    with raises_saying(DataError, "group 'rare'", "at least 19 are needed"):
        fair.predict_set(ROWS, 0.95, groups=["rare"] * 50)
    with raises_saying(DataError, "group 'rare'", "at least 19 are needed"):
        fair.predict_set(ROWS, 0.95, groups=[None] * 50)
    with raises_saying(DataError, "blank for every sample"):
        calibrate_groups(adder(), evidence(P), inputs(TRUTH), [None] * 600)
    with raises_saying(DataError, "group 'none'", "no calibration samples"):
        calibrate_groups(adder(), evidence(P), inputs(TRUTH), {"none": [False] * 600})
    with raises_saying(ShapeError, "600 samples"):
        calibrate_groups(adder(), evidence(P), inputs(TRUTH), CAMERA[:5])
    with raises_saying(ShapeError, "condition 'old'"):
        calibrate_groups(adder(), evidence(P), inputs(TRUTH), {"old": [True]})
    with raises_saying(DataError, "condition 'old' has 'yes'"):
        calibrate_groups(adder(), evidence(P), inputs(TRUTH), {"old": ["yes"] * 600})
    with raises_saying(DataError, "a column of names"):
        FAIR.predict_set(ROWS, 0.9, groups={"old": [True] * 50})
    fair = calibrate_groups(adder(), evidence(P), inputs(TRUTH), {"dark": DARK})
    with raises_saying(DataError, "condition 'drak' was never calibrated"):
        fair.predict_set(ROWS, 0.9, groups={"drak": DARK[:50]})


@pytest.mark.parametrize(
    ("key", "entry"),
    [("version", 2), ("groups", []), ("groups", [["old", None]]), ("groups", 3), ("groups", [[]])],
)
def test_forged_groups_are_refused(tmp_path: Path, key: str, entry: Any) -> None:
    path = tmp_path / "m.json"
    save(FAIR, path)
    content = json.loads(path.read_text())
    content["groups"][key] = entry
    path.write_text(json.dumps(content))
    with raises_saying(DataError, "m.json"):
        load(path)


@pytest.mark.parametrize(
    "column",
    [
        ["1", "2", None, "1"],
        np.array([1, 2, None, 1], dtype=object),
        np.array([1.0, 2.0, np.nan, 1.0]),
        ["1", "2", float("nan"), "1"],
        np.array(["1", "2", "", "1"]),
    ],
    ids=["texts", "objects", "floats", "with NaN", "with an empty text"],
)
def test_columns_of_any_type_name_the_same_groups(column: Any) -> None:
    members = Memberships.of(column, 4)
    assert members.names == ("1", "2")
    assert members.certain.tolist() == [[True, False], [False, True], [False, False], [True, False]]
    assert members.possible[2].all()
