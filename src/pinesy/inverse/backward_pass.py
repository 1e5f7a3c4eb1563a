"""The backward pass of a batch: targets and target inputs, in arrays with a row for each sample."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.names import column_slices
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.engine.program import Inference, Trace
from pinesy.evidence.evidence_form import Evidence, evidence_rows
from pinesy.evidence.targets import Target, read_targets
from pinesy.exceptions import placed
from pinesy.inverse.choices import RuleChoice, choose_conjuncts, normalised, rows_of
from pinesy.inverse.conflicts import TracedSample, Verdict
from pinesy.inverse.reversal import Arrays, ConjunctChoice, Reversal, system_of
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility

#: The numbers of some samples.
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class ActualSample:
    """The actual inputs of a batch, and what is inferred from them for the target attributes."""

    inputs: Arrays
    outputs: Arrays


@dataclass(frozen=True)
class BackwardPass:
    """The greatest target inputs of each sample, and what is inferred from them.

    Attributes
    ----------
    back : the reversed rules, which find and check them
    targets, inputs : distributions by attribute name
    actual : the actual inputs, if they are known
    exhausted : whether the search was ended by its limit
    choices : the choices of conjuncts, for the samples that need some
    searched : whether all inputs of a rule set were sought that give the target, not only those
        within the bounds
    """

    back: Reversal
    targets: Arrays
    inputs: Arrays
    actual: ActualSample | None
    exhausted: BoolArray
    choices: Mapping[int, ConjunctChoice] = field(default_factory=dict)
    searched: bool = False

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.exhausted)

    def sample(self, row: int) -> "BackwardPass":
        """Return the pass of one sample."""
        rows, actual = slice(row, row + 1), self.actual
        if actual is not None:
            actual = ActualSample(rows_of(actual.inputs, rows), rows_of(actual.outputs, rows))
        choices = {0: self.choices[row]} if row in self.choices else {}
        targets, inputs = rows_of(self.targets, rows), rows_of(self.inputs, rows)
        return replace(
            self,
            targets=targets,
            inputs=inputs,
            actual=actual,
            exhausted=self.exhausted[rows],
            choices=choices,
        )

    @cached_property
    def inferred(self) -> dict[str, FloatArray]:
        """What the inputs give, for each attribute with a target."""
        return {name: self._forward.degrees(name) for name in self.targets}

    @cached_property
    def _forward(self) -> Trace:
        return self.back.forward(self.inputs, bool(self.normalised.all()))

    @cached_property
    def normalised(self) -> BoolArray:
        """Whether all inputs are normalised."""
        return normalised(self.inputs)

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
        """``M box F^up`` [eq:eeOMEGA] of each target: the target itself if it is consistent."""
        return self.back.reach(self.targets)

    def distance(self, inferred: Arrays) -> FloatArray:
        """Return the largest difference between the targets and what is inferred, of all cells."""
        gaps = [
            np.abs(self._cells(name, inferred[name]) - self._cells(name, degrees)).max(axis=1)
            for name, degrees in self.targets.items()
        ]
        return np.asarray(np.max(gaps, axis=0))

    def _cells(self, name: str, degrees: FloatArray) -> FloatArray:
        partition = self.back.sets[name].partition
        return degrees if len(partition) == degrees.shape[1] else partition.possibilities(degrees)

    def nabla(self, name: str) -> FloatArray:
        """Return ``nabla`` [eq:Nabla] of the system [eq:sysOmega] of a target, for each sample."""
        distinct, which = np.unique(self.targets[name], axis=0, return_inverse=True)
        systems = (system_of(self.back.sets[name], degrees) for degrees in distinct)
        return np.array([system.distance for system in systems])[which.ravel()]

    def rows_to_choose(self, output: Inference) -> Rows:
        """Return the samples whose inputs are normalised and leave a conjunction too possible."""
        bounds = self.back.upper_bounds(output)
        if all((bound == 1.0).all() for bound in bounds.values()):  # so that none can be exceeded
            return np.empty(0, dtype=np.intp)
        above = list(self.back.exceeding(bounds, self._forward).values())
        return np.flatnonzero(np.any(above, axis=0) & self.normalised & ~self.solved)

    def lowered(self, choices: Mapping[int, ConjunctChoice]) -> dict[str, FloatArray]:
        """Return the inputs, with those that choices give in the place of the others."""
        rows = list(choices)
        output = self.back.chosen_inputs(rows_of(self.targets, rows), list(choices.values()))
        inputs = {name: degrees.copy() for name, degrees in self.inputs.items()}
        for a in self.back.inputs:
            inputs[a.name][rows] = output.degrees(a)
        return inputs

    @cached_property
    def traced(self) -> TracedSample:
        """The first sample, with every degree on the way."""
        back, choice = self.back, self.choices.get(0, {})
        target = rows_of(self.targets, slice(0, 1))
        output = back.chosen_inputs(target, [choice], trace=True)
        inputs = {a.name: output.degrees(a) for a in back.inputs}
        forward = back.forward(inputs, bool(normalised(inputs)[0]), trace=True)
        used = {n: system_of(s, output[back.sources[n]].degrees[0]) for n, s in back.sets.items()}
        given = {n: system_of(back.sets[n], d[0]) for n, d in target.items()}
        systems = {**used, **given}
        return TracedSample(back, systems, used, output, forward, choice, self._verdict)

    @property
    def _verdict(self) -> Verdict:
        """What is known of other inputs than the first sample's."""
        if self.solved[0]:
            return "solved"
        if self.exhausted[0]:
            return "limit"
        return "none" if self.searched else "unknown"

    def most_specific(self) -> dict[str, FloatArray]:
        """Return a minimal solution below the greatest inputs, for the first sample.

        Values are taken in order: the least possible under the actual inputs first, else the last
        of each domain first. Inference grows with its inputs and copies degrees, so each value
        goes down to one of the targets' degrees, or to 0.
        """
        program = self.back.cascade.compile(list(self.targets))
        wanted = np.concatenate([self._cells(n, d)[0] for n, d in self.reached.items()])
        slices = column_slices(program.inputs)
        x = np.concatenate([self.inputs[name][0] for name in slices])
        steps = np.unique(np.append(wanted, 0.0))

        def reaches(rows: FloatArray) -> BoolArray:
            inferred = program.infer(rows)
            cells = [self._cells(n, inferred[n].degrees) for n in self.reached]
            return np.asarray((np.concatenate(cells, axis=1) >= wanted).all(axis=1))

        places = [(s, i) for s in slices.values() for i in reversed(range(s.start, s.stop))]
        if self.actual is not None:
            actual = np.concatenate([self.actual.inputs[name][0] for name in slices])
            places.sort(key=lambda place: float(actual[place[1]]))
        for columns, i in places:
            x[i] = _least(x, columns, i, steps[steps < x[i]], reaches)
        return {name: x[columns] for name, columns in slices.items()}


