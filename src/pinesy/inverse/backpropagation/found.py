"""What backpropagation found for a batch, in arrays with a row for each sample."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.inverse.backpropagation.choosing import (
    Choice,
    choose,
    exceeding,
    switches_of,
    upper_bounds,
)
from pinesy.inverse.backpropagation.conflicts import Finding
from pinesy.inverse.backpropagation.passage import Passage, Results
from pinesy.inverse.backpropagation.premises import PremiseSystem, cells_of, system_of
from pinesy.rules.possibility import BoolArray

Arrays = Mapping[str, FloatArray]


@dataclass(frozen=True)
class Actual:
    """The actual inputs, and what is inferred from them for the attributes with targets."""

    inputs: Arrays
    outputs: Arrays

    def pick(self, rows: slice) -> "Actual":
        """Return those of some samples."""
        return Actual(_pick(self.inputs, rows), _pick(self.outputs, rows))


@dataclass(frozen=True)
class Found:
    """The greatest target inputs of each sample, and what is inferred from them."""

    passage: Passage
    targets: Arrays
    inputs: Arrays
    actual: Actual | None
    exhausted: BoolArray
    #: The choices of propositions, for the samples that needed some.
    choices: Mapping[int, Choice] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.exhausted)

    def pick(self, row: int) -> "Found":
        """Return what was found for one sample."""
        rows = slice(row, row + 1)
        actual = None if self.actual is None else self.actual.pick(rows)
        choices = {0: self.choices[row]} if row in self.choices else {}
        return Found(
            self.passage,
            _pick(self.targets, rows),
            _pick(self.inputs, rows),
            actual,
            self.exhausted[rows],
            choices,
        )

    @cached_property
    def inferred(self) -> dict[str, FloatArray]:
        """What the inputs give, for each attribute with a target."""
        inferred = self.passage.reversal.inferred
        return {name: self._forth.degrees(inferred[name]) for name in self.targets}

    @cached_property
    def _forth(self) -> Results:
        return self.passage.forth(self.inputs, bool(self.normalised.all()))

    @cached_property
    def normalised(self) -> BoolArray:
        """Whether all inputs are normalised."""
        heights = [degrees.max(axis=1) for degrees in self.inputs.values()]
        return np.asarray(np.min(heights, axis=0) == 1.0)

    @cached_property
    def reproduced(self) -> BoolArray:
        """Whether the inputs are normalised and give the targets."""
        return self._give(self.targets)

    @cached_property
    def solved(self) -> BoolArray:
        """Whether the inputs are normalised and give the targets that can be reached."""
        if self.reproduced.all():
            return self.reproduced
        return self.reproduced | self._give(self.reached)

    def _give(self, targets: Arrays) -> BoolArray:
        good = self.normalised.copy()
        for name, degrees in targets.items():
            good &= (self._cells(name, self.inferred[name]) == self._cells(name, degrees)).all(1)
        return good

    @cached_property
    def reached(self) -> dict[str, FloatArray]:
        """``M box F^up`` of each target."""
        results = self.passage.reach(self.targets)
        return {n: results.degrees(a) for n, a in self.passage.reversal.reached.items()}

    def distance(self, inferred: Arrays) -> FloatArray:
        """Return the largest difference between the targets and what is inferred, of all cells."""
        gaps = [
            np.abs(self._cells(name, inferred[name]) - self._cells(name, degrees)).max(axis=1)
            for name, degrees in self.targets.items()
        ]
        return np.asarray(np.max(gaps, axis=0))

    def nabla(self, name: str) -> FloatArray:
        """Return the distance of the system ``O = M box X`` of a target, for each sample."""
        rule_set = self.passage.reversal.sets[name]
        cells = cells_of(rule_set.partition, self.targets[name])
        distinct, which = np.unique(cells, axis=0, return_inverse=True)
        systems = (PremiseSystem(rule_set.partition, rule_set.s, rule_set.r, y) for y in distinct)
        return np.array([system.distance for system in systems])[which.ravel()]

    def _cells(self, name: str, degrees: FloatArray) -> FloatArray:
        partition = self.passage.partitions[name]
        return degrees if len(partition) == degrees.shape[1] else cells_of(partition, degrees)

    def chosen(self, back: Results, limit: int) -> "Found":
        """Return the same with propositions chosen, where conjunctions keep from a solution."""
        rows = self._to_choose(back)
        if not len(rows):
            return self
        targets, reached = _pick(self.targets, rows), _pick(self.reached, rows)
        actual = None if self.actual is None else _pick(self.actual.inputs, rows)
        search = choose(self.passage, targets, reached, actual, limit)
        exhausted = self.exhausted.copy()
        exhausted[rows] = search.exhausted
        choices = {
            int(row): choice
            for row, choice in zip(rows, search.choices, strict=True)
            if choice is not None
        }
        return self._with(choices, exhausted)

    def _to_choose(self, back: Results) -> npt.NDArray[np.intp]:
        """Return the samples whose inputs are normalised and leave a conjunction too possible."""
        bounds = upper_bounds(self.passage, back)
        if all((bound == 1.0).all() for bound in bounds.values()):  # so that none can be exceeded
            return np.empty(0, dtype=np.intp)
        above = list(exceeding(self.passage, bounds, self._forth).values())
        return np.flatnonzero(np.any(above, axis=0) & self.normalised & ~self.solved)

    def _with(self, choices: Mapping[int, Choice], exhausted: BoolArray) -> "Found":
        """Put the inputs that choices give in the place of those that were found without."""
        if not choices:
            return replace(self, exhausted=exhausted)
        rows = list(choices)
        switches = switches_of(self.passage, list(choices.values()))
        results = self.passage.choose(_pick(self.targets, rows), switches)
        inputs = {name: degrees.copy() for name, degrees in self.inputs.items()}
        for a in self.passage.reversal.inputs:
            inputs[a.name][rows] = results.degrees(a)
        return replace(self, inputs=inputs, choices=choices, exhausted=exhausted)

    @cached_property
    def finding(self) -> Finding:
        """The first sample, with everything kept."""
        back, choice = self.passage.reversal, self.choices.get(0, {})
        one = _pick(self.targets, slice(0, 1))
        results = self.passage.choose(one, switches_of(self.passage, [choice]), full=True)
        sources = back.sources
        used = {n: system_of(s, results.first(sources[n])) for n, s in back.sets.items()}
        given = {n: system_of(back.sets[n], d[0]) for n, d in one.items()}
        return Finding(back, {**used, **given}, used, results, choice)


def find(passage: Passage, targets: Arrays, actual: Actual | None, limit: int) -> Found:
    """Find the greatest inputs of each sample, with at most `limit` choices where some are due."""
    back = passage.back(targets)
    inputs = {a.name: back.degrees(a) for a in passage.reversal.inputs}
    exhausted = np.zeros(len(next(iter(targets.values()))), dtype=bool)
    return Found(passage, targets, inputs, actual, exhausted).chosen(back, limit)


def _pick(arrays: Arrays, rows: slice | list[int] | npt.NDArray[np.intp]) -> dict[str, FloatArray]:
    return {name: array[rows] for name, array in arrays.items()}
