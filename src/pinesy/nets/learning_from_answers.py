"""Learning to read from answers, from the first start to the last training."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.nets.answer_starts import (
    AnswerPhase,
    ChosenStart,
    Make,
    check_phases,
    check_recipe,
    fit_from_starts,
    made_reader,
)
from pinesy.nets.answer_training import answer_score
from pinesy.nets.answered_inputs import AnsweredInputs, by_names, collected
from pinesy.nets.input_reader import InputReader
from pinesy.nets.network_training import History, train
from pinesy.nets.networks import SIDE
from pinesy.nets.recipes import BETTER_EYE, Recipe
from pinesy.nets.soft_labels import soft_labels

#: A first training from answers: short, and with small steps, which merge fewer values.
START: Final = Recipe("adamw", 1e-3, "one-cycle", batch=32, epochs=3, t_max=3, eta_min=1e-5)
#: The last training, from labels that the answers gave.
FINISH: Final = replace(BETTER_EYE, epochs=16, t_max=16, average_from=12, augment_until=None)


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
    check_phases(make, phases)
    check_recipe(finish)
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
    reader = made_reader(make, chosen.seed, layer)
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
        inputs = by_names(samples, names)
        is_image = tuple(inputs.shape[1:]) == (1, SIDE, SIDE)
        how = recipe if is_image else replace(recipe, augment=0.0)
        wanted = np.concatenate([labels[name] for name in names])
        file = None if place is None else place / f"last-{seed}-{number}.safetensors"
        histories[kind] = train(network, inputs, wanted, how, seed=seed, checkpoint=file)
    return histories
