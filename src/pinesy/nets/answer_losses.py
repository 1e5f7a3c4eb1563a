"""Losses of answers: for any networks, data, optimiser and loop. Answers are values."""

from collections.abc import Mapping
from math import log
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pinesy._common.names import by_name
from pinesy._common.validation import suggestion
from pinesy.exceptions import DataError, UnknownAttributeError, placed
from pinesy.inverse import posterior
from pinesy.nets.differentiable_transforms import antipignistic, antipignistic_inverse
from pinesy.nets.rule_layer import RuleLayer
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.targets import Target
from pinesy.rules.attributes import Attribute

#: So that the logarithm of an impossible answer is finite; below it the loss has this slope.
LEAST, SLOPE = 1e-30, 100.0
#: The share of the uniform distribution that is mixed into what a network sees: however sure it is
#: of a wrong reading, no answer may be impossible.
DOUBT = 1e-9


def named_answers(answers: object) -> dict[str, Any]:
    """Return answers by the names of attributes, or raise `DataError` if there are none."""
    if not isinstance(answers, Mapping) or not answers:
        raise DataError(
            "there are no answers to learn from; give a mapping from at least one attribute to the "
            "right values"
        )
    return by_name(answers, "answer")


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
    layer = rules if isinstance(rules, RuleLayer) else None
    attributes = (layer.rules if layer is not None else _cascade(rules)).attributes
    positions = {}
    for name, target in _targets(answers, attributes, outputs).items():
        positions[name] = answer_positions(target).to(outputs[name].device)
    if layer is None or layer.possibilistic is not None:
        return positions_loss(outputs, positions)
    shares = layer.as_probabilities(outputs)
    chosen = [shares[name].gather(1, at[:, None]) for name, at in positions.items()]
    return -_log(torch.cat(chosen, dim=1)).sum(dim=1).mean()


def _cascade(rules: Any) -> Cascade:
    return as_cascade(rules)


def _targets(
    answers: object, attributes: Mapping[str, Attribute], outputs: Mapping[str, Tensor]
) -> dict[str, Target]:
    """Return the answers, checked, for outputs of as many samples."""
    targets = {}
    for name, values in named_answers(answers).items():
        if name not in outputs or name not in attributes:
            raise UnknownAttributeError(
                f"there is an answer for {name!r}, which is no output{suggestion(name, outputs)}"
            )
        given = values.detach().cpu().numpy() if isinstance(values, Tensor) else values
        with placed("answers"):
            targets[name] = Target.of_values(given, attributes[name], len(outputs[name]))
    return targets


def answer_positions(target: Target) -> Tensor:
    """Return the position of each answer in its domain."""
    return torch.from_numpy(target.labels.astype(np.int64))


def positions_loss(outputs: Mapping[str, Tensor], positions: Mapping[str, Tensor]) -> Tensor:
    """Return the loss of answers, given by their positions in the domain."""
    total = torch.zeros((), device=next(iter(outputs.values())).device)
    by_size: dict[int, list[str]] = {}  # domains of one size are worked on together
    for name in positions:
        by_size.setdefault(outputs[name].shape[1], []).append(name)
    for names in by_size.values():
        q = antipignistic_inverse(torch.stack([outputs[name] for name in names]))
        wanted = torch.stack([positions[name] for name in names])
        chosen = q.gather(2, wanted[..., None]).squeeze(2)
        total = total - _log(chosen).sum(dim=0).mean()
    return total


def _log(q: Tensor) -> Tensor:
    """Return logarithms; those of answers that are excluded are finite and have a gradient too."""
    line = log(LEAST) + SLOPE * (q - LEAST)
    return torch.where(q > LEAST, q.clamp(min=LEAST).log(), line)


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
    answers : as `answer_loss` takes them

    Raises
    ------
    DataError
        No values of the inputs give the answers of a sample.

    Examples
    --------
    >>> from pinesy import parse
    >>> rules = parse('''
    ...     attribute sky in {clear, dark}
    ...     attribute rain in {no, yes}
    ...     iff sky in {dark} then rain in {yes}
    ... ''')
    >>> layer = RuleLayer(rules, semantics="probabilistic")
    >>> belief_loss(layer, {"sky": torch.tensor([[0.5, 0.5]])}, {"rain": ["yes"]})
    tensor(0.6931)
    """
    needed = {a.name: a for a in layer.rules.inputs}
    every = {name: next(iter(probabilities.values())) for name in layer.rules.sets}
    targets = _targets(answers, layer.rules.attributes, every)
    seen = {
        name: (1 - DOUBT) * p + DOUBT / p.shape[1]
        for name, p in probabilities.items()
        if name in needed
    }
    if layer.possibilistic is not None:
        return _possibilistic_beliefs(layer.rules, seen, targets)
    like = next(iter(seen.values()))
    weights = {
        name: torch.nn.functional.one_hot(answer_positions(t), len(t.attribute.domain)).to(like)
        for name, t in targets.items()
    }
    logs = layer.log_weight(seen, weights)
    _refuse_impossible(torch.isneginf(logs.detach()).cpu().numpy(), targets)
    return -logs.mean()


def _possibilistic_beliefs(
    rules: Cascade, seen: Mapping[str, Tensor], targets: Mapping[str, Target]
) -> Tensor:
    """Return the loss of soft labels; each counts as much as it is specific."""
    pi = {name: antipignistic(p.detach().double().cpu()).numpy() for name, p in seen.items()}
    beliefs = posterior(rules, pi, dict(targets), list(seen))
    _refuse_impossible(np.asarray(beliefs.compatibility) == 0.0, targets)
    labels = beliefs.probabilities()
    total = next(iter(seen.values())).new_zeros(())
    for name, p in seen.items():
        degrees = beliefs[name].degrees
        specificity = 1.0 - (degrees.sum(axis=1) - 1.0) / max(p.shape[1] - 1, 1)
        weighed = torch.from_numpy(labels[name] * specificity[:, None]).to(p)
        total = total - (weighed * p.log()).sum(dim=1).mean()
    return total


def _refuse_impossible(bad: Any, targets: Mapping[str, Target]) -> None:
    """Raise `DataError` for the first sample whose answers nothing gives."""
    if bad.any():
        row = int(bad.argmax())
        said = ", ".join(
            f"{name} = {target.attribute.domain[target.labels[row]]!r}"
            for name, target in targets.items()
        )
        raise DataError(
            f"sample {row}: no values of the inputs give its answers ({said:.80}); correct them, "
            "or leave it out"
        )


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
