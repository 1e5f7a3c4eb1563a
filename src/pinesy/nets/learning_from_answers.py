"""Training networks from answers alone (distant supervision); see docs/own-task.md.

`fit_answers` trains networks in front of rules, `fit_from_starts` tries several random starts, and
`learn_from_answers` does the whole training.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from operator import length_hint
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from pinesy._common.files import make_directory
from pinesy._common.validation import FloatArray, check_integer
from pinesy.exceptions import DomainError
from pinesy.nets.answer_losses import (
    UNKNOWN,
    AnswerLoss,
    answer_indices,
    loss_by_name,
    soft_labels,
)
from pinesy.nets.answered_inputs import (
    AnsweredInputs,
    Batch,
    InputReader,
    check_samples,
    checked_batches,
    fingerprint_of,
    loader,
    read_into_memory,
)
from pinesy.nets.checkpoints import SCORES, Identity, data_fingerprint
from pinesy.nets.network_training import History, TrainingLoop, train
from pinesy.nets.networks import SIDE, device_of, evaluation_mode
from pinesy.nets.recipes import BETTER_EYE, Recipe
from pinesy.nets.rule_layer import RuleLayer
from pinesy.rulebase.rules_json import to_content


@dataclass(frozen=True)
class AnswerFit:
    """The history of a training from answers.

    Attributes
    ----------
    losses : the mean loss of each epoch
    scores : the share of right validation answers: at the start, and after each epoch
    best : the epoch whose networks were kept, counted from 1; 0 for the start
    seconds : the time of each epoch
    resumed : the number of epochs that a checkpoint already had
    """

    losses: tuple[float, ...]
    scores: tuple[float, ...]
    best: int
    seconds: tuple[float, ...]
    resumed: int = 0

    @property
    def score(self) -> float:
        """The score of the networks that were kept."""
        return self.scores[self.best]


def fit_answers(
    reader: InputReader,
    layer: RuleLayer,
    data: Any,
    validation: Any,
    recipe: Recipe,
    *,
    seed: int,
    loss: str | AnswerLoss = "beliefs",
    checkpoint: str | os.PathLike[str] | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> AnswerFit:
    """Train networks in place so that rules give the right answers; the best epoch is kept.

    Of the start and the networks after each epoch, those are kept that give most answers for
    validation correctly, the latest of equals: training never leaves networks worse than it found
    them. The order of samples and dropout depend on the seed and the epoch only, so that a training
    that goes on from a checkpoint gives the same bits.

    Parameters
    ----------
    reader : the networks
    layer : the rules, in the semantics to train and to judge with
    data, validation : each a data set of PyTorch of pairs (what is seen by input, answers by
        attribute), such as `AnsweredInputs`, or a `DataLoader` of batches of such pairs. An
        `IterableDataset` keeps its order; if it has no length, the learning rate changes from
        epoch to epoch only.
    recipe : optimiser, learning rates, samples a batch, and epochs; it does not augment
    loss : ``"beliefs"`` (`belief_loss`), ``"answers"`` (`answer_loss` of what is inferred),
        ``"both"``, ``"projection"`` (`projection_loss`), or any function of the layer,
        probabilities and answers
    checkpoint : a file, written after each epoch; if it is there, training goes on from it. It is
        that of the same networks, rules, data, recipe and seed, or it is refused.
    say : is given a line for each epoch

    Raises
    ------
    PinesyError
        A loss is not a finite number. The networks are then those of the best epoch before.
    """
    if recipe.augment or recipe.average_from is not None:
        raise DomainError("fit_answers neither augments nor averages; let the data set augment")
    if recipe.precision != "float32":
        raise DomainError(
            f"fit_answers computes in float32, not in {recipe.precision}, which is too coarse for "
            "what rules infer; only a last training from labels may be of that precision"
        )
    for samples in (data, validation):
        check_samples(layer.rules, samples)
    loss_function = loss_by_name(loss)
    known = "" if checkpoint is None else _data_identity(layer, loss_function, data, validation)
    identity = Identity(repr(reader), recipe, check_integer(seed, "seed"), known)
    layer.to(device_of(reader))
    loop = _AnswerTraining(reader, identity, layer, data, validation, loss_function, say)
    size = len(data) if isinstance(data, AnsweredInputs) else None
    resumed = loop.run(checkpoint, "training from answers", size)
    losses, seconds, scores = (tuple(loop.history[n]) for n in ("losses", "seconds", SCORES))
    return AnswerFit(losses, scores, loop.best, seconds, resumed)


def _data_identity(layer: RuleLayer, loss: AnswerLoss, data: Any, validation: Any) -> str:
    """Return a fingerprint of the rules, the semantics, the loss and the data."""
    called = getattr(loss, "__qualname__", repr(loss))
    text = repr((to_content(layer.rules), layer.semantics, [a.name for a in layer.outputs], called))
    return data_fingerprint(f"{text} {fingerprint_of(data)} {fingerprint_of(validation)}")


@dataclass(eq=False)
class _AnswerTraining(TrainingLoop):
    """Training from answers, with any loss of them; validation answers give the score."""

    layer: RuleLayer
    data: Any
    validation: Any
    loss_function: AnswerLoss
    say: Callable[[str], object]

    def batches(self, _epoch: int) -> tuple[int, Iterable[Batch]]:
        """Return the number of batches, and the batches, shuffled if the data set allows it."""
        batches = loader(self.data, self.recipe.batch, shuffle=True)
        return length_hint(batches), checked_batches(batches, "data")

    def loss(self, batch: Any) -> tuple[Tensor, int, float]:
        """Return the loss of a batch (NaN if probabilities are not finite), its size, and 0."""
        probabilities: Mapping[str, Tensor] = self.network(batch[0])
        is_good = all(bool(torch.isfinite(p).all()) for p in probabilities.values())
        loss = (
            self.loss_function(self.layer, probabilities, batch[1])
            if is_good
            else torch.tensor(nan)
        )
        return loss, len(next(iter(probabilities.values()))), 0.0

    def score(self, network: nn.Module) -> float:
        """Return the share of right validation answers."""
        return answer_score(network, self.layer, self.validation, single=True)  # type: ignore[arg-type]

    def report(self, epoch: int) -> None:
        """Report the loss and the score of an epoch."""
        loss, score = self.history["losses"][-1], self.history[SCORES][-1]
        self.say(f"epoch {epoch + 1}: loss {loss:.3f}, {100 * score:.1f} % right")


def answer_score(
    reader: InputReader, layer: RuleLayer, data: Any, batch: int = 1000, *, single: bool = False
) -> float:
    """Return the share of samples whose answers are all right, as the only best values.

    Parameters
    ----------
    reader, layer, data : as `fit_answers` takes them; labels of inputs count as answers, and what
        is None does not
    batch : the number of samples of a batch
    single : whether to count single answers instead of samples, which is more sensitive if samples
        have many answers
    """
    right = n = 0
    for inputs, answers in checked_batches(loader(data, batch, shuffle=False), "validation"):
        with evaluation_mode(reader):
            probabilities = reader(inputs)
        with torch.no_grad():  # not in inference mode: what the layer stores may need gradients
            outputs = {
                **probabilities,
                **layer({name: p.clone() for name, p in probabilities.items()}),
            }
        good, known = _right_answers(layer, outputs, answers)
        right += int(good[known].sum() if single else (good | ~known).all(axis=0).sum())
        n += int(known.sum()) if single else good.shape[1]
    return right / max(n, 1)


def _right_answers(
    layer: RuleLayer, outputs: Mapping[str, Tensor], answers: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Return two masks (answers, n): which answers are the only best value, and which are known."""
    n = len(next(iter(outputs.values())))
    positions = answer_indices(answers, layer.rules.attributes, outputs, n)
    right = []
    for name, indices in positions.items():
        weights = outputs[name].cpu().numpy()
        is_unique = (weights == weights.max(axis=1, keepdims=True)).sum(axis=1) == 1
        right.append((weights.argmax(axis=1) == indices) & is_unique)
    return np.stack(right), np.stack([*positions.values()]) != UNKNOWN


