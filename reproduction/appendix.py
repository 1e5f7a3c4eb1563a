"""Tables as in the paper's appendices: what learning found, and what it changes."""

from collections.abc import Iterable, Sequence
from typing import Final

from reproduction.groups import Group, figure
from reproduction.published import Figure, Learning, paper_learning
from reproduction.records import Record
from reproduction.result_tables import NOTHING, Row, Table, figure_text, number_text, problem_name

LEARNING: Final = (
    "experiment",
    "setting",
    "method",
    "group",
    "threshold",
    "reliable samples, min / mean / max",
    "of",
    "largest parameter",
    "distance of the stacked systems",
    "paper: threshold",
    "paper: reliable samples",
    "paper: mean s, mean r",
)


def learning_table(groups: Iterable[Group]) -> Table:
    """Return thresholds, reliable samples and parameters, a row for each group of rule sets.

    The minimum and maximum are over all rule sets of a group and all runs, the mean is the mean
    over the sets, averaged over the runs.
    """
    rows = [row for g in groups for row in _learning_rows(g)]
    return Table("Thresholds, reliable samples and learned parameters", LEARNING, tuple(rows))


def _learning_rows(group: Group) -> list[Row]:
    names = sorted({n for r in group.records for n in r.content["reliable"]})
    theirs = {} if group.scale else paper_learning(*group.records[0].place)
    return [_learning_row(group, name, theirs.get(name)) for name in names]


def _learning_row(group: Group, name: str, theirs: Learning | None) -> Row:
    place = problem_name(group.problem, group.size), group.setting, group.method, name
    threshold = group.mean(lambda r: r.content["thresholds"].get(name))
    samples = sorted({r.content["samples"]["train"] for r in group.records})
    found = _constant_text(threshold), _reliable_text(group, name), _counts_text(samples)
    worst = _largest(group, "largest_parameter"), _largest(group, "distance")
    return Row((*place, *found, *worst, *_paper_texts(theirs)))


def _counts_text(counts: Sequence[int]) -> str:
    return " or ".join(f"{n:,}" for n in counts)


def _reliable_text(group: Group, name: str) -> str:
    found = [r.content["reliable"][name] for r in group.records if name in r.content["reliable"]]
    low, mean, high = (list(column) for column in zip(*found, strict=True))
    average = figure([float(m) for m in mean]).mean
    return f"{min(low):,} / {average:,.1f} / {max(high):,}"


def _largest(group: Group, field: str) -> str:
    values = group.values(lambda r: r.content[field])
    return number_text(max(values)) if values else NOTHING


def _constant_text(found: Figure | None) -> str:
    """Return a figure, without the deviation if that is 0."""
    if found is not None and not found.deviation:
        return number_text(found.mean)
    return figure_text(found)


def _paper_texts(theirs: Learning | None) -> tuple[str, str, str]:
    if theirs is None:
        return NOTHING, NOTHING, NOTHING
    parameters = f"{number_text(theirs.s.mean)}, {number_text(theirs.r.mean)}"
    return _constant_text(theirs.threshold), figure_text(theirs.reliable), parameters


ANSWERS: Final = (
    "experiment",
    "setting",
    "run",
    "accuracy, %",
    "digit accuracy, %",
    "reading",
    "starts: right answers for validation, %",
    "labels that answers corrected, %",
    "labels right after that, %",
    "training, s",
)


def answers_table(groups: Iterable[Group]) -> Table:
    """Return how each network learned that had answers only, and whether it calls digits right.

    Of runs that differ in the transformation only, the first.
    """
    rows: dict[tuple[object, ...], Row] = {}
    for r in (r for g in groups for r in g.records if "start" in r.content["network"]):
        rows.setdefault((*r.place[:3], r.run), _answers_row(r))
    left = frozenset({"experiment", "setting", "reading"})
    return Table("Networks that learned from answers alone", ANSWERS, tuple(rows.values()), left)


