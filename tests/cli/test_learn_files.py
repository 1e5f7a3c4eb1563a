"""`pinesy learn`: files that cannot be used, and what is on the screen."""

import io
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from cli import weather
from pinesy._common import console
from pinesy._common.console import Bar
from pinesy.cli import learn_command, training_files
from pinesy.cli.app import app
from pinesy.learning import learn_batches

Run = Callable[..., Any]

COMMANDS: Any = typer.main.get_command(app)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "model.json"


BAD_DATA = {
    "empty.jsonl": ("", ": no samples in it"),
    "empty.csv": ("", ": no samples in it"),
    "head.csv": ("sky,pressure,street\n", ": no samples in it"),
    "typo.jsonl": (
        '{"sky": "dark", "pressure": "falling", "stret": "wet"}',
        ", line 1: there is no attribute 'stret'; did you mean 'street'?",
    ),
    "value.csv": (
        "sky,pressure,street\ndark,falling,wet\ndark,falling,wett\n",
        ", line 3: attribute 'street' has no value 'wett'; did you mean 'wet'?",
    ),
    "some.jsonl": (
        '{"sky": "dark", "pressure": "falling", "street": "wet"}\n'
        '{"sky": "dark", "pressure": "falling"}',
        ", line 2: no target is given for 'street'",
    ),
    "input.jsonl": ('{"sky": "dark", "street": "wet"}', ", line 1: nothing is given for pressure"),
    "degrees.jsonl": (
        '{"sky": "dark", "pressure": "falling", "street": {"wet": 0.5}}',
        ", line 1: attribute 'street': the distribution is not normalised",
    ),
    "notes.txt": ("", ": data are read from .csv, .json, .jsonl, .ndjson, .parquet, not '.txt'"),
}


@pytest.mark.parametrize("name", BAD_DATA)
def test_data_that_cannot_be_used(pinesy: Run, output: Path, name: str, tmp_path: Path) -> None:
    content, told = BAD_DATA[name]
    path = tmp_path / name
    path.write_text(content)
    for command in (["learn", "-o", output], ["audit"]):
        done = pinesy(command[0], weather.RULES, path, *command[1:])
        assert (done.exit_code, done.stdout, output.exists()) == (3, "", False)
        assert done.stderr.startswith(f"error: {path}{told}")
        assert done.stderr.count("\n") == 1


def test_missing_files_and_standard_input(pinesy: Run, output: Path, tmp_path: Path) -> None:
    missing = tmp_path / "none.csv"
    done = pinesy("learn", weather.RULES, missing, "-o", output)
    told = f"error: {missing}: cannot be read: No such file or directory\n"
    assert (done.exit_code, done.stderr) == (3, told)
    done = pinesy("learn", weather.RULES, weather.TRAIN, "-o", output, "--validation", missing)
    assert (done.exit_code, done.stderr) == (3, told)
    done = pinesy("learn", tmp_path / "none.rules", weather.TRAIN, "-o", output)
    assert (done.exit_code, "none.rules: cannot be read" in done.stderr) == (3, True)
    text = weather.TRAIN.read_text()
    for command in (["learn", "-o", output], ["audit"]):
        done = pinesy(command[0], weather.RULES, "-", *command[1:], input=text)
        assert (done.exit_code, done.stderr) == (
            3,
            "error: samples are read several times, so they cannot come from standard input; give "
            "the name of a file\n",
        )


def test_no_reliable_sample(pinesy: Run, output: Path, tmp_path: Path) -> None:
    wrong = {"sky": "dark", "pressure": {"falling": 1.0, "steady": 0.5}, "rain": "no"}
    path = weather.write(
        tmp_path / "wrong.jsonl", [wrong, wrong | {"rain": {"no": 1, "heavy": 0.5}}]
    )
    done = pinesy("learn", weather.RULES, path, "-o", output, "--tolerance", "0.25")
    assert (done.exit_code, done.stdout, output.exists()) == (3, "", False)
    assert done.stderr.startswith(
        "error: rule set 'rain': none of the 2 samples is reliable for the tolerance 0.25; the "
        "smallest distance of a sample is 0.5, so a tolerance above that would keep some"
    )


