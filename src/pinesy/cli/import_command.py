"""The commands ``pinesy import``: rules from other programs."""

from pathlib import Path
from typing import Annotated

import typer

import pinesy
from pinesy.cli import options

imports = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")
TableSource = Annotated[
    Path, typer.Argument(metavar="TABLE", help="A decision table in a .csv or .xlsx file.")
]


@imports.callback()
def _about_imports() -> None:
    """Make rules of what other programs write."""


@imports.command("table")
def import_table(source: TableSource, output: options.RulesOutput) -> None:
    """Make rules of a decision table in a CSV or Excel file.

    The header says what columns hold: "if NAME" and "then NAME" conditions and
    conclusions, "s" and "r" parameters, "kind" whether a row is an if (the
    default), an iff, or the domain of each attribute:
      kind,    if age,            if pain,    then urgent,  r
      domain,  number cuts {65},  {no, yes},  {no, yes},
      if,      >= 65,             yes,        yes,          0.1
      iff,     -,                 no,         no,
    A cell is a value, a set {a, b}, a comparison, an interval [30, 65), or - for
    any. Formulas of Excel are refused, not evaluated.

    [bold]Examples[/bold]
      pinesy import table examples/weather_table.csv -o weather.rules
    """
    options.check_output_file(output, [".rules", ".json"], [source])
    pinesy.save(pinesy.read_decision_table(source), output)
