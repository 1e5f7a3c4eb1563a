"""Results that are not there, or not results: errors that name the file."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from messages import raises_saying
from pinesy.exceptions import DataError
from reproduction import rendering
from reproduction.commands import app
from reproduction.records import read_records
from reproduction.tests.synthetic import SECONDS, a_record, keep


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with raises_saying(
        DataError, f"{tmp_path / 'gone'}: there is no such directory", "reproduction"
    ):
        read_records(tmp_path / "gone")


def test_a_directory_without_records(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text("{}")
    with raises_saying(DataError, f"{tmp_path}: no records", "python -m reproduction", "--results"):
        read_records(tmp_path)


@pytest.mark.parametrize("text", ["", "{", '{"accuracy": 0.5', "\x00", "[1, 2]", "{}", "null"])
def test_files_that_are_no_records(tmp_path: Path, text: str) -> None:
    path = keep(tmp_path)
    path.write_text(text)
    with raises_saying(DataError, str(path), "record", "delete it"):
        read_records(tmp_path)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = keep(tmp_path)
    path.write_bytes(b"\xff\xfe\x00")
    with raises_saying(DataError, str(path), "UTF-8"):
        read_records(tmp_path)


def test_records_of_another_version(tmp_path: Path) -> None:
    path = keep(tmp_path)
    path.write_text(path.read_text().replace("pinesy.record/1", "pinesy.record/2"))
    with raises_saying(DataError, str(path), "pinesy.record/1"):
        read_records(tmp_path)


def test_a_record_in_a_place_where_none_belongs(tmp_path: Path) -> None:
    path = tmp_path / "run-00.json"
    keep(tmp_path).rename(path)
    with raises_saying(DataError, str(path), "the record of another experiment (addition-1 normal"):
        read_records(tmp_path)


@pytest.mark.parametrize("place", [".", "addition-1", "addition-1/normal/antipignistic"])
def test_directories_may_be_called_by_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    path = keep(tmp_path)
    monkeypatch.chdir(tmp_path / place)
    for name in (".", "..") if place.startswith("addition-1/") else (".",):
        assert read_records(Path(name))["path"].tolist() == [path.resolve()]


def test_a_stray_file_in_a_directory_with_a_short_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run-1.json").write_text("{}")
    with raises_saying(DataError, "run-1.json", "not a record of pinesy", "delete it"):
        read_records(Path())


def test_a_record_in_the_place_of_another(tmp_path: Path) -> None:
    path = keep(tmp_path)
    other = path.with_name("run-07.json")
    path.rename(other)
    with raises_saying(DataError, str(other), "another experiment"):
        read_records(tmp_path)


def test_two_records_of_one_run(tmp_path: Path) -> None:
    first, second = keep(tmp_path / "a"), keep(tmp_path / "b")
    with raises_saying(DataError, str(first), "and", str(second), "the same run", "keep one"):
        read_records(tmp_path)


@pytest.mark.parametrize(
    "name", [n for n in a_record() if n not in ("quick", "trial", "scale", "evaluations")]
)
def test_a_record_that_lacks_something(tmp_path: Path, name: str) -> None:
    path = keep(tmp_path)
    content = json.loads(path.read_text())
    del content[name]
    path.write_text(json.dumps(content))
    with raises_saying(DataError, str(path), f"it has no {name!r}", "delete it"):
        read_records(tmp_path)


STARTS: list[dict[str, Any]] = [
    {"network": {"start": 1}},
    {"network": {"start": {"scores": {"1": 0.5}}}},
    {"network": {"start": {"scores": {"1": "most"}, "corrected": 0.1}}},
    {"network": {"start": {"corrected": 0.1}}},
    {"network": {"start": {"scores": {}, "corrected": 0.1}}, "digit_accuracy": None},
]
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"accuracy": 99.0}, "accuracy 99.0, but 99 of 100 right"),
    ({"accuracy": 0.98}, "accuracy 0.98, but 99 of 100 right"),
    ({"accuracy": "0.99"}, "its 'accuracy' is '0.99'"),
    ({"accuracy": True}, "its 'accuracy' is True"),
    ({"right": 101}, "101 right, of the samples {"),
    ({"samples": {"train": 5}}, "99 right, of the samples {'train': 5}"),
    ({"samples": {"test": 100}}, "99 right, of the samples {'test': 100}"),
    ({"samples": {"train": 5, "test": "all"}}, "its 'samples' has 'all'"),
    ({"seconds": {**SECONDS, "training": "long"}}, "its 'seconds' has 'long'"),
    ({"thresholds": {"c_*": None}}, "its 'thresholds' has None"),
    ({"reliable": {"c_*": [1, 2]}}, "its 'reliable' is not of three numbers"),
    ({"reliable": {"c_*": [1, 2, "3"]}}, "its 'reliable' has '3'"),
    ({"network": "a file"}, "its 'network' is 'a file'"),
    *(
        ({"reading": "right", **said}, "learned from answers, and it does not say how")
        for said in STARTS
    ),
]


@pytest.mark.parametrize(("changes", "reason"), WRONG, ids=str)
def test_records_with_odd_content(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    path = keep(tmp_path, **changes)
    with raises_saying(DataError, str(path), reason):
        read_records(tmp_path)


def test_an_accuracy_that_is_no_number(tmp_path: Path) -> None:
    path = keep(tmp_path)
    path.write_text(path.read_text().replace('"accuracy": 0.99', '"accuracy": NaN'))
    with raises_saying(DataError, str(path), "its 'accuracy' is nan"):
        read_records(tmp_path)


def test_what_a_process_leaves_behind_is_no_record(tmp_path: Path) -> None:
    path = keep(tmp_path)
    path.with_name(".run-01.json.0badf00d.tmp").write_text("{")
    path.with_name(".run-01.lock").write_text("")
    assert read_records(tmp_path)["path"].tolist() == [path]


# --- the command -------------------------------------------------------------------------------


@pytest.fixture
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages have no plots, which take long."""
    monkeypatch.setattr(rendering, "can_plot", lambda: False)


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


