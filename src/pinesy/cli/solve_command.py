"""The command ``pinesy solve``."""

from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from pinesy._common.reports import count_text
from pinesy._common.validation import printable_json
from pinesy.cli.number_files import read_matrix, read_vector
from pinesy.cli.output import say, say_wrapped
from pinesy.equations import COMPOSITIONS, System, consistent_rows
from pinesy.equations.compositions import as_composition
from pinesy.exceptions import DomainError

#: Numbers of a vector, and rows that disagree, in text.
NUMBERS = 40


def _check_composition(name: str) -> str:
    try:
        return as_composition(name).name
    except DomainError as error:
        raise typer.BadParameter(str(error)) from None


Matrix = Annotated[
    Path, typer.Argument(metavar="MATRIX", help="The matrix: a line of numbers for each equation.")
]
Right = Annotated[Path, typer.Argument(metavar="RIGHT", help="The right-hand side: one column.")]
CompositionName = Annotated[
    str,
    typer.Option(
        "--composition",
        metavar="NAME",
        callback=_check_composition,
        help=f"One of {', '.join(COMPOSITIONS)}.",
    ),
]
Limit = Annotated[int, typer.Option(min=0, help="Minimal (maximal) solutions to print.")]
Exact = Annotated[bool, typer.Option("--exact", help="Compute in fractions, for small systems.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def solve(
    matrix: Matrix,
    right: Right,
    composition: CompositionName = "max-min",
    limit: Limit = 10,
    exact: Exact = False,
    as_json: Json = False,
) -> None:
    r"""Solve fuzzy relational equations, or report how far they are from solvable.

    MATRIX and RIGHT are text files of numbers in [0, 1]. A system with a solution has
    a greatest one and minimal ones (with a minimum: a lowest one and maximal
    ones); all others lie between. Of a system without a solution you get the
    distance to the nearest right-hand side that has one, the vector that comes
    nearest, and the rows that disagree. Rows are numbered from 1.

    [bold]Examples[/bold]
      pinesy solve examples/relation.csv examples/relation_right.csv \
        --composition max-product
      pinesy solve A.csv b.csv --composition min-goedel-implication --json
      pinesy solve A.csv b.csv --exact --limit 100
    """
    system = System(read_matrix(matrix, exact), read_vector(right, exact), composition)
    report = _report(system, limit)
    if as_json:
        say(printable_json(report, indent=2, default=_json_number))
    else:
        _print_report(system, report)


def _report(system: System, limit: int) -> dict[str, Any]:
    """Return what is known of a system, as JSON."""
    composition = system.composition
    report: dict[str, Any] = {
        "composition": composition.name,
        "equations": system.a.shape[0],
        "unknowns": system.a.shape[1],
        "consistent": system.is_consistent,
        "distance": system.chebyshev_distance,
        "attained": system.is_attained,
    }
    if system.is_consistent:
        solutions = list(islice(system.opposite_solutions(), limit + 1))
        report[f"{composition.extreme}_solution"] = system.extreme_solution.tolist()
        report[f"{composition.many}_solutions"] = [x.tolist() for x in solutions[:limit]]
        report["all_listed"] = len(solutions) <= limit
        return report
    if system.is_attained:
        solution, approximation = system.extreme_approximate_solution, system.extreme_approximation
        report[f"{composition.extreme}_approximate_solution"] = solution.tolist()
        report[f"{composition.extreme}_approximation"] = approximation.tolist()
    conflict = system.disagreement()
    report["row"] = conflict.row + 1
    report["blocking_rows"] = (conflict.blocking_rows + 1).tolist()
    report["rows_that_disagree"] = (conflict.rows + 1).tolist()
    report["consistent_rows"] = (consistent_rows(system) + 1).tolist()
    return report


def _print_report(system: System, report: dict[str, Any]) -> None:
    composition, distance = system.composition, _text(report["distance"])
    size = f"{count_text(report['equations'], 'equation')}, {composition.name}"
    if report["consistent"]:
        say_wrapped(f"Consistent ({size}).")
        _print_vector(f"{composition.extreme} solution", report[f"{composition.extreme}_solution"])
        solutions = report[f"{composition.many}_solutions"]
        for solution in solutions:
            _print_vector(f"{composition.many} solution", solution)
        if not report["all_listed"]:
            say(f"There are more {composition.many} solutions; --limit prints more.")
        return
    say_wrapped(f"No solution ({size}): the nearest right-hand side is at distance {distance}.")
    rows = report["rows_that_disagree"]
    say_wrapped(f"Rows that disagree: {_listing(rows)}; row {report['row']} is not reached.")
    dropped = report["equations"] - len(report["consistent_rows"])
    say(f"Without {count_text(dropped, 'row')} it is consistent (--json lists the others).")
    if report["attained"]:
        extreme = composition.extreme
        _print_vector(f"{extreme} nearest", report[f"{extreme}_approximate_solution"])
        _print_vector("right-hand side", report[f"{extreme}_approximation"])
    else:
        say_wrapped("No right-hand side lies at that distance; some lie as near to it as you like.")


def _print_vector(title: str, numbers: list[Any]) -> None:
    say_wrapped(f"  {title + ':':<19}{_listing(map(_text, numbers))}", indent=21)


def _listing(numbers: Any) -> str:
    texts = list(map(str, numbers))
    omitted = f" ... ({len(texts)} in all)" if len(texts) > NUMBERS else ""
    return " ".join(texts[:NUMBERS]) + omitted


def _text(number: Any) -> str:
    return str(number) if isinstance(number, Fraction) else f"{number:.6g}"


def _json_number(number: Any) -> str:
    """Write a fraction as text."""
    return str(number)
