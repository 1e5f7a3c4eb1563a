"""The command ``pinesy induce``: rules from a table."""

from collections.abc import Sequence
from typing import Annotated

import typer

import pinesy
from pinesy._common.reports import text_table
from pinesy.cli import options
from pinesy.cli.output import WIDTH, say, say_lines
from pinesy.cli.show_command import CARD_ROWS
from pinesy.exceptions import DataError
from pinesy.induction.score_card import HEAD
from pinesy.samples import read_table

Target = Annotated[str, typer.Option(metavar="NAME", help="The column that the rules predict.")]
MaxRules = Annotated[
    int | None, typer.Option(min=1, help="The most rules that give points to a class.")
]
MaxConditions = Annotated[
    int | None,
    typer.Option(min=1, help="The most conditions of a rule; 4 for two classes, 6 for more."),
]
Small = Annotated[bool, typer.Option("--small", help="Prune rules that matter little.")]
Monotone = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=+1|-1",
        help="A column that may only speak for later classes where it rises, or earlier ones "
        "(repeatable).",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same rules.")]
Leave = Annotated[
    list[str] | None,
    typer.Option("--id", metavar="NAME", help="A column to leave out (repeatable)."),
]


Features = Annotated[
    list[str] | None,
    typer.Option(
        "--feature",
        metavar="NAME",
        help="A column to use, also one of dates or identifiers (repeatable). By default all "
        "others.",
    ),
]


def induce(
    data: options.SamplesFile,
    target: Target,
    output: options.RulesOutput,
    max_rules: MaxRules = None,
    max_conditions: MaxConditions = None,
    small: Small = False,
    monotone: Monotone = None,
    seed: Seed = 0,
    ids: Leave = None,
    features: Features = None,
    separator: options.Separator = None,
    decimal: options.Decimal = ".",
) -> None:
    """Induce rules from a table: short rules that give points to the classes.

    Columns of numbers are cut where that helps, others are categories; blank
    cells, and words such as NA, are unknown. Columns of dates, and of identifiers
    (texts or running numbers that are nearly unique), are not used unless
    --feature names them. The score card is printed, and the rules are written, with
    it, as a file that every command takes.
    Interrupted by Ctrl-C, the best rules so far are written.

    [bold]Examples[/bold]
      pinesy induce examples/weather_days.csv --target street -o street.rules
      pinesy evaluate model.rules others.csv
    """
    options.check_output_file(output, [".rules", ".json"], [data])
    table = read_table(data, separator, decimal)
    for name in ids or ():
        if name not in table:
            raise DataError(f"{data}: there is no column {name!r}")
    rules = pinesy.induce(
        {name: column for name, column in table.items() if name not in (ids or ())},
        target,
        max_rules=max_rules,
        max_conditions=max_conditions,
        small=small,
        monotone=_directions(monotone or ()),
        features=features or None,
        seed=seed,
    )
    pinesy.save(rules, output)
    card = rules.card
    say_lines(f"{card.summary[0].upper()}{card.summary[1:]}.")
    if len(card.lines) <= CARD_ROWS:
        say(f"\n{text_table([HEAD, *card.rows()], WIDTH)}")
        say_lines(f"{card.leads_text}\n")
    say(f"written to {output}")


def _directions(texts: Sequence[str]) -> dict[str, int]:
    """Read directions as the command line takes them.

    Examples
    --------
    >>> _directions(["glucose=+1", "age=-1"])
    {'glucose': 1, 'age': -1}
    """
    directions = {}
    for text in texts:
        name, _, sign = text.rpartition("=")
        if not name or sign not in ("+1", "1", "-1"):
            raise typer.BadParameter(
                f"{text!r}: write it as NAME=+1 or NAME=-1", param_hint="--monotone"
            )
        directions[name] = int(sign)
    return directions