def _least(
    x: FloatArray,
    columns: slice,
    i: int,
    steps: FloatArray,
    reaches: Callable[[FloatArray], BoolArray],
) -> float:
    """Return the least degree of one value, of `steps`, with which the target is still inferred."""
    now = float(x[i])
    if (now == 1.0 and (x[columns] == 1.0).sum() == 1) or not len(steps):
        return now
    rows = np.repeat(x[None, :], len(steps), axis=0)
    rows[:, i] = steps
    good = reaches(rows)
    return float(steps[np.argmax(good)]) if good.any() else now


def read_actual(back: Reversal, evidence: Evidence) -> tuple[ActualSample, bool]:
    """Return the actual inputs, what they give, and whether they are a batch."""
    rows = evidence_rows(back.cascade, evidence, back.inputs)
    block = rows.block(0, rows.n)
    inputs = {name: block[:, columns] for name, columns in column_slices(back.inputs).items()}
    given: dict[str, Any] = dict(inputs)
    if not rows.is_batch:  # a list of numbers may be plain values
        given = {a.name: Possibility(a, inputs[a.name][0]) for a in back.inputs}
    inferred = back.cascade.infer(given, list(back.targets))  # which refuses what is not normalised
    outputs = {name: np.atleast_2d(inferred[name].degrees) for name in back.targets}
    return ActualSample(inputs, outputs), rows.is_batch


def target_arrays(
    cascade: Cascade, named: Mapping[str, Any], is_batch: bool | None, n: int | None
) -> tuple[Arrays, bool]:
    """Return the target distributions ``(n, |D_b|)`` by name, and whether they are a batch.

    `is_batch` and `n` are known where evidence is given with the targets.
    """
    attributes = {name: cascade[name].output for name in named}
    if is_batch is None:
        is_batch = not all(_is_one(content, attributes[name]) for name, content in named.items())
    for name, content in named.items():
        if not is_batch and np.isscalar(content):
            with placed(f"the target of {name!r}"):
                attributes[name].position(content)  # a lone number is a value, not a degree
    return _by_column(read_targets(named, attributes, n, is_batch=is_batch)), is_batch


