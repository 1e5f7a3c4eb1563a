"""``pinesy calibrate --error`` and ``pinesy infer --decide``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pinesy import consistent_sets, load
from pinesy.guarantees import SelectiveRules, selective_report

Run = Callable[..., Any]
OPTIONS = ["--transform", "antipignistic"]


def write(path: Path, n: int, seed: int, labelled: bool = True) -> Path:
    """Write probabilities of two digits, and their sums if `labelled`."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(4, 0.1), (n, 2)).round(6)
    p /= p.sum(axis=2, keepdims=True)
    digits = (p.cumsum(axis=2) < rng.random((n, 2, 1))).sum(axis=2).clip(max=3)
    rows = [
        {"left": row[0], "right": row[1], **({"total": sum(pair)} if labelled else {})}
        for row, pair in zip(p.tolist(), digits.tolist(), strict=True)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def model(pinesy: Run, rules: Path, tmp_path: Path) -> Path:
    """Return a model that decides with at most 5 % wrong."""
    path, data = tmp_path / "sure.json", write(tmp_path / "known.jsonl", 1500, 0)
    done = pinesy("calibrate", rules, data, "-o", path, "--error", 0.05, *OPTIONS)
    assert done.exit_code == 0, done.output
    assert (
        "Of the cases that are decided, at most 5 % are wrong, with 95 % confidence" in done.stdout
    )
    return path


def test_cases_are_decided_or_handed_over(pinesy: Run, model: Path, tmp_path: Path) -> None:
    new = write(tmp_path / "new.jsonl", 60, 1, labelled=False)
    selective = load(model)
    assert isinstance(selective, SelectiveRules)
    assert selective.outputs == ("total",)
    rows = [json.loads(line) for line in new.read_text().splitlines()]
    decisions = selective.decisions({k: np.array([r[k] for r in rows]) for k in ("left", "right")})
    done = pinesy("infer", model, new, "--decide", "--format", "jsonl", *OPTIONS)
    results = [json.loads(line)["total"] for line in done.stdout.splitlines()]
    assert [result["outcome"] for result in results] == decisions.outcomes.tolist()
    assert [result["best"] for result in results] == decisions["total"].tolist()
    assert {"decided", "handed_over"} == {result["outcome"] for result in results}
    table = pinesy("infer", model, new, "--decide", "--format", "table", "--all", *OPTIONS).stdout
    assert "handed over: may be " in table
    csv = pinesy("infer", model, new, "--decide", "--format", "csv", *OPTIONS).stdout
    assert csv.count("handed_over") == int((~decisions.decided).sum())


def test_the_calibration_is_in_the_model_too(pinesy: Run, model: Path, tmp_path: Path) -> None:
    new = write(tmp_path / "new.jsonl", 5, 1, labelled=False)
    assert pinesy("infer", model, new, "--level", 0.9, *OPTIONS).exit_code == 0
    more = write(tmp_path / "more.jsonl", 50, 2)
    done = pinesy("calibrate", model, more, "-o", model, "--more", *OPTIONS)
    assert "1550 samples" in done.stdout


def test_options_that_do_not_go_together_are_refused(
    pinesy: Run, model: Path, rules: Path, tmp_path: Path
) -> None:
    new = write(tmp_path / "new.jsonl", 5, 1, labelled=False)
    for arguments, cure in (
        (["--level", "0.9", *OPTIONS], "a promise of its own"),
        (["--outputs", "total", *OPTIONS], "all its outputs together"),
        (["--semantics", "mpe"], "certainties are of possibilities"),
        ([], "--transform antipignistic"),
    ):
        done = pinesy("infer", model, new, "--decide", *arguments)
        assert done.exit_code
        assert cure in " ".join(done.output.replace("│", " ").split())
    done = pinesy("infer", rules, new, "--decide")
    assert "--error 0.01" in done.output


def test_bad_promises_are_refused(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    data, path = write(tmp_path / "known.jsonl", 50, 0), tmp_path / "m.json"
    for arguments, cure in (
        (["--error", "1.5"], "error is 1.5"),
        (["--error", "0.1", "--confidence", "95"], "95 % is 0.95"),
    ):
        done = pinesy("calibrate", rules, data, "-o", path, *arguments, *OPTIONS)
        assert done.exit_code
        assert cure in done.output
    done = pinesy("calibrate", rules, data, "-o", path, "--error", 0.01, *OPTIONS)
    assert "calibration samples or more would be needed" in done.stdout


def test_consistent_sets_have_the_inputs(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    digits = rng.integers(4, size=(100, 2))
    noisy = 3.0 * np.eye(4)[digits] + rng.gamma(0.5, size=(100, 2, 4))
    pi = noisy / noisy.max(axis=2, keepdims=True)
    rows = [
        {"left": p[0], "right": p[1], "true left": d[0], "true right": d[1]}
        for p, d in zip(pi.tolist(), digits.tolist(), strict=True)
    ]
    data, path = tmp_path / "known.jsonl", tmp_path / "m.json"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert pinesy("calibrate", rules, data, "-o", path).exit_code == 0
    new = tmp_path / "new.jsonl"
    new.write_text("".join(json.dumps({k: r[k] for k in ("left", "right")}) + "\n" for r in rows))
    done = pinesy("infer", path, new, "--level", 0.9, "--consistent", "--format", "jsonl")
    results = [json.loads(line) for line in done.stdout.splitlines()]
    sets = consistent_sets(load(path), {"left": pi[:, 0], "right": pi[:, 1]}, 0.9)
    for name in ("left", "right", "total"):
        assert [tuple(result[name]["set"]) for result in results] == sets[name]
    done = pinesy("infer", path, new, "--consistent")
    assert "give --level" in " ".join(done.output.replace("│", " ").split())


def test_decisions_are_evaluated_by_group(pinesy: Run, model: Path, tmp_path: Path) -> None:
    rows = [
        json.loads(line) for line in write(tmp_path / "t.jsonl", 300, 3).read_text().splitlines()
    ]
    new = tmp_path / "test.jsonl"
    labelled = [row | {"camera": "old" if i % 3 else "new"} for i, row in enumerate(rows)]
    new.write_text("".join(json.dumps(row) + "\n" for row in labelled))
    page = tmp_path / "report.json"
    arguments = ["--decide", "--level", 0.9, "--group", "camera", *OPTIONS]
    done = pinesy("evaluate", model, new, "-o", page, *arguments)
    assert done.exit_code == 0, done.output
    assert "Promised: at most 5 % of the decided cases are wrong." in done.stdout
    content = json.loads(page.read_text())
    evidence = {name: np.array([row[name] for row in rows]) for name in ("left", "right")}
    decisions = load(model).decisions(evidence)
    camera = [row["camera"] for row in labelled]
    report = selective_report(decisions, [row["total"] for row in rows], camera)
    assert content["decisions"] == report.to_dict()
    assert [row["group"] for row in content["decisions"]["rows"]] == ["", "new", "old"]
    assert content["coverage"]["samples"] == 300
    html = tmp_path / "report.html"
    assert pinesy("evaluate", model, new, "-o", html, *arguments).exit_code == 0
    assert "Decisions by group" in html.read_text()
