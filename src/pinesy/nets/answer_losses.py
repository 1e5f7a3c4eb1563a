"""Losses of answers: for any networks, data, optimiser and loop. Answers are values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from pinesy._common.validation import check_known
from pinesy.exceptions import DataError, DomainError
from pinesy.nets.differentiable_transforms import antipignistic, antipignistic_inverse, same_sizes
from pinesy.nets.rule_layer import RuleLayer
from pinesy.nets.soft_labels import (
    DOUBT,
    UNKNOWN,
    Positions,
    answer_positions,
    conditioned,
    labelled,
    named_answers,
    one_hot,
    refuse_impossible,
    specificity,
)
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.transforms import antipignistic_inverse as as_probabilities

#: So that the logarithm of an impossible answer is finite; below it the loss has this slope.
LEAST, SLOPE = 1e-30, 100.0
#: From a layer, the probabilities of inputs and the answers to what is made small.
AnswerLoss = Callable[[RuleLayer, Mapping[str, Tensor], Mapping[str, Any]], Tensor]


def answer_loss(
    rules: Cascade | RuleSet | RuleLayer,
    outputs: Mapping[str, Tensor],
    answers: Mapping[Any, Any],
) -> Tensor:
    """Return the mean over samples of ``- sum_b log q_b(u_b)``; see docs/gradients.md.

    ``q_b`` is the probability distribution that is made of what was inferred of attribute `b`: by
    the antipignistic inverse of possibilities, or from weights divided by their sum; ``u_b`` is the
    right value.

    Parameters
    ----------
    rules : those that inferred the outputs, or the layer; rules alone stand for the possibilistic
        semantics
    outputs : by name, possibilities or weights (n, values), as the layer gives them
    answers : for attributes or their names, the right value of each sample, or None where nobody
        knows it: a sequence, an array or a tensor (n,)

    Examples
    --------
    >>> from pinesy.problems import addition
    >>> answer_loss(addition(1), {"y_0": torch.tensor([[0.0, 1.0]])}, {"y_0": [1]})
    tensor(0.)
    """
    if not isinstance(outputs, Mapping):
        raise DataError(f"outputs is {outputs!r:.60}; give a mapping from names to tensors")
    cascade = rules.rules if isinstance(rules, RuleLayer) else as_cascade(rules)
    convert = rules.probabilities_of if isinstance(rules, RuleLayer) else antipignistic_inverse
    positions = answer_positions(answers, cascade.attributes, outputs, _rows(outputs))
    losses = []
    for names in same_sizes({name: outputs[name] for name in positions}):
        q = convert(torch.stack([outputs[name] for name in names]))
        losses.append(_of_answers(q, np.stack([positions[name] for name in names])))
    return torch.stack(losses).sum()


def _rows(tensors: Mapping[str, Tensor]) -> int:
    return len(next(iter(tensors.values()), ()))


def _of_answers(q: Tensor, positions: Positions) -> Tensor:
    """Return the loss of answers (answers, n), given the probabilities (answers, n, values)."""
    at = torch.from_numpy(positions).to(q.device)
    logs = _log(q.gather(2, at.clamp(min=0)[..., None]).squeeze(2))
    return -torch.where(at != UNKNOWN, logs, 0.0).sum(dim=0).mean()


def _log(q: Tensor) -> Tensor:
    """Return logarithms; those of answers that are excluded are finite and have a gradient too."""
    line = log(LEAST) + SLOPE * (q - LEAST)
    return torch.where(q > LEAST, q.clamp(min=LEAST).log(), line)


def _label_loss(probabilities: Mapping[str, Tensor], known: Mapping[str, Positions]) -> Tensor:
    """Return the cross-entropy of labelled inputs, those that there are answers for."""
    both = [(p[None], known[name][None]) for name, p in probabilities.items() if name in known]
    zero = next(iter(probabilities.values())).new_zeros(())
    return sum((_of_answers(p, at) for p, at in both), zero)


def _inferred_loss(
    layer: RuleLayer, probabilities: Mapping[str, Tensor], answers: Mapping[Any, Any]
) -> Tensor | float:
    """Return `answer_loss` of what the layer infers; 0 if all answers are labels of inputs."""
    inputs = {a.name for a in layer.rules.inputs}
    wanted = {name: v for name, v in named_answers(answers).items() if name not in inputs}
    return answer_loss(layer, layer(probabilities), wanted) if wanted else 0.0


def belief_loss(
    layer: RuleLayer, probabilities: Mapping[str, Tensor], answers: Mapping[Any, Any]
) -> Tensor:
    """Return how far beliefs in the inputs are from what all answers of a sample leave of them.

    In the probabilistic semantics it is ``- log P(answers)``, of all answers together, the mean
    over samples; in that of the most probable explanation, and in Goedel's, the weight of the
    worlds that agree takes the place of the probability. In the possibilistic semantics it is the
    sum over inputs of ``- w_i sum_v t_i(v) log p_i(v)``, with the soft labels `t` and weights `w`
    of docs/gradients.md.

    Parameters
    ----------
    layer : the rules, in a semantics
    probabilities : by name, tensors (n, values), such as a softmax gives
    answers : as `answer_loss` takes them; those of inputs are labels, whose cross-entropy is added

    Raises
    ------
    DataError
        No values of the inputs give the answers of a sample.

    Examples
    --------
    >>> from pinesy.problems import addition
    >>> layer = RuleLayer(addition(1, base=2), semantics="probabilistic")
    >>> seen = dict.fromkeys(["a_1", "a_2"], torch.tensor([[0.5, 0.5]]))
    >>> belief_loss(layer, seen, {"y_1": [1]})
    tensor(0.6931)
    """
    rules = layer.rules
    seen = {
        a.name: (1 - DOUBT) * probabilities[a.name] + DOUBT / len(a.domain)
        for a in rules.inputs
        if a.name in probabilities
    }
    known = answer_positions(answers, rules.attributes, rules.attributes, _rows(probabilities))
    given = {name: labelled(p, known.get(name)) for name, p in seen.items()}
    if layer.possibilistic is not None:
        return _label_loss(seen, known) + _soft_label_losses(rules, seen, given, known)
    return _label_loss(seen, known) - _log_weights(layer, given, known).mean()


def _log_weights(
    layer: RuleLayer, given: Mapping[str, Tensor], known: Mapping[str, Positions]
) -> Tensor:
    """Return the logarithms (n,) of the weight of all worlds that agree with the answers."""
    like, rules = next(iter(given.values())), layer.rules
    weights = {
        name: torch.from_numpy(one_hot(at, len(rules.attributes[name].domain))).to(like)
        for name, at in known.items()
        if name in rules.sets
    }
    if not weights:  # all answers are labels
        return like.new_zeros(len(like))
    logs = layer.log_weight(given, weights)
    refuse_impossible(rules, torch.isneginf(logs.detach()).cpu().numpy(), known)
    return logs


def _soft_label_losses(
    rules: Cascade,
    seen: Mapping[str, Tensor],
    given: Mapping[str, Tensor],
    known: Mapping[str, Positions],
) -> Tensor:
    """Return the loss of soft labels; each counts as much as it is specific."""
    pi = {name: antipignistic(p.detach().double().cpu()).numpy() for name, p in given.items()}
    degrees, _ = conditioned(rules, pi, known)
    total = next(iter(seen.values())).new_zeros(())
    for name, p in seen.items():
        weights = specificity(degrees[name])
        if name in known:
            weights = np.where(known[name] == UNKNOWN, weights, 0.0)  # labels have counted
        labels = as_probabilities(degrees[name]) * weights[:, None]
        total = total - (torch.from_numpy(labels).to(p) * p.log()).sum(dim=1).mean()
    return total


def output_loss(
    layer: RuleLayer, probabilities: Mapping[str, Tensor], answers: Mapping[Any, Any]
) -> Tensor:
    """Return `answer_loss` of what the layer infers, and the cross-entropy of labelled inputs."""
    attributes = layer.rules.attributes
    known = answer_positions(answers, attributes, attributes, _rows(probabilities))
    return _label_loss(probabilities, known) + _inferred_loss(layer, probabilities, answers)


def both_losses(
    layer: RuleLayer, probabilities: Mapping[str, Tensor], answers: Mapping[Any, Any]
) -> Tensor:
    """Return `belief_loss` and `answer_loss` of what the layer infers, added."""
    return belief_loss(layer, probabilities, answers) + _inferred_loss(
        layer, probabilities, answers
    )


#: What can be made small, by name.
LOSSES: Final[dict[str, AnswerLoss]] = {
    "beliefs": belief_loss,
    "answers": output_loss,
    "both": both_losses,
}


@dataclass(frozen=True)
class EntropyLoss:
    """A loss and, against readings that take several values for one, the entropy of what is read.

    ``L + w sum_v m(v) log m(v)``, with `m` the mean over a batch of what is read, for all inputs
    with as many values together. In the first phase of a training it keeps networks from reading
    everything alike; values need not be equally frequent in the end, so that a phase without it
    should follow.

    Attributes
    ----------
    loss : ``"beliefs"``, ``"answers"``, ``"both"``, or any function of the layer, probabilities
        and answers
    weight : ``w``
    """

    loss: str | AnswerLoss = "beliefs"
    weight: float = 2.0

    def __call__(
        self, layer: RuleLayer, probabilities: Mapping[str, Tensor], answers: Mapping[str, Any]
    ) -> Tensor:
        """Return the loss of a batch."""
        total = loss_called(self.loss)(layer, probabilities, answers)
        for names in same_sizes(probabilities):
            read = torch.cat([probabilities[name] for name in names])
            mean = (1 - DOUBT) * read.mean(dim=0) + DOUBT / read.shape[1]
            total = total + self.weight * (mean * mean.log()).sum()
        return total


def loss_called(loss: str | AnswerLoss) -> AnswerLoss:
    """Return a loss by its name, or as it is."""
    if callable(loss):
        return loss
    check_known(loss, LOSSES, f"no loss {loss!r:.60}", DomainError)
    return LOSSES[loss]


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