def _answers_row(record: Record) -> Row:
    content, start = record.content, record.content["network"]["start"]
    problem, size, setting, _ = record.place
    scores = ", ".join(f"{100.0 * score:.1f}" for score in start["scores"].values())
    accuracies = (f"{100.0 * content[name]:.2f}" for name in ("accuracy", "digit_accuracy"))
    what = problem_name(problem, size), setting, str(record.run), *accuracies
    right = start.get("labels_right")
    labels = f"{100.0 * start['corrected']:.2f}", _word(right and f"{100.0 * right:.2f}")
    end = *labels, number_text(record.seconds["training"])
    return Row((*what, content["reading"], scores, *end))


ABLATION: Final = (
    "experiment",
    "method",
    "with learning, %",
    "all parameters zero, %",
    "runs in both",
    "equal?",
)


def ablation_table(groups: Sequence[Group]) -> Table:
    """Return the accuracy with and without possibilistic learning, run by run."""
    rows = []
    for zero in (g for g in groups if g.setting == "ablation"):
        place = zero.problem, zero.size, "normal", zero.transform
        learned = [g for g in groups if g.records[0].place == place]
        rows.append(_ablation_row(zero, learned[0] if learned else None))
    return Table("Ablation: possibilistic learning or none", ABLATION, tuple(rows))


def _ablation_row(zero: Group, learned: Group | None) -> Row:
    name = problem_name(zero.problem, zero.size), zero.method
    if learned is None:
        return Row((*name, NOTHING, figure_text(zero.accuracy, places=2), "0", NOTHING))
    with_learning = {r.run: r for r in learned.records}
    pairs = [(with_learning[r.run], r) for r in zero.records if r.run in with_learning]
    accuracies = [figure_text(g.accuracy, places=2) for g in (learned, zero)]
    return Row((*name, *accuracies, str(len(pairs)), _equal_text(pairs)))


def _equal_text(pairs: Sequence[tuple[Record, Record]]) -> str:
    if not pairs:
        return NOTHING
    differ = [(a, b) for a, b in pairs if a.content["right"] != b.content["right"]]
    if not differ:
        return "yes, in every run"
    most = max(abs(a.content["accuracy"] - b.content["accuracy"]) for a, b in differ)
    runs = ", ".join(str(a.run) for a, _ in differ)
    return f"no: runs {runs} differ, by up to {100.0 * most:.2f} points"


ENVIRONMENT: Final = ("commit", "pinesy", "torch", "numpy", "python", "machine", "cores", "threads")


def environment_table(records: Iterable[Record]) -> Table:
    """Return where the records were made, and how many at each place."""
    counts: dict[tuple[str, ...], int] = {}
    for r in records:
        known = r.content["environment"]
        place = tuple(_word(known.get(name)) for name in ENVIRONMENT)
        counts[place] = counts.get(place, 0) + 1
    rows = tuple(Row((*place, str(n))) for place, n in sorted(counts.items()))
    left = frozenset({*ENVIRONMENT[:6]})
    return Table("Where the records were made", (*ENVIRONMENT, "records"), rows, left)


NETWORK: Final = ("architecture", "recipe", "epochs")


def network_table(records: Iterable[Record]) -> Table:
    """Return the networks: how they were trained, and how many of each kind there are."""
    kinds: dict[tuple[str, ...], set[str]] = {}
    for r in records:
        network = r.content["network"]
        recipe = _recipe_text(network.get("recipe"))
        made = _word(network.get("architecture")), recipe, _word(network.get("epochs"))
        kind = r.place[0], r.place[2], *made, _word(network.get("best_of"))
        kinds.setdefault(kind, set()).add(_word(network.get("fingerprint")))
    rows = tuple(Row((*kind, str(len(found)))) for kind, found in sorted(kinds.items()))
    columns = "problem", "setting", *NETWORK, "best of", "networks"
    return Table("The networks", columns, rows, frozenset(columns[:4]))


def _recipe_text(recipe: object) -> str:
    """Return the settings of a recipe that tell it from others."""
    if not isinstance(recipe, dict):
        return _word(recipe)
    names = ["optimizer", "learning_rate", "schedule", "batch"]
    names += [name for name in ("augment", "augment_until", "average_from") if recipe.get(name)]
    return ", ".join(f"{name.replace('_', ' ')} {_word(recipe.get(name))}" for name in names)


def _word(value: object) -> str:
    return NOTHING if value is None else str(value)
