"""Plots of reports: learned parameters, tolerances, audits, decisions, coverage and drift.

Each function draws on the axes that it is given, or on new ones, and returns them.
"""

from typing import Any

import numpy as np

from pinesy._common.reports import count_text
from pinesy.calibration.coverage_report import CoverageReport
from pinesy.calibration.drift_monitor import DriftMonitor
from pinesy.display.markup import CERTAIN, DECIDES, LINES, POSSIBLE, POSSIBLE_FILL
from pinesy.display.plots import (
    AXES,
    CERTAIN_LINE,
    DECIDES_LINE,
    GRID,
    INK,
    POSSIBLE_LINE,
    REFERENCE,
    TEXT_SIZE,
    axes_for,
    finish,
    mark,
    plot_text,
)
from pinesy.display.report_parts import share_text
from pinesy.learning.audit import Audit
from pinesy.learning.evaluate import DecisionReport
from pinesy.learning.learning_arguments import show_group
from pinesy.learning.learning_result import LearnedCascade
from pinesy.learning.search_tolerances import ToleranceSearch

#: Cells of a confusion that have their counts.
MAX_CELLS = 200


def plot_parameters(result: LearnedCascade[Any], axes: Any) -> Any:
    """Draw the parameters `s` and `r` of all rules that were learned."""
    axes = axes_for(axes)
    rule_sets = [result.cascade[name] for name in result.sets]
    starts = np.cumsum([0, *map(len, rule_sets)])
    x = np.arange(1, starts[-1] + 1)
    s, r = (
        np.concatenate([getattr(rule_set, key) for rule_set in rule_sets]) for key in ("s", "r")
    )
    axes.plot(x, s, "o", color=POSSIBLE, markerfacecolor="white", label="s")
    axes.plot(x, r, "o", color=CERTAIN, label="r")
    label = f"rules on {plot_text(rule_sets[0].output.name)}"
    if len(rule_sets) > 1:
        label = "rules, set by set"
        axes.vlines(starts[1:-1] + 0.5, 0.0, 1.0, color=GRID, linewidth=1)
    if 1 < len(rule_sets) <= LINES:
        middles = (starts[:-1] + starts[1:] + 1) / 2
        axes.set_xticks(middles, [plot_text(s.output.name, 12) for s in rule_sets])
    axes.set_ylim(-0.03, 1.03)
    largest = int(r.argmax())
    mark(axes, float(x[largest]), float(r[largest]), f"largest r: {r[largest]:.2g}")
    return finish(axes, "Parameters of the rules", label, "parameter", legend=True)


def plot_tolerances(search: ToleranceSearch, axes: Any) -> Any:
    """Draw the metric of each trial, of one group against its tolerance."""
    axes = axes_for(axes)
    trials = [(i, e) for i, e in enumerate(search.evaluations, 1) if e.metric is not None]
    label, x = "trial", [float(i) for i, _ in trials]
    if len(search.tolerances) == 1:
        label = f"tolerance {plot_text(f'tau {show_group(next(iter(search.tolerances)))}')}"
        x = [next(iter(evaluation.tolerances.values())) for _, evaluation in trials]
    metrics = [evaluation.metric for _, evaluation in trials]
    axes.plot(x, metrics, "o", color=CERTAIN, markersize=4)
    if metrics:
        best = max(range(len(metrics)), key=lambda i: metrics[i] or 0.0)
        mark(axes, x[best], metrics[best] or 0.0, f"best: {metrics[best]:.4g}")
    return finish(axes, "Trials of tolerances", label, "metric")


def plot_audit(audit: Audit, axes: Any) -> Any:
    """Draw the distances and suspicions of all samples, from the worst on."""
    axes, x = axes_for(axes), np.arange(1, len(audit) + 1)
    axes.plot(x, np.sort(audit.worst)[::-1], **POSSIBLE_LINE | {"marker": ""}, label="distance")
    axes.plot(x, np.sort(audit.suspicion)[::-1], **CERTAIN_LINE, label="suspicion")
    count = int(audit.suspicious.sum())
    if count:
        axes.axvline(count, **DECIDES_LINE | {"linestyle": ":"})
        axes.annotate(
            count_text(count, "label", "suspicious "), (count, 0.3), (6, 0), va="top",
            textcoords="offset points", fontsize=TEXT_SIZE, fontweight="bold", color=INK,
        )  # fmt: skip
    axes.set_ylim(-0.03, 1.03)
    title = "How badly samples contradict the rules"
    return finish(axes, title, "samples, the worst first", "degree", legend=True)


