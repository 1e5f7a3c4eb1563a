"""Learning to read images from answers alone, by gradients or by beliefs."""

import os
from typing import Final

import torch
from torch import Tensor, nn

from pinesy._common.validation import check_integer, suggestion
from pinesy.exceptions import DomainError, PinesyError
from pinesy.nets import differentiable_transforms as differentiable
from pinesy.nets.answer_losses import answer_positions, positions_loss, soft_label_loss
from pinesy.nets.answered_samples import UNKNOWN, Answered, believed
from pinesy.nets.checkpoints import Identity
from pinesy.nets.network_training import History, run_training
from pinesy.nets.networks import device_of, preprocess
from pinesy.nets.possibilistic_layer import PossibilisticLayer
from pinesy.nets.recipes import Recipe

#: What can be made small.
LOSSES: Final = ("both", "answers", "beliefs")


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

    As `pinesy.nets.train`, it is the same for the same seed, and goes on from a checkpoint to the
    same bits.

    Parameters
    ----------
    network : gives scores of the values of an input, for images (n, 1, 28, 28)
    samples : images and answers
    recipe : how; ``batch`` counts images, and a step has at least one sample
    loss : ``"both"``, ``"answers"`` or ``"beliefs"``; beliefs use all answers of a sample together
        and begin better, but are exact and quick only for rules without loops
    seed, checkpoint, progress : as in `train`
    """
    seed = check_integer(seed, "seed")
    if not isinstance(loss, str) or loss not in LOSSES:
        raise DomainError(f"no loss {loss!r:.60}{suggestion(loss, LOSSES)}")
    shape = samples.images.shape
    pixels = preprocess(samples.flat).reshape(*shape[:2], 1, *shape[2:])
    identity = Identity(repr(network), recipe, seed, f"{loss} {samples.fingerprint}")
    objective = _Objective(samples, loss, device_of(network))
    return run_training(network, pixels, objective, identity, checkpoint, progress)


class _Objective:
    """The loss of a batch, the mean over its samples, and how many of them are right.

    A sample is right if all its answers are; by beliefs alone, if all its images are read as they
    are labelled.
    """

    def __init__(self, samples: Answered, loss: str, device: torch.device) -> None:
        self.samples, self.has_beliefs = samples, loss != "answers"
        self.positions = {
            name: answer_positions(target) for name, target in samples.targets.items()
        }
        self.layer = None
        if loss != "beliefs":
            self.layer = PossibilisticLayer(samples.cascade, list(samples.answers)).to(device)

    def __call__(self, network: nn.Module, pixels: Tensor, places: Tensor) -> tuple[Tensor, float]:
        scores = network(pixels)
        self.samples.check_classes(scores.shape[1])
        if not torch.isfinite(scores).all():
            raise PinesyError(
                "the network's scores are not finite: training diverges; take a smaller learning "
                "rate"
            )
        if self.has_beliefs:
            loss, right = self._belief_loss(scores, places)
        else:  # beliefs have the labels in them
            loss, right = self._label_loss(scores, places), 0.0
        if self.layer is None:
            return loss, right
        of_answers, right = self._answer_loss(self.layer, scores, places)
        return loss + of_answers, right

    def _answer_loss(
        self, layer: PossibilisticLayer, scores: Tensor, places: Tensor
    ) -> tuple[Tensor, float]:
        samples = self.samples
        pi = differentiable.antipignistic(torch.softmax(scores, dim=1))
        each = pi.reshape(len(places), len(samples.inputs), -1).unbind(dim=1)
        outputs = layer(dict(zip(samples.input_names, each, strict=True)))
        wanted = {name: at[places].to(pi.device) for name, at in self.positions.items()}
        right = [outputs[name].argmax(dim=1) == at for name, at in wanted.items()]
        return positions_loss(outputs, wanted), torch.stack(right).all(dim=0).sum().item()

    def _belief_loss(self, scores: Tensor, places: Tensor) -> tuple[Tensor, float]:
        seen = torch.softmax(scores.detach(), dim=1).double().cpu().numpy()
        beliefs = believed(self.samples, seen, places.numpy())
        labels, specificity = (torch.from_numpy(part).to(scores) for part in beliefs)
        read = labels.gather(1, scores.detach().argmax(dim=1, keepdim=True)).squeeze(1)
        as_read = (read == labels.amax(dim=1)).reshape(len(places), -1).all(dim=1)
        loss = len(self.samples.inputs) * soft_label_loss(scores, labels, specificity)
        return loss, as_read.sum().item()

    def _label_loss(self, scores: Tensor, places: Tensor) -> Tensor:
        """Return the mean over samples of the cross-entropy of all labelled images."""
        labels = self.samples.label_positions
        if labels is None:
            return scores.new_zeros(())
        wanted = torch.from_numpy(labels[places.numpy()]).flatten()
        total = nn.functional.cross_entropy(
            scores, wanted.to(scores.device), ignore_index=UNKNOWN, reduction="sum"
        )
        return total / len(places)
