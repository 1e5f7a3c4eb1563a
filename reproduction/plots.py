"""Plots of the results, as SVG that stands inside a page (needs matplotlib)."""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reproduction.environment import SYMBOLIC, TIMED
from reproduction.groups import RunGroup
from reproduction.published import Result, published_beside
from reproduction.result_tables import our_name, problem_name, size_name, their_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Stands for the colour of the page's text, which is dark or light.
INK: Final = "#010203"
#: Colours that are visible on a white and on a black page.
OURS: Final = {"Pi-NeSy-1": "#2b83c6", "Pi-NeSy-2": "#d9730d"}
OTHERS: Final = "#8a8a8a"
TICKS: Final = (5, 10, 20, 30, 50, 70, 80, 90, 95, 98, 99, 99.5)
MARKS: Final = (
    ("#8a8a8a", "o"),
    ("#b07cc6", "s"),
    ("#2b83c6", "D"),
    ("#d9730d", "^"),
    ("#3a9a5b", "v"),
    ("#d4526e", "*"),
    ("#a08a2c", "P"),
)
STYLE: Final[dict[Any, Any]] = {
    "svg.hashsalt": "pinesy",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.frameon": False,
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color", "axes.titlecolor"), INK),
}


@dataclass(frozen=True)
class Plot:
    """A plot: its title, and the SVG element, which also says in words what it shows."""

    title: str
    svg: str


def can_plot() -> bool:
    """Return whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def make_plots(groups: Sequence[RunGroup]) -> list[Plot]:
    """Return accuracy by size, digit accuracy by run, and shares of time."""
    plots: list[Plot] = []
    settings = dict.fromkeys((g.problem, g.setting) for g in groups if g.setting != "ablation")
    for problem, setting in settings:
        plots.append(_accuracy(problem, setting, groups, len(plots)))
    if any(g.figure("digit_accuracy") for g in groups):
        plots.append(_digits(groups, len(plots)))
    plots.append(_shares(groups, len(plots)))
    return plots


def _drawn(draw: Callable[["Axes"], Any], number: int, alt: str, height: float) -> str:
    """Draw; return the SVG element, the same bytes every time."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        figure = Figure(figsize=(7.6, height), layout="constrained")
        draw(figure.subplots())
        stream = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(stream, format="svg", metadata=nothing)
    return _inlined(stream.getvalue(), f"plot{number}", alt)


def _inlined(text: str, prefix: str, alt: str) -> str:
    """Return a document's element for use in a page: with names and colours of its own."""
    svg = text[text.index("<svg") :]
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg)
    svg = svg.replace("xlink:href", "href").replace(INK, "currentColor")
    svg = svg.replace("'DejaVu Sans'", "'DejaVu Sans', sans-serif")
    svg = re.sub(r"<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\b(id="|href="#)', rf"\g<1>{prefix}-", svg).replace("url(#", f"url(#{prefix}-")
    size = re.search(r'viewBox="[^"]*"', svg)
    opening = f'<svg {size.group() if size else ""} role="img" aria-label="{escape(alt)}">'
    return re.sub(r"<svg[^>]*>", lambda _: opening, svg, count=1).strip()


def _accuracy(problem: str, setting: str, groups: Sequence[RunGroup], number: int) -> Plot:
    """Plot accuracy by size, with a bar of one deviation: ours, the paper's, the others'."""
    ours = [g for g in groups if (g.problem, g.setting) == (problem, setting)]
    theirs = published_beside(problem, setting)
    sizes = sorted({g.size for g in ours} | {r.size for r in theirs})
    series = _series(ours, theirs)

    def draw(axes: "Axes") -> None:
        for i, (name, colour, marker, points) in enumerate(series):
            shift = (i - (len(series) - 1) / 2) * 0.8 / max(len(series), 8)
            x = [sizes.index(size) + shift for size, _, _ in points]
            y, bars = [p[1] for p in points], [p[2] for p in points]
            axes.errorbar(
                x, y, bars, color=colour, marker=marker, label=name, ls="none", ms=5, elinewidth=1
            )
        axes.set_xticks(range(len(sizes)), [size_name(problem, s) for s in sizes])
        axes.set_ylabel("accuracy, %")
        _spread(axes, [y for *_, points in series for _, y, _ in points])
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))

    title = f"{problem.title()}, setting {setting}: accuracy"
    means = "; ".join(
        f"{g.method} {problem_name(problem, g.size)} {g.accuracy.mean:.2f} %" for g in ours
    )
    alt = f"{title} by size, of ours, the paper and others, with bars of one deviation. {means}."
    return Plot(title, _drawn(draw, number, alt, 3.8))


