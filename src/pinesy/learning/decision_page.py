"""A decision report as one page of HTML, with plots where Matplotlib is installed."""

import io
from collections.abc import Callable
from html import escape
from importlib.util import find_spec
from typing import Any

import numpy as np

from pinesy._version import __version__
from pinesy.learning.decision_report import DecisionReport

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; }
table { border-collapse: collapse; margin: 0 0 1.5rem; }
th, td { padding: .25rem .75rem; text-align: left; border-bottom: 1px solid #ddd; }
svg { max-width: 100%; height: auto; }
"""
#: Colours that colour-blind readers tell apart.
BLUE, ORANGE = "#0072b2", "#d55e00"


def report_page(report: DecisionReport, title: str) -> str:
    """Return a page that stands alone: no script, nothing to load."""
    tables = (f"<h2>{escape(t)}</h2>{_table(rows)}" for t, rows in report.tables().items())
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        f"<h1>{escape(title)}</h1><p>{escape(report.attribute)}: "
        f"{report.scores.accuracy:.1%} of {report.samples} samples right.</p>"
        f"{_plots(report)}{''.join(tables)}"
        f"<p>Made by pinesy {__version__}.</p></body></html>\n"
    )


def _table(rows: list[list[str]]) -> str:
    head, *lines = rows
    cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>" for line in lines
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def _plots(report: DecisionReport) -> str:
    if find_spec("matplotlib") is None:
        return (
            "<p>There are no plots, because Matplotlib is not installed: pip install "
            "'pinesy[plot]'</p>"
        )
    drawings: list[Callable[[Any], None]] = [
        lambda axes: _draw_coverage(axes, report),
        lambda axes: _draw_confusion(axes, report),
    ]
    return "".join(_svg(draw) for draw in drawings)


def _draw_coverage(axes: Any, report: DecisionReport) -> None:
    share = np.arange(1, report.samples + 1) / report.samples
    axes.plot(share, report.selective_accuracy, color=BLUE)
    axes.axhline(report.scores.accuracy, color=ORANGE, linewidth=1, linestyle="--")
    axes.set(
        xlabel="share of the samples, the surest first",
        ylabel="right",
        title="Accuracy on the surest samples",
        xlim=(0, 1),
    )


def _draw_confusion(axes: Any, report: DecisionReport) -> None:
    counts = report.confusion
    axes.imshow(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1), cmap="Blues", vmin=0)
    names = [*report.values, "undecided"]
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
    axes.set_yticks(range(len(report.values)), report.values)
    axes.set(xlabel="predicted", ylabel="true", title="Confusion")
    if counts.size <= 200:
        for place, count in np.ndenumerate(counts):
            axes.text(place[1], place[0], str(count), ha="center", va="center", fontsize=8)


def _svg(draw: Callable[[Any], None]) -> str:
    """Draw; return the SVG element, the same bytes every time."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": "pinesy", "svg.fonttype": "none"}):
        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        draw(figure.subplots())
        stream = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(stream, format="svg", metadata=nothing)
    text = stream.getvalue()
    return text[text.index("<svg") :]
