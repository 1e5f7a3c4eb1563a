"""Why a value did not win, and the smallest change of the inputs by which it would."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np

from pinesy._common.validation import FloatArray, check_degree, check_integer
from pinesy.engine.evidence import Evidence
from pinesy.exceptions import DataError, DegreeError, UnreachableError
from pinesy.explanations.counterfactuals.decision import (
    Decision,
    Measure,
    Readings,
    ReadingSearch,
)
from pinesy.explanations.counterfactuals.restraints import (
    MAX_RESTRAINTS,
    SHOWN,
    LimitingDegree,
    Restraint,
    first_few,
    obstacle,
    restraints_on,
)
from pinesy.explanations.labels import number_text, number_texts
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import format_name, show_value
from pinesy.transforms import antipignistic_inverse


@dataclass(frozen=True, eq=False, repr=False)
class Change:
    """A change of input distributions by which a value becomes the only winner.

    Attributes
    ----------
    attribute, value : the output and the value that wins after the change
    winners : the values that won before
    readings : for each changed input, the value that it is read as
    old, new : the distributions of all inputs that the output depends on, before and after
    size : the largest change of any degree (or probability, as `measure` says)
    measure : ``"possibility"`` or ``"probability"``
    exact : whether no smaller change of this kind makes the value win; where it is False the
        search was given up before that was known
    result : what is inferred of the output after the change
    """

    attribute: Attribute
    value: Hashable
    winners: tuple[Hashable, ...]
    readings: dict[str, Hashable]
    old: dict[str, Possibility]
    new: dict[str, Possibility]
    size: float
    measure: Measure
    exact: bool
    result: Possibility

    @cached_property
    def probabilities(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        """For each changed input its probabilities before and after.

        The inverse of the antipignistic transformation: what the network would have to say.
        """
        return {
            name: (_probabilities(self.old[name]), _probabilities(self.new[name]))
            for name in self.readings
        }

    @property
    def probability_size(self) -> float:
        """The largest change of any probability (see `probabilities`)."""
        pairs = self.probabilities.values()
        return max((float(np.abs(new - old).max()) for old, new in pairs), default=0.0)

    def __str__(self) -> str:
        parts = [self._part(name, value) for name, value in self.readings.items()]
        kind = "" if self.exact else " (there may be a smaller change)"
        wins = f"{format_name(self.attribute.name)} would be {show_value(self.value)}"
        return f"if {' and '.join(parts)}, {wins}{kind}"

    def _part(self, name: str, value: Hashable) -> str:
        old = self.old[name].to_dict()
        highest = max(old.values())
        others = [show_value(v) for v, d in old.items() if d == highest and v != value]
        rather = f" rather than {' or '.join(first_few(others, 'values'))}" if others else ""
        degrees = self._degrees(name, value)
        return f"{format_name(name)} were read as {show_value(value)}{rather} ({degrees})"

    def _degrees(self, name: str, value: Hashable) -> str:
        """Return how the value rises; where it was at 1 already, how the others fall."""
        old, new = self.old[name].to_dict(), self.new[name].to_dict()
        if old[value] < 1.0:
            return f"possibility {_arrow(old[value], new[value])}"
        fallen = sorted((u for u in old if new[u] < old[u]), key=lambda u: -old[u])
        texts = [f"of {show_value(u)}: {_arrow(old[u], new[u])}" for u in fallen]
        return f"possibility {', '.join(first_few(texts, 'values'))}"

    def __repr__(self) -> str:
        return f"Change(size {number_text(self.size)}: {self})"


def _arrow(old: float, new: float) -> str:
    return " -> ".join(number_texts(old, new))


def _probabilities(pi: Possibility) -> FloatArray:
    return antipignistic_inverse(pi.degrees)


def smallest_change(
    rules: Cascade | RuleSet,
    evidence: Evidence,
    value: Hashable,
    output: str | Attribute | None = None,
    *,
    clearance: float = 0.1,
    measure: Measure = "possibility",
    effort: int = 10_000,
) -> Change:
    """Return the smallest change of the inputs that makes a value the only winner.

    The kind of change: some inputs are *read* as a value. An input read as `v` has
    ``pi'(v) = 1`` and ``pi'(u) = min(pi(u), 1 - clearance)`` for all others; the rest of the
    inputs stay as they are. The size of a change is the largest ``|pi'(u) - pi(u)|`` of any input.
    Of all changes of this kind that make the value the only one of highest possibility, one of
    least size is returned, and in it no input is changed without need: any one changed back, the
    value does not win.

    Parameters
    ----------
    rules : Cascade or RuleSet
    evidence : one sample, as `Cascade.infer` takes it
    value : the value that should win
    output : the attribute it belongs to, by default the only output of the cascade
    clearance : above 0, at most 1: how clearly a changed input is read
    measure : ``"probability"`` to let the size be the largest change of any probability, under
        the inverse of the antipignistic transformation: what a network would have to say
    effort : the rows that may be inferred at each size before the search goes on to a larger one;
        then the change is not `exact`

    Raises
    ------
    DomainError : the value is not in the domain, or wins already
    UnreachableError : no readings of this clearance make it win (the message says why, and whether
        another clearance may do), or none were found within `effort`

    Notes
    -----
    Branch and bound: inferred degrees rise with those of the inputs, so one inference bounds all
    readings that are still open. On tree-shaped coherent rules such as Addition it does not go
    back, and takes one inference for each input.

    Examples
    --------
    >>> from pinesy import antipignistic
    >>> from pinesy.problems import addition
    >>> sees = {"a_1": antipignistic({3: 0.8, 8: 0.2}), "a_2": antipignistic({4: 0.9, 9: 0.1})}
    >>> print(smallest_change(addition(1), sees, 2, "y_1"))
    if a_1 were read as 8 rather than 3 (possibility 0.4 -> 1), y_1 would be 2
    """
    decision = Decision.of(rules, evidence, output)
    return change_to(decision, decision.loser(value), clearance, measure, effort)


def change_to(
    decision: Decision, place: int, clearance: float, measure: Measure, effort: int
) -> Change:
    """Return the smallest change that makes the value at `place` the only winner."""
    readings = _readings(decision, clearance, measure)
    effort = check_integer(effort, "effort", least=1, error=DataError)
    search = ReadingSearch(decision, place, readings, effort)
    choice, exact = search.run()
    if choice is None:
        raise _unreachable(search, exact, clearance)
    row = search.row(choice)
    chosen = {readings[i].attribute.name: (readings[i], k) for i, k in choice.items()}
    return Change(
        decision.output,
        decision.output.domain[place],
        decision.winners,
        {name: one.values[k] for name, (one, k) in chosen.items()},
        decision.distributions(decision.row),
        decision.distributions(row),
        float(max(one.costs[k] for one, k in chosen.values())),
        measure,
        exact,
        decision.program.infer(row)[decision.output.name],
    )


def _readings(decision: Decision, clearance: float, measure: Measure) -> tuple[Readings, ...]:
    clear = check_degree(clearance, "clearance")
    if clear == 0.0:
        raise DegreeError("clearance is 0; an input is read as a value only if it is above 0")
    if measure not in get_args(Measure):
        raise DataError(f"measure is {measure!r}; choose 'possibility' or 'probability'")
    return tuple(
        Readings.of(a, decision.row[decision.slices[a.name]], clear, measure)
        for a in decision.program.inputs
    )


def _unreachable(search: ReadingSearch, proven: bool, clearance: float) -> UnreachableError:
    decision = search.decision
    value = show_value(decision.output.domain[search.place])
    shown = f"{format_name(decision.output.name)} = {value}"
    if proven:
        why = obstacle(decision, search.place, clearance)
        return UnreachableError(f"no readings make {shown} the only winner: {why}")
    return UnreachableError(
        f"no readings were found that make {shown} the only winner within "
        f"effort={search.effort}; raise it",
        proven=False,
    )


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
    clearance: float = 0.1,
    measure: Measure = "possibility",
    effort: int = 10_000,
) -> WhyNot:
    """Return which rules hold a value down that did not win, and the smallest change that would do.

    ``pi*(u) = min_j (max(s_j, lambda_j) if u in Q_j else max(r_j, rho_j))``: the rules that attain
    this min hold `u` down, by the degree of their premise or by their parameter. Where the premise
    is on an inferred attribute, the values that set its degree are held down in turn.

    Parameters
    ----------
    rules : Cascade or RuleSet
    evidence : one sample, as `Cascade.infer` takes it
    value, output, clearance, measure, effort : as for `smallest_change`

    Examples
    --------
    >>> from pinesy import antipignistic
    >>> from pinesy.problems import addition
    >>> sees = {"a_1": antipignistic({3: 0.8, 8: 0.2}), "a_2": antipignistic({4: 0.9, 9: 0.1})}
    >>> print(why_not(addition(1), sees, 2, "y_1"))  # doctest: +ELLIPSIS
    y_1 = 2 has possibility 0.4; the highest is 1, of 7
      y_1 = 2 is held at 0.4 by rule 3 (if c_1 where (a_1 + a_2) % 10 == 2 then y_1 in {2}): ...
      a_1 = 8 has possibility 0.4
    if a_1 were read as 8 rather than 3 (possibility 0.4 -> 1), y_1 would be 2
    """
    decision = Decision.of(rules, evidence, output)
    place = decision.loser(value)
    restraints, cut = restraints_on(decision, place)
    change, obstacle = None, ""
    try:
        change = change_to(decision, place, clearance, measure, effort)
    except UnreachableError as error:
        obstacle = str(error)
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
        change,
        obstacle,
    )
