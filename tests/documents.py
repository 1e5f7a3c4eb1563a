"""Runs the pages of the documentation, and writes the outputs and pictures that they show.

The Python blocks of a page share one namespace and run in order; its ``pinesy`` commands run
between them, in the same directory, and so do reports of the records of experiments, and requests
by ``curl`` to a service that the page starts. A fence
``text output`` shows what the block before it prints. ``make outputs`` writes these anew, and the
pictures that come from a page; the tests compare them, and refuse an output in a plain fence.
"""

import doctest
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

from typer.testing import CliRunner

from pinesy.cli.app import app

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PICTURES = DOCS / "pictures"
DOCUMENTS = [README, *sorted(DOCS.rglob("*.md"))]
RECORDS = DOCS / "results" / "records"
SHELLS = ("bash", "sh", "shell", "console")
#: Commands that a document may show and that the tests do not run: they install or build.
NOT_RUN = ("pip", "python -m pip", "python3 -m pip", "git", "make", "cd", "uv", "export", "source")
#: Experiments, which take minutes or hours; reports of their records are run.
EXPERIMENTS = (
    "addition",
    "sudoku",
    "rsbench",
    "shortcuts",
    "guarantees",
    "fillings",
    "paths",
    "pairings",
    "puzzles",
    "possibilistic-labels",
    "long-sums",
    "automata",
)
TOO_LONG = tuple(f"python -m reproduction {name} " for name in EXPERIMENTS)
RUN = ("pinesy ", "python -m reproduction report ", "curl ")
#: The service that a page starts, in a process of its own until the end of the page; its requests
#: name the port that it has by default.
SERVE, SERVICE_PORT = "pinesy serve ", "127.0.0.1:8800"
SECONDS = 60
#: Columns at which sentences of outputs are wrapped.
WIDTH = 88

FENCE = re.compile(r"^( *)(`{3,}|~{3,})([^\n`]*)\n(.*?)^ *\2`* *$", re.MULTILINE | re.DOTALL)


#: The fence of a block that shows what the block before it prints.
OUTPUT = ("text", "output")
#: What running a page writes, by the file of docs that holds it.
WRITTEN = {
    DOCS / "notebooks.md": {PICTURES / "cascade-graph.svg": "cascade-graph.svg"},
    DOCS / "experiments.md": {DOCS / "results" / "results.md": "results.md"},
}
#: Plots of what a page computes: the variable of the page, and the kind of the plot.
PLOTS = {DOCS / "tables-tutorial.md": {PICTURES / "titanic-coverage.svg": ("report", "coverage")}}
#: Settings of Matplotlib for pictures with the same bytes each time.
SVG_STYLE: Any = {"svg.hashsalt": "pinesy", "svg.fonttype": "none", "savefig.transparent": False}
#: Pictures that an example draws into the file that it is given.
EXAMPLE_PICTURES = {PICTURES / "drift-alarm.svg": ROOT / "examples" / "drift_alarm.py"}


