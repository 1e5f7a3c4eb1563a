"""rsbench's sums, learned from answers alone: whether concepts are right, and the model knows.

Each run trains a network from several starts. The one that gives most answers for validation is
measured alone; all that give about as many together, by the maximum of their possibilities
(`pinesy.Combined`); and the one with all remappings kept possible that the sums leave open
(`Shortcuts.cautious`).
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from pinesy import (
    Combined,
    NeuroSymbolic,
    Shortcuts,
    antipignistic_inverse,
    check_concepts,
    shortcuts,
)
from pinesy._common.validation import FloatArray
from pinesy.nets import (
    START,
    AnsweredInputs,
    AnswerPhase,
    DeepSoftLogCNN,
    Recipe,
    RuleLayer,
    fit_from_starts,
    predict_proba,
    preprocess,
    using_threads,
)
from pinesy.rulebase.cascade import Cascade
from reproduction.environment import environment
from reproduction.result_tables import escaped
from reproduction.run_files import do_missing_files, read_file
from reproduction.scales import Images
from reproduction.standard_errors import mean_and_error
from reproduction.sum_splits import PairsPart, SumTask, sum_parts

FORMAT: Final = "pinesy.rsbench/1"
#: Starts whose validation answers are at most so much worse than the best one's are kept.
SLACK: Final = 0.02
EPOCHS: Final = 20
STARTS: Final = 5
#: The starts of a run have seeds of their own.
SEEDS_A_RUN: Final = 100
#: What is measured, and what the table calls it; each also out of distribution.
MEASURES: Final = {
    "label_accuracy": "answers right",
    "concept_accuracy": "concepts right",
    "concept_ece": "concept ECE",
    "collapse": "collapse",
    "concept_possible": "truth fully possible",
    "concept_decided": "concepts decided",
}

#: In what ways, and what the table calls them.
WAYS: Final = {"one": "one start", "combined": "starts combined", "cautious": "one, cautious"}


def answered(part: PairsPart, images: Images) -> AnsweredInputs:
    """Return samples with their sums, and nothing else that is known of them."""
    inputs = {
        name: preprocess(images.pixels[indices])
        for name, indices in zip(("left", "right"), part.images.T, strict=True)
    }
    return AnsweredInputs(inputs, {"total": part.digits.sum(axis=1)})


def starts_of(
    rules: Cascade,
    parts: Mapping[str, PairsPart],
    images: Images,
    recipe: Recipe,
    seeds: Iterable[int],
    directory: Path,
    say: Callable[[str], Any],
) -> tuple[dict[int, Any], dict[int, float]]:
    """Return the networks of all starts, and their shares of right answers for validation.

    Trainings have checkpoints in the directory, and go on from there.
    """
    train, valid = (answered(parts[name], images) for name in ("train", "valid"))
    classes, phase = len(rules.inputs[0].domain), AnswerPhase(RuleLayer(rules), recipe, "both")
    networks, scores = {}, {}
    for seed in seeds:
        start = fit_from_starts(
            lambda seed: DeepSoftLogCNN(classes, seed=seed),
            [phase],
            train,
            valid,
            seeds=[seed],
            enough=0.0,
            directory=directory,
            say=say,
        )
        networks[seed], scores[seed] = start.reader.network, start.score
    return networks, scores


class _Prediction:
    """Stands in for a network: its data are the numbers of images, which it has read already."""

    def __init__(self, probabilities: FloatArray) -> None:
        self.predict_proba = probabilities.__getitem__


def measured(
    rules: Cascade,
    readings: Sequence[FloatArray],
    part: PairsPart,
    doubt: Shortcuts | None = None,
) -> dict[str, Any]:
    """Return the measures of one network, or of several together, on the samples of a part.

    Parameters
    ----------
    readings : the probabilities (images, digits) that each network gives all images
    doubt : remappings of concepts that stay possible; answers are those of the readings
    """
    model = Combined([NeuroSymbolic(_Prediction(p), rules) for p in readings])
    total = model.predict_possibility(part.images)["total"]
    right = total.decided & (total.best == part.digits.sum(axis=1))
    degrees = model.evidence(part.images).reshape(-1, readings[0].shape[1])
    probabilities, digits = readings[0][part.images.ravel()], part.digits.ravel()
    if doubt is not None:
        degrees = doubt.cautious({"left": degrees})["left"]
    if doubt is not None or len(readings) > 1:
        probabilities = _guessed(antipignistic_inverse(degrees))
    check = check_concepts(rules.inputs[0], probabilities, digits)
    fully = degrees == 1.0
    return {
        "label_accuracy": float(right.mean()),
        "concept_accuracy": check.accuracy,
        "concept_ece": check.calibration_error,
        "collapse": check.collapse,
        "concept_possible": float(fully[np.arange(len(digits)), digits].mean()),
        "concept_decided": float((fully.sum(axis=1) == 1).mean()),
        "confusion": check.confusion.tolist(),
    }


def _guessed(probabilities: FloatArray) -> FloatArray:
    """Return probabilities without ties, so that of equal ones any may be read, not the first."""
    noise = np.random.default_rng(0).random(probabilities.shape)
    return probabilities * (1.0 - 1e-9 * noise)


def _kept(scores: Mapping[int, float]) -> list[int]:
    """Return the seeds of the start that gives most answers, and of those that give about as many.

    Examples
    --------
    >>> _kept({0: 0.97, 1: 0.98, 2: 0.5})
    [1, 0]
    """
    best = max(scores, key=lambda seed: (scores[seed], -seed))
    return [best, *(s for s in scores if s != best and scores[s] >= scores[best] - SLACK)]


def run_record(
    task: SumTask,
    run: int,
    images: Images,
    samples: Mapping[str, int],
    work: Path,
    *,
    epochs: int = EPOCHS,
    starts: int = STARTS,
    threads: int = 1,
    pairs_known: bool = False,
    say: Callable[[str], Any] = print,
) -> dict[str, Any]:
    """Train and measure one run, and return its record.

    With `pairs_known` the rules that networks learn with say which pairs there are.
    """
    parts, rules = sum_parts(task, images, samples), task.rules()
    taught = task.rules(pairs_known=pairs_known)
    recipe, first = START.with_epochs(epochs), SEEDS_A_RUN * run
    with using_threads(threads):
        networks, scores = starts_of(
            taught, parts, images, recipe, range(first, first + starts), work, say
        )
        readings = {seed: predict_proba(net, images.pixels) for seed, net in networks.items()}
    best_seeds = _kept(scores)
    best = best_seeds[0]
    remappings = shortcuts(taught, task.observed, limit=1)
    methods: dict[str, tuple[list[FloatArray], Shortcuts | None]] = {
        "one": ([readings[best]], None),
        "combined": ([readings[seed] for seed in best_seeds], None),
        "cautious": ([readings[best]], remappings),
    }
    record: dict[str, Any] = {
        "format": FORMAT,
        "task": task.name,
        "pairs_known": pairs_known,
        "run": run,
        "samples": {name: len(part) for name, part in parts.items()},
        "recipe": json.loads(recipe.to_json()),
        "scores": {str(seed): score for seed, score in scores.items()},
        "kept": best_seeds,
        "remappings": remappings.count,
        **environment(threads),
    }
    for method, (probabilities_of, doubt) in methods.items():
        record[method] = {
            n: measured(rules, probabilities_of, parts[n], doubt) for n in ("test", "ood")
        }
    probabilities = readings[best][parts["test"].images.ravel()]
    digits = parts["test"].digits.ravel()
    nearest, share = remappings.looks_like(check_concepts(rules.inputs[0], probabilities, digits))
    return {**record, "looks_like": str(nearest), "fits": share}


def place_of(results: Path, task: SumTask, pairs_known: bool) -> Path:
    """Return the directory of the records of a task."""
    return results / "rsbench" / f"{task.name}{'-pairs-known' * pairs_known}"


def read_runs(directory: Path) -> list[dict[str, Any]]:
    """Return the records in a directory, run by run."""

    def numbers(record: dict[str, Any]) -> list[object]:
        if not isinstance(record["looks_like"], str):
            raise TypeError("what it looks like is no text")
        parts = [record[way][part] for way in WAYS for part in ("test", "ood")]
        return [*(part[key] for part in parts for key in MEASURES), record["fits"]]

    paths = sorted(directory.glob("*.json"))
    return [read_file(path, FORMAT, numbers, "move it elsewhere") for path in paths]


def do_runs(
    task: SumTask,
    runs: Iterable[int],
    results: Path,
    work: Path,
    images: Images,
    samples: Mapping[str, int],
    *,
    pairs_known: bool = False,
    say: Callable[[str], Any] = print,
    **how: Any,
) -> list[dict[str, Any]]:
    """Do the runs that have no record yet; return the records of all that there are.

    A run that was stopped goes on from the checkpoints of its trainings, in the directory `work`.
    """
    directory = place_of(results, task, pairs_known)

    def make(run: int) -> dict[str, Any]:
        say(f"{directory.name}, run {run}")
        files = work / f"rsbench-{directory.name}-{run}"
        return run_record(
            task, run, images, samples, files, pairs_known=pairs_known, say=say, **how
        )

    do_missing_files({run: directory / f"{run:02d}.json" for run in runs}, make)
    return read_runs(directory)


def rsbench_table(task: SumTask, records: Sequence[Mapping[str, Any]]) -> str:
    """Return means and standard errors in %, as Markdown, beside what was published."""
    head = ["measure", *WAYS.values(), "published: independent", "best"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for part, note in (("test", ""), ("ood", ", out of distribution")):
        for key, name in MEASURES.items():
            cells = [
                mean_and_error([100 * r[method][part][key] for r in records]) for method in WAYS
            ]
            known = task.published.get(key, ("", "")) if part == "test" else ("", "")
            cells += ["" if figure in (None, "") else f"{figure}" for figure in known]
            lines.append(f"| {name}{note} | {' | '.join(cells)} |")
    readings = ", ".join(f"{escaped(r['looks_like'])} ({100 * r['fits']:.0f} %)" for r in records)
    return "\n".join([*lines, "", f"{len(records)} runs; the one start reads: {readings}"])
