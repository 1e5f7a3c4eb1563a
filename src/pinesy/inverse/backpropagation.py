"""Backpropagation: from target outputs to target inputs, and how well these do."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pinesy._common.validation import FloatArray, check_integer, check_sample
from pinesy.evidence.evidence_form import Evidence
from pinesy.exceptions import DataError, DegreeError, DomainError, InconsistentSystemError
from pinesy.inverse.backward_pass import (
    ActualSample,
    BackwardPass,
    backward_pass,
    read_actual,
    target_arrays,
)
from pinesy.inverse.conflicts import Conflict, find_conflicts
from pinesy.inverse.reversal import Arrays, output_targets, reversal
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rulebase.sample_equations import PremiseSystem
from pinesy.rules.possibility import Possibility
from pinesy.transforms import antipignistic_inverse

Distributions = dict[str, Possibility]
#: Choices of conjuncts, and of rules, that are tried for a sample.
LIMIT = 100
#: Distributions and conflicts that are printed.
SHOWN = 8


@dataclass(frozen=True, eq=False, repr=False)
class Backpropagation:
    """Target inputs for target outputs, of one sample or a batch.

    Made by `backpropagate`. Properties give one answer for a single sample and an array with one
    element a sample for a batch. Outputs are compared by the cells of their partition, as the
    paper does: values that no rule tells apart count as one.
    """

    _pass: BackwardPass
    is_batch: bool

    @cached_property
    def targets(self) -> Distributions:
        """The target outputs that were given."""
        return self._all(self._pass.targets)

    @cached_property
    def inputs(self) -> Distributions:
        """The target inputs, by name; those that the targets do not depend on are 1 everywhere.

        The greatest (least specific) that keep ``rho`` of every rule, and ``lambda`` of every rule
        with one proposition (a conjunction may exceed it), within ``max(F^up, parameter)``. Where
        these do not give the `repaired` target, conjuncts are lowered; if that does not do either,
        and there is one rule set, inputs outside of the bounds are searched (`backpropagate`).
        """
        inputs, n = self._pass.inputs, len(self._pass)
        return self._all(
            {
                a.name: inputs[a.name] if a.name in inputs else np.ones((n, len(a.domain)))
                for a in self._cascade.inputs
            }
        )

    @cached_property
    def inferred(self) -> Distributions:
        """What is inferred from the target inputs, for each attribute with a target."""
        return self._all(self._pass.inferred)

    @cached_property
    def repaired(self) -> Distributions:
        """The targets that are used: ``M box F^up``, the target itself where it is consistent.

        Else it is the lowest distribution above the target that some premise degrees give; by
        [eq:eeOMEGA] it is ``M box F^down`` as well.
        """
        return self._all(self._pass.reached)

    def probabilities(self) -> dict[str, FloatArray]:
        """Return the target probabilities of each input: [subsec:antipignistic], inverted.

        Rows of a batch that are not normalised are NaN; for a single sample that is an error.
        """
        return {name: _inverse(pi) for name, pi in self.inputs.items()}

    def most_specific(self) -> Distributions:
        """Return target inputs of which no degree can be lowered (one sample).

        Degrees are lowered one after the other as far as the `repaired` target is still inferred
        and the distributions stay normalised: the least possible under the actual inputs first, if
        they were given, else the last value of each domain first.
        """
        self._one("most_specific()")
        _check_parameters(self._pass.back.sets.values())
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

    # --- how well it does ----------------------------------------------------------------------

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
        """The Chebyshev distance between the targets and what the target inputs give."""
        return self._answer(self._pass.distance(self._pass.inferred))

    @property
    def exhausted(self) -> Any:
        """Whether the search ended at its limit, so that other inputs may give the target."""
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
        """``||M box I - O||``: how far what the actual inputs give is from the targets."""
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

        Its `lowest_solution` is ``F^down``, its `greatest_solution` ``F^up``. For an attribute on
        the way, `O` is the target distribution that was inferred for it.
        """
        self._one(".premises")
        return dict(self._pass.traced.systems)

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        """What keeps the targets from being reproduced, sample by sample, with the rules."""
        if self.is_batch:
            rows = np.flatnonzero(~self._pass.reproduced).tolist()
            return tuple(replace(c, row=row) for row in rows for c in self.sample(row).conflicts)
        return () if self.reproduced else tuple(find_conflicts(self._pass.traced))

    # --- in words ------------------------------------------------------------------------------

    def __str__(self) -> str:
        if self.is_batch:
            return repr(self)
        inputs = list(self.inputs.values())[:SHOWN]  # not results: no rules contradict in them
        lines = [repr(self), *(f"  Possibility({pi.summary})" for pi in inputs)]
        lines += [f"  and {len(self.inputs) - SHOWN} more inputs"] * (len(self.inputs) > SHOWN)
        left = [f"and {len(self.conflicts) - SHOWN} more conflicts"] * (len(self.conflicts) > SHOWN)
        return "\n".join([*lines, *map(str, self.conflicts[:SHOWN]), *left])

    def __repr__(self) -> str:
        shown = ", ".join([*self._pass.targets][:4]) + ", ..." * (len(self._pass.targets) > 4)
        return f"Backpropagation({shown} -> {len(self._cascade.inputs)} inputs: {self._state})"

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

    # --- parts ---------------------------------------------------------------------------------

    @property
    def _cascade(self) -> Cascade:
        return self._pass.back.cascade

    @property
    def _actual(self) -> ActualSample:
        if self._pass.actual is None:
            raise DegreeError("the actual inputs are not known; give them as evidence")
        return self._pass.actual

    def _one(self, what: str) -> None:
        if self.is_batch:
            raise DomainError(f"{what} is of one sample; take one sample(row) of the batch first")

    def _answer(self, values: Any) -> Any:
        return values if self.is_batch else values[0].item()

    def _all(self, arrays: Arrays) -> Distributions:
        attributes = self._cascade.attributes
        return {
            name: Possibility(attributes[name], degrees if self.is_batch else degrees[0])
            for name, degrees in arrays.items()
        }


