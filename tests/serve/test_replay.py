"""``pinesy replay``: which decisions of a log would differ with another model, and why."""

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from pinesy import load, save
from pinesy.cli.app import app
from pinesy.exceptions import DataError
from pinesy.serve import DecisionLog, ServedModel, replay
from serve.conftest import LOAN, SAMPLE, Start

OLD = "if risk == medium then decision == review"
NEW = "if risk == medium then decision == approve"
Logged = Callable[..., Path]


def many_samples(n: int = 60) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    return [
        {
            "id": i,
            "region": str(rng.choice(["north", "south"])),
            "income": int(rng.integers(0, 100_000)),
            "debt_ratio": float(rng.random()),
            "history": {"good": 1.0, "bad": 0.25}
            if i % 7 == 0
            else str(rng.choice(["mixed", "bad"])),
            "job": None if i % 11 == 0 else "permanent",
            "age": int(rng.integers(18, 80)),
        }
        for i in range(n)
    ]


@pytest.fixture
def logged(start: Start, model: ServedModel, tmp_path: Path) -> Logged:
    """Return a function that logs the decisions on samples, and returns the log."""

    def write(samples: list[dict[str, Any]], **options: Any) -> Path:
        log = DecisionLog(tmp_path / "decisions.jsonl", **options)
        client = start(model, log)
        for index in range(0, len(samples), 20):
            response = client.post("/infer", json={"samples": samples[index : index + 20]})
            assert response.status_code == 200, response.text
        log.close()
        return log.path

    return write


def command(*words: object) -> Any:
    return CliRunner().invoke(app, ["replay", *map(str, words)])


def test_the_same_model_decides_the_same_bit_for_bit(logged: Logged, rules: Path) -> None:
    report = replay([logged(many_samples())], rules)
    assert (report.total.decisions, report.total.differ, report.total.shifted) == (60, 0, 0)
    assert report.verdict == "None of 60 decisions would differ"
    assert report.notices == []


def test_differences_are_counted_in_groups_with_their_rules(
    logged: Logged, model: ServedModel, tmp_path: Path
) -> None:
    samples = many_samples()
    log, new = logged(samples), tmp_path / "new.rules"
    new.write_text(LOAN.replace(OLD, NEW))
    report = replay([log], new, group="region")
    other = load(new)
    old_best, new_best = (
        [r.infer(_evidence(s))["decision"].best for s in samples] for r in (model.rules, other)
    )
    differing = [
        i for i, pair in enumerate(zip(old_best, new_best, strict=True)) if pair[0] != pair[1]
    ]
    assert [d.ids["id"] for d in report.differences] == differing
    assert report.total.differ == len(differing) > 3
    assert report.verdict.startswith(f"{len(differing)} of 60 decisions would differ")
    assert report.changes == {"review -> approve": len(differing)}
    for name, count in report.groups.items():
        members = [i for i, sample in enumerate(samples) if sample["region"] == name]
        assert count.decisions == len(members)
        assert count.differ == len({*members} & {*differing})
    assert list(report.groups) == sorted(report.groups, key=lambda n: -report.groups[n].share)
    before, after = (text.replace("==", "in") for text in (OLD, NEW))
    assert [t.replace("{", "").replace("}", "") for t in report.rules_before] == [before]
    assert [t.replace("{", "").replace("}", "") for t in report.rules_after] == [after]
    assert report.rule_status(next(iter(report.rules_before))) == "removed"
    assert report.rule_status(next(iter(report.rules_after))) == "new"


def _evidence(sample: dict[str, Any]) -> dict[str, Any]:
    return {name: entry for name, entry in sample.items() if name not in ("id", "region")}


def test_other_degrees_are_no_other_decisions(logged: Logged, tmp_path: Path) -> None:
    new = tmp_path / "new.rules"
    new.write_text(LOAN.replace("certainty=0.8", "certainty=0.75"))
    report = replay([logged([SAMPLE, SAMPLE | {"debt_ratio": 0.3, "history": "mixed"}])], new)
    assert report.verdict == (
        "None of 2 decisions would differ; 1 keeps its answer with other degrees"
    )


def test_numbers_are_grouped_by_intervals(logged: Logged, rules: Path) -> None:
    samples = [SAMPLE | {"age": age} for age in (20, 30, 40, None)]
    report = replay([logged(samples)], rules, group="age")
    assert {n: c.decisions for n, c in report.groups.items()} == {
        "<21": 1,
        "[21, 70)": 2,
        "(none)": 1,
    }
    with pytest.raises(DataError, match="no sample of the log has 'regions'"):
        replay([logged([SAMPLE])], rules, group="regions")