Make = Callable[[int], InputReader | nn.Module]
#: A first training from answers: short, with a small learning rate, which merges fewer values.
START: Final = Recipe("adamw", 1e-3, "one-cycle", batch=32, epochs=3, t_max=3, eta_min=1e-5)
#: The last training, from soft labels.
FINISH: Final = replace(BETTER_EYE, epochs=16, t_max=16, average_from=12, augment_until=None)


@dataclass(frozen=True, eq=False)
class AnswerPhase:
    """One phase of a training: the rules in a semantics, the recipe and the loss.

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
    seed : the seed of the start
    scores : by seed, in the order of the trials, the share of right validation answers
    fits : the history of each phase, for the chosen seed
    seconds : the time of all starts
    """

    reader: InputReader
    seed: int
    scores: dict[int, float]
    fits: tuple[AnswerFit, ...]
    seconds: float

    @property
    def score(self) -> float:
        """The score of the chosen start."""
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
    that gives `enough` of them correctly, else the best. A probabilistic phase finds readings well;
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
    folder = None if directory is None else make_directory(Path(directory))
    if not isinstance(seeds, Iterable):
        raise DomainError(f"seeds is {seeds!r:.60}; give several, such as range(8)")
    best: ChosenStart | None = None
    scores: dict[int, float] = {}
    seconds = 0.0
    for seed in seeds:
        reader = _new_reader(make, seed, phases[-1].layer)
        fits = _fit_phases(reader, phases, data, validation, seed, folder)
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
            f"no start gives {100 * enough:.0f} % of the answers correctly; the best one is taken, "
            f"start {best.seed} with {100 * best.score:.1f} %: its readings may be wrong"
        )
    return replace(best, seconds=seconds)


