"""`--help`: commands in groups, an example of each that runs, and the page that is made of it."""

import importlib.util
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from pinesy.cli.app import app
from pinesy.cli.command_table import COMMANDS as SUMMARIES

ROOT = Path(__file__).parents[2]
#: They listen until they are stopped; tests/studio and tests/serve run them.
LISTENS = {"serve", "studio"}
COMMAND_FILES = (ROOT / "src/pinesy/cli").glob("*_command.py")


def leaf_commands() -> Iterator[tuple[str, Any]]:
    group: Any = get_command(app)
    for name, unloaded in group.commands.items():
        command = unloaded.loaded
        inner = getattr(command, "commands", None)
        yield from [(f"{name} {n}", c) for n, c in inner.items()] if inner else [(name, command)]


COMMANDS = dict(leaf_commands())


def first_example(command: Any) -> str:
    examples: str = command.help.partition("Examples[/bold]")[2].replace("\\\n", " ")
    return next(line.strip() for line in examples.splitlines() if line.strip())


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - LISTENS))
def test_the_first_example_of_each_command_runs(
    name: str, pinesy: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    program, *arguments = shlex.split(first_example(COMMANDS[name]))
    assert program == "pinesy"
    assert " ".join(arguments).startswith(name)
    result = pinesy(*arguments)
    assert result.exit_code == 0, result.output + result.stderr
    assert result.stdout or any(tmp_path.glob("*.*"))


def test_commands_are_in_groups(pinesy: Callable[..., Any]) -> None:
    shown = pinesy("--help").stdout
    assert [panel for panel in SUMMARIES if panel in shown] == list(SUMMARIES)


def test_the_line_on_each_command_is_that_of_its_help() -> None:
    group: Any = get_command(app)
    summaries = {name: line for lines in SUMMARIES.values() for name, line in lines.items()}
    assert summaries.keys() == group.commands.keys()
    assert {path.stem.removesuffix("_command") for path in COMMAND_FILES} == summaries.keys()
    for name, line in summaries.items():
        first = group.commands[name].loaded.help.partition("\n\n")[0]
        assert " ".join(first.split()) == line, name


def test_the_example_of_the_program_runs(pinesy: Callable[..., Any], monkeypatch: Any) -> None:
    monkeypatch.chdir(ROOT)
    [line] = re.findall(r"^ *pinesy (explain .*)$", get_command(app).help or "", re.MULTILINE)
    assert pinesy(*shlex.split(line)).exit_code == 0


def test_the_reference_page_is_fresh() -> None:
    path = ROOT / "docs" / "command_reference.py"
    specification = importlib.util.spec_from_file_location("command_reference", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    page = module.page()
    assert page == module.PAGE.read_text(), "run python docs/command_reference.py"
    for name in COMMANDS:
        assert f"### pinesy {name}\n" in page


@pytest.mark.parametrize(("command", "extra"), [("infer", "parquet"), ("check", "exact")])
def test_extras_are_no_markup(pinesy: Any, command: str, extra: str) -> None:
    assert f"pinesy[{extra}]" in pinesy(command, "--help").stdout
