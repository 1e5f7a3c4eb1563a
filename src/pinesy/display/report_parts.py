"""Parts of HTML reports: metric cards, the split bar, charts, the confusion, suspicious labels.

The studio draws the same by scripts. A chart here has no script: its lines are stretched to the
width of the page, its texts and dots are not.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pinesy._common.reports import count_text
from pinesy.display.markup import Markup, cut, join_markup, tag
from pinesy.display.report_rows import SuspiciousLabels
from pinesy.rules.outcomes import short_degree

#: Shares of an axis.
Point = tuple[float, float]
#: Points of a line that a chart draws at most.
MAX_POINTS = 200
#: A share is said without what chance allows if its interval is narrower than this.
NARROW = 0.02
#: Values whose confusion is a table of cells; more are listed by their errors.
MAX_CELLS = 12


def share_text(share: float) -> str:
    """Return a share as text; only an exact one is 100 % or 0 %.

    Examples
    --------
    >>> share_text(0.79629), share_text(1.0), share_text(0.9999), share_text(float("nan"))
    ('79.6 %', '100 %', '>99.9 %', '–')
    """
    if share != share:
        return "–"
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    if share < 0.0005 or share >= 0.9995:
        return "<0.1 %" if share < 0.5 else ">99.9 %"
    return f"{100 * share:.1f} %"


def chance_text(band: tuple[float, float]) -> str:
    """Return the confidence interval of a share as text; empty if it is narrow."""
    low, high = band
    return "" if high - low < NARROW else f"chance allows {100 * low:.0f} to {100 * high:.0f} %"


def metric(label: str, figure: str, *notes: str, alert: bool = False) -> Markup:
    """Return a metric card: what, figure, of how many."""
    return tag(
        "div",
        tag("span", label, class_="label"),
        tag("span", figure, class_="figure"),
        tag("span", "; ".join(filter(None, notes)), class_="note"),
        class_="card metric" + " alert" * alert,
    )


def card(title: str, *content: str, note: str = "") -> Markup:
    """Return a card with a title, and a note below its content."""
    notes = [tag("p", note, class_="small quiet")] if note else []
    return tag("section", tag("h2", title), *content, *notes, class_="card")


def split_bar(parts: Iterable[tuple[str, int, str]]) -> Markup:
    """Return counts as one bar with its key; a part is its class, its count and its word."""
    present = [(kind, count, f"{count:,} {noun}") for kind, count, noun in parts if count]
    bars = [tag("i", class_=kind, style=f"flex-grow:{count}") for kind, count, _ in present]
    key = [tag("span", tag("i", class_=kind), text) for kind, _, text in present]
    label = ", ".join(text for *_, text in present)
    return tag("div", *bars, class_="split", role="img", aria_label=label) + tag(
        "div", *key, class_="key", aria_hidden="true"
    )


@dataclass(frozen=True)
class Chart:
    """A chart of shares.

    Attributes
    ----------
    label : what it shows, for screen readers
    x_title, y_title : of the axes
    x, y : the range of each axis
    is_degree : whether y is a degree, and not a share
    """

    label: str
    x_title: str
    y_title: str
    x: Point
    y: Point
    is_degree: bool = False

    def draw(self, *marks: Markup) -> Markup:
        """Return the chart with lines (`path`) and other marks."""
        lines = [mark for mark in marks if mark.startswith("<path")]
        y_ticks, x_ticks = _ticks(*self.y), _ticks(*self.x)
        grid = [self.path([(self.x[0], tick), (self.x[1], tick)], "grid") for tick in y_ticks]
        labels = [
            tag(
                "span",
                short_degree(tick) if self.is_degree else f"{100 * tick:.0f} %",
                class_="y",
                style=self.place(top=tick),
            )
            for tick in y_ticks
        ]
        for index, tick in enumerate(reversed(x_ticks)):
            edge = "last" if tick == self.x[1] else "first" if tick == self.x[0] else ""
            kind = " ".join(filter(None, ["x", edge, "odd" * (index % 2)]))
            labels.append(tag("span", f"{100 * tick:.0f} %", class_=kind, style=self.place(tick)))
        frame = {"viewBox": "0 0 100 100", "preserveAspectRatio": "none", "aria_hidden": "true"}
        return tag(
            "div",
            tag("svg", *grid, *lines, **frame),
            *labels,
            tag("span", self.x_title, class_="x-title"),
            tag("span", self.y_title, class_="y-title"),
            *(mark for mark in marks if not mark.startswith("<path")),
            class_="chart",
            role="img",
            aria_label=self.label,
        )

    def place(self, left: float | None = None, top: float | None = None) -> str:
        """Return the style of what stands at a place of the axes."""
        x, y = self._shares(left or 0.0, top or 0.0)
        styles = [f"left:{x:.2f}%"] * (left is not None) + [f"top:{y:.2f}%"] * (top is not None)
        return ";".join(styles)

    def path(self, points: Sequence[Point], kind: str) -> Markup:
        """Return a line through points."""
        step = max(1, len(points) // MAX_POINTS)
        selected = [*points[:-1:step], points[-1]]
        pairs = (f"{x:.2f} {y:.2f}" for x, y in (self._shares(*point) for point in selected))
        return tag("path", d=f"M{'L'.join(pairs)}", class_=kind)

    def dot(self, point: Point, kind: str = "") -> Markup:
        """Return a dot."""
        return tag("i", class_=kind, style=self.place(*point))

    def said(self, text: str, point: Point) -> Markup:
        """Return a text beside a point, on the side where there is space."""
        x, y = self._shares(*point)
        style = f"{self.place(*point)};margin-top:{6 if y < 50 else -24}px"
        is_left = x > (80 if len(text) < 8 else 60)
        return tag("span", text, class_="said left" if is_left else "said", style=style)

    def _shares(self, x: float, y: float) -> Point:
        """Return a point in per cent of the chart, from its upper left corner."""
        shares = [(v - low) / (high - low) for v, (low, high) in ((x, self.x), (y, self.y))]
        return 100 * shares[0], 100 * (1 - shares[1])


def _ticks(low: float, high: float) -> list[float]:
    """Return a few round shares of an axis.

    Examples
    --------
    >>> _ticks(0.4, 1.0), _ticks(0.0, 1.0)
    ([0.4, 0.6, 0.8, 1.0], [0.0, 0.25, 0.5, 0.75, 1.0])
    """
    steps = (s for s in (0.01, 0.05, 0.1, 0.2, 0.25, 0.5) if (high - low) / s <= 4.01)
    step = next(steps, 0.5)
    return sorted(round(high - i * step, 4) for i in range(6) if high - i * step >= low - 1e-9)


def low_end(lowest: float) -> float:
    """Return the round share where an axis begins, at least a tenth below 1.

    Examples
    --------
    >>> low_end(0.83), low_end(0.99), low_end(0.0)
    (0.8, 0.9, 0.0)
    """
    return min(0.9, int(10 * lowest + 1e-9) / 10)


def surest_chart(accuracies: npt.NDArray[np.float64], decided: int) -> Markup:
    """Return how often the surest rows are right; the share that is decided is marked.

    Parameters
    ----------
    accuracies : on the 1, 2, 3, ... most certain rows
    decided : how many rows have an answer
    """
    n = len(accuracies)
    points = [((i + 1) / n, float(a)) for i, a in enumerate(accuracies)]
    curve = [point for point in points if point[0] >= min(0.05, decided / n)] or points
    marked = points[max(decided, 1) - 1]
    low = low_end(min(y for _, y in curve))
    chart = Chart(
        f"Right, by share of rows, the surest first; {share_text(marked[1])} where decided",
        "share of rows, the surest first", "right", (0.0, 1.0), (low, 1.0),
    )  # fmt: skip
    undecided = []
    if n - decided > 0.15 * n:
        style = f"{chart.place(decided / n, low)};right:0"
        undecided = [tag("i", class_="open", style=style)]
    scope = "decided" if decided < n else "all"
    return chart.draw(
        chart.path([(marked[0], low), (marked[0], 1.0)], "line"),
        chart.path(curve, "certain"),
        *undecided,
        chart.dot(marked, "chosen"),
        chart.said(f"{scope}: {share_text(marked[1])}", marked),
    )


def degrees_chart(degrees: npt.NDArray[np.float64], marked: int) -> Markup:
    """Return the suspicion of all labels, the largest first; the last suspicious one is marked."""
    n = len(degrees)
    ordered = np.sort(degrees)[::-1]
    chart = Chart(
        f"Suspicion of {n:,} labels, the largest first; {marked:,} are suspicious",
        "share of rows, the most suspicious first", "suspicion", (0.0, 1.0), (0.0, 1.0), True,
    )  # fmt: skip
    steps = [((i + end) / n, float(d)) for i, d in enumerate(ordered) for end in (0, 1)]
    marks = [chart.path(steps, "certain")]
    if marked:
        x = marked / n
        marks.append(chart.path([(x, 0.0), (x, 1.0)], "line"))
        marks.append(chart.said(count_text(marked, "label", "suspicious "), (x, 0.92)))
    return chart.draw(*marks)


def agreement_chart(
    rows: Sequence[tuple[float, float, tuple[float, float]]],
    marked: int,
    titles: tuple[str, str, str],
) -> Markup:
    """Return what was observed against what was predicted, with what chance allows.

    Parameters
    ----------
    rows : the predicted share, the observed one, and its confidence interval
    marked : the index of the row to see
    titles : of the chart, and of its axes
    """
    low = low_end(min(min(x, y, band[0]) for x, y, band in rows))
    chart = Chart(*titles, (low, 1.0), (low, 1.0))
    marks = [
        chart.path([(low, low), (1.0, 1.0)], "asked"),
        chart.path([(x, y) for x, y, _ in rows], "certain"),
    ]
    for index, (x, y, band) in enumerate(rows):
        kind = "chosen" * (index == marked)
        marks.append(chart.path([(x, band[0]), (x, band[1])], kind or "band"))
        marks.append(chart.dot((x, y), kind))
    x, y, _ = rows[marked]
    return chart.draw(*marks, chart.said(share_text(y), (x, y)))


def confusion_table(values: Sequence[str], counts: npt.NDArray[np.int64]) -> Markup:
    """Return true values by predicted ones, tinted by their share of the true value.

    The last column is undecided. Of many values there are only the most frequent errors.
    """
    names = [*(cut(value, 40) for value in values), "undecided"]
    if len(values) > MAX_CELLS:
        return _errors(names, counts)
    head = tag("tr", tag("th", ""), *(tag("th", name) for name in names))
    totals = np.maximum(counts.sum(axis=1), 1)
    lines = []
    for row, line in enumerate(counts.tolist()):
        cells = []
        for column, count in enumerate(line):
            kind = "undecided" if column == len(values) else "right" if row == column else "wrong"
            style = f"--share:{100 * count / totals[row]:.0f}"
            cells.append(tag("td", f"{count:,}", class_=kind, style=style))
        lines.append(tag("tr", tag("th", names[row], scope="row"), *cells))
    table = tag("table", tag("thead", head), tag("tbody", *lines), class_="table confusion")
    return tag("div", table, class_="scroll", tabindex=0)


def _errors(names: Sequence[str], counts: npt.NDArray[np.int64]) -> Markup:
    """Return the most frequent answers that are not the true value."""
    errors = [
        (count, row, column) for (row, column), count in np.ndenumerate(counts) if row != column
    ]
    first = sorted((error for error in errors if error[0]), key=lambda e: (-e[0], *e[1:]))
    lines = [[names[row], names[column], f"{n:,}"] for n, row, column in first[:MAX_CELLS]]
    left = len(first) - len(lines)
    note = [tag("p", f"... and {count_text(left, 'pair', 'rarer ')}")] if left else []
    return data_table(["true", "answer", "rows"], lines) + join_markup(note)


def data_table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> Markup:
    """Return a table that scrolls in its card if it is wide."""
    title = tag("tr", *(tag("th", text) for text in head))
    body = [tag("tr", *(tag("td", cell) for cell in line)) for line in lines]
    table = tag("table", tag("thead", title), tag("tbody", *body), class_="table")
    return tag("div", table, class_="scroll", tabindex=0)


def suspicious_list(labels: SuspiciousLabels) -> Markup:
    """Return the first suspicious labels: id, what is known, the label, and why."""
    entries = []
    for row in labels.rows:
        width = f"width:{100 * row.possibility:.0f}%"
        bar = [tag("i", class_="possible", style=width)] * (row.possibility > 0)
        entries.append(
            tag(
                "li",
                tag("b", cut(row.name, 60)),
                tag("span", cut(row.known), class_="quiet"),
                tag(
                    "span",
                    tag("b", f"{row.attribute} {row.label}"),
                    tag("small", f"{row.answer} is more possible"),
                    tag("span", *bar, class_="bar", aria_hidden="true"),
                ),
                tag("span", cut(row.reason), class_="small"),
            )
        )
    left = labels.count - len(labels.rows)
    note = [tag("p", f"... and {left:,} more.", class_="small quiet")] if left else []
    return tag("ul", *entries, class_="suspects") + join_markup(note)
