"""Learning to read images from answers alone, by gradients or by beliefs."""

import os
from collections.abc import Mapping
from math import log
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from pinesy._common.validation import check_integer, suggestion
from pinesy.exceptions import DataError, DomainError, PinesyError, UnknownAttributeError, placed
from pinesy.nets import differentiable_transforms as differentiable
from pinesy.nets.answered_samples import UNKNOWN, Answered, believed, named_answers
from pinesy.nets.checkpoints import Identity
from pinesy.nets.network_training import History, run_training
from pinesy.nets.networks import device_of, preprocess
from pinesy.nets.possibilistic_layer import PossibilisticLayer
from pinesy.nets.recipes import Recipe
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.targets import Target

#: What can be made small.
LOSSES: Final = ("both", "answers", "beliefs")
#: So that the logarithm of an impossible answer is finite; below it the loss has this slope.
LEAST, SLOPE = 1e-30, 100.0


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
        self.positions = {name: _positions(target) for name, target in samples.targets.items()}
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
        return _positions_loss(outputs, wanted), torch.stack(right).all(dim=0).sum().item()

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


def answer_loss(
    rules: Cascade | RuleSet, outputs: Mapping[str, Tensor], answers: Mapping[Any, Any]
) -> Tensor:
    """Return the mean over samples of ``- sum_b log q_b(u_b)``; see docs/gradients.md.

    ``q_b`` is the probability distribution that the antipignistic inverse makes of the inferred
    possibilities of attribute `b`, and ``u_b`` the right value.

    Parameters
    ----------
    rules : those that inferred the outputs
    outputs : by name, possibilities (n, values), as `PossibilisticLayer` gives them
    answers : for attributes or their names, the right value of each sample: a sequence, an array
        or a tensor (n,)

    Examples
    --------
    >>> from pinesy import parse
    >>> rules = parse('''
    ...     attribute sky in {clear, dark}
    ...     attribute rain in {no, yes}
    ...     iff sky in {dark} then rain in {yes}
    ... ''')
    >>> sure = {"rain": torch.tensor([[0.0, 1.0]])}
    >>> answer_loss(rules, sure, {"rain": ["yes"]})
    tensor(0.)
    """
    if not isinstance(outputs, Mapping):
        raise DataError(f"outputs is {outputs!r:.60}; give a mapping from names to tensors")
    attributes = as_cascade(rules).attributes
    positions = {}
    for name, values in named_answers(answers).items():
        if name not in outputs or name not in attributes:
            raise UnknownAttributeError(
                f"there is an answer for {name!r}, which is no output{suggestion(name, outputs)}"
            )
        given = values.detach().cpu().numpy() if isinstance(values, Tensor) else values
        with placed("answers"):
            target = Target.of_values(given, attributes[name], len(outputs[name]))
        positions[name] = _positions(target).to(outputs[name].device)
    return _positions_loss(outputs, positions)


def _positions(target: Target) -> Tensor:
    """Return the position of each answer in its domain."""
    return torch.from_numpy(target.labels.astype(np.int64))


def _positions_loss(outputs: Mapping[str, Tensor], positions: Mapping[str, Tensor]) -> Tensor:
    """Return the loss of answers, given by their positions in the domain."""
    total = torch.zeros((), device=next(iter(outputs.values())).device)
    by_size: dict[int, list[str]] = {}  # domains of one size are worked on together
    for name in positions:
        by_size.setdefault(outputs[name].shape[1], []).append(name)
    for names in by_size.values():
        q = differentiable.antipignistic_inverse(torch.stack([outputs[name] for name in names]))
        wanted = torch.stack([positions[name] for name in names])
        chosen = q.gather(2, wanted[..., None]).squeeze(2)
        total = total - _log(chosen).sum(dim=0).mean()
    return total


def _log(q: Tensor) -> Tensor:
    """Return logarithms; those of answers that are excluded are finite and have a gradient too."""
    line = log(LEAST) + SLOPE * (q - LEAST)
    return torch.where(q > LEAST, q.clamp(min=LEAST).log(), line)


def soft_label_loss(scores: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
    """Return the mean over images of ``- w sum_v t(v) log p(v)``, `p` the softmax of the scores.

    Parameters
    ----------
    scores : tensor (n, classes), as a network gives them
    labels : tensor (n, classes) of probabilities, such as `Posterior.probabilities` gives
    weights : tensor (n,), how much each image counts; by default 1
    """
    losses = torch.nn.functional.cross_entropy(scores, labels.to(scores.dtype), reduction="none")
    return losses.mean() if weights is None else (losses * weights.to(scores.dtype)).mean()
