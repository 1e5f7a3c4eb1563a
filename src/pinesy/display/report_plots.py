"""Plots of reports: learned parameters, tolerances, audits, decisions, coverage and drift.

Each function draws on the axes that it is given, or on new ones, and returns them.
"""

from typing import Any

import numpy as np

from pinesy.calibration.coverage_report import CoverageReport
from pinesy.calibration.drift_monitor import DriftMonitor
from pinesy.display.markup import CERTAIN, DECIDES, GREY, LINES, POSSIBLE
from pinesy.display.plots import axes_for, plot_text
from pinesy.learning.audit import Audit
from pinesy.learning.evaluate import DecisionReport
from pinesy.learning.learning_arguments import show_group
from pinesy.learning.learning_result import LearnedCascade
from pinesy.learning.search_tolerances import ToleranceSearch


def plot_parameters(result: LearnedCascade[Any], axes: Any) -> Any:
    """Draw the parameters `s` and `r` of all rules that were learned."""
    axes = axes_for(axes)
    rule_sets = [result.cascade[name] for name in result.sets]
    starts = np.cumsum([0, *map(len, rule_sets)])
    x = np.arange(1, starts[-1] + 1)
    axes.plot(x, np.concatenate([s.s for s in rule_sets]), "o", color=POSSIBLE, label="s")
    axes.plot(x, np.concatenate([s.r for s in rule_sets]), "x", color=CERTAIN, label="r")
    label = f"rules on {plot_text(rule_sets[0].output.name)}"
    if len(rule_sets) > 1:
        label = "rules, set by set"
        axes.vlines(starts[1:-1] + 0.5, 0.0, 1.0, color="grey", linewidth=0.5)
    if 1 < len(rule_sets) <= LINES:
        middles = (starts[:-1] + starts[1:] + 1) / 2
        axes.set_xticks(middles, [plot_text(s.output.name, 12) for s in rule_sets])
    axes.set(xlabel=label, ylabel="parameter", ylim=(-0.03, 1.03))
    axes.set_title("Parameters of the rules")
    axes.legend()
    return axes


def plot_tolerances(search: ToleranceSearch, axes: Any) -> Any:
    """Draw the metric of each trial, of one group against its tolerance."""
    axes = axes_for(axes)
    trials = [(i, e) for i, e in enumerate(search.evaluations, 1) if e.metric is not None]
    label, x = "trial", [float(i) for i, _ in trials]
    if len(search.tolerances) == 1:
        label = f"tolerance {plot_text(f'tau {show_group(next(iter(search.tolerances)))}')}"
        x = [next(iter(evaluation.tolerances.values())) for _, evaluation in trials]
    axes.plot(x, [evaluation.metric for _, evaluation in trials], ".", color=CERTAIN)
    axes.set(xlabel=label, ylabel="metric", title="Trials of tolerances")
    return axes


def plot_audit(audit: Audit, axes: Any) -> Any:
    """Draw the distances and suspicions of all samples, from the worst on."""
    axes, x = axes_for(axes), np.arange(1, len(audit) + 1)
    for degrees, colour, label in (
        (audit.worst, CERTAIN, "distance"),
        (audit.suspicion, DECIDES, "suspicion"),
    ):
        axes.plot(x, np.sort(degrees)[::-1], color=colour, label=label)
    axes.set(xlabel="samples, the worst first", ylabel="degree", ylim=(-0.03, 1.03))
    axes.set_title("How badly samples contradict the rules")
    axes.legend()
    return axes


def plot_selective_accuracy(report: DecisionReport, axes: Any) -> Any:
    """Draw the accuracy on the surest samples."""
    axes = axes_for(axes)
    share = np.arange(1, report.samples + 1) / report.samples
    axes.plot(share, report.selective_accuracy, color=CERTAIN)
    axes.axhline(report.scores.accuracy, color=DECIDES, linewidth=1, linestyle="--")
    axes.set(
        xlabel="share of the samples, the surest first",
        ylabel="right",
        title="Accuracy on the surest samples",
        xlim=(0, 1),
    )
    return axes


def plot_calibration(report: DecisionReport, axes: Any) -> Any:
    """Draw how often a class is true against its predicted chance; dots grow with the samples."""
    axes = axes_for(axes)
    scores = report.classes
    assert scores is not None
    bins = scores.calibration
    axes.plot([0, 1], [0, 1], color=DECIDES, linewidth=1, linestyle="--")
    x, y = [b.predicted for b in bins], [b.observed for b in bins]
    axes.plot(x, y, color=CERTAIN, linewidth=1)
    axes.scatter(x, y, s=[400 * b.samples / report.samples for b in bins], color=CERTAIN)
    name = "the prediction" if scores.calibrated is None else plot_text(scores.calibrated)
    axes.set(
        xlabel=f"chance of {name}",
        ylabel="true",
        title="Calibration",
        xlim=(-0.03, 1.03),
        ylim=(-0.03, 1.03),
    )
    return axes


def plot_confusion(report: DecisionReport, axes: Any) -> Any:
    """Draw true values by predicted ones, as shares of each true value."""
    axes = axes_for(axes)
    from matplotlib.colors import LinearSegmentedColormap, to_rgba

    counts = report.confusion
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    # Clear to nearly opaque: text of any page, black or white, has a contrast of 5 on each.
    shades = LinearSegmentedColormap.from_list(
        "shares", [to_rgba(POSSIBLE, 0.0), to_rgba(POSSIBLE, 0.85)]
    )
    axes.imshow(shares, cmap=shades, vmin=0, vmax=1)
    names = [*map(plot_text, report.values), "undecided"]
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
    axes.set_yticks(range(len(report.values)), names[:-1])
    axes.set(xlabel="predicted", ylabel="true", title="Confusion")
    if counts.size <= 200:
        for (row, column), count in np.ndenumerate(counts):
            axes.text(column, row, str(count), ha="center", va="center", fontsize=9)
    return axes


def plot_coverage(report: CoverageReport, axes: Any) -> Any:
    """Draw nominal and observed coverage and the share of single answers."""
    axes, rows = axes_for(axes), report.of("all")
    x, levels = np.arange(len(rows)), [row.level for row in rows]
    observed = np.array([row.observed for row in rows])
    band = np.abs(np.array([[row.low for row in rows], [row.high for row in rows]]) - observed)
    axes.errorbar(x, observed, yerr=band, fmt="o", color=CERTAIN, capsize=4, label="observed")
    axes.hlines(levels, x - 0.3, x + 0.3, color=GREY, label="nominal")
    single = [row.single for row in rows]
    axes.plot(x, single, ".--", color=POSSIBLE, linewidth=1, label="single answers")
    axes.set_xticks(x, [f"{level:.4g}" for level in levels])
    axes.set(xlabel="level", ylabel="share of the samples", title="Coverage", ylim=(None, 1.02))
    axes.legend()
    return axes


def plot_drift(monitor: DriftMonitor, axes: Any) -> Any:
    """Draw the path of the martingale and the line of alarm."""
    axes = axes_for(axes)
    times, logarithms = monitor.path
    axes.plot(times, logarithms / np.log(10.0), color=CERTAIN, label="evidence of a change")
    threshold = monitor.test.threshold / np.log(10.0)
    axes.axhline(threshold, color=DECIDES, linewidth=1, linestyle="--", label="alarm")
    if monitor.alarm is not None:
        axes.axvline(monitor.alarm, color=DECIDES, linewidth=1)
    axes.set(xlabel="sample", ylabel="martingale (powers of 10)", title=repr(monitor)[13:-1])
    axes.legend()
    return axes
