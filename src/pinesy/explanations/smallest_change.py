"""The smallest change of the inputs by which another value would win."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from pinesy._common.console import progress
from pinesy._common.markup import bar, first_lines, folded, lines_of
from pinesy._common.validation import FloatArray
from pinesy.evidence.evidence_form import Evidence
from pinesy.exceptions import UnreachableError
from pinesy.explanations.change_search import (
    Alternatives,
    ChangeSearch,
    Choice,
    ReadingSearch,
    SearchEffort,
)
from pinesy.explanations.decision import Decision, first_few
from pinesy.explanations.fewest_search import FewestSearch
from pinesy.explanations.input_changes import ChangeRequest, Measure, Mode, Replacement
from pinesy.explanations.json_form import plain_value
from pinesy.explanations.labels import number_text, number_texts
from pinesy.explanations.restraints import obstacle
from pinesy.explanations.sample import inferred
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import equation_text, format_name, show_value
from pinesy.rules.views import distribution_html
from pinesy.samples import degrees_by_name
from pinesy.transforms import antipignistic_inverse


@dataclass(frozen=True, eq=False, repr=False)
class Change:
    """A change of input distributions by which a value becomes the only winner.

    If any change does, the value is fully possible after it, and no rules contradict each other.

    Attributes
    ----------
    attribute, value : the output and the value that wins after the change
    winners : the values that won before
    readings : for each changed input, the value that it is read as, or has instead
    old, new : the distributions of all inputs that the output depends on, before and after
    size : the largest change of any degree (or probability, as `measure` says); of a `ValueChange`
        the sum of the distances
    measure : ``"possibility"``, ``"probability"`` or, of a `ValueChange`, ``"distance"``
    mode : ``"smallest"``, ``"fewest"`` or ``"values"``
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
    measure: Measure | Literal["distance"]
    mode: Mode
    exact: bool
    result: Possibility

    @property
    def decides(self) -> bool:
        """Whether the value is decided on after the change, without a contradiction.

        If not, no such change was found: none exists where `exact` is True.
        """
        return bool(self.result.normalised)

    @cached_property
    def probabilities(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        """For each changed input its probabilities before and after.

        The inverse of the antipignistic transformation: what the network would have to say.
        """
        pairs = {name: (self.old[name], self.new[name]) for name in self.readings}
        return {
            name: (antipignistic_inverse(old.degrees), antipignistic_inverse(new.degrees))
            for name, (old, new) in pairs.items()
        }

    @property
    def probability_size(self) -> float:
        """The largest change of any probability (see `probabilities`)."""
        pairs = self.probabilities.values()
        return max((float(np.abs(new - old).max()) for old, new in pairs), default=0.0)

    def __str__(self) -> str:
        parts = [self._part(name) for name in self.readings]
        wins = f"{format_name(self.attribute.name)} would be {show_value(self.value)}"
        return f"if {' and '.join(parts)}, {wins}{self._reserve()}"

    def _reserve(self) -> str:
        """Return what the reader must not take for granted, in brackets."""
        smaller = "a smaller change" if self.mode == "smallest" else "a change of fewer inputs"
        notes = [] if self.exact else [f"there may be {smaller}"]
        if not self.decides:
            by = number_text(float(self.result.contradiction))
            none = "no change decides" if self.exact else "no change was found that decides"
            notes.insert(0, f"though the rules contradict each other then, by {by}; {none}")
        return f" ({'; '.join(notes)})" if notes else ""

    def _part(self, name: str) -> str:
        value, old, new = self.readings[name], self.old[name].to_dict(), self.new[name].to_dict()
        highest = max(old.values())
        others = [show_value(v) for v, d in old.items() if d == highest and v != value]
        rather = f" rather than {' or '.join(first_few(others, 'values'))}" if others else ""
        # How the value rises; where it was at 1 already, how the others fall.
        changes = [_arrow(old[value], new[value])]
        if old[value] == 1.0:
            fallen = sorted((u for u in old if new[u] < old[u]), key=lambda u: -old[u])
            changes = [f"of {show_value(u)}: {_arrow(old[u], new[u])}" for u in fallen]
        degrees = f"possibility {', '.join(first_few(changes, 'values'))}"
        return f"{format_name(name)} were read as {show_value(value)}{rather} ({degrees})"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data: ``old`` and ``new`` have the degrees of changed inputs."""
        return {
            "mode": self.mode,
            "readings": {n: plain_value(v) for n, v in self.readings.items()},
            "size": self.size,
            "exact": self.exact,
            "old": {n: degrees_by_name(self.old[n]) for n in self.readings},
            "new": {n: degrees_by_name(self.new[n]) for n in self.readings},
            "text": str(self),
        }

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size {number_text(self.size)}: {self})"

    def _repr_html_(self) -> str:
        """Return the change in words, the degrees that change, and what follows."""
        lines = [
            line
            for name in self.readings
            for line in _changed(name, self.old[name], self.new[name])
        ]
        head = ["input", "value", "possible now", "", "then", ""]
        then = folded("what is inferred then", distribution_html(self.result))
        return lines_of(str(self)) + first_lines(head, lines, len(lines), "degrees") + then


def _changed(name: str, old: Possibility, new: Possibility) -> Iterator[list[str]]:
    """Yield a line for each value whose degree changes."""
    for i in np.flatnonzero(old.degrees != new.degrees).tolist():
        before, after = float(old.degrees[i]), float(new.degrees[i])
        one, other = number_texts(before, after)
        value = show_value(old.attribute.domain[i])
        yield [name, value, one, bar(before), other, bar(after)]


def _arrow(old: float, new: float) -> str:
    return " -> ".join(number_texts(old, new))


@dataclass(frozen=True, eq=False, repr=False)
class ValueChange(Change):
    """A change of the values of inputs by which a value of the output becomes the only winner.

    Attributes
    ----------
    replacements : for each changed input, what it was and what it has to be
    """

    replacements: dict[str, Replacement]

    @property
    def values(self) -> dict[str, Any]:
        """For each changed input a value that will do, the nearest number: evidence as it is."""
        return {name: one.value for name, one in self.replacements.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, with what each input is ``now`` and has to be as ``inputs``."""
        return super().to_dict() | {
            "inputs": {n: r.to_dict() for n, r in self.replacements.items()}
        }

    def _part(self, name: str) -> str:
        return str(self.replacements[name])


def smallest_change(
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
) -> Change:
    """Return the smallest change of the inputs that makes a value the only winner.

    The only winner is the only value of highest possibility. What a change is:

    ``"smallest"``
        some inputs are *read* as a value. An input read as `v` has ``pi'(v) = 1`` and
        ``pi'(u) = min(pi(u), 1 - clearance)`` for all others. The size of a change is the largest
        ``|pi'(u) - pi(u)|`` of any input; one of least size is returned.
    ``"fewest"``
        the same kind; one of the fewest inputs is returned and, of these, of least size.
    ``"values"``
        some inputs have other values, in the units of the data: numbers, or values of the domain.
        One of the fewest inputs and, of these, with the least sum of distances is returned, as a
        `ValueChange`. The distance of numbers is the way to the nearest that will do as a share of
        the range that the cuts and the number now span, of other values 1; between equal sums the
        number of cuts crossed decides.

    All other inputs stay as they are, and no input is changed without need: any one changed back,
    the value does not win.

    A change after which the value is fully possible, and no rules contradict each other, is
    preferred to any other. If there is none, the value is only the most possible one after the
    change: `Change.decides` is False, and the text says so.

    Parameters
    ----------
    rules : Cascade or RuleSet
    evidence : one sample, as `Cascade.infer` takes it
    value : the value that should win
    output : the attribute it belongs to, by default the only output of the cascade
    mode : by default ``"values"`` where every input is given as a plain value (or None) and neither
        `clearance` nor `measure` is, else ``"smallest"``
    change : the inputs that may change, by default all
    keep : the inputs that may not; give this or `change`
    clearance : of readings, above 0, at most 1: how clearly a changed input is read; 0.1 by default
    measure : of readings, ``"probability"`` to let the size be the largest change of any
        probability, under the inverse of the antipignistic transformation: what a network would
        have to say
    effort : the rows that may be inferred in all before the search is given up; then the change,
        if one was found, is not `exact`. By default 200,000 or, where the fewest inputs are
        searched, 1,000,000; of large rule bases fewer, so that ``rows * instructions`` of the
        program stay below 10^9 (some seconds). Changes of more than three inputs are known to be
        of the fewest if their combinations are at most a twentieth of it. If the search is
        interrupted, the best change so far is returned

    Raises
    ------
    DomainError : the value is not in the domain, or wins already
    UnreachableError : no change of this kind makes it win (the message says why, and whether
        that is known for this clearance only), or none was found within `effort`

    Examples
    --------
    >>> from pinesy import antipignistic, parse
    >>> from pinesy.problems import addition
    >>> sees = {"a_1": antipignistic({3: 0.8, 8: 0.2}), "a_2": antipignistic({4: 0.9, 9: 0.1})}
    >>> print(smallest_change(addition(1), sees, 2, "y_1"))
    if a_1 were read as 8 rather than 3 (possibility 0.4 -> 1), y_1 would be 2
    >>> rules = parse("number glucose attribute risk in {low, high} "
    ...     "if glucose < 126 then risk in {low} if glucose >= 126 then risk in {high}")
    >>> print(smallest_change(rules, {"glucose": 140}, "low"))
    if glucose were below 126 (now 140), risk would be low
    """
    decision = Decision.of(rules, evidence, output)
    place = decision.loser(value)
    request = ChangeRequest.of(decision, mode, change, keep, clearance, measure, effort)
    return change_to(decision, place, request)


def change_to(decision: Decision, place: int, request: ChangeRequest) -> Change:
    """Return the smallest change that makes the value at `place` the only winner."""
    inputs = request.alternatives(decision)
    with progress("searching the smallest change", request.rows) as bar:
        # Where rules may contradict each other, half is left for a change that does not decide.
        reserve = 0 if decision.always_normalised else request.rows // 2
        effort = SearchEffort(request.rows - reserve, bar)
        search = _search(decision, place, inputs, effort, request.mode, decides=True)
        choice, exact = search.run()
        if choice is None and not decision.always_normalised:
            effort = SearchEffort(effort.left + reserve, bar)
            search = _search(decision, place, inputs, effort, request.mode, decides=False)
            choice, complete = search.run()
            exact = exact and complete
    if choice is None:
        raise _unreachable(decision, place, request, exact)
    return _change(search, request, choice, exact)


def _search(
    decision: Decision,
    place: int,
    inputs: tuple[Alternatives, ...],
    effort: SearchEffort,
    mode: Mode,
    decides: bool,
) -> FewestSearch | ReadingSearch:
    """Return the search of a mode."""
    if mode == "smallest":
        return ReadingSearch(decision, place, inputs, effort, decides=decides)
    total: Literal["sum", "max"] = "sum" if mode == "values" else "max"
    return FewestSearch(decision, place, inputs, effort, total, decides=decides)


def _change(search: ChangeSearch, request: ChangeRequest, choice: Choice, exact: bool) -> Change:
    """Return what was chosen as a change."""
    decision, by_value = search.decision, request.mode == "values"
    chosen = [(search.inputs[i], k) for i, k in sorted(choice.items())]
    values = {one.attribute.name: one.values[k] for one, k in chosen}
    costs = [float(one.costs[k]) for one, k in chosen]
    old = decision.distributions()
    new = old | {
        one.attribute.name: Possibility(one.attribute, one.degrees[k]) for one, k in chosen
    }
    found = Change(
        decision.output,
        decision.output.domain[search.place],
        decision.winners,
        {name: new[name].best_values[0] for name in values} if by_value else values,
        old,
        new,
        sum(costs) if by_value else max(costs),
        "distance" if by_value else request.measure,
        request.mode,
        exact,
        inferred(decision.program, search.row(choice), decision.output),
    )
    return ValueChange(**vars(found), replacements=values) if by_value else found


def _unreachable(
    decision: Decision, place: int, request: ChangeRequest, proven: bool
) -> UnreachableError:
    """Return the error that says why no change makes a value win, or that none was found."""
    shown = equation_text(decision.output.name, decision.output.domain[place])
    what = "values" if request.mode == "values" else "readings"
    if len(request.free) < len(decision.program.inputs):
        what += f" of {' and '.join(first_few(request.free, 'inputs'))}"
    if proven:
        clearance = None if request.mode == "values" else request.clearance
        why = obstacle(decision, place, clearance, request.free)
        return UnreachableError(f"no {what} make {shown} the only winner: {why}")
    return UnreachableError(
        f"no {what} were found that make {shown} the only winner within effort={request.rows}; "
        "raise it",
        proven=False,
    )
