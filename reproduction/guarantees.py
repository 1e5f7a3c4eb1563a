"""Answers with a guarantee: how often they are right, on random splits of images never trained on.

For each split some samples calibrate and the others test. Ways to get a set of answers are compared
at several levels: calibrated inputs and calibrated answers (`pinesy.calibrate`), possibilities read
as if they were calibrated, and, where answers are classes, split conformal prediction by MAPIE.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from pinesy import Cascade, calibrate
from pinesy._common.files import atomic_text, read_text
from pinesy._common.validation import FloatArray
from pinesy.problems import addition_labels, addition_samples, sudoku_labels, sudoku_samples
from reproduction.experiments import Experiment
from reproduction.scales import Images, Scale
from reproduction.split_conformal import sum_sets
from reproduction.store import is_finite, plain_json, refusing
from reproduction.tasks import Indices, Task, task_of

if TYPE_CHECKING:  # it loads PyTorch, which the report does without
    from reproduction.trained_networks import Networks

FORMAT: Final = "pinesy-guarantees 1"
LEVELS: Final = (0.8, 0.9, 0.95, 0.99, 0.995)
#: The figures of a level.
FIGURES: Final = ("covered", "single", "mean", "median")
SPLITS: Final = 20
#: Puzzles of each size; one half calibrates; one of each correct one and its copy.
PUZZLES: Final = 400
#: Numbers of so many digits have sums that split conformal prediction takes as classes.
CLASSES: Final = (1, 2)
#: By output, the values in the set of each sample; and the columns of the true values.
Members = Mapping[str, npt.NDArray[np.bool_]]
Columns = Mapping[str, npt.NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of one problem: the images that each is made of, and what is true of them."""

    images: Indices
    inputs: Mapping[str, npt.NDArray[Any]]
    answers: Mapping[str, npt.NDArray[Any]]

    def part(self, rows: Indices) -> "Samples":
        """Return some of the samples."""
        inputs = {name: values[rows] for name, values in self.inputs.items()}
        answers = {name: values[rows] for name, values in self.answers.items()}
        return Samples(self.images[rows], inputs, answers)


def samples_of(
    experiment: Experiment, task: Task, unseen: Indices, images: Images, split: int
) -> Samples:
    """Return samples of images that the network was not trained on.

    Of Addition, each split has samples of its own; puzzles of Sudoku are the same in all.
    """
    rules, is_sum = task.rules(), experiment.problem == "addition"
    if is_sum:
        rng = np.random.default_rng([split, experiment.size])
        indices = unseen[addition_samples(images.labels[unseen], experiment.size, rng)]
        targets = addition_labels(images.labels[indices])
    else:
        indices = _puzzles(experiment.size, unseen, images)
        digits = images.labels[indices].reshape(-1, experiment.size, experiment.size)
        targets = sudoku_labels(digits.astype(np.int64))
    inputs = {name: images.labels[indices[:, c]] for name, c in task.columns.items()}
    return Samples(indices, inputs, {a.name: targets[a.name] for a in rules.outputs})


