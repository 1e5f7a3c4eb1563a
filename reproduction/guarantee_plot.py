"""The picture of docs/guarantees.md: coverage that was asked for, and coverage that came out.

``python -m reproduction.guarantee_plot docs/results/records docs/pictures/guarantees.svg``
"""

import sys
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from pinesy._common.files import writing_bytes
from reproduction.groups import figure
from reproduction.guarantees import LEVELS, read_guarantees
from reproduction.result_tables import problem_name

SHOWN: Final = (("addition", 4), ("addition", 15), ("addition", 100), ("sudoku", 9))
#: What is drawn, what it is called, and how.
WAYS: Final = {
    "inputs, unit sample": ("calibrated inputs", {"color": "#1f77b4", "marker": "o"}),
    "answers": ("calibrated answers", {"color": "#2ca02c", "marker": "s"}),
    "possibilities as they are": ("not calibrated", {"color": "#d62728", "marker": "x"}),
}


def draw(records: list[dict[str, Any]], path: Path) -> None:
    """Draw observed against nominal coverage of some problems."""
    import matplotlib as mpl

    mpl.use("agg")
    mpl.rcParams.update({"svg.hashsalt": "pinesy", "svg.fonttype": "none"})
    import matplotlib.pyplot as plt

    groups = {key: list(own) for key, own in groupby(records, lambda r: (r["problem"], r["size"]))}
    sheet, plots = plt.subplots(1, len(SHOWN), figsize=(11, 3.1), sharey=True)
    for plot, key in zip(plots, SHOWN, strict=True):
        _one(plot, groups[key], problem_name(*key))
    plots[0].set_ylabel("true answers in their sets, %")
    plots[-1].legend(fontsize=8, loc="lower right")
    sheet.tight_layout()
    with writing_bytes(path) as stream:
        sheet.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})


def _one(plot: Any, records: list[dict[str, Any]], title: str) -> None:
    plot.plot([78, 100], [78, 100], color="#888888", linewidth=1)
    for way, (name, style) in WAYS.items():
        found = {level: [r["ways"][way][i] for r in records] for i, level in enumerate(LEVELS)}
        known = {level: own for level, own in found.items() if None not in own}
        observed = [figure(100 * one["covered"] for one in own).mean for own in known.values()]
        plot.plot([100 * level for level in known], observed, label=name, linewidth=1, **style)
    plot.set(title=title, xlabel="level, %")


if __name__ == "__main__":
    draw(read_guarantees(Path(sys.argv[1])), Path(sys.argv[2]))
