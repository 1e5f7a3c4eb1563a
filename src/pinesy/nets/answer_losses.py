"""Learning from answers: soft labels of inputs, and losses for any training loop."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pinesy._common.names import by_name
from pinesy._common.validation import FloatArray, check_known, suggestion
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError, DomainError, UnknownAttributeError, placed
from pinesy.inverse import posterior
from pinesy.nets import differentiable_transforms
from pinesy.nets.differentiable_transforms import names_by_size
from pinesy.nets.possibilistic_labels import projection_distances
from pinesy.nets.rule_layer import RuleLayer
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.transforms import antipignistic, antipignistic_inverse

#: The index of an unknown answer.
UNKNOWN = -1
#: The share of the uniform distribution that is mixed into a network's probabilities, so that no
#: answer is impossible.
SMOOTHING = 1e-9

Degrees = dict[str, FloatArray]
Indices = npt.NDArray[np.int64]


def named_answers(answers: object) -> dict[str, Any]:
    """Return the answers by the names of attributes, or raise `DataError` if there are none."""
    if not isinstance(answers, Mapping) or not answers:
        raise DataError(
            "there are no answers to learn from; give a mapping from at least one attribute to the "
            "right values"
        )
    return by_name(answers, "answer")


def answer_indices(
    answers: object, attributes: Mapping[str, Attribute], known: Iterable[str], n: int
) -> dict[str, Indices]:
    """Return the indices (n,) of answers in their domains, `UNKNOWN` where they are None.

    Only the `known` names may have answers.
    """
    indices, names = {}, list(known)
    for name, values in named_answers(answers).items():
        if name not in names or name not in attributes:
            raise UnknownAttributeError(
                f"there is an answer for {name!r}, which is no output{suggestion(name, names)}"
            )
        with placed("answers"):
            indices[name] = _domain_indices(values, attributes[name], n)
    return indices


def _domain_indices(values: Any, attribute: Attribute, n: int) -> Indices:
    array = values.detach().cpu().numpy() if isinstance(values, Tensor) else values
    may_have_none = isinstance(array, Sequence) or getattr(array, "dtype", None) == np.dtype(object)
    if not may_have_none or None in attribute or not any(value is None for value in array):
        return Target.of_values(array, attribute, n).labels.astype(np.int64)
    missing = np.array([value is None for value in array])
    filled = [attribute.domain[0] if value is None else value for value in array]
    positions = Target.of_values(filled, attribute, n).labels.astype(np.int64)
    return np.where(missing, UNKNOWN, positions)


def one_hot(positions: Indices, size: int) -> FloatArray:
    """Return one-hot rows (n, size) of indices; a row of ones where the value is unknown."""
    weights = np.eye(size)[positions]
    weights[positions == UNKNOWN] = 1.0
    return weights


def soft_labels(
    rules: Cascade | RuleSet, probabilities: Mapping[str, FloatArray], answers: Mapping[Any, Any]
) -> Degrees:
    """Return the probabilities of each input's values, conditioned on the right answers.

    Probabilities become possibilities, which are conditioned on the answers (`pinesy.posterior`):
    for certain rules ``c(x) = min_i pi_i(x_i)`` if `x` gives the answers, else 0; for uncertain
    rules the min with the possibility of the answers. It is rescaled to maximum 1 and projected to
    each input by max; the antipignistic inverse gives probabilities. A misread input gets the right
    label, if that is in the most possible world with these answers.

    The minimum hides all inputs but the least possible one. Therefore each input is restricted to
    its values in the most possible worlds, rescaled to maximum 1, and conditioned again, until all
    remaining values agree with the answers. Equally possible worlds all stay.

    Parameters
    ----------
    rules : a `Cascade` or a `RuleSet`
    probabilities : by the names of inputs, arrays (n, values), such as networks predict
    answers : by the names of attributes, the right values, None where they are unknown; an answer
        for an input is its label

    Returns
    -------
    by the names of inputs, arrays (n, values)

    Raises
    ------
    DataError
        No reading gives the answers of a sample, or its labels contradict them.

    Examples
    --------
    >>> from pinesy import Attribute, function
    >>> a, b = Attribute("a", range(3)), Attribute("b", range(3))
    >>> seen = {"a": np.array([[0.1, 0.8, 0.1]]), "b": np.array([[0.1, 0.5, 0.4]])}
    >>> labels = soft_labels(function("sum", [a, b], "a + b"), seen, {"sum": [3]})
    >>> labels["a"].argmax(), labels["b"].argmax()
    (np.int64(1), np.int64(2))
    """
    cascade = as_cascade(rules)
    names = [a.name for a in cascade.inputs]
    n = len(probabilities[names[0]])
    known = answer_indices(answers, cascade.attributes, cascade.attributes, n)
    pi = {name: antipignistic(_smooth(probabilities[name], known.get(name))) for name in names}
    degrees = {name: np.empty_like(x) for name, x in pi.items()}
    rows = np.arange(n)
    while len(rows):
        before = {name: x[rows] for name, x in pi.items()}
        posteriors, compatibility = condition_inputs(cascade, before, known, rows)
        after = _restrict_inputs(before, posteriors, compatibility)
        changed = np.zeros(len(rows), dtype=bool)
        for name in names:
            degrees[name][rows], pi[name][rows] = posteriors[name], after[name]
            changed |= (after[name] != before[name]).any(axis=1)
        rows = rows[changed & (compatibility < 1.0)]
    return {name: antipignistic_inverse(x) for name, x in degrees.items()}


def _smooth(probabilities: FloatArray, labels: Indices | None) -> FloatArray:
    """Return positive probabilities; one-hot where the value is known."""
    positive = (1 - SMOOTHING) * probabilities + SMOOTHING / probabilities.shape[1]
    return np.asarray(set_labels(torch.from_numpy(positive), labels))


def set_labels(p: Tensor, labels: Indices | None) -> Tensor:
    """Return probabilities (n, values) whose rows are one-hot where the label is known."""
    if labels is None:
        return p
    is_unknown = torch.from_numpy(labels == UNKNOWN).to(p.device)
    return torch.where(is_unknown[:, None], p, torch.from_numpy(one_hot(labels, p.shape[1])).to(p))


def _restrict_inputs(pi: Degrees, degrees: Degrees, compatibility: FloatArray) -> Degrees:
    """Return the inputs restricted to the most possible worlds, rescaled to maximum 1.

    Where that changes nothing, several worlds are equally possible: the degrees that limit them are
    set to 1, so that they limit nothing else.
    """
    best = {name: x == 1.0 for name, x in degrees.items()}
    restricted = {name: np.where(best[name], x, 0.0) for name, x in pi.items()}
    same = np.ones(len(compatibility), dtype=bool)
    for name, x in restricted.items():
        x /= x.max(axis=1, keepdims=True)
        same &= (x == pi[name]).all(axis=1)
    low = compatibility[:, None]
    return {
        name: np.where(same[:, None] & best[name] & (pi[name] <= low), 1.0, x)
        for name, x in restricted.items()
    }


def condition_inputs(
    cascade: Cascade,
    pi: Degrees,
    known: Mapping[str, Indices],
    rows: Indices | slice = slice(None),
) -> tuple[Degrees, FloatArray]:
    """Return the posteriors of the inputs by name, and the compatibility of each sample.

    `pi` has the inputs of the samples in `rows`, `known` the indices of the answers and labels of
    all samples.
    """
    sizes = {name: len(cascade.attributes[name].domain) for name in known}
    targets = {name: one_hot(at[rows], sizes[name]) for name, at in known.items()}
    beliefs = posterior(cascade, pi, targets)
    compatibility = np.asarray(beliefs.compatibility)
    raise_impossible(cascade, compatibility == 0.0, known, rows)
    return {name: beliefs[name].degrees for name in pi}, compatibility


def specificity(degrees: FloatArray) -> FloatArray:
    """Return ``1 - (sum_v c(v) - 1) / (m - 1)`` (docs/gradients.md): 1 if one value is left."""
    return np.asarray(1.0 - (degrees.sum(axis=1) - 1.0) / max(degrees.shape[1] - 1, 1))


def raise_impossible(
    cascade: Cascade,
    bad: Any,
    known: Mapping[str, Indices],
    rows: Indices | slice = slice(None),
) -> None:
    """Raise `DataError` for the first `bad` sample of `rows`: its answers are impossible."""
    if not bad.any():
        return
    row = int(np.arange(len(next(iter(known.values()))))[rows][bad][0])
    is_labelled = any(known[a.name][row] != UNKNOWN for a in cascade.inputs if a.name in known)
    wrong = "its labels contradict its answers" if is_labelled else "no reading gives its answers"
    answers_text = ", ".join(
        f"{name} = {cascade.attributes[name].domain[indices[row]]!r}"
        for name, indices in known.items()
        if indices[row] != UNKNOWN
    )
    raise DataError(f"sample {row}: {wrong} ({answers_text:.80}); correct them, or leave it out")


# --- losses -------------------------------------------------------------------------------------

#: Below LEAST the logarithm continues as a line of this slope, so that losses stay finite.
LEAST, SLOPE = 1e-30, 100.0
#: A function from a layer, the probabilities of inputs and the answers to a loss.
AnswerLoss = Callable[[RuleLayer, Mapping[str, Tensor], Mapping[str, Any]], Tensor]


def answer_loss(
    rules: Cascade | RuleSet | RuleLayer,
    outputs: Mapping[str, Tensor],
    answers: Mapping[Any, Any],
) -> Tensor:
    """Return the mean over samples of ``- sum_b log q_b(u_b)``; see docs/gradients.md.

    ``q_b`` is the inferred probability distribution of attribute `b`: the antipignistic inverse of
    possibilities, or weights divided by their sum; ``u_b`` is the right value.

    Parameters
    ----------
    rules : the layer that inferred the outputs, or its rules in the possibilistic semantics
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
    convert = (
        rules.probabilities_of
        if isinstance(rules, RuleLayer)
        else differentiable_transforms.antipignistic_inverse
    )
    positions = answer_indices(answers, cascade.attributes, outputs, _rows(outputs))
    losses = []
    for names in names_by_size({name: outputs[name] for name in positions}):
        q = convert(torch.stack([outputs[name] for name in names]))
        losses.append(_cross_entropy(q, np.stack([positions[name] for name in names])))
    return torch.stack(losses).sum()


