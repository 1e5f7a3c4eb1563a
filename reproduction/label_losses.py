"""Possibilistic labels as a loss, beside other losses: from sums alone, and from noisy labels.

A network of DeepSoftLog's form learns from the same images in the same number of epochs with each
loss. From sums, the rules give possibilistic targets for the digits, by `posterior` (what the
network reads, restricted by the sum) or by `backpropagate` (what the sum says alone). From noisy
labels, the label is fully possible and every other digit at `alpha`.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from pinesy import backpropagate
from pinesy._common.validation import FloatArray
from pinesy.nets import (
    START,
    AnsweredInputs,
    DeepSoftLogCNN,
    InputReader,
    Recipe,
    RuleLayer,
    fit_answers,
    possibilistic_label_loss,
    predict_proba,
    preprocess,
    using_threads,
)
from pinesy.problems import addition, addition_labels
from pinesy.rulebase.cascade import Cascade
from reproduction.environment import environment
from reproduction.run_files import do_missing_files, read_file
from reproduction.scales import Images
from reproduction.standard_errors import mean_and_error

Indices = npt.NDArray[np.int64]
AnyLoss = Callable[..., Tensor]

FORMAT: Final = "pinesy.possibilistic-labels/1"
#: Images: for training from sums, for validation by sums, and for training from noisy labels.
SIZES: Final = {"train": 3_000, "valid": 1_000, "noisy": 2_000}
EPOCHS: Final = {"sums": 6, "noise": 10}
#: By task: the digits of a number, or the share of wrong labels in %.
TASKS: Final = {"sums-1": 1, "sums-2": 2, "noise-0": 0, "noise-20": 20, "noise-40": 40}
#: Losses from sums: what the table calls them, the semantics, and the loss of `fit_answers`.
SUM_LOSSES: Final = {
    "posterior": ("projection, `posterior`", "possibilistic", "projection"),
    "backpropagation": ("projection, `backpropagate`", "possibilistic", "backpropagation"),
    "beliefs": ("soft labels (`belief_loss`)", "possibilistic", "beliefs"),
    "answers": ("`answer_loss`", "possibilistic", "answers"),
    "both": ("soft labels and `answer_loss`", "possibilistic", "both"),
    "probabilistic": ("probabilistic `belief_loss`", "probabilistic", "beliefs"),
}
#: Losses from noisy labels, and what the table calls them.
NOISE_LOSSES: Final = {
    "projection": "possibilistic labels",
    "smoothing": "label smoothing",
    "cross-entropy": "cross-entropy",
}
MEASURES: Final = {
    "sums": {"answers": "sums right", "digits": "digits right"},
    "noise": {"digits": "digits right", "surprise": "- log q(digit)"},
}


def losses_of(task: str) -> Mapping[str, Any]:
    """Return the losses that are compared in a task, by name."""
    return SUM_LOSSES if task.startswith("sums") else NOISE_LOSSES


# --- sums ---------------------------------------------------------------------------------------


def backpropagated_loss(
    layer: RuleLayer, probabilities: Mapping[str, Tensor], answers: Mapping[str, Any]
) -> Tensor:
    """Return the distance of the probabilities from what the answers say alone, summed.

    The labels are the greatest inputs for which the rules infer the answers.
    """
    targets = {name: np.asarray(values) for name, values in answers.items()}
    labels = backpropagate(layer.rules, None, targets).inputs
    q = torch.cat(list(probabilities.values()))
    pi = np.concatenate([labels[name].degrees for name in probabilities])
    return len(probabilities) * possibilistic_label_loss((q + 1e-9).log(), pi)


def answered_sums(rules: Cascade, pool: Indices, images: Images) -> AnsweredInputs:
    """Return samples of the images of a pool, each used once, with their sums alone."""
    size = len(rules.inputs)
    indices = pool[: len(pool) // size * size].reshape(-1, size)
    targets = addition_labels(images.labels[indices])
    inputs = {f"a_{i + 1}": preprocess(images.pixels[column]) for i, column in enumerate(indices.T)}
    return AnsweredInputs(inputs, {a.name: targets[a.name] for a in rules.outputs})


def sum_measures(
    name: str, k: int, run: int, images: Images, sizes: Mapping[str, int], recipe: Recipe
) -> dict[str, float]:
    """Train with a loss from sums of two numbers of `k` digits, and return the measures."""
    rules, rng = addition(k), np.random.default_rng([run, k])
    pool = rng.permutation(images.n_train)[: sizes["train"] + sizes["valid"]]
    train, valid = (answered_sums(rules, p, images) for p in np.split(pool, [sizes["train"]]))
    _, semantics, loss = SUM_LOSSES[name]
    network = DeepSoftLogCNN(10, seed=run)
    reader = InputReader(rules, network)
    fit = fit_answers(
        reader,
        RuleLayer(rules, semantics=semantics),
        train,
        valid,
        replace(recipe, batch=max(recipe.batch // k, 1)),
        seed=run,
        loss=backpropagated_loss if loss == "backpropagation" else loss,
    )
    probabilities = predict_proba(network, images.pixels[images.test])
    order = rng.permutation(len(images.test))
    return {
        "answers": share_of_sums(rules, probabilities[order], images.labels[images.test][order]),
        "digits": float((probabilities.argmax(axis=1) == images.labels[images.test]).mean()),
        "valid": fit.score,
    }


def share_of_sums(rules: Cascade, probabilities: FloatArray, digits: npt.NDArray[Any]) -> float:
    """Return the share of sums that the rules infer correctly from images, each used once."""
    size = len(rules.inputs)
    n = len(digits) // size
    seen = probabilities[: n * size].reshape(n, size, -1)
    inferred = rules.infer(
        {f"a_{i + 1}": seen[:, i] for i in range(size)}, transform="antipignistic"
    )
    targets = addition_labels(digits[: n * size].reshape(n, size))
    outputs = [a.name for a in rules.outputs]
    right = [inferred[a].decided & (inferred[a].best == targets[a]) for a in outputs]
    return float(np.all(right, axis=0).mean())


# --- noisy labels -------------------------------------------------------------------------------


def noisy_labels(digits: Indices, share: float, rng: np.random.Generator) -> Indices:
    """Return the digits, each replaced by one of the nine others with the probability `share`."""
    is_wrong = rng.random(len(digits)) < share
    return np.where(is_wrong, (digits + rng.integers(1, 10, len(digits))) % 10, digits)


def possibilistic_labels(labels: Indices, alpha: float) -> FloatArray:
    """Return possibilities (n, 10): the label is fully possible, every other digit at `alpha`."""
    return np.where(np.eye(10, dtype=bool)[labels], 1.0, alpha)


def noise_loss(name: str, alpha: float) -> AnyLoss:
    """Return a loss of scores and labels, as tensors.

    Label smoothing is the cross-entropy with the antipignistic inverse of the possibilistic label.
    """
    if name == "cross-entropy":
        return cross_entropy
    if name == "smoothing":
        return lambda scores, labels: cross_entropy(scores, labels, label_smoothing=alpha)
    return lambda scores, labels: possibilistic_label_loss(
        scores, possibilistic_labels(labels.numpy(), alpha)
    )


def noise_measures(
    name: str,
    percent: int,
    run: int,
    images: Images,
    sizes: Mapping[str, int],
    recipe: Recipe,
    alpha: float,
    judged_on: Indices | None = None,
) -> dict[str, float]:
    """Train with a loss from noisy labels, and return the measures on clean images for test."""
    rng = np.random.default_rng([run, percent, 3])
    pool = rng.permutation(images.n_train)[: sizes["noisy"]]
    digits = images.labels[pool].astype(np.int64)
    labels = torch.from_numpy(noisy_labels(digits, percent / 100, rng))
    network = DeepSoftLogCNN(10, seed=run)
    train_network(network, images.pixels[pool], labels, noise_loss(name, alpha), recipe, run)
    indices = images.test if judged_on is None else judged_on
    q = predict_proba(network, images.pixels[indices])
    right = q[np.arange(len(indices)), images.labels[indices]]
    return {
        "digits": float((q.argmax(axis=1) == images.labels[indices]).mean()),
        "surprise": float(-np.log(np.maximum(right, 1e-30)).mean()),
    }


def train_network(
    network: torch.nn.Module,
    pixels: npt.NDArray[np.uint8],
    labels: Tensor,
    loss: AnyLoss,
    recipe: Recipe,
    seed: int,
) -> None:
    """Train a network in place with any loss of scores and labels."""
    inputs, optimizer = preprocess(pixels), recipe.make_optimizer(network)
    network.train()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for epoch in range(recipe.epochs):
            batches = torch.split(torch.randperm(len(inputs)), recipe.batch)
            for step, rows in enumerate(batches):
                for group in optimizer.param_groups:
                    group["lr"] = recipe.rate(epoch, step / len(batches))
                optimizer.zero_grad()
                loss(network(inputs[rows]), labels[rows]).backward()  # type: ignore[no-untyped-call]
                optimizer.step()
    network.eval()


# --- records and tables -------------------------------------------------------------------------

#: The learning rates and `alpha`, chosen on a run that is not reported (docs/experiments.md).
RATES: Final = {"sums": 3e-3, "noise": 1e-3}
ALPHA: Final = 0.1


def recipe_of(task: str, epochs: int | None = None) -> Recipe:
    """Return how a network is trained in a task, with any loss."""
    kind = task.partition("-")[0]
    return replace(START, learning_rate=RATES[kind]).with_epochs(epochs or EPOCHS[kind])


def label_record(
    task: str,
    run: int,
    images: Images,
    sizes: Mapping[str, int],
    *,
    epochs: int | None = None,
    say: Callable[[str], Any] = lambda _: None,
) -> dict[str, Any]:
    """Train with each loss of a task in one run, and return the record."""
    measures, recipe = {}, recipe_of(task, epochs)
    for name in losses_of(task):
        began = process_time()
        with using_threads(1):
            if task.startswith("sums"):
                figures = sum_measures(name, TASKS[task], run, images, sizes, recipe)
            else:
                figures = noise_measures(name, TASKS[task], run, images, sizes, recipe, ALPHA)
        measures[name] = {**figures, "processor_seconds": process_time() - began}
        say(f"{task}, run {run}, {name}: {100 * figures['digits']:.2f} % of the digits right")
    return {
        "format": FORMAT,
        "task": task,
        "run": run,
        "images": dict(sizes),
        "n_test": len(images.test),
        "alpha": None if task.startswith("sums") else ALPHA,
        "recipe": json.loads(recipe.to_json()),
        "losses": measures,
        **environment(1),
    }


def do_label_runs(
    tasks: Iterable[str],
    runs: Iterable[int],
    images: Images,
    sizes: Mapping[str, int],
    results: Path,
    say: Callable[[str], Any],
    *,
    epochs: int | None = None,
) -> list[dict[str, Any]]:
    """Do the runs that have no record yet, run by run; return the records of all that there are."""
    directory, names = results / "possibilistic-labels", list(tasks)
    do_missing_files(
        {(task, run): directory / f"{task}-{run:02d}.json" for run in runs for task in names},
        lambda key: label_record(key[0], key[1], images, sizes, epochs=epochs, say=say),
    )
    paths = [path for task in names for path in sorted(directory.glob(f"{task}-*.json"))]
    return [read_label_record(path) for path in paths]


def read_label_record(path: Path) -> dict[str, Any]:
    """Return a record, or raise `DataError`."""

    def numbers(record: dict[str, Any]) -> list[object]:
        task = record["task"]
        keys = MEASURES[task.partition("-")[0]]
        return [record["losses"][name][key] for name in losses_of(task) for key in keys]

    return read_file(path, FORMAT, numbers, "delete it")


def label_table(records: Sequence[Mapping[str, Any]]) -> str:
    """Return means and standard errors over runs, in % (surprise: as it is), in Markdown."""
    parts = []
    for kind, measures in MEASURES.items():
        tasks = [t for t in TASKS if t.startswith(kind) and any(r["task"] == t for r in records)]
        groups = {task: [r for r in records if r["task"] == task] for task in tasks}
        heads = [
            f"{task}, {measures[key]} ({len(group)} runs)"
            for task, group in groups.items()
            for key in measures
        ]
        if not tasks:
            continue
        lines = [f"| loss | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
        for name, label in losses_of(tasks[0]).items():
            title = label if isinstance(label, str) else label[0]
            cells = [
                _cell(key, [r["losses"][name][key] for r in group])
                for group in groups.values()
                for key in measures
            ]
            lines.append(f"| {title} | {' | '.join(cells)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _cell(measure: str, figures: Sequence[float]) -> str:
    """Return the mean and its standard error: of the surprise as it is, of shares in %."""
    if measure == "surprise":
        return mean_and_error(figures, 3)
    return mean_and_error([100 * share for share in figures], 2)
