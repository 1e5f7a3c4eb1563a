"""Every command on a screen of 80 columns: the answer first, no longer line, nothing cut."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pinesy import load

EXAMPLES = Path(__file__).parents[2] / "examples"
LOAN, APPLICANTS = EXAMPLES / "loan.rules", EXAMPLES / "loan.csv"
LOG = EXAMPLES / "loan_log.jsonl"
WEATHER, DAYS = EXAMPLES / "weather.rules", EXAMPLES / "weather_valid.jsonl"
TRAIN = EXAMPLES / "weather_train.jsonl"
#: Each command, and how its output begins.
COMMANDS: list[tuple[list[object], str]] = [
    (["evaluate", LOAN, APPLICANTS], "decision: 25.0% of 20 samples are right"),
    (["evaluate", "calibrated.json", APPLICANTS, "--level", 0.9], "decision: 25.0% of 20"),
    (["evaluate", "card.rules", APPLICANTS], "decision: "),
    (["audit", LOAN, APPLICANTS], "1 suspicious label in 20 samples"),
    (["learn", WEATHER, TRAIN, "-o", "w.json"], "2 rule sets learned from 10 samples"),
    (["learn", LOAN, APPLICANTS, "--method", "counts", "-o", "l.json"], "1 rule set learned"),
    (["calibrate", LOAN, APPLICANTS, "-o", "again.json"], "Calibrated on 20 samples"),
    (["show", LOAN], "9 rules take 5 inputs to risk, and risk to decision."),
    (["show", EXAMPLES / "sudoku.rules"], "449 rules take 16 inputs"),
    (["show", "card.rules"], "A score card of"),
    (["check", LOAN], "9 rules take 5 inputs to risk, and risk to decision."),
    (["shortcuts", WEATHER], "108 remappings of concepts keep the answers"),
    (["explain", LOAN, APPLICANTS, "--sample", "A-002"], "approve  certain 0.90"),
    (["explain", LOAN, APPLICANTS, "--full"], "review  certain 0.60"),
    (["infer", LOAN, APPLICANTS, "--format", "table"], "sample"),
    (["replay", LOG, "--model", "stricter.rules", "--group", "job"], "3 of 20 decisions would"),
    (["backprop", WEATHER, DAYS, "--format", "table"], "line"),
    (["induce", APPLICANTS, "--target", "decision", "-o", "i.rules"], "A score card of"),
]


@pytest.fixture
def models(pinesy: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write models for commands to read, on a screen of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    assert pinesy("calibrate", LOAN, APPLICANTS, "-o", "calibrated.json").exit_code == 0
    (tmp_path / "stricter.rules").write_text(LOAN.read_text().replace("== review", "== reject"))
    pytest.importorskip("pandas")
    assert pinesy("induce", APPLICANTS, "--target", "decision", "-o", "card.rules").exit_code == 0


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize(("words", "start"), COMMANDS, ids=lambda part: str(part)[:20])
def test_lines_fit_80_columns(pinesy: Callable[..., Any], words: list[object], start: str) -> None:
    done = pinesy(*words)
    assert done.exit_code in (0, 1), done.stderr
    assert " ".join(done.stdout.split()).startswith(" ".join(start.split()))
    assert [line for line in done.stdout.splitlines() if len(line.rstrip()) > 80] == []


@pytest.mark.usefixtures("models")
def test_nothing_is_cut(pinesy: Callable[..., Any]) -> None:
    words = ["evaluate", "calibrated.json", APPLICANTS, "--level", 0.9, "-o", "report.json"]
    text = pinesy(*words).stdout
    [row, *_] = json.loads(Path("report.json").read_text())["coverage"]["rows"]
    shares = (row["observed"], row["low"], row["high"])
    for part in (*(f"{share:.2%}" for share in shares), f"{row['chance']:.3g}"):
        assert part in text
    for head in ("mean size", "of these right", "no rule decides", "chance of so few"):
        assert head in text
    rules = " ".join(pinesy("show", LOAN).stdout.split())
    assert all(str(rule) in rules for rules_on in load(LOAN).rule_sets for rule in rules_on.rules)


@pytest.mark.usefixtures("models")
def test_a_guaranteed_answer_is_printed_once(pinesy: Callable[..., Any]) -> None:
    words = ["calibrated.json", APPLICANTS, "--sample", "A-002", "--level", 0.9, "--full"]
    lines = pinesy("explain", *words).stdout.splitlines()
    assert sum(line.startswith("approve") for line in lines) == 1
    assert sum(line.startswith("Because") for line in lines) == 1
    assert sum("For any level L" in line for line in lines) == 1
    assert "It is possible that decision is approve" in " ".join(lines)


@pytest.mark.usefixtures("models")
def test_an_audit_is_written_as_a_page(pinesy: Callable[..., Any]) -> None:
    assert pinesy("audit", LOAN, APPLICANTS, "-o", "audit.html").exit_code == 0
    text = Path("audit.html").read_text()
    assert "Suspicious labels" in text
    assert "<b>A-001</b>" in text
    assert "approve is possible at 0.40 only, review at 1, by rule 8" in text