def _rows(tensors: Mapping[str, Tensor]) -> int:
    return len(next(iter(tensors.values()), ()))


def _cross_entropy(q: Tensor, positions: Indices) -> Tensor:
    """Return the cross-entropy of answers (answers, n), for probabilities (answers, n, values)."""
    indices = torch.from_numpy(positions).to(q.device)
    right = q.gather(2, indices.clamp(min=0)[..., None]).squeeze(2)
    # Excluded answers have a finite logarithm, with a gradient.
    line = log(LEAST) + SLOPE * (right - LEAST)
    logs = torch.where(right > LEAST, right.clamp(min=LEAST).log(), line)
    return -torch.where(indices != UNKNOWN, logs, 0.0).sum(dim=0).mean()


def _label_loss(probabilities: Mapping[str, Tensor], known: Mapping[str, Indices]) -> Tensor:
    """Return the cross-entropy of the inputs that have labels."""
    pairs = [(p[None], known[name][None]) for name, p in probabilities.items() if name in known]
    zero = next(iter(probabilities.values())).new_zeros(())
    return sum((_cross_entropy(p, indices) for p, indices in pairs), zero)


def _inferred_loss(
    layer: RuleLayer, probabilities: Mapping[str, Tensor], answers: Mapping[Any, Any]
) -> Tensor | float:
    """Return `answer_loss` of what the layer infers; 0 if all answers are labels of inputs."""
    inputs = {a.name for a in layer.rules.inputs}
    output_answers = {name: v for name, v in named_answers(answers).items() if name not in inputs}
    return answer_loss(layer, layer(probabilities), output_answers) if output_answers else 0.0


