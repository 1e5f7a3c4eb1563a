"""The command line on tables as people have them: numbers, blanks, ids, semicolons."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pinesy import Attribute, Cascade, If, RuleSet, save

RISK = Attribute("risk", ["low", "high"])
AGE = Attribute.number("age", [30, 65], blur=2)
SMOKER = Attribute("smoker", ["yes", "no"])
RULES = Cascade(
    RuleSet(
        [
            If(AGE < 30).then(RISK.isin({"low"})),
            If(AGE >= 65, SMOKER.isin({"yes"})).then(RISK.isin({"high"}), certainty=0.75),
        ]
    )
)
TABLE = "patient;age;smoker\na;29,5;no\nb;;\nc;70;yes\n"
OPTIONS = ("--id", "patient", "--decimal", ",")
BEST = {"age": [29.5, None, 70], "smoker": ["no", None, "yes"]}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Return a file of rules and one of patients."""
    rules, data = tmp_path / "triage.json", tmp_path / "patients.csv"
    save(RULES, rules)
    data.write_text(TABLE)
    return rules, data


def test_json_lines(files: tuple[Path, Path], pinesy: Callable[..., Any]) -> None:
    result = pinesy("infer", *files, *OPTIONS, "--format", "jsonl")
    rows = [json.loads(line) for line in result.output.splitlines()]
    assert [row["patient"] for row in rows] == ["a", "b", "c"]
    expected = RULES.infer(BEST)["risk"].degrees.tolist()
    found = [[row["risk"]["possibility"].get(v, 0.0) for v in ("low", "high")] for row in rows]
    assert found == expected


def test_csv_and_table(
    files: tuple[Path, Path], pinesy: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    rows = list(csv.reader(pinesy("infer", *files, *OPTIONS, "--format", "csv").output.split("\n")))
    assert rows[0][:4] == ["patient", "risk", "risk outcome", "risk verdict"]
    assert [row[0] for row in rows[1:4]] == ["a", "b", "c"]
    table = pinesy("infer", *files, *OPTIONS, "--format", "table").output
    assert [line.split()[:4] for line in table.splitlines()[2:5]] == [
        ["a", "low", "0.25", "The"],
        ["b", "undecided:", "no", "rule"],
        ["c", "high", "0.75", "The"],
    ]
    assert max(map(len, table.splitlines())) <= 80


def test_one_sample_is_a_verdict(files: tuple[Path, Path], pinesy: Callable[..., Any]) -> None:
    _, data = files
    data.write_text("age;smoker\n70;yes\n")
    printed = pinesy("infer", *files, "--format", "table").stdout
    assert printed == pinesy("explain", *files).stdout
    assert printed.startswith(
        "high  certain 0.75\nBecause               The age is 70 and smoker is"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--id", "patient"), "--decimal ','"),
        (("--decimal", ",", "--strict"), "--id NAME"),
        (("--decimal", ",", "--id", "risk"), "risk is inferred"),
        (("--decimal", ",", "--id", "patients"), "'patient'"),
        (("--decimal", ",", "--separator", ","), "--separator ';'"),
    ],
)
def test_messages(
    files: tuple[Path, Path], pinesy: Callable[..., Any], options: tuple[str, ...], said: str
) -> None:
    result = pinesy("infer", *files, *options)
    assert result.exit_code != 0
    assert said in " ".join((result.output + result.stderr).replace("│", " ").split())


@pytest.mark.parametrize(
    "command",
    [
        ("explain", "--sample", "2"),
        ("backprop", "--target", "risk=high"),
        ("check",),
    ],
)
def test_other_commands(
    files: tuple[Path, Path], pinesy: Callable[..., Any], command: tuple[str, ...]
) -> None:
    name, *options = command
    result = pinesy(name, *files, *options, *OPTIONS)
    assert result.exit_code == 0, result.output


def test_unused_columns_are_ignored_with_one_notice(
    files: tuple[Path, Path], pinesy: Callable[..., Any]
) -> None:
    _, data = files
    said = "notice: 1 column that no rule uses is ignored: 'patient'\n"
    done = pinesy("infer", *files, "--decimal", ",", "--format", "jsonl", "--batch", 1)
    assert (done.exit_code, done.stderr) == (0, said)
    assert len(done.stdout.splitlines()) == 3
    data.write_text("patient;age;smoker;risk\na;29,5;no;low\nb;;;high\nc;70;yes;low\n")
    for command in ("explain", "check", "evaluate", "audit"):
        done = pinesy(command, *files, "--decimal", ",")
        assert (done.exit_code in (0, 1), done.stderr) == (True, said), command
        done = pinesy(command, *files, "--decimal", ",", "--strict")
        assert (done.exit_code, done.stdout) == (3, ""), command
        assert "'patient'" in done.stderr
    data.write_text("patient;age;smoker;rsk\na;29,5;no;low\n")
    done = pinesy("evaluate", *files, "--decimal", ",")
    assert (done.exit_code, "did you mean 'risk'?" in done.stderr) == (3, True)


def test_the_same_sample_has_the_same_name(
    files: tuple[Path, Path], pinesy: Callable[..., Any]
) -> None:
    _, data = files
    data.write_text("age;smoker;risk\n\n29,5;no;high\n\n70;yes;low\n30;yes;low\n")
    options = ("--decimal", ",")
    table = pinesy("infer", *files, *options, "--format", "table").stdout.splitlines()[2:5]
    audited = pinesy("audit", *files, *options).stdout
    assert [line.split()[:2] for line in table] == [
        ["1", "low"],
        ["2", "high"],
        ["3", "undecided:"],
    ]
    assert sorted(re.findall(r"^sample (\d+): ", audited, re.MULTILINE)) == ["1", "2"]
    why = pinesy("explain", *files, *options, "--sample", 2, "--format", "json").stdout
    explained = json.loads(why)
    assert explained["sample"] == 2
    assert explained["explanation"]["proposition"]["values"] == ["high"]


def test_learning_and_audit(files: tuple[Path, Path], pinesy: Callable[..., Any]) -> None:
    rules, data = files
    data.write_text("patient;age;smoker;risk\na;29,5;no;low\nb;;;high\nc;70;yes;low\n")
    model = data.parent / "model.json"
    assert pinesy("learn", rules, data, "-o", model, *OPTIONS).exit_code == 0
    out = data.parent / "audit.csv"
    assert pinesy("audit", rules, data, "-o", out, *OPTIONS).exit_code == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert {row["patient"]: row["line"] for row in rows} == {"a": "2", "b": "3", "c": "4"}
    assert {row["patient"]: row["sample"] for row in rows} == {"a": "1", "b": "2", "c": "3"}
    printed = pinesy("audit", rules, data, *OPTIONS).stdout
    assert printed.startswith("1 suspicious label in 3 samples; ")
    assert re.findall(r"^(\w+): risk is", printed, re.MULTILINE) == ["c"]
    assert rows[0]["patient"] == "c"
