"""Closed and full standard streams, devices without end, Ctrl-C at the start: one line, or work."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from messages import raises_saying, without_notices
from pinesy import DataError, load
from pinesy._common import files

RULES = "attribute a in {0, 1}\nattribute b in {0, 1}\niff a in {0} then b in {1}\n"
SOURCE = Path(__file__).parents[2] / "src"


def run(place: Path, line: str) -> tuple[int, str]:
    """Run a line of the shell, with `P` for the program; return its exit code and stderr."""
    (place / "r.rules").write_text(RULES)
    (place / "d.jsonl").write_text('{"a": 0}\n')
    given = {**os.environ, "PYTHONPATH": str(SOURCE), "P": f"{sys.executable} -m pinesy"}
    done = subprocess.run(["sh", "-c", line], cwd=place, env=given, capture_output=True, text=True)
    return done.returncode, without_notices(done.stderr)


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("$P infer r.rules d.jsonl >&-", 0, ""),
        ("$P infer r.rules - <&-", 3, "no samples in it"),
        ("$P infer r.rules d.jsonl -o o.jsonl >&- <&- 2>&-", 0, ""),
        ("$P infer r.rules d.jsonl >/dev/full", 3, "cannot be written: No space left on device"),
        ("$P show r.rules >/dev/full", 3, "cannot be written: No space left on device"),
    ],
)
def test_closed_and_full_streams(tmp_path: Path, line: str, code: int, said: str) -> None:
    found, errors = run(tmp_path, line)
    assert found == code, errors
    assert said in errors
    assert errors.count("\n") == (1 if said else 0)
    if "o.jsonl" in line:
        assert (tmp_path / "o.jsonl").read_text().startswith('{"b"')


def test_a_device_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_STREAM", 1000)
    for suffix in (".rules", ".json"):
        (tmp_path / f"zero{suffix}").symlink_to("/dev/zero")
        with raises_saying(DataError, f"zero{suffix}: a stream of more than 1,000 bytes"):
            load(tmp_path / f"zero{suffix}")


def test_ctrl_c_while_the_program_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    code, errors = run(tmp_path, "PYTHONPATH=$PWD:$PYTHONPATH $P show r.rules")
    assert (code, errors) == (130, "interrupted\n")
