"""Labels of single inputs that the answers of whole samples give; see docs/gradients.md."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.exceptions import DataError
from pinesy.inverse import posterior
from pinesy.nets.answered_inputs import UNKNOWN, Positions, answer_positions, one_hot, shown_answers
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.transforms import antipignistic, antipignistic_inverse

#: The share of the uniform distribution that is mixed into what a network sees: however sure it is
#: of a wrong reading, no answer may be impossible.
DOUBT = 1e-9

Degrees = dict[str, FloatArray]


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
    >>> found = soft_labels(function("sum", [a, b], "a + b"), seen, {"sum": [3]})
    >>> found["a"].argmax(), found["b"].argmax()
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
        found, compatibility = conditioned(cascade, now, known, left)
        then = _restricted(now, found, compatibility)
        changed = np.zeros(len(left), dtype=bool)
        for name in names:
            degrees[name][left], pi[name][left] = found[name], then[name]
            changed |= (then[name] != now[name]).any(axis=1)
        left = left[changed & (compatibility < 1.0)]
    return {name: antipignistic_inverse(x) for name, x in degrees.items()}


def _doubtful(probabilities: FloatArray, labels: Positions | None) -> FloatArray:
    """Return probabilities none of which is 0, except where the value is known."""
    size = probabilities.shape[1]
    seen = (1 - DOUBT) * probabilities + DOUBT / size
    if labels is not None:
        is_known = labels != UNKNOWN
        seen[is_known] = np.eye(size)[labels[is_known]]
    return np.asarray(seen)


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
    cascade: Cascade, pi: Degrees, known: Mapping[str, Positions], places: Positions
) -> tuple[Degrees, FloatArray]:
    """Return the inputs given the answers of some samples, and the compatibility (n,).

    Parameters
    ----------
    pi : the possibilities of the inputs of these samples
    known : the positions of answers and labels, of all samples
    places : which samples
    """
    attributes = cascade.attributes
    targets = {
        name: one_hot(at[places], len(attributes[name].domain)) for name, at in known.items()
    }
    beliefs = posterior(cascade, pi, targets)
    compatibility = np.asarray(beliefs.compatibility)
    refuse_impossible(cascade, compatibility == 0.0, known, places)
    return {name: beliefs[name].degrees for name in pi}, compatibility


def specificity(degrees: FloatArray) -> FloatArray:
    """Return ``1 - (sum_v c(v) - 1) / (m - 1)``: 1 if one value is left, 0 if all are open."""
    return np.asarray(1.0 - (degrees.sum(axis=1) - 1.0) / max(degrees.shape[1] - 1, 1))


def refuse_impossible(
    cascade: Cascade, bad: Any, known: Mapping[str, Positions], places: Positions
) -> None:
    """Raise `DataError` for the first of some samples whose answers nothing gives."""
    if not bad.any():
        return
    row = int(places[int(bad.argmax())])
    is_labelled = any(known[a.name][row] != UNKNOWN for a in cascade.inputs if a.name in known)
    wrong = "its labels contradict its answers" if is_labelled else "no reading gives its answers"
    said = shown_answers(row, known, cascade.attributes)
    raise DataError(f"sample {row}: {wrong} ({said:.80}); correct them, or leave it out")
