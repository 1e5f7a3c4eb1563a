"""Tables of results: ours beside the paper's and beside those of others."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from reproduction.groups import Group, Verdict, symbolic_share
from reproduction.published import Figure, Result, published_beside

NOTHING: Final = "–"
OURS: Final = "this library"


@dataclass(frozen=True)
class Row:
    """A row of a table; `ours` if it is about records, not about what others published."""

    cells: tuple[str, ...]
    ours: bool = True


@dataclass(frozen=True)
class Table:
    """A table of texts.

    Attributes
    ----------
    caption : what it shows
    columns : their titles
    rows : as many cells each
    left : the titles of columns of words; the others are of numbers
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    left: frozenset[str] = field(
        default=frozenset(
            {"experiment", "setting", "method", "supervision", "source", "group", "equal?", "trial"}
        )
    )

    @property
    def is_mixed(self) -> bool:
        """Whether others are beside us, so that it must be plain which rows are ours."""
        return any(not row.ours for row in self.rows)


def problem_name(problem: str, size: int) -> str:
    """Return how a problem is called: ``Addition-4`` or ``Sudoku 9x9``."""
    return f"Addition-{size}" if problem == "addition" else f"Sudoku {size}x{size}"


def number_text(number: float, digits: int = 3) -> str:
    """Return a number with so many digits, or all before the point.

    Examples
    --------
    >>> [number_text(x) for x in (0.0, 0.00123456, 12.3456, 1845.62)]
    ['0', '0.00123', '12.3', '1,846']
    """
    return f"{number:,.0f}" if abs(number) >= 10.0**digits else f"{number:.{digits}g}"


def figure_text(figure: Figure | None, places: int | None = None) -> str:
    """Return a mean with its deviation, if that is known, or a dash."""
    if figure is None:
        return NOTHING
    if figure.deviation is None:
        return _text(figure.mean, places, 3)
    deviation = _text(figure.deviation, places, 2)
    return f"{_text(figure.mean, places, 3)} ± {deviation}"


def _text(number: float, places: int | None, digits: int) -> str:
    return number_text(number, digits) if places is None else f"{number:.{places}f}"


def _percent(figure: Figure | None) -> str:
    return figure_text(figure, places=2)


def _printed(text: str) -> str:
    return text.replace("±", " ± ")


def _verdict_text(verdict: Verdict | None) -> str:
    if verdict is None:
        return NOTHING
    by = f"{verdict.difference:+.2f}, {verdict.deviations:+.1f} sd"
    if verdict.within:
        return f"yes ({by})"
    return f"no ({by})" + ", but by rounding" * verdict.rounded


def _published(problem: str, size: int, setting: str) -> list[Result]:
    """Return the results of others in a setting, the paper's own first; each is shown once."""
    return [r for r in published_beside(problem, setting) if (r.size, r.setting) == (size, setting)]


def _our_name(group: Group) -> str:
    return f"{group.method}, ours"


def _their_name(result: Result) -> str:
    return f"{result.method}, paper" if result.is_paper else result.method


def _settings(groups: Iterable[Group]) -> list[str]:
    """Return the settings to show: those there are records of, and the normal one."""
    return list(dict.fromkeys(["normal", *(g.setting for g in groups)]))


def overview_table(problem: str, setting: str, groups: Sequence[Group]) -> Table:
    """Return the accuracy of every method for every size, as the paper's tables do."""
    ours = [g for g in groups if (g.problem, g.setting) == (problem, setting)]
    theirs = published_beside(problem, setting)
    sizes = sorted({g.size for g in ours} | {r.size for r in theirs})
    cells: dict[tuple[str, str, bool], dict[int, str]] = {}
    for g in ours:
        text = f"{_percent(g.accuracy)} ({len(g.records)})"
        cells.setdefault((_our_name(g), g.supervision, True), {})[g.size] = text
    for r in theirs:
        cells.setdefault((_their_name(r), r.supervision, False), {})[r.size] = _printed(r.printed)
    rows = tuple(
        Row((name, supervision, *(found.get(size, NOTHING) for size in sizes)), is_ours)
        for (name, supervision, is_ours), found in cells.items()
    )
    titles = [f"k = {s}" if problem == "addition" else f"{s}x{s}" for s in sizes]
    caption = f"{problem.title()}, setting {setting}: accuracy in % (of ours: number of runs)"
    return Table(caption, ("method", "supervision", *titles), rows)