def test_outputs_that_cannot_be_are_refused_at_once(
    pinesy: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def learned(*_: object, **__: object) -> None:
        raise AssertionError("it learned before it looked where to")

    monkeypatch.setattr(learn_command, "learn_batches", learned)
    done = pinesy("learn", weather.RULES, tmp_path / "none.csv", "-o", tmp_path / "model.txt")
    assert done.exit_code == 2
    assert "--output:" in done.stderr
    assert "model.txt does not end in .json" in weather.told(done.stderr)
    done = pinesy("learn", weather.RULES, weather.TRAIN)
    assert (done.exit_code, "Missing option '--output'" in done.stderr) == (2, True)
    place = tmp_path / "none" / "model.json"
    done = pinesy("learn", weather.RULES, weather.TRAIN, "-o", place)
    assert done.exit_code == 3
    assert done.stderr == (
        f"error: {place}: cannot be written: there is no directory {place.parent}\n"
    )


@pytest.mark.parametrize("option", ["DATA", "--validation"])
def test_samples_are_not_overwritten(
    pinesy: Run, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data.json"
    data.write_bytes(weather.TRAIN.read_bytes())
    given = ["data.json"] if option == "DATA" else [weather.TRAIN, option, "data.json"]
    done = pinesy("learn", weather.RULES, *given, "-o", data)  # by another name
    assert done.exit_code == 2
    assert "is an input too, and would be overwritten" in weather.told(done.stderr)
    assert data.read_bytes() == weather.TRAIN.read_bytes()


def test_data_that_change_meanwhile_are_refused(
    pinesy: Run, output: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "train.jsonl"
    data.write_bytes(weather.TRAIN.read_bytes())
    monkeypatch.setattr(training_files, "HELD_BYTES", 0)

    def meanwhile(*given: Any, **options: Any) -> Any:
        with open(data, "a") as file:
            file.write(weather.TRAIN.read_text())
        return learn_batches(*given, **options)

    monkeypatch.setattr(learn_command, "learn_batches", meanwhile)
    done = pinesy("learn", weather.RULES, data, "-o", output)
    assert (done.exit_code, output.exists()) == (3, False)
    assert f"{data}: the file was changed after it was first looked at" in done.stderr


# --- on the screen -----------------------------------------------------------------------------


class Terminal(io.StringIO):
    """Stands for the screen, or for a file; says when something was drawn."""

    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal
        self.drawn = threading.Event()

    def isatty(self) -> bool:
        return self.is_terminal

    def write(self, text: str) -> int:
        self.drawn.set()
        return super().write(text)


@pytest.mark.parametrize("is_terminal", [True, False])
@pytest.mark.parametrize(
    ("options", "label"),
    [([], "fronts of rain"), (["--validation", str(weather.VALID)], "searching tolerances")],
)
def test_bars_are_for_terminals(
    output: Path,
    options: list[str],
    label: str,
    is_terminal: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = Terminal(is_terminal)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(console, "BAR_AFTER", 0.0)
    monkeypatch.setattr(console, "NOTICE_AFTER", 600.0)
    monkeypatch.setenv("TERM", "xterm")
    # The work takes until a bar is drawn, or long enough for one.
    monkeypatch.setattr(Bar, "advance", lambda *_: screen.drawn.wait(30.0 if is_terminal else 0.2))
    arguments = ["learn", str(weather.RULES), str(weather.TRAIN), "-o", str(output), *options]
    app(arguments, standalone_mode=False)
    assert output.exists()
    assert (label in screen.getvalue()) == is_terminal
    assert is_terminal or screen.getvalue() == ""


@pytest.mark.parametrize("command", ["learn", "audit"])
def test_help_tells_every_option(pinesy: Run, command: str) -> None:
    told = pinesy(command, "--help").stdout
    parameters = COMMANDS.commands[command].loaded.params
    options = [name for p in parameters for name in p.opts if "-" in name]
    assert len(options) > 5
    assert [name for name in options if f" {name} " not in told] == []
    example = [line for line in told.splitlines() if f"  pinesy {command} " in line]
    assert len(example) > 1
    for line in example:
        given = [word for word in line.split() if word.startswith("-")]
        assert set(given) <= set(options)
