"""From what a network sees to what is inferred: transformation, learning, inference, judgement."""

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

from pinesy import transforms
from pinesy._common.validation import FloatArray
from pinesy.learning import LearningResult, ToleranceSearch, candidate_tolerances, search_tolerances
from pinesy.learning.metrics import answers
from pinesy.learning.tolerances.tolerance_groups import members
from pinesy.rulebase.cascade import Cascade
from reproduction.measuring import Stopwatch
from reproduction.pieces import Piece
from reproduction.tasks import PARTS, Task

__all__ = ["candidate_power", "solve", "warm_up"]


def candidate_power(setting: str) -> int:
    """Return the power ``h`` of the candidates for thresholds: lower where data are few."""
    return 2 if setting == "low-data" else 5


def solve(
    task: Task, piece: Piece, probabilities: FloatArray, n_images: int, watch: Stopwatch
) -> tuple[dict[str, Any], Cascade, FloatArray]:
    """Learn the rules' parameters and infer the samples for test.

    Return what a record says, the rules with their parameters, and the inputs for test.

    Parameters
    ----------
    probabilities : array (seen, classes), those of the images `Task.seen`
    n_images : the number of all images
    watch : takes the seconds of each part; making and compiling the rules is part of learning
    """
    with watch("learning"):
        cascade = task.rules()
    with watch("transform"):
        transform = getattr(transforms, piece.transform.replace("-", "_"))
        possibilities = np.zeros((n_images, probabilities.shape[1]))
        possibilities[task.seen] = transform(probabilities)
        inputs = {
            name: task.evidence(cascade, getattr(task, name), possibilities) for name in PARTS
        }
    learned = _nothing_learned()
    if piece.is_learned:
        found = _searched(task, cascade, inputs, candidate_power(piece.setting), watch)
        cascade, learned = found.result.cascade, _learned(found, task.groups)
    with watch("learning"):  # once for the rules, however many samples there are
        cascade.compile()
    with watch("inference"):
        outcome = _judged(cascade, inputs["test"], task.test.targets)
    return {**outcome, **learned}, cascade, inputs["test"]


def _searched(
    task: Task, cascade: Cascade, inputs: Mapping[str, FloatArray], power: int, watch: Stopwatch
) -> ToleranceSearch:
    """Learn with the thresholds of the paper's search; the last learning is counted apart."""
    start = perf_counter()
    found = search_tolerances(
        cascade,
        inputs["train"],
        task.train.targets,
        (inputs["valid"], task.valid.targets),
        groups=list(task.groups),
        candidates=candidate_tolerances(power=power),
    )
    watch.add("learning", found.result.seconds)
    watch.add("thresholds", max(perf_counter() - start - found.result.seconds, 0.0))
    return found


def _learned(found: ToleranceSearch, groups: tuple[str, ...]) -> dict[str, Any]:
    sets = found.result.sets.values()
    return {
        "thresholds": {str(group): float(tau) for group, tau in found.tolerances.items()},
        "evaluations": len(found.evaluations),
        "reliable": {group: _reliable(found.result, group) for group in groups},
        "largest_parameter": max(float(one.lowest.max()) for one in sets),
        "distance": max(float(one.distance) for one in sets),
    }


def _nothing_learned() -> dict[str, Any]:
    """Return what a record says where rules are taken as certain."""
    empty: dict[str, Any] = {"thresholds": {}, "evaluations": 0, "reliable": {}}
    return {**empty, "largest_parameter": 0.0, "distance": None}


def _reliable(result: LearningResult, group: str) -> list[float]:
    """Return the least, mean and largest number of samples that a set was learned from."""
    names = members(group, list(result.sets))
    numbers = np.array([result[name].n_reliable for name in names])
    return [int(numbers.min()), float(numbers.mean()), int(numbers.max())]


def _judged(cascade: Cascade, inputs: FloatArray, targets: Mapping[str, Any]) -> dict[str, Any]:
    """Return how many samples have all outputs right and unambiguous, and how many are ambiguous.

    A sample is ambiguous if one of its outputs has several most possible values.
    """
    batch, wanted = answers(cascade, inputs, targets)
    found = cascade.infer(batch.known, list(wanted))
    right, ambiguous = np.ones(batch.n, np.bool_), np.zeros(batch.n, np.bool_)
    for name, positions in wanted.items():
        right &= found[name].degrees.argmax(axis=1) == positions
        ambiguous |= found[name].ambiguous
    right &= ~ambiguous
    count = int(right.sum())
    return {"accuracy": count / batch.n, "right": count, "ambiguous": int(ambiguous.sum())}


def warm_up() -> None:
    """Load the compiled loops, so that the first piece is not charged for it."""
    from pinesy.problems import addition, addition_labels

    cascade = addition(2)
    digits = np.array([[5, 5, 5, 5], [1, 2, 3, 4]])
    inputs = {f"a_{i + 1}": np.eye(10)[digits[:, i]] for i in range(4)}
    targets = addition_labels(digits)
    search_tolerances(cascade, inputs, targets, (inputs, targets), progress=False)
