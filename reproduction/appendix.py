"""Tables as in the paper's appendices: what learning found, and what it changes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from reproduction.groups import RunGroup
from reproduction.published import Figure, Learning, paper_learning
from reproduction.records import seconds_table
from reproduction.result_tables import (
    NOTHING,
    Cells,
    ResultTable,
    figure_text,
    number_text,
    percent_text,
    problem_name,
)

ENVIRONMENT: Final = ["commit", "pinesy", "torch", "numpy", "python", "machine", "cores", "threads"]


def learning_table(groups: Iterable[RunGroup]) -> ResultTable:
    """Return thresholds, reliable samples and parameters, a row for each group of rule sets.

    The minimum and maximum are over all rule sets of a group and all runs, the mean is the mean
    over the sets, averaged over the runs.
    """
    rows = [
        _learning_row(group, name, theirs.get(name))
        for group in groups
        for theirs in [_published_learning(group)]
        for name in sorted({name for reliable in group.runs["reliable"] for name in reliable})
    ]
    return ResultTable.of("Thresholds, reliable samples and learned parameters", rows)


def _published_learning(group: RunGroup) -> Mapping[str, Learning]:
    key = group.problem, group.size, group.setting, group.transform
    return {} if group.scale else paper_learning(*key)


def _learning_row(group: RunGroup, name: str, theirs: Learning | None) -> Cells:
    counts = sorted({samples["train"] for samples in group.runs["samples"]})
    thresholds = [thresholds.get(name) for thresholds in group.runs["thresholds"]]
    return {
        "experiment": problem_name(group.problem, group.size),
        "setting": group.setting,
        "method": group.method,
        "group": name,
        "threshold": _constant_text(group.figure_of(thresholds)),
        "reliable samples, min / mean / max": _reliable_text(group, name),
        "of": " or ".join(f"{n:,}" for n in counts),
        "largest parameter": _largest_text(group, "largest_parameter"),
        "distance of the stacked systems": _largest_text(group, "distance"),
        "paper: threshold": _constant_text(theirs.threshold) if theirs else NOTHING,
        "paper: reliable samples": figure_text(theirs.reliable) if theirs else NOTHING,
        "paper: mean s, mean r": (
            f"{number_text(theirs.s.mean)}, {number_text(theirs.r.mean)}" if theirs else NOTHING
        ),
    }


def _reliable_text(group: RunGroup, name: str) -> str:
    triples = [reliable[name] for reliable in group.runs["reliable"] if name in reliable]
    counts = pd.DataFrame(triples, columns=["low", "mean", "high"])
    return f"{counts.low.min():,} / {counts['mean'].mean():,.1f} / {counts.high.max():,}"


def _largest_text(group: RunGroup, column: str) -> str:
    values = group.runs[column].dropna()
    return number_text(float(values.max()) if len(values) else None)


def _constant_text(figure: Figure | None) -> str:
    """Return a figure, without the deviation if that is 0."""
    return number_text(figure.mean) if figure and not figure.deviation else figure_text(figure)


def answers_table(groups: Iterable[RunGroup]) -> ResultTable:
    """Return how each network learned that had answers only, and whether it calls digits right.

    Of runs that differ in the transformation only, the first.
    """
    rows: dict[tuple[Any, ...], Cells] = {}
    for group in groups:
        for run in group.runs.to_dict("records"):
            if "start" in run["network"]:
                key = group.problem, group.size, group.setting, run["run"]
                rows.setdefault(key, _answers_row(group, run))
    return ResultTable.of("Networks that learned from answers alone", rows.values())


def _answers_row(group: RunGroup, run: Mapping[str, Any]) -> Cells:
    start = run["network"]["start"]
    right = start.get("labels_right")
    training = seconds_table([run["seconds"]])["training"].item()
    return {
        "experiment": problem_name(group.problem, group.size),
        "setting": group.setting,
        "run": str(run["run"]),
        "accuracy, %": f"{run['accuracy']:.2f}",
        "digit accuracy, %": f"{run['digit_accuracy']:.2f}",
        "reading": run["reading"],
        "starts: right answers for validation, %": ", ".join(
            f"{100.0 * score:.1f}" for score in start["scores"].values()
        ),
        "labels that answers corrected, %": f"{100.0 * start['corrected']:.2f}",
        "labels right after that, %": f"{100.0 * right:.2f}" if right else _word(right),
        "training, s": number_text(training),
    }


def ablation_table(groups: Sequence[RunGroup]) -> ResultTable:
    """Return the accuracy with and without possibilistic learning, run by run."""
    normal = {(g.problem, g.size, g.transform): g for g in groups if g.setting == "normal"}
    rows = [
        _ablation_row(zero, normal.get((zero.problem, zero.size, zero.transform)))
        for zero in groups
        if zero.setting == "ablation"
    ]
    return ResultTable.of("Ablation: possibilistic learning or none", rows)


def _ablation_row(zero: RunGroup, learned: RunGroup | None) -> Cells:
    columns = ["run", "right", "accuracy"]
    learned_runs = learned.runs if learned else zero.runs[:0]
    runs = zero.runs[columns].merge(learned_runs[columns], on="run", suffixes=("", "_learned"))
    return {
        "experiment": problem_name(zero.problem, zero.size),
        "method": zero.method,
        "with learning, %": percent_text(learned.accuracy if learned else None),
        "all parameters zero, %": percent_text(zero.accuracy),
        "runs in both": str(len(runs)),
        "equal?": _equal_text(runs),
    }


def _equal_text(runs: pd.DataFrame) -> str:
    if runs.empty:
        return NOTHING
    differ = runs[runs["right"] != runs["right_learned"]]
    if differ.empty:
        return "yes, in every run"
    most = (differ["accuracy"] - differ["accuracy_learned"]).abs().max()
    return f"no: runs {', '.join(map(str, differ['run']))} differ, by up to {most:.2f} points"


def environment_table(records: pd.DataFrame) -> ResultTable:
    """Return where the records were made, and how many at each place."""
    rows = [{name: _word(e.get(name)) for name in ENVIRONMENT} for e in records["environment"]]
    counts = pd.DataFrame(rows).groupby(ENVIRONMENT).size().rename("records").reset_index()
    return ResultTable.of("Where the records were made", counts.astype(str).to_dict("records"))


def network_table(records: pd.DataFrame) -> ResultTable:
    """Return the networks: how they were trained, and how many of each kind there are."""
    rows = [_network_row(record) for record in records.to_dict("records")]
    table = pd.DataFrame(rows)
    kinds = [column for column in table if column != "networks"]
    counts = table.groupby(kinds)["networks"].nunique().reset_index()
    return ResultTable.of("The networks", counts.astype(str).to_dict("records"))


def _network_row(record: Mapping[str, Any]) -> dict[str, str]:
    network = record["network"]
    return {
        "problem": record["problem"],
        "setting": str(record["setting"]),
        "architecture": _word(network.get("architecture")),
        "recipe": _recipe_text(network.get("recipe")),
        "epochs": _word(network.get("epochs")),
        "best of": _word(network.get("best_of")),
        "networks": _word(network.get("fingerprint")),
    }


def _recipe_text(recipe: object) -> str:
    """Return the settings of a recipe that tell it from others."""
    if not isinstance(recipe, dict):
        return _word(recipe)
    names = ["optimizer", "learning_rate", "schedule", "batch"]
    later = ("augment", "augment_until", "average_from", "precision")
    names += [name for name in later if recipe.get(name)]
    return ", ".join(f"{name.replace('_', ' ')} {_word(recipe.get(name))}" for name in names)


def _word(value: object) -> str:
    return NOTHING if value is None else str(value)
