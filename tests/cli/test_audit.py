"""`pinesy audit`: what it prints and writes is the library's audit, with places in the file."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pinesy as library
from cli import weather
from pinesy.learning import Audit, audit
from pinesy.verdicts import short_degree

Run = Callable[..., Any]

WEATHER = library.load(weather.RULES)
N = 30


@pytest.fixture
def samples() -> list[weather.Sample]:
    return weather.random_samples(WEATHER, N)


@pytest.fixture
def data(tmp_path: Path, samples: list[weather.Sample]) -> Path:
    """Return a file in which the sample number i (from 0) stands on line 2i + 2."""
    path = tmp_path / "train.jsonl"
    path.write_text("".join(f"\n{json.dumps(one)}\n" for one in samples))
    return path


@pytest.fixture
def found(samples: list[weather.Sample]) -> Audit:
    return audit(WEATHER, weather.inputs(WEATHER, samples), weather.targets(WEATHER, samples))


def placed(found: Audit, line: Callable[[int], int]) -> list[dict[str, Any]]:
    """Return the rows of an audit with the lines that the samples stand on."""
    return [
        {"sample": row["sample"] + 1, "line": line(row["sample"])}
        | {key: row[key] for key in row if key != "sample"}
        for row in found.rows()
    ]


def printed(text: str) -> list[tuple[str, ...]]:
    """Return sample, attribute, label, more possible value and suspicion of each printed label."""
    pattern = r"^(?:sample )?(\S+): (\w+) is (.+); (.+) is more possible, by (\S+)$"
    return re.findall(pattern, text, re.MULTILINE)


def told(done: Any) -> str:
    """Return what was printed, without line breaks."""
    return " ".join(done.stdout.split())


def test_the_example_has_its_wrong_sample_on_top(pinesy: Run) -> None:
    done = pinesy("audit", weather.RULES, weather.TRAIN)
    assert (done.exit_code, done.stderr) == (0, "")
    assert printed(done.stdout) == [("9", "street", "dry", "wet", "1")]
    assert done.stdout.startswith("1 suspicious label (1 impossible) in 10 samples; ")


def test_the_worst_come_first_with_their_rows(pinesy: Run, data: Path, found: Audit) -> None:
    done = pinesy("audit", weather.RULES, data, "--limit", N)
    rows = [row for row in placed(found, lambda i: 2 * i + 2) if row["suspicious"]]
    assert len(rows) > N // 2
    assert [(row[0], row[1], row[-1]) for row in printed(done.stdout)] == [
        (str(row["sample"]), row["set"], short_degree(row["suspicion"])) for row in rows
    ]
    first = done.stdout.partition("\n\n")[0].replace("\n", " ")
    assert first == repr(found).removeprefix("Audit(").removesuffix(")")
    assert "more sample" not in done.stdout


def test_learned_parameters_judge_out_of_fold(pinesy: Run, tmp_path: Path) -> None:
    rules, data = tmp_path / "rain.rules", tmp_path / "days.csv"
    rules.write_text(
        "attribute sky in {dark, clear}\nattribute rain in {yes, no}\n"
        "iff sky in {dark} then rain in {yes}\n"
    )
    data.write_text("sky,rain\n" + "dark,yes\nclear,no\n" * 12 + "dark,no\n")
    done = pinesy("audit", rules, data, "--method", "counts", "--folds", 3)
    assert (done.exit_code, done.stderr) == (0, "")
    [worst] = printed(done.stdout)
    assert worst[0] == "25"
    assert done.stdout.startswith("1 suspicious label in 25 samples; judged out of fold, by param")
    assert "no is possible at 0." in done.stdout


def test_what_is_left_out_is_said(pinesy: Run, data: Path, found: Audit) -> None:
    count = int(found.suspicious.sum())
    assert count > 20
    done = pinesy("audit", weather.RULES, data, "--limit", 3)
    assert len(printed(done.stdout)) == 3
    assert done.stdout.endswith(f"... and {count - 3} more samples; --limit {count} shows them\n")
    done = pinesy("audit", weather.RULES, data)
    assert len(printed(done.stdout)) == 20
    done = pinesy("audit", weather.RULES, data, "--limit", 0)
    assert (done.exit_code, printed(done.stdout)) == (0, [])
    assert done.stdout.startswith(f"{count} suspicious labels ")
    assert pinesy("audit", weather.RULES, data, "--limit", -1).exit_code == 2


@pytest.mark.parametrize("suffix", ["csv", "json", "jsonl"])
def test_files_hold_every_row(
    pinesy: Run, data: Path, found: Audit, suffix: str, tmp_path: Path
) -> None:
    output = tmp_path / f"audit.{suffix}"
    done = pinesy("audit", weather.RULES, data, "--limit", 0, "-o", output)
    assert (done.exit_code, done.stderr) == (0, "")
    wanted = placed(found, lambda i: 2 * i + 2)
    assert len(wanted) == N
    text = output.read_text()
    assert text.endswith("\n")
    if suffix == "csv":
        rows = list(csv.DictReader(text.splitlines()))
        assert rows == [
            {key: "" if item is None else str(item) for key, item in row.items()} for row in wanted
        ]
    elif suffix == "json":
        assert json.loads(text) == wanted
    else:
        assert [json.loads(line) for line in text.splitlines()] == wanted


@pytest.mark.parametrize(("suffix", "first"), [("csv", 2), ("parquet", 1), ("ndjson", 1)])
@pytest.mark.parametrize("batch", [4, 10_000])
def test_all_formats_give_the_same_rows(
    pinesy: Run,
    samples: list[weather.Sample],
    found: Audit,
    suffix: str,
    first: int,
    batch: int,
    tmp_path: Path,
) -> None:
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    data = weather.write(tmp_path / f"data.{suffix}", samples)
    output = tmp_path / "audit.json"
    pinesy("audit", weather.RULES, data, "-o", output, "--batch", batch)
    assert json.loads(output.read_text()) == placed(found, lambda i: i + first)


@pytest.mark.parametrize(("option", "mark"), [([], "'"), (["--formulas"], "")])
def test_csv_has_no_formulas(pinesy: Run, tmp_path: Path, option: list[str], mark: str) -> None:
    lines = weather.TRAIN.read_text().splitlines()
    named = [json.dumps({"id": f"={i}", **json.loads(line)}) for i, line in enumerate(lines)]
    (tmp_path / "d.jsonl").write_text("\n".join(named))
    output = tmp_path / "audit.csv"
    done = pinesy("audit", weather.RULES, tmp_path / "d.jsonl", "-o", output, *option)
    assert done.exit_code == 0, done.stderr
    with output.open(newline="") as stream:
        ids = {row["id"] for row in csv.DictReader(stream)}
    assert ids == {f"{mark}={i}" for i in range(len(lines))}


def test_samples_that_agree(pinesy: Run, tmp_path: Path) -> None:
    right = [one for i, one in enumerate(weather.read(weather.TRAIN)) if i != 8]
    data = weather.write(tmp_path / "right.jsonl", right)
    done = pinesy("audit", weather.RULES, data, "-o", tmp_path / "audit.csv")
    assert (done.exit_code, printed(done.stdout)) == (0, [])
    assert done.stdout.startswith("0 suspicious labels in 9 samples; ")
    rows = list(csv.DictReader((tmp_path / "audit.csv").read_text().splitlines()))
    assert [row["reason"] for row in rows] == [""] * 9


def test_a_model_is_learned_again_where_the_data_are_its_own(
    pinesy: Run, data: Path, tmp_path: Path
) -> None:
    model, output = tmp_path / "model.json", tmp_path / "audit.json"
    pinesy("learn", weather.RULES, data, "-o", model)
    done = pinesy("audit", model, data, "-o", output)
    assert "judged out of fold, by parameters learned (exact) without each of 5" in told(done)
    learned = library.load(model)
    rules, samples = learned.cascade, [json.loads(t) for t in data.read_text().split("\n") if t]
    inputs, targets = weather.inputs(rules, samples), weather.targets(rules, samples)
    found = audit(learned, inputs, targets)
    assert json.loads(output.read_text()) == placed(found, lambda i: 2 * i + 2)
    other = tmp_path / "other.jsonl"
    other.write_text(data.read_text().lstrip("\n"))
    done = pinesy("audit", model, other, "-o", output)
    assert "judged by the rules as they are" in told(done)
    given = audit(rules, inputs, targets)
    assert json.loads(output.read_text()) == placed(given, lambda i: 2 * i + 1)


def test_induced_rules_are_induced_again(pinesy: Run, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("pandas")
    rules, data, output = (tmp_path / name for name in ("card.rules", "table.csv", "audit.json"))
    random = np.random.default_rng(2)
    x, wrong = random.normal(size=(120, 2)).round(3), set(range(40, 46))
    labels = ["yes" if (a > 0) ^ (i in wrong) else "no" for i, (a, _) in enumerate(x)]
    lines = [
        f"A{i},{a},{b},{label}" for i, ((a, b), label) in enumerate(zip(x, labels, strict=True))
    ]
    data.write_text("\n".join(["id,x,z,label", *lines]) + "\n")
    assert pinesy("induce", data, "--target", "label", "-o", rules).exit_code == 0
    done = pinesy("audit", rules, data, "-o", output)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "judged out of fold, by rules induced without each of 5 folds" in told(done)
    rows = json.loads(output.read_text())
    assert {row["id"] for row in rows[:6]} == {f"A{i}" for i in wrong}
    assert {row["sample"] for row in rows[:6]} == {i + 1 for i in wrong}
    cascade, table = library.load(rules), {"x": x[:, 0], "z": x[:, 1]}
    found = audit(cascade, table, {"label": labels})
    assert [row["sample"] - 1 for row in rows] == found.order.tolist()
    given = pinesy("audit", rules, data, "--method", "given")
    assert "judged by the rules as they are" in told(given)


def test_one_target_only(
    pinesy: Run, data: Path, samples: list[weather.Sample], tmp_path: Path
) -> None:
    output = tmp_path / "audit.json"
    pinesy("audit", weather.RULES, data, "--target", "rain", "-o", output)
    targets = {"rain": weather.targets(WEATHER, samples)["rain"]}
    found = audit(WEATHER, weather.inputs(WEATHER, samples), targets)
    assert json.loads(output.read_text()) == placed(found, lambda i: 2 * i + 2)
    done = pinesy("audit", weather.RULES, data, "--target", "rian")
    assert done.exit_code == 3
    assert done.stderr == "error: no rule set concludes on 'rian'; did you mean 'rain'?\n"


def test_probabilities(pinesy: Run, tmp_path: Path) -> None:
    samples = weather.random_samples(WEATHER, 8)
    for one in samples:
        one["sky"] = {v: p / sum(one["sky"].values()) for v, p in one["sky"].items()}
        one["pressure"] = "steady"
    data = weather.write(tmp_path / "softmax.csv", samples)
    output = tmp_path / "audit.json"
    assert pinesy("audit", weather.RULES, data).exit_code == 3
    done = pinesy("audit", weather.RULES, data, "--transform", "antipignistic", "-o", output)
    assert done.exit_code == 0
    inputs = weather.inputs(WEATHER, samples)
    inputs["sky"] = library.antipignistic(inputs["sky"])
    found = audit(WEATHER, inputs, weather.targets(WEATHER, samples))
    assert json.loads(output.read_text()) == placed(found, lambda i: i + 2)


def test_outputs_that_cannot_be_are_refused_at_once(
    pinesy: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def audited(*_: object) -> None:
        raise AssertionError("it judged before it looked where to write")

    monkeypatch.setattr(library, "audit", audited)
    done = pinesy("audit", weather.RULES, data, "-o", tmp_path / "audit.txt")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "audit.txt does not end in .csv, .json, .jsonl or .html" in weather.told(done.stderr)
    before = data.read_bytes()
    done = pinesy("audit", weather.RULES, data, "-o", data)
    assert (done.exit_code, data.read_bytes()) == (2, before)
    assert "is an input too, and would be overwritten" in weather.told(done.stderr)
    rules = tmp_path / "rules.json"
    library.save(WEATHER, rules)
    assert pinesy("audit", rules, data, "-o", rules).exit_code == 2
    assert library.load(rules) == WEATHER
    done = pinesy("audit", weather.RULES, data, "-o", tmp_path / "none" / "audit.csv")
    assert (done.exit_code, done.stdout) == (3, "")
    assert "cannot be written: there is no directory" in done.stderr


def test_an_error_leaves_the_old_file(
    pinesy: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "audit.csv"
    output.write_text("what was there before")
    rows = Audit.rows

    def broken(self: Audit, k: int | None = None) -> Any:
        yield from rows(self, 3 if k is None else k)
        if k is None:
            raise library.DataError("the disk is full")

    monkeypatch.setattr(Audit, "rows", broken)
    done = pinesy("audit", weather.RULES, data, "-o", output)
    assert (done.exit_code, done.stderr) == (3, "error: the disk is full\n")
    assert output.read_text() == "what was there before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.csv", "train.jsonl"]


def test_names_are_not_taken_for_markup(pinesy: Run, tmp_path: Path) -> None:
    rules = tmp_path / "markup.rules"
    rules.write_text(
        'attribute a in {0, 1} attribute `[red]b[/red]` in {"[/]", ":smile:"}'
        ' iff a in {0} then `[red]b[/red]` in {"[/]"}'
    )
    data = tmp_path / "data.jsonl"
    data.write_text('{"a": 0, "[red]b[/red]": ":smile:"}\n')
    done = pinesy("audit", rules, data)
    assert done.exit_code == 0
    assert 'sample 1: [red]b[/red] is ":smile:"; "[/]" is more possible, by 1' in done.stdout
