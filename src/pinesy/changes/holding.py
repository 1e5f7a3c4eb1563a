"""Which rules hold a value down, and through them which degrees of the inputs."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from pinesy.changes.decisions import Decision, sets_behind
from pinesy.inference import Trace
from pinesy.rules.attribute import Attribute, Proposition
from pinesy.rules.rule import Rule
from pinesy.rules.writing import format_name, show_value

__all__ = ["Hold", "Reason", "held_down", "never"]

#: Where a rule is quoted, it is cut after this many characters.
LINE = 160
#: The most rules that are followed down a cascade.
MAX_HOLDS = 1000


@dataclass(frozen=True)
class Reason:
    """A degree that a bound comes from: that of a value, the highest where it matters."""

    attribute: Attribute
    value: Hashable
    degree: float

    def __str__(self) -> str:
        name = format_name(self.attribute.name)
        return f"{name} = {show_value(self.value)} has possibility {self.degree:.4g}"


@dataclass(frozen=True)
class Hold:
    """A rule that holds a value down: ``pi*(value) = degree`` is the bound that it sets.

    Attributes
    ----------
    attribute, value, degree : what is held down, and to what
    number : the number of the rule in its set, from 1
    rule : Rule
    by : ``"premise"`` if the bound is the degree ``lambda`` of the premise (for a value inside the
        conclusion) or ``rho`` of its negation (outside); ``"s"`` or ``"r"`` if it is that parameter
    reasons : for a premise, the values whose degrees set it: raise one of these (or, of a
        conjunction, one for each proposition), and the rule holds less
    """

    attribute: Attribute
    value: Hashable
    degree: float
    number: int
    rule: Rule
    by: str
    reasons: tuple[Reason, ...]

    def __str__(self) -> str:
        text = " ".join(str(self.rule).split())
        text = text if len(text) <= LINE else f"{text[:LINE]}..."
        inside = self.value in self.rule.conclusion.values
        premise = "its premise" if inside else "the negation of its premise"
        cause = (
            f"{premise} has possibility" if self.by == "premise" else f"its parameter {self.by} is"
        )
        what = f"{format_name(self.attribute.name)} = {show_value(self.value)}"
        held = f"{what} is held at {self.degree:.4g} by rule {self.number} ({text})"
        return f"{held}: {cause} {self.degree:.4g}"


class _Sample:
    """The distributions and premise degrees of one sample."""

    def __init__(self, decision: Decision) -> None:
        names = sets_behind(decision.cascade, decision.output)
        program = decision.cascade.compile(names, trace=True)
        inputs = decision.distributions(decision.row)
        trace = cast(Trace, program.infer(inputs))
        self.cascade = decision.cascade
        self.premises = trace.premises
        self.degrees = {name: pi.degrees for name, pi in (*inputs.items(), *trace.items())}

    def holds(self, attribute: Attribute, place: int) -> Iterator[Hold]:
        """Yield the rules that attain ``pi*(u) = min_j max(z_j, d_j)``, if it is below 1."""
        name = attribute.name
        degree = float(self.degrees[name][place])
        for j, rule in enumerate(self.cascade[name].rules if degree < 1.0 else ()):
            inside = bool(rule.conclusion.mask >> place & 1)
            premises = self.premises[name]
            d = float((premises.lambdas if inside else premises.rhos)[j])
            z, letter = (rule.s, "s") if inside else (rule.r, "r")
            if max(z, d) == degree:
                reasons = tuple(self._reasons(rule, inside, d)) if d == degree else ()
                by = "premise" if d == degree else letter
                yield Hold(attribute, attribute.domain[place], degree, j + 1, rule, by, reasons)

    def _reasons(self, rule: Rule, inside: bool, degree: float) -> Iterator[Reason]:
        """Yield the values that attain the degree: in ``P_j``, or outside for the negation."""
        for p in rule.premise.propositions:
            part = p if inside else p.complement
            degrees = self.degrees[p.attribute.name]
            places = _places(part)
            if float(degrees[places].max(initial=0.0)) == degree:
                for i in places[degrees[places] == degree].tolist():
                    yield Reason(p.attribute, p.attribute.domain[i], degree)


def _places(proposition: Proposition) -> "np.ndarray[tuple[int], np.dtype[np.intp]]":
    size = len(proposition.attribute.domain)
    return np.array([i for i in range(size) if proposition.mask >> i & 1], dtype=np.intp)


def held_down(decision: Decision, place: int) -> list[Hold]:
    """Return the rules that hold a value of the output down, then those behind them.

    Down the cascade: where a premise on an inferred attribute sets the bound, the rules that hold
    the values that matter there. At most `MAX_HOLDS` in all; a value is looked at once.
    """
    sample = _Sample(decision)
    waiting = [(decision.output, place)]
    seen = {(decision.output.name, place)}
    found: list[Hold] = []
    for attribute, at in waiting:  # grows on the way
        holds = list(sample.holds(attribute, at)) if attribute.name in sample.premises else []
        found += holds[: MAX_HOLDS - len(found)]
        for reason in (reason for hold in holds for reason in hold.reasons):
            key = (reason.attribute.name, reason.attribute.position(reason.value))
            if key not in seen and len(found) < MAX_HOLDS:
                seen.add(key)
                waiting.append((reason.attribute, key[1]))
    return found


def never(decision: Decision, place: int) -> str:
    """Say why no inputs make a value the only winner."""
    partition = decision.cascade[decision.output].partition
    same = np.flatnonzero(partition.cell_of == partition.cell_of[place])
    twins = [decision.output.domain[i] for i in same if i != place]
    if twins:
        return f"no rule tells it from {show_value(twins[0])}, which is always as possible"
    ignorant = replace(decision, row=np.ones_like(decision.row))
    holds = held_down(ignorant, place)
    own = [str(hold) for hold in holds if hold.attribute == decision.output]
    if own:
        return f"even if every value of every input were possible, {own[0]}"
    return "whatever the inputs are read as, another value is at least as possible"
