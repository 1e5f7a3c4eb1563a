"""Robust starts: several seeds and phases of training, chosen by answers for validation."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from pinesy._common.files import made
from pinesy.exceptions import DomainError
from pinesy.nets.answer_losses import AnswerLoss
from pinesy.nets.answer_training import AnswerFit, fit_answers
from pinesy.nets.input_reader import InputReader
from pinesy.nets.recipes import Recipe
from pinesy.nets.rule_layer import RuleLayer

Make = Callable[[int], InputReader | nn.Module]


@dataclass(frozen=True, eq=False)
class AnswerPhase:
    """One phase of a training: the rules in a semantics, how, and what is made small.

    Attributes
    ----------
    layer, recipe, loss : as `fit_answers` takes them
    data, validation : samples of this phase, by default those of the whole training. With them a
        phase may have rules of its own, such as simpler ones to begin with; the networks are the
        same (`InputReader.over`).
    """

    layer: RuleLayer
    recipe: Recipe
    loss: str | AnswerLoss = "beliefs"
    data: Any = None
    validation: Any = None


@dataclass(frozen=True, eq=False)
class ChosenStart:
    """The best of several starts.

    Attributes
    ----------
    reader : its networks, trained
    seed : that it started from
    scores : by seed, in the order of trying, the share of the answers for validation that are
        right
    fits : of the seed that was chosen, what happened in each phase
    seconds : the time that all starts took
    """

    reader: InputReader
    seed: int
    scores: dict[int, float]
    fits: tuple[AnswerFit, ...]
    seconds: float

    @property
    def score(self) -> float:
        """That of the networks."""
        return self.scores[self.seed]


def fit_from_starts(
    make: Make,
    phases: Sequence[AnswerPhase],
    data: Any,
    validation: Any,
    *,
    seeds: Iterable[int],
    enough: float = 0.9,
    directory: str | os.PathLike[str] | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> ChosenStart:
    """Train from several starts, phase after phase, and return the best one.

    Answers leave open what values are called, and gradients may end in a wrong reading. One that is
    wrong does badly on answers that it was not trained on, so that these choose: the first start
    that gives `enough` of them rightly, else the best. A probabilistic phase finds readings well;
    a possibilistic one after it fits what is inferred with.

    Parameters
    ----------
    make : gives new networks for a seed: an `InputReader`, or one network that reads all inputs
    phases : in their order; the last one judges
    data, validation : as `fit_answers` takes them
    seeds : those to try, in this order
    enough : a score that ends the search
    directory : for checkpoints, a file for each seed and phase; by default there are none
    say : is given a line for each start
    """
    check_phases(make, phases)
    place = None if directory is None else made(Path(directory))
    if not isinstance(seeds, Iterable):
        raise DomainError(f"seeds is {seeds!r:.60}; give several, such as range(8)")
    best: ChosenStart | None = None
    scores: dict[int, float] = {}
    seconds = 0.0
    for seed in seeds:
        reader = made_reader(make, seed, phases[-1].layer)
        fits = _fitted(reader, phases, data, validation, seed, place)
        scores[seed] = fits[-1].score
        seconds += sum(sum(fit.seconds) for fit in fits)
        say(f"start {seed}: {100 * scores[seed]:.1f} % of the answers for validation are right")
        if best is None or scores[seed] > best.score:
            best = ChosenStart(reader, seed, scores, fits, 0.0)
        if scores[seed] >= enough:
            break
    if best is None:
        raise DomainError("there are no seeds to start from; give at least one")
    if best.score < enough:
        say(
            f"no start gives {100 * enough:.0f} % of the answers rightly; the best one is taken, "
            f"start {best.seed} with {100 * best.score:.1f} %: its readings may be wrong"
        )
    return ChosenStart(best.reader, best.seed, scores, best.fits, seconds)


def _fitted(
    reader: InputReader,
    phases: Sequence[AnswerPhase],
    data: Any,
    validation: Any,
    seed: int,
    place: Path | None,
) -> tuple[AnswerFit, ...]:
    """Train networks phase after phase."""
    return tuple(
        fit_answers(
            reader.over(phase.layer.rules),
            phase.layer,
            data if phase.data is None else phase.data,
            validation if phase.validation is None else phase.validation,
            phase.recipe,
            seed=seed,
            loss=phase.loss,
            checkpoint=None if place is None else place / f"start-{seed}-{number}.safetensors",
        )
        for number, phase in enumerate(phases)
    )


def check_phases(make: object, phases: object) -> None:
    """Raise `DomainError` for what would fail only after a training, or with words of PyTorch."""
    if isinstance(make, nn.Module) or not callable(make):
        raise DomainError(
            f"make is a {type(make).__name__}; give a function from a seed to new networks, such "
            "as lambda seed: DeepSoftLogCNN(10, seed=seed)"
        )
    if not isinstance(phases, Sequence) or not phases:
        raise DomainError("there are no phases; give a list of at least one AnswerPhase")
    for phase in phases:
        if not isinstance(phase, AnswerPhase):
            raise DomainError(f"phases has a {type(phase).__name__}; give AnswerPhases")
        check_recipe(phase.recipe)


def check_recipe(recipe: object) -> None:
    """Raise `DomainError` unless it is a recipe."""
    if not isinstance(recipe, Recipe):
        raise DomainError(f"the recipe is a {type(recipe).__name__}; give a Recipe")


def made_reader(make: Make, seed: int, layer: RuleLayer) -> InputReader:
    """Return new networks in front of rules, or raise `DomainError` if they are none."""
    try:
        networks = make(seed)
    except (DomainError, TypeError) as error:
        raise DomainError(
            f"make({seed}) failed: {error}; give a function of one argument, the seed, such as "
            "lambda seed: DeepSoftLogCNN(10, seed=seed)"
        ) from error
    if isinstance(networks, InputReader):
        return networks
    if not isinstance(networks, nn.Module):
        given = type(networks).__name__
        raise DomainError(f"make({seed}) gave a {given}, and no InputReader or torch.nn.Module")
    return InputReader(layer.rules, networks)
