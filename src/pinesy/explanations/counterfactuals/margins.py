"""Margins: how far the degrees of the inputs may move before a decision can change.

Min and max are non-expansive: if no input degree moves by more than `e`, no inferred degree does.
So a winner that is `g` above the second stays the winner while moves are below ``g / 2``.

Coherent rules allow more, exactly. There some value always has possibility 1, so the winner can
only be joined or beaten if another value reaches 1; and degrees rise with those of the inputs, so
the best try with moves of `e` raises every input degree by `e`. Another value `u` reaches 1 iff it
does so where the degrees from ``1 - e`` on are taken as 1 and all below, parameters below 1 too, as
0. With ``h(u)`` the degree that is inferred of it if the parameters below 1 are 0, that is iff
``h(u) >= 1 - e``: the margin is ``1 - max {h(u) : u not the winner}``.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import cached_on_owner
from pinesy._common.validation import FloatArray
from pinesy.engine.evidence import Evidence
from pinesy.explanations.counterfactuals.decision import Decision, is_coherent, output_of
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute


def margin(
    rules: Cascade | RuleSet, evidence: Evidence, output: str | Attribute | None = None
) -> Any:
    """Return how far all input degrees may move before the decision can change.

    While every degree of every input moves by less than the margin (and inputs stay normalised)
    the same value remains the only winner. For coherent rules (see `is_coherent`) it is exact:
    moves of just the margin can make another value as possible, and it is infinite if no inputs
    can. Else it is a bound: half of the difference between the two highest degrees.
    A tie has margin 0.

    Parameters
    ----------
    rules : Cascade or RuleSet
    evidence : one sample or a batch, as `Cascade.infer` takes it
    output : the attribute that is decided on, by default the only output of the cascade

    Returns
    -------
    float, or an array (n_samples,) for a batch

    Examples
    --------
    >>> from pinesy import antipignistic
    >>> from pinesy.problems import addition
    >>> sees = {"a_1": antipignistic({3: 0.8, 8: 0.2}), "a_2": antipignistic({4: 0.9, 9: 0.1})}
    >>> margin(addition(1), sees, "y_1")
    0.6
    """
    cascade = as_cascade(rules)
    attribute = output_of(cascade, output)
    result = cascade.infer(evidence, [attribute])[attribute.name]
    degrees = np.atleast_2d(result.degrees)
    if is_coherent(cascade, attribute):
        hard = _hardened(cascade)
        reached = np.atleast_2d(hard.infer(evidence, [attribute])[attribute.name].degrees)
        found = _distance_to_one(reached, _reachable(hard, attribute)[None, :], degrees)
    else:
        found = _half_the_gap(degrees)
    return found if result.is_batch else float(found[0])


def input_margins(
    rules: Cascade | RuleSet, evidence: Evidence, output: str | Attribute | None = None
) -> dict[str, float]:
    """Return for each input how far its degrees alone may move, the most delicate input first.

    As `margin`, for one sample, while all other inputs stay as they are: no entry is below the
    margin of the sample. Infinite where that input alone cannot change the decision.

    Examples
    --------
    >>> from pinesy import antipignistic
    >>> from pinesy.problems import addition
    >>> sees = {"a_1": antipignistic({3: 0.8, 8: 0.2}), "a_2": antipignistic({4: 0.9, 9: 0.1})}
    >>> input_margins(addition(1), sees, "y_1")
    {'a_1': 0.6, 'a_2': 0.8}
    """
    decision = Decision.of(rules, evidence, output)
    degrees = decision.result.degrees[None, :]
    names = [a.name for a in decision.program.inputs]
    if decision.coherent:
        found = _alone(decision, degrees)
    else:
        found = np.repeat(_half_the_gap(degrees), len(names))
    order = np.argsort(found, kind="stable")
    return {names[i]: float(found[i]) for i in order}


def _alone(decision: Decision, degrees: FloatArray) -> FloatArray:
    """One row for each input: its own degrees, of the others only those that are 1 already."""
    hard = _hardened(decision.cascade)
    certain = (decision.row == 1.0).astype(np.float64)
    rows = np.repeat(certain[None, :], len(decision.program.inputs), axis=0)
    free = rows.copy()
    for i, span in enumerate(decision.slices.values()):
        rows[i, span] = decision.row[span]
        free[i, span] = 1.0
    name = decision.output.name
    program = hard.compile([name])
    reached, most = (np.asarray(program.infer(r)[name].degrees) for r in (rows, free))
    return _distance_to_one(reached, most == 1.0, np.repeat(degrees, len(rows), axis=0))


@cached_on_owner
def _hardened(cascade: Cascade) -> Cascade:
    """Return the rules with parameters below 1 set to 0."""
    return cascade.with_parameters(
        {s.output.name: (np.floor(s.s), np.floor(s.r)) for s in cascade.rule_sets}
    )


def _reachable(hard: Cascade, output: Attribute) -> npt.NDArray[np.bool_]:
    """Tell which values reach 1 for some inputs: those that do where all is possible."""
    program = hard.compile([output])
    ones = np.ones(program.code.n_inputs)
    return np.asarray(program.infer(ones)[output.name].degrees == 1.0)


def _distance_to_one(
    reached: FloatArray, reachable: npt.NDArray[np.bool_], degrees: FloatArray
) -> FloatArray:
    """Return how far the nearest of the other values is from 1: 0 in a tie, inf if none can."""
    distance = np.where(reachable, 1.0 - reached, np.inf)
    distance[np.arange(len(degrees)), degrees.argmax(axis=1)] = np.inf
    nearest: FloatArray = distance.min(axis=1)
    return nearest


def _half_the_gap(degrees: FloatArray) -> FloatArray:
    """Return half of the highest degree less the second; infinite where there is no second."""
    if degrees.shape[1] == 1:
        return np.full(len(degrees), np.inf)
    second, first = np.partition(degrees, -2, axis=1)[:, -2:].T
    return np.asarray((first - second) / 2)