def test_the_command_prints_the_verdict_first(logged: Logged, tmp_path: Path) -> None:
    log, new = logged(many_samples()), tmp_path / "new.rules"
    new.write_text(LOAN.replace(OLD, NEW))
    table = command(log, "--model", new, "--group", "region")
    assert table.exit_code == 0, table.output
    first, _, others = table.stdout.partition("\n")
    assert "of 60 decisions would differ (" in first
    assert "review -> approve" in first
    assert "region" in others
    assert "removed" in others
    rows = [
        json.loads(line)
        for line in command(log, "--model", new, "--format", "jsonl").stdout.splitlines()
    ]
    report = replay([log], new)
    assert [row["line"] for row in rows] == [d.line for d in report.differences]
    assert {(row["before"]["best"], row["after"]["best"]) for row in rows} == {
        ("review", "approve")
    }
    output = tmp_path / "differences.csv"
    done = command(log, "--model", new, "-o", output)
    assert "would differ" in done.stdout
    cells = list(csv.DictReader(StringIO(output.read_text())))
    assert [row["after best"] for row in cells] == ["approve"] * len(rows)


def test_rotated_logs_are_replayed_together(logged: Logged, rules: Path) -> None:
    log = logged(many_samples(), max_bytes=14_000, files=20)
    logs = sorted(log.parent.glob("decisions.jsonl*"))
    assert len(logs) > 2
    assert replay(logs, rules).total.decisions == 60


def test_decisions_with_a_promise_are_replayed(
    start: Start, sure_model: Path, tmp_path: Path
) -> None:
    model = ServedModel.load(sure_model, "antipignistic")
    log = DecisionLog(tmp_path / "log.jsonl")
    samples = [{"left": [0.999, 0.001, 0.0], "right": 1}, {"left": [0.5, 0.3, 0.2], "right": 1}]
    assert start(model, log).post("/decide", json={"samples": samples}).status_code == 200
    report = replay([log.path], sure_model)
    assert (report.total.decisions, report.total.differ, report.total.shifted) == (2, 0, 0)
    plain = tmp_path / "plain.json"
    save(model.rules, plain)
    with pytest.raises(DataError, match=r"line 2: decided by a threshold.*calibrate --error"):
        replay([log.path], plain)


# --- logs and models that do not fit --------------------------------------------------------------


def test_a_cut_last_line_is_skipped_and_a_bad_one_refused(logged: Logged, rules: Path) -> None:
    log = logged([SAMPLE] * 3)
    text = log.read_text()
    log.write_text(text + '{"kind": "deci')
    done = command(log, "--model", rules)
    assert done.exit_code == 0
    assert "None of 3 decisions" in done.stdout
    assert "line 5: the last line is cut off" in done.stderr
    lines = text.splitlines()
    bad = ["{", "[]", '{"kind": "decision"}', '{"kind": "decision", "model": 1}', "\ufffd"]
    for line in bad:
        log.write_text("\n".join([*lines[:2], line, *lines[2:]]) + "\n")
        refused = command(log, "--model", rules)
        assert refused.exit_code == 3
        assert "line 3" in refused.stderr
        assert "--skip-bad-lines" in refused.stderr
        skipped = command(log, "--model", rules, "--skip-bad-lines")
        assert "None of 3 decisions" in skipped.stdout
        assert "1 line skipped, the first is line 3" in skipped.stderr


@pytest.mark.parametrize("inputs", ["hashed", "none"])
def test_logs_without_inputs_cannot_be_replayed(logged: Logged, rules: Path, inputs: str) -> None:
    done = command(logged([SAMPLE], inputs=inputs), "--model", rules)
    assert done.exit_code == 3
    assert "line 2: the inputs are not in the log" in done.stderr


def test_models_with_other_inputs_are_named(logged: Logged, tmp_path: Path) -> None:
    log, new = logged([SAMPLE]), tmp_path / "new.rules"
    new.write_text(LOAN.replace("history", "past"))
    refused = command(log, "--model", new)
    assert refused.exit_code == 3
    assert "the new model needs past" in refused.stderr
    allowed = command(log, "--model", new, "--allow-missing")
    assert "not in the log, and taken as unknown: past" in allowed.stderr
    assert "not an input of the new model, and ignored: history" in allowed.stderr
    assert "1 of 1 decision would differ (1e+02 %)" not in allowed.stdout
    assert "1 of 1 decision would differ (100 %): 1 reject -> no rule" in allowed.stdout
    new.write_text(LOAN.replace("decision", "verdict"))
    other = command(log, "--model", new)
    assert "decides on 'decision', which the new model does not" in other.stderr


def test_a_value_of_no_use_is_named_with_its_line(logged: Logged, tmp_path: Path) -> None:
    log, new = logged([SAMPLE, SAMPLE | {"history": {"mixed": 1}}]), tmp_path / "new.rules"
    new.write_text(
        LOAN.replace("{good, mixed, bad}", "{good, medium, bad}").replace("== mixed", "== medium")
    )
    done = command(log, "--model", new)
    assert done.exit_code == 3
    assert "line 3: attribute 'history' has no value 'mixed'" in done.stderr


def test_empty_logs_are_refused(tmp_path: Path, rules: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    assert "no decisions" in command(empty, "--model", rules).stderr
    assert "cannot be read" in command(tmp_path / "gone", "--model", rules).stderr
    assert command("--model", rules).exit_code == 2
    with pytest.raises(DataError, match="no log"):
        replay([], rules)
