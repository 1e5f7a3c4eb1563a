"""Which networks the experiments need, and how each of them is trained."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pinesy import Attribute, all_different
from pinesy.nets import (
    BETTER_EYE,
    FINISH,
    PAPER,
    PAPER_SUDOKU4,
    START,
    AnsweredInputs,
    AnswerPhase,
    DeepSoftLogCNN,
    History,
    PaperCNN,
    Recipe,
    RuleLayer,
    learn_from_answers,
    network_fingerprint,
    preprocess,
)
from pinesy.problems.visual_sudoku import units
from reproduction.experiments import Experiment
from reproduction.scales import Images, Scale
from reproduction.tasks import Indices, Part, Task

if TYPE_CHECKING:  # pinesy.nets says it better if PyTorch is not there
    from torch import nn

Network = PaperCNN | DeepSoftLogCNN
#: The paper's network takes some 15 times as long as DeepSoftLog's, and needs fewer epochs.
LARGE_EPOCHS: Final = 6
#: A start sees at least as many images, or the same ones often.
START_IMAGES: Final = 100_000
#: In a step of a start.
BATCH_IMAGES: Final = 64
#: The starts of a run have seeds of their own.
SEEDS_A_RUN: Final = 100


@dataclass(frozen=True)
class NetworkTraining:
    """Which network is trained, and how.

    Attributes
    ----------
    name : its file is called so
    architecture : the network's class
    classes : the number of classes
    recipe : how it is trained
    seed : of its first weights, the order of images, and dropout; if it learns from answers, the
        number of the run, which makes the seeds of its starts
    from_answers : whether it learns from answers; then it has a directory of its own
    """

    name: str
    architecture: type[Network]
    classes: int
    recipe: Recipe
    seed: int
    from_answers: bool = False

    @property
    def file(self) -> str:
        """The name of its checkpoint, or of its directory."""
        return self.name if self.from_answers else f"{self.name}.safetensors"

    def recipe_for(self, scale: Scale) -> Recipe:
        """Return how it is trained in experiments of some size."""
        recipe = self.recipe.with_epochs(scale.epochs) if scale.epochs else self.recipe
        return replace(recipe, precision=scale.precision)


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained network.

    Attributes
    ----------
    training : which
    network : with its weights
    history : what happened in each epoch
    best_of : of how many it is the best
    start : if it learned from answers, what a record says about how that began
    others : the seconds of the trainings that it needed besides: its starts, or those of the
        networks that it is better than
    """

    training: NetworkTraining
    network: "nn.Module"
    history: History
    best_of: int = 1
    start: Mapping[str, Any] | None = None
    others: float = 0.0

    @property
    def seconds(self) -> float:
        """The time that training took, that of `others` included."""
        return self.others + sum(self.history.seconds)

    def described(self, scale: Scale) -> dict[str, Any]:
        """Return what a record says about the network."""
        return {
            "best_of": self.best_of,
            "architecture": type(self.network).__name__,
            "recipe": json.loads(self.training.recipe_for(scale).to_json()),
            "epochs": len(self.history.losses),
            "file": self.training.file,
            "fingerprint": network_fingerprint(self.network),
            **({"start": self.start} if self.start else {}),
        }


def training_of(experiment: Experiment) -> NetworkTraining:
    """Return the training of the network that an experiment is done with: one for each run.

    It serves all `k`, both transformations and the ablation; one that learns from answers serves
    one `k` only.

    Examples
    --------
    >>> training_of(Experiment("addition", 4, "ablation", "antipignistic", 3)).name
    'addition-normal-3'
    >>> training_of(Experiment("addition", 4, "answers", "antipignistic", 3)).name
    'addition-4-answers-3'
    """
    if experiment.is_from_answers:
        return _training_from_answers(experiment)
    setting = "normal" if experiment.setting == "ablation" else experiment.setting
    is_addition = experiment.problem == "addition"
    problem, classes = (
        ("addition", 10) if is_addition else (f"sudoku-{experiment.size}", experiment.size)
    )
    name = f"{problem}-{setting}-{experiment.run}"
    return NetworkTraining(name, PaperCNN, classes, _recipe(problem, setting), experiment.run)


def _training_from_answers(experiment: Experiment) -> NetworkTraining:
    classes = 10 if experiment.problem == "addition" else experiment.size
    name = f"{experiment.problem}-{experiment.size}-{experiment.setting}-{experiment.run}"
    architecture = PaperCNN if experiment.setting == "answers" else DeepSoftLogCNN
    recipe = FINISH if architecture is DeepSoftLogCNN else FINISH.with_epochs(LARGE_EPOCHS)
    if experiment.setting == "answers-undistorted":
        recipe = replace(recipe, augment=0.0)
    return NetworkTraining(name, architecture, classes, recipe, experiment.run, from_answers=True)


