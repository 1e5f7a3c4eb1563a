"""The smallest change of the inputs by which another value would win.

The search is branch and bound on the inputs: inferred degrees rise with the degrees of the inputs.
So what is inferred from the envelope of all readings that are still open is above what any of them
gives, and where the value does not reach the top there, none of them makes it win.

It goes depth first, and an input stays as it is before it is read as anything. So no change that is
found is without need: with one taken back it would have been found before. On tree-shaped coherent
rules such as Addition it does not go back, and takes one inference for each input.
"""

from bisect import bisect_left
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from pinesy._common.validation import FloatArray, check_degree, check_integer
from pinesy.engine.evidence import Evidence
from pinesy.exceptions import DataError, DegreeError, UnreachableError
from pinesy.explanations.decision import Decision, first_few, obstacle
from pinesy.explanations.labels import number_text, number_texts
from pinesy.explanations.sample import BoolArray
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import format_name, show_value
from pinesy.transforms import antipignistic_inverse

#: What the size of a change counts.
Measure = Literal["possibility", "probability"]
#: For each input, the place of the way chosen among its readings; those left out stay.
Choice = dict[int, int]
#: Whether the value wins, the envelope of what is open, and the choice of the inputs decided.
_Branch = tuple[bool, FloatArray, Choice]


@dataclass(frozen=True, eq=False)
class Readings:
    """What may become of one input: it stays as it is (the first), or is read as a value.

    Attributes
    ----------
    attribute, columns : the input, and its columns in a row of all inputs
    costs : array (k,), rising: the largest change of a degree or probability; 0 for the first
    degrees : array (k, |D|), the distributions
    values : the value that each is read as; None for the first
    """

    attribute: Attribute
    columns: slice
    costs: FloatArray
    degrees: FloatArray
    values: tuple[Hashable | None, ...]

    @classmethod
    def of(
        cls, attribute: Attribute, decision: Decision, clearance: float, measure: Measure
    ) -> "Readings":
        """List the readings of an input from the cheapest on, none that changes nothing."""
        columns = decision.plan.slices[attribute.name]
        degrees = decision.row[columns]
        ways: list[tuple[float, FloatArray, Hashable | None]] = [(0.0, degrees, None)]
        for place, value in enumerate(attribute.domain):
            changed = np.minimum(degrees, 1.0 - clearance)
            changed[place] = 1.0
            if not np.array_equal(changed, degrees):
                ways.append((_cost(degrees, changed, measure), changed, value))
        ways.sort(key=lambda way: way[0])
        costs, rows, values = zip(*ways, strict=True)
        return cls(attribute, columns, np.array(costs), np.array(rows), values)

    def within(self, size: float) -> FloatArray:
        """Return the distributions that cost at most `size`."""
        return self.degrees[: np.searchsorted(self.costs, size, side="right")]


def _cost(old: FloatArray, new: FloatArray, measure: Measure) -> float:
    """Return the largest change, of a degree or of a probability."""
    if measure == "probability":
        old, new = antipignistic_inverse(old), antipignistic_inverse(new)
    return float(np.abs(new - old).max())


@dataclass(frozen=True, eq=False)
class ReadingSearch:
    """The search for the cheapest change that makes the value at `place` the only winner.

    Attributes
    ----------
    decision : Decision
    place : the value's place in the domain of the output
    readings : the ways to change each input
    effort : how many rows may be inferred before it is given up
    """

    decision: Decision
    place: int
    readings: tuple[Readings, ...]
    effort: int

    def run(self) -> tuple[Choice | None, bool]:
        """Try sizes from the least possible on; the first that has a solution is the smallest.

        Return the choice (or None), and whether nothing cheaper can be (or nothing at all).
        """
        sizes = np.unique(np.concatenate([r.costs for r in self.readings]))
        # The first whose envelope does not exclude the value: all after it do not either.
        at, step, exact = bisect_left(sizes, True, key=self._is_open), 1, True
        while at < len(sizes):
            choice, complete = self._within(float(sizes[at]))
            if choice is not None:
                return {i: k for i, k in choice.items() if k > 0}, exact
            if not complete:  # too hard: larger sizes have more solutions
                exact, step = False, 2 * step
            last = at == len(sizes) - 1
            at = len(sizes) if last else min(at + step, len(sizes) - 1)
        return None, exact

    def _is_open(self, size: float) -> bool:
        """Tell whether the envelope of the readings up to a size does not exclude the value."""
        return bool(self._open(self.decision.infer(self._envelope(size)[None, :]))[0])

    def _within(self, size: float) -> tuple[Choice | None, bool]:
        """Return readings of at most a size that make the value win, and whether all were tried."""
        counts = [len(r.within(size)) for r in self.readings]
        order = sorted((i for i, c in enumerate(counts) if c > 1), key=lambda i: counts[i])
        # The sample as it is lies in the envelope, and there the value does not win.
        stack: list[_Branch] = [(False, self._envelope(size), {})]
        spent = 0
        while stack:
            wins, row, choice = stack.pop()
            if wins:
                return choice, True
            if len(choice) == len(order):
                continue
            i = order[len(choice)]
            spent += counts[i]
            if spent > self.effort:
                return None, False
            rows = np.repeat(row[None, :], counts[i], axis=0)
            rows[:, self.readings[i].columns] = self.readings[i].degrees[: counts[i]]
            degrees = self.decision.infer(rows)
            is_last = len(choice) == len(order) - 1
            winning = self._wins(degrees) & (self.decision.coherent or is_last)
            possible = np.flatnonzero(self._open(degrees))[::-1]  # the cheapest last
            stack += [(bool(winning[k]), rows[k], {**choice, i: k}) for k in possible.tolist()]
        return None, True

    def row(self, choice: Choice) -> FloatArray:
        """Return the inputs changed as chosen."""
        row = self.decision.row.copy()
        for i, k in choice.items():
            row[self.readings[i].columns] = self.readings[i].degrees[k]
        return row

    def _envelope(self, size: float) -> FloatArray:
        """Return the largest degree of each value among the readings that cost at most `size`."""
        return np.concatenate([r.within(size).max(axis=0) for r in self.readings])

    def _open(self, degrees: FloatArray) -> BoolArray:
        """Tell where the value may still win: a winner of coherent rules has possibility 1."""
        own = degrees[:, self.place]
        return np.asarray(own == 1.0 if self.decision.coherent else own > 0.0)

    def _wins(self, degrees: FloatArray) -> BoolArray:
        """Tell where it wins, for coherent rules whatever becomes of the inputs still open."""
        others = np.delete(degrees, self.place, axis=1).max(axis=1, initial=-1.0)
        return np.asarray(others < (1.0 if self.decision.coherent else degrees[:, self.place]))


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
    value = decision.output.domain[place]
    if choice is None:
        shown = f"{format_name(decision.output.name)} = {show_value(value)}"
        if exact:
            why = obstacle(decision, place, clearance)
            raise UnreachableError(f"no readings make {shown} the only winner: {why}")
        raise UnreachableError(
            f"no readings were found that make {shown} the only winner within effort={effort}; "
            "raise it",
            proven=False,
        )
    row = search.row(choice)
    chosen = {readings[i].attribute.name: (readings[i], k) for i, k in choice.items()}
    return Change(
        decision.output,
        value,
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
        Readings.of(attribute, decision, clear, measure) for attribute in decision.program.inputs
    )
