"""Tables of answers with a guarantee: nominal and observed coverage, and what it costs.

The picture of docs/guarantees.md draws the first two:
``python -m reproduction.guarantee_tables docs/results/records docs/pictures/guarantees.svg``
"""

import sys
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from pinesy._common.files import atomic_bytes
from pinesy._common.validation import printable
from reproduction.groups import figure
from reproduction.guarantees import LEVELS, read_guarantees
from reproduction.result_tables import NOTHING, Cells, ResultTable, number_text, problem_name

Record = Mapping[str, Any]
#: The problems in the picture.
SHOWN: Final = (("addition", 4), ("addition", 15), ("addition", 100), ("sudoku", 9))
#: What is drawn, what it is called, and how.
WAYS: Final = {
    "inputs, unit sample": ("calibrated inputs", {"color": "#1f77b4", "marker": "o"}),
    "answers": ("calibrated answers", {"color": "#2ca02c", "marker": "s"}),
    "possibilities as they are": ("not calibrated", {"color": "#d62728", "marker": "x"}),
}
READING: Final = (
    "Samples of images that the network was not trained on are split at random, one half "
    "calibrates and the other is for test; figures are means over the splits (covered: with the "
    "standard deviation). A sample is covered if all its true answers are in their sets together, "
    "and has a single answer if each set has one value; the size is the number of combinations of "
    "values. A dash: too few calibration samples for the level.",
    "Calibrated inputs (unit sample) and calibrated answers guarantee the level; unit input does "
    "so for each image alone, and of possibilities as they are nothing is known. Where the network "
    "is right more often than the level asks, sets have one value and coverage is its accuracy; "
    "split conformal prediction of sums as classes then leaves sets empty.",
)


def network_note(records: Sequence[Record]) -> str:
    """Say which networks they are, and how well they read."""
    notes = dict.fromkeys(
        f"{problem_name(r['problem'], r['size'])}: {r['network']['architecture']}, "
        f"{r['network']['epochs']} epochs, {100 * r['digit_accuracy']:.2f} % of unseen digits right"
        for r in records
    )
    return printable("Networks (of run 0): " + "; ".join(notes) + ".")


def guarantee_tables(records: Sequence[Record]) -> tuple[ResultTable, ...]:
    """Return a table for each problem, of sorted records."""
    groups = groupby(records, lambda r: (r["problem"], r["size"]))
    return tuple(_table(problem, size, list(group)) for (problem, size), group in groups)


def _table(problem: str, size: int, records: Sequence[Record]) -> ResultTable:
    first = records[0]
    caption = (
        f"{problem_name(problem, size)}: sets of answers; {first['calibration']} samples "
        f"calibrate, {first['test']} test, {len(records)} splits"
    )
    methods = list(first["ways"])
    rows = [_row(method, i, level, records) for method in methods for i, level in enumerate(LEVELS)]
    return ResultTable.of(caption, rows)


def _row(method: str, index: int, level: float, records: Sequence[Record]) -> Cells:
    figures: list[Any] = [
        r["ways"][method][index] if method in r["ways"] else None for r in records
    ]
    cells = {"method": method, "level, %": f"{100 * level:g}"}
    if any(figures_of_split is None for figures_of_split in figures):
        titles = "covered, %", "single answers, %", "mean size", "median size"
        return {**cells, **dict.fromkeys(titles, NOTHING)}
    covered = figure(100 * figures_of_split["covered"] for figures_of_split in figures)
    means = {
        key: figure(figures_of_split[key] for figures_of_split in figures).mean
        for key in ("single", "mean", "median")
    }
    deviation = "" if covered.deviation is None else f" ± {covered.deviation:.2f}"
    return {
        **cells,
        "covered, %": f"{covered.mean:.2f}{deviation}",
        "single answers, %": f"{100 * means['single']:.1f}",
        "mean size": _size(means["mean"]),
        "median size": _size(means["median"]),
    }


def _size(number: float) -> str:
    return f"{number:.1e}" if number >= 1e6 else number_text(number)


def draw(records: list[dict[str, Any]], path: Path) -> None:
    """Draw observed against nominal coverage of some problems."""
    import matplotlib as mpl

    mpl.use("agg")
    mpl.rcParams.update({"svg.hashsalt": "pinesy", "svg.fonttype": "none"})
    import matplotlib.pyplot as plt

    groups = {
        key: list(group) for key, group in groupby(records, lambda r: (r["problem"], r["size"]))
    }
    sheet, plots = plt.subplots(1, len(SHOWN), figsize=(11, 3.1), sharey=True)
    for plot, key in zip(plots, SHOWN, strict=True):
        _one(plot, groups[key], problem_name(*key))
    plots[0].set_ylabel("true answers in their sets, %")
    plots[-1].legend(fontsize=8, loc="lower right")
    sheet.tight_layout()
    with atomic_bytes(path) as stream:
        sheet.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})


def _one(plot: Any, records: list[dict[str, Any]], title: str) -> None:
    plot.plot([78, 100], [78, 100], color="#888888", linewidth=1)
    for method, (name, style) in WAYS.items():
        by_level = {
            level: [r["ways"][method][i] for r in records] for i, level in enumerate(LEVELS)
        }
        known = {
            level: level_figures
            for level, level_figures in by_level.items()
            if None not in level_figures
        }
        observed = [
            figure(100 * figures["covered"] for figures in level_figures).mean
            for level_figures in known.values()
        ]
        plot.plot([100 * level for level in known], observed, label=name, linewidth=1, **style)
    plot.set(title=title, xlabel="level, %")


if __name__ == "__main__":
    draw(read_guarantees(Path(sys.argv[1])), Path(sys.argv[2]))
