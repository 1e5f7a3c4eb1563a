"""Plots of what was learned and of what was judged: parameters of rules, suspicious samples."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pinesy._common.markup import BLUE, LINES, ORANGE
from pinesy._common.pages import plot_text
from pinesy._common.validation import FloatArray
from pinesy.rulebase.cascade import Cascade


def draw_parameters(axes: Any, cascade: Cascade, names: Mapping[str, Any]) -> None:
    """Draw `s` and `r` of the rules of some sets, one set after the other."""
    sets = [cascade[name] for name in names]
    starts = np.cumsum([0, *map(len, sets)])
    places = np.arange(1, starts[-1] + 1)
    axes.plot(places, np.concatenate([s.s for s in sets]), "o", color=BLUE, label="s")
    axes.plot(places, np.concatenate([s.r for s in sets]), "x", color=ORANGE, label="r")
    if len(sets) > 1:
        axes.vlines(starts[1:-1] + 0.5, 0.0, 1.0, color="grey", linewidth=0.5)
    if 1 < len(sets) <= LINES:
        middles = (starts[:-1] + starts[1:] + 1) / 2
        axes.set_xticks(middles, [plot_text(s.output.name, 12) for s in sets])
    label = "rules, set by set" if len(sets) > 1 else f"rules on {plot_text(sets[0].output.name)}"
    axes.set(xlabel=label, ylabel="parameter", ylim=(-0.03, 1.03), title="Parameters of the rules")
    axes.legend()


def draw_suspicion(axes: Any, suspicion: FloatArray, nabla: FloatArray) -> None:
    """Draw the distances and suspicions of samples, each from the largest on."""
    for values, colour, label in ((nabla, BLUE, "distance"), (suspicion, ORANGE, "suspicion")):
        axes.plot(np.arange(1, len(values) + 1), np.sort(values)[::-1], color=colour, label=label)
    axes.set(xlabel="samples, the worst first", ylabel="degree", ylim=(-0.03, 1.03))
    axes.set_title("How badly samples contradict the rules")
    axes.legend()
