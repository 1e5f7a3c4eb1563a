"""Robust starts: several seeds and phases of training, chosen by answers for validation."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinesy._common.files import made
from pinesy.exceptions import DomainError
from pinesy.nets.answer_losses import belief_loss
from pinesy.nets.answer_training import AnswerFit, AnswerLoss, answer_score, fit_answers
from pinesy.nets.input_reader import InputReader
from pinesy.nets.recipes import Recipe
from pinesy.nets.rule_layer import RuleLayer


@dataclass(frozen=True, eq=False)
class AnswerPhase:
    """One phase of a training: the rules in a semantics, how, and what is made small."""

    layer: RuleLayer
    recipe: Recipe
    loss: AnswerLoss = belief_loss


@dataclass(frozen=True, eq=False)
class ChosenStart:
    """The best of several starts.

    Attributes
    ----------
    reader : its networks, trained
    seed : that it started from
    scores : by seed, in the order of trying, the share of validation samples that are right
    fits : of the seed that was chosen, what happened in each phase
    """

    reader: InputReader
    seed: int
    scores: dict[int, float]
    fits: tuple[AnswerFit, ...]

    @property
    def score(self) -> float:
        """That of the networks."""
        return self.scores[self.seed]


def fit_from_starts(
    make: Callable[[int], InputReader],
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
    make : gives new networks for a seed
    phases : in their order; the semantics of the last one judges
    data, validation : as `fit_answers` takes them
    seeds : those to try, in this order
    enough : a score that ends the search
    directory : for checkpoints, a file for each seed and phase; by default there are none
    say : is given a line for each start
    """
    place = None if directory is None else made(Path(directory))
    if not phases:
        raise DomainError("there are no phases; give at least one AnswerPhase")
    scores: dict[int, float] = {}
    best: tuple[int, InputReader, tuple[AnswerFit, ...]] | None = None
    for seed in seeds:
        reader, fits = make(seed), []
        for number, phase in enumerate(phases):
            file = None if place is None else place / f"start-{seed}-{number}.pt"
            fits.append(_fit(phase, reader, data, validation, seed, file))
        scores[seed] = answer_score(reader, phases[-1].layer, validation)
        say(f"start {seed}: {100 * scores[seed]:.1f} % of the validation samples are right")
        if best is None or scores[seed] > scores[best[0]]:
            best = seed, reader, tuple(fits)
        if scores[seed] >= enough:
            break
    if best is None:
        raise DomainError("there are no seeds to start from; give at least one")
    if scores[best[0]] < enough:
        say(f"no start gives {100 * enough:.0f} % rightly: the readings of the best may be wrong")
    return ChosenStart(best[1], best[0], scores, best[2])


def _fit(
    phase: AnswerPhase,
    reader: InputReader,
    data: Any,
    validation: Any,
    seed: int,
    file: Path | None,
) -> AnswerFit:
    layer, recipe = phase.layer, phase.recipe
    return fit_answers(
        reader, layer, data, validation, recipe, seed=seed, loss=phase.loss, checkpoint=file
    )
