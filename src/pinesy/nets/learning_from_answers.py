"""Learning to read from answers, from the first start to the last training."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import nn

from pinesy._common.files import made
from pinesy._common.validation import FloatArray
from pinesy.exceptions import DomainError
from pinesy.nets.answer_losses import AnswerLoss
from pinesy.nets.answer_training import AnswerFit, answer_score, fit_answers
from pinesy.nets.answered_inputs import AnsweredInputs, InputReader, collected
from pinesy.nets.network_training import History, train
from pinesy.nets.networks import SIDE
from pinesy.nets.recipes import BETTER_EYE, Recipe
from pinesy.nets.rule_layer import RuleLayer
from pinesy.nets.soft_labels import soft_labels

Make = Callable[[int], InputReader | nn.Module]
#: A first training from answers: short, and with small steps, which merge fewer values.
START: Final = Recipe("adamw", 1e-3, "one-cycle", batch=32, epochs=3, t_max=3, eta_min=1e-5)
#: The last training, from labels that the answers gave.
FINISH: Final = replace(BETTER_EYE, epochs=16, t_max=16, average_from=12, augment_until=None)


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
    _check_phases(make, phases)
    place = None if directory is None else made(Path(directory))
    if not isinstance(seeds, Iterable):
        raise DomainError(f"seeds is {seeds!r:.60}; give several, such as range(8)")
    best: ChosenStart | None = None
    scores: dict[int, float] = {}
    seconds = 0.0
    for seed in seeds:
        reader = _new_reader(make, seed, phases[-1].layer)
        fits = _fitted(reader, phases, data, validation, seed, place)
        scores[seed] = fits[-1].score
        seconds += sum(sum(fit.seconds) for fit in fits)
        say(f"start {seed}: {100 * scores[seed]:.1f} % of the answers for validation are right")
        if best is None or scores[seed] > best.score:
            best = ChosenStart(reader, seed, scores, fits, seconds)
        if scores[seed] >= enough:
            break
    if best is None:
        raise DomainError("there are no seeds to start from; give at least one")
    if best.score < enough:
        say(
            f"no start gives {100 * enough:.0f} % of the answers rightly; the best one is taken, "
            f"start {best.seed} with {100 * best.score:.1f} %: its readings may be wrong"
        )
    return replace(best, seconds=seconds)


def _fitted(
    reader: InputReader,
    phases: Sequence[AnswerPhase],
    data: Any,
    validation: Any,
    seed: int,
    place: Path | None,
) -> tuple[AnswerFit, ...]:
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


def _check_phases(make: object, phases: object) -> None:
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
        _check_recipe(phase.recipe)


def _check_recipe(recipe: object) -> None:
    if not isinstance(recipe, Recipe):
        raise DomainError(f"the recipe is a {type(recipe).__name__}; give a Recipe")


def _new_reader(make: Make, seed: int, layer: RuleLayer) -> InputReader:
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


@dataclass(frozen=True, eq=False)
class LearnedFromAnswers:
    """Networks that learned to read from answers.

    Attributes
    ----------
    reader : the networks as trained in the end; those of the start if they give more answers for
        validation rightly
    start : the first training that was chosen
    labels : by input, arrays (n, values), what the answers make of the readings of the start
    corrected : the share of all inputs for training that the answers label otherwise than the
        start read them
    histories : by kind of input, what happened in the last training
    score : the share of the answers for validation that are right
    """

    reader: InputReader
    start: ChosenStart
    labels: Mapping[str, FloatArray]
    corrected: float
    histories: Mapping[str, History]
    score: float

    @property
    def seconds(self) -> float:
        """The time of all trainings."""
        return self.start.seconds + sum(sum(h.seconds) for h in self.histories.values())


def learn_from_answers(
    make: Make,
    phases: Sequence[AnswerPhase],
    data: Any,
    validation: Any,
    *,
    seeds: Iterable[int] = range(8),
    enough: float = 0.9,
    finish: Recipe = FINISH,
    make_start: Make | None = None,
    directory: str | os.PathLike[str] | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> LearnedFromAnswers:
    """Train networks to read their inputs, from answers alone.

    First several starts are trained shortly (`fit_from_starts`), until one gives enough of the
    answers for validation rightly. What it reads, the answers correct (`soft_labels`). From these
    labels new networks are trained as if somebody had labelled the inputs. If they give fewer
    answers for validation rightly than the start, the start is kept.

    Parameters
    ----------
    make, phases, data, validation, seeds, enough, directory, say : as `fit_from_starts` takes them.
        Samples that are no `AnsweredInputs` are read into memory once, for the labels.
    finish : the recipe of the last training; what it augments are images (n, 1, 28, 28), and other
        inputs are seen as they are
    make_start : gives the networks of a start, by default `make`; small ones are quicker
    """
    _check_phases(make, phases)
    _check_recipe(finish)
    chosen = fit_from_starts(
        make_start or make,
        phases,
        data,
        validation,
        seeds=seeds,
        enough=enough,
        directory=directory,
        say=say,
    )
    layer, samples = phases[-1].layer, collected(data)
    seen = chosen.reader.predict_proba(samples.inputs)
    labels = soft_labels(layer.rules, seen, samples.answers)
    otherwise = _relabelled(seen, labels)
    say(f"the answers label {100 * otherwise:.2f} % of the inputs otherwise than it reads them")
    reader = _new_reader(make, chosen.seed, layer)
    place = None if directory is None else Path(directory)
    histories = _trained(reader, samples, labels, finish, chosen.seed, place)
    score = answer_score(reader, layer, validation, single=True)
    if score < chosen.score:
        say(
            f"the last training gives {100 * score:.1f} % of the answers for validation rightly, "
            f"less than its start with {100 * chosen.score:.1f} %; the start is kept"
        )
        reader, score = chosen.reader, chosen.score
    return LearnedFromAnswers(reader, chosen, labels, otherwise, histories, score)


def _relabelled(seen: Mapping[str, FloatArray], labels: Mapping[str, FloatArray]) -> float:
    """Return the share of inputs of which what was read is not among the likeliest labels."""
    changed = []
    for name, p in seen.items():
        read = np.take_along_axis(labels[name], p.argmax(axis=1)[:, None], axis=1)[:, 0]
        changed.append(read < labels[name].max(axis=1))
    return float(np.concatenate(changed).mean())


def _trained(
    reader: InputReader,
    samples: AnsweredInputs,
    labels: Mapping[str, FloatArray],
    recipe: Recipe,
    seed: int,
    place: Path | None,
) -> dict[str, History]:
    """Train each network from the labels of the inputs that it reads."""
    histories = {}
    for number, (kind, (network, names)) in enumerate(reader.by_kind().items()):
        inputs = torch.cat([samples.inputs[name] for name in names])
        is_image = tuple(inputs.shape[1:]) == (1, SIDE, SIDE)
        how = recipe if is_image else replace(recipe, augment=0.0)
        wanted = np.concatenate([labels[name] for name in names])
        file = None if place is None else place / f"last-{seed}-{number}.safetensors"
        histories[kind] = train(network, inputs, wanted, how, seed=seed, checkpoint=file)
    return histories
