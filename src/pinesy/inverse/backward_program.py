"""Programs from targets back to the inputs and forward again, compiled once for each cascade."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import cast

import numpy as np

from pinesy._common.caching import cached_on_owner
from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray
from pinesy.engine.program import Inference, Program, Trace
from pinesy.inverse.reversal import Reversal, RuleKey
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute, Proposition
from pinesy.rules.possibility import BoolArray

#: Distributions of a batch by name, of shape ``(n, |D_a|)`` each.
Arrays = Mapping[str, FloatArray]


class BackwardProgram:
    """The programs for one cascade and one set of target attributes."""

    def __init__(self, cascade: Cascade, targets: Sequence[str]) -> None:
        self.reversal = back = Reversal(cascade, targets)
        self._inferred = [back.inferred[name] for name in back.targets]
        with_conjunctions = dict.fromkeys(name for name, _ in back.conjuncts)
        #: What the bounds ``lambda_up`` of conjunctions are taken from.
        self._sources = [back.sources[name] for name in with_conjunctions]
        #: The names of what is inferred by the rule sets that have conjunctions.
        self._conjunctions = [back.inferred[name].name for name in with_conjunctions]
        #: The sets whose results bounds are taken from.
        used = {a.name for a in back.sources.values()}
        self._reached_first = [s for s in back.reaching() if s.output.name in used]

    def forward(self, inputs: Arrays, normalised: bool) -> Trace:
        """Infer the targets from inputs; if some are not `normalised`, by the bare formulas."""
        return cast(Trace, self._forward(normalised).infer(inputs))

    def choose(self, targets: Arrays, switches: FloatArray, *, trace: bool = False) -> Trace:
        """Infer the greatest inputs with chosen conjuncts lowered, and what they give.

        Parameters
        ----------
        switches : array (n, conjuncts), 1 for those that are lowered
        trace : whether to return every attribute's distribution and every premise degree
        """
        degrees = np.ones((len(switches), 2 * switches.shape[1]))
        degrees[:, 0::2] -= switches  # how possible it is that a switch is off
        slices = column_slices(self.reversal.switches)
        chosen = {name: degrees[:, columns] for name, columns in slices.items()}
        program = self._traced if trace else self._choosing
        return cast(Trace, program.infer({**targets, **chosen}))

    def upper_bounds(self, output: Inference) -> dict[RuleKey, FloatArray]:
        """Return ``max(s, lambda_up)`` of each conjunction for each sample; the last rules first.

        ``lambda_up = Pi(Q)`` as in [def:coFU].
        """
        back, bounds = self.reversal, {}
        for name, number in reversed(back.conjuncts):
            rule = back.sets[name].rules[number - 1]
            conclusion = Proposition(back.sources[name], rule.conclusion.mask)
            bounds[name, number] = np.maximum(rule.s, output.possibility(conclusion))
        return bounds

    def exceeding(
        self, bounds: Mapping[RuleKey, FloatArray], output: Trace
    ) -> dict[RuleKey, BoolArray]:
        """Return for each conjunction the samples where ``lambda > max(s, lambda_up)``."""
        inferred, premises = self.reversal.inferred, output.premises
        return {
            (name, number): premises[inferred[name].name].lambdas[:, number - 1] > bound
            for (name, number), bound in bounds.items()
        }

    @cached_property
    def backward(self) -> Program:
        """The greatest inputs, with no conjunct lowered, from targets."""
        sets = [*self._reached_first, *self.reversal.backward(choosing=False)]
        return self._compiled(sets, [*self.reversal.inputs, *self._sources])

    @cached_property
    def reaching(self) -> Program:
        """``M box F^up`` of each target."""
        return self._compiled(self.reversal.reaching(), [*self.reversal.reached.values()])

    @cached_property
    def _choosing(self) -> Program:
        outputs = [*self.reversal.inputs, *self._inferred, *self._sources]
        return self._compiled(self._all_sets, outputs, self._conjunctions)

    @cached_property
    def _traced(self) -> Program:
        back = self.reversal
        outputs = [*back.inputs, *back.inferred.values(), *back.sources.values()]
        return self._compiled(self._all_sets, outputs, [a.name for a in back.inferred.values()])

    @cached_property
    def _all_sets(self) -> list[RuleSet]:
        back = self.reversal
        return [*self._reached_first, *back.backward(choosing=True), *back.forward()]

    @cached_on_owner
    def _forward(self, normalised: bool) -> Program:
        units = [s.unit for s in self.reversal.forward()]
        known = {a.name: a for a in self.reversal.inputs}
        unnormalised = [] if normalised else list(known)
        return Program(units, self._inferred, known, self._conjunctions, unnormalised=unnormalised)

    def _compiled(
        self, sets: Sequence[RuleSet], outputs: Sequence[Attribute], degrees: Sequence[str] = ()
    ) -> Program:
        back = self.reversal
        known = {a.name: a for a in (*(back.sets[n].output for n in back.targets), *back.switches)}
        distinct = list({a.name: a for a in outputs}.values())
        return Program([s.unit for s in sets], distinct, known, degrees)


@cached_on_owner
def backward_program(cascade: Cascade, targets: tuple[str, ...]) -> BackwardProgram:
    """Return the programs for some targets, stored on the cascade that they belong to."""
    return BackwardProgram(cascade, targets)
