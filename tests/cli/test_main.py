"""The program as a whole: help, version, `python -m pinesy`, signals and pipes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pinesy as library
from messages import without_notices
from pinesy.cli import demo_command

Run = Callable[..., Any]

COMMAND = [sys.executable, "-m", "pinesy"]
ENVIRONMENT = os.environ | {
    "PYTHONPATH": str(Path(library.__file__).parents[1]),
    "PYTHONUNBUFFERED": "1",
}


def test_help_documents_exit_codes(pinesy: Run) -> None:
    told = pinesy("--help").stdout
    for line in ("0  fine", "1  check found warnings", "2  wrong usage", "130  interrupted"):
        assert line in told
    assert "3  rules or data that cannot be used" in told


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("check", "pinesy check examples/weather.rules"),
        ("show", "pinesy show sum.rules --partition --matrix --set total"),
        ("infer", '"possibility" leaves out values of degree 0'),
        ("infer", '{"left": {"3": 1.0, "8": 0.4}, "right": 5}'),
    ],
)
def test_help_of_commands(pinesy: Run, command: str, told: str) -> None:
    assert told in pinesy(command, "--help").stdout


def test_version(pinesy: Run) -> None:
    assert pinesy("--version").stdout == f"pinesy {library.__version__}\n"


def test_an_unknown_command(pinesy: Run) -> None:
    result = pinesy("chekc")
    assert result.exit_code == 2
    assert "Did you mean 'check'?" in result.stderr


def test_the_demo_computes_what_it_says(pinesy: Run) -> None:
    result = pinesy("demo", "--tour")
    assert result.exit_code == 0
    told = result.stdout
    same = library.parse(demo_command.SAME_DIGIT)
    found = same.infer({n: library.antipignistic(p) for n, p in demo_command.BITS.items()})["c"]
    assert f"c in {{different}} with certainty {found.necessity({'different'}):.6g}." in told
    assert "(-1, 2, -3, 4)" in told
    assert "[  1 r_1 s_2   1   1 r_3 s_4   1]" in told
    assert "Best sum: 73." in told
    assert "microseconds a sample" in told
    assert "pinesy infer FILE.rules DATA.jsonl" in told


def test_the_demo_depends_on_its_numbers(pinesy: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(demo_command.DIGITS, "a_2", {9: 1.0})
    monkeypatch.setattr(demo_command, "SAMPLES", 100)
    told = pinesy("demo", "--tour").stdout
    assert "Best sum: 74." in told
    assert "on 100 random samples" in told


def test_an_interrupt_is_an_exit_code(pinesy: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_console: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_command, "run_tour", interrupt)
    result = pinesy("demo", "--tour")
    assert (result.exit_code, result.stderr) == (130, "interrupted\n")


def test_python_m_pinesy_prints_errors_without_traceback(tmp_path: Path) -> None:
    path = tmp_path / "none.rules"
    result = subprocess.run(
        [*COMMAND, "check", path], capture_output=True, text=True, env=ENVIRONMENT, check=False
    )
    assert result.returncode == 3
    assert result.stderr == f"error: {path}: cannot be read: No such file or directory\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_while_modules_are_imported_is_one_line(tmp_path: Path) -> None:
    """One that comes in a callback, as importlib has them, was printed and lost."""
    (tmp_path / "typer.py").write_text(
        "import os, signal, time\n"
        "class Interrupted:\n"
        "    def __del__(self):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        time.sleep(0.01)\n"
        "Interrupted()\n"
    )
    path = os.pathsep.join([str(tmp_path), ENVIRONMENT["PYTHONPATH"]])
    environment = ENVIRONMENT | {"PYTHONPATH": path}
    run = subprocess.run(
        [*COMMAND, "--help"], env=environment, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "interrupted\n")


def test_an_interrupt_leaves_no_file(rules: Path, tmp_path: Path) -> None:
    arguments = [*COMMAND, "infer", str(rules), "-", "-o", str(tmp_path / "out.csv")]
    with subprocess.Popen(
        arguments,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        # A shell that runs the tests in the background has SIGINT ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob(".out.csv.*")) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (130, "interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["sum.rules"]


@pytest.mark.parametrize("form", ["jsonl", "csv", "table"])
def test_a_reader_that_goes_away_is_no_error(rules: Path, tmp_path: Path, form: str) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text('{"left": 1, "right": 2}\n' * 1001)  # more than one table holds
    with subprocess.Popen(
        [*COMMAND, "infer", str(rules), str(data), "--batch", "10", "--format", form, "--all"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert without_notices(process.stderr.read().decode()) == ""
    assert process.returncode == 0


def test_names_that_the_terminal_cannot_show(tmp_path: Path) -> None:
    path = tmp_path / "greek.rules"
    path.write_text(
        "attribute α in {0, 1} attribute b in {0, 1} iff α in {0} then b in {0}", "utf-8"
    )
    environment = ENVIRONMENT | {"PYTHONIOENCODING": "ascii"}
    result = subprocess.run(
        [*COMMAND, "show", path, "--rules"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert (result.returncode, without_notices(result.stderr)) == (0, "")
    assert r"iff \u03b1 in {0} then b in {0}" in result.stdout


def test_json_stays_json_in_an_encoding_without_the_characters(tmp_path: Path) -> None:
    rules, data = tmp_path / "r.rules", tmp_path / "d.jsonl"
    rules.write_text(
        'attribute a in {0, 1}\nattribute b in {"\u00e9", "\U0001f4a7"}\n'
        'if a in {1} then b in {"\u00e9"}\n',
        encoding="utf-8",
    )
    data.write_text('{"a": 1}\n{"a": 0}\n')
    environment = ENVIRONMENT | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [*COMMAND, "infer", rules, data],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    found = [json.loads(line)["b"]["possibility"] for line in done.stdout.splitlines()]
    assert found == [{"\u00e9": 1.0}, {"\u00e9": 1.0, "\U0001f4a7": 1.0}]


def test_what_files_say_cannot_steer_the_terminal(pinesy: Run, tmp_path: Path) -> None:
    rules = tmp_path / "r.rules"
    rules.write_text('attribute a in {"\x1b[31mred"}')
    told = pinesy("check", rules).stderr
    assert "\x1b" not in told
    assert "\\x1b[31mred" in told
