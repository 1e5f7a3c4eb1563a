"""``pinesy calibrate --group``, and how ``infer`` and ``evaluate`` read the groups."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pinesy import consistent_sets, load, save
from pinesy.guarantees import GroupedRules, SelectiveRules, calibrate_groups

Run = Callable[..., Any]
LEVEL = 0.8


def samples(n: int, seed: int, cameras: tuple[str | None, ...] = ("old", "new")) -> list[Any]:
    """Return samples of two digits; those of the old camera are hard to read."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        truth, camera = rng.integers(4, size=2), cameras[i % len(cameras)]
        noise = rng.gamma(0.5, size=(2, 4)) * (1.0 if camera == "new" else 8.0)
        noisy = 3.0 * np.eye(4)[truth] + noise
        pi = (noisy / noisy.max(axis=1, keepdims=True)).tolist()
        row = {"left": pi[0], "right": pi[1], "camera": camera, "total": int(truth.sum())}
        rows.append(row | {"true left": int(truth[0]), "true right": int(truth[1])})
    return rows


def write(path: Path, rows: list[Any], *names: str) -> Path:
    """Write columns of samples, by default all."""
    kept = [{k: v for k, v in row.items() if k in names or not names} for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in kept))
    return path


def column(rows: list[Any], name: str) -> Any:
    return np.array([row[name] for row in rows])


def evidence(rows: list[Any]) -> dict[str, Any]:
    return {name: column(rows, name) for name in ("left", "right")}


@pytest.fixture
def model(pinesy: Run, rules: Path, tmp_path: Path) -> Path:
    """Return a model that was calibrated for each camera."""
    path, data = tmp_path / "fair.json", write(tmp_path / "known.jsonl", samples(80, 0))
    done = pinesy("calibrate", rules, data, "-o", path, "--group", "camera")
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    assert "2 groups of camera; the highest levels are new 0.97561, old 0.97561." in text
    assert "In each group by itself" in text
    return path


def test_groups_are_calibrated_as_in_python(model: Path, rules: Path) -> None:
    found, rows = load(model), samples(80, 0)
    assert isinstance(found, GroupedRules)
    assert found.column == "camera"
    truth = {name: column(rows, f"true {name}") for name in ("left", "right")}
    truth["total"] = column(rows, "total")
    wanted = calibrate_groups(load(rules), evidence(rows), truth, column(rows, "camera"))
    assert list(found.groups) == list(wanted.groups) == ["new", "old"]
    for name, calibrated in wanted.groups.items():
        assert found.groups[name].transform.counts_ == calibrated.transform.counts_


def test_sets_are_those_of_the_groups_and_blank_is_the_largest(
    pinesy: Run, model: Path, tmp_path: Path
) -> None:
    rows = samples(30, 1, ("old", "new", None))
    new = write(tmp_path / "new.jsonl", rows, "left", "right", "camera")
    asked = ("infer", model, new, "--level", LEVEL, "--format", "jsonl", "--batch", 7)
    lines = [json.loads(line) for line in pinesy(*asked).stdout.splitlines()]
    groups = [row["camera"] for row in rows]
    fair = load(model)
    sets = fair.predict_set(evidence(rows), LEVEL, groups=groups)
    assert [tuple(line["total"]["set"]) for line in lines] == sets["total"]
    assert [line["camera"] for line in lines] == groups
    largest = [
        fair.predict_set(evidence(rows), LEVEL, groups=[name] * 30).members("total")
        for name in ("old", "new")
    ]
    blank = np.arange(30) % 3 == 2
    assert (sets.members("total")[blank] >= np.maximum(*largest)[blank]).all()
    assert (largest[0] != largest[1]).any()
    lines = [json.loads(line) for line in pinesy(*asked, "--consistent").stdout.splitlines()]
    joint = consistent_sets(fair.for_groups(groups, 30), evidence(rows), LEVEL)
    assert [tuple(line["left"]["set"]) for line in lines] == joint["left"]


