"""The command ``pinesy ask``."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from pinesy._common.validation import printable_json
from pinesy.cli import options
from pinesy.cli.output import MAX_SHOWN, Screen, rich_table, say, shortened_note
from pinesy.exceptions import DataError
from pinesy.model.storage import load
from pinesy.relations import GroundAtom, KnownGraph, RelationalRules, Table, load_facts

Facts = Annotated[
    Path,
    typer.Argument(
        metavar="FACTS",
        help="A directory with a CSV or TSV file for each relation, one such file, a file of "
        "triples (head, relation, tail), or a graph that was saved as .json.",
    ),
]
Question = Annotated[
    str, typer.Argument(metavar="QUESTION", help="An atom such as 'grandparent(ann, Z)'.")
]
Certain = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Only what is at least this certain.")
]
Why = Annotated[bool, typer.Option("--why", help="Say why, of a question without variables.")]
WhyNot = Annotated[
    bool,
    typer.Option(
        "--why-not",
        help="Say which facts are missing, for it to be --certain or as the rules allow.",
    ),
]
Format = Annotated[Literal["text", "json"], typer.Option("--format", help="How to print.")]


def ask(
    rules: options.RulesFile,
    facts: Facts,
    question: Question,
    certain: Certain = 0.0,
    why: Why = False,
    why_not: WhyNot = False,
    form: Format = "text",
    everything: options.All = False,
) -> None:
    """Ask rules with variables about a graph of facts.

    Words that begin with a capital letter are variables. The answers come with
    how certain and how possible they are. A CSV file has a header; its columns are
    entities, and optionally certainty and possibility.

    [bold]Examples[/bold]
      pinesy ask examples/family.rules examples/family 'grandparent(ann, Z)'
      pinesy ask examples/family.rules examples/family 'ancestor(ann, fay)' --why
      pinesy ask examples/family.rules examples/family 'sibling(bob, eve)' --why-not
    """
    relational = load(rules)
    if not isinstance(relational, RelationalRules):
        raise DataError(f"{rules}: these rules declare no relation; see pinesy infer")
    known = relational.infer(load_facts(facts, relational.relations))
    if why or why_not:
        _explain(known, question, certain, why_not, form)
        return
    answer = known.ask(question, certain=certain)
    if form == "json":
        say(printable_json(_content(answer)))
    elif isinstance(answer, GroundAtom):
        say(answer)
    else:
        _print_table(answer, everything)


def _explain(known: KnownGraph, question: str, certain: float, why_not: bool, form: str) -> None:
    answer = known.why_not(question, certain or None) if why_not else known.why(question)
    say(printable_json(answer.to_dict()) if form == "json" else answer.text())


def _content(answer: Table | GroundAtom) -> object:
    """Return an answer as plain data."""
    if isinstance(answer, Table):
        return answer.to_dict()
    return {"certain": answer.certain, "possible": answer.possible}


def _print_table(table: Table, everything: bool) -> None:
    if not len(table):
        say("no answer")
        return
    most = len(table) if everything else MAX_SHOWN
    head, *lines = table.lines(most)
    screen = Screen()
    screen.print(rich_table(head, lines, head[len(table.titles) :]))
    if len(table) > most:
        screen.print(shortened_note(len(table) - most, "answer", "--all"))
