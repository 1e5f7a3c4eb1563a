"""Training from answers for any data, networks, rules and semantics; see docs/own-task.md."""

import copy
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from pinesy._common.validation import check_integer
from pinesy.exceptions import DataError, DomainError, PinesyError, placed
from pinesy.nets.answer_losses import answer_positions, belief_loss, named_answers
from pinesy.nets.checkpoints import (
    optimizer_tensors,
    read_tensors,
    restore_optimizer,
    write_tensors,
)
from pinesy.nets.input_reader import Batch, InputReader, collate
from pinesy.nets.network_training import epoch_seed
from pinesy.nets.networks import device_of
from pinesy.nets.recipes import Recipe
from pinesy.nets.rule_layer import RuleLayer
from pinesy.rulebase.targets import Target

#: From a layer, the probabilities of inputs and the answers to what is made small.
AnswerLoss = Callable[[RuleLayer, Mapping[str, Tensor], Mapping[str, Any]], Tensor]


@dataclass(frozen=True)
class AnswerFit:
    """What happened in a training from answers.

    Attributes
    ----------
    losses : the mean loss of each epoch
    scores : the share of validation samples whose answers are all right: at the start, and after
        each epoch
    best : the epoch whose networks were kept, counted from 1; 0 for the start
    resumed : how many of the epochs a checkpoint had already
    """

    losses: tuple[float, ...]
    scores: tuple[float, ...]
    best: int
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
    loss: AnswerLoss = belief_loss,
    checkpoint: str | os.PathLike[str] | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> AnswerFit:
    """Train networks in place so that rules give the right answers; the best epoch is kept.

    Of the start and the networks after each epoch, those are kept that answer most validation
    samples rightly, the latest of equals: training never leaves networks worse than it found them.
    The order of samples and dropout depend on the seed and the epoch only, so that a training that
    goes on from a checkpoint gives the same bits.

    Parameters
    ----------
    reader : the networks
    layer : the rules, in the semantics to train and to judge with
    data, validation : each a data set of PyTorch of pairs (what is seen by input, answers by
        attribute), such as `AnsweredInputs`, or a `DataLoader` of batches of such pairs
    recipe : optimiser, learning rates, samples a batch, and epochs; it does not augment
    loss : `belief_loss`, or any function of the layer, probabilities and answers
    checkpoint : a file, written after each epoch; if it is there, training goes on from it
    say : is given a line for each epoch

    Raises
    ------
    PinesyError
        A loss is not a finite number. The networks are then those of the best epoch before.
    """
    if recipe.augment or recipe.average_from is not None:
        raise DomainError("fit_answers neither augments nor averages; let the data set augment")
    run = _AnswerRun(reader, layer, data, validation, recipe, check_integer(seed, "seed"), loss)
    path = None if checkpoint is None else Path(checkpoint)
    resumed = 0
    if path is not None and path.exists():
        resumed = run.resume(path)
    else:
        run.judge()
    for epoch in range(resumed, recipe.epochs):
        run.epoch(epoch)
        run.judge()
        say(f"epoch {epoch + 1}: loss {run.losses[-1]:.3f}, {100 * run.scores[-1]:.1f} % right")
        if path is not None:
            run.write(path)
    run.keep_best()
    return AnswerFit(tuple(run.losses), tuple(run.scores), run.best, resumed)


