"""Runs the pages of the documentation, and writes the outputs and pictures that they show.

The Python blocks of a page share one namespace and run in order; its ``pinesy`` commands run
between them, in the same directory, and so do reports of the records of experiments. A fence
``text output`` shows what the Python block before it prints. ``make outputs`` writes these anew,
and the pictures that come from a page; the tests compare them.
"""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from pinesy.cli.app import app

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DOCUMENTS = [README, *sorted((ROOT / "docs").rglob("*.md"))]
RECORDS = ROOT / "docs" / "results" / "records"
SHELLS = ("bash", "sh", "shell", "console")
#: Commands that a document may show and that the tests do not run: they install or build.
NOT_RUN = ("pip", "python -m pip", "python3 -m pip", "git", "make", "cd", "uv", "export", "source")
#: Experiments, which take minutes or hours; reports of their records are run.
EXPERIMENTS = ("addition", "sudoku", "rsbench", "guarantees", "fillings")
TOO_LONG = tuple(f"python -m reproduction {name} " for name in EXPERIMENTS)
RUN = ("pinesy ", "python -m reproduction report ")
SECONDS = 60

FENCE = re.compile(r"^( *)(`{3,}|~{3,})([^\n`]*)\n(.*?)^ *\2`* *$", re.MULTILINE | re.DOTALL)


#: The fence of a block that shows what the Python block before it prints.
OUTPUT = ("text", "output")
#: Pictures of pages: the file that running the page writes, and the title of the plot in it.
PICTURES = {
    ROOT / "docs" / "tables-tutorial.md": {
        "titanic-coverage.svg": ("report.html", "Accuracy on the surest samples")
    }
}


@dataclass(frozen=True)
class Block:
    """A fenced block of a document.

    Attributes
    ----------
    language, text, line : its language, its text, and the line it starts on
    span : where its text begins and ends in the document
    is_output : whether it shows what the Python block before it prints
    """

    language: str
    text: str
    line: int
    span: tuple[int, int] = (0, 0)
    is_output: bool = False


def blocks(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a document, indentation of the fence taken off."""
    for match in FENCE.finditer(text):
        indent, _, info, content = match.groups()
        lines = [line.removeprefix(indent) for line in content.splitlines(keepends=True)]
        first = text.count("\n", 0, match.start()) + 2
        words = info.split() or [""]
        is_output = tuple(words) == OUTPUT
        yield Block(words[0].lower(), "".join(lines), first, match.span(4), is_output)


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


@dataclass(frozen=True)
class Run:
    """What came of running a document.

    Attributes
    ----------
    blocks : those that were run
    text : the document with the outputs that its blocks print now
    """

    blocks: list[Block]
    text: str


def run_document(document: Path, cwd: Path) -> Run:
    """Run all there is to run of a document, in order."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    text = document.read_text(encoding="utf-8")
    done, parts, end, printed = [], [], 0, StringIO()
    for block in blocks(text):
        if block.language in ("python", "py", "pycon", "{code-cell}"):
            printed = StringIO()
            with redirect_stdout(printed):
                run_python(block, document, namespace)
            done.append(block)
        elif block.language in SHELLS:
            lines = commands(block)
            for command in lines:
                if not command.startswith((*NOT_RUN, *TOO_LONG)):
                    assert command.startswith(RUN), f"{document.name}: who runs {command!r}?"
                    run_command(command, cwd)
            done.append(block)
        elif block.is_output:
            parts += [text[end : block.span[0]], printed.getvalue()]
            end = block.span[1]
    return Run(done, "".join([*parts, text[end:]]))


def prepare(document: Path, cwd: Path) -> None:
    """Put what a document finds in its directory there."""
    shutil.copytree(ROOT / "examples", cwd / "examples")
    if "python -m reproduction report" in document.read_text(encoding="utf-8"):
        shutil.copytree(RECORDS, cwd / RECORDS.relative_to(ROOT))


def drawn_pictures(document: Path, cwd: Path) -> dict[Path, str]:
    """Return the pictures of a document that running it has drawn, by their files."""
    pictures = {}
    for name, (file, title) in PICTURES.get(document, {}).items():
        plots = re.findall(r"<svg.*?</svg>\n", (cwd / file).read_text(encoding="utf-8"), re.DOTALL)
        (pictures[ROOT / "docs" / "pictures" / name],) = [p for p in plots if title in p]
    return pictures


def main() -> None:
    """Write the outputs and pictures of all documents that show some."""
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        if any(block.is_output for block in blocks(text)) or document in PICTURES:
            with tempfile.TemporaryDirectory() as directory, chdir(directory):
                prepare(document, Path(directory))
                files = {document: run_document(document, Path(directory)).text}
                files |= drawn_pictures(document, Path(directory))
            for path, content in files.items():
                state = "same" if path.read_text(encoding="utf-8") == content else "written"
                path.write_text(content, encoding="utf-8")
                print(f"{path.relative_to(ROOT)}: {state}")  # noqa: T201


if __name__ == "__main__":
    main()
