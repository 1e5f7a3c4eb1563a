"""Reasoning shortcuts against the fewest labels: answers, and labels of a few images.

`pinesy.shortcuts(...).labels` names values whose labels leave only the true reading. Some images of
these values are labelled, all other images have answers only. Networks are trained from both, and
it is measured whether they read the concepts correctly, also in combinations that they never saw.
"""

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from pinesy import Attribute, check_concepts
from pinesy._common.validation import FloatArray
from pinesy.exceptions import DataError, DomainError
from pinesy.nets import (
    FINISH,
    START,
    AnsweredInputs,
    AnswerPhase,
    InputReader,
    RuleLayer,
    answer_score,
    augment,
    belief_loss,
    learn_from_answers,
    using_threads,
)
from reproduction.concept_tasks import ConceptSamples, ConceptTask
from reproduction.environment import environment
from reproduction.run_files import do_missing_files, read_file
from reproduction.scales import Images
from reproduction.standard_errors import mean_and_error, share_and_error

FORMAT: Final = "pinesy.fewest-labels/1"
#: Labelled images of a run, of all named values together.
LABELS: Final = 10
#: Epochs of a start, from answers and labels.
EPOCHS: Final = 4
#: At most so many starts, and the share of validation answers and labels that ends the search.
STARTS, ENOUGH = 4, 0.85
#: Labelled images are seen again and again: in so many samples for each one with an answer; and
#: in validation so many of them for each answer, so that a start that contradicts its labels is
#: refused however many answers it gives.
LABEL_SHARE, VALID_SHARE = 0.15, 1.0
#: Mean predictions below it count as this.
LEAST: Final = 1e-9
#: The starts of a run have seeds of their own.
SEEDS_A_RUN: Final = 100
#: What the table shows, by the part and the name of the measure in records.
COLUMNS: Final = {
    "concepts right": ("test", "accuracy"),
    "macro F1": ("test", "f1"),
    "concept ECE": ("test", "ece"),
    "answers right": ("test", "answers"),
    "unseen answers right": ("ood", "answers"),
}


