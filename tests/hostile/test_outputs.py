"""What a command writes never takes the place of what it reads; odd names give one line."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import RULES, pinesy
from hostile.writers import COMMANDS, files
from messages import raises_saying
from pinesy import DataError, NeuroSymbolic, load, parse, save
from pinesy.samples import read_samples

__all__ = ["pinesy"]


@pytest.mark.parametrize("how", ["symbolic", "hard"])
@pytest.mark.parametrize("command", [c for c in COMMANDS if c != "report"])
def test_no_command_writes_over_what_it_reads(
    pinesy: Callable[..., Any], tmp_path: Path, command: str, how: str
) -> None:
    arguments, suffix = COMMANDS[command]
    read = files(tmp_path)
    for word in set(arguments) & {*read}:
        source, output = read[word], tmp_path / f"{word}{suffix}"
        (os.symlink if how == "symbolic" else os.link)(source, output)
        before = source.read_bytes()
        result = pinesy(*(read.get(a, a) for a in arguments), "-o", output)
        assert result.exit_code == 2, result.output
        assert "is an input too" in " ".join(result.output.replace("│", " ").split())
        assert source.read_bytes() == before


def test_a_dash_is_standard_output(
    pinesy: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    read = files(tmp_path)
    shown = pinesy("infer", read["RULES"], read["DATA"], "--format", "jsonl")
    dashed = pinesy("infer", read["RULES"], read["DATA"], "--format", "jsonl", "-o", "-")
    assert dashed.exit_code == shown.exit_code == 0
    assert dashed.stdout == shown.stdout != ""
    assert not Path("-").exists()


@pytest.mark.parametrize("kind", ["loop", "long", "directory"])
@pytest.mark.parametrize("role", ["rules", "data", "output"])
def test_odd_names_give_one_line(
    pinesy: Callable[..., Any], tmp_path: Path, kind: str, role: str
) -> None:
    suffix = ".rules" if role == "rules" else ".jsonl"
    odd = ("x" * 300 if kind == "long" else "odd") + suffix
    if kind == "loop":
        (tmp_path / odd).symlink_to(tmp_path / odd)
    elif kind == "directory":
        (tmp_path / odd).mkdir()
    given = {"rules": tmp_path / "r.rules", "data": tmp_path / "d.jsonl", "output": "-"}
    files(tmp_path)
    given[role] = tmp_path / odd
    result = pinesy(
        "infer", given["rules"], given["data"], "--format", "jsonl", "-o", given["output"]
    )
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code in (2, 3), result.output
    message = result.stderr.lower()
    if (kind, role) == ("directory", "data"):  # which is data of many files
        assert "give -o directory" in message
    else:
        assert "cannot be" in message or "not a" in message
    assert "Traceback" not in result.output


@pytest.mark.parametrize("suffix", [".rules", ".json", ".zip"])
def test_a_name_that_no_file_can_have(suffix: str) -> None:
    rules = parse(RULES)
    with raises_saying(DataError, "null"):
        load(f"a\0b{suffix}")
    with raises_saying(DataError, "cannot be written"):
        save(NeuroSymbolic(len, rules) if suffix == ".zip" else rules, f"a\0b{suffix}")
    with raises_saying(DataError, "cannot be read"):
        next(read_samples("a\0b.csv", rules.inputs))
