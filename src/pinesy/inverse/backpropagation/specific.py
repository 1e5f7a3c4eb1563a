"""The most specific targets: degrees lowered one by one as far as the target output allows."""

from collections.abc import Iterable, Mapping

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.exceptions import DegreeError
from pinesy.inverse.backpropagation.premises import cells_of
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet

Arrays = Mapping[str, FloatArray]


def check_parameters(sets: Iterable[RuleSet]) -> None:
    """Raise `DegreeError` where a parameter is 1: then ``F^down`` may have no normalised inputs."""
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
    parts = [cascade[name].partition for name in targets]
    wanted = np.concatenate(
        [cells_of(p, t[None, :])[0] for p, t in zip(parts, targets.values(), strict=True)]
    )
    names = [a.name for a in program.inputs]
    starts = dict(zip(names, np.cumsum([0] + [len(greatest[n]) for n in names]), strict=False))
    x = np.concatenate([greatest[name] for name in names])
    steps = np.unique(np.append(wanted, 0.0))

    def holds(rows: FloatArray) -> FloatArray:
        found = program.infer(rows)
        cells = [cells_of(p, found[n].degrees) for p, n in zip(parts, targets, strict=True)]
        return np.asarray((np.concatenate(cells, axis=1) >= wanted).all(axis=1))

    for name, place in _order(names, greatest, actual):
        here = slice(starts[name], starts[name] + len(greatest[name]))
        column = starts[name] + place
        x[column] = _least(x, here, column, steps, holds)
    return {n: x[starts[n] : starts[n] + len(greatest[n])] for n in names}


def _least(x: FloatArray, here: slice, column: int, steps: FloatArray, holds: object) -> float:
    """Return the least degree of one value with which the target is still inferred."""
    now = float(x[column])
    lower_steps = steps[steps < now]
    if (now == 1.0 and (x[here] == 1.0).sum() == 1) or not len(lower_steps):
        return now
    rows = np.repeat(x[None, :], len(lower_steps), axis=0)
    rows[:, column] = lower_steps
    good = holds(rows)  # type: ignore[operator]
    return float(lower_steps[np.argmax(good)]) if good.any() else now


def _order(names: list[str], greatest: Arrays, actual: Arrays | None) -> list[tuple[str, int]]:
    places = [(name, i) for name in names for i in reversed(range(len(greatest[name])))]
    if actual is None:
        return places
    return sorted(places, key=lambda p: float(actual[p[0]][p[1]]))
