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
    """A training in progress; subclasses define its batches and its loss.

    After each epoch the network is scored, if the subclass has a score, and the weights of the best
    score are kept, the latest of equals; without a score the latest weights. A loss that is not
    finite ends the training, and leaves the network with the best weights.

    Parameters
    ----------
    network : trained in place, from its current weights
    identity : identifies the training: architecture, recipe, seed and data

    Attributes
    ----------
    history : by name, a number for each epoch; the scores begin with that of the start
    average : a network with the mean of the weights, if the recipe averages
    best_weights : the weights that the network gets at the end
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
        """Return the number of batches of an epoch, 0 if unknown, and the batches."""
        raise NotImplementedError

    def loss(self, batch: Any) -> tuple[Tensor, int, float]:
        """Return the mean loss of a batch, its size, and the number of right samples."""
        raise NotImplementedError

    def score(self, _network: nn.Module) -> float | None:
        """Return the validation score of a network; None if there is none."""
        return None

    def update_statistics(self, _average: nn.Module) -> None:
        """Update the batch normalisation of averaged weights, after an epoch."""

    def report(self, _epoch: int) -> None:
        """Report on an epoch."""

    def run(
        self, checkpoint: str | os.PathLike[str] | None, label: str = "", size: int | None = None
    ) -> int:
        """Train, from a checkpoint if there is one; return the number of epochs that it had.

        Without a `label` there is no progress bar; `size` is the number of samples of an epoch.
        """
        path = None if checkpoint is None else Path(checkpoint)
        if path is not None and path.exists():
            saved = resume(path, self.identity, self.network, self.optimizer, self.average)
            self.history, self.best_weights = saved.history, saved.final_weights
        resumed = self.done
        if not resumed:
            self._keep_best()
        total = None if size is None else (self.recipe.epochs - resumed) * size
        with progress_bar(label, total) as bar:
            for epoch in range(resumed, self.recipe.epochs):
                self._train_epoch(epoch, bar)
                self._keep_best()
                self.report(epoch)
                if path is not None:
                    self._write(path)
        self._restore_best()
        return resumed

    @property
    def done(self) -> int:
        """The number of epochs so far."""
        return len(self.history["losses"])

    def _train_epoch(self, epoch: int, bar: Bar) -> None:
        """Train on every sample once, and record the loss, the accuracy and the seconds."""
        began, device = time.perf_counter(), device_of(self.network)
        self.network.train()
        total, right, n = 0.0, 0.0, 0
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            # PyTorch's generator draws the order of samples and dropout: it is seeded by the pair
            # of seed and epoch.
            seeds = np.random.SeedSequence([self.identity.seed, epoch])
            torch.manual_seed(int(seeds.generate_state(1, np.uint64)[0] >> 1))
            n_batches, batches = self.batches(epoch)
            for step, batch in enumerate(batches):
                share = min(step / n_batches, 1.0) if n_batches else 0.0
                for group in self.optimizer.param_groups:
                    group["lr"] = self.recipe.rate(epoch, share)
                loss, size, good = self._step(batch, epoch, step)
                total, right, n = total + size * loss, right + good, n + size
                self._update_average(epoch, step, n_batches)
                bar.advance(size)
        if (average := self._average_after(epoch + 1)) is not None:
            self.update_statistics(average)
        numbers = total / n, right / n, time.perf_counter() - began
        for name, value in zip(HISTORY, numbers, strict=True):
            self.history[name].append(value)

    def _step(self, batch: Any, epoch: int, step: int) -> tuple[float, int, float]:
        """Do an optimizer step; return the mean loss, the size, and the number of right samples."""
        loss, size, right = self.loss(batch)
        loss_value = loss.item()
        if not math.isfinite(loss_value):
            self._restore_best()
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
    def _update_average(self, epoch: int, step: int, n_batches: int) -> None:
        """Update the running mean of the weights with those after a step."""
        average = self._average_after(epoch + 1)
        if average is not None:
            before = (epoch - (self.recipe.average_from or 0)) * n_batches + step
            for mean, parameter in zip(
                average.parameters(), self.network.parameters(), strict=True
            ):
                mean.lerp_(parameter, 1 / (before + 1))

    def _average_after(self, epochs: int) -> nn.Module | None:
        """Return the network of averaged weights, if the recipe averages by this epoch."""
        start = self.recipe.average_from
        return self.average if start is not None and epochs > start else None

    @property
    def best(self) -> int:
        """The epoch whose weights are kept, counted from 1; 0 is the start."""
        scores = self.history.get(SCORES)
        if not scores:
            return self.done
        return max(range(len(scores)), key=lambda i: (scores[i], i))

    def _keep_best(self) -> None:
        """Score the network, and keep its weights if they are at least as good as the best."""
        current = self._average_after(self.done) or self.network
        score = self.score(current)
        if score is not None:
            self.history.setdefault(SCORES, []).append(score)
        if self.best == self.done:
            self.best_weights = copy.deepcopy(current.state_dict())

    def _write(self, path: Path) -> None:
        state = self.identity, self.network, self.optimizer, self.history
        best = self.best_weights if SCORES in self.history else None
        write_checkpoint(path, *state, self._average_after(self.done), best)

    def _restore_best(self) -> None:
        """Load the best weights into the network, and set it to evaluation mode."""
        self.network.load_state_dict(self.best_weights)
        self.network.eval()


@dataclass(frozen=True)
class History:
    """The history of a training, with a number for each epoch.

    Attributes
    ----------
    losses : the mean cross-entropy
    accuracies : the training accuracy (with dropout, before the step)
    seconds : the time
    resumed : the number of epochs that a checkpoint already had
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
    """Train a network in place, from its current weights; it ends in evaluation mode.

    The order of the images, their augmentation and the dropout of an epoch depend on `seed` and
    the epoch only, so that training that resumes from a checkpoint gives the same bits as training
    without interruption (on the same machine, with as many threads).

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
    if recipe.batch == 1 and _batch_norms(network):
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
        """Return the number of batches, and batches of inputs with labels, in random order."""
        rng = np.random.default_rng([self.identity.seed, epoch, 1])
        self.order = torch.randperm(len(self.inputs))
        indices = _split_batches(self.order, self.recipe.batch)
        strength = self.recipe.strength(epoch)
        inputs = (self.inputs[rows] for rows in indices)
        augmented = (augment(x, rng, strength) if strength else x for x in inputs)
        return len(indices), zip(augmented, (self.classes[rows] for rows in indices), strict=True)

    def loss(self, batch: Any) -> tuple[Tensor, int, float]:
        """Return the mean cross-entropy, and how many inputs are classified right."""
        device = device_of(self.network)
        inputs, targets = (tensor.to(device) for tensor in batch)
        is_mixed = self.recipe.precision == "bfloat16"
        with torch.autocast(device.type, torch.bfloat16, enabled=is_mixed):
            scores = self.network(inputs)
        if is_mixed:
            scores = scores.float()  # the cross-entropy is computed in float32
        likely = targets.argmax(dim=1) if targets.ndim > 1 else targets
        right = (scores.detach().argmax(dim=1) == likely).sum().item()
        return nn.functional.cross_entropy(scores, targets), len(targets), right

    @torch.no_grad()
    def update_statistics(self, average: nn.Module) -> None:
        """Set the means and variances of batch normalisation to those of images, without dropout.

        An average of weights cannot have the average of their statistics.
        """
        layers = _batch_norms(average)
        average.eval()
        for layer in layers:
            layer.reset_running_stats()
            layer.momentum = None  # an equal average over the batches
            layer.train()
        for rows in _split_batches(self.order[:N_STATISTICS], self.recipe.batch) if layers else ():
            average(self.inputs[rows].to(device_of(average)))
        average.eval()


def _batch_norms(network: nn.Module) -> list[nn.modules.batchnorm._BatchNorm]:
    return [m for m in network.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]


def _split_batches(order: Tensor, size: int) -> list[Tensor]:
    """Split an order into batches; a last batch of one image, too small to normalise, is joined."""
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
