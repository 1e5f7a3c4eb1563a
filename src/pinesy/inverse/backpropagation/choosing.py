"""Conjunctions: which proposition carries the degree of a premise that must be lowered.

A premise is as possible as the least of its propositions, so to keep ``lambda_j`` below a bound
one of them must be. Choices are tried depth first, for many samples at a time: every sample asks
for the inputs that its next choices give, and one run of the program answers all.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.inverse.backpropagation.passage import Passage, Results
from pinesy.inverse.backpropagation.premises import cells_of
from pinesy.inverse.backpropagation.reversal import Bound

#: Samples that are searched at a time.
BLOCK = 64

RuleKey = tuple[str, int]
#: For each rule whose degree had to be lowered, the place of its proposition among the choices.
Choice = dict[RuleKey, int]


@dataclass(frozen=True)
class Answer:
    """What some choices give for one sample."""

    solved: bool
    is_possible: bool
    exceeding: list[RuleKey]


@dataclass(frozen=True)
class Chosen:
    """The outcome of a search: for each sample its choice (None if none was found)."""

    choices: list[Choice | None]
    exhausted: npt.NDArray[np.bool_]


Search = Generator[Choice, Answer, Choice | None]


def choose(
    passage: Passage,
    targets: Mapping[str, FloatArray],
    reached: Mapping[str, FloatArray],
    actual: Mapping[str, FloatArray] | None,
    limit: int,
) -> Chosen:
    """Search choices for every sample, at most `limit` for each."""
    n = len(next(iter(targets.values())))
    choices: list[Choice | None] = []
    exhausted = np.zeros(n, dtype=bool)
    for first in range(0, n, BLOCK):
        part = slice(first, first + BLOCK)
        here, open_ = _Block(passage, _rows(targets, part), _rows(reached, part)).search(
            _orders(passage, None if actual is None else _rows(actual, part)), limit
        )
        choices += here
        exhausted[part] = open_
    return Chosen(choices, exhausted)


def _rows(arrays: Mapping[str, FloatArray], part: slice) -> dict[str, FloatArray]:
    return {name: array[part] for name, array in arrays.items()}


def _orders(
    passage: Passage, actual: Mapping[str, FloatArray] | None
) -> Callable[[int, RuleKey], Sequence[int]]:
    """Return the order in which the propositions of a rule are tried for a sample.

    The least possible under the actual inputs first: lowering it changes least.
    """
    choices = passage.reversal.choices
    if actual is None:
        return lambda _row, key: range(len(choices[key]))
    trace = passage.reversal.cascade.compile(_used(passage)).infer(actual)
    ranks: dict[RuleKey, npt.NDArray[np.intp]] = {}

    def order(row: int, key: RuleKey) -> Sequence[int]:
        if key not in ranks:
            held = [
                trace[b.proposition.attribute.name].possibility(b.proposition) for b in choices[key]
            ]
            ranks[key] = np.argsort(np.array(held), axis=0, kind="stable")
        found: list[int] = ranks[key][:, row].tolist()
        return found

    return order


def _used(passage: Passage) -> list[str]:
    """Return the attributes that the choices are about."""
    bounds = [b for group in passage.reversal.choices.values() for b in group]
    return list(dict.fromkeys(b.proposition.attribute.name for b in bounds))


class _Block:
    """Some samples that are searched together."""

    def __init__(
        self,
        passage: Passage,
        targets: Mapping[str, FloatArray],
        reached: Mapping[str, FloatArray],
    ) -> None:
        self.passage, self.targets = passage, targets
        sets = passage.reversal.sets
        self.cells = {name: cells_of(sets[name].partition, reached[name]) for name in targets}
        switches = passage.reversal.switches
        self.place = {a.name: i for i, a in enumerate(switches)}

    def search(
        self, order: Callable[[int, RuleKey], Sequence[int]], limit: int
    ) -> tuple[list[Choice | None], list[bool]]:
        """Return the choice of each sample, and whether the limit ended its search."""
        n = len(next(iter(self.targets.values())))
        searches = [_explore({}, partial(order, row)) for row in range(n)]
        asked: dict[int, Choice] = {row: next(search) for row, search in enumerate(searches)}
        found: list[Choice | None] = [None] * n
        for _ in range(limit + 1):  # the first time nothing is chosen
            if not asked:
                break
            rows = list(asked)
            for row, answer in zip(rows, self.answers(rows, list(asked.values())), strict=True):
                try:
                    asked[row] = searches[row].send(answer)
                except StopIteration as end:
                    found[row] = end.value
                    del asked[row]
        return found, [row in asked for row in range(n)]

    def answers(self, rows: list[int], choices: list[Choice]) -> list[Answer]:
        """Run the program for some samples, each with its choices."""
        results = self.passage.choose(
            {name: array[rows] for name, array in self.targets.items()}, self.switches(choices)
        )
        sets, back = self.passage.reversal.sets, self.passage.reversal
        heights = [results.degrees(a).max(axis=1) for a in back.inputs]
        normal = np.min(heights, axis=0) == 1.0
        solved, possible = normal.copy(), normal.copy()
        for name, cells in self.cells.items():
            given = cells_of(sets[name].partition, results.degrees(back.inferred[name]))
            solved &= (given == cells[rows]).all(axis=1)
            possible &= (given >= cells[rows]).all(axis=1)
        above = exceeding(self.passage, upper_bounds(self.passage, results), results)
        return [
            Answer(bool(solved[i]), bool(possible[i]), [k for k, m in above.items() if m[i]])
            for i in range(len(rows))
        ]

    def switches(self, choices: Sequence[Choice]) -> FloatArray:
        """Return the switches that choices turn on, a row for each."""
        return switches_of(self.passage, choices, self.place)


def upper_bounds(passage: Passage, found: Results) -> dict[RuleKey, FloatArray]:
    """Return ``max(s, lambda_up)`` of each conjunction for each sample; the last rules first."""
    back = passage.reversal
    sources = back.sources
    bounds = {}
    for name, number in reversed(back.choices):
        rule = back.sets[name].rules[number - 1]
        mask = rule.conclusion.mask
        inside = [i for i in range(len(sources[name].domain)) if mask >> i & 1]
        bounds[name, number] = found.degrees(sources[name])[:, inside].max(axis=1, initial=rule.s)
    return bounds


def exceeding(
    passage: Passage, bounds: Mapping[RuleKey, FloatArray], inferred: Results
) -> dict[RuleKey, npt.NDArray[np.bool_]]:
    """Return for each conjunction the samples where ``lambda > max(s, lambda_up)``."""
    inside = passage.reversal.inferred
    lambdas = {name: inferred.premises(inside[name])[0] for name, _ in bounds}
    return {key: lambdas[key[0]][:, key[1] - 1] > bound for key, bound in bounds.items()}


def switches_of(
    passage: Passage, choices: Sequence[Choice], place: Mapping[str, int] | None = None
) -> FloatArray:
    """Return the switches that choices turn on, a row for each."""
    back = passage.reversal
    place = place or {a.name: i for i, a in enumerate(back.switches)}
    found = np.zeros((len(choices), len(back.switches)))
    for row, choice in enumerate(choices):
        for key, k in choice.items():
            found[row, place[_switch(back.choices[key][k])]] = 1.0
    return found


def _switch(bound: Bound) -> str:
    assert bound.switch is not None
    return bound.switch.name


def _explore(choice: Choice, order: Callable[[RuleKey], Sequence[int]]) -> Search:
    """Yield choices to be answered; return the first that is a solution, or None.

    More choices only lower degrees, so what is not possible with some is not with more.
    """
    answer = yield choice
    if answer.solved:
        return choice
    if not answer.is_possible:
        return None
    key = next((k for k in answer.exceeding if k not in choice), None)
    if key is not None:
        for k in order(key):
            found = yield from _explore({**choice, key: k}, order)
            if found is not None:
                return found
    return None