def _is_one(content: object, attribute: Attribute) -> bool:
    """Tell whether a target is of one sample: a value, or one distribution."""
    if isinstance(content, Possibility):
        return not content.is_batch
    if isinstance(content, Target):
        return False
    if isinstance(content, str | bytes | Mapping):
        return True
    if isinstance(content, Hashable) and content in attribute:
        return True
    try:
        array = np.asarray(content)
    except ValueError:  # rows of several lengths: `Target.of` says so
        return False
    return array.ndim == 0 or (array.ndim == 1 and _are_degrees(array, attribute))


def _are_degrees(array: Any, attribute: Attribute) -> bool:
    """Tell degrees from values: of full length, and floats or not all values of the domain."""
    if array.dtype.kind not in "fiub" or len(array) != len(attribute.domain):
        return False
    floats = any(isinstance(v, float) for v in attribute.domain)
    values = all(v in attribute for v in array.tolist())
    return not values or (array.dtype.kind == "f" and not floats)


def _by_column(targets: Mapping[str, Target]) -> dict[str, FloatArray]:
    """Return the targets column by column, as programs give theirs: so they compare quickly."""
    slices = column_slices(one.attribute for one in targets.values())
    n = len(next(iter(targets.values())))
    whole = np.zeros((sum(len(one.attribute.domain) for one in targets.values()), n))
    samples = np.arange(n)
    columns = {name: whole[span].T for name, span in slices.items()}
    for name, one in targets.items():
        if one.is_graded:
            columns[name][...] = one.degrees
        else:  # in place: distributions of labels would be made, transposed and copied
            whole[slices[name].start + one.labels.astype(np.intp), samples] = 1.0
    return columns


def backward_pass(
    back: Reversal, targets: Arrays, actual: ActualSample | None, limit: int
) -> BackwardPass:
    """Infer the greatest inputs of each sample, with at most `limit` choices.

    Conjuncts are chosen only where conjunctions keep the inputs from a solution, and rules, of a
    single set, where no inputs within the bounds of all of them are one.
    """
    output = back.greatest_inputs(targets)
    inputs = {a.name: output.degrees(a) for a in back.inputs}
    exhausted = np.zeros(len(next(iter(targets.values()))), dtype=bool)
    one = BackwardPass(back, targets, inputs, actual, exhausted)
    rows = one.rows_to_choose(output)
    if len(rows):
        one = _with_conjuncts(one, rows, limit)
    return one if len(back.sets) > 1 else _with_rules(one, limit)


def _with_conjuncts(one: BackwardPass, rows: Rows, limit: int) -> BackwardPass:
    """Choose conjuncts that are lowered, for some samples."""
    given = rows_of(one.targets, rows), rows_of(one.reached, rows)
    known = None if one.actual is None else rows_of(one.actual.inputs, rows)
    exhausted = one.exhausted.copy()
    chosen, exhausted[rows] = choose_conjuncts(one.back, *given, known, limit)
    choices = {row: c for row, c in zip(rows.tolist(), chosen, strict=True) if c is not None}
    inputs = one.lowered(choices) if choices else one.inputs
    return replace(one, inputs=inputs, exhausted=exhausted, choices=choices)


def _with_rules(one: BackwardPass, limit: int) -> BackwardPass:
    """Choose rules that hold the values down, for the samples without a solution so far."""
    rows = np.flatnonzero(~one.solved)
    if not len(rows):
        return one
    ((name, rule_set),) = one.back.sets.items()
    search = RuleChoice(rule_set, one.back.cascade.compile([name]))
    actual = None
    if one.actual is not None:
        actual = np.hstack([one.actual.inputs[a][rows] for a in search.slices])
    wanted = rule_set.partition.possibilities(one.reached[name][rows])
    solutions, hit = search.find(wanted, actual, limit)
    inputs = {a: degrees.copy() for a, degrees in one.inputs.items()}
    for row, x in zip(rows.tolist(), solutions, strict=True):
        if x is not None:
            for a, columns in search.slices.items():
                inputs[a][row] = x[columns]
    exhausted = np.zeros(len(one), dtype=bool)
    exhausted[rows] = hit
    return replace(one, inputs=inputs, exhausted=exhausted, searched=True)
