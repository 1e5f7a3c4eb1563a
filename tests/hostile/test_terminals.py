r"""What files and arguments say moves no cursor: control characters are shown, as ``\x1b``."""

import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from hostile.writers import COMMANDS, GRAPH_FILES, READERS, program
from pinesy import Attribute, PinesyError, parse
from pinesy._common import console
from pinesy._common.validation import printable
from pinesy.cli.output import ResultRow, put_text, write_csv

#: Clears the screen; its one-character form; the text after it backwards; a new line.
EVIL = "\x1b[2J\x9b2J\u202eevil\r\n"
VALUE = json.dumps(EVIL)
RULES = f"""attribute a in {{{VALUE}, "y"}}
attribute b in {{{VALUE}, "z"}}
iff a in {{{VALUE}}} then b in {{{VALUE}}}
iff a in {{"y"}} then b in {{"z"}}
"""
DATA = "".join(
    json.dumps({"a": {EVIL: 1.0, "y": 0.25}, "b": value, "id": EVIL}) + "\n"
    for value in (EVIL, "z", EVIL, "z", EVIL, "z")
)
LOG = json.dumps(
    {
        "kind": "decision",
        **dict.fromkeys(("time", "request", "model", "pinesy"), EVIL),
        "sample": 0,
        "endpoint": "infer",
        "transform": "none",
        "inputs": {"a": EVIL},
        "outputs": {"b": {"outcome": "decided", "best": "z", "certainty": 1.0, "rules": []}},
    }
)
TABLE = f'kind,if a,then b\ndomain,"{{0, 1}}","{{0, 1}}"\nif,0,1{EVIL}\n'
#: Where the ordinary arguments of a command do not do.
OTHER = {
    "induce": ["induce", "PLAIN", "--target", "b"],
    "explain": ["explain", "RULES", "DATA", "--why-not", "z"],
    "backprop": ["backprop", "RULES", "DATA", "--target", f"b={EVIL}"],
    "audit": ["audit", "RULES", "DATA", "--method", "counts", "--folds", "2"],
}
NAMED = {name: OTHER.get(name, [*arguments]) for name, (arguments, _) in COMMANDS.items()}
NAMED |= READERS


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str]]:
    """Return a function that runs a command on evil files; all of it is looked at."""
    monkeypatch.setattr(console, "NOTICE_AFTER", 600.0)
    place = tmp_path / EVIL.strip()
    place.mkdir()
    known = {"RULES": "r.rules", "DATA": "d.jsonl", "TABLE": "t.csv", "TOTALS": "r.rules"}
    known |= {"PLAIN": "p.jsonl", "LOG": "l.jsonl"}
    plain = "".join(f'{{"a": {v}, "b": {v}}}\n' for v in (VALUE, '"z"') * 4)
    texts = {"r.rules": RULES, "d.jsonl": DATA, "t.csv": TABLE, "p.jsonl": plain, "l.jsonl": LOG}
    for word, text in GRAPH_FILES.items():
        known[word] = f"{word.lower()}{'.rules' if word == 'RELATIONS' else '.tsv'}"
        is_graph = word == "TRIPLES"
        texts[known[word]] = text.replace("b\t", EVIL.strip() + "\t") if is_graph else text
    for name, text in texts.items():
        (place / name).write_text(text, newline="")

    def done(name: str, words: list[str]) -> tuple[int, str]:
        given = [str(place / known[word]) if word in known else word for word in words]
        found = CliRunner().invoke(program(name), given, terminal_width=100)
        assert found.exception is None or isinstance(found.exception, SystemExit)
        odd = {c for c in found.output if not c.isprintable()} - {"\n", "\t"}
        assert odd == set(), found.output
        return found.exit_code, found.output

    return done


@pytest.mark.parametrize("name", sorted({*NAMED} - {"report", "export onnx", "export page"}))
def test_commands_show_what_is_in_files(
    run: Callable[..., tuple[int, str]], tmp_path: Path, name: str
) -> None:
    output = ["-o", str(tmp_path / f"o{COMMANDS[name][1]}")] if name in COMMANDS else []
    code, _ = run(name, [*NAMED[name], *output])
    assert code == 0 or name in ("import table", "check")
    if name in COMMANDS and name not in ("learn", "induce", "calibrate", "export sql"):
        run(name, NAMED[name])
    run(name, [word if word != "RULES" else f"gone{EVIL}.rules" for word in NAMED[name]] + output)
    run(name, [word if word != "DATA" else f"gone{EVIL}.jsonl" for word in NAMED[name]] + output)
    run(name, [*NAMED[name], "-o", f"{EVIL}/o.x"])
    run(name, [*NAMED[name], f"--{EVIL}"])
    run(name, [EVIL])


@pytest.mark.parametrize("form", ["table", "jsonl"])
def test_results_show_values(run: Callable[..., tuple[int, str]], form: str) -> None:
    code, shown = run("infer", ["infer", "RULES", "DATA", "--format", form, "--id", "id"])
    assert code == 0
    assert "2J" in shown
    if form == "jsonl":
        line = json.loads(shown.splitlines()[0])
        assert (line["id"], line["b"]["best"]) == (EVIL, EVIL)


@pytest.mark.parametrize("terminal", [False, True])
def test_csv_is_changed_on_terminals_alone(terminal: bool) -> None:
    class Row(ResultRow):
        def to_dict(self) -> dict[str, str]:
            return {EVIL: EVIL}

    stream = io.StringIO(newline="")
    stream.isatty = lambda: terminal  # type: ignore[method-assign]
    write_csv(stream, [Row()])
    wanted = [[printable(EVIL)]] * 2 if terminal else [[EVIL]] * 2
    assert list(csv.reader(io.StringIO(stream.getvalue(), newline=""))) == wanted


@pytest.mark.parametrize("terminal", [False, True])
def test_texts_are_changed_on_terminals_alone(
    terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO(newline="")
    stream.isatty = lambda: terminal  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stdout", stream)
    text = f"a\n{EVIL.strip()}\n"
    put_text(None, text)
    assert stream.getvalue() == (f"a\n{printable(EVIL.strip())}\n" if terminal else text)


def test_names_of_files_in_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    bar = console.TerminalBar(f"reading [/b]{EVIL}", 0, 2)
    bar.update(f"[red]reading [/b]{EVIL}", 1)
    bar.stop()
    screen = Console(file=(stream := io.StringIO()), width=200)
    screen.print(bar._progress.get_renderable())
    assert "[red]reading [/b]" in stream.getvalue()
    assert not {"\x1b", "\x9b", "\u202e"} & {*stream.getvalue()}


def test_errors_and_lists_of_known_names() -> None:
    rules = parse(RULES)
    evil = Attribute("c", [EVIL, "y"])
    for wrong in (
        lambda: evil.isin({"q"}),
        lambda: evil.isin({EVIL + "q"}),
        lambda: rules.infer({"a": EVIL + "q"}),
        lambda: rules.infer({EVIL: "y"}),
        lambda: rules[EVIL],
        lambda: parse(f"attribute {EVIL}"),
    ):
        with pytest.raises(PinesyError) as caught:
            wrong()
        assert "\x1b" not in str(caught.value)
        assert "\x9b" not in str(caught.value)
