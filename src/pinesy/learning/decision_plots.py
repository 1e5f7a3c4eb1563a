"""Plots of how rules decide: accuracy on the surest samples, and the confusion of values."""

from typing import TYPE_CHECKING, Any

import numpy as np

from pinesy._common.markup import BLUE, ORANGE
from pinesy._common.pages import plot_text

if TYPE_CHECKING:
    from pinesy.learning.decision_report import DecisionReport


def draw_coverage(axes: Any, report: "DecisionReport") -> None:
    """Draw the accuracy on the surest samples."""
    share = np.arange(1, report.samples + 1) / report.samples
    axes.plot(share, report.selective_accuracy, color=BLUE)
    axes.axhline(report.scores.accuracy, color=ORANGE, linewidth=1, linestyle="--")
    axes.set(
        xlabel="share of the samples, the surest first",
        ylabel="right",
        title="Accuracy on the surest samples",
        xlim=(0, 1),
    )


def draw_confusion(axes: Any, report: "DecisionReport") -> None:
    """Draw true values by predicted ones, as shares of each true value."""
    counts = report.confusion
    axes.imshow(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1), cmap="Blues", vmin=0)
    names = [*map(plot_text, report.values), "undecided"]
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
    axes.set_yticks(range(len(report.values)), names[:-1])
    axes.set(xlabel="predicted", ylabel="true", title="Confusion")
    if counts.size <= 200:
        for place, count in np.ndenumerate(counts):
            axes.text(place[1], place[0], str(count), ha="center", va="center", fontsize=8)
