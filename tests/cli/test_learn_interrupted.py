"""`pinesy learn`: whatever happens while a model is written, the old one or the new is there."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pinesy as library
from cli import weather

Run = Callable[..., Any]


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "model.json"


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (OSError(28, "No space left on device"), 3, "No space left"),
        (KeyboardInterrupt(), 130, "in"),
    ],
)
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_what_goes_wrong_while_writing_leaves_the_old_model(
    pinesy: Run,
    output: Path,
    error: BaseException,
    code: int,
    told: str,
    step: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pinesy("learn", weather.RULES, weather.TRAIN, "-o", output)
    before = output.read_bytes()

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(os, step, fail)
    done = pinesy("learn", weather.RULES, weather.TRAIN, "-o", output, "--tolerance", "0.4")
    assert done.exit_code == code
    assert told in done.stderr
    assert "written to" not in done.stdout
    assert output.read_bytes() == before
    assert list(output.parent.iterdir()) == [output]


#: Runs a command, but waits at a step of the writing.
HELD_UP = """
import os, sys, time
from pinesy.cli.app import run_pinesy

def wait(*_):
    print("here", flush=True)
    time.sleep(60)

step = sys.argv.pop(1)
if step:
    setattr(os, step, wait)
run_pinesy()
"""


def started(step: str, *arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", HELD_UP, step, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(Path(library.__file__).parents[1])}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def killed(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_killed_program_leaves_the_old_model_or_the_new(pinesy: Run, output: Path) -> None:
    arguments = ["learn", weather.RULES, weather.TRAIN, "-o", output]
    pinesy(*arguments, "--tolerance", "0.4")
    new = output.read_bytes()
    pinesy(*arguments)
    old = output.read_bytes()
    assert old != new
    for step in ("fsync", "replace"):
        with started(step, *arguments, "--tolerance", "0.4") as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "here\n"
            killed(process)
        assert output.read_bytes() == old
    with started("", *arguments, "--tolerance", "0.4") as process:
        time.sleep(2 * random.random())
        killed(process)
    assert output.read_bytes() in (old, new)
    assert library.load(output).result.samples == 10
