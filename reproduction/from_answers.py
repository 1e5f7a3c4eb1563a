"""Networks that learn from the answers of a task: nobody says what is on an image."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from pinesy.inverse.conditioning.graph import graph_of
from pinesy.nets import Answered, DeepSoftLogCNN, learn_from_answers
from pinesy.nets.learning_from_answers import START
from reproduction.scales import Images, Scale
from reproduction.tasks import Part, Task
from reproduction.trainings import Trained, Training

__all__ = ["answered", "learn"]

#: A start sees at least as many images, or the same ones often.
START_IMAGES: Final = 100_000
#: The starts of a run have seeds of their own.
SEEDS_A_RUN: Final = 100


def answered(task: Task, part: Part, images: Images) -> Answered:
    """Return the samples of a part with what its rules should conclude in the end."""
    rules = task.rules()
    inputs = sorted(task.columns, key=task.columns.__getitem__)
    answers = {a.name: part.targets[a.name] for a in rules.outputs}
    return Answered(rules, inputs, images.pixels[part.images], answers)


def learn(
    training: Training,
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
    Starts are always of DeepSoftLog's network, which is quick. They learn by gradients and
    beliefs; by gradients only where the rules have loops, as those of Sudoku, which conditioning
    is slow and not exact with.
    """
    train, valid = (answered(task, part, images) for part in (task.train, task.valid))
    loss = "both" if graph_of(train.cascade).is_forest else "answers"
    epochs = max(START.epochs, -(-START_IMAGES // len(train.flat)))
    start = START.with_epochs(scale.epochs or epochs)
    first = SEEDS_A_RUN * training.seed
    learned = learn_from_answers(
        lambda seed: training.architecture(training.classes, seed=seed),
        train,
        valid,
        seeds=range(first, first + scale.starts),
        loss=loss,
        start=start,
        finish=training.recipe_for(scale),
        make_start=lambda seed: DeepSoftLogCNN(training.classes, seed=seed),
        directory=directory,
        say=say,
    )
    right = learned.labels.argmax(axis=1) == images.labels[task.train.images].ravel()
    said = {
        "architecture": DeepSoftLogCNN.__name__,
        "loss": loss,
        "epochs": start.epochs,
        "scores": {str(seed): score for seed, score in learned.start.scores.items()},
        "chosen": learned.start.seed,
        "corrected": learned.corrected,
        "labels_right": float(np.mean(right)),
    }
    return Trained(
        training, learned.network, learned.history, start=said, others=learned.start.seconds
    )