class _AnswerRun:
    """A training that is under way."""

    def __init__(
        self,
        reader: InputReader,
        layer: RuleLayer,
        data: Any,
        validation: Any,
        recipe: Recipe,
        seed: int,
        loss: AnswerLoss,
    ) -> None:
        self.reader, self.layer, self.data, self.validation = reader, layer, data, validation
        self.recipe, self.seed, self.loss = recipe, seed, loss
        self.optimizer = recipe.make_optimizer(reader)
        self.losses: list[float] = []
        self.scores: list[float] = []
        self.best = 0
        self.kept: dict[str, Any] = {}

    def epoch(self, epoch: int) -> None:
        """See every sample once."""
        device = device_of(self.reader)
        self.reader.train()
        total, n = 0.0, 0
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(epoch_seed(self.seed, epoch))
            batches = loader(self.data, self.recipe.batch, shuffle=True)
            steps = max(len(batches), 1)
            for step, (seen, answers) in enumerate(checked_batches(batches, "data")):
                for group in self.optimizer.param_groups:
                    group["lr"] = self.recipe.rate(epoch, min(step / steps, 1.0))
                size = len(next(iter(seen.values())))
                total += size * self._step(seen, answers, epoch, step, device)
                n += size
        self.losses.append(total / n)

    def _step(
        self, seen: Mapping[str, Tensor], answers: Any, epoch: int, step: int, device: torch.device
    ) -> float:
        read = self.reader({name: x.to(device) for name, x in seen.items()})
        is_good = all(bool(torch.isfinite(p).all()) for p in read.values())
        loss = self.loss(self.layer, read, answers) if is_good else torch.tensor(math.nan)
        number = loss.item()
        if not math.isfinite(number):
            self.keep_best()
            raise PinesyError(
                f"the loss of step {step + 1} in epoch {epoch + 1} is {number}: training stops, "
                f"and the networks are those after epoch {self.best}; take a learning rate smaller "
                f"than {self.recipe.learning_rate:g}"
            )
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return number

    def judge(self) -> None:
        """Score the networks as they are, and keep them if they are as good as the best."""
        self.scores.append(answer_score(self.reader, self.layer, self.validation))
        if self.scores[-1] >= self.scores[self.best]:
            self.best = len(self.scores) - 1
            self.kept = copy.deepcopy(self.reader.state_dict())

    def keep_best(self) -> None:
        """Give the networks the best state, ready to predict."""
        self.reader.load_state_dict(self.kept)
        self.reader.eval()

    @property
    def identity(self) -> str:
        """What another training would not have."""
        rules = f"{self.layer.semantics} {self.layer.rules}"
        return repr((repr(self.reader), self.recipe.to_json(), self.seed, rules))

    def write(self, path: Path) -> None:
        """Keep all that is needed to go on."""
        parts = {
            "reader": self.reader.state_dict(),
            "optimizer": optimizer_tensors(self.optimizer),
            "kept": self.kept,
            "numbers": {
                "losses": torch.tensor(self.losses, dtype=torch.float64),
                "scores": torch.tensor(self.scores, dtype=torch.float64),
            },
        }
        tensors = {f"{part}.{n}": x for part, named in parts.items() for n, x in named.items()}
        write_tensors(path, tensors, {"identity": self.identity, "best": str(self.best)})

    def resume(self, path: Path) -> int:
        """Take up what was written; return how many epochs are done."""
        parts: dict[str, dict[str, Tensor]] = {
            part: {} for part in ("reader", "optimizer", "kept", "numbers")
        }
        try:
            metadata, tensors = read_tensors(path, "checkpoint")
            for name, tensor in tensors.items():
                part, _, inner = name.partition(".")
                parts[part][inner] = tensor
            identity, best = metadata["identity"], int(metadata["best"])
            losses, scores = (parts["numbers"][key].tolist() for key in ("losses", "scores"))
        except (DataError, KeyError, ValueError) as error:
            raise DataError(f"{path}: no checkpoint of a training; delete it ({error})") from error
        if identity != self.identity:
            raise DataError(f"{path} is the checkpoint of another training; delete it")
        self.reader.load_state_dict(parts["reader"])
        restore_optimizer(self.optimizer, self.reader, parts["optimizer"])
        self.losses, self.scores, self.best, self.kept = losses, scores, best, parts["kept"]
        return len(self.losses)


def loader(data: Any, batch: int, shuffle: bool) -> DataLoader[Any]:
    """Return batches of a data set; a loader of one's own as it is."""
    if isinstance(data, DataLoader):
        return data
    if not hasattr(data, "__getitem__") or not hasattr(data, "__len__"):
        raise DataError(
            f"the data are a {type(data).__name__}; give a Dataset or a DataLoader of PyTorch"
        )
    if not len(data):
        raise DataError("the data set is empty; give at least one sample")
    return DataLoader(data, batch, shuffle=shuffle, collate_fn=collate)


def checked_batches(batches: Iterable[Any], what: str) -> Iterator[Batch]:
    """Yield batches, or raise `DataError` where there are none, or they are something else."""
    is_empty = True
    for batch in batches:
        is_pair = isinstance(batch, tuple | list) and len(batch) == 2
        if not is_pair or not all(isinstance(part, Mapping) and part for part in batch):
            raise DataError(
                f"{what} gives {batch!r:.60}; a batch is a pair of dicts, what is seen of each "
                "input and the answers"
            )
        is_empty = False
        yield batch[0], batch[1]
    if is_empty:
        raise DataError(f"{what} yields nothing; give at least one batch")


@torch.no_grad()
def answer_score(reader: InputReader, layer: RuleLayer, data: Any, batch: int = 1000) -> float:
    """Return the share of samples whose answers are all right, each alone the best value."""
    was_training, device = reader.training, device_of(reader)
    reader.eval()
    right = n = 0
    for seen, answers in checked_batches(loader(data, batch, shuffle=False), "validation"):
        outputs = layer(reader({name: x.to(device) for name, x in seen.items()}))
        good = [_right(layer, outputs, name, values) for name, values in _named(answers).items()]
        right += int(torch.stack(good).all(dim=0).sum())
        n += len(good[0])
    reader.train(was_training)
    return right / n


def _named(answers: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: values.tolist() if isinstance(values, Tensor) else values
        for name, values in named_answers(answers).items()
    }


def _right(layer: RuleLayer, outputs: Mapping[str, Tensor], name: str, values: Any) -> Tensor:
    """Tell for each sample whether the right value is the best one, and alone so."""
    if name not in outputs:
        raise DataError(f"there is an answer for {name!r}, which is no output of the layer")
    weights = outputs[name]
    with placed("answers"):
        target = Target.of_values(values, layer.rules.attributes[name], len(weights))
    top = weights.amax(dim=1, keepdim=True)
    alone = (weights == top).sum(dim=1) == 1
    return (weights.argmax(dim=1) == answer_positions(target).to(weights.device)) & alone