@dataclass(frozen=True)
class Block:
    """A fenced block of a document.

    Attributes
    ----------
    language, text, line : its language, its text, and the line it starts on
    span : where its text begins and ends in the document
    is_output : whether it shows what the block before it prints
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


def run_pinesy(command: str) -> str:
    """Run a ``pinesy`` command here: a process of its own would load all libraries again."""
    done = CliRunner().invoke(app, shlex.split(command)[1:], prog_name="pinesy")
    assert done.exit_code == 0, f"{command}\n{done.output}"
    return done.stdout


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


@contextmanager
def running_service(command: str, cwd: Path) -> Iterator[str]:
    """Run ``pinesy serve`` at any free port; yield its address without ``http://``."""
    process = subprocess.Popen(
        [sys.executable, "-m", *shlex.split(command), "--port", "0"],
        cwd=cwd,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = re.search(r"http://(\S+)", process.stdout.readline())
        assert address is not None, f"{command}: did not start"
        yield address[1]
    finally:
        process.terminate()
        process.communicate(timeout=SECONDS)


def run_command(command: str, cwd: Path) -> str:
    """Run a command, by a shell only if it is more than a call of ``pinesy``; return its output."""
    if command.startswith("pinesy ") and not set(command) & set("|<>;&$"):
        return run_pinesy(command)
    return run_shell(command, cwd)


def fold(text: str) -> str:
    """Return an output with its sentences wrapped; tables, whose columns two spaces part, stay."""
    lines = []
    for line in text.splitlines():
        content = line.lstrip()
        indent = line.removesuffix(content)
        is_sentence = len(line) > WIDTH and "  " not in content
        wrap = partial(textwrap.wrap, width=WIDTH, break_long_words=False, break_on_hyphens=False)
        inner = f"{indent}    "
        lines += wrap(line, subsequent_indent=inner) if is_sentence else [line.rstrip()]
    return "".join(f"{line}\n" for line in lines)


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
    namespace : the variables of its Python blocks
    """

    blocks: list[Block]
    text: str
    namespace: dict[str, Any]


def run_document(document: Path, cwd: Path) -> Run:
    """Run all there is to run of a document, in order."""
    with ExitStack() as services:
        return _run_blocks(document, cwd, services)


def _run_blocks(document: Path, cwd: Path, services: ExitStack) -> Run:
    address = SERVICE_PORT
    namespace: dict[str, Any] = {"__name__": "__main__"}
    text = document.read_text(encoding="utf-8")
    done, parts, end, printed = [], [], 0, StringIO()
    for block in blocks(text):
        if block.language in ("python", "py", "pycon"):
            printed = StringIO()
            with redirect_stdout(printed):
                run_python(block, document, namespace)
            done.append(block)
        elif block.language in SHELLS:
            lines, printed = commands(block), StringIO()
            for command in lines:
                if command.startswith(SERVE):
                    address = services.enter_context(running_service(command, cwd))
                elif not command.startswith((*NOT_RUN, *TOO_LONG)):
                    assert command.startswith(RUN), f"{document.name}: who runs {command!r}?"
                    printed.write(run_command(command.replace(SERVICE_PORT, address), cwd))
            done.append(block)
        elif block.is_output:
            parts += [text[end : block.span[0]], fold(printed.getvalue())]
            end = block.span[1]
        elif block.language == "text":
            first = block.text.partition("\n")[0]
            assert not first or first not in printed.getvalue(), (
                f"{document.name}: an output in a plain fence: {first!r}; write ```text output"
            )
    return Run(done, "".join([*parts, text[end:]]), namespace)


def prepare(document: Path, cwd: Path) -> None:
    """Put what a document finds in its directory there."""
    shutil.copytree(ROOT / "examples", cwd / "examples")
    if "python -m reproduction report" in document.read_text(encoding="utf-8"):
        shutil.copytree(RECORDS, cwd / RECORDS.relative_to(ROOT))


def written_files(document: Path, run: Run, cwd: Path) -> dict[Path, str]:
    """Return what running a document has written and plotted, by the files of docs that hold it."""
    files = WRITTEN.get(document, {}).items()
    contents = {path: (cwd / file).read_text(encoding="utf-8") for path, file in files}
    for path, (variable, kind) in PLOTS.get(document, {}).items():
        contents[path] = draw_plot(run.namespace[variable], kind)
    return contents


def draw_plot(report: Any, kind: str) -> str:
    """Return a plot of a report as SVG, without names and dates of the moment."""
    import matplotlib as mpl

    stream = StringIO()
    metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with mpl.rc_context(SVG_STYLE):
        report.plot(kind=kind).figure.savefig(stream, format="svg", metadata=metadata)
    text = stream.getvalue()
    return text[text.index("<svg") :]


def draw_example(example: Path, cwd: Path) -> str:
    """Return the picture that an example draws, without names and dates of the moment."""
    import matplotlib as mpl

    file = cwd / "picture.svg"
    with (
        mpl.rc_context(SVG_STYLE),
        patch.dict(os.environ, SOURCE_DATE_EPOCH="0"),
        patch.object(sys, "argv", [str(example), str(file)]),
        redirect_stdout(StringIO()),
    ):
        runpy.run_path(str(example), run_name="__main__")
    return file.read_text(encoding="utf-8")


def main() -> None:
    """Write the outputs of all documents that show some, and what running them writes."""
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        if any(block.is_output for block in blocks(text)) or document in {*WRITTEN, *PLOTS}:
            with tempfile.TemporaryDirectory() as directory, chdir(directory):
                prepare(document, Path(directory))
                run = run_document(document, Path(directory))
                files = {document: run.text} | written_files(document, run, Path(directory))
            for path, content in files.items():
                _write(path, content)
    for picture, example in EXAMPLE_PICTURES.items():
        with tempfile.TemporaryDirectory() as directory:
            _write(picture, draw_example(example, Path(directory)))


def _write(path: Path, content: str) -> None:
    state = "same" if path.read_text(encoding="utf-8") == content else "written"
    path.write_text(content, encoding="utf-8")
    print(f"{path.relative_to(ROOT)}: {state}")  # noqa: T201


if __name__ == "__main__":
    main()