def belief_loss(
    layer: RuleLayer, probabilities: Mapping[str, Tensor], answers: Mapping[Any, Any]
) -> Tensor:
    """Return the loss of the probabilities of inputs, given all answers of a sample.

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
    smoothed, labelled_inputs, known = _smooth_inputs(rules, probabilities, answers)
    if layer.possibilistic is not None:
        return _label_loss(smoothed, known) + _soft_label_losses(
            rules, smoothed, labelled_inputs, known
        )
    return _label_loss(smoothed, known) - _log_weights(layer, labelled_inputs, known).mean()


def _smooth_inputs(
    rules: Cascade, probabilities: Mapping[str, Tensor], answers: Mapping[Any, Any]
) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Indices]]:
    """Return positive probabilities, the same with labels set, and the indices of the answers."""
    smoothed = {
        a.name: (1 - SMOOTHING) * probabilities[a.name] + SMOOTHING / len(a.domain)
        for a in rules.inputs
        if a.name in probabilities
    }
    known = answer_indices(answers, rules.attributes, rules.attributes, _rows(probabilities))
    labelled_inputs = {name: set_labels(p, known.get(name)) for name, p in smoothed.items()}
    return smoothed, labelled_inputs, known


def _possibilities(probabilities: Mapping[str, Tensor]) -> Degrees:
    return {
        name: differentiable_transforms.antipignistic(p.detach().double().cpu()).numpy()
        for name, p in probabilities.items()
    }


def _log_weights(
    layer: RuleLayer, labelled_inputs: Mapping[str, Tensor], known: Mapping[str, Indices]
) -> Tensor:
    """Return the logarithms (n,) of the weight of all worlds that agree with the answers."""
    like, rules = next(iter(labelled_inputs.values())), layer.rules
    weights = {
        name: torch.from_numpy(one_hot(indices, len(rules.attributes[name].domain))).to(like)
        for name, indices in known.items()
        if name in rules.sets
    }
    if not weights:  # all answers are labels
        return like.new_zeros(len(like))
    logs = layer.log_weight(labelled_inputs, weights)
    raise_impossible(rules, torch.isneginf(logs.detach()).cpu().numpy(), known)
    return logs


def _soft_label_losses(
    rules: Cascade,
    smoothed: Mapping[str, Tensor],
    labelled_inputs: Mapping[str, Tensor],
    known: Mapping[str, Indices],
) -> Tensor:
    """Return the cross-entropy of soft labels, each weighted by its specificity."""
    degrees, _ = condition_inputs(rules, _possibilities(labelled_inputs), known)
    total = next(iter(smoothed.values())).new_zeros(())
    for name, p in smoothed.items():
        weights = specificity(degrees[name])
        if name in known:
            weights = np.where(known[name] == UNKNOWN, weights, 0.0)  # labels are in the label loss
        labels = antipignistic_inverse(degrees[name]) * weights[:, None]
        total = total - (torch.from_numpy(labels).to(p) * p.log()).sum(dim=1).mean()
    return total


def projection_loss(
    layer: RuleLayer, probabilities: Mapping[str, Tensor], answers: Mapping[Any, Any]
) -> Tensor:
    """Return the distance of the probabilities of inputs from those that the answers leave.

    What the network sees, conditioned on the answers (`pinesy.posterior`), is a possibility
    distribution for each input. The loss is the sum over inputs of the mean over samples of
    ``min sum_v p(v) log(p(v) / q(v))``, with `p` among the probabilities that are compatible with
    it and `q` those of the network (`possibilistic_label_loss`): 0 if they are all compatible.

    Parameters
    ----------
    layer : the rules; the targets are possibilistic in any semantics
    probabilities : by name, tensors (n, values), such as a softmax gives
    answers : as `belief_loss` takes them; an answer for an input is its label

    Raises
    ------
    DataError
        No values of the inputs give the answers of a sample.

    Examples
    --------
    >>> from pinesy.problems import addition
    >>> layer = RuleLayer(addition(1, base=2))
    >>> seen = dict.fromkeys(["a_1", "a_2"], torch.tensor([[0.5, 0.5]]))
    >>> projection_loss(layer, seen, {"y_0": [1]})  # the sum is 2: both are 1
    tensor(1.3863)
    """
    rules = layer.rules
    smoothed, labelled_inputs, known = _smooth_inputs(rules, probabilities, answers)
    degrees, _ = condition_inputs(rules, _possibilities(labelled_inputs), known)
    losses = []
    for names in names_by_size(smoothed):
        q = torch.cat([smoothed[name] for name in names])
        pi = torch.from_numpy(np.concatenate([degrees[name] for name in names])).to(q.device)
        distances = projection_distances(q.double().log(), pi).reshape(len(names), -1)
        losses.append(distances.mean(dim=1).sum().to(q.dtype))
    return torch.stack(losses).sum()


def output_loss(
    layer: RuleLayer, probabilities: Mapping[str, Tensor], answers: Mapping[Any, Any]
) -> Tensor:
    """Return `answer_loss` of what the layer infers, and the cross-entropy of labelled inputs."""
    attributes = layer.rules.attributes
    known = answer_indices(answers, attributes, attributes, _rows(probabilities))
    return _label_loss(probabilities, known) + _inferred_loss(layer, probabilities, answers)


def sum_of_losses(
    layer: RuleLayer, probabilities: Mapping[str, Tensor], answers: Mapping[Any, Any]
) -> Tensor:
    """Return `belief_loss` and `answer_loss` of what the layer infers, added."""
    return belief_loss(layer, probabilities, answers) + _inferred_loss(
        layer, probabilities, answers
    )


#: Losses by name.
LOSSES: Final[dict[str, AnswerLoss]] = {
    "beliefs": belief_loss,
    "answers": output_loss,
    "both": sum_of_losses,
    "projection": projection_loss,
}


@dataclass(frozen=True)
class EntropyLoss:
    """A loss minus the entropy of the mean prediction, against networks that merge values.

    ``L + w sum_v m(v) log m(v)``, with `m` the mean over a batch of the probabilities, for all
    inputs of the same number of values together. In the first phase of a training it keeps networks
    from predicting one value for everything; values need not be equally frequent, so that a phase
    without it should follow.

    Attributes
    ----------
    loss : ``"beliefs"``, ``"answers"``, ``"both"``, ``"projection"``, or any function of the
        layer, probabilities and answers
    weight : ``w``
    """

    loss: str | AnswerLoss = "beliefs"
    weight: float = 2.0

    def __call__(
        self, layer: RuleLayer, probabilities: Mapping[str, Tensor], answers: Mapping[str, Any]
    ) -> Tensor:
        """Return the loss of a batch."""
        total = loss_by_name(self.loss)(layer, probabilities, answers)
        for names in names_by_size(probabilities):
            stacked = torch.cat([probabilities[name] for name in names])
            mean = (1 - SMOOTHING) * stacked.mean(dim=0) + SMOOTHING / stacked.shape[1]
            total = total + self.weight * (mean * mean.log()).sum()
        return total


def loss_by_name(loss: str | AnswerLoss) -> AnswerLoss:
    """Return the loss of a name; a function is returned unchanged."""
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
