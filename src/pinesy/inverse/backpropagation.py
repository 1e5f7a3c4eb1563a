"""Backpropagation: from target outputs to target inputs, and how well they give the targets.

`backpropagate` reads the targets and the actual inputs, infers the greatest target inputs by the
reversed rules (`BackwardPass`), and searches others where these do not give the targets.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.names import column_slices
from pinesy._common.validation import BoolArray, FloatArray, check_integer, check_sample
from pinesy.engine.program import Inference, Trace
from pinesy.evidence.evidence_form import Evidence, evidence_rows
from pinesy.evidence.targets import Target, read_targets
from pinesy.exceptions import (
    DataError,
    DegreeError,
    DomainError,
    InconsistentSystemError,
    placed,
)
from pinesy.inverse.choices import RuleChoice, choose_conjuncts, is_normalised, select_rows
from pinesy.inverse.conflicts import Conflict, TracedSample, Verdict, find_conflicts
from pinesy.inverse.reversal import (
    Arrays,
    ConjunctChoice,
    Reversal,
    output_targets,
    premise_system,
    reversal,
)
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.sample_equations import PremiseSystem
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.transforms import antipignistic_inverse

Distributions = dict[str, Possibility]
#: The default number of choices of conjuncts, and of rules, that are tried for a sample.
LIMIT = 100
#: The most distributions and conflicts in a text.
SHOWN = 8
#: Indices of samples.
Rows = npt.NDArray[np.intp]


def backpropagate(
    rules: RuleSet | Cascade, evidence: Evidence | None, targets: Any, *, limit: int = LIMIT
) -> "Backpropagation":
    """Infer target inputs, from which the rules infer a target output [subsub:backpropagation].

    A target output sets equations ``O = M box X`` [eq:sysOmega] for the premise degrees `X`; every
    `X` from ``F^down`` to ``F^up`` solves them if any does [cor:consistOMEGA], and a rule's degree
    may rise to its parameter besides. The greatest inputs that keep all premise degrees within
    ``max(F^up, parameters)`` are inferred from the target by the reversed rules, set by set down to
    the inputs of the cascade; the inference from them is compared with the target. These bounds
    are sufficient, not necessary: for a single rule set inputs outside of them are searched if need
    be, and found if there are any and `limit` is not hit; for a cascade they are not searched
    (docs/backpropagation.md).

    Parameters
    ----------
    rules : a rule set or a cascade
    evidence : the actual inputs, as in `Cascade.infer`: choices stay near to them, and the result
        has their distance to the target inputs. None if they are not known.
    targets : for each attribute that has one, by name: a value or a normalised distribution; for a
        batch one value a sample, or degrees of shape ``(n_samples, |D_b|)``. Any attributes that
        rules conclude on may have targets. The target of a single output may be given without its
        name. Without `evidence`, a sequence of numbers as long as the domain that are not its
        values, or are floats, is one distribution.
    limit : the number of choices of conjuncts, and of rules, to try for a sample

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}), s=0.3)])
    >>> back = backpropagate(rules, None, {"wet": 0.3, "dry": 1.0})
    >>> back.inputs["rain"], back.reproduced
    (Possibility(rain, {no: 1, yes: 0.3}), True)
    >>> backpropagate(rules, None, "dry").repaired["grass"]  # wet grass cannot be below s
    Possibility(grass, {dry: 1, wet: 0.3})
    """
    limit = check_integer(limit, "limit", error=DataError)
    cascade = as_cascade(rules)
    targets_by_name = output_targets(cascade, targets)
    back = reversal(cascade, tuple(targets_by_name))
    actual, is_batch = None, None
    if evidence is not None:
        actual, is_batch = read_actual(back, evidence)
    n = None if actual is None else len(next(iter(actual.inputs.values())))
    degrees, is_batch = target_arrays(cascade, targets_by_name, is_batch, n)
    return Backpropagation(backward_pass(back, degrees, actual, limit), is_batch)


@dataclass(frozen=True, eq=False, repr=False)
class Backpropagation:
    """Target inputs for target outputs, of one sample or a batch.

    Made by `backpropagate`. Properties give one answer for a single sample and an array with one
    element a sample for a batch. Outputs are compared by the cells of their partition, as the
    paper does: values that no rule distinguishes count as one.
    """

    _pass: "BackwardPass"
    is_batch: bool

    @cached_property
    def targets(self) -> Distributions:
        """The target outputs."""
        return self._distributions(self._pass.targets)

    @cached_property
    def inputs(self) -> Distributions:
        """The target inputs, by name; those that the targets do not depend on are 1 everywhere.

        The greatest (least specific) that keep ``rho`` of every rule, and ``lambda`` of every rule
        with one proposition (a conjunction may exceed it), within ``max(F^up, parameter)``. Where
        these do not give the `repaired` target, conjuncts are lowered; if that does not do either,
        and there is one rule set, inputs outside of the bounds are searched (`backpropagate`).
        """
        inputs, n = self._pass.inputs, len(self._pass)
        return self._distributions(
            {
                a.name: inputs[a.name] if a.name in inputs else np.ones((n, len(a.domain)))
                for a in self._cascade.inputs
            }
        )

    @cached_property
    def inferred(self) -> Distributions:
        """The distributions inferred from the target inputs, for each attribute with a target."""
        return self._distributions(self._pass.inferred)

    @cached_property
    def repaired(self) -> Distributions:
        """The targets that are used: ``M box F^up``, the target itself where it is consistent.

        Else it is the lowest distribution above the target that some premise degrees give; by
        [eq:eeOMEGA] it is ``M box F^down`` as well.
        """
        return self._distributions(self._pass.reached)

    def probabilities(self) -> dict[str, FloatArray]:
        """Return the target probabilities of each input: [subsec:antipignistic], inverted.

        Rows of a batch that are not normalised are NaN; for a single sample that is an error.
        """
        return {name: _input_probabilities(pi) for name, pi in self.inputs.items()}

    def most_specific(self) -> Distributions:
        """Return target inputs without a degree that can be lowered (one sample).

        Degrees are lowered one after the other as far as the `repaired` target is still inferred
        and the distributions stay normalised: the least possible under the actual inputs first, if
        they were given, else the last value of each domain first.
        """
        self._check_single("most_specific()")
        _check_parameters(self._pass.back.cascade, self._pass.back.sets)
        if not self.solved:
            raise InconsistentSystemError(
                f"there are no target inputs to make more specific ({self._state}); see .conflicts",
                float(self.distance),
            )
        lowered = self._pass.most_specific()
        return {
            name: Possibility(pi.attribute, lowered.get(name, pi.degrees))
            for name, pi in self.inputs.items()
        }

    # --- quality -------------------------------------------------------------------------------

    @property
    def normalised(self) -> Any:
        """Whether all target inputs are normalised."""
        return self._answer(self._pass.normalised)

    @property
    def reproduced(self) -> Any:
        """Whether the target inputs are normalised and give the targets, bit for bit."""
        return self._answer(self._pass.reproduced)

    @property
    def solved(self) -> Any:
        """Whether the target inputs are normalised and give the `repaired` targets, bit for bit."""
        return self._answer(self._pass.solved)

    @cached_property
    def distance(self) -> Any:
        """The Chebyshev distance between the targets and the `inferred` distributions."""
        return self._answer(self._pass.distance(self._pass.inferred))

    @property
    def exhausted(self) -> Any:
        """Whether the search hit its limit, so that other inputs may give the target."""
        return self._answer(self._pass.exhausted)

    @cached_property
    def nabla(self) -> dict[str, Any]:
        """The Chebyshev distance [eq:Nabla] of the system of each target; 0: consistent."""
        return {name: self._answer(self._pass.nabla(name)) for name in self._pass.targets}

    # --- the actual inputs ---------------------------------------------------------------------

    @cached_property
    def input_distance(self) -> dict[str, Any]:
        """For each input the Chebyshev distance between actual and target distribution."""
        return {
            name: self._answer(np.abs(actual - self._pass.inputs[name]).max(axis=1))
            for name, actual in self._actual.inputs.items()
        }

    @cached_property
    def input_excess(self) -> dict[str, Any]:
        """For each input ``max_v (pi_actual(v) - pi_target(v))^+``: 0 if within the targets."""
        return {
            name: self._answer(np.maximum(actual - self._pass.inputs[name], 0.0).max(axis=1))
            for name, actual in self._actual.inputs.items()
        }

    @cached_property
    def output_distance(self) -> Any:
        """``||M box I - O||``: the distance of the inference from actual inputs to the targets."""
        return self._answer(self._pass.distance(self._actual.outputs))

    @cached_property
    def matches(self) -> Any:
        """Whether the actual inputs are target inputs: nowhere above `inputs`, and they give `O`.

        For premises of one proposition in a single rule set with `inputs` within the bounds: their
        premise degrees lie between ``F^down`` and ``F^up`` or the rules' parameters, whichever is
        higher. Others may give `O` as well: then `output_distance` is 0.
        """
        within = [
            (actual <= self._pass.inputs[name]).all(axis=1)
            for name, actual in self._actual.inputs.items()
        ]
        exact = self._pass.distance(self._actual.outputs) == 0.0
        return self._answer(np.all(within, axis=0) & exact)

    # --- one sample ----------------------------------------------------------------------------

    def sample(self, row: int) -> "Backpropagation":
        """Return the result of one sample of a batch."""
        if not self.is_batch:
            raise DomainError("this is of a single sample already; sample() is for batches")
        return Backpropagation(self._pass.sample(check_sample(row, len(self._pass))), False)

    @property
    def premises(self) -> dict[str, PremiseSystem]:
        """The system [eq:sysOmega] of each rule set behind the targets (one sample).

        Its `lowest_solution` is ``F^down``, its `greatest_solution` ``F^up``. For an attribute
        between targets and inputs, `O` is the target distribution that was inferred for it.
        """
        self._check_single(".premises")
        return dict(self._pass.traced.systems)

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The conflicts that keep targets from being reproduced, with their rules."""
        if self.is_batch:
            rows = np.flatnonzero(~self._pass.reproduced).tolist()
            return tuple(replace(c, row=row) for row in rows for c in self.sample(row).conflicts)
        return () if self.reproduced else tuple(find_conflicts(self._pass.traced))

    # --- text ----------------------------------------------------------------------------------

    def __str__(self) -> str:
        if self.is_batch:
            return repr(self)
        inputs = list(self.inputs.values())[:SHOWN]  # not inferred, so no contradictions
        lines = [repr(self), *(f"  Possibility({pi.summary})" for pi in inputs)]
        lines += [f"  and {len(self.inputs) - SHOWN} more inputs"] * (len(self.inputs) > SHOWN)
        left = [f"and {len(self.conflicts) - SHOWN} more conflicts"] * (len(self.conflicts) > SHOWN)
        return "\n".join([*lines, *map(str, self.conflicts[:SHOWN]), *left])

    def __repr__(self) -> str:
        names = ", ".join([*self._pass.targets][:4]) + ", ..." * (len(self._pass.targets) > 4)
        return f"Backpropagation({names} -> {len(self._cascade.inputs)} inputs: {self._state})"

    @property
    def _state(self) -> str:
        if self.is_batch:
            return f"{int(self.reproduced.sum())} of {len(self._pass)} samples reproduced"
        parts = ["reproduced"] if self.reproduced else ["not reproduced"]
        if not self.reproduced:
            parts += ["not normalised"] * (not self.normalised)
            parts += [f"distance {self.distance:g}"]
            parts += ["the repaired target is"] * self.solved
            parts += ["the search ended at its limit"] * self.exhausted
        if self._pass.actual is not None and self.output_distance == 0.0:
            parts.append("the actual inputs give the target")
        return ", ".join(parts)

    # --- helpers -------------------------------------------------------------------------------

    @property
    def _cascade(self) -> Cascade:
        return self._pass.back.cascade

    @property
    def _actual(self) -> "ActualSample":
        if self._pass.actual is None:
            raise DegreeError("the actual inputs are not known; give them as evidence")
        return self._pass.actual

    def _check_single(self, name: str) -> None:
        if self.is_batch:
            raise DomainError(f"{name} is of one sample; take one sample(row) of the batch first")

    def _answer(self, values: Any) -> Any:
        """Return the array of a batch, or the value of a single sample."""
        return values if self.is_batch else values[0].item()

    def _distributions(self, arrays: Arrays) -> Distributions:
        attributes = self._cascade.attributes
        return {
            name: Possibility(attributes[name], degrees if self.is_batch else degrees[0])
            for name, degrees in arrays.items()
        }


