"""Tables of results: ours beside the paper's and beside those of others."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

import pandas as pd

from pinesy._common.validation import printable
from reproduction.groups import RunGroup, Verdict
from reproduction.published import Figure, Result, published_beside

NOTHING: Final = "–"
OURS: Final = "this library"
ERROR: Final = "standard error, %"
WITHIN: Final = "within two deviations of the paper"
#: The titles of columns of words; the others are of numbers.
LEFT: Final = (
    *("problem", "experiment", "setting", "method", "supervision", "source", "group", "equal?"),
    *("trial", "reading", "architecture", "recipe"),
    *("commit", "pinesy", "torch", "numpy", "python", "machine"),
)
Cells = Mapping[str, str | bool | None]


def escaped(text: str) -> str:
    r"""Return text of one line in which Markdown sees no marks, and a terminal no commands.

    Examples
    --------
    >>> print(escaped("![a](b) | *c*"))
    !\[a\](b) \| \*c\*
    """
    line = printable(" ".join(text.splitlines()))
    return "".join(f"\\{c}" if c in "\\`*_|<[]~" else c for c in line)


@dataclass(frozen=True, eq=False)
class ResultTable:
    """A table of texts.

    Attributes
    ----------
    caption : what it shows
    cells : the texts, with their titles
    ours : for each row, whether it is about records, not about what others published
    """

    caption: str
    cells: pd.DataFrame
    ours: tuple[bool, ...]

    @classmethod
    def of(cls, caption: str, rows: Iterable[Cells]) -> "ResultTable":
        """Return the table of some rows; those with ``ours=False`` are about others.

        The row with the most cells sets the columns; what another one lacks is unknown. What
        records say moves no cursor.
        """
        cells = [{k: printable(c) if isinstance(c, str) else c for k, c in r.items()} for r in rows]
        ours = tuple(bool(row.pop("ours", True)) for row in cells)
        columns: list[str] = max(map(list, cells), key=len, default=[])
        return cls(caption, pd.DataFrame(cells, columns=columns).fillna(NOTHING), ours)

    @property
    def columns(self) -> list[str]:
        """The titles."""
        return list(self.cells.columns)

    @property
    def heading(self) -> str:
        """The title of the column that names a row: that of the method, if there is one."""
        return "method" if "method" in self.cells else self.columns[0]

    def rows(self) -> Iterator[tuple[bool, dict[str, str]]]:
        """Yield whether a row is ours, among those of others, and its cells by title."""
        mixed = not all(self.ours)
        for ours, row in zip(self.ours, self.cells.to_dict("records"), strict=True):
            yield ours and mixed, {str(title): cell for title, cell in row.items()}


def problem_name(problem: str, size: int) -> str:
    """Return how a problem is called: ``Addition-4`` or ``Sudoku 9x9``."""
    return f"Addition-{size}" if problem == "addition" else f"Sudoku {size}x{size}"


def size_name(problem: str, size: int) -> str:
    """Return how a size is called: ``k = 4`` or ``9x9``."""
    return f"k = {size}" if problem == "addition" else f"{size}x{size}"


def number_text(number: float | None, digits: int = 3) -> str:
    """Return a number with so many digits, or all before the point; a dash if it is unknown.

    Examples
    --------
    >>> [number_text(x) for x in (0.0, 0.00123456, 12.3456, 1845.62, None)]
    ['0', '0.00123', '12.3', '1,846', '–']
    """
    if number is None:
        return NOTHING
    return f"{number:,.0f}" if abs(number) >= 10.0**digits else f"{number:.{digits}g}"


def figure_text(figure: Figure | None) -> str:
    """Return a mean with its deviation, if that is known, or a dash."""
    if figure is None or figure.deviation is None:
        return number_text(figure.mean if figure else None)
    return f"{number_text(figure.mean)} ± {number_text(figure.deviation, 2)}"


def percent_text(figure: Figure | None) -> str:
    """Return a mean with its deviation, each with two digits after the point, or a dash."""
    if figure is None:
        return NOTHING
    deviation = "" if figure.deviation is None else f" ± {figure.deviation:.2f}"
    return f"{figure.mean:.2f}{deviation}"


def share_text(group: RunGroup) -> str:
    """Return the symbolic share of a group in %."""
    share = group.symbolic_share
    return number_text(None if share is None else 100.0 * share)


def _printed(text: str) -> str:
    return text.replace("±", " ± ")


def _verdict_text(verdict: Verdict | None) -> str:
    if verdict is None:
        return NOTHING
    by = f"{verdict.difference:+.2f}, {verdict.deviations:+.1f} sd"
    if verdict.within:
        return f"yes ({by})"
    return f"no ({by})" + ", but by rounding" * verdict.rounded


def our_name(group: RunGroup) -> str:
    """Return how our results with a method are called."""
    return f"{group.method}, ours"


def their_name(result: Result) -> str:
    """Return how published results with a method are called."""
    return f"{result.method}, paper" if result.is_paper else result.method


def overview_table(problem: str, setting: str, groups: Sequence[RunGroup]) -> ResultTable:
    """Return the accuracy of every method for every size, as the paper's tables do."""
    ours = [g for g in groups if (g.problem, g.setting) == (problem, setting)]
    theirs = published_beside(problem, setting)
    sizes = sorted({g.size for g in ours} | {r.size for r in theirs})
    rows: dict[tuple[str, str, bool], dict[str, str | bool]] = {}

    def add(name: str, supervision: str, is_ours: bool, size: int, text: str) -> None:
        new: dict[str, str | bool] = {"method": name, "supervision": supervision, "ours": is_ours}
        empty = dict.fromkeys((size_name(problem, s) for s in sizes), NOTHING)
        row = rows.setdefault((name, supervision, is_ours), {**new, **empty})
        row[size_name(problem, size)] = text

    for g in ours:
        text = f"{percent_text(g.accuracy)} ({len(g.runs)})"
        add(our_name(g), g.supervision, True, g.size, text)
    for r in theirs:
        add(their_name(r), r.supervision, False, r.size, _printed(r.printed))
    caption = f"{problem.title()}, setting {setting}: accuracy in % (of ours: number of runs)"
    return ResultTable.of(caption, rows.values())


