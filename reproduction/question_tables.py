"""The tables of docs/experiments.md that follow from the records: one for each question.

Figures of ours are means over runs, ± a standard error, and in brackets the number of runs. The
error is the larger of that over runs (the deviation, ``ddof=1``, divided by the root of their
number) and that of so many test samples, each right or wrong. Published figures have that over
runs, where a deviation is published. The runs of Addition share their 10,000 test images:
these errors are for comparisons on the same images, and the last line of each table says which
error the choice of the images adds.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Final

from pinesy._common.files import atomic_text, read_text
from pinesy.exceptions import DataError
from reproduction.experiments import PROBLEMS
from reproduction.fresh_puzzles import fresh_puzzles_table, read_fresh_puzzles
from reproduction.groups import RunGroup, grouped
from reproduction.pairings import pairings_table, read_pairings
from reproduction.published import Result, published_results
from reproduction.records import read_records
from reproduction.run_lines import Record
from reproduction.standard_errors import TEST_IMAGES, error_over_runs, mean_and_error

#: The columns: problems and sizes.
COLUMNS: Final = [(problem, size) for problem, sizes in PROBLEMS.items() for size in sizes]
TITLES: Final = [
    *(f"{'Addition' * (size == 1)}-{size}" for size in PROBLEMS["addition"]),
    *(f"{'Sudoku ' * (size == 4)}{size}x{size}" for size in PROBLEMS["sudoku"]),
]
NOTHING: Final = "–"
MARK: Final = re.compile(r"(<!-- records: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

Cell = Callable[[str, int], str]


def question_tables(directory: Path) -> dict[str, str]:
    """Return the tables in Markdown, by the name of their question; needs PyTorch."""
    from reproduction.automata import automata_table, read_automaton_record
    from reproduction.fewest_labels import labels_table, read_all_runs
    from reproduction.long_sums import read_sum_record, sum_table

    groups = [g for g in grouped(read_records(directory)) if not g.scale]
    ours, theirs = partial(our_cell, groups), published_cell
    labels: list[tuple[str, Cell]] = [
        ("the paper, antipignistic", partial(theirs, "normal", "Pi-NeSy-1")),
        ("the paper, minimum specificity", partial(theirs, "normal", "Pi-NeSy-2")),
        ("**pinesy**, same network, recipe as printed", partial(ours, "normal")),
        ("**pinesy**, same network, a better recipe", partial(ours, "better-eye")),
        ("the paper, DeepSoftLog's network", partial(theirs, "deepsoftlog-cnn", "Pi-NeSy-1")),
        ("**pinesy**, DeepSoftLog's network", partial(ours, "deepsoftlog-cnn")),
    ]
    others = "DeepProofLog DeepSoftLog CTSketch A-NeSI DeepStochLog NeuPSL NeurASP DeepProbLog"
    answers: list[tuple[str, Cell]] = [
        *(
            (name, partial(theirs, "normal", name))
            for name in (*others.split(), "Embed2Sym", "LTN")
        ),
        ("**pinesy**, DeepSoftLog's network", partial(ours, "answers-deepsoftlog-cnn")),
        ("**pinesy**, the paper's network", partial(ours, "answers")),
    ]
    few: list[tuple[str, Cell]] = [
        ("the paper, antipignistic", partial(theirs, "low-data", "Pi-NeSy-1")),
        ("the paper, minimum specificity", partial(theirs, "low-data", "Pi-NeSy-2")),
        ("**pinesy**, same network, recipe as printed", partial(ours, "low-data")),
    ]
    for rows, setting in (
        (labels, "normal"),
        (answers, "answers-deepsoftlog-cnn"),
        (few, "low-data"),
    ):
        rows.append(("error of the choice of test images", partial(images_cell, groups, setting)))
    return {
        "labels": table(labels),
        "answers": table(answers),
        "low-data": table(few),
        "recipes": recipes_table(groups),
        "pairings": pairings_table(_lines(directory / "pairings", read_pairings)),
        "puzzles": fresh_puzzles_table(_lines(directory / "fresh-puzzles", read_fresh_puzzles)),
        "long-sums": sum_table(_files(directory / "long-sums", read_sum_record)),
        "automata": automata_table(_files(directory / "automata", read_automaton_record)),
        "shortcuts": labels_table(read_all_runs(directory)),
    }


def _files(directory: Path, read: Callable[[Path], Record]) -> list[Record]:
    """Return the records of a directory, a file for each."""
    return [read(path) for path in sorted(directory.glob("*.json"))]


def _lines(directory: Path, read: Callable[[Path], list[Record]]) -> list[Record]:
    """Return the records of all files of a directory."""
    return [record for path in sorted(directory.glob("*.jsonl")) for record in read(path)]


def table(rows: Iterable[tuple[str, Cell]]) -> str:
    """Return a table in Markdown, a column for each problem and size."""
    lines = ["| | " + " | ".join(TITLES) + " |", "|---" * (len(TITLES) + 1) + "|"]
    for title, cell in rows:
        cells = [cell(*column) for column in COLUMNS]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def our_cell(groups: Sequence[RunGroup], setting: str, problem: str, size: int) -> str:
    """Return the mean over our runs, its standard error and the number of runs."""
    group = _group(groups, problem, size, setting)
    if group is None:
        return NOTHING
    shares = group.runs["accuracy"].tolist()
    error = max(error_over_runs(shares), group.standard_error)  # few runs may agree by chance
    return _cell(group.accuracy.mean, error, len(shares))


def _group(groups: Sequence[RunGroup], problem: str, size: int, setting: str) -> RunGroup | None:
    """Return the runs of an experiment, if there are any."""
    key = problem, size, setting, "antipignistic"
    return next((g for g in groups if (g.problem, g.size, g.setting, g.transform) == key), None)


def recipes_table(groups: Sequence[RunGroup]) -> str:
    """Return how many digits are read right after each recipe: mean, error over runs, runs."""
    lines = [
        "| digits right | images an epoch | the paper's recipe, 20 epochs "
        "| `BETTER_EYE`, 12 epochs |",
        "|---|---|---|---|",
    ]
    rows = [("Addition", 50_000, "addition", 1)]
    rows += [(f"Sudoku {n}x{n}", 200 * n * n, "sudoku", n) for n in PROBLEMS["sudoku"]]
    for title, n_images, problem, size in rows:
        cells = [
            f"{mean_and_error(digits := group.runs['digit_accuracy'].tolist(), 2)} ({len(digits)})"
            if (group := _group(groups, problem, size, setting))
            else NOTHING
            for setting in ("normal", "better-eye")
        ]
        lines.append(f"| {title} | {n_images:,} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def published_cell(setting: str, method: str, problem: str, size: int) -> str:
    """Return a published mean, its standard error and the number of runs, as far as known."""
    key = problem, size, setting, method
    results = [r for r in published_results() if _key(r) == key]
    if not results:
        return NOTHING
    accuracy, n_runs = results[0].accuracy, results[0].runs
    if accuracy is None:
        return results[0].printed
    has_error = accuracy.deviation is not None and n_runs is not None
    error = accuracy.deviation / sqrt(n_runs) if has_error else None  # type: ignore[operator, arg-type]
    return _cell(accuracy.mean, error, n_runs)


def _key(result: Result) -> tuple[str, int, str, str]:
    return result.problem, result.size, result.setting, result.method


def images_cell(groups: Sequence[RunGroup], setting: str, problem: str, size: int) -> str:
    """Return the error that the choice of the test images leaves in a sum of `2 size` digits.

    A sum is right if all its digits are: ``p = (1 - e)^2k``. The share ``e`` of images that are
    read wrong has the error ``sqrt(e (1 - e) / n)``, and ``p`` that times its derivative.
    """
    group = _group(groups, problem, size, setting) if problem == "addition" else None
    digits = group.figure("digit_accuracy") if group else None
    if digits is None:
        return NOTHING
    e, n = 1.0 - digits.mean / 100.0, 2 * size
    error = n * (1.0 - e) ** (n - 1) * sqrt(e * (1.0 - e) / TEST_IMAGES)
    return f"± {_number(100.0 * error)}"


def _cell(mean: float, error: float | None, n_runs: int | None) -> str:
    parts = [f"{mean:.1f}", *([] if error is None else [f"± {_number(error)}"])]
    return " ".join([*parts, *([] if n_runs is None else [f"({n_runs})"])])


def _number(error: float) -> str:
    """Return an error with one decimal, small ones with two."""
    return f"{error:.1f}" if error >= 0.095 else f"{error:.2f}"


def write_tables(page: Path, directory: Path) -> bool:
    """Write the tables into a page, between its marks; return whether it changed."""
    text = read_text(page)
    new_text = with_tables(text, question_tables(directory), str(page))
    if new_text == text:
        return False
    with atomic_text(page) as stream:
        stream.write(new_text)
    return True


def with_tables(text: str, tables: dict[str, str], name: str) -> str:
    """Return a page with its tables written anew."""

    def tabled(match: re.Match[str]) -> str:
        start, question, end = match.groups()
        if question not in tables:
            raise DataError(f"{name}: no table {question!r}; there are {', '.join(tables)}")
        return f"{start}{tables[question]}{end}"

    return MARK.sub(tabled, text)
