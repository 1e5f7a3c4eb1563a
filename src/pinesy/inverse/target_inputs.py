"""The result of backpropagation: target inputs, and how well they do."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pinesy._common.validation import FloatArray, check_sample
from pinesy.exceptions import DegreeError, DomainError, InconsistentSystemError
from pinesy.inverse.backward_pass import ActualSample, BackwardPass
from pinesy.inverse.backward_program import Arrays
from pinesy.inverse.conflicts import Conflict, find_conflicts
from pinesy.inverse.most_specific import check_parameters, lower
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.equations import PremiseSystem
from pinesy.rules.possibility import Possibility
from pinesy.transforms import antipignistic_inverse

Distributions = dict[str, Possibility]
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

    # --- targets and inputs --------------------------------------------------------------------

    @cached_property
    def targets(self) -> Distributions:
        """The target outputs that were given."""
        return self._all(self._pass.targets)

    @cached_property
    def inputs(self) -> Distributions:
        """The greatest (least specific) target inputs, by name.

        They keep the premise degrees of every rule within ``max(F^up, parameter)``.
        Inputs that the targets do not depend on have degree 1 everywhere.
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
        check_parameters(self._pass.program.reversal.sets.values())
        if not self.solved:
            raise InconsistentSystemError(
                f"there are no target inputs to make more specific ({self._state}); see .conflicts",
                float(self.distance),
            )
        one = self._pass
        actual = None if one.actual is None else _first(one.actual.inputs)
        lowered = lower(self._cascade, _first(one.inputs), _first(one.reached), actual)
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
        """Whether the search for a choice of conjuncts ended at its limit."""
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
        """Whether the actual inputs are target inputs: within the greatest, and they give `O`.

        For premises of one proposition in a single rule set this means that their premise degrees
        lie between ``F^down`` and ``F^up`` or the rules' parameters, whichever is higher. Others
        may give `O` as well: then `output_distance` is 0.
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
        lines = [repr(self), *(f"  {pi!r}" for pi in list(self.inputs.values())[:SHOWN])]
        lines += [f"  and {len(self.inputs) - SHOWN} more inputs"] * (len(self.inputs) > SHOWN)
        lines += map(str, self.conflicts[:SHOWN])
        left = len(self.conflicts) - SHOWN
        return "\n".join([*lines, *[f"and {left} more conflicts"] * (left > 0)])

    def __repr__(self) -> str:
        names = list(self._pass.targets)
        shown = ", ".join(names[:4]) + ", ..." * (len(names) > 4)
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
        return self._pass.program.reversal.cascade

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


def _first(arrays: Arrays) -> dict[str, FloatArray]:
    return {name: array[0] for name, array in arrays.items()}


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
