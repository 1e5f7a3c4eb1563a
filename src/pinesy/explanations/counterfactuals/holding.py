"""Which rules hold a value down, and through them which degrees of the inputs."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from pinesy.engine.program import Trace
from pinesy.explanations.counterfactuals.decisions import Decision
from pinesy.explanations.labels import Wording, number_text
from pinesy.rules.attributes import Attribute, Proposition
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.writer import format_name, show_value

#: Of more values or rules than this, a text says how many more there are.
SHOWN = 5
#: Where a rule is quoted, propositions are left out and counted until it is no longer than this.
LINE = 160
#: The most rules that are followed down a cascade.
MAX_HOLDS = 1000


def shortened(texts: Sequence[str], what: str) -> list[str]:
    """Return the first texts, and how many more there are.

    Examples
    --------
    >>> shortened(list("abcdefg"), "values")[-2:]
    ['e', '2 more values']
    """
    left = len(texts) - SHOWN
    return [*texts[:SHOWN], *([f"{left} more {what}"] if left > 0 else [])]


def rule_text(rule: Rule) -> str:
    """Return a rule in one line; what is left out of a long one is counted."""
    wording = Wording()
    number = len(rule.premise.propositions)
    texts = [wording.rule(rule, limit) for limit in range(min(number, SHOWN), 0, -1)]
    texts = [wording.rule(rule, None)] * (number > SHOWN) + texts
    short = next((text for text in texts if len(text) <= LINE), "")
    more = len(texts[-1]) - LINE
    return short or f"{texts[-1][:LINE]}... and {more} more characters"


@dataclass(frozen=True)
class Reason:
    """A degree that a bound comes from: that of a value, the highest where it matters."""

    attribute: Attribute
    value: Hashable
    degree: float

    def __str__(self) -> str:
        name = format_name(self.attribute.name)
        return f"{name} = {show_value(self.value)} has possibility {number_text(self.degree)}"


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
        inside = self.value in self.rule.conclusion.values
        premise = "its premise" if inside else "the negation of its premise"
        cause = (
            f"{premise} has possibility" if self.by == "premise" else f"its parameter {self.by} is"
        )
        what = f"{format_name(self.attribute.name)} = {show_value(self.value)}"
        degree = number_text(self.degree)
        held = f"{what} is held at {degree} by rule {self.number} ({rule_text(self.rule)})"
        return f"{held}: {cause} {degree}"


class _Sample:
    """The distributions and premise degrees of one sample."""

    def __init__(self, decision: Decision) -> None:
        names = [s.output.name for s in decision.cascade.needed([decision.output.name])]
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


def held_down(decision: Decision, place: int) -> tuple[list[Hold], bool]:
    """Return the rules that hold a value of the output down, then those behind them.

    Down the cascade: where a premise on an inferred attribute sets the bound, the rules that hold
    the values that matter there. A value is looked at once. At most `MAX_HOLDS` in all; also
    whether some were left out for that.
    """
    sample = _Sample(decision)
    waiting = [(decision.output, place)]
    seen = {(decision.output.name, place)}
    found: list[Hold] = []
    for attribute, at in waiting:  # grows on the way
        holds = list(sample.holds(attribute, at)) if attribute.name in sample.premises else []
        found += holds
        if len(found) > MAX_HOLDS:
            return found[:MAX_HOLDS], True
        for reason in (reason for hold in holds for reason in hold.reasons):
            key = (reason.attribute.name, reason.attribute.position(reason.value))
            if key not in seen:
                seen.add(key)
                waiting.append((reason.attribute, key[1]))
    return found, False
