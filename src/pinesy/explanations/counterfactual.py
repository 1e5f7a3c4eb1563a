"""Counterfactuals: why a value did not win, and how far the decision is from changing.

Margins: how far the degrees of the inputs may move before a decision can change.

Min and max are non-expansive: if no input degree moves by more than `e`, no inferred degree does.
So a winner that is `g` above the second stays the winner while moves are below ``g / 2``, and for
some longer: see `safe_moves`.

Of coherent rules it is known exactly. There some value always has possibility 1, so the winner can
only be joined or beaten if another value reaches 1; and degrees rise with those of the inputs, so
the best try with moves of `e` raises every input degree by `e`. Another value `u` reaches 1 iff it
does so where the degrees from ``1 - e`` on are taken as 1 and all below, parameters below 1 too, as
0. With ``h(u)`` the degree that is inferred of it if the parameters below 1 are 0, that is iff
``h(u) >= 1 - e``: the margin is ``1 - max {h(u) : u not the winner}``.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinesy._common.caching import cached_on_owner
from pinesy._common.console import WorkStopped
from pinesy._common.markup import folded, lines_of
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.engine.evidence import Evidence
from pinesy.exceptions import UnreachableError
from pinesy.explanations.alternatives import ChangeRequest, Measure, Mode
from pinesy.explanations.decision import (
    MAX_RESTRAINTS,
    SHOWN,
    Decision,
    LimitingDegree,
    Restraint,
    first_few,
    is_coherent,
    output_of,
    restraints_on,
)
from pinesy.explanations.labels import number_texts
from pinesy.explanations.safe_moves import safe_moves
from pinesy.explanations.sample import SamplePlan, plan_for
from pinesy.explanations.smallest_change import Change, change_to
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.cascade_evidence import evidence_rows
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import format_name, show_value
from pinesy.rules.views import distribution_html


@dataclass(frozen=True, eq=False, repr=False)
class WhyNot:
    """Why a value is not the only winner.

    Attributes
    ----------
    attribute, value, degree : the output, the value, its possibility
    winners : the values of the highest possibility
    result : what is inferred of the output
    restraints : the rules that hold the value down; first those on the output itself, then, down
        the cascade, those that hold the values of inferred attributes that matter there
    bottlenecks : the degrees of inputs that hold it down through these rules
    cut : whether the search went no further down the cascade after 1000 rules: then there may be
        more `restraints` and `bottlenecks` than these
    change : the smallest change of the inputs by which it would win, or None
    obstacle : why there is no change, else an empty text
    """

    attribute: Attribute
    value: Hashable
    degree: float
    winners: tuple[Hashable, ...]
    result: Possibility
    restraints: tuple[Restraint, ...]
    bottlenecks: tuple[LimitingDegree, ...]
    cut: bool
    change: Change | None
    obstacle: str

    @property
    def rules(self) -> tuple[Restraint, ...]:
        """The rules on the output itself that hold the value down: they attain its degree."""
        return tuple(r for r in self.restraints if r.attribute == self.attribute)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        name = format_name(self.attribute.name)
        tops = " and ".join(first_few([show_value(v) for v in self.winners], "values"))
        own, top = number_texts(self.degree, float(self.result.degrees.max()))
        yield (
            f"{name} = {show_value(self.value)} has possibility {own}; "
            f"the highest is {top}, of {tops}"
        )
        yield from _some(self.rules)
        yield from _some(self.bottlenecks)
        if self.cut:
            yield f"  and perhaps others: the search was cut after {MAX_RESTRAINTS} rules"
        yield str(self.change) if self.change else self.obstacle

    def __repr__(self) -> str:
        number = f"{len(self.restraints)} rules" + ", cut" * self.cut
        return f"WhyNot({self.attribute.name} = {show_value(self.value)}: {number})"

    def _repr_html_(self) -> str:
        """Return what holds the value down, and what is inferred; the change to unfold."""
        text = lines_of(str(self)) + distribution_html(self.result)
        return text + (folded("the change", self.change._repr_html_()) if self.change else "")


def _some(things: Sequence[object]) -> Iterator[str]:
    yield from (f"  {thing}" for thing in things[:SHOWN])
    if len(things) > SHOWN:
        yield f"  and {len(things) - SHOWN} more"


def why_not(
    rules: Cascade | RuleSet,
    evidence: Evidence,
    value: Hashable,
    output: str | Attribute | None = None,
    *,
    mode: Mode | None = None,
    change: Sequence[str | Attribute] | None = None,
    keep: Sequence[str | Attribute] | None = None,
    clearance: float | None = None,
    measure: Measure | None = None,
    effort: int | None = None,
) -> WhyNot:
    """Return which rules hold a value down that did not win, and the smallest change that would do.

    ``pi*(u) = min_j (max(s_j, lambda_j) if u in Q_j else max(r_j, rho_j))``: the rules that attain
    this min hold `u` down, by the degree of their premise or by their parameter. Where the premise
    is on an inferred attribute, the values that set its degree are held down in turn.

    Parameters
    ----------
    rules : Cascade or RuleSet
    evidence : one sample, as `Cascade.infer` takes it
    value, output, mode, change, keep, clearance, measure, effort : as for `smallest_change`

    Examples
    --------
    >>> from pinesy import antipignistic
    >>> from pinesy.problems import addition
    >>> sees = {"a_1": antipignistic({3: 0.8, 8: 0.2}), "a_2": antipignistic({4: 0.9, 9: 0.1})}
    >>> print(why_not(addition(1), sees, 2, "y_1"))  # doctest: +ELLIPSIS
    y_1 = 2 has possibility 0.4; the highest is 1, of 7
      y_1 = 2 is held at 0.4 by rule 3 (iff c_1 where (a_1 + a_2) % 10 == 2 then y_1 in {2}): ...
      a_1 = 8 has possibility 0.4
    if a_1 were read as 8 rather than 3 (possibility 0.4 -> 1), y_1 would be 2
    """
    decision = Decision.of(rules, evidence, output)
    place = decision.loser(value)
    restraints, cut = restraints_on(decision, place)
    request = ChangeRequest(mode, change, keep, clearance, measure, effort)
    found, obstacle = None, ""
    try:
        found = change_to(decision, place, request)
    except UnreachableError as error:
        obstacle = str(error)
    except WorkStopped:  # what holds the value down is an answer
        obstacle = "the search for the smallest change was stopped before it found one"
    inputs = {a.name for a in decision.program.inputs}
    reasons = (reason for restraint in restraints for reason in restraint.reasons)
    return WhyNot(
        decision.output,
        decision.output.domain[place],
        float(decision.result.degrees[place]),
        decision.winners,
        decision.result,
        tuple(restraints),
        tuple(dict.fromkeys(r for r in reasons if r.attribute.name in inputs)),
        cut,
        found,
        obstacle,
    )


def margin(
    rules: Cascade | RuleSet, evidence: Evidence, output: str | Attribute | None = None
) -> Any:
    """Return how far all input degrees may move before the decision can change.

    While every degree of every input moves by less than the margin (and inputs stay normalised)
    the same value remains the only winner. For coherent rules (see `is_coherent`) it is exact:
    moves of just the margin can make another value as possible, and it is infinite if no inputs
    can. Else it is a bound, at least half of the difference between the two highest degrees: larger
    moves may do no harm either. On random small rule bases it was exact in 92 % of cases, and 97 %
    of what is exact on average (docs/changes.md). A tie has margin 0.

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
        rows = evidence_rows(cascade, evidence, cascade.compile([attribute]).inputs)
        x = rows.block(0, rows.n)
        found = _safe_moves(plan_for(cascade, attribute), x, np.ones(x.shape, dtype=bool), degrees)
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
        rows = np.repeat(decision.row[None, :], len(names), axis=0)
        own = np.zeros(rows.shape, dtype=bool)
        for i, span in enumerate(decision.plan.slices.values()):
            own[i, span] = True
        found = _safe_moves(decision.plan, rows, own, np.repeat(degrees, len(names), axis=0))
    order = np.argsort(found, kind="stable")
    return {names[i]: float(found[i]) for i in order}