def plot_selective_accuracy(report: DecisionReport, axes: Any) -> Any:
    """Draw the accuracy on the surest samples."""
    axes = axes_for(axes)
    share = np.arange(1, report.samples + 1) / report.samples
    axes.plot(share, report.selective_accuracy, **CERTAIN_LINE)
    decided = max(1, round((1.0 - report.scores.undecided) * report.samples))
    right = float(report.selective_accuracy[decided - 1])
    scope = "decided" if decided < report.samples else "all"
    axes.set(xlim=(0, 1.02), ylim=(None, 1.02))
    mark(axes, float(share[decided - 1]), right, f"{scope}: {share_text(right)}")
    title = "Right among the surest samples"
    return finish(axes, title, "share of the samples, the surest first", "right")


def plot_calibration(report: DecisionReport, axes: Any) -> Any:
    """Draw how often a class is true against its predicted chance; dots grow with the samples."""
    axes = axes_for(axes)
    scores = report.classes
    assert scores is not None
    bins = scores.calibration
    axes.plot([0, 1], [0, 1], **REFERENCE)
    x, y = [b.predicted for b in bins], [b.observed for b in bins]
    axes.plot(x, y, **CERTAIN_LINE)
    axes.scatter(x, y, s=[400 * b.samples / report.samples for b in bins], color=CERTAIN)
    name = "the prediction" if scores.calibrated is None else plot_text(scores.calibrated)
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    farthest = max(range(len(bins)), key=lambda i: abs(x[i] - y[i]))
    mark(axes, x[farthest], y[farthest], f"farthest: {share_text(y[farthest])}")
    return finish(axes, "Calibration", f"chance of {name}", "true")


def plot_confusion(report: DecisionReport, axes: Any) -> Any:
    """Draw true values by predicted ones, as shares of each true value."""
    axes = axes_for(axes)
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    counts = report.confusion
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shades = LinearSegmentedColormap.from_list("shares", ["white", POSSIBLE_FILL, POSSIBLE])
    axes.imshow(shares, cmap=shades, vmin=0, vmax=1.2)
    names = [*map(plot_text, report.values), "undecided"]
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
    axes.set_yticks(range(len(report.values)), names[:-1])
    if counts.size <= MAX_CELLS:
        for (row, column), count in np.ndenumerate(counts):
            axes.text(
                column, row, str(count), ha="center", va="center", fontsize=TEXT_SIZE, color=INK
            )
    errors = counts.copy()
    np.fill_diagonal(errors, 0)
    if errors.any():  # the most frequent error is the one thing to see
        row, column = np.unravel_index(errors.argmax(), errors.shape)
        corner = (float(column) - 0.5, float(row) - 0.5)
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=DECIDES, linewidth=2))
    finish(axes, "Confusion", "predicted", "true").grid(visible=False)
    return axes


def plot_coverage(report: CoverageReport, axes: Any) -> Any:
    """Draw nominal and observed coverage and the share of single answers."""
    axes, rows = axes_for(axes), report.of("all")
    x, levels = np.arange(len(rows)), [row.level for row in rows]
    observed = np.array([row.observed for row in rows])
    band = np.abs(np.array([[row.low for row in rows], [row.high for row in rows]]) - observed)
    style = CERTAIN_LINE | {"linestyle": "", "linewidth": 1.5}
    axes.errorbar(x, observed, yerr=band, fmt="o", **style, capsize=4, label="observed")
    axes.hlines(levels, x - 0.3, x + 0.3, color=AXES, linestyle="--", label="nominal")
    single = [row.single for row in rows]
    axes.plot(x, single, **POSSIBLE_LINE, linewidth=1, label="single answers")
    axes.set_xticks(x, [f"{level:.4g}" for level in levels])
    axes.set_ylim(None, 1.02)
    lowest = int(np.argmin(observed - levels))
    text = f"{share_text(float(observed[lowest]))} at {levels[lowest]:g}"
    mark(axes, float(x[lowest]), float(observed[lowest]), text)
    return finish(axes, "Coverage", "level", "share of the samples", legend=True)


def plot_drift(monitor: DriftMonitor, axes: Any) -> Any:
    """Draw the path of the martingale and the line of alarm."""
    axes = axes_for(axes)
    times, logarithms = monitor.path
    axes.plot(times, logarithms / np.log(10.0), **CERTAIN_LINE, label="evidence of a change")
    threshold = monitor.test.threshold / np.log(10.0)
    axes.axhline(threshold, **REFERENCE, label="line of alarm")
    if monitor.alarm is not None:
        axes.axvline(monitor.alarm, **DECIDES_LINE, label="alarm")
    title, y_label = repr(monitor)[13:-1], "martingale (powers of 10)"
    return finish(axes, title, "sample", y_label, legend=True)