def _beside(
    problem: str, size: int, groups: Sequence[RunGroup]
) -> Iterator[tuple[list[RunGroup], list[Result]]]:
    """Yield ours and those of others on one problem, for each setting that there are some of."""
    size_groups = [g for g in groups if (g.problem, g.size) == (problem, size)]
    for setting in dict.fromkeys(["normal", *(g.setting for g in size_groups)]):
        published = published_beside(problem, setting)
        theirs = [r for r in published if (r.size, r.setting) == (size, setting)]
        yield [g for g in size_groups if g.setting == setting], theirs


def accuracy_table(problem: str, size: int, groups: Sequence[RunGroup]) -> ResultTable:
    """Return how good each method is on one problem, and how ours lies to the paper's."""
    rows: list[Cells] = []
    for ours, theirs in _beside(problem, size, groups):
        rows += [*map(_our_accuracy, ours), *map(_their_accuracy, theirs)]
    return ResultTable.of(f"{problem_name(problem, size)}: accuracy", rows)


def _our_accuracy(group: RunGroup) -> Cells:
    return {
        "setting": group.setting,
        "method": our_name(group),
        "accuracy, %": percent_text(group.accuracy),
        "runs": str(len(group.runs)),
        ERROR: f"{group.standard_error:.1f} ({group.test_samples:,} samples)",
        "supervision": group.supervision,
        "digit accuracy, %": percent_text(group.figure("digit_accuracy")),
        WITHIN: _verdict_text(group.verdict),
        "source": OURS,
    }


def _their_accuracy(result: Result) -> Cells:
    return {
        "setting": result.setting,
        "method": their_name(result),
        "accuracy, %": _printed(result.printed),
        "runs": str(result.runs) if result.accuracy and result.runs else NOTHING,
        ERROR: _their_error(result),
        "supervision": result.supervision,
        "digit accuracy, %": percent_text(result.digits),
        WITHIN: NOTHING,
        "source": result.source,
        "ours": False,
    }


def _their_error(result: Result) -> str:
    """Return the standard error of a published mean, if deviation and number of runs are known."""
    if result.accuracy is None or result.accuracy.deviation is None or not result.runs:
        return NOTHING
    return f"{result.accuracy.deviation / sqrt(result.runs):.1f} ({result.runs} runs)"


def cost_table(problem: str, size: int, groups: Sequence[RunGroup]) -> ResultTable:
    """Return what our experiments cost, and the paper's."""
    rows: list[Cells] = []
    for ours, theirs in _beside(problem, size, groups):
        rows += [*map(_our_cost, ours), *(_their_cost(r) for r in theirs if r.is_paper)]
    return ResultTable.of(f"{problem_name(problem, size)}: time and memory", rows)


def _our_cost(group: RunGroup) -> Cells:
    parts = ("training", "prediction", "thresholds", "learning")
    return {
        "setting": group.setting,
        "method": our_name(group),
        **{f"{part}, s": figure_text(group.seconds(part)) for part in parts},
        "all learning, s": figure_text(group.figure("all_learning_s")),
        "inference per sample, ms": figure_text(group.figure("inference_ms")),
        "peak memory, MB": figure_text(group.figure("memory_mb")),
        "symbolic share, %": share_text(group),
    }


def _their_cost(result: Result) -> Cells:
    seconds = result.inference.mean if result.inference else None
    return {
        "setting": result.setting,
        "method": their_name(result),
        "all learning, s": figure_text(result.learning),
        "inference per sample, ms": number_text(None if seconds is None else 1e3 * seconds),
        "peak memory, MB": figure_text(result.peak),
        "ours": False,
    }


def trial_table(groups: Iterable[RunGroup]) -> ResultTable:
    """Return the results of quick runs and trials, which nothing is compared with."""
    caption = "Quick runs and trials: not comparable with anything above"
    return ResultTable.of(caption, map(_trial, groups))


def _trial(group: RunGroup) -> Cells:
    return {
        "trial": group.scale,
        "experiment": problem_name(group.problem, group.size),
        "setting": group.setting,
        "method": group.method,
        "accuracy, %": percent_text(group.accuracy),
        "runs": str(len(group.runs)),
        "digit accuracy, %": percent_text(group.figure("digit_accuracy")),
        "all learning, s": figure_text(group.figure("all_learning_s")),
        "inference per sample, ms": figure_text(group.figure("inference_ms")),
        "symbolic share, %": share_text(group),
    }