@pytest.mark.usefixtures("no_plots")
@pytest.mark.parametrize(
    ("options", "beginning"),
    [
        ([], "How to read this ─"),
        (["--format", "markdown"], "# Results of the experiments"),
        (["--format", "html"], "<!doctype html>"),
    ],
)
def test_the_formats(tmp_path: Path, options: list[str], beginning: str) -> None:
    keep(tmp_path)
    done = run("--results", tmp_path, *options)
    assert done.exit_code == 0
    assert done.stdout.startswith(beginning)


@pytest.mark.usefixtures("no_plots")
@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("report.md", "# Results"),
        ("REPORT.HTML", "<!doctype html>"),
        ("report.txt", "How to read this"),
    ],
)
def test_the_name_of_a_file_says_its_format(tmp_path: Path, name: str, beginning: str) -> None:
    keep(tmp_path / "results")
    done = run("--results", tmp_path / "results", "-o", tmp_path / name)
    assert (done.exit_code, done.stdout) == (0, "")
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(beginning)


def test_a_name_that_says_no_format(tmp_path: Path) -> None:
    keep(tmp_path)
    done = run("--results", tmp_path, "-o", tmp_path / "report.pdf")
    assert done.exit_code == 2
    assert not (tmp_path / "report.pdf").exists()
    with_format = run("--results", tmp_path, "-o", tmp_path / "report.pdf", "--format", "markdown")
    assert with_format.exit_code == 0
    assert (tmp_path / "report.pdf").read_text(encoding="utf-8").startswith("# Results")


def test_the_command_without_records(tmp_path: Path) -> None:
    done = run("--results", tmp_path)
    assert done.exit_code == 3
    assert f"error: {tmp_path}: no records" in done.output
