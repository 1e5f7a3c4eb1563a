"""The options and arguments of the commands."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from math import nan
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

import pinesy
from pinesy.cli.results import Format
from pinesy.exceptions import DataError


class Transform(StrEnum):
    """What makes possibilities of the data's numbers."""

    NONE = "none"
    ANTIPIGNISTIC = "antipignistic"
    MINIMUM_SPECIFICITY = "minimum-specificity"

    @property
    def function(self) -> Callable[[Any], Any] | None:
        """The function of the library."""
        return None if self is Transform.NONE else getattr(pinesy, self.replace("-", "_"))


class SearchMethod(StrEnum):
    """How tolerances are searched for."""

    PAPER = "paper"
    EXHAUSTIVE = "exhaustive"


RulesFile = Annotated[Path, typer.Argument(metavar="RULES", help="A .rules or .json file.")]
DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A .jsonl, .ndjson, .json, .csv or .parquet file; - for JSON Lines on stdin.",
    ),
]
OutputFile = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to this file, once it is whole.")
]
FORMAT_HELP = "By default what the output file is called; else table on a terminal, or jsonl."
FormatName = Annotated[Format | None, typer.Option("--format", help=FORMAT_HELP)]
OUTPUTS_HELP = "Infer this attribute (repeatable). By default all that no premise uses."
Outputs = Annotated[list[str] | None, typer.Option(metavar="NAME", help=OUTPUTS_HELP)]
BatchSize = Annotated[int, typer.Option(min=1, help="Samples held in memory at a time.")]
ReadSize = Annotated[int, typer.Option("--batch", min=1, help="Samples read at a time.")]
All = Annotated[bool, typer.Option("--all", help="Shorten nothing.")]
Attributes = Annotated[bool, typer.Option("--attributes", help="Show the attributes.")]
RuleTexts = Annotated[bool, typer.Option("--rules", help="Show the rules.")]
Cells = Annotated[bool, typer.Option("--partition", help="Show the cells of the outputs' domains.")]
Matrix = Annotated[bool, typer.Option("--matrix", help="Show the matrix M.")]
Numbers = Annotated[bool, typer.Option("--numbers", help="Show the matrix M in numbers.")]
SetName = Annotated[
    str | None, typer.Option("--set", metavar="NAME", help="Only the rules on this attribute.")
]
TransformName = Annotated[
    Transform,
    typer.Option("--transform", help="Make possibilities of the data's probabilities."),
]
SamplesFile = Annotated[
    Path,
    typer.Argument(metavar="DATA", help="A .jsonl, .ndjson, .json, .csv or .parquet file."),
]
ModelFile = Annotated[
    Path, typer.Option("--output", "-o", help="The .json file to write, once it is whole.")
]
Targets = Annotated[
    list[str] | None,
    typer.Option("--target", metavar="NAME", help="Only this attribute's targets (repeatable)."),
]
Tolerances = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[GROUP=]NUMBER",
        help="Leave out samples at this distance or more: for all rule sets, or for those that a "
        "name or pattern fits (repeatable).",
    ),
]
Validation = Annotated[
    Path | None,
    typer.Option(metavar="DATA", help="Search the tolerances that predict these samples best."),
]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        "--group",
        metavar="GROUP",
        help="With --validation: a name or pattern of rule sets that share a tolerance "
        "(repeatable). By default all share one.",
    ),
]
Search = Annotated[
    SearchMethod | None,
    typer.Option(
        help="With --validation: search as the paper does (by default), or try all combinations."
    ),
]
More = Annotated[bool, typer.Option("--more", help="Add samples to a model, given as RULES.")]
Earlier = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="DATA",
        help="With --more: a file that the model was learned from (repeatable). Only sometimes "
        "needed; an error then says so.",
    ),
]
DemoPage = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="The page with what came out.")
]
Tour = Annotated[
    bool, typer.Option("--tour", help="The paper's example and an addition, step by step.")
]
Worst = Annotated[int, typer.Option(min=0, help="Samples to print.")]


def check_learning(
    tolerance: object,
    validation: object,
    group: object,
    search: object,
    more: bool,
    earlier: object,
) -> None:
    """Refuse options of ``pinesy learn`` that do not go together, or would change nothing."""
    kept = "with --more a model keeps the tolerances it has"
    alone = "it tells of the search that --validation asks for, and that is not given"
    for wrong, option, why in (
        (more and validation, "--validation", kept),
        (more and tolerance, "--tolerance", kept),
        (validation and tolerance, "--tolerance", "--validation finds the tolerances itself"),
        (group and not validation, "--group", alone),
        (search and not validation, "--search", alone),
        (earlier and not more, "--earlier", "only --more reads files again, and is not given"),
    ):
        if wrong:
            raise typer.BadParameter(why, param_hint=option)


def check_output(output: Path, suffixes: Sequence[str], sources: Sequence[Path | None]) -> None:
    """Refuse, before any work is done, a file that cannot be the output."""
    if output.suffix not in suffixes:
        wanted = " or ".join(filter(None, [", ".join(suffixes[:-1]), suffixes[-1]]))
        raise typer.BadParameter(f"{output} does not end in {wanted}", param_hint="--output")
    if any(output.exists() and s and s.exists() and output.samefile(s) for s in sources):
        raise typer.BadParameter(
            f"{output} is read from too, and would be lost; write to another file",
            param_hint="--output",
        )
    if not output.parent.is_dir():
        raise DataError(f"{output}: cannot be written: there is no directory {output.parent}")


def read_tolerances(texts: Sequence[str]) -> Any:
    """Read tolerances as the command line takes them: ``0.05``, or ``c_*=0.05`` several times.

    Examples
    --------
    >>> read_tolerances(["c_*=0.05", "y_*=none"])
    {'c_*': 0.05, 'y_*': None}
    """
    if len(texts) == 1 and "=" not in texts[0]:
        return _tolerance(texts[0], texts[0])
    found: dict[str, float | None] = {}
    for text in texts:
        group, _, number = text.rpartition("=")
        if not group:
            _refuse_tolerance(
                f"{text!r}: with several, write each as GROUP=NUMBER, such as c_*=0.05"
            )
        if group in found:
            _refuse_tolerance(f"{text!r}: {group} has one already; give each once")
        found[group] = _tolerance(number, text)
    return found or None


def _tolerance(number: str, text: str) -> float | None:
    if number.strip().lower() == "none":
        return None
    try:
        found = float(number)
    except ValueError:
        found = nan
    if not found > 0.0:
        _refuse_tolerance(f"{text!r}: it must be a number > 0, or none to keep every sample")
    return found


def _refuse_tolerance(why: str) -> NoReturn:
    raise typer.BadParameter(why, param_hint="--tolerance")