def test_blank_cells_of_csv_are_blank_groups(pinesy: Run, model: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.csv"
    new.write_text("left,right,camera\n1,2,old\n1,2,\n")
    done = pinesy("infer", model, new, "--level", LEVEL, "--format", "jsonl")
    assert done.exit_code == 0, done.output
    fair = load(model)
    sample = {"left": np.eye(4)[[1, 1]], "right": np.eye(4)[[2, 2]]}
    sets = fair.predict_set(sample, LEVEL, groups=["old", None])["total"]
    assert [tuple(json.loads(x)["total"]["set"]) for x in done.stdout.splitlines()] == sets


def test_coverage_is_reported_by_group(pinesy: Run, model: Path, tmp_path: Path) -> None:
    rows, report = samples(60, 2), tmp_path / "report.json"
    data = write(tmp_path / "test.jsonl", rows, "left", "right", "camera", "total")
    done = pinesy("evaluate", model, data, "--level", LEVEL, "-o", report)
    assert done.exit_code == 0, done.output
    assert "Coverage by group" in done.stdout
    found = json.loads(report.read_text())["coverage"]["rows"]
    groups, totals = column(rows, "camera"), {"total": column(rows, "total")}
    wanted = load(model).coverage(evidence(rows), totals, LEVEL, groups=groups).to_dict()["rows"]
    assert found == wanted
    assert {row["name"] for row in found if row["scope"] == "group"} == {"old", "new"}


def test_groups_go_with_a_threshold(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    data, path = write(tmp_path / "known.jsonl", samples(400, 0)), tmp_path / "both.json"
    options = ("--group", "camera", "--error", 0.3)
    assert pinesy("calibrate", rules, data, "-o", path, *options).exit_code == 0
    selective = load(path)
    assert isinstance(selective, SelectiveRules)
    assert isinstance(selective.model, GroupedRules)
    assert pinesy("infer", path, data, "--decide").exit_code == 0
    done = pinesy("evaluate", path, data, "--level", LEVEL, "--decide")
    assert "Coverage by group" in done.stdout
    assert "Decisions by group" in done.stdout


def test_small_groups_are_told_how_many_samples_they_need(
    pinesy: Run, rules: Path, tmp_path: Path
) -> None:
    data, path = (
        write(tmp_path / "c.jsonl", samples(40, 0, ("a", "a", "a", "b"))),
        tmp_path / "m.json",
    )
    asked = ("calibrate", rules, data, "-o", path, "--group", "camera")
    done = pinesy(*asked)
    assert done.exit_code == 3
    text = " ".join(done.output.split())
    assert "group 'b': 10 calibration samples cannot guarantee anything at level 0.95" in text
    assert "at least 19 are needed" in text
    assert not path.exists()
    assert pinesy(*asked, "--level", 0.9).exit_code == 0
    new = write(tmp_path / "new.jsonl", samples(2, 1, ("a", "b")), "left", "right", "camera")
    done = pinesy("infer", path, new, "--level", 0.95)
    assert done.exit_code == 3
    assert "group 'b': 10 calibration samples" in " ".join(done.output.split())


def test_groups_that_cannot_be_used_are_refused(
    pinesy: Run, rules: Path, model: Path, tmp_path: Path
) -> None:
    known, path = write(tmp_path / "known.jsonl", samples(80, 0)), tmp_path / "m.json"
    strange = write(tmp_path / "s.jsonl", samples(4, 1, ("phone",)), "left", "right", "camera")
    missing = write(tmp_path / "m.jsonl", samples(4, 1), "left", "right")
    blank = write(tmp_path / "b.jsonl", samples(40, 1, (None,)))
    calibrate = ("calibrate", rules, known, "-o", path)
    in_python = tmp_path / "python.json"
    truth = {name: column(samples(80, 0), f"true {name}") for name in ("left", "right")}
    groups = column(samples(80, 0), "camera")
    save(calibrate_groups(load(rules), evidence(samples(80, 0)), truth, groups), in_python)
    cases = [
        (("infer", model, strange, "--level", LEVEL), "group 'phone' was never calibrated"),
        (("infer", model, missing, "--level", LEVEL), "there is no column 'camera'"),
        (("infer", in_python, missing, "--level", LEVEL), "predict_set(evidence, level, groups="),
        (("calibrate", rules, blank, "-o", path, "--group", "camera"), "blank for every sample"),
        ((*calibrate, "--group", "film"), "there is no column 'film'"),
        ((*calibrate, "--group", "left"), "left is an attribute of the rules"),
        (("calibrate", model, known, "-o", path, "--more"), "calibrated for every group"),
        (("calibrate", model, known, "-o", path, "--more", "--group", "camera"), "at once"),
    ]
    for command, expected in cases:
        done = pinesy(*command)
        assert done.exit_code in (2, 3), done.output
        assert expected in " ".join(done.output.replace("│", " ").split()), done.output
    assert pinesy("infer", model, missing).exit_code == 0


def test_a_column_that_is_no_name_is_refused(pinesy: Run, model: Path, tmp_path: Path) -> None:
    content = json.loads(model.read_text())
    content["groups"]["column"] = 3
    model.write_text(json.dumps(content))
    done = pinesy("infer", model, write(tmp_path / "n.jsonl", samples(2, 1)), "--level", LEVEL)
    assert done.exit_code == 3
    assert "must be the name of a column" in " ".join(done.output.split())
