"""Learning to read from answers, from the first start to the last training."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from torch import nn

from pinesy._common.validation import FloatArray
from pinesy.nets.gradients.answers import Answered
from pinesy.nets.gradients.soft_labels import corrected
from pinesy.nets.gradients.starts import Start, best_start, check_start, made_network
from pinesy.nets.predict import predict_proba
from pinesy.nets.recipes import BETTER_EYE, Recipe
from pinesy.nets.training import History, train

Make = Callable[[int], nn.Module]

#: A first training from answers: short, and with small steps, which merge fewer values.
START: Final = Recipe("adamw", 1e-3, "one-cycle", batch=64, epochs=3, t_max=3, eta_min=1e-5)
#: The last training, from labels that the answers gave.
FINISH: Final = replace(BETTER_EYE, epochs=16, t_max=16, average_from=12, augment_until=None)


@dataclass(frozen=True, eq=False)
class LearnedFromAnswers:
    """A network that learned to read from answers.

    Attributes
    ----------
    network : as trained in the end
    start : the first training that was chosen
    labels : array (n * m, classes), what the answers make of the readings of the start
    corrected : the share of the training images that the answers label otherwise than the start
        read them
    history : of the last training
    score : the share of the answers for validation that the network gives rightly
    """

    network: nn.Module
    start: Start
    labels: FloatArray
    corrected: float
    history: History
    score: float

    @property
    def seconds(self) -> float:
        """The time of all trainings."""
        return self.start.seconds + sum(self.history.seconds)


def learn_from_answers(
    make: Make,
    samples: Answered,
    validation: Answered,
    *,
    seeds: Iterable[int] = range(8),
    enough: float = 0.9,
    loss: str = "both",
    start: Recipe = START,
    finish: Recipe = FINISH,
    make_start: Make | None = None,
    directory: str | os.PathLike[str] | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> LearnedFromAnswers:
    """Train a network to read images, from answers alone.

    First several starts are trained shortly (`best_start`), until one gives enough of the answers
    for validation rightly. What it reads, the answers correct (`soft_labels`). From these labels
    a new network is trained as if somebody had labelled the images.

    Parameters
    ----------
    make : gives a new network for a seed
    samples, validation : images with answers, to train with and to choose by
    seeds : of the starts, in this order
    enough : the share of right answers for validation that ends the search for a start
    loss : of the starts, as `train_from_answers` takes it
    start, finish : recipes of the first trainings and of the last
    make_start : gives the network of a start, by default `make`; a small one is quicker
    directory : for checkpoints, so that it goes on where it was; by default there are none
    say : is given a line for each step
    """
    check_start(make, samples, validation, finish)
    chosen = best_start(
        make_start or make,
        samples,
        validation,
        start,
        seeds=seeds,
        enough=enough,
        loss=loss,
        directory=directory,
        say=say,
    )
    seen = predict_proba(chosen.network, samples.flat)
    labels = corrected(samples, seen)
    read = np.take_along_axis(labels, seen.argmax(axis=1)[:, None], axis=1)[:, 0]
    otherwise = float((read < labels.max(axis=1)).mean())
    say(f"the answers label {100 * otherwise:.2f} % of the images otherwise than it reads them")
    network = made_network(make, chosen.seed)
    file = None if directory is None else Path(directory) / f"last-{chosen.seed}.safetensors"
    history = train(network, samples.flat, labels, finish, seed=chosen.seed, checkpoint=file)
    score = validation.answer_accuracy(network)
    return LearnedFromAnswers(network, chosen, labels, otherwise, history, score)
