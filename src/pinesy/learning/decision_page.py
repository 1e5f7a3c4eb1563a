"""A decision report as one page of HTML, with plots where Matplotlib is installed."""

from html import escape
from typing import Any

import numpy as np

from pinesy._common.pages import BLUE, ORANGE, html_plots, html_tables, page
from pinesy.learning.decision_report import DecisionReport


def report_page(report: DecisionReport, title: str, more: str = "") -> str:
    """Return a page that stands alone; `more` is HTML to put at its end."""
    said = f"{report.scores.accuracy:.1%} of {report.samples} samples right."
    plots = html_plots(
        [lambda axes: _draw_coverage(axes, report), lambda axes: _draw_confusion(axes, report)]
    )
    tables = html_tables(report.tables())
    return page(title, f"<p>{escape(report.attribute)}: {said}</p>{plots}{tables}{more}")


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
