"""Learning to read images from answers alone, by gradients or by beliefs."""

import os
from collections.abc import Callable
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from pinesy._validation import suggestion
from pinesy.exceptions import DomainError
from pinesy.gradients.answers import UNKNOWN, Answered
from pinesy.gradients.layer import PossibilisticLayer
from pinesy.gradients.losses import answer_loss, soft_label_loss
from pinesy.gradients.soft_labels import believed
from pinesy.gradients.transforms import antipignistic
from pinesy.nn.checkpoints import Identity
from pinesy.nn.fingerprints import data_fingerprint
from pinesy.nn.networks import preprocess
from pinesy.nn.recipes import Recipe
from pinesy.nn.training import History, Objective, run_training

__all__ = ["LOSSES", "train_from_answers"]


def train_from_answers(
    network: nn.Module,
    samples: Answered,
    recipe: Recipe,
    *,
    seed: int,
    loss: str = "both",
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> History:
    """Train a network in place so that the rules give the right answers.

    Two losses pull together. For ``"answers"``, the network's probabilities become possibilities
    by the antipignistic transformation, the rules infer, and `answer_loss` is made small: gradients
    pass through the rules. For ``"beliefs"``, what the network sees is conditioned on the answers,
    as `soft_labels` does, and it learns from these labels (`soft_label_loss`), step by step; each
    counts as much as it is specific, so that in the beginning the network learns from images that
    the answers say much about, such as those of the first digits of a long sum, and then from the
    others with what it has learned. Images that are labelled add their cross-entropy.

    As `pinesy.nn.train`, it is the same for the same seed, and goes on from a checkpoint to the
    same bits.

    Parameters
    ----------
    network : gives scores of the values of an input, for images (n, 1, 28, 28)
    samples : images and answers
    recipe : how; ``batch`` counts images, and a step has at least one sample
    loss : ``"both"``, ``"answers"`` or ``"beliefs"``; beliefs use all answers of a sample together
        and begin better, but are exact and quick only for rules without loops
    """
    if loss not in LOSSES:
        raise DomainError(f"no loss {loss!r:.60}{suggestion(loss, LOSSES)}")
    shape = samples.images.shape
    pixels = preprocess(samples.images.reshape(-1, *shape[2:])).reshape(*shape[:2], 1, *shape[2:])
    known = [] if samples.labels is None else [samples.labels]
    labels = [target.labels for target in samples.targets.values()]
    data = data_fingerprint(samples.images, *labels, *known)
    identity = Identity(repr(network), recipe, seed, f"{loss} {data}")
    return run_training(network, pixels, LOSSES[loss](samples), identity, checkpoint, progress)


def _by_answers(samples: Answered) -> Objective:
    """Return the objective that passes gradients through the rules."""
    layer = PossibilisticLayer(samples.cascade, list(samples.answers))

    def objective(network: nn.Module, pixels: Tensor, places: Tensor) -> tuple[Tensor, float]:
        scores = network(pixels)
        loss, right = _answer_loss(samples, layer, scores, places)
        return loss + _label_loss(samples, scores, places), right

    return objective


def _by_beliefs(samples: Answered) -> Objective:
    """Return the objective that learns from what answers say about single images."""

    def objective(network: nn.Module, pixels: Tensor, places: Tensor) -> tuple[Tensor, float]:
        return _belief_loss(samples, network(pixels), places)

    return objective


def _by_both(samples: Answered) -> Objective:
    """Return the sum of both objectives; labelled images are labelled in the beliefs."""
    layer = PossibilisticLayer(samples.cascade, list(samples.answers))

    def objective(network: nn.Module, pixels: Tensor, places: Tensor) -> tuple[Tensor, float]:
        scores = network(pixels)
        loss, right = _answer_loss(samples, layer, scores, places)
        return loss + _belief_loss(samples, scores, places)[0], right

    return objective


def _answer_loss(
    samples: Answered, layer: PossibilisticLayer, scores: Tensor, places: Tensor
) -> tuple[Tensor, float]:
    """Return the loss of a batch, and how many of its samples are answered right."""
    pi = antipignistic(torch.softmax(scores, dim=1))
    each = pi.reshape(len(places), len(samples.inputs), -1).unbind(dim=1)
    outputs = layer(dict(zip(samples.inputs, each, strict=True)))
    wanted = {name: at[places].to(pi.device) for name, at in samples.positions.items()}
    right = [outputs[name].argmax(dim=1) == at for name, at in wanted.items()]
    return answer_loss(outputs, wanted), torch.stack(right).all(dim=0).sum().item()


def _belief_loss(samples: Answered, scores: Tensor, places: Tensor) -> tuple[Tensor, float]:
    """Return the loss of a batch, and in how many samples all images are read as labelled.

    As the other losses it is a mean over samples of the sum over their images.
    """
    seen = torch.softmax(scores.detach(), dim=1).double().cpu().numpy()
    found = believed(samples, seen, places.numpy())
    labels, specificity = (torch.from_numpy(part).to(scores.device) for part in found)
    as_read = scores.detach().argmax(dim=1) == labels.argmax(dim=1)
    right = as_read.reshape(len(places), -1).all(dim=1).sum().item()
    return len(samples.inputs) * soft_label_loss(scores, labels, specificity), right


def _label_loss(samples: Answered, scores: Tensor, places: Tensor) -> Tensor:
    """Return the mean over samples of the cross-entropy of all labelled images."""
    if samples.labels is None:
        return scores.new_zeros(())
    wanted = torch.from_numpy(samples.labels[places.numpy()].astype(np.int64)).flatten()
    total = nn.functional.cross_entropy(
        scores, wanted.to(scores.device), ignore_index=UNKNOWN, reduction="sum"
    )
    return total / len(places)


#: What can be made small.
LOSSES: Final[dict[str, Callable[[Answered], Objective]]] = {
    "both": _by_both,
    "answers": _by_answers,
    "beliefs": _by_beliefs,
}
