"""Why a target is not reached: the attributes, bounds and rules that clash."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.inverse.backpropagation.choosing import Choice
from pinesy.inverse.backpropagation.conflict import Conflict
from pinesy.inverse.backpropagation.passage import Results
from pinesy.inverse.backpropagation.premises import PremiseSystem
from pinesy.inverse.backpropagation.reversal import Bound, Reversal
from pinesy.rules.attributes import Proposition
from pinesy.rules.syntax.writer import show_value


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

    def holds(self, part: Proposition) -> float:
        """Return how possible a proposition is by the inputs that were found."""
        attribute = self.back.inferred.get(part.attribute.name, part.attribute)
        return _possibility(self.results.first(attribute), part)

    def targets_below(self, parts: Iterable[Proposition], degree: float) -> list[str]:
        """Return the targets that leave one of some propositions below a degree."""
        given = [p for p in parts if p.attribute.name in self.back.targets]
        low = [p for p in given if _possibility(self.target(p.attribute.name), p) < degree]
        return list(dict.fromkeys(p.attribute.name for p in low))

    def holders(self, name: str, values: Iterable[int]) -> list[tuple[str, int]]:
        """Return, for each value of an attribute, the first rule that bounds it most."""
        bounds = self.back.bounds.get(name, [])
        found = []
        for value in values:
            limits = [self._limit(bound, value) for bound in bounds]
            if limits and min(limits) < 1.0:
                bound = bounds[int(np.argmin(limits))]
                found.append((bound.output, bound.number))
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
            value = finding.back.sets[name].output.domain[
                int(np.argmax(system.partition.cell_of == cell))
            ]
            yield Conflict(
                "target",
                name,
                tuple(finding.back.clashing(name, j + 1) for j in _to_blame(system, cell)),
                system.distance,
                f"the target of {name!r} cannot be inferred from any premise degrees: its "
                f"distance from those that can be is {system.distance:g}; {show_value(value)} "
                f"cannot be below {system.reached[cell]:g}, the target is {system.target[cell]:g}",
            )


def _to_blame(system: PremiseSystem, cell: int) -> list[int]:
    """Return the rules whose own parameter alone keeps a cell above its target.

    If there are none, the premises do it, and these are the rules that leave it lowest.
    """
    signs, up, wanted = system.partition.signs[cell], system.greatest_solution, system.target[cell]
    parameters = np.where(signs, system.lambdas, system.rhos)
    uppers = np.where(signs, up[0::2], up[1::2])
    blamed = np.flatnonzero((parameters > wanted) & (uppers <= wanted))
    if not len(blamed):
        blamed = np.flatnonzero(np.maximum(parameters, uppers) == system.reached[cell])
    found: list[int] = blamed.tolist()
    return found


def _bounds(system: PremiseSystem) -> tuple[FloatArray, FloatArray]:
    """Return ``max(s, lambda_up)`` and ``max(r, rho_up)`` of the rules."""
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
                tuple(back.clashing(*key) for key in clash),
                1.0 - float(pi.max()),
                f"the rules leave no value of {attribute.name!r} possible at 1 (at most "
                f"{pi.max():g}): their bounds (F^up) cannot all be kept; other inputs may still "
                "give the target",
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
    parts = [p if side == 0 else ~p for p in finding.back.sets[name].rules[j].premise.propositions]
    low = [p for p in parts if finding.holds(p) < wanted]
    targets = finding.targets_below(low, wanted)
    others = dict.fromkeys(
        key for p in low for key in finding.holders(p.attribute.name, _places(p))
    )
    others.pop((name, j + 1), None)
    who = [f"the target of {given!r}" for given in targets] + ["other rules"] * bool(others)
    leaves = "leaves" if len(who) == len(targets) == 1 else "leave"
    text = f"{' and '.join(who)} {leaves}" if who else "the inputs that were found leave"
    what = "its premise" if side == 0 else "the negation of its premise"
    return Conflict(
        "targets" if targets else "lower",
        name,
        tuple(finding.back.clashing(*key) for key in ((name, j + 1), *others)),
        wanted - float(have),
        f"rule {j + 1} on {name!r} needs {what} possible at {wanted:g}; {text} {have:g}",
    )


def _upper(finding: Finding) -> Iterator[Conflict]:
    """Yield the premise degrees that stay above their bounds, but for what `_reach` tells."""
    back = finding.back
    for name, system in finding.used.items():
        premises = finding.results.premises(back.inferred[name])
        for side, (degrees, bounds) in enumerate(zip(premises, _bounds(system), strict=True)):
            for j in np.flatnonzero(degrees[0] > bounds).tolist():
                parts = back.sets[name].rules[j].premise.propositions
                given = [p.attribute.name for p in parts if p.attribute.name in back.targets]
                if given or (side == 0 and (name, j + 1) in back.choices):
                    yield _too_high(finding, name, j, given, float(bounds[j]), degrees[0, j].item())


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
    rules = (finding.back.clashing(name, j + 1),)
    return Conflict(kind, name, rules, have - upper, f"rule {j + 1} on {name!r} {text}")


def _reach(finding: Finding) -> Iterator[Conflict]:
    """Yield the attributes on the way that come out higher than their targets.

    Where the rules on an attribute could give its target, what is behind them is to blame, and is
    told of instead.
    """
    back = finding.back
    for attribute in back.between:
        name = attribute.name
        wanted, have, system = finding.target(name), finding.inferred(name), finding.used[name]
        reached = system.reached
        own = reached[system.partition.cell_of] > wanted  # no rule need tell values apart
        above = np.where(own, have - wanted, 0.0)
        worst = int(np.argmax(above))
        if above[worst] > 0.0:
            asks = finding.holders(name, [worst])
            rules = dict.fromkeys([*asks, *_leaving(finding, name, worst)])
            cell = int(system.partition.cell_of[worst])
            yield Conflict(
                "reach",
                name,
                tuple(back.clashing(*key) for key in rules),
                float(above[worst]),
                f"the greatest inputs give {show_value(attribute.domain[worst])} of {name!r} "
                f"possibility {have[worst]:g}, more than its target {wanted[worst]:g}; "
                f"{_way_out(name, bool(reached[cell] == system.target[cell]))}",
            )


def _leaving(finding: Finding, name: str, value: int) -> list[tuple[str, int]]:
    """Return the rules that conclude on a value and leave it no more possible than all do."""
    system = finding.used[name]
    signs = system.partition.signs[system.partition.cell_of[value]]
    lambdas = finding.results.premises(finding.back.inferred[name])[0][0]
    sides = np.maximum(system.lambdas, lambdas)
    tied = np.flatnonzero(signs & (sides == finding.inferred(name)[value]))
    return [(name, j + 1) for j in tied.tolist()]


def _way_out(name: str, cell_is_reached: bool) -> str:
    if cell_is_reached:
        return f"no rule on {name!r} tells it from values whose target is higher"
    return (
        "more specific inputs may give it: belief in the actual inputs chooses some, see "
        "pinesy.condition (--belief)"
    )


def _places(part: Proposition) -> list[int]:
    return [i for i in range(len(part.attribute.domain)) if part.mask >> i & 1]


def _possibility(pi: FloatArray, part: Proposition) -> float:
    return float(pi[_places(part)].max(initial=0.0))
