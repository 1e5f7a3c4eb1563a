"""Training of networks: the loop of every training, and training from labels.

The same seed gives the same bits, interrupted or not.
"""

import copy
import math
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pinesy._common.console import Bar
from pinesy._common.console import progress as progress_bar
from pinesy._common.validation import check_integer
from pinesy.exceptions import DataError, DomainError, PinesyError
from pinesy.nets.checkpoints import (
    HISTORY,
    SCORES,
    Identity,
    data_fingerprint,
    resume,
    write_checkpoint,
)
from pinesy.nets.differentiable_transforms import check_probability_rows
from pinesy.nets.networks import count_classes, device_of, preprocess
from pinesy.nets.recipes import Recipe, augment

#: So many images are enough for the statistics of batch normalisation of averaged weights.
N_STATISTICS = 10_000


@dataclass(eq=False)
class TrainingLoop:
    """A training that is under way; its kinds say what batches are, and what is made small.

    After each epoch the network is judged, if anything judges it, and what is best so far is kept,
    the latest of equals; else the latest is. A loss that is not a finite number ends the training,
    and leaves the network with the best weights.

    Parameters
    ----------
    network : is trained in place, from the weights it has
    identity : which training it is, with its recipe and seed

    Attributes
    ----------
    history : by name, a number for each epoch; the scores begin with that of the start
    average : a network for the mean of the weights, if the recipe wants it
    best_weights : the weights that the network will have in the end
    """

    network: nn.Module
    identity: Identity

    def __post_init__(self) -> None:
        self.recipe = self.identity.recipe
        self.optimizer = self.recipe.make_optimizer(self.network)
        self.history: dict[str, list[float]] = {name: [] for name in HISTORY}
        is_averaged = self.recipe.average_from is not None
        self.average = copy.deepcopy(self.network) if is_averaged else None
        self.best_weights: dict[str, Any] = {}

    def batches(self, epoch: int) -> tuple[int, Iterable[Any]]:
        """Return how many batches an epoch has, 0 if nobody knows, and these."""
        raise NotImplementedError

    def loss(self, batch: Any) -> tuple[Tensor, int, float]:
        """Return the mean loss of a batch, how many samples it has, and how many are right."""
        raise NotImplementedError

    def judge(self, _network: nn.Module) -> float | None:
        """Return how good a network is; None if nothing judges it."""
        return None

    def settle(self, _average: nn.Module) -> None:
        """Make an average of weights ready to predict, after an epoch."""

    def report(self, _epoch: int) -> None:
        """Report on an epoch."""

    def run(
        self, checkpoint: str | os.PathLike[str] | None, label: str = "", size: int | None = None
    ) -> int:
        """Train, from a checkpoint on if there is one; return how many epochs it had.

        The progress bar has a label, or there is none; the size of an epoch are its samples.
        """
        path = None if checkpoint is None else Path(checkpoint)
        if path is not None and path.exists():
            saved = resume(path, self.identity, self.network, self.optimizer, self.average)
            self.history, self.best_weights = saved.history, saved.good
        resumed = self.done
        if not resumed:
            self._keep()
        total = None if size is None else (self.recipe.epochs - resumed) * size
        with progress_bar(label, total) as bar:
            for epoch in range(resumed, self.recipe.epochs):
                self._epoch(epoch, bar)
                self._keep()
                self.report(epoch)
                if path is not None:
                    self._write(path)
        self._end()
        return resumed

    @property
    def done(self) -> int:
        """How many epochs are done."""
        return len(self.history["losses"])

    def _epoch(self, epoch: int, bar: Bar) -> None:
        """See every sample once."""
        began, device = time.perf_counter(), device_of(self.network)
        self.network.train()
        total, right, n = 0.0, 0.0, 0
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            # The order of samples and dropout draw from PyTorch's own generator: other numbers
            # for any two pairs (seed, epoch).
            seeds = np.random.SeedSequence([self.identity.seed, epoch])
            torch.manual_seed(int(seeds.generate_state(1, np.uint64)[0] >> 1))
            n_batches, batches = self.batches(epoch)
            for step, batch in enumerate(batches):
                share = min(step / n_batches, 1.0) if n_batches else 0.0
                for group in self.optimizer.param_groups:
                    group["lr"] = self.recipe.rate(epoch, share)
                loss, size, good = self._step(batch, epoch, step)
                total, right, n = total + size * loss, right + good, n + size
                self._include(epoch, step, n_batches)
                bar.advance(size)
        if (average := self._average_after(epoch + 1)) is not None:
            self.settle(average)
        numbers = total / n, right / n, time.perf_counter() - began
        for name, value in zip(HISTORY, numbers, strict=True):
            self.history[name].append(value)

    def _step(self, batch: Any, epoch: int, step: int) -> tuple[float, int, float]:
        """Learn from a batch; return its mean loss, its size, and how many samples were right."""
        loss, size, right = self.loss(batch)
        loss_value = loss.item()
        if not math.isfinite(loss_value):
            self._end()
            raise PinesyError(
                f"the loss of step {step + 1} in epoch {epoch + 1} is {loss_value}: training "
                f"diverges with the learning rate {self.recipe.rate(epoch):g}; take a smaller one. "
                f"The weights are those after epoch {self.best}"
            )
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return loss_value, size, right

    @torch.no_grad()
    def _include(self, epoch: int, step: int, n_batches: int) -> None:
        """Take the weights after a step into the equal average of those of all steps before."""
        average = self._average_after(epoch + 1)
        if average is not None:
            before = (epoch - (self.recipe.average_from or 0)) * n_batches + step
            for mean, parameter in zip(
                average.parameters(), self.network.parameters(), strict=True
            ):
                mean.lerp_(parameter, 1 / (before + 1))

    def _average_after(self, epochs: int) -> nn.Module | None:
        """Return the average if there is one after so many epochs."""
        start = self.recipe.average_from
        return self.average if start is not None and epochs > start else None

    @property
    def best(self) -> int:
        """The epoch whose weights are kept, counted from 1; 0 is the start."""
        scores = self.history.get(SCORES)
        if not scores:
            return self.done
        return max(range(len(scores)), key=lambda i: (scores[i], i))

    def _keep(self) -> None:
        """Judge the network as it is, and keep it if it is as good as the best."""
        current = self._average_after(self.done) or self.network
        score = self.judge(current)
        if score is not None:
            self.history.setdefault(SCORES, []).append(score)
        if self.best == self.done:
            self.best_weights = copy.deepcopy(current.state_dict())

    def _write(self, path: Path) -> None:
        state = self.identity, self.network, self.optimizer, self.history
        best = self.best_weights if SCORES in self.history else None
        write_checkpoint(path, *state, self._average_after(self.done), best)

    def _end(self) -> None:
        """Give the network what was kept, ready to predict."""
        self.network.load_state_dict(self.best_weights)
        self.network.eval()


