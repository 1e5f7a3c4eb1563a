"""Training of networks: the same seed gives the same bits, interrupted or not."""

import copy
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
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
from pinesy.nets.augmentation import augment
from pinesy.nets.checkpoints import HISTORY, Identity, data_fingerprint, resume, write_checkpoint
from pinesy.nets.differentiable_transforms import check_probabilities
from pinesy.nets.networks import count_classes, device_of, preprocess
from pinesy.nets.recipes import Recipe

#: For a network, the images of a batch and the places of its samples: the mean loss of a sample,
#: and how many are right.
Objective = Callable[[nn.Module, Tensor, Tensor], tuple[Tensor, float]]
#: So many images are enough for the statistics of batch normalisation of averaged weights.
N_STATISTICS = 10_000


@dataclass(frozen=True)
class History:
    """What happened in each epoch.

    Attributes
    ----------
    losses : mean loss: of `train`, the cross-entropy of an image; of a training from answers, the
        loss of a sample
    accuracies : share of the images or samples that were right (with dropout, before the step)
    seconds : time that it took
    resumed : how many of the epochs a checkpoint had already
    """

    losses: tuple[float, ...]
    accuracies: tuple[float, ...]
    seconds: tuple[float, ...]
    resumed: int = 0


def train(
    network: nn.Module,
    images: npt.NDArray[Any],
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
    images : uint8 array (n, 28, 28)
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
    pixels = preprocess(images)
    classes = check_labels(labels, network, pixels)
    if recipe.batch == 1 and _normalisations(network):
        raise DomainError("batch is 1, and the network's batch normalisation needs at least 2")
    identity = Identity(repr(network), recipe, seed, data_fingerprint(images, labels))
    objective = partial(_classification, classes)
    return run_training(network, pixels, objective, identity, checkpoint, progress)


def _classification(
    classes: Tensor, network: nn.Module, pixels: Tensor, places: Tensor
) -> tuple[Tensor, float]:
    """Return the mean cross-entropy of a batch, and how many images of it are classified right."""
    wanted = classes[places].to(pixels.device)
    scores = network(pixels)
    likely = wanted.argmax(dim=1) if wanted.ndim > 1 else wanted
    right = (scores.detach().argmax(dim=1) == likely).sum().item()
    return nn.functional.cross_entropy(scores, wanted), right


def run_training(
    network: nn.Module,
    pixels: Tensor,
    objective: Objective,
    identity: Identity,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> History:
    """Train a network for any objective; see `train`.

    Parameters
    ----------
    pixels : float32 tensor (n, 1, 28, 28), or (n, m, 1, 28, 28) for samples of `m` images
    objective : what is made small
    identity : what distinguishes this training, its objective included, from others
    """
    recipe = identity.recipe
    run = _TrainingRun(network, pixels, objective, identity)
    path = None if checkpoint is None else Path(checkpoint)
    if path is not None and path.exists():
        run.history = resume(path, identity, network, run.optimizer, run.average)
    resumed = len(run.history["losses"])
    steps = (recipe.epochs - resumed) * len(pixels)
    label = f"training {type(network).__name__}" if progress else ""
    with progress_bar(label, steps) as bar:
        for epoch in range(resumed, recipe.epochs):
            run.epoch(epoch, bar)
            if path is not None:
                average = run.average_after(epoch + 1)
                write_checkpoint(path, identity, network, run.optimizer, run.history, average)
    if (average := run.average_after(len(run.history["losses"]))) is not None:
        network.load_state_dict(average.state_dict())
    network.eval()
    losses, accuracies, seconds = (tuple(run.history[name]) for name in HISTORY)
    return History(losses, accuracies, seconds, resumed)


class _TrainingRun:
    """A training that is under way.

    Attributes
    ----------
    each : the number of images of a sample
    average : a network for the mean of the weights, if the recipe wants it
    """

    def __init__(
        self, network: nn.Module, pixels: Tensor, objective: Objective, identity: Identity
    ) -> None:
        self.network, self.identity = network, identity
        self.pixels, self.objective = pixels, objective
        self.each = pixels.shape[1] if pixels.ndim > 4 else 1
        self.optimizer = identity.recipe.make_optimizer(network)
        self.history: dict[str, list[float]] = {name: [] for name in HISTORY}
        wanted = identity.recipe.average_from is not None
        self.average = copy.deepcopy(network) if wanted else None

    def average_after(self, epochs: int) -> nn.Module | None:
        """Return the average if there is one after so many epochs."""
        start = self.identity.recipe.average_from
        return self.average if start is not None and epochs > start else None

    def epoch(self, epoch: int, bar: Bar) -> None:
        """See every image once."""
        began = time.perf_counter()
        recipe = self.identity.recipe
        average, strength = self.average_after(epoch + 1), recipe.strength(epoch)
        rng = np.random.default_rng([self.identity.seed, epoch, 1])
        self.network.train()
        device = device_of(self.network)
        loss = right = 0.0
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            # Dropout draws from PyTorch's own generator.
            order = torch.manual_seed(epoch_seed(self.identity.seed, epoch))
            seen = torch.randperm(len(self.pixels), generator=order)
            batches = _batches(seen, max(recipe.batch // self.each, 1))
            averaged = (epoch - (recipe.average_from or 0)) * len(batches)
            for number, batch in enumerate(batches):
                for group in self.optimizer.param_groups:
                    group["lr"] = recipe.rate(epoch, number / len(batches))
                pixels = augment(self._images(batch), rng, strength)
                batch_loss, batch_right = self._step(pixels.to(device), batch)
                loss, right = loss + batch_loss, right + batch_right
                if average is not None:
                    _include(average, self.network, averaged + number)
                bar.advance(len(batch))
        if average is not None:
            some = seen[: max(N_STATISTICS // self.each, 1)]
            _set_statistics(average, self._images(some), recipe.batch)
        self._close(epoch, loss, right, time.perf_counter() - began)

    def _images(self, places: Tensor) -> Tensor:
        """Return the images of samples one after the other."""
        return self.pixels[places].flatten(0, -4)

    def _step(self, pixels: Tensor, places: Tensor) -> tuple[float, float]:
        """Learn from a batch; return its total loss, and how many samples were right."""
        loss, right = self.objective(self.network, pixels, places)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return loss.item() * len(places), right

    def _close(self, epoch: int, loss: float, right: float, seconds: float) -> None:
        if not math.isfinite(loss):
            raise PinesyError(
                f"the loss of epoch {epoch + 1} is {loss}: training diverges with the learning "
                f"rate {self.identity.recipe.rate(epoch):g}; take a smaller one"
            )
        n = len(self.pixels)
        for name, value in zip(HISTORY, (loss / n, right / n, seconds), strict=True):
            self.history[name].append(value)


@torch.no_grad()
def _include(average: nn.Module, network: nn.Module, before: int) -> None:
    """Take the weights of a network into the equal average of those of `before` steps."""
    for mean, parameter in zip(average.parameters(), network.parameters(), strict=True):
        mean.lerp_(parameter, 1 / (before + 1))


def _normalisations(network: nn.Module) -> list[nn.modules.batchnorm._BatchNorm]:
    """Return the layers of batch normalisation."""
    return [m for m in network.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]


@torch.no_grad()
def _set_statistics(network: nn.Module, pixels: Tensor, size: int) -> None:
    """Set the means and variances of batch normalisation to those of images, without dropout.

    An average of weights cannot have the average of their statistics.
    """
    layers = _normalisations(network)
    network.eval()
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # an equal average over the batches
        layer.train()
    for batch in _batches(torch.arange(len(pixels)), size) if layers else ():
        network(pixels[batch].to(device_of(network)))
    network.eval()


def epoch_seed(seed: int, epoch: int) -> int:
    """Return a seed for an epoch: others for any two pairs (seed, epoch), seeds below 2**32."""
    return int(np.random.SeedSequence([seed, epoch]).generate_state(1, np.uint64)[0] >> 1)


def _batches(order: Tensor, size: int) -> list[Tensor]:
    """Cut an order into batches; a last one of one image joins the batch before it.

    Batch normalisation needs two images.
    """
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
    classes = count_classes(network)
    if is_soft:
        if labels.shape[1] != classes:
            raise DataError(
                f"labels has {labels.shape[1]} columns; the network has {classes} classes"
            )
        check_probabilities(torch.from_numpy(labels), "labels", DataError)
        return torch.from_numpy(labels.astype(np.float32))
    if labels.min() < 0 or labels.max() >= classes:
        wrong = int(np.flatnonzero((labels < 0) | (labels >= classes))[0])
        raise DataError(
            f"label {labels[wrong]} of image {wrong}: the network has the classes 0 to "
            f"{classes - 1}; give one with more classes, or other labels"
        )
    return torch.from_numpy(labels.astype(np.int64))
