"""A decision, and the cheapest readings of its inputs that make another value win.

The search is branch and bound on the inputs: inferred degrees rise with the degrees of the inputs.
So what is inferred from the envelope of all readings that are still open is above what any of them
gives, and where the value does not reach the top there, none of them makes it win.

It goes depth first, and an input stays as it is before it is read as anything. So no change that is
found is without need: with one taken back it would have been found before.
"""

from bisect import bisect_left
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray
from pinesy.engine.evidence import Evidence
from pinesy.engine.program import Program
from pinesy.exceptions import DomainError, UnknownAttributeError
from pinesy.explanations.explain import only_output
from pinesy.explanations.sample import BoolArray, one_row
from pinesy.inverse.factor_graph import factor_graph
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value
from pinesy.transforms import antipignistic_inverse

#: What the size of a change counts.
Measure = Literal["possibility", "probability"]
#: For each input, the place of the way chosen among its readings; those left out stay.
Choice = dict[int, int]
#: How many inputs are decided, whether the value wins, the envelope of what is open, the choice.
_Branch = tuple[int, bool, FloatArray, Choice]


def output_of(cascade: Cascade, output: str | Attribute | None) -> Attribute:
    """Return the attribute that is decided on: by default the only output of the cascade."""
    if output is None:
        return only_output(cascade, "say which by output=")
    found = cascade[output].output
    if isinstance(output, Attribute) and output != found:
        raise UnknownAttributeError(f"the rules conclude on {found!r}, not on {output!r}")
    return found


def is_coherent(rules: Cascade | RuleSet, output: str | Attribute | None = None) -> bool:
    """Tell whether the rules behind an output are known to be coherent for all inputs.

    Then for all normalised inputs some value of it has possibility 1. It holds if each rule set
    leaves some value at 1 for every choice of crisp inputs; False where one does not, or where
    there are too many cases to look at.

    Examples
    --------
    >>> from pinesy.problems import addition
    >>> is_coherent(addition(2), "y_1")
    True
    """
    cascade = as_cascade(rules)
    return _is_coherent(cascade, output_of(cascade, output).name)


def _is_coherent(cascade: Cascade, name: str) -> bool:
    behind = cascade.needed([name])
    return factor_graph(cascade).coherent.issuperset([s.output.name for s in behind])


@dataclass(frozen=True, eq=False)
class Decision:
    """What is inferred of an output attribute for one sample.

    Attributes
    ----------
    cascade, output : where the decision is taken
    program : infers the output alone
    row : the columns of the program's inputs, side by side
    """

    cascade: Cascade
    output: Attribute
    program: Program
    row: FloatArray

    @classmethod
    def of(
        cls, rules: Cascade | RuleSet, evidence: Evidence, output: str | Attribute | None
    ) -> "Decision":
        """Check the form of the evidence of one sample; inference checks the degrees."""
        cascade = as_cascade(rules)
        attribute = output_of(cascade, output)
        program = cascade.compile([attribute])
        return cls(cascade, attribute, program, one_row(cascade, evidence, program.inputs))

    @cached_property
    def slices(self) -> dict[str, slice]:
        """The columns of each input."""
        return column_slices(self.program.inputs)

    @cached_property
    def result(self) -> Possibility:
        """The distribution that is inferred."""
        return self.program.infer(self.row)[self.output.name]

    @cached_property
    def coherent(self) -> bool:
        """Whether some value always reaches 1, so that a value wins if all others stay below."""
        return _is_coherent(self.cascade, self.output.name)

    @cached_property
    def winners(self) -> tuple[Hashable, ...]:
        """The values of the highest degree."""
        degrees = self.result.degrees
        places = np.flatnonzero(degrees == degrees.max())
        return tuple(self.output.domain[i] for i in places)

    def infer(self, rows: FloatArray) -> FloatArray:
        """Return the degrees of the output for other inputs: (n, columns) to (n, |D|)."""
        return self.program.run(rows)[self.program.code.columns[self.output.name]].T

    def distributions(self, row: FloatArray) -> dict[str, Possibility]:
        """Return the input distributions of a row of columns."""
        return {
            a.name: Possibility(a, row[self.slices[a.name]].copy()) for a in self.program.inputs
        }

    def loser(self, value: Any) -> int:
        """Return the place of a value that is not the only winner, or raise `DomainError`."""
        place = self.output.position(value)
        if self.winners == (value,):
            raise DomainError(
                f"{self.output.name} = {show_value(value)} wins already; ask of another value"
            )
        return place


def read_as(degrees: FloatArray, place: int, clearance: float) -> FloatArray:
    """Return the distribution with one value at 1 and all others at ``1 - clearance`` at most.

    Examples
    --------
    >>> read_as(np.array([1.0, 0.3, 0.95]), 1, 0.25).tolist()
    [0.75, 1.0, 0.75]
    """
    changed = np.minimum(degrees, 1.0 - clearance)
    changed[place] = 1.0
    return changed


@dataclass(frozen=True, eq=False)
class Readings:
    """What may become of one input: it stays as it is (the first), or is read as a value.

    Attributes
    ----------
    attribute : Attribute
    costs : array (k,), rising: the largest change of a degree or probability; 0 for the first
    degrees : array (k, |D|), the distributions
    values : the value that each is read as; None for the first
    """

    attribute: Attribute
    costs: FloatArray
    degrees: FloatArray
    values: tuple[Hashable | None, ...]

    @classmethod
    def of(
        cls, attribute: Attribute, degrees: FloatArray, clearance: float, measure: Measure
    ) -> "Readings":
        """List the readings of an input from the cheapest on, none that changes nothing."""
        ways: list[tuple[float, FloatArray, Hashable | None]] = [(0.0, degrees, None)]
        for place, value in enumerate(attribute.domain):
            changed = read_as(degrees, place, clearance)
            if not np.array_equal(changed, degrees):
                ways.append((_cost(degrees, changed, measure), changed, value))
        ways.sort(key=lambda way: way[0])
        costs, rows, values = zip(*ways, strict=True)
        return cls(attribute, np.array(costs), np.array(rows), values)

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
        stack: list[_Branch] = [(0, False, self._envelope(size), {})]
        spent = 0
        while stack:
            depth, wins, row, choice = stack.pop()
            if wins:
                return choice, True
            if depth == len(order):
                continue
            spent += counts[order[depth]]
            if spent > self.effort:
                return None, False
            stack += self._children(
                order[depth], counts, depth == len(order) - 1, depth, row, choice
            )
        return None, True

    def _children(
        self, i: int, counts: list[int], last: bool, depth: int, row: FloatArray, choice: Choice
    ) -> list[_Branch]:
        """Return the nodes in which input `i` is decided, the cheapest last."""
        rows = np.repeat(row[None, :], counts[i], axis=0)
        readings = self.readings[i]
        rows[:, self.decision.slices[readings.attribute.name]] = readings.degrees[: counts[i]]
        degrees = self.decision.infer(rows)
        open_, wins = self._open(degrees), self._wins(degrees)
        if not (self.decision.coherent or last):
            wins[:] = False
        return [
            (depth + 1, bool(wins[k]), rows[k], {**choice, i: k})
            for k in reversed(range(counts[i]))
            if open_[k]
        ]

    def row(self, choice: Choice) -> FloatArray:
        """Return the inputs changed as chosen."""
        row = self.decision.row.copy()
        for i, k in choice.items():
            readings = self.readings[i]
            row[self.decision.slices[readings.attribute.name]] = readings.degrees[k]
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