ACCURACY: Final = (
    "setting",
    "method",
    "accuracy, %",
    "runs",
    "supervision",
    "digit accuracy, %",
    "within two deviations of the paper",
    "source",
)


def accuracy_table(problem: str, size: int, groups: Sequence[Group]) -> Table:
    """Return how good each method is on one problem, and how ours lies to the paper's."""
    here = [g for g in groups if (g.problem, g.size) == (problem, size)]
    rows = []
    for setting in _settings(here):
        rows += [_our_accuracy(g) for g in here if g.setting == setting]
        rows += [_their_accuracy(r) for r in _published(problem, size, setting)]
    return Table(f"{problem_name(problem, size)}: accuracy", ACCURACY, tuple(rows))


def _our_accuracy(group: Group) -> Row:
    name, runs = _our_name(group), str(len(group.records))
    texts = _percent(group.accuracy), runs, group.supervision, _percent(group.digits)
    return Row((group.setting, name, *texts, _verdict_text(group.verdict), OURS))


def _their_accuracy(result: Result) -> Row:
    runs = str(result.runs) if result.accuracy and result.runs else NOTHING
    texts = _printed(result.printed), runs, result.supervision, _percent(result.digits)
    cells = (result.setting, _their_name(result), *texts, NOTHING, result.source)
    return Row(cells, ours=False)


COST: Final = (
    "setting",
    "method",
    "training, s",
    "prediction, s",
    "thresholds, s",
    "learning, s",
    "all learning, s",
    "inference per sample, ms",
    "peak memory, MB",
    "symbolic share, %",
)


def cost_table(problem: str, size: int, groups: Sequence[Group]) -> Table:
    """Return what our experiments cost, and the paper's."""
    here = [g for g in groups if (g.problem, g.size) == (problem, size)]
    rows = []
    for setting in _settings(here):
        rows += [_our_cost(g) for g in here if g.setting == setting]
        theirs = _published(problem, size, setting)
        rows += [_their_cost(r) for r in theirs if r.is_paper]
    return Table(f"{problem_name(problem, size)}: time and memory", COST, tuple(rows))


def _our_cost(group: Group) -> Row:
    parts = [
        figure_text(group.mean(lambda r, part=part: r.seconds[part]))  # type: ignore[misc]
        for part in ("training", "prediction", "thresholds", "learning")
    ]
    memory = group.mean(lambda r: r.content["memory_mb"])
    after = figure_text(group.inference_ms), figure_text(memory), share_text(group)
    return Row((group.setting, _our_name(group), *parts, figure_text(group.learning), *after))


def share_text(group: Group) -> str:
    """Return the symbolic share of a group in %."""
    share = symbolic_share(group.records)
    return NOTHING if share is None else number_text(100.0 * share)


def _their_cost(result: Result) -> Row:
    times = NOTHING, NOTHING, NOTHING, NOTHING, figure_text(result.learning)
    inference = NOTHING if result.inference is None else number_text(1e3 * result.inference.mean)
    cells = (result.setting, _their_name(result), *times, inference, figure_text(result.peak))
    return Row((*cells, NOTHING), ours=False)


TRIAL: Final = (
    "trial",
    "experiment",
    "setting",
    "method",
    "accuracy, %",
    "runs",
    "digit accuracy, %",
    "all learning, s",
    "inference per sample, ms",
    "symbolic share, %",
)


def trial_table(groups: Iterable[Group]) -> Table:
    """Return the results of quick runs and trials, which nothing is compared with."""
    rows = []
    for g in groups:
        name = g.scale, problem_name(g.problem, g.size), g.setting, g.method
        texts = _percent(g.accuracy), str(len(g.records)), _percent(g.digits)
        times = figure_text(g.learning), figure_text(g.inference_ms), share_text(g)
        rows.append(Row((*name, *texts, *times)))
    return Table("Quick runs and trials: not comparable with anything above", TRIAL, tuple(rows))
