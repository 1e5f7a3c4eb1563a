"""Networks that learn from the answers of a task: nobody says what is on an image."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from torch import nn

from pinesy.beliefs.graph import graph_of
from pinesy.experiments.scales import Images
from pinesy.experiments.tasks import Part, Task
from pinesy.gradients import Answered, LearnedFromAnswers, learn_from_answers
from pinesy.gradients.learning import START
from pinesy.nn import DeepSoftLogCNN, Recipe

__all__ = ["Lesson", "answered", "learn"]

#: As many images, seen once or often, make a start.
START_IMAGES: Final = 100_000
#: The starts of a run have seeds of their own.
SEEDS_A_RUN: Final = 100


@dataclass(frozen=True)
class Lesson:
    """How a network learns from answers.

    Attributes
    ----------
    architecture : the network's class; starts are always DeepSoftLog's, which is quick
    classes : the number of classes
    run : makes the seeds
    finish : the recipe of the last training
    starts : how many are tried at most
    epochs : of all trainings, if not those of the recipes
    """

    architecture: Callable[..., nn.Module]
    classes: int
    run: int
    finish: Recipe
    starts: int
    epochs: int | None = None

    @property
    def seeds(self) -> range:
        """The seeds of the starts."""
        return range(SEEDS_A_RUN * self.run, SEEDS_A_RUN * self.run + self.starts)

    def begin(self, n_images: int) -> Recipe:
        """Return the recipe of the starts: with few images they take more epochs."""
        return START.with_epochs(self.epochs or max(START.epochs, -(-START_IMAGES // n_images)))

    def end(self) -> Recipe:
        """Return the recipe of the last training."""
        return self.finish.with_epochs(self.epochs) if self.epochs else self.finish


def answered(task: Task, part: Part, images: Images) -> Answered:
    """Return the samples of a part with what its rules should conclude in the end."""
    rules = task.rules()
    inputs = sorted(task.columns, key=task.columns.__getitem__)
    answers = {a.name: part.targets[a.name] for a in rules.outputs}
    return Answered(rules, inputs, images.pixels[part.images], answers)


def learn(
    lesson: Lesson, task: Task, images: Images, directory: Path, say: Callable[[str], Any]
) -> LearnedFromAnswers:
    """Return a network that learned from the answers of the samples for training.

    Parameters
    ----------
    directory : for checkpoints; what is there is not done again

    Notes
    -----
    Starts learn by gradients and beliefs; by gradients only where the rules have loops, as those
    of Sudoku, which conditioning is slow and not exact with.
    """
    directory.mkdir(parents=True, exist_ok=True)
    train, valid = (answered(task, part, images) for part in (task.train, task.valid))
    return learn_from_answers(
        lambda seed: lesson.architecture(lesson.classes, seed=seed),
        train,
        valid,
        seeds=lesson.seeds,
        loss="both" if graph_of(train.cascade).is_forest else "answers",
        start=lesson.begin(train.images.shape[0] * train.images.shape[1]),
        finish=lesson.end(),
        make_start=lambda seed: DeepSoftLogCNN(lesson.classes, seed=seed),
        directory=directory,
        say=say,
    )
