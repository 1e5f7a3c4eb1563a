"""Learning to read from answers, from the first start to the last training."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from torch import nn

from pinesy._common.files import made
from pinesy._common.validation import FloatArray
from pinesy.exceptions import DomainError
from pinesy.nets.answered_samples import Answered, corrected
from pinesy.nets.network_training import History, train
from pinesy.nets.networks import predict_proba
from pinesy.nets.recipes import BETTER_EYE, Recipe
from pinesy.nets.training_from_answers import train_from_answers

Make = Callable[[int], nn.Module]

#: A first training from answers: short, and with small steps, which merge fewer values.
START: Final = Recipe("adamw", 1e-3, "one-cycle", batch=64, epochs=3, t_max=3, eta_min=1e-5)
#: The last training, from labels that the answers gave.
FINISH: Final = replace(BETTER_EYE, epochs=16, t_max=16, average_from=12, augment_until=None)


@dataclass(frozen=True, eq=False)
class Start:
    """A network after a first training from answers, the best of several.

    Attributes
    ----------
    seed : of its weights and of the order of samples
    network : as trained
    scores : by seed, in the order of trying, the share of the answers for validation that the
        network gives rightly, `Answered.answer_accuracy`
    seconds : the time that all starts took
    """

    seed: int
    network: nn.Module
    scores: dict[int, float]
    seconds: float

    @property
    def score(self) -> float:
        """That of the network."""
        return self.scores[self.seed]


def best_start(
    make: Make,
    samples: Answered,
    validation: Answered,
    recipe: Recipe,
    *,
    seeds: Iterable[int],
    enough: float = 1.0,
    loss: str = "both",
    directory: str | os.PathLike[str] | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> Start:
    """Train from several starts, and return the one that answers validation samples best.

    Answers alone leave open what the values are called: a network may take each 3 for an 8, or
    two digits for one, and be right on some answers. On answers that it was not trained on, such
    readings do badly, so that a short training and a look at them are enough to choose.

    Parameters
    ----------
    make : gives a new network for a seed
    samples, validation : images with answers, to train with and to judge by
    recipe : of the first training
    seeds : those to try, in this order
    enough : a score that ends the search; if no start has it, the best one is taken all the same
    loss : as `train_from_answers` takes it
    directory : for checkpoints, a file for each training, so that it goes on where it was; by
        default there are none
    say : is given a line for each step
    """
    check_start(make, samples, validation, recipe)
    place = None if directory is None else made(Path(directory))
    if not isinstance(seeds, Iterable):
        raise DomainError(f"seeds is {seeds!r:.60}; give several, such as range(8)")
    scores: dict[int, float] = {}
    seconds, best, chosen = 0.0, None, -1
    for seed in seeds:
        network = made_network(make, seed)
        file = None if place is None else place / f"start-{seed}.safetensors"
        history = train_from_answers(
            network, samples, recipe, seed=seed, loss=loss, checkpoint=file
        )
        seconds += sum(history.seconds)
        scores[seed] = validation.answer_accuracy(network)
        say(f"start {seed}: {100 * scores[seed]:.1f} % of the answers for validation are right")
        if best is None or scores[seed] > scores[chosen]:
            best, chosen = network, seed
        if scores[chosen] >= enough:
            break
    if best is None:
        raise DomainError("there are no seeds to start from; give at least one")
    if scores[chosen] < enough < 1.0:
        say(
            f"no start gives {100 * enough:.0f} % of the answers rightly; the best one is taken, "
            f"start {chosen} with {100 * scores[chosen]:.1f} %: its readings may be wrong"
        )
    return Start(chosen, best, scores, seconds)


def check_start(make: object, samples: object, validation: object, recipe: object) -> None:
    """Raise `DomainError` for what would fail only after a training, or with words of PyTorch."""
    if isinstance(make, nn.Module) or not callable(make):
        raise DomainError(
            f"make is a {type(make).__name__}; give a function from a seed to a new network, such "
            "as lambda seed: DeepSoftLogCNN(10, seed=seed)"
        )
    for name, given, kind in (
        ("samples", samples, Answered),
        ("validation", validation, Answered),
        ("the recipe", recipe, Recipe),
    ):
        if not isinstance(given, kind):
            raise DomainError(f"{name} is a {type(given).__name__}; give a {kind.__name__}")


def made_network(make: Make, seed: int) -> nn.Module:
    """Return a new network, or raise `DomainError` if it is none."""
    try:
        network = make(seed)
    except (DomainError, TypeError) as error:
        raise DomainError(
            f"make({seed}) failed: {error}; give a function of one argument, the seed, such as "
            "lambda seed: DeepSoftLogCNN(10, seed=seed)"
        ) from error
    if not isinstance(network, nn.Module):
        raise DomainError(f"make({seed}) gave a {type(network).__name__}, and no torch.nn.Module")
    return network


@dataclass(frozen=True, eq=False)
class LearnedFromAnswers:
    """A network that learned to read from answers.

    Attributes
    ----------
    network : as trained in the end; that of the start if it answers more for validation rightly
        and is a network of the same class
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
    make, samples, validation, seeds, enough, loss, directory, say : as `best_start` takes them
    start, finish : recipes of the first trainings and of the last
    make_start : gives the network of a start, by default `make`; a small one is quicker
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
    if score < chosen.score:
        same = type(network) is type(chosen.network)
        say(
            f"the last training gives {100 * score:.1f} % of the answers for validation rightly, "
            f"less than its start with {100 * chosen.score:.1f} %; the start is "
            + ("kept" if same else "another kind of network, and is not kept: see start.network")
        )
        network, score = (chosen.network, chosen.score) if same else (network, score)
    return LearnedFromAnswers(network, chosen, labels, otherwise, history, score)