def _check_parameters(cascade: Cascade, sets: Mapping[str, RuleSet]) -> None:
    """Raise `DegreeError` where a parameter is 1: ``F^down`` may have no normalised inputs.

    See the second item of [prop:SOLOMEGA].
    """
    wrong = [
        f"rule {cascade.rule_number(name, index)} ({rule})"
        for name, rule_set in sets.items()
        for index, rule in enumerate(rule_set.rules)
        if max(rule.s, rule.r) == 1.0
    ]
    if wrong:
        texts = "; ".join(wrong[:4]) + f"; and {len(wrong) - 4} more" * (len(wrong) > 4)
        raise DegreeError(
            "the most specific targets need every parameter s and r below 1, but not so: "
            f"{texts}; leave these rules out or lower their parameters, or use the greatest targets"
        )


def _input_probabilities(pi: Possibility) -> FloatArray:
    """Return the probabilities of a distribution; for a batch, NaN where it is not normalised."""
    if pi.is_batch:
        probabilities = np.full(pi.degrees.shape, np.nan)
        if np.any(pi.normalised):
            probabilities[pi.normalised] = antipignistic_inverse(pi.degrees[pi.normalised])
        return probabilities
    if not pi.normalised:
        raise DegreeError(
            f"the target distribution of {pi.attribute.name!r} is not normalised (its largest "
            f"degree is {pi.degrees.max():g}), so it has no probabilities; see .conflicts"
        )
    return antipignistic_inverse(pi.degrees)


