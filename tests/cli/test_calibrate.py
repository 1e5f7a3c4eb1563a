"""``pinesy calibrate``, and what other commands say of levels."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pinesy import CalibratedRules, antipignistic, calibrate, consistent_sets, load, save
from pinesy.calibration import CalibratedAnswers, CalibratedInputs

Run = Callable[..., Any]
N = 60


def samples(n: int = N, seed: int = 0) -> list[dict[str, Any]]:
    """Return samples of two digits with degrees, true values and answers."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        truth = rng.integers(4, size=2)
        noisy = 3.0 * np.eye(4)[truth] + rng.gamma(0.5, size=(2, 4))
        pi = (noisy / noisy.max(axis=1, keepdims=True)).tolist()
        one: dict[str, Any] = {"left": pi[0], "right": pi[1], "total": int(truth.sum())}
        found.append(one | {"true left": int(truth[0]), "true right": int(truth[1])})
    return found


def write(path: Path, rows: list[dict[str, Any]], *without: str) -> Path:
    kept = [{k: v for k, v in row.items() if k not in without} for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in kept))
    return path


def columns(rows: list[dict[str, Any]], name: str) -> Any:
    return np.array([row[name] for row in rows])


def by_hand(path: Path, rows: list[dict[str, Any]], of: str) -> CalibratedRules:
    evidence = {name: columns(rows, name) for name in ("left", "right")}
    truth = {name: columns(rows, f"true {name}") for name in evidence}
    answers = {"total": columns(rows, "total")}
    targets = {"inputs": truth, "both": truth | answers, "answers": answers}[of]
    return calibrate(load(path), evidence, targets)


TRUE = ("true left", "true right")


@pytest.mark.parametrize(
    ("of", "without", "options"),
    [
        ("inputs", ["total"], []),
        ("both", [], []),
        ("answers", TRUE, []),
        ("answers", [], ["--of", "answers"]),
    ],
)
def test_a_file_is_calibrated_as_by_hand(
    pinesy: Run, rules: Path, tmp_path: Path, of: str, without: list[str], options: list[str]
) -> None:
    rows = samples()
    data, model = write(tmp_path / "c.jsonl", rows, *without), tmp_path / "m.json"
    done = pinesy("calibrate", rules, data, "-o", model, *options)
    assert done.exit_code == 0, done.output
    found, wanted = load(model), by_hand(rules, rows, of)
    assert type(found) is type(wanted)
    assert wanted.guarantee in " ".join(done.stdout.split())
    assert "the highest level is 0.983607" in done.stdout
    new = {name: columns(samples(5, 1), name) for name in ("left", "right")}
    assert np.array_equal(found.infer(new)["total"].degrees, wanted.infer(new)["total"].degrees)