def _spread(axes: "Axes", percents: Sequence[float]) -> None:
    """Scale an axis so that 98 and 99 % are as far apart as 30 and 40 %, if possible."""
    if not all(2.0 <= p <= 99.9 for p in percents):
        return
    low, high = min(percents) / 2.0, max(percents) / 2.0 + 50.0
    axes.set_yscale("function", functions=(_logit, _logistic))
    ticks = [t for t in TICKS if low <= t <= high]
    axes.set_yticks(ticks, [f"{t:g}" for t in ticks])
    axes.set_ylim(low, high)
    axes.set_ylabel("accuracy, % (logit scale)")


def _logit(percent: Any) -> Any:
    p = np.clip(np.asarray(percent) / 100.0, 1e-4, 1.0 - 1e-4)
    return np.log(p / (1.0 - p))


def _logistic(x: Any) -> Any:
    return 100.0 / (1.0 + np.exp(-np.asarray(x)))


Points = list[tuple[int, float, float]]


def _series(
    ours: Sequence[RunGroup], theirs: Sequence[Result]
) -> list[tuple[str, str, str, Points]]:
    """Return name, colour, marker and points (size, mean, deviation) of each method."""
    series: dict[str, tuple[str, str, Points]] = {}
    for g in ours:
        points = series.setdefault(our_name(g), (OURS[g.method], "o", []))[2]
        points.append((g.size, g.accuracy.mean, g.accuracy.deviation or 0.0))
    markers = iter("vs^<>pP*Xdh")
    for r in sorted(theirs, key=lambda r: not r.is_paper):
        if r.accuracy is None:
            continue
        name = their_name(r)
        if name not in series:
            marker = "D" if r.is_paper else next(markers)
            series[name] = OURS.get(r.method, OTHERS), marker, []
        series[name][2].append((r.size, r.accuracy.mean, r.accuracy.deviation or 0.0))
    return [(name, *style_and_points) for name, style_and_points in series.items()]


def _digits(groups: Sequence[RunGroup], number: int) -> Plot:
    """Plot the accuracy of each run's network on single images."""
    accuracies: dict[str, dict[int, float]] = {}
    for g in groups:
        if g.setting == "ablation":
            continue  # it has the networks of the normal setting
        for run in g.runs.dropna(subset=["digit_accuracy"]).to_dict("records"):
            name = _network_name(g, is_shared="start" not in run["network"])
            accuracies.setdefault(name, {})[run["run"]] = run["digit_accuracy"]

    def draw(axes: "Axes") -> None:
        for i, (name, runs) in enumerate(accuracies.items()):
            colour, marker = _mark(i)
            x, y = list(runs), list(runs.values())
            axes.plot(x, y, marker, color=colour, ls=":", lw=0.8, ms=5, label=name)
        axes.set_xticks(sorted({run for runs in accuracies.values() for run in runs}))
        axes.set_xlabel("run")
        axes.set_ylabel("digit accuracy, %")
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))

    title = "Accuracy of the networks on single images, by run"
    spans = "; ".join(
        f"{name} {min(runs.values()):.2f} to {max(runs.values()):.2f} %"
        for name, runs in accuracies.items()
    )
    alt = f"{title}. {spans}."
    height = max(3.2, 0.5 + 0.2 * len(accuracies))  # the legend has a line for each
    return Plot(title, _drawn(draw, number, alt, height))


def _network_name(group: RunGroup, is_shared: bool) -> str:
    """Return what the networks of runs have in common.

    That of Addition serves every k, but where it learned from the sums of one k.
    """
    shared = is_shared and group.problem == "addition"
    name = group.problem.title() if shared else problem_name(group.problem, group.size)
    return f"{name} {group.setting}"


def _mark(number: int) -> tuple[str, str]:
    """Return colour and marker of a series, other ones for each of as many as there may be."""
    turns, n = number // len(MARKS), len(MARKS)
    return MARKS[number % n][0], MARKS[(number + turns) % n][1]


def _shares(groups: Sequence[RunGroup], number: int) -> Plot:
    """Plot which part of the time each step took, on a logarithmic scale, with a line at 1 %."""
    names = [f"{problem_name(g.problem, g.size)} {g.setting} {g.method}" for g in groups]

    def draw(axes: "Axes") -> None:
        for part, (colour, marker) in zip(TIMED, MARKS, strict=True):
            points = [(100.0 * g.shares[part], i) for i, g in enumerate(groups) if g.shares[part]]
            axes.plot(
                *zip(*points, strict=True), marker, color=colour, ls="none", label=part
            ) if points else None
        axes.axvline(1.0, color=INK, lw=0.8, ls="--")
        axes.set_xscale("log")
        axes.set_xlabel("share of the wall time, % (dashed: 1 %)")
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))

    title = "Shares of the wall time"
    spans = "; ".join(
        f"{name}: symbolic {100.0 * sum(g.shares[p] for p in SYMBOLIC):.3g} %"
        for name, g in zip(names, groups, strict=True)
    )
    alt = f"{title}, by step, for each experiment. {spans}."
    return Plot(title, _drawn(draw, number, alt, 1.4 + 0.22 * len(names)))
