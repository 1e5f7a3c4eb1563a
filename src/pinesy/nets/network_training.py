"""Training of networks from labels."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pinesy._common.validation import check_integer
from pinesy.exceptions import DataError, DomainError
from pinesy.nets.augmentation import augment
from pinesy.nets.checkpoints import HISTORY, Identity, data_fingerprint
from pinesy.nets.differentiable_transforms import check_probabilities
from pinesy.nets.networks import count_classes, device_of, preprocess
from pinesy.nets.recipes import Recipe
from pinesy.nets.training_loop import TrainingLoop

#: So many images are enough for the statistics of batch normalisation of averaged weights.
N_STATISTICS = 10_000


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
    given = images.cpu().numpy() if isinstance(images, Tensor) else images
    identity = Identity(repr(network), recipe, seed, data_fingerprint(given, labels))
    loop = _LabelTraining(network, identity, inputs, classes)
    label = f"training {type(network).__name__}" if progress else ""
    resumed = loop.run(checkpoint, label, len(inputs))
    losses, accuracies, seconds = (tuple(loop.history[name]) for name in HISTORY)
    return History(losses, accuracies, seconds, resumed)


class _LabelTraining(TrainingLoop):
    """Training from labels: the cross-entropy of inputs, which may be augmented images."""

    def __init__(
        self, network: nn.Module, identity: Identity, inputs: Tensor, classes: Tensor
    ) -> None:
        super().__init__(network, identity)
        self.inputs, self.classes = inputs, classes
        self.order = torch.arange(len(inputs))

    def batches(self, epoch: int) -> tuple[int, Iterable[tuple[Tensor, Tensor]]]:
        """Return inputs with their labels, in an order that the seed and the epoch decide."""
        rng = np.random.default_rng([self.identity.seed, epoch, 1])
        self.order = torch.randperm(len(self.inputs))
        places = _batches(self.order, self.recipe.batch)
        strength = self.recipe.strength(epoch)

        def seen(batch: Tensor) -> tuple[Tensor, Tensor]:
            inputs = self.inputs[batch]
            return augment(inputs, rng, strength) if strength else inputs, self.classes[batch]

        return len(places), map(seen, places)

    def loss(self, batch: Any) -> tuple[Tensor, int, float]:
        """Return the mean cross-entropy, and how many inputs are classified right."""
        device = device_of(self.network)
        wanted, scores = batch[1].to(device), self.network(batch[0].to(device))
        likely = wanted.argmax(dim=1) if wanted.ndim > 1 else wanted
        right = (scores.detach().argmax(dim=1) == likely).sum().item()
        return nn.functional.cross_entropy(scores, wanted), len(wanted), right

    def settle(self, average: nn.Module) -> None:
        """Set the statistics of batch normalisation, which cannot be averaged."""
        _set_statistics(average, self.inputs[self.order[:N_STATISTICS]], self.recipe.batch)


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
    classes = count_classes(network, pixels[:1])
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
