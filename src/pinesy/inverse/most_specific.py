"""The most specific targets: degrees lowered one by one as far as the target output allows."""

from collections.abc import Callable, Iterable

import numpy as np

from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray
from pinesy.exceptions import DegreeError
from pinesy.inverse.backward_program import Arrays
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.possibility import BoolArray


def check_parameters(sets: Iterable[RuleSet]) -> None:
    """Raise `DegreeError` where a parameter is 1: ``F^down`` may have no normalised inputs.

    See the second item of [prop:SOLOMEGA].
    """
    wrong = [
        f"rule {number} on {rule_set.output.name!r} ({rule})"
        for rule_set in sets
        for number, rule in enumerate(rule_set.rules, 1)
        if max(rule.s, rule.r) == 1.0
    ]
    if wrong:
        shown = "; ".join(wrong[:4]) + f"; and {len(wrong) - 4} more" * (len(wrong) > 4)
        raise DegreeError(
            "the most specific targets need every parameter s and r below 1, but not so: "
            f"{shown}; leave these rules out or lower their parameters, or use the greatest targets"
        )


def lower(cascade: Cascade, greatest: Arrays, targets: Arrays, actual: Arrays | None) -> Arrays:
    """Return a minimal solution below the greatest one, for one sample; arrays are rows ``(D,)``.

    Values are taken in order: the least possible under the actual inputs first, else the last of
    each domain first. Inference grows with its inputs and copies degrees, so each value goes down
    to one of the targets' degrees, or to 0.
    """
    program = cascade.compile(list(targets))
    parts = {name: cascade[name].partition for name in targets}
    wanted = np.concatenate([parts[n].possibilities(degrees) for n, degrees in targets.items()])
    slices = column_slices(program.inputs)
    x = np.concatenate([greatest[name] for name in slices])
    steps = np.unique(np.append(wanted, 0.0))

    def reaches(rows: FloatArray) -> BoolArray:
        inferred = program.infer(rows)
        cells = [parts[n].possibilities(inferred[n].degrees) for n in targets]
        return np.asarray((np.concatenate(cells, axis=1) >= wanted).all(axis=1))

    for name, place in _order(list(slices), greatest, actual):
        x[slices[name].start + place] = _least(x, slices[name], place, steps, reaches)
    return {name: x[columns] for name, columns in slices.items()}


def _least(
    x: FloatArray,
    columns: slice,
    place: int,
    steps: FloatArray,
    reaches: Callable[[FloatArray], BoolArray],
) -> float:
    """Return the least degree of one value with which the target is still inferred."""
    pi, now = x[columns], float(x[columns][place])
    lower_steps = steps[steps < now]
    if (now == 1.0 and (pi == 1.0).sum() == 1) or not len(lower_steps):
        return now
    rows = np.repeat(x[None, :], len(lower_steps), axis=0)
    rows[:, columns.start + place] = lower_steps
    good = reaches(rows)
    return float(lower_steps[np.argmax(good)]) if good.any() else now


def _order(names: list[str], greatest: Arrays, actual: Arrays | None) -> list[tuple[str, int]]:
    places = [(name, i) for name in names for i in reversed(range(len(greatest[name])))]
    if actual is None:
        return places
    return sorted(places, key=lambda p: float(actual[p[0]][p[1]]))
