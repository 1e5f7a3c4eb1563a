"""Starts of a training from answers: some end in a wrong reading, which other answers tell."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from torch import nn

from pinesy.exceptions import DomainError
from pinesy.gradients.answers import Answered, train_from_answers
from pinesy.nn.recipes import Recipe
from pinesy.nn.training import History

__all__ = ["Start", "best_start"]


@dataclass(frozen=True, eq=False)
class Start:
    """A network after a first training from answers.

    Attributes
    ----------
    seed : of its weights and of the order of samples
    network : as trained
    score : the share of the samples for validation that are answered right
    history : of its training
    """

    seed: int
    network: nn.Module
    score: float
    history: History


def best_start(
    make: Callable[[int], nn.Module],
    samples: Answered,
    validation: Answered,
    recipe: Recipe,
    *,
    seeds: Iterable[int],
    enough: float = 1.0,
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
    enough : a score that ends the search
    directory : for checkpoints, a file for each seed; by default there are none
    say : is given a line for each start
    """
    best: Start | None = None
    for seed in seeds:
        network = make(seed)
        file = None if directory is None else Path(directory) / f"start-{seed}.safetensors"
        history = train_from_answers(network, samples, recipe, seed=seed, checkpoint=file)
        start = Start(seed, network, validation.score(network), history)
        say(f"start {seed}: {100 * start.score:.1f} % of the answers for validation are right")
        if best is None or start.score > best.score:
            best = start
        if best.score >= enough:
            break
    if best is None:
        raise DomainError("there are no seeds to start from; give at least one")
    return best
