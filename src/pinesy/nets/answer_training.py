"""Training from answers for any data, networks, rules and semantics; see docs/own-task.md."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import nan
from operator import length_hint
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pinesy._common.validation import check_integer
from pinesy.exceptions import DomainError
from pinesy.nets.answer_losses import AnswerLoss, loss_called
from pinesy.nets.answered_inputs import (
    AnsweredInputs,
    Batch,
    InputReader,
    check_samples,
    checked_batches,
    fingerprint_of,
    loader,
)
from pinesy.nets.checkpoints import SCORES, Identity, data_fingerprint
from pinesy.nets.network_training import TrainingLoop
from pinesy.nets.networks import device_of, predicting
from pinesy.nets.recipes import Recipe
from pinesy.nets.rule_layer import RuleLayer
from pinesy.nets.soft_labels import UNKNOWN, answer_positions
from pinesy.rulebase.rules_json import to_content


@dataclass(frozen=True)
class AnswerFit:
    """What happened in a training from answers.

    Attributes
    ----------
    losses : the mean loss of each epoch
    scores : the share of the answers for validation that are right: at the start, and after each
        epoch
    best : the epoch whose networks were kept, counted from 1; 0 for the start
    seconds : the time that each epoch took
    resumed : how many of the epochs a checkpoint had already
    """

    losses: tuple[float, ...]
    scores: tuple[float, ...]
    best: int
    seconds: tuple[float, ...]
    resumed: int = 0

    @property
    def score(self) -> float:
        """That of the networks that were kept."""
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
    validation rightly, the latest of equals: training never leaves networks worse than it found
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
        ``"both"``, or any function of the layer, probabilities and answers
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
    for samples in (data, validation):
        check_samples(layer.rules, samples)
    to_lessen = loss_called(loss)
    known = "" if checkpoint is None else _data_identity(layer, to_lessen, data, validation)
    identity = Identity(repr(reader), recipe, check_integer(seed, "seed"), known)
    layer.to(device_of(reader))
    loop = _AnswerTraining(reader, identity, layer, data, validation, to_lessen, say)
    size = len(data) if isinstance(data, AnsweredInputs) else None
    resumed = loop.run(checkpoint, "training from answers", size)
    losses, seconds, scores = (tuple(loop.history[n]) for n in ("losses", "seconds", SCORES))
    return AnswerFit(losses, scores, loop.best, seconds, resumed)


def _data_identity(layer: RuleLayer, loss: AnswerLoss, data: Any, validation: Any) -> str:
    """Return what differs where rules, semantics, losses or data do."""
    called = getattr(loss, "__qualname__", repr(loss))
    text = repr((to_content(layer.rules), layer.semantics, [a.name for a in layer.outputs], called))
    return data_fingerprint(f"{text} {fingerprint_of(data)} {fingerprint_of(validation)}")


@dataclass(eq=False)
class _AnswerTraining(TrainingLoop):
    """Training from answers: any loss of them; answers for validation judge."""

    layer: RuleLayer
    data: Any
    validation: Any
    to_lessen: AnswerLoss
    say: Callable[[str], object]

    def batches(self, _epoch: int) -> tuple[int, Iterable[Batch]]:
        """Return the batches of the data, shuffled unless they have an order of their own."""
        batches = loader(self.data, self.recipe.batch, shuffle=True)
        return length_hint(batches), checked_batches(batches, "data")

    def loss(self, batch: Any) -> tuple[Tensor, int, float]:
        """Return the loss of a batch; it is not a number where a network's scores are none."""
        read: Mapping[str, Tensor] = self.network(batch[0])
        is_good = all(bool(torch.isfinite(p).all()) for p in read.values())
        loss = self.to_lessen(self.layer, read, batch[1]) if is_good else torch.tensor(nan)
        return loss, len(next(iter(read.values()))), 0.0

    def judge(self, network: nn.Module) -> float:
        """Return the share of the answers for validation that are right."""
        return answer_score(network, self.layer, self.validation, single=True)  # type: ignore[arg-type]

    def report(self, epoch: int) -> None:
        """Say the loss and the score of an epoch."""
        loss, score = self.history["losses"][-1], self.history[SCORES][-1]
        self.say(f"epoch {epoch + 1}: loss {loss:.3f}, {100 * score:.1f} % right")


def answer_score(
    reader: InputReader, layer: RuleLayer, data: Any, batch: int = 1000, *, single: bool = False
) -> float:
    """Return the share of samples whose answers are all right, each alone the best value.

    Parameters
    ----------
    reader, layer, data : as `fit_answers` takes them; labels of inputs count as answers, and what
        is None does not
    batch : how many samples are read at once
    single : count answers instead of samples, which tells readings apart also where samples have
        so many answers that hardly ever all are right
    """
    right = n = 0
    for seen, answers in checked_batches(loader(data, batch, shuffle=False), "validation"):
        with predicting(reader):
            read = reader(seen)
        with torch.no_grad():  # not in inference mode: what the layer stores may need gradients
            outputs = {**read, **layer({name: p.clone() for name, p in read.items()})}
        good, known = _right(layer, outputs, answers)
        right += int(good[known].sum() if single else (good | ~known).all(axis=0).sum())
        n += int(known.sum()) if single else good.shape[1]
    return right / max(n, 1)


def _right(
    layer: RuleLayer, outputs: Mapping[str, Tensor], answers: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Tell which answers (answers, n) are the best value and alone so, and which are known."""
    n = len(next(iter(outputs.values())))
    positions = answer_positions(answers, layer.rules.attributes, outputs, n)
    right = []
    for name, at in positions.items():
        weights = outputs[name].cpu().numpy()
        alone = (weights == weights.max(axis=1, keepdims=True)).sum(axis=1) == 1
        right.append((weights.argmax(axis=1) == at) & alone)
    return np.stack(right), np.stack([*positions.values()]) != UNKNOWN
