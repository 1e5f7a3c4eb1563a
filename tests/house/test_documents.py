"""README, docs and examples are run: what they show is what happens.

The Python blocks of a document share one namespace and run in order, in a directory that holds
nothing but a copy of the examples; its ``pinesy`` commands run between them, in the same place, and
so do reports of the records of experiments.
"""

import doctest
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pinesy.cli.app import app

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCUMENTS = [README, *sorted((ROOT / "docs").rglob("*.md"))]
RECORDS = ROOT / "docs" / "results" / "records"
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SHELLS = ("bash", "sh", "shell", "console")
#: Commands that a document may show and that the tests do not run: they install or build.
NOT_RUN = ("pip", "python -m pip", "python3 -m pip", "git", "make", "cd", "uv", "export", "source")
#: Experiments, which take minutes or hours; reports of their records are run.
EXPERIMENTS = ("addition", "sudoku", "rsbench", "guarantees")
TOO_LONG = tuple(f"python -m reproduction {name} " for name in EXPERIMENTS)
RUN = ("pinesy ", "python -m reproduction report ")
SECONDS = 60

_FENCE = re.compile(r"^( *)(`{3,}|~{3,})([^\n`]*)\n(.*?)^ *\2`* *$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a document: its language, its text, and the line it starts on."""

    language: str
    text: str
    line: int


def blocks(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a document, indentation of the fence taken off."""
    for match in _FENCE.finditer(text):
        indent, _, info, content = match.groups()
        lines = [line.removeprefix(indent) for line in content.splitlines(keepends=True)]
        first = text.count("\n", 0, match.start()) + 2
        yield Block((info.split() or [""])[0].lower(), "".join(lines), first)


def commands(block: Block) -> list[str]:
    """Return the commands of a shell block; where some lines start with ``$``, only those."""
    joined = block.text.replace("\\\n", " ")
    lines = [line.strip() for line in joined.splitlines() if line.strip()]
    prompted = [line[1:].strip() for line in lines if line.startswith("$ ")]
    return prompted or [line for line in lines if not line.startswith("#")]


def run_python(block: Block, document: Path, namespace: dict[str, Any]) -> None:
    """Run a block; a traceback names the document and the line in it."""
    padded = "\n" * (block.line - 1) + block.text
    if block.text.lstrip().startswith(">>>"):
        test = doctest.DocTestParser().get_doctest(
            block.text, namespace, document.name, str(document), block.line - 1
        )
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        report: list[str] = []
        result = runner.run(test, out=report.append, clear_globs=False)
        assert result.failed == 0, "".join(report)
        namespace.update(test.globs)
    else:
        exec(compile(padded, str(document), "exec"), namespace)


def run_pinesy(command: str) -> None:
    """Run a ``pinesy`` command here: a process of its own would load all libraries again."""
    done = CliRunner().invoke(app, shlex.split(command)[1:], prog_name="pinesy")
    assert done.exit_code == 0, f"{command}\n{done.output}"


def run_shell(command: str, cwd: Path) -> str:
    """Run a command line with ``pinesy`` standing for ``python -m pinesy``; return its output."""
    shim = f'python() {{ "{sys.executable}" "$@"; }}\npinesy() {{ python -m pinesy "$@"; }}'
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{shim}\n{command}"],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def run_command(command: str, cwd: Path) -> None:
    """Run a command, by a shell only if it is more than a call of ``pinesy``."""
    if command.startswith("pinesy ") and not set(command) & set("|<>;&$"):
        run_pinesy(command)
    else:
        run_shell(command, cwd)


def environment() -> dict[str, str]:
    path = [str(ROOT / "src"), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def run_document(document: Path, cwd: Path) -> list[Block]:
    """Run all there is to run of a document, in order; return the blocks that were run."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    done = []
    for block in blocks(document.read_text(encoding="utf-8")):
        if block.language in ("python", "py", "pycon", "{code-cell}"):
            run_python(block, document, namespace)
            done.append(block)
        elif block.language in SHELLS:
            lines = commands(block)
            for command in lines:
                if not command.startswith((*NOT_RUN, *TOO_LONG)):
                    assert command.startswith(RUN), f"{document.name}: who runs {command!r}?"
                    run_command(command, cwd)
            done.append(block)
    return done


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: str(d.relative_to(ROOT)))
def test_documents_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    if "python -m reproduction report" in document.read_text(encoding="utf-8"):
        shutil.copytree(RECORDS, tmp_path / RECORDS.relative_to(ROOT))
    done = run_document(document, tmp_path)
    if document == README:
        assert [b for b in done if b.language == "python"], "README.md shows no Python"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.name)