def _recipe(problem: str, setting: str) -> Recipe:
    if setting == "better-eye":
        return BETTER_EYE
    recipe = PAPER_SUDOKU4 if problem == "sudoku-4" else PAPER
    return replace(recipe, schedule="constant") if setting == "authors-code" else recipe


def answered(task: Task, part: Part, images: Images) -> AnsweredInputs:
    """Return the samples of a part with what its rules should conclude in the end."""
    inputs = {
        name: preprocess(images.pixels[part.images[:, i]]) for name, i in task.columns.items()
    }
    return AnsweredInputs(inputs, {a.name: part.targets[a.name] for a in task.rules().outputs})


def unit_places(part: Part) -> Indices:
    """Return the images (units, dim) of the rows, columns and blocks of puzzles that are valid."""
    dim = round(part.images.shape[1] ** 0.5)
    valid = part.images[part.targets["c"] == 1]
    return np.asarray(valid[:, units(dim)].reshape(-1, dim))


def answered_units(part: Part, images: Images) -> AnsweredInputs:
    """Return what the verdict on a valid puzzle says: no row, column or block repeats a digit."""
    image_indices = unit_places(part)
    inputs = {
        f"cell_{i}": preprocess(images.pixels[cell_images])
        for i, cell_images in enumerate(image_indices.T)
    }
    return AnsweredInputs(inputs, {"different": [True] * len(image_indices)})


def first_phase(task: Task, images: Images, scale: Scale) -> tuple[AnswerPhase, Indices, float]:
    """Return how networks begin to learn from the answers of a task.

    Besides the phase, return the images of its samples for training, in the order of the rules'
    inputs, and the share of right answers for validation that a start needs.

    From sums they learn by gradients and by beliefs, with possibilities. A verdict on a puzzle
    says next to nothing about a single cell; but if it is valid, so are its rows, columns and
    blocks, and for these the probability that all digits differ is exact. Puzzles that are not
    valid are not learned from.
    """
    if "c" in task.groups:
        dim = round(len(task.columns) ** 0.5)
        rules = all_different("different", [Attribute(f"cell_{i}", range(dim)) for i in range(dim)])
        layer, loss = RuleLayer(rules, semantics="probabilistic"), "beliefs"
        enough = 0.7  # of nine digits in a row all must be right; merged ones would give next to 0
        samples = [answered_units(part, images) for part in (task.train, task.valid)]
        image_indices, start = unit_places(task.train), replace(START, learning_rate=2e-3)
    else:
        layer, loss, start, enough = RuleLayer(task.rules()), "both", START, 0.9
        samples = [answered(task, part, images) for part in (task.train, task.valid)]
        columns = [task.columns[a.name] for a in layer.rules.inputs]
        image_indices = task.train.images[:, columns]
    epochs = max(START.epochs, -(-START_IMAGES // image_indices.size))
    batch = max(BATCH_IMAGES // image_indices.shape[1], 1)
    recipe = replace(start, batch=batch).with_epochs(scale.epochs or epochs)
    return AnswerPhase(layer, recipe, loss, *samples), image_indices, enough


def trained_from_answers(
    training: NetworkTraining,
    scale: Scale,
    task: Task,
    images: Images,
    directory: Path,
    say: Callable[[str], Any],
) -> Trained:
    """Return a network that learned from the answers of the samples for training.

    Parameters
    ----------
    training : which network, and how it is trained in the end; its seed is the number of the run
    directory : for checkpoints; no training that is there is done again

    Notes
    -----
    Starts are always of DeepSoftLog's network, which is quick.
    """
    first, image_indices, enough = first_phase(task, images, scale)
    seed = SEEDS_A_RUN * training.seed
    learned = learn_from_answers(
        lambda seed: training.architecture(training.classes, seed=seed),
        [first],
        first.data,
        first.validation,
        seeds=range(seed, seed + scale.starts),
        enough=enough,
        finish=training.recipe_for(scale),
        make_start=lambda seed: DeepSoftLogCNN(training.classes, seed=seed),
        directory=directory,
        say=say,
    )
    labels = np.stack([learned.labels[a.name] for a in first.layer.rules.inputs], axis=1)
    start_record = {
        "architecture": DeepSoftLogCNN.__name__,
        "semantics": first.layer.semantics,
        "loss": first.loss,
        "epochs": first.recipe.epochs,
        "scores": {str(seed): score for seed, score in learned.start.scores.items()},
        "chosen": learned.start.seed,
        "kept": learned.reader is learned.start.reader,
        "corrected": learned.corrected,
        "labels_right": float(np.mean(labels.argmax(axis=2) == images.labels[image_indices])),
    }
    (history,) = learned.histories.values()
    return Trained(
        training, learned.reader.network, history, start=start_record, others=learned.start.seconds
    )