@dataclass(frozen=True)
class History:
    """What happened in each epoch.

    Attributes
    ----------
    losses : mean cross-entropy of an image
    accuracies : share of the images that were read as labelled (with dropout, before the step)
    seconds : time that it took
    resumed : how many of the epochs a checkpoint had already
    """

    losses: tuple[float, ...]
    accuracies: tuple[float, ...]
    seconds: tuple[float, ...]
    resumed: int = 0


def train(
    network: nn.Module,
    images: npt.NDArray[Any] | Tensor,
    labels: npt.NDArray[Any],
    recipe: Recipe,
    *,
    seed: int,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> History:
    """Train a network in place, from the weights it has; it is left ready to predict.

    The order of the images, their augmentation and the dropout of an epoch depend on `seed` and
    the epoch only, so that training that goes on from a checkpoint gives the same bits as training
    at one go (on the same machine, with as many threads).

    Parameters
    ----------
    network : such as ``PaperCNN(10, seed=0)``
    images : uint8 array (n, 28, 28); or a tensor (n, ...) of whatever the network reads
    labels : integer array (n,) of classes, from 0; or float array (n, classes) of probabilities
    recipe : such as `PAPER`
    seed : of the order of images, of augmentation and of dropout
    checkpoint : a file, written after each epoch; if it is there, training goes on from it
    progress : whether to show a progress bar if it takes long

    Examples
    --------
    >>> from pinesy.nets import DeepSoftLogCNN, Recipe
    >>> recipe = Recipe("adamw", 0.01, "constant", batch=8, epochs=3)
    >>> images = np.zeros((8, 28, 28), np.uint8)
    >>> images[4:, 10:18, 10:18] = 255
    >>> network = DeepSoftLogCNN(2, seed=0)
    >>> history = train(network, images, np.repeat([0, 1], 4), recipe, seed=0)
    >>> len(history.losses)
    3
    """
    seed = check_integer(seed, "seed")
    inputs = images if isinstance(images, Tensor) else preprocess(images)
    classes = check_labels(labels, network, inputs)
    if recipe.batch == 1 and _normalisations(network):
        raise DomainError("batch is 1, and the network's batch normalisation needs at least 2")
    array = images.cpu().numpy() if isinstance(images, Tensor) else images
    identity = Identity(repr(network), recipe, seed, data_fingerprint(array, labels))
    loop = _LabelTraining(network, identity, inputs, classes)
    label = f"training {type(network).__name__}" if progress else ""
    resumed = loop.run(checkpoint, label, len(inputs))
    losses, accuracies, seconds = (tuple(loop.history[name]) for name in HISTORY)
    return History(losses, accuracies, seconds, resumed)


@dataclass(eq=False)
class _LabelTraining(TrainingLoop):
    """Training from labels: the cross-entropy of inputs, which may be augmented images."""

    inputs: Tensor
    classes: Tensor

    def batches(self, epoch: int) -> tuple[int, Iterable[tuple[Tensor, Tensor]]]:
        """Return inputs with their labels, in an order that the seed and the epoch decide."""
        rng = np.random.default_rng([self.identity.seed, epoch, 1])
        self.order = torch.randperm(len(self.inputs))
        indices = _batches(self.order, self.recipe.batch)
        strength = self.recipe.strength(epoch)
        inputs = (self.inputs[rows] for rows in indices)
        augmented = (augment(x, rng, strength) if strength else x for x in inputs)
        return len(indices), zip(augmented, (self.classes[rows] for rows in indices), strict=True)

    def loss(self, batch: Any) -> tuple[Tensor, int, float]:
        """Return the mean cross-entropy, and how many inputs are classified right."""
        device = device_of(self.network)
        targets, scores = batch[1].to(device), self.network(batch[0].to(device))
        likely = targets.argmax(dim=1) if targets.ndim > 1 else targets
        right = (scores.detach().argmax(dim=1) == likely).sum().item()
        return nn.functional.cross_entropy(scores, targets), len(targets), right

    @torch.no_grad()
    def settle(self, average: nn.Module) -> None:
        """Set the means and variances of batch normalisation to those of images, without dropout.

        An average of weights cannot have the average of their statistics.
        """
        layers = _normalisations(average)
        average.eval()
        for layer in layers:
            layer.reset_running_stats()
            layer.momentum = None  # an equal average over the batches
            layer.train()
        for rows in _batches(self.order[:N_STATISTICS], self.recipe.batch) if layers else ():
            average(self.inputs[rows].to(device_of(average)))
        average.eval()


def _normalisations(network: nn.Module) -> list[nn.modules.batchnorm._BatchNorm]:
    return [m for m in network.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]


def _batches(order: Tensor, size: int) -> list[Tensor]:
    """Cut an order into batches; one image left over, too few to normalise, joins the last."""
    batches = list(torch.split(order, size))
    if len(batches) > 1 and len(batches[-1]) == 1 and size > 1:
        batches[-2:] = [torch.cat(batches[-2:])]
    return batches


def check_labels(labels: object, network: nn.Module, pixels: Tensor) -> Tensor:
    """Return the labels as a tensor, or raise `DataError`."""
    is_soft = isinstance(labels, np.ndarray) and labels.dtype.kind == "f" and labels.ndim == 2
    if not isinstance(labels, np.ndarray) or (labels.dtype.kind not in "iu" and not is_soft):
        raise DataError(
            f"labels is {labels!r:.60}; give an array of integers, or of probabilities (n, classes)"
        )
    if labels.ndim != 1 + is_soft or len(labels) != len(pixels):
        raise DataError(f"labels has shape {labels.shape}, and there are {len(pixels)} images")
    if len(labels) < 2:
        raise DataError(f"training needs at least 2 images; there are {len(labels)}")
    classes = count_classes(network, pixels[:1])
    if is_soft:
        if labels.shape[1] != classes:
            raise DataError(
                f"labels has {labels.shape[1]} columns; the network has {classes} classes"
            )
        check_probability_rows(torch.from_numpy(labels), "labels", DataError)
        return torch.from_numpy(labels.astype(np.float32))
    if labels.min() < 0 or labels.max() >= classes:
        wrong = int(np.flatnonzero((labels < 0) | (labels >= classes))[0])
        raise DataError(
            f"label {labels[wrong]} of image {wrong}: the network has the classes 0 to "
            f"{classes - 1}; give one with more classes, or other labels"
        )
    return torch.from_numpy(labels.astype(np.int64))