# --- the backward pass ---


@dataclass(frozen=True)
class ActualSample:
    """The actual inputs of a batch, and the target attributes inferred from them."""

    inputs: Arrays
    outputs: Arrays


@dataclass(frozen=True)
class BackwardPass:
    """The greatest target inputs of each sample, and the inference from them.

    Attributes
    ----------
    back : the reversed rules
    targets, inputs : distributions by attribute name
    actual : the actual inputs, if they are known
    exhausted : whether the search hit its limit
    choices : the choices of conjuncts, by row, for the samples that need one
    searched : whether inputs outside of the bounds were searched too
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
        """Return the backward pass of one sample."""
        rows, actual = slice(row, row + 1), self.actual
        if actual is not None:
            actual = ActualSample(
                select_rows(actual.inputs, rows), select_rows(actual.outputs, rows)
            )
        choices = {0: self.choices[row]} if row in self.choices else {}
        targets, inputs = select_rows(self.targets, rows), select_rows(self.inputs, rows)
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
        """The distribution inferred for each attribute with a target."""
        return {name: self._forward.degrees(name) for name in self.targets}

    @cached_property
    def _forward(self) -> Trace:
        return self.back.forward(self.inputs, bool(self.normalised.all()))

    @cached_property
    def normalised(self) -> BoolArray:
        """Whether all inputs are normalised."""
        return is_normalised(self.inputs)

    @cached_property
    def reproduced(self) -> BoolArray:
        """Whether the inputs are normalised and give the targets."""
        return self._reproduces(self.targets)

    @cached_property
    def solved(self) -> BoolArray:
        """Whether the inputs are normalised and give the targets that can be reached."""
        if self.reproduced.all():
            return self.reproduced
        return self.reproduced | self._reproduces(self.reached)

    def _reproduces(self, targets: Arrays) -> BoolArray:
        good = self.normalised.copy()
        for name, degrees in targets.items():
            good &= (self._cells(name, self.inferred[name]) == self._cells(name, degrees)).all(1)
        return good

    @cached_property
    def reached(self) -> dict[str, FloatArray]:
        """``M box F^up`` [eq:eeOMEGA] of each target: the target itself if it is consistent."""
        return self.back.reachable_targets(self.targets)

    def distance(self, inferred: Arrays) -> FloatArray:
        """Return the largest difference between targets and inferred degrees over all cells."""
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
        systems = (premise_system(self.back.sets[name], degrees) for degrees in distinct)
        return np.array([system.distance for system in systems])[which.ravel()]

    def rows_to_choose(self, output: Inference) -> Rows:
        """Return the unsolved samples whose normalised inputs exceed the bound of a conjunction."""
        bounds = self.back.upper_bounds(output)
        if all((bound == 1.0).all() for bound in bounds.values()):  # none can be exceeded
            return np.empty(0, dtype=np.intp)
        above = list(self.back.exceeded(bounds, self._forward).values())
        return np.flatnonzero(np.any(above, axis=0) & self.normalised & ~self.solved)

    def lower_inputs(self, choices: Mapping[int, ConjunctChoice]) -> dict[str, FloatArray]:
        """Return the inputs, with those of some rows lowered by choices of conjuncts."""
        rows = list(choices)
        output = self.back.chosen_inputs(select_rows(self.targets, rows), list(choices.values()))
        inputs = {name: degrees.copy() for name, degrees in self.inputs.items()}
        for a in self.back.inputs:
            inputs[a.name][rows] = output.degrees(a)
        return inputs

    @cached_property
    def traced(self) -> TracedSample:
        """The first sample with all degrees of the backward and forward pass."""
        back, choice = self.back, self.choices.get(0, {})
        target = select_rows(self.targets, slice(0, 1))
        output = back.chosen_inputs(target, [choice], trace=True)
        inputs = {a.name: output.degrees(a) for a in back.inputs}
        forward = back.forward(inputs, bool(is_normalised(inputs)[0]), trace=True)
        repaired = {
            n: premise_system(s, output[back.sources[n]].degrees[0]) for n, s in back.sets.items()
        }
        original = {n: premise_system(back.sets[n], d[0]) for n, d in target.items()}
        systems = {**repaired, **original}
        return TracedSample(back, systems, repaired, output, forward, choice, self._verdict)

    @property
    def _verdict(self) -> Verdict:
        """The result of the search for other inputs of the first sample."""
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
        lowest_cells = np.concatenate([self._cells(n, d)[0] for n, d in self.reached.items()])
        slices = column_slices(program.inputs)
        x = np.concatenate([self.inputs[name][0] for name in slices])
        levels = np.unique(np.append(lowest_cells, 0.0))

        def reaches(rows: FloatArray) -> BoolArray:
            inferred = program.infer(rows)
            cells = [self._cells(n, inferred[n].degrees) for n in self.reached]
            return np.asarray((np.concatenate(cells, axis=1) >= lowest_cells).all(axis=1))

        order = [(s, i) for s in slices.values() for i in reversed(range(s.start, s.stop))]
        if self.actual is not None:
            actual = np.concatenate([self.actual.inputs[name][0] for name in slices])
            order.sort(key=lambda pair: float(actual[pair[1]]))
        for columns, i in order:
            x[i] = _lowest_degree(x, columns, i, levels[levels < x[i]], reaches)
        return {name: x[columns] for name, columns in slices.items()}


def _lowest_degree(
    x: FloatArray,
    columns: slice,
    i: int,
    levels: FloatArray,
    reaches: Callable[[FloatArray], BoolArray],
) -> float:
    """Return the least degree of one value, among `levels`, that still gives the target."""
    now = float(x[i])
    if (now == 1.0 and (x[columns] == 1.0).sum() == 1) or not len(levels):
        return now
    rows = np.repeat(x[None, :], len(levels), axis=0)
    rows[:, i] = levels
    good = reaches(rows)
    return float(levels[np.argmax(good)]) if good.any() else now


def read_actual(back: Reversal, evidence: Evidence) -> tuple[ActualSample, bool]:
    """Return the actual inputs with their inference, and whether they are a batch."""
    rows = evidence_rows(back.cascade, evidence, back.inputs)
    block = rows.block(0, rows.n)
    inputs = {name: block[:, columns] for name, columns in column_slices(back.inputs).items()}
    sample: dict[str, Any] = dict(inputs)
    if not rows.is_batch:  # a list of numbers may be plain values
        sample = {a.name: Possibility(a, inputs[a.name][0]) for a in back.inputs}
    # `infer` raises an error for inputs that are not normalised.
    inferred = back.cascade.infer(sample, list(back.targets))
    outputs = {name: np.atleast_2d(inferred[name].degrees) for name in back.targets}
    return ActualSample(inputs, outputs), rows.is_batch


def target_arrays(
    cascade: Cascade, targets: Mapping[str, Any], is_batch: bool | None, n: int | None
) -> tuple[Arrays, bool]:
    """Return the target distributions ``(n, |D_b|)`` by name, and whether they are a batch.

    `is_batch` and the number `n` of samples are None without evidence.
    """
    attributes = {name: cascade[name].output for name in targets}
    if is_batch is None:
        is_batch = not all(
            _is_single(content, attributes[name]) for name, content in targets.items()
        )
    for name, content in targets.items():
        if not is_batch and np.isscalar(content):
            with placed(f"the target of {name!r}"):
                attributes[name].position(content)  # a single number is a value, not a degree
    return _target_columns(read_targets(targets, attributes, n, is_batch=is_batch)), is_batch


def _is_single(content: object, attribute: Attribute) -> bool:
    """Return whether a target is for one sample: a value, or one distribution."""
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
    if array.ndim != 1 or array.dtype.kind not in "fiub" or len(array) != len(attribute.domain):
        return array.ndim == 0
    # Numbers as many as values are degrees if they are floats, or not all in the domain.
    has_floats = any(isinstance(v, float) for v in attribute.domain)
    are_values = all(v in attribute for v in array.tolist())
    return not are_values or (array.dtype.kind == "f" and not has_floats)


def _target_columns(targets: Mapping[str, Target]) -> dict[str, FloatArray]:
    """Return the targets in the memory layout of program outputs, for fast comparison."""
    slices = column_slices(target.attribute for target in targets.values())
    n = len(next(iter(targets.values())))
    degrees = np.zeros((sum(len(target.attribute.domain) for target in targets.values()), n))
    samples = np.arange(n)
    columns = {name: degrees[span].T for name, span in slices.items()}
    for name, target in targets.items():
        if target.is_graded:
            columns[name][...] = target.degrees
        else:  # in place, without copies of one-hot distributions
            degrees[slices[name].start + target.labels.astype(np.intp), samples] = 1.0
    return columns


def backward_pass(
    back: Reversal, targets: Arrays, actual: ActualSample | None, limit: int
) -> BackwardPass:
    """Infer the greatest inputs of each sample, with at most `limit` choices.

    Conjuncts are chosen only where the bounds of conjunctions are exceeded, and rules, of a single
    rule set, where no inputs within the bounds are a solution.
    """
    output = back.greatest_inputs(targets)
    inputs = {a.name: output.degrees(a) for a in back.inputs}
    exhausted = np.zeros(len(next(iter(targets.values()))), dtype=bool)
    result = BackwardPass(back, targets, inputs, actual, exhausted)
    rows = result.rows_to_choose(output)
    if len(rows):
        result = _search_conjunct_choices(result, rows, limit)
    return result if len(back.sets) > 1 else _search_rule_choices(result, limit)


def _search_conjunct_choices(result: BackwardPass, rows: Rows, limit: int) -> BackwardPass:
    """Return the pass with lowered conjuncts for some samples, where a choice was found."""
    targets = select_rows(result.targets, rows), select_rows(result.reached, rows)
    known = None if result.actual is None else select_rows(result.actual.inputs, rows)
    exhausted = result.exhausted.copy()
    conjuncts, exhausted[rows] = choose_conjuncts(result.back, *targets, known, limit)
    choices = {row: c for row, c in zip(rows.tolist(), conjuncts, strict=True) if c is not None}
    inputs = result.lower_inputs(choices) if choices else result.inputs
    return replace(result, inputs=inputs, exhausted=exhausted, choices=choices)


def _search_rule_choices(result: BackwardPass, limit: int) -> BackwardPass:
    """Return the pass with inputs found by `RuleChoice` for the unsolved samples."""
    rows = np.flatnonzero(~result.solved)
    if not len(rows):
        return result
    ((name, rule_set),) = result.back.sets.items()
    search = RuleChoice(rule_set, result.back.cascade.compile([name]))
    actual = None
    if result.actual is not None:
        actual = np.hstack([result.actual.inputs[a][rows] for a in search.slices])
    cell_targets = rule_set.partition.possibilities(result.reached[name][rows])
    solutions, hit = search.find(cell_targets, actual, limit)
    inputs = {a: degrees.copy() for a, degrees in result.inputs.items()}
    for row, x in zip(rows.tolist(), solutions, strict=True):
        if x is not None:
            for a, columns in search.slices.items():
                inputs[a][row] = x[columns]
    exhausted = np.zeros(len(result), dtype=bool)
    exhausted[rows] = hit
    return replace(result, inputs=inputs, exhausted=exhausted, searched=True)
