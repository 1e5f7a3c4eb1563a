"""Why a target cannot be reached: the attributes, bounds and rules that clash."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from pinesy._validation import FloatArray
from pinesy.backpropagation.choosing import Choice
from pinesy.backpropagation.passage import Results
from pinesy.backpropagation.premises import PremiseSystem
from pinesy.backpropagation.reversal import Bound, Reversal
from pinesy.rules.writing import show_value

__all__ = ["Conflict", "find_conflicts"]

#: Rules and values that a message shows.
SHOWN = 4


@dataclass(frozen=True)
class Conflict:
    """Something that keeps a target from being reached.

    Attributes
    ----------
    kind : ``"target"``: no premise degrees at all give the target; ``"height"``: the rules leave
        no value of `attribute` at 1; ``"lower"``: a premise degree must be higher than the rules
        let it be; ``"reach"``: the rules before `attribute` give more than its target;
        ``"conjunction"``: no proposition that was tried lowers the premise of a rule;
        ``"targets"``: the targets of two attributes, one inferred from the other, contradict
    attribute : the name of the attribute that the conflict is on
    rules : the rules that clash: output attribute, number counted from 1, text
    distance : how far it is from what was asked
    message : all of it in words
    row : the sample, for a batch
    """

    kind: str
    attribute: str
    rules: tuple[tuple[str, int, str], ...]
    distance: float
    message: str
    row: int | None = None

    def at(self, row: int) -> "Conflict":
        """Return the conflict as one of a sample of a batch."""
        return replace(self, row=row)

    def __str__(self) -> str:
        where = "" if self.row is None else f"row {self.row}: "
        lines = [f"  rule {number} on {output}: {text}" for output, number, text in self.rules]
        more = [f"  and {len(lines) - SHOWN} more rules"] * (len(lines) > SHOWN)
        return "\n".join([f"{where}{self.message}", *lines[:SHOWN], *more])


@dataclass(frozen=True)
class Finding:
    """One sample, run with everything kept."""

    back: Reversal
    systems: Mapping[str, PremiseSystem]
    used: Mapping[str, PremiseSystem]
    results: Results
    choice: Choice

    def target(self, name: str) -> FloatArray:
        """Return the distribution that bounds are taken from."""
        return self.results.first(self.back.sources[name])

    def inferred(self, name: str) -> FloatArray:
        """Return what the inputs that were found give."""
        return self.results.first(self.back.inferred[name])

    def holders(self, name: str, values: Iterable[int]) -> list[Bound]:
        """Return, for each value of an attribute, the first rule that bounds it most."""
        bounds = self.back.bounds.get(name, [])
        found = []
        for value in values:
            limits = [self._limit(bound, value) for bound in bounds]
            if limits and min(limits) < 1.0:
                found.append(bounds[int(np.argmin(limits))])
        return list(dict.fromkeys(found))

    def _limit(self, bound: Bound, value: int) -> float:
        uppers = self.used[bound.output].greatest_solution
        chosen = self.choice.get((bound.output, bound.number))
        is_chosen = (
            chosen is not None
            and self.back.choices[bound.output, bound.number][chosen] is bound
        )  # fmt: skip
        place = 2 * (bound.number - 1)
        return bound.at_most(value, uppers[place], uppers[place + 1], is_chosen)


def find_conflicts(finding: Finding) -> list[Conflict]:
    """Return the conflicts of one sample, those that come first on the way back first."""
    found = [*_targets(finding), *_heights(finding)]
    if not any(c.kind == "height" for c in found):
        found += [*_lower(finding), *_upper(finding), *_reach(finding)]
    return found


def _targets(finding: Finding) -> Iterator[Conflict]:
    """Yield the targets that no premise degrees give."""
    for name in finding.back.targets:
        system = finding.systems[name]
        if not system.is_consistent:
            cell = int(np.argmax(system.reached - system.target))
            sides = np.where(system.partition.signs[cell], *_sides(system))
            value = finding.back.sets[name].output.domain[
                int(np.argmax(system.partition.cell_of == cell))
            ]
            yield Conflict(
                "target",
                name,
                (_rule(finding.back, name, int(np.argmin(sides)) + 1),),
                system.distance,
                f"the target of {name!r} cannot be inferred from any premise degrees: its "
                f"distance from those that can be is {system.distance:g}; {show_value(value)} "
                f"cannot be below {system.reached[cell]:g}, the target is {system.target[cell]:g}",
            )


def _sides(system: PremiseSystem) -> tuple[FloatArray, FloatArray]:
    up = system.greatest_solution
    return np.maximum(system.lambdas, up[0::2]), np.maximum(system.rhos, up[1::2])


def _heights(finding: Finding) -> Iterator[Conflict]:
    """Yield the attributes that the rules leave without a value at 1."""
    back = finding.back
    for attribute in (*back.between, *back.inputs):
        pi = finding.results.degrees(attribute)[0]
        if pi.max() < 1.0:
            clash = finding.holders(attribute.name, range(len(pi)))
            yield Conflict(
                "height",
                attribute.name,
                tuple(_rule(back, b.output, b.number) for b in clash),
                1.0 - float(pi.max()),
                f"the rules leave no value of {attribute.name!r} possible at 1 (at most "
                f"{pi.max():g}): their conditions contradict each other",
            )


def _lower(finding: Finding) -> Iterator[Conflict]:
    """Yield the premise degrees that stay below ``F^down``."""
    back = finding.back
    for name, system in finding.used.items():
        lowest = system.lowest_solution
        for side, degrees in enumerate(finding.results.premises(back.inferred[name])):
            for j in np.flatnonzero(degrees[0] < lowest[side::2]).tolist():
                yield _too_low(finding, name, j, side, float(lowest[2 * j + side]), degrees[0, j])


def _too_low(
    finding: Finding, name: str, j: int, side: int, wanted: float, have: float
) -> Conflict:
    rule = finding.back.sets[name].rules[j]
    holders = []
    for part in rule.premise.propositions:
        mask = part.mask if side == 0 else part.complement.mask
        size = len(part.attribute.domain)
        holders += finding.holders(part.attribute.name, [i for i in range(size) if mask >> i & 1])
    rules = dict.fromkeys([(name, j + 1), *((b.output, b.number) for b in holders)])
    what = "its premise" if side == 0 else "the negation of its premise"
    return Conflict(
        "lower",
        name,
        tuple(_rule(finding.back, *key) for key in rules),
        wanted - float(have),
        f"rule {j + 1} on {name!r} needs {what} possible at {wanted:g}; other rules leave {have:g}",
    )


def _upper(finding: Finding) -> Iterator[Conflict]:
    """Yield the premise degrees that stay above ``F^up``, but for what `_reach` tells."""
    back = finding.back
    for name, system in finding.used.items():
        uppers = system.greatest_solution
        for side, degrees in enumerate(finding.results.premises(back.inferred[name])):
            for j in np.flatnonzero(degrees[0] > uppers[side::2]).tolist():
                parts = back.sets[name].rules[j].premise.propositions
                given = [p.attribute.name for p in parts if p.attribute.name in back.targets]
                if given or (side == 0 and (name, j + 1) in back.choices):
                    upper = float(uppers[2 * j + side])
                    yield _too_high(finding, name, j, given, upper, float(degrees[0, j]))


def _too_high(
    finding: Finding, name: str, j: int, given: list[str], upper: float, have: float
) -> Conflict:
    if given:
        kind = "targets"
        text = f"allows {upper:g}, but the target of {given[0]!r} makes it {have:g}"
    else:
        kind = "conjunction"
        text = (
            f"needs one proposition of its premise possible at most at {upper:g}, and no choice "
            f"that was tried reaches the target (it is {have:g})"
        )
    rules = (_rule(finding.back, name, j + 1),)
    return Conflict(kind, name, rules, have - upper, f"rule {j + 1} on {name!r} {text}")


def _reach(finding: Finding) -> Iterator[Conflict]:
    """Yield the attributes on the way that come out higher than their targets."""
    back = finding.back
    for attribute in back.between:
        name = attribute.name
        wanted, have = finding.target(name), finding.inferred(name)
        worst = int(np.argmax(have - wanted))  # by value: no rule need tell two values apart
        if have[worst] > wanted[worst]:
            yield Conflict(
                "reach",
                name,
                (),
                float(have[worst] - wanted[worst]),
                f"the rules on {name!r} cannot give its target: "
                f"{show_value(attribute.domain[worst])} gets {have[worst]:g}, not "
                f"{wanted[worst]:g} (distance of its equations "
                f"{finding.systems[name].distance:g}); no distributions of the inputs, each on its "
                "own, say this: belief in the actual inputs can choose among them",
            )


def _rule(back: Reversal, name: str, number: int) -> tuple[str, int, str]:
    return name, number, str(back.sets[name].rules[number - 1])