def _fit_phases(
    reader: InputReader,
    phases: Sequence[AnswerPhase],
    data: Any,
    validation: Any,
    seed: int,
    folder: Path | None,
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
            checkpoint=None if folder is None else folder / f"start-{seed}-{index}.safetensors",
        )
        for index, phase in enumerate(phases)
    )


def _check_phases(make: object, phases: object) -> None:
    """Raise `DomainError` for arguments that would fail only after a training."""
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
    """Return a reader with new networks, or raise `DomainError` if `make` returns none."""
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
        type_name = type(networks).__name__
        raise DomainError(f"make({seed}) gave a {type_name}, and no InputReader or torch.nn.Module")
    return InputReader(layer.rules, networks)


@dataclass(frozen=True, eq=False)
class LearnedFromAnswers:
    """Networks that were trained from answers.

    Attributes
    ----------
    reader : the networks as trained in the end; those of the start if they give more answers for
        validation correctly
    start : the first training that was chosen
    labels : by input, the soft labels (n, values) of the training samples
    corrected : the share of training inputs whose soft label differs from the start's prediction
    histories : by kind of input, the history of the last training
    score : the share of right validation answers
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
    answers for validation correctly. What it reads, the answers correct (`soft_labels`). From these
    labels new networks are trained as if somebody had labelled the inputs. If they give fewer
    answers for validation correctly than the start, the start is kept.

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
    start = fit_from_starts(
        make_start or make,
        phases,
        data,
        validation,
        seeds=seeds,
        enough=enough,
        directory=directory,
        say=say,
    )
    layer, samples = phases[-1].layer, read_into_memory(data)
    probabilities = start.reader.predict_proba(samples.inputs)
    labels = soft_labels(layer.rules, probabilities, samples.answers)
    corrected = _share_corrected(probabilities, labels)
    say(f"the answers label {100 * corrected:.2f} % of the inputs otherwise than it reads them")
    reader = _new_reader(make, start.seed, layer)
    folder = None if directory is None else Path(directory)
    histories = _train_networks(reader, samples, labels, finish, start.seed, folder)
    score = answer_score(reader, layer, validation, single=True)
    if score < start.score:
        say(
            f"the last training gives {100 * score:.1f} % of the answers for validation correctly, "
            f"less than its start with {100 * start.score:.1f} %; the start is kept"
        )
        reader, score = start.reader, start.score
    return LearnedFromAnswers(reader, start, labels, corrected, histories, score)


def _share_corrected(
    probabilities: Mapping[str, FloatArray], labels: Mapping[str, FloatArray]
) -> float:
    """Return the share of inputs whose prediction is not among the most probable labels."""
    changed = []
    for name, p in probabilities.items():
        degrees = np.take_along_axis(labels[name], p.argmax(axis=1)[:, None], axis=1)[:, 0]
        changed.append(degrees < labels[name].max(axis=1))
    return float(np.concatenate(changed).mean())


def _train_networks(
    reader: InputReader,
    samples: AnsweredInputs,
    labels: Mapping[str, FloatArray],
    recipe: Recipe,
    seed: int,
    folder: Path | None,
) -> dict[str, History]:
    """Train each network from the labels of the inputs that it reads."""
    histories = {}
    for index, (kind, (network, names)) in enumerate(reader.by_kind().items()):
        inputs = torch.cat([samples.inputs[name] for name in names])
        is_image = tuple(inputs.shape[1:]) == (1, SIDE, SIDE)
        adapted = recipe if is_image else replace(recipe, augment=0.0)
        targets = np.concatenate([labels[name] for name in names])
        file = None if folder is None else folder / f"last-{seed}-{index}.safetensors"
        histories[kind] = train(network, inputs, targets, adapted, seed=seed, checkpoint=file)
    return histories