def _check_parameters(sets: Iterable[RuleSet]) -> None:
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


def _inverse(pi: Possibility) -> FloatArray:
    """Return the probabilities of a distribution, or of those of a batch that are normalised."""
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


def backpropagate(
    rules: RuleSet | Cascade, evidence: Evidence | None, targets: Any, *, limit: int = LIMIT
) -> Backpropagation:
    """Infer target inputs, from which the rules infer a target output [subsub:backpropagation].

    A target output sets equations ``O = M box X`` [eq:sysOmega] for the premise degrees `X`; every
    `X` from ``F^down`` to ``F^up`` solves them if any does [cor:consistOMEGA], and a rule's degree
    may rise to its parameter besides. The greatest inputs that keep all premise degrees within
    ``max(F^up, parameters)`` are inferred from the target by the rules read backwards, set by set
    down to the inputs of the cascade; what they give by inference is compared with the target.
    These bounds are sufficient, not necessary: of a single rule set inputs outside of them are
    searched if need be, and found if there are any and `limit` is not hit; of a cascade they are
    not (docs/backpropagation.md).

    Parameters
    ----------
    rules : a rule set or a cascade
    evidence : the actual inputs, as `Cascade.infer` takes them: choices stay near to them, and the
        result tells how far they are from the targets. None where they are not known.
    targets : for each attribute that has one, by name: a value or a normalised distribution; for a
        batch one value a sample, or degrees of shape ``(n_samples, |D_b|)``. Any attributes that
        rules conclude on may have targets. Where there is only one output, its target may come
        alone. Without `evidence`, a sequence of numbers as long as the domain that are not its
        values, or are floats, is one distribution.
    limit : how many choices of conjuncts, and of rules, are tried for a sample that needs one

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
    named = output_targets(cascade, targets)
    back = reversal(cascade, tuple(named))
    actual, is_batch = None, None
    if evidence is not None:
        actual, is_batch = read_actual(back, evidence)
    n = None if actual is None else len(next(iter(actual.inputs.values())))
    degrees, is_batch = target_arrays(cascade, named, is_batch, n)
    return Backpropagation(backward_pass(back, degrees, actual, limit), is_batch)
