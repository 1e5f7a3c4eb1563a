"""`pinesy infer`: results equal the library's, in every format, batch by batch."""

import csv
import io
import json
import os
import re
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pinesy as library
from cli.weather import told
from pinesy._common import console
from pinesy.cli import infer_command, output
from pinesy.samples import Batch
from pinesy.verdicts import short_degree

Run = Callable[..., Any]

SAMPLES = 25


@pytest.fixture
def evidence() -> dict[str, Any]:
    """Return random possibilities whose largest degree is 1."""
    rng = np.random.default_rng(7)
    raw = {name: rng.random((SAMPLES, 4)) for name in ("left", "right")}
    return {name: rows / rows.max(axis=1, keepdims=True) for name, rows in raw.items()}


@pytest.fixture
def data(tmp_path: Path, evidence: dict[str, Any]) -> Path:
    path = tmp_path / "data.jsonl"
    lines = [
        json.dumps({name: rows[i].tolist() for name, rows in evidence.items()})
        for i in range(SAMPLES)
    ]
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def expected(rules: Path, evidence: dict[str, Any]) -> Any:
    return library.load(rules).infer(evidence)


def test_csv_equals_the_library_exactly(
    pinesy: Run, rules: Path, data: Path, expected: Any
) -> None:
    result = pinesy("infer", rules, data, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert len(rows) == SAMPLES
    for name in ("total", "size"):
        texts = [str(v) for v in expected[name].attribute.domain]
        degrees = [[float(row[f"{name}={t}"]) for t in texts] for row in rows]
        assert degrees == expected[name].degrees.tolist()
        assert [row[name] for row in rows] == [
            "" if b is None else str(b) for b in expected[name].best
        ]
        assert [float(r[f"{name} certainty"]) for r in rows] == expected[name].certainty.tolist()
        assert [row[f"{name} outcome"] for row in rows] == expected[name].outcome.tolist()
        found = [float(row[f"{name} contradiction"]) for row in rows]
        assert found == expected[name].contradiction.tolist()
        verdicts = [expected[name].sample(i).verdict for i in range(len(rows))]
        assert [row[f"{name} verdict"] for row in rows] == verdicts


FORMULAS = """
attribute a in {"=1+2", "-5", -7, "+x", "@y", "\\tz"}
attribute b in {"=1+2", "-5", -7, "+x", "@y", "\\tz"}
for v in {"=1+2", "-5", -7, "+x", "@y", "\\tz"}: iff a in {v} then b in {v}
"""


@pytest.mark.parametrize("option", [[], ["--formulas"]])
def test_csv_has_no_formulas(pinesy: Run, tmp_path: Path, option: list[str]) -> None:
    """Texts that a spreadsheet would run have an apostrophe before them; numbers have none."""
    (tmp_path / "r.rules").write_text(FORMULAS)
    names = ["=cmd|' /C calc'!A0", "-3", "@z", "x", "\ty", "+1.5e3"]
    values = library.load(tmp_path / "r.rules").attributes["a"].domain
    lines = [json.dumps({"id": n, "a": v}) for n, v in zip(names, values, strict=True)]
    (tmp_path / "d.jsonl").write_text("\n".join(lines))
    done = pinesy("infer", tmp_path / "r.rules", tmp_path / "d.jsonl", "--format", "csv", *option)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    mark = "" if option else "'"
    assert [row["id"] for row in rows] == [
        f"{mark}=cmd|' /C calc'!A0", "-3", f"{mark}@z", "x", f"{mark}\ty", "+1.5e3",
    ]  # fmt: skip
    assert [row["b"] for row in rows] == [
        f"{mark}=1+2", "-5", "-7", f"{mark}+x", f"{mark}@y", f"{mark}\tz",
    ]  # fmt: skip


def test_csv_columns_stand_in_order(pinesy: Run, rules: Path, data: Path) -> None:
    header = pinesy("infer", rules, data, "--format", "csv", "--outputs", "size").stdout
    assert header.splitlines()[0] == (
        "size,size outcome,size verdict,size best_values,size certainty,size contradiction,"
        "size=small,size=rather large"
    )


def test_json_lines_equal_the_library_exactly(
    pinesy: Run, rules: Path, data: Path, expected: Any
) -> None:
    result = pinesy("infer", rules, data)
    samples = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(samples) == SAMPLES
    for row, sample in enumerate(samples):
        for name, found in sample.items():
            one = expected[name].sample(row)
            assert found == {
                "best": one.best,
                "outcome": one.outcome,
                "verdict": one.verdict,
                "best_values": list(one.best_values),
                "possibility": {str(v): d for v, d in one.to_dict().items() if d > 0},
                "certainty": one.certainty,
                "contradiction": one.contradiction,
            }


def test_degree_zero_is_left_out_and_tuples_are_text(pinesy: Run, rules: Path) -> None:
    line = '{"left": 1, "right": {"2": 1, "3": 0.5}}'
    names = ["total", "pair"]
    options = [part for name in names for part in ("--outputs", name)]
    found = json.loads(pinesy("infer", rules, "-", *options, input=line).stdout)
    assert list(found) == names
    options = options[2:] + options[:2]
    assert list(json.loads(pinesy("infer", rules, "-", *options, input=line).stdout)) == names[::-1]
    assert found["pair"]["best"] == "(1, 2)"
    assert found["pair"]["possibility"] == {"(1, 2)": 1.0, "(1, 3)": 0.5}
    assert found["total"] == {
        "best": 3,
        "outcome": "decided",
        "verdict": "3, certain at 0.5",
        "best_values": [3],
        "possibility": {"2": 0.1, "3": 1.0, "4": 0.5},
        "certainty": 0.5,
        "contradiction": 0.0,
    }


@pytest.mark.parametrize("form", ["jsonl", "csv", "table"])
@pytest.mark.parametrize("batch", [1, 3, 25])
def test_small_batches_give_what_one_batch_gives(
    pinesy: Run, rules: Path, data: Path, form: str, batch: int
) -> None:
    whole = pinesy("infer", rules, data, "--format", form, "--all").stdout
    assert len(whole) > 100
    assert pinesy("infer", rules, data, "--format", form, "--all", "--batch", batch).stdout == whole


def test_standard_input_and_csv_give_the_same(
    pinesy: Run, rules: Path, data: Path, evidence: dict[str, Any], tmp_path: Path
) -> None:
    expected = pinesy("infer", rules, data).stdout
    assert pinesy("infer", rules, "-", input=data.read_text()).stdout == expected
    with open(tmp_path / "data.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([f"{name}={v}" for name in evidence for v in range(4)])
        rows.writerows(np.concatenate(list(evidence.values()), axis=1).tolist())
    assert pinesy("infer", rules, tmp_path / "data.csv").stdout == expected


@pytest.mark.parametrize("name", ["antipignistic", "minimum-specificity"])
def test_probabilities(pinesy: Run, rules: Path, name: str) -> None:
    p, q = [0.5, 0.3, 0.2, 0.0], [0.1, 0.1, 0.1, 0.7]
    line = json.dumps({"left": p, "right": q})
    result = pinesy("infer", rules, "-", "--transform", name, input=line)
    transform = getattr(library, name.replace("-", "_"))
    expected = library.load(rules).infer({"left": transform(p), "right": transform(q)})["total"]
    assert json.loads(result.stdout)["total"]["certainty"] == expected.certainty
    plain = pinesy("infer", rules, "-", input=line)
    assert plain.exit_code == 3
    assert "line 1: attribute 'left': the distribution is not normalised" in plain.stderr


def test_inputs_that_an_output_does_not_need(pinesy: Run, tmp_path: Path) -> None:
    path = tmp_path / "two.rules"
    path.write_text(
        "attribute a in {0, 1} attribute b in {0, 1} attribute x in {0, 1} attribute y in {0, 1}"
        " iff a in {0} then x in {0} iff b in {0} then y in {0}"
    )
    found = pinesy("infer", path, "-", "--outputs", "x", input='{"a": 1}\n{"a": 0, "b": 1}')
    assert [json.loads(line)["x"]["best"] for line in found.stdout.splitlines()] == [1, 0]
    missing = pinesy("infer", path, "-", input='{"a": 1}')
    assert "line 1: nothing is given for b" in missing.stderr
    unknown = pinesy("infer", path, "-", "--outputs", "z", input='{"a": 1}')
    assert unknown.stderr == "error: no rule uses 'z'; known: x, y\n"
    trained = pinesy("infer", path, "-", input='{"a": 1, "b": 0, "x": 0}')  # x is a target there
    assert json.loads(trained.stdout)["x"]["best"] == 1


def test_rules_that_contradict_each_other(pinesy: Run, tmp_path: Path) -> None:
    path = tmp_path / "clash.rules"
    path.write_text(
        "attribute a in {0, 1} attribute b in {0, 1}"
        " iff a in {0} then b in {0} iff a in {0} then b in {1}"
    )
    result = pinesy("infer", path, "-", input='{"a": 0}')
    found = json.loads(result.stdout)["b"]
    assert (found["best"], found["certainty"], found["possibility"]) == (None, None, {})
    assert (found["outcome"], found["contradiction"]) == ("contradiction", 1.0)
    assert (found["verdict"], found["best_values"]) == ("contradiction: rules 1 and 2", [])
    shown = pinesy("infer", path, "-", "--format", "table", input='{"a": 0}').stdout
    assert shown.startswith("contradiction: rules 1 and 2\nBecause ")
    table = pinesy("infer", path, "-", "--format", "table", input='{"a": 0}\n{"a": 0}').stdout
    assert table.splitlines()[2].startswith(
        "     1   contradiction: rules 1 and 2   -         Rule 1 says that b is 0, as a is 0"
    )
    rows = pinesy("infer", path, "-", "--format", "csv", input='{"a": 0}').stdout
    assert rows.splitlines()[1] == (",contradiction,contradiction: rules 1 and 2,,,1.0,0.0,0.0")


def test_a_table_says_what_it_leaves_out(
    pinesy: Run, rules: Path, data: Path, expected: Any
) -> None:
    told = pinesy("infer", rules, data, "--format", "table").stdout
    assert "... and 5 more samples; --all shows them" in told
    lines = [line.split() for line in told.splitlines() if " total " in line]
    assert [int(line[0]) for line in lines] == list(range(1, 21))
    assert [int(line[2]) for line in lines] == expected["total"].best[:20].tolist()
    certainties = expected["total"].certainty[:20].tolist()
    assert [line[3] for line in lines] == [short_degree(c) for c in certainties]
    whole = pinesy("infer", rules, data, "--format", "table", "--all").stdout
    assert "more samples" not in whole
    assert sum(" total " in line for line in whole.splitlines()) == SAMPLES


def test_a_long_table_comes_in_pages(
    pinesy: Run, rules: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(infer_command, "PAGE", 10)
    told = pinesy("infer", rules, data, "--format", "table", "--all").stdout
    assert told.count("because") == 3
    assert sum(" total " in line for line in told.splitlines()) == SAMPLES


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_the_name_of_the_output_file_gives_its_format(
    pinesy: Run, rules: Path, data: Path, form: str, tmp_path: Path
) -> None:
    path = tmp_path / f"out.{form}"
    result = pinesy("infer", rules, data, "-o", path)
    assert (result.exit_code, result.stdout) == (0, "")
    assert path.read_text() == pinesy("infer", rules, data, "--format", form).stdout


def test_output_files_look_like_other_files(
    pinesy: Run, rules: Path, data: Path, tmp_path: Path
) -> None:
    path, other = tmp_path / "out.csv", tmp_path / "other"
    other.touch()
    pinesy("infer", rules, data, "-o", path)
    assert path.stat().st_mode == other.stat().st_mode
    path.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    before = path.read_text()
    path.write_text("old")
    pinesy("infer", rules, data, "-o", link)
    assert link.is_symlink()
    assert path.read_text() == before
    assert path.stat().st_mode & 0o777 == 0o640


def test_an_error_leaves_no_output(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text('{"left": 1, "right": 2}\n' * 4 + '{"left": 1, "right": {"2": 0.5}}\n')
    path = tmp_path / "out.csv"
    path.write_text("what was there before")
    before = sorted(os.listdir(tmp_path))
    result = pinesy("infer", rules, data, "-o", path, "--batch", 2)
    assert result.exit_code == 3
    assert result.stderr.startswith(
        f"error: {data}, line 5: attribute 'right': the distribution is not normalised"
    )
    assert path.read_text() == "what was there before"
    assert sorted(os.listdir(tmp_path)) == before


def test_outputs_that_cannot_be_written(
    pinesy: Run, rules: Path, data: Path, tmp_path: Path
) -> None:
    result = pinesy("infer", rules, data, "-o", tmp_path / "none" / "out.csv")
    assert result.exit_code == 3
    assert "out.csv: cannot be written: there is no directory" in result.stderr
    result = pinesy("infer", rules, data, "--format", "csv", "-o", tmp_path)
    assert result.stderr == f"error: {tmp_path}: cannot be written: Is a directory\n"


def test_a_pipe_stays_a_pipe(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    # Devices are treated alike; a pipe of our own is what a mistake may destroy.
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK)) as reader:
        line = '{"left": 1, "right": 2}'
        pinesy("infer", rules, "-", "--format", "csv", "--outputs", "size", "-o", path, input=line)
        assert path.is_fifo()
        assert reader.read().splitlines()[1:] == [
            'small,decided,"small, certain",small,1.0,0.0,1.0,0.0'
        ]


def test_wrong_usage(pinesy: Run, rules: Path, data: Path, tmp_path: Path) -> None:
    result = pinesy("infer", rules, data, "-o", tmp_path / "out.txt")
    assert result.exit_code == 2
    assert "ends in none of .jsonl, .csv" in " ".join(result.stderr.replace("│", "").split())
    assert pinesy("infer", rules, data, "--batch", 0).exit_code == 2
    result = pinesy("infer", rules, data, "--format", "xml")
    assert result.exit_code == 2
    assert "xml" in result.stderr


def test_missing_data(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    result = pinesy("infer", rules, tmp_path / "none.jsonl")
    assert result.exit_code == 3
    assert (
        result.stderr
        == f"error: {tmp_path}/none.jsonl: cannot be read: No such file or directory\n"
    )
    result = pinesy("infer", rules, "-", input="")
    assert result.stderr.endswith(": no samples in it\n")


class Terminal(io.StringIO):
    """Stands for a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("patience", "name", "stream", "drawn"),
    [
        (0.0, "data.csv", Terminal(), True),
        (60.0, "data.csv", Terminal(), False),
        (0.0, "", Terminal(), False),
        (0.0, "data.csv", io.StringIO(), False),
    ],
)
def test_a_bar_only_if_it_takes_long_on_a_terminal(
    patience: float, name: str, stream: io.StringIO, drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "BAR_AFTER", patience)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    batches = [Batch(np.ones((1000, 1)), range(1000), position) for position in (40, 80)]
    with closing(output.with_progress(batches, name, 100)) as seen:
        for _ in seen:
            deadline = time.monotonic() + (30.0 if drawn else 0.1)
            while not stream.getvalue() and time.monotonic() < deadline:
                time.sleep(0.01)
    assert ("data.csv: 2,000 samples" in stream.getvalue()) == drawn
    assert drawn or stream.getvalue() == ""


def test_what_is_read_is_not_overwritten(pinesy: Run, rules: Path, data: Path) -> None:
    before = data.read_bytes(), rules.read_bytes()
    for source in (data, rules):
        result = pinesy("infer", rules, data, "-o", source, "--format", "jsonl")
        assert result.exit_code == 2
        assert "is an input too, and would be overwritten" in told(result.stderr)
    assert (data.read_bytes(), rules.read_bytes()) == before


LOANS = """
attribute income in {low, high}
attribute debt in {no, yes}
attribute decision in {approve, review, reject}
attribute letter in {sent, held}
if income in {high} then decision in {approve, review}
if debt in {yes} then decision in {reject} [certainty=0.5]
if income in {low} and debt in {no} then decision in {review}
iff decision in {approve} then letter in {sent}
"""


def test_results_that_are_not_decided_say_why(pinesy: Run, tmp_path: Path) -> None:
    rules, data = tmp_path / "loans.rules", tmp_path / "people.csv"
    rules.write_text(LOANS)
    data.write_text("income,debt\nhigh,no\nhigh,yes\nlow,no\n,\n")
    names = [part for name in ("decision", "letter") for part in ("--outputs", name)]
    found = [json.loads(line) for line in pinesy("infer", rules, data, *names).stdout.splitlines()]
    assert [one["decision"]["best"] for one in found] == [None, None, "review", None]
    assert [one["decision"]["outcome"] for one in found] == [
        "several",
        "contradiction",
        "decided",
        "no_rule",
    ]
    assert [one["decision"]["verdict"] for one in found] == [
        "undecided: approve or review remain",
        "contradiction: rules 1 and 2",
        "review, certain",
        "undecided: no rule decides",
    ]
    assert found[0]["decision"]["best_values"] == ["approve", "review"]
    assert found[1]["letter"]["verdict"] == "contradiction: rules 1 and 2"
    explained = library.explain(library.load(rules), {"income": "high", "debt": "yes"}, "letter")
    assert found[1]["letter"]["verdict"] == explained.verdict
    table = pinesy("infer", rules, data, "--format", "table").stdout
    assert "approve " not in re.sub("approve or( review|)", "", table)