def labelled_images(
    task: ConceptTask,
    samples: ConceptSamples,
    named: Mapping[str, Sequence[Hashable]],
    count: int,
    seed: int,
) -> ConceptSamples:
    """Return `count` random images (n, 1, ...) whose concepts all have named values.

    The named values take turns, so that each has as many images, and of several concepts all
    combinations.
    """
    most = max(len(values) for values in named.values())
    if 0 < count < most:
        raise DomainError(
            f"{count} labelled images are too few for {most} values that need a label; give at "
            f"least {most}"
        )
    rng, images = np.random.default_rng([seed, 1]), samples.images.flatten(0, 1)
    true = {concept: values.ravel() for concept, values in samples.values.items()}
    chosen = list[int]()
    for number in range(count):
        fits = np.ones(len(images), dtype=bool)
        for position, concept in enumerate(task.inputs):
            turn = (number + position * (number // most)) % len(named[concept])
            fits &= true[concept] == task.domains[concept].index(named[concept][turn])
        remaining = np.setdiff1d(np.flatnonzero(fits), chosen)
        if not len(remaining):
            raise DataError(
                f"there are too few images with the values that need a label for {count} of them; "
                "give fewer labels, or more samples"
            )
        chosen.append(int(rng.choice(remaining)))
    labels = {concept: values[chosen][:, None] for concept, values in true.items()}
    return ConceptSamples(images[chosen][:, None], labels)


def with_labels(
    task: ConceptTask,
    samples: ConceptSamples,
    labelled: ConceptSamples,
    n: int,
    rng: np.random.Generator,
    *,
    augmented: bool,
) -> AnsweredInputs:
    """Return samples with their answers, and `n` samples of labelled images that have none.

    The latter are random combinations of labelled images. With `augmented` the labelled images are
    moved and bent, or turned and mirrored.
    """
    data, places = task.answered(samples), samples.images.shape[1]
    if not len(labelled):
        return data
    chosen = rng.integers(len(labelled), size=(n, places))
    images = labelled.images[chosen.ravel(), 0]
    if augmented:
        images = _augmented(images, rng)
    by_input = task.by_input(images.reshape(n, places, *images.shape[1:]))
    inputs = {name: torch.cat([x, by_input[name]]) for name, x in data.inputs.items()}
    answers = {name: [*values, *[None] * n] for name, values in data.answers.items()}
    for concept, names in task.inputs.items():
        domain, indices = task.domains[concept], labelled.values[concept][chosen, 0]
        for place, name in enumerate(names):
            known = [domain[index] for index in indices[:, place]]
            answers[name] = [*[None] * len(samples), *known]
    return AnsweredInputs(inputs, answers)


def _augmented(images: Tensor, rng: np.random.Generator) -> Tensor:
    """Return digits moved and bent at random (`augment`); other images turned and mirrored."""
    if images.shape[1] == 1:
        return augment(images, rng)
    turns, is_mirrored = rng.integers(4, size=len(images)), rng.random(len(images)) < 0.5
    turned = [
        torch.rot90(image.flip(-1) if mirrored else image, int(k), (-2, -1))
        for image, k, mirrored in zip(images, turns, is_mirrored, strict=True)
    ]
    return torch.stack(turned)


@dataclass(frozen=True)
class BalancedLoss:
    """`belief_loss` minus the entropy of the mean prediction of each concept.

    It is `EntropyLoss`, but concepts with the same number of values are told apart.
    """

    inputs: Mapping[str, tuple[str, ...]]
    weight: float = 2.0

    def __call__(
        self, layer: RuleLayer, probabilities: Mapping[str, Tensor], answers: Mapping[str, Any]
    ) -> Tensor:
        """Return the loss of a batch."""
        total = belief_loss(layer, probabilities, answers)
        for names in self.inputs.values():
            mean = torch.cat([probabilities[name] for name in names]).mean(dim=0)
            total = total + self.weight * (mean * mean.clamp(min=LEAST).log()).sum()
        return total


def measured(
    task: ConceptTask, reader: InputReader, layer: RuleLayer, samples: ConceptSamples
) -> dict[str, Any]:
    """Return the measures of networks: right answers, and by concept how they are read.

    ``accuracy``, ``f1`` (the mean over values) and ``ece`` are the means of the concepts.
    """
    data = task.answered(samples)
    probabilities = reader.predict_proba(data.inputs)
    concepts = {
        concept: _concept_measures(
            concept,
            task.domains[concept],
            np.concatenate([probabilities[name] for name in names]),
            samples.values[concept].T.ravel(),
        )
        for concept, names in task.inputs.items()
    }
    means = {
        key: float(np.mean([measures[key] for measures in concepts.values()]))
        for key in ("accuracy", "f1", "ece")
    }
    return {
        "answers": answer_score(reader, layer, data, single=True),
        "samples": answer_score(reader, layer, data),
        **means,
        "concepts": concepts,
    }


def _concept_measures(
    concept: str, domain: Sequence[Hashable], probabilities: FloatArray, indices: Any
) -> dict[str, Any]:
    attribute = Attribute(concept, domain)
    check = check_concepts(attribute, probabilities, [domain[index] for index in indices])
    confusion = check.confusion
    return {
        "accuracy": check.accuracy,
        "f1": macro_f1(confusion),
        "ece": check.calibration_error,
        "collapse": check.collapse,
        "confusion": confusion.tolist(),
    }


def macro_f1(confusion: Any) -> float:
    """Return the mean over values of F1, ``2 right / (true + read)``; values that occur count.

    Examples
    --------
    >>> macro_f1([[2, 0], [1, 1]])
    0.7333333333333334
    """
    matrix = np.asarray(confusion, dtype=np.float64)
    true, read = matrix.sum(axis=1), matrix.sum(axis=0)
    occurs = true > 0
    return float((2 * np.diag(matrix)[occurs] / (true + read)[occurs]).mean())


def labelled_record(
    task: ConceptTask,
    run: int,
    images: Callable[[], Images],
    work: Path,
    *,
    labels: int = LABELS,
    quick: bool = False,
    epochs: int = EPOCHS,
    starts: int = STARTS,
    threads: int = 1,
    say: Callable[[str], Any] = print,
) -> dict[str, Any]:
    """Train and measure one run, and return its record."""
    parts = task.make_parts(images, quick)
    remappings = task.shortcuts(parts["train"])
    labelled = labelled_images(task, parts["train"], remappings.labels, labels, run)
    rng = np.random.default_rng([run, 2])
    n_train = round(LABEL_SHARE * len(parts["train"]))
    n_valid = ceil(VALID_SHARE * len(parts["valid"]) / parts["valid"].images.shape[1])
    train = with_labels(task, parts["train"], labelled, n_train, rng, augmented=True)
    valid = with_labels(task, parts["valid"], labelled, n_valid, rng, augmented=False)
    kinds = {name: concept for concept, names in task.inputs.items() for name in names}

    def make(seed: int) -> InputReader:
        networks = {concept: task.make_network(concept, seed) for concept in task.inputs}
        return InputReader(task.rules, networks, kinds)

    layer = RuleLayer(task.rules, semantics="probabilistic")
    start = replace(START, batch=task.batch).with_epochs(epochs)
    finish = FINISH.with_epochs(min(task.last_epochs, 2 * epochs))
    with using_threads(threads):
        learned = learn_from_answers(
            make,
            [AnswerPhase(layer, start, BalancedLoss(task.inputs))],
            train,
            valid,
            seeds=range(SEEDS_A_RUN * run, SEEDS_A_RUN * run + starts),
            enough=ENOUGH,
            finish=finish,
            directory=work,
            say=say,
        )
        rules = RuleLayer(task.rules)  # possibilistic, as `infer`
        measures = {part: measured(task, learned.reader, rules, parts[part]) for part in PARTS}
    return {
        "format": FORMAT,
        "task": task.name,
        "run": run,
        "labels": len(labelled),
        "labelled": {name: list(values) for name, values in remappings.labels.items()},
        "remappings": remappings.count,
        "samples": {name: len(part) for name, part in parts.items()},
        "start": json.loads(start.to_json()),
        "finish": json.loads(finish.to_json()),
        "scores": {str(seed): score for seed, score in learned.start.scores.items()},
        "corrected": learned.corrected,
        "score": learned.score,
        "valid_share": VALID_SHARE,
        "seconds": learned.seconds,
        **environment(threads),
        **measures,
    }


#: The parts that are measured.
PARTS: Final = ("test", "ood")


def labelled_directory(results: Path, task: ConceptTask, labels: int) -> Path:
    """Return the directory of the records of a task with so many labels."""
    return results / "shortcuts" / f"{task.name}-{labels}"


def read_all_runs(results: Path) -> list[dict[str, Any]]:
    """Return the records of all tasks and numbers of labels, run by run."""

    def numbers(record: dict[str, Any]) -> list[object]:
        measures = [record[part][measure] for part, measure in COLUMNS.values()]
        return [*measures, record["labels"], record["remappings"]]

    paths = sorted(results.glob("shortcuts/*/*.json"))
    return [read_file(path, FORMAT, numbers, "move it elsewhere") for path in paths]


def do_labelled_runs(
    task: ConceptTask,
    runs: Iterable[int],
    results: Path,
    work: Path,
    images: Callable[[], Images],
    *,
    labels: int = LABELS,
    say: Callable[[str], Any] = print,
    **how: Any,
) -> None:
    """Do the runs that have no record yet.

    A run that was stopped goes on from the checkpoints of its trainings, in the directory `work`.
    """
    directory = labelled_directory(results, task, labels)

    def make(run: int) -> dict[str, Any]:
        say(f"{directory.name}, run {run}")
        files = work / f"shortcuts-{directory.name}-{run}"
        return labelled_record(task, run, images, files, labels=labels, say=say, **how)

    do_missing_files({run: directory / f"{run:02d}.json" for run in runs}, make)


def labels_table(records: Sequence[Mapping[str, Any]]) -> str:
    """Return a row for each task and number of labels: means and standard errors, in %.

    All runs of a task have the same test samples, which count once.
    """
    head = ["task", "readings left", "labels", "runs", *COLUMNS]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    groups: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for record in records:
        groups.setdefault((str(record["task"]), record["labels"]), []).append(record)
    for (task, labels), group in groups.items():
        cells = [task, str(group[0]["remappings"]), str(labels), str(len(group))]
        for part, key in COLUMNS.values():
            shares, n = [r[part][key] for r in group], _n_samples(group[0], part, key)
            percent = [100 * share for share in shares]
            cells.append(share_and_error(shares, n) if n else mean_and_error(percent))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _n_samples(record: Mapping[str, Any], part: str, measure: str) -> int | None:
    """Return of how many test samples a measure is a share; None if it is no share."""
    if measure == "answers":
        return int(record["samples"][part])
    if measure == "accuracy":
        concepts = record[part]["concepts"].values()
        return min(int(np.sum(concept["confusion"])) for concept in concepts)
    return None