def _alone(decision: Decision, degrees: FloatArray) -> FloatArray:
    """One row for each input: its own degrees, of the others only those that are 1 already."""
    hard = _hardened(decision.plan.cascade)
    certain = (decision.row == 1.0).astype(np.float64)
    rows = np.repeat(certain[None, :], len(decision.program.inputs), axis=0)
    free = rows.copy()
    for i, span in enumerate(decision.plan.slices.values()):
        rows[i, span] = decision.row[span]
        free[i, span] = 1.0
    name = decision.output.name
    program = hard.compile([name])
    reached, most = (np.asarray(program.infer(r)[name].degrees) for r in (rows, free))
    return _distance_to_one(reached, most == 1.0, np.repeat(degrees, len(rows), axis=0))


@cached_on_owner
def _hardened(cascade: Cascade) -> Cascade:
    """Return the rules with parameters below 1 set to 0."""
    own = [s for s in cascade.rule_sets if s.output.formula is None]  # formulas have none to set
    return cascade.with_parameters({s.output.name: (np.floor(s.s), np.floor(s.r)) for s in own})


def _reachable(hard: Cascade, output: Attribute) -> BoolArray:
    """Tell which values reach 1 for some inputs: those that do where all is possible."""
    program = hard.compile([output])
    ones = np.ones(program.code.n_inputs)
    return np.asarray(program.infer(ones)[output.name].degrees == 1.0)


def _distance_to_one(reached: FloatArray, reachable: BoolArray, degrees: FloatArray) -> FloatArray:
    """Return how far the nearest of the other values is from 1: 0 in a tie, inf if none can."""
    distance = np.where(reachable, 1.0 - reached, np.inf)
    distance[np.arange(len(degrees)), degrees.argmax(axis=1)] = np.inf
    nearest: FloatArray = distance.min(axis=1)
    return nearest


def _safe_moves(
    plan: SamplePlan, rows: FloatArray, free: BoolArray, degrees: FloatArray
) -> FloatArray:
    """Return how far inputs may move where rules may contradict each other: at least half a gap."""
    return np.maximum(safe_moves(plan, rows, free), _half_the_gap(degrees))


def _half_the_gap(degrees: FloatArray) -> FloatArray:
    """Return half of the highest degree less the second; infinite where there is no second."""
    if degrees.shape[1] == 1:
        return np.full(len(degrees), np.inf)
    second, first = np.partition(degrees, -2, axis=1)[:, -2:].T
    return np.asarray((first - second) / 2)