def test_sets_and_levels_are_printed(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    data, model = write(tmp_path / "c.jsonl", samples()), tmp_path / "m.json"
    new = write(tmp_path / "n.jsonl", samples(3, 1), "total", *TRUE)
    pinesy("calibrate", rules, data, "-o", model)
    sets = load(model).predict_set(
        {name: columns(samples(3, 1), name) for name in ("left", "right")}, 0.9
    )
    done = pinesy("infer", model, new, "--level", 0.9, "--outputs", "total", "--format", "jsonl")
    found = [json.loads(line)["total"] for line in done.stdout.splitlines()]
    assert [one["set"] for one in found] == [list(s) for s in sets["total"]]
    assert [one["outcome"] for one in found] == sets.outcomes["total"].tolist()
    done = pinesy("infer", model, new, "--level", 0.9, "--format", "csv")
    assert "total,total outcome,total verdict,total set,total certainty" in done.stdout
    done = pinesy("infer", model, new, "--level", 0.9, "--format", "table")
    assert "set" in done.stdout
    asked = ("--attribute", "total", "--level", 0.9)
    other = next(v for v in range(7) if v not in sets["total"][0])
    done = pinesy("explain", model, new, *asked, "--why-not", other)
    assert "At 90 %: total is" in done.stdout
    assert f"total = {other} is excluded at 90 %" in done.stdout
    done = pinesy("explain", model, new, *asked, "--format", "json")
    assert json.loads(done.stdout)["level"] == 0.9


def test_more_samples_are_added(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    rows, model = samples(), tmp_path / "m.json"
    for part, more in ((rows[:40], ()), (rows[40:], ("--more",))):
        data = write(tmp_path / "c.jsonl", part, *TRUE)
        start = model if more else rules
        assert pinesy("calibrate", start, data, "-o", model, *more).exit_code == 0
    assert load(model).transform.counts_ == by_hand(rules, rows, "answers").transform.counts_


def test_probabilities_are_read_with_the_same_transform(
    pinesy: Run, rules: Path, tmp_path: Path
) -> None:
    rows = samples()
    for row in rows:
        for name in ("left", "right"):
            p = np.array(row[name]) / np.sum(row[name])
            row[name] = p.tolist()
    data, model = write(tmp_path / "c.jsonl", rows, *TRUE), tmp_path / "m.json"
    pinesy("calibrate", rules, data, "-o", model, "--transform", "antipignistic")
    found = load(model)
    assert isinstance(found, CalibratedAnswers)
    assert found.probabilities == "antipignistic"
    evidence = {n: antipignistic(columns(rows, n)) for n in ("left", "right")}
    wanted = calibrate(load(rules), evidence, {"total": columns(rows, "total")})
    assert found.transform.counts_ == wanted.transform.counts_
    done = pinesy("infer", model, data, "--level", 0.9)
    assert done.exit_code == 3
    assert "was calibrated with --transform antipignistic" in done.output
    done = pinesy("calibrate", model, data, "-o", model, "--more", "--transform", "antipignistic")
    assert load(model).transform.n == 2 * N


def test_commands_refuse_weighted_calibrations(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    rows, model = samples(), tmp_path / "m.json"
    evidence = {name: columns(rows, name) for name in ("left", "right")}
    answers, weights = {"total": columns(rows, "total")}, np.linspace(0.5, 2.0, N)
    save(calibrate(load(rules), evidence, answers, weights=weights), model)
    data = write(tmp_path / "n.jsonl", rows, *TRUE)
    for command in (
        ("infer", model, data, "--level", 0.9),
        ("evaluate", model, data, "--level", 0.9),
        ("explain", model, data, "--attribute", "total", "--level", 0.9),
        ("calibrate", model, data, "-o", model, "--more"),
    ):
        done = pinesy(*command)
        assert done.exit_code == 3, done.output
        assert "was calibrated with weights" in done.output
        assert "weights=..." in done.output
    assert pinesy("infer", model, data).exit_code == 0  # without levels they are plain rules
    assert pinesy("evaluate", model, data).exit_code == 0


def test_what_is_refused(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    rows, model = samples(), tmp_path / "m.json"
    data = write(tmp_path / "c.jsonl", rows, "total", "true left")
    nothing = write(tmp_path / "n.jsonl", rows, "total", *TRUE)
    learned, train = tmp_path / "l.json", write(tmp_path / "t.jsonl", rows, *TRUE)
    assert pinesy("learn", rules, train, "-o", learned).exit_code == 0
    (tmp_path / "m.zip").write_bytes(b"")
    for arguments, says in (
        ((rules, data, "-o", model), "no true answers in it, and no true left"),
        ((rules, data, "-o", model, "--of", "inputs"), "there is no true left in it"),
        ((rules, nothing, "-o", model), "no targets in it"),
        ((learned, train, "-o", model), "the model was learned from this file"),
        ((tmp_path / "m.zip", train, "-o", model), "model.calibrate(samples, concepts)"),
        ((rules, train, "-o", model, "--more"), "is not calibrated"),
    ):
        done = pinesy("calibrate", *arguments)
        assert done.exit_code == 3, done.output
        assert says in done.output
    other = write(tmp_path / "o.jsonl", samples(30, 3), *TRUE)
    assert pinesy("calibrate", learned, other, "-o", model).exit_code == 0
    assert load(model).learned is not None
    assert not isinstance(load(model), CalibratedInputs)
    done = pinesy("infer", model, other, "--level", 0.99)
    assert "at least 99 are needed" in done.output
    done = pinesy("explain", model, other, "--level", 0.9, "--format", "svg")
    assert done.exit_code == 2


def test_one_sentence_says_why_a_value_is_excluded(
    pinesy: Run, rules: Path, tmp_path: Path
) -> None:
    data, model = write(tmp_path / "c.jsonl", samples()), tmp_path / "m.json"
    new = write(tmp_path / "n.jsonl", samples(1, 1), "total", *TRUE)
    pinesy("calibrate", rules, data, "-o", model)
    command = ("explain", model, new, "--attribute", "total", "--level", 0.9)
    sample = {name: columns(samples(1, 1), name)[0] for name in ("left", "right")}
    sets = consistent_sets(load(model), sample, 0.9)
    excluded = [value for value in range(7) if value not in sets["total"]]
    for value in excluded:
        reason = sets.why_excluded("total", value)
        text = " ".join(pinesy(*command, "--why-not", value).stdout.split())
        assert reason.sentence in text
        assert f"total = {value} is excluded at 90 %: every tuple that has it needs" in text
    nearest = max(excluded, key=lambda value: sets.why_excluded("total", value).degree)
    reason = sets.why_excluded("total", nearest)
    assert reason.sentence in " ".join(pinesy(*command).stdout.split())
    content = json.loads(pinesy(*command, "--format", "json").stdout)
    assert content["excluded"] == reason.to_dict()
    remaining = sets["total"][0]
    content = json.loads(pinesy(*command, "--value", remaining, "--format", "json").stdout)
    assert content["excluded"] is None


def test_answers_alone_give_no_such_sentence(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    model, new = tmp_path / "m.json", write(tmp_path / "n.jsonl", samples(1, 1), "total", *TRUE)
    for options in (["--of", "answers"], ["--unit", "input"]):
        pinesy("calibrate", rules, write(tmp_path / "c.jsonl", samples()), "-o", model, *options)
        done = pinesy("explain", model, new, "--attribute", "total", "--level", 0.9)
        assert done.exit_code == 0, done.output
        assert "every tuple" not in done.stdout
