"""Answers as users give them, and labels of single inputs that those of whole samples give.

See docs/gradients.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pinesy._common.names import by_name
from pinesy._common.validation import FloatArray, suggestion
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError, UnknownAttributeError, placed
from pinesy.inverse import posterior
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.transforms import antipignistic, antipignistic_inverse

#: Stands for the position of a value that nobody knows.
UNKNOWN = -1
#: The share of the uniform distribution that is mixed into what a network sees: however sure it is
#: of a wrong reading, no answer may be impossible.
DOUBT = 1e-9

Degrees = dict[str, FloatArray]
Positions = npt.NDArray[np.int64]


def named_answers(answers: object) -> dict[str, Any]:
    """Return answers by the names of attributes, or raise `DataError` if there are none."""
    if not isinstance(answers, Mapping) or not answers:
        raise DataError(
            "there are no answers to learn from; give a mapping from at least one attribute to the "
            "right values"
        )
    return by_name(answers, "answer")


def answer_positions(
    answers: object, attributes: Mapping[str, Attribute], known: Iterable[str], n: int
) -> dict[str, Positions]:
    """Return the positions (n,) of answers in their domains, `UNKNOWN` where they are None.

    Only the `known` names may have answers.
    """
    places, names = {}, list(known)
    for name, values in named_answers(answers).items():
        if name not in names or name not in attributes:
            raise UnknownAttributeError(
                f"there is an answer for {name!r}, which is no output{suggestion(name, names)}"
            )
        with placed("answers"):
            places[name] = _positions(values, attributes[name], n)
    return places


def _positions(values: Any, attribute: Attribute, n: int) -> Positions:
    given = values.detach().cpu().numpy() if isinstance(values, Tensor) else values
    is_open = isinstance(given, Sequence) or getattr(given, "dtype", None) == np.dtype(object)
    if not is_open or None in attribute or not any(value is None for value in given):
        return Target.of_values(given, attribute, n).labels.astype(np.int64)
    missing = np.array([value is None for value in given])
    filled = [attribute.domain[0] if value is None else value for value in given]
    positions = Target.of_values(filled, attribute, n).labels.astype(np.int64)
    return np.where(missing, UNKNOWN, positions)


def one_hot(positions: Positions, size: int) -> FloatArray:
    """Return weights (n, size): 1 for the value that is known, and for all where none is."""
    weights = np.eye(size)[positions]
    weights[positions == UNKNOWN] = 1.0
    return weights


def soft_labels(
    rules: Cascade | RuleSet, probabilities: Mapping[str, FloatArray], answers: Mapping[Any, Any]
) -> Degrees:
    """Return for each input the probabilities of its values, given what the answers must be.

    Probabilities become possibilities, which the answers condition (`pinesy.posterior`): for
    certain rules ``c(x) = min_i pi_i(x_i)`` where they give the answers, 0 elsewhere; for others
    the min with what they say of them. It is rescaled to maximum 1 and projected to each input by
    max, and the antipignistic inverse makes probabilities of that. An input that was misread gets
    the right label, if it is the most possible way to the answers.

    A minimum is as low as its lowest part, so that the worst reading of a sample hides what the
    answers say about the others. Therefore each input is restricted to the values of the most
    possible ways, rescaled to maximum 1, and all is conditioned again, until every reading that
    is left agrees with the answers. Ways that are equally possible all stay.

    Parameters
    ----------
    rules : a `Cascade` or a `RuleSet`
    probabilities : by the names of inputs, arrays (n, values), what networks make of them
    answers : by the names of attributes, the right values, None where they are not known; those
        of inputs are labels, which inputs keep, and which help the others of their samples

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
    known = answer_positions(answers, cascade.attributes, cascade.attributes, n)
    pi = {name: antipignistic(_doubtful(probabilities[name], known.get(name))) for name in names}
    degrees = {name: np.empty_like(x) for name, x in pi.items()}
    left = np.arange(n)
    while len(left):
        now = {name: x[left] for name, x in pi.items()}
        given, compatibility = conditioned(cascade, now, known, left)
        then = _restricted(now, given, compatibility)
        changed = np.zeros(len(left), dtype=bool)
        for name in names:
            degrees[name][left], pi[name][left] = given[name], then[name]
            changed |= (then[name] != now[name]).any(axis=1)
        left = left[changed & (compatibility < 1.0)]
    return {name: antipignistic_inverse(x) for name, x in degrees.items()}


def _doubtful(probabilities: FloatArray, labels: Positions | None) -> FloatArray:
    """Return probabilities none of which is 0, except where the value is known."""
    seen = (1 - DOUBT) * probabilities + DOUBT / probabilities.shape[1]
    return np.asarray(labelled(torch.from_numpy(seen), labels))


def labelled(p: Tensor, labels: Positions | None) -> Tensor:
    """Return probabilities (n, values) that are 1 where the value is known."""
    if labels is None:
        return p
    is_open = torch.from_numpy(labels == UNKNOWN).to(p.device)
    return torch.where(is_open[:, None], p, torch.from_numpy(one_hot(labels, p.shape[1])).to(p))


def _restricted(pi: Degrees, degrees: Degrees, compatibility: FloatArray) -> Degrees:
    """Return the inputs restricted to the most possible ways, rescaled to maximum 1.

    Where that changes nothing, several ways are equally possible: what holds them down counts as
    possible, so that it holds nothing else down.
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


def conditioned(
    cascade: Cascade,
    pi: Degrees,
    known: Mapping[str, Positions],
    places: Positions | slice = slice(None),
) -> tuple[Degrees, FloatArray]:
    """Return the inputs `pi` of the samples at `places`, given what is known, and how possible.

    What is `known` are the positions of the answers and labels of all samples.
    """
    sizes = {name: len(cascade.attributes[name].domain) for name in known}
    targets = {name: one_hot(at[places], sizes[name]) for name, at in known.items()}
    beliefs = posterior(cascade, pi, targets)
    compatibility = np.asarray(beliefs.compatibility)
    refuse_impossible(cascade, compatibility == 0.0, known, places)
    return {name: beliefs[name].degrees for name in pi}, compatibility


def specificity(degrees: FloatArray) -> FloatArray:
    """Return ``1 - (sum_v c(v) - 1) / (m - 1)`` (docs/gradients.md): 1 if one value is left."""
    return np.asarray(1.0 - (degrees.sum(axis=1) - 1.0) / max(degrees.shape[1] - 1, 1))


def refuse_impossible(
    cascade: Cascade,
    bad: Any,
    known: Mapping[str, Positions],
    places: Positions | slice = slice(None),
) -> None:
    """Raise `DataError` for the first of some samples whose answers nothing gives."""
    if not bad.any():
        return
    row = int(np.arange(len(next(iter(known.values()))))[places][bad][0])
    is_labelled = any(known[a.name][row] != UNKNOWN for a in cascade.inputs if a.name in known)
    wrong = "its labels contradict its answers" if is_labelled else "no reading gives its answers"
    shown = ", ".join(
        f"{name} = {cascade.attributes[name].domain[at[row]]!r}"
        for name, at in known.items()
        if at[row] != UNKNOWN
    )
    raise DataError(f"sample {row}: {wrong} ({shown:.80}); correct them, or leave it out")