def test_examples_run(
    example: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example)])
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.strip(), "an example shows something"


def test_an_example_in_a_process_of_its_own(tmp_path: Path) -> None:
    assert run_shell(f"python -W error '{EXAMPLES[0]}'", tmp_path).strip()


def test_there_are_examples() -> None:
    assert EXAMPLES


_LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize(
    "document",
    [*DOCUMENTS, *(path for path in sorted(ROOT.glob("*.md")) if path != README)],
    ids=lambda d: str(d.relative_to(ROOT)),
)
def test_links_to_files_lead_somewhere(document: Path) -> None:
    text = _FENCE.sub("", document.read_text(encoding="utf-8"))
    targets = [t for t in _LINK.findall(text) if "://" not in t and not t.startswith("mailto:")]
    assert [t for t in targets if not (document.parent / t).exists()] == []


# --- the check can fail ------------------------------------------------------------------------


def document(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "sample.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_failing_block_fails_and_is_named(tmp_path: Path) -> None:
    path = document(tmp_path, "# Title\n\n```python\nx = 1\n```\n\ntext\n\n```python\nx / 0\n```\n")
    with pytest.raises(ZeroDivisionError) as caught:
        run_document(path, tmp_path)
    last = caught.traceback[-1]
    assert (Path(last.path).name, last.lineno + 1) == ("sample.md", 10)


def test_blocks_share_a_namespace_and_run_in_order(tmp_path: Path) -> None:
    text = "```python\nx = 1\n```\n~~~python\nassert x == 1\n~~~\n"
    text += "- item\n\n  ```python\n  x += 1\n  ```\n"
    assert len(run_document(document(tmp_path, text), tmp_path)) == 3
    assert run_document(document(tmp_path, "```text\n1 / 0\n```\n"), tmp_path) == []


def test_a_wrong_output_in_a_session_fails(tmp_path: Path) -> None:
    good = document(tmp_path, "```python\n>>> y = 2\n>>> y + 1\n3\n```\n")
    assert len(run_document(good, tmp_path)) == 1
    with pytest.raises(AssertionError, match="Expected"):
        run_document(document(tmp_path, "```python\n>>> 1 + 1\n3\n```\n"), tmp_path)


def test_a_failing_or_unknown_command_fails(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no-such-command"):
        run_document(document(tmp_path, "```bash\npinesy no-such-command\n```\n"), tmp_path)
    with pytest.raises(AssertionError, match="who runs 'rm -rf x'"):
        run_document(document(tmp_path, "```bash\n$ rm -rf x\n```\n"), tmp_path)
    with pytest.raises(AssertionError, match="No such command 'gone'"):
        run_document(document(tmp_path, "```bash\npinesy gone | cat\n```\n"), tmp_path)
    report = document(tmp_path, "```bash\npython -m reproduction report --results gone\n```\n")
    with pytest.raises(AssertionError, match="no such directory"):
        run_document(report, tmp_path)
    assert commands(Block("bash", "$ pinesy a \\\n    b\nshown\n", 1)) == ["pinesy a      b"]
    assert commands(Block("bash", "# note\npinesy a\npip install x\n", 1)) == [
        "pinesy a",
        "pip install x",
    ]
