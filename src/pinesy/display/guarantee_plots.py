"""Plots of guarantees: the share that is decided against the promised error, and by group."""

from typing import Any

import numpy as np

from pinesy.display.markup import CERTAIN, GREY, POSSIBLE
from pinesy.display.plots import axes_for, plot_text
from pinesy.guarantees.decision_threshold import DecisionThreshold
from pinesy.guarantees.selective_report import SelectiveReport


def plot_decided_share(threshold: DecisionThreshold, axes: Any) -> Any:
    """Draw the share of cases that are decided against the promised error."""
    axes, rows = axes_for(axes), threshold.curve
    x = np.arange(len(rows))
    axes.plot(x, [row.share for row in rows], "o-", color=CERTAIN, label="decided")
    index = [row.error for row in rows].index(threshold.error)
    axes.axvline(index, color=GREY, linewidth=1, linestyle="--", label="the promise")
    counts_errors = threshold.max_cost is None
    labels = [f"{100 * r.error:g} %" if counts_errors else f"{r.error:.3g}" for r in rows]
    axes.set_xticks(x, labels)
    risk = "wrong among the decided, at most" if counts_errors else "mean cost, at most"
    axes.set(xlabel=risk, ylabel="share of the cases that are decided", ylim=(-0.03, 1.03))
    axes.set_title(f"Decided cases, with {100 * threshold.confidence:g} % confidence")
    axes.legend()
    return axes


def plot_decided_groups(report: SelectiveReport, axes: Any) -> Any:
    """Draw for all samples and each group the share that is decided, and the wrong ones of it."""
    axes, rows = axes_for(axes), report.rows
    y = np.arange(len(rows))
    axes.barh(y, [row.share for row in rows], color=POSSIBLE, label="decided")
    wrong = [row.wrong / row.samples for row in rows]
    axes.barh(y, wrong, color=CERTAIN, label="of these wrong")
    axes.set_yticks(y, [plot_text(row.group or "all samples") for row in rows])
    axes.invert_yaxis()
    axes.set(xlabel="share of the samples", title="Decided cases by group", xlim=(0, 1))
    axes.legend(loc="lower right")
    return axes
