"""The command ``pinesy induce``: rules from a table."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import pinesy
from pinesy.cli import options
from pinesy.exceptions import DataError

RulesOutput = Annotated[
    Path, typer.Option("--output", "-o", help="The .rules or .json file to write.")
]
Target = Annotated[str, typer.Option(metavar="NAME", help="The column that the rules predict.")]
MaxRules = Annotated[
    int | None, typer.Option(min=1, help="The most rules that give points to a class.")
]
MaxConditions = Annotated[int, typer.Option(min=1, help="The most conditions of a rule.")]
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


def induce(
    data: options.SamplesFile,
    target: Target,
    output: RulesOutput,
    max_rules: MaxRules = None,
    max_conditions: MaxConditions = 4,
    monotone: Monotone = None,
    seed: Seed = 0,
    ids: Leave = None,
    separator: options.Separator = None,
    decimal: options.Decimal = ".",
) -> None:
    """Induce rules from a table: short rules that give points to the classes.

    Columns of numbers are cut where that helps, others are categories; blank
    cells are unknown. The rules are written as a file that every command takes.
    Interrupted by Ctrl-C, the best rules so far are written.

    [bold]Examples[/bold]
      pinesy induce patients.csv --target diagnosis -o model.rules
      pinesy evaluate model.rules others.csv
    """
    options.check_output(output, [".rules", ".json"], [data])
    table = read_table(data, separator, decimal)
    for name in ids or ():
        if name not in table:
            raise DataError(f"{data}: there is no column {name!r}")
    rules = pinesy.induce(
        table.drop(columns=list(ids or ())),
        target,
        max_rules=max_rules,
        max_conditions=max_conditions,
        monotone=_directions(monotone or ()),
        seed=seed,
    )
    pinesy.save(rules, output)
    typer.echo(f"{rules!r}\nwritten to {output}")


def read_table(path: Path, separator: str | None, decimal: str) -> Any:
    """Read a file as a table of pandas; truth values are the texts they are in the file."""
    try:
        import pandas
    except ImportError:
        raise DataError(
            "inducing rules from a file needs pandas; install it with: pip install 'pinesy[frame]'"
        ) from None
    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    try:
        table = _READERS[path.suffix](pandas, path, separator, decimal)
    except KeyError:
        raise DataError(f"{path}: a table is a file that ends in {', '.join(_READERS)}") from None
    except (ValueError, UnicodeError, OSError, ImportError) as error:
        raise DataError(f"{path}: it cannot be read as a table: {error}") from None
    truths = list(table.select_dtypes("bool"))
    return table.astype(dict.fromkeys(truths, str))


def _read_csv(pandas: Any, path: Path, separator: str | None, decimal: str) -> Any:
    if separator is None:
        with path.open(encoding="utf-8") as file:
            separator = max(",;\t", key=file.readline().count)
    return pandas.read_csv(path, sep=separator, decimal=decimal, skipinitialspace=True)


def _read_lines(pandas: Any, path: Path, *_: Any) -> Any:
    return pandas.read_json(path, lines=path.suffix != ".json")


_READERS: dict[str, Callable[..., Any]] = {
    ".csv": _read_csv,
    ".jsonl": _read_lines,
    ".ndjson": _read_lines,
    ".json": _read_lines,
    ".parquet": lambda pandas, path, *_: pandas.read_parquet(path),
}


def _directions(texts: Sequence[str]) -> dict[str, int]:
    """Read directions as the command line takes them.

    Examples
    --------
    >>> _directions(["glucose=+1", "age=-1"])
    {'glucose': 1, 'age': -1}
    """
    found = {}
    for text in texts:
        name, _, sign = text.rpartition("=")
        if not name or sign not in ("+1", "1", "-1"):
            raise typer.BadParameter(
                f"{text!r}: write it as NAME=+1 or NAME=-1", param_hint="--monotone"
            )
        found[name] = int(sign)
    return found