def _puzzles(dim: int, unseen: Indices, images: Images) -> Indices:
    rng = np.random.default_rng(dim)
    pools = [unseen[images.labels[unseen] == digit] for digit in range(dim)]
    n = min(PUZZLES, *(len(pool) // dim for pool in pools))
    pool = np.stack([rng.permutation(pool)[: n * dim] for pool in pools])
    puzzles = sudoku_samples(pool, n, rng)
    correct, copies = np.flatnonzero(puzzles.valid), np.flatnonzero(~puzzles.valid)
    return puzzles.images[np.where(rng.random(n) < 0.5, correct, copies)]


def split_record(
    rules: Cascade, evidence: FloatArray, samples: Samples, split: int, k: int | None
) -> dict[str, Any]:
    """Return how good the sets of each way are, at each level, on the test half of samples.

    Parameters
    ----------
    evidence : array (samples, columns of the inputs' probabilities)
    k : digits of the numbers, if sums are classes too
    """
    order = np.random.default_rng(split).permutation(len(evidence))
    first, second = np.split(order, [len(order) // 2])
    known, new = samples.part(first), samples.part(second)
    answers = {name: _columns(rules, name, new.answers[name]) for name in new.answers}
    probabilities, others = evidence[first], evidence[second]
    methods: dict[str, Any] = {}
    for unit in ("sample", "input"):
        sure = calibrate(rules, probabilities, known.inputs, unit=unit)
        inference = sure.infer(others)
        methods[f"inputs, unit {unit}"] = _judged(inference, answers, sure.transform.n)
    sure = calibrate(rules, probabilities, known.answers, transform="antipignistic")
    methods["answers"] = _judged(sure.infer(others), answers, sure.transform.n)
    plain = rules.infer(others, transform="antipignistic")
    methods["possibilities as they are"] = _judged(plain, answers, np.inf)
    if k is not None and k in CLASSES:
        enough = [level for level in LEVELS if len(first) * round(1.0 - level, 12) >= 1.0]
        known_digits, new_digits = (_digits(rules, p, k) for p in (probabilities, others))
        sets = sum_sets(known_digits, new_digits, _numbers(known, k), enough)
        sums = {"sum": _numbers(new, k)}
        by_level = {
            lv: _figures({"sum": sum_set}, sums) for lv, sum_set in zip(enough, sets, strict=True)
        }
        methods["split conformal on the sum (MAPIE)"] = [by_level.get(level) for level in LEVELS]
    return {"split": split, "calibration": len(first), "test": len(second), "ways": methods}


def _columns(rules: Cascade, name: str, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    indices = {value: i for i, value in enumerate(rules[name].output.domain)}
    return np.array([indices[value] for value in values.tolist()])


def _digits(rules: Cascade, evidence: FloatArray, k: int) -> FloatArray:
    """Return evidence as an array (samples, 2, k, 10), the most significant digit first."""
    names = [a.name for a in rules.inputs]
    order = [names.index(f"a_{i + 1}") for i in range(2 * k)]
    return evidence.reshape(len(evidence), 2 * k, 10)[:, order].reshape(-1, 2, k, 10)


def _numbers(samples: Samples, k: int) -> npt.NDArray[np.int64]:
    """Return the sums of the two numbers of samples."""
    digits = np.stack([samples.inputs[f"a_{i + 1}"] for i in range(2 * k)], axis=1).astype(np.int64)
    powers = 10 ** np.arange(k - 1, -1, -1)
    return np.asarray((digits.reshape(-1, 2, k) @ powers).sum(axis=1), dtype=np.int64)


def _judged(
    inference: Mapping[str, Any], answers: Columns, n: float
) -> list[dict[str, float] | None]:
    """Return the figures of each level; None where there are too few calibration samples."""
    figures: list[dict[str, float] | None] = []
    for level in LEVELS:
        alpha = round(1.0 - level, 12)
        if 1.0 / (n + 1.0) > alpha:
            figures.append(None)
        else:
            members = {name: np.asarray(inference[name].degrees) > alpha for name in answers}
            figures.append(_figures(members, answers))
    return figures


def _figures(members: Members, answers: Columns) -> dict[str, float]:
    """Return how many samples are covered, how many have a single answer, and sizes of sets.

    Several outputs count together; the size is the number of combinations of their values.
    """
    rows = np.arange(len(next(iter(answers.values()))))
    covered = np.all([members[name][rows, answers[name]] for name in answers], axis=0)
    sizes = np.prod([members[name].sum(axis=1, dtype=float) for name in answers], axis=0)
    return {
        "covered": float(covered.mean()),
        "single": float((sizes == 1.0).mean()),
        "mean": float(sizes.mean()),
        "median": float(np.median(sizes)),
    }


def guarantees(
    experiment: Experiment,
    networks: "Networks",
    images: Images,
    scale: Scale,
    *,
    directory: Path,
    splits: int = SPLITS,
    say: Callable[[str], object] = lambda _: None,
) -> None:
    """Do the splits of a problem that are not done yet; its file has a line for each.

    Parameters
    ----------
    experiment : the problem, and the run whose network it is
    place : the directory for the records
    """
    path = directory / f"{experiment.problem}-{experiment.size}.jsonl"
    records = read_splits(path) if path.exists() else []
    todo = [
        split for split in range(splits) if split not in {record["split"] for record in records}
    ]
    if not todo:
        return
    task = task_of(experiment, images, scale)
    unseen = _unseen(experiment, task, images)
    reading = networks.see(experiment, replace(task, seen=unseen))
    right = float((reading.probabilities.argmax(axis=1) == images.labels[unseen]).mean())
    rows, rules = np.zeros(images.n_real, dtype=np.int64), task.rules()
    rows[unseen] = np.arange(len(unseen))
    columns = [task.columns[a.name] for a in rules.inputs]
    k = experiment.size if experiment.problem == "addition" else None
    make = partial(samples_of, experiment, task, unseen, images)
    for split in todo:
        samples = make(split)
        evidence = reading.probabilities[rows[samples.images[:, columns]]].reshape(
            len(samples.images), -1
        )
        record = split_record(rules, evidence, samples, split, k)
        about = {"format": FORMAT, "problem": experiment.problem, "size": experiment.size}
        records.append({**about, **record, "digit_accuracy": right, "network": reading.network})
        directory.mkdir(parents=True, exist_ok=True)
        with atomic_text(path) as stream:
            stream.write("".join(json.dumps(split_line) + "\n" for split_line in records))
    say(f"{experiment.problem}-{experiment.size}: {len(todo)} splits (digits {100 * right:.2f} %)")


def _unseen(experiment: Experiment, task: Task, images: Images) -> Indices:
    """Return the images that the network was not trained on, of Sudoku as many as are needed."""
    others = np.setdiff1d(np.arange(images.n_real), task.trained_on)
    if experiment.problem == "addition":
        return others
    dim, rng = experiment.size, np.random.default_rng(experiment.size)
    pools = [rng.permutation(others[images.labels[others] == d]) for d in range(dim)]
    return np.sort(np.concatenate([pool[: PUZZLES * dim] for pool in pools]))


def read_splits(path: Path) -> list[dict[str, Any]]:
    """Return the records of a problem's splits, or raise `DataError`."""
    with refusing(path, "not a file of splits", "delete it"):
        records = [plain_json(line) for line in read_text(path).splitlines()]
        for record in records:
            _check_split(record)
    return records


def _check_split(record: Any) -> None:
    """Raise an error if a record of a split lacks something that tables tell."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    Experiment(record["problem"], record["size"], "normal", "antipignistic", 0)
    numbers = [record[name] for name in ("split", "calibration", "test", "digit_accuracy")]
    for levels in dict(record["ways"]).values():
        if not isinstance(levels, list) or len(levels) != len(LEVELS):
            raise ValueError("its figures are not those of the levels")
        numbers += [figures[key] for figures in levels if figures is not None for key in FIGURES]
    if not all(is_finite(number) for number in numbers):
        raise TypeError("its figures are no numbers")
    if not isinstance(record["network"]["architecture"], str):
        raise TypeError("its network has no name")
    _ = record["network"]["epochs"]


def read_guarantees(directory: Path) -> list[dict[str, Any]]:
    """Return all records of splits under a directory, by problem and size."""
    paths: Iterable[Path] = sorted(directory.rglob("guarantees/*.jsonl"))
    records = [record for path in paths for record in read_splits(path)]
    return sorted(records, key=lambda r: (r["problem"], r["size"], r["split"]))
