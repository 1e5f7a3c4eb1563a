"""Every command, and what it writes: a new one that is in no list here fails the tests."""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from cli.conftest import RULES
from pinesy import NeuroSymbolic, parse, save
from pinesy.cli.app import app
from reproduction import Experiment, Store
from reproduction.commands import app as experiments
from reproduction.tests.synthetic import a_record

DATA: list[dict[str, Any]] = [
    {"left": 1, "right": 2, "total": 3, "size": "small"},
    {"left": 3, "right": 3, "total": 6},
]
TABLE = 'kind,if a,then b\ndomain,"{0, 1}","{0, 1}"\nif,0,1\niff,1,0\n'
#: A log of one decision, which the rules make otherwise.
LOG = {
    "kind": "decision",
    "endpoint": "infer",
    "model": "",
    "transform": "none",
    "inputs": DATA[0],
    "outputs": {"total": {"outcome": "decided", "best": 4, "rules": []}},
}
SMALL = "attribute a in {0, 1}\nattribute b in {0, 1}\nif a in {0} then b in {1}\n"
#: The commands that write a file: their arguments, and the suffix of what they write.
COMMANDS: dict[str, tuple[list[str], str]] = {
    "infer": (["infer", "RULES", "DATA"], ".jsonl"),
    "explain": (["explain", "RULES", "DATA", "--attribute", "total"], ".txt"),
    "learn": (["learn", "RULES", "DATA"], ".json"),
    "induce": (["induce", "DATA", "--target", "total"], ".json"),
    "calibrate": (["calibrate", "RULES", "DATA"], ".json"),
    "evaluate": (["evaluate", "RULES", "DATA"], ".json"),
    "audit": (["audit", "RULES", "DATA"], ".json"),
    "backprop": (["backprop", "RULES", "DATA", "--target", "total=3"], ".jsonl"),
    "export onnx": (["export", "onnx", "RULES"], ".onnx"),
    "export page": (["export", "page", "RULES", "--data", "DATA"], ".html"),
    "export problog": (["export", "problog", "TOTALS"], ".pl"),
    "export cnf": (["export", "cnf", "TOTALS"], ".cnf"),
    "export table": (["export", "table", "TOTALS"], ".csv"),
    "export sql": (["export", "sql", "RULES", "--dialect", "sqlite", "--table", "t"], ".sql"),
    "export c": (["export", "c", "RULES"], ".c"),
    "mine": (["mine", "TRIPLES"], ".rules"),
    "import table": (["import", "table", "TABLE"], ".rules"),
    "replay": (["replay", "LOG", "--model", "RULES"], ".jsonl"),
    "report": (["report", "--results", "RECORDS"], ".md"),
}
#: Files of a graph and of an equation system, by what stands for them in arguments.
GRAPH_FILES = {
    "RELATIONS": "relation near(place, place)\nrelation by(place, place)\n",
    "TRIPLES": "".join(f"{a}\t{r}\t{b}\n" for a, b in ("ab", "bc", "ca") for r in ("near", "by")),
    "MATRIX": "0.5\t0.2\n",
    "RIGHT": "0.5\n",
}
#: Those that write nothing, with arguments.
READERS: dict[str, list[str]] = {
    "check": ["check", "TOTALS"],
    "show": ["show", "RULES"],
    "shortcuts": ["shortcuts", "RULES"],
    "ask": ["ask", "RELATIONS", "TRIPLES", "near(a, X)"],
    "solve": ["solve", "MATRIX", "RIGHT"],
}
#: What `save` writes.
SAVES = (".rules", ".json", ".zip")
WRITERS = [*COMMANDS, *SAVES]
OLD = "what was there before"
#: Those that take long or ask somebody. They write as the others do, which
#: tests/architecture/test_writing.py sees; reproduction/tests/test_resume.py kills experiments.
LONG = {
    *("demo", "serve", "studio", "addition", "sudoku", "rsbench"),
    *(
        "guarantees",
        "pairings",
        "puzzles",
        "fillings",
        "graphs",
        "paths",
        "tables",
        "possibilistic-labels",
        "long-sums",
        "automata",
    ),
}


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the commands of a program, with the groups that they are in."""
    command = getattr(command, "loaded", command)
    if not hasattr(command, "commands"):
        yield " ".join(path)
        return
    for name, part in command.commands.items():
        yield from leaves(part, (*path, name))


def every_command() -> set[str]:
    """Return all commands of both programs."""
    return {name for one in (app, experiments) for name in leaves(typer.main.get_command(one))}


def files(place: Path) -> dict[str, Path]:
    """Write what commands read; return the files by what stands for them in arguments."""
    names = {"RULES": "r.rules", "DATA": "d.jsonl", "TABLE": "t.csv", "TOTALS": "totals.rules"}
    names["LOG"] = "log.jsonl"
    found = {word: place / name for word, name in names.items()} | {"RECORDS": place / "records"}
    found["RULES"].write_text(RULES)
    found["DATA"].write_text("".join(json.dumps({**DATA[0], **d}) + "\n" for d in DATA))
    found["TABLE"].write_text(TABLE)
    found["TOTALS"].write_text(SMALL)
    found["LOG"].write_text(json.dumps(LOG) + "\n")
    for word, text in GRAPH_FILES.items():
        found[word] = place / f"{word.lower()}{'.rules' if word == 'RELATIONS' else '.tsv'}"
        found[word].write_text(text)
    Store(found["RECORDS"]).write(
        Experiment("addition", 1, "normal", "antipignistic", 0), a_record()
    )
    return found


def program(command: str) -> typer.Typer:
    """Return the program that a command is of."""
    return experiments if command == "report" else app


def asked(name: str, place: Path) -> tuple[list[str], Path]:
    """Return the arguments of a command (for what is saved there are none), and its output."""
    if name in SAVES:
        return [], place / f"out{name}"
    arguments, suffix = COMMANDS[name] if name in COMMANDS else (READERS[name], "")
    known, path = files(place), place / f"out{suffix}"
    words = [str(known.get(word, word)) for word in arguments]
    return words + ["-o", str(path)] * (name in COMMANDS), path


class Camera:
    """A perception that has a file in a model."""

    suffix = ".bin"

    def predict_proba(self, data: Any) -> Any:
        """Return the data."""
        return data

    def save(self, path: Path) -> None:
        """Write nothing of importance."""
        path.write_bytes(b"weights" * 1000)

    def restore(self, path: Path) -> None:
        """Take no notice."""


def saved(path: Path) -> None:
    """Save what belongs into such a file."""
    rules = parse(SMALL)
    save(NeuroSymbolic(Camera(), rules) if path.suffix == ".zip" else rules, path)


def old_file(path: Path) -> bytes:
    """Put a file there that a writer may replace, and return its content."""
    old = OLD.encode()
    if path.suffix == ".zip":
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr(zipfile.ZipInfo("neurosymbolic.json"), OLD)
        old = stream.getvalue()
    path.write_bytes(old)
    return old
