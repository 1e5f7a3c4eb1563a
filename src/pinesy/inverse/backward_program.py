"""Programs from targets back to the inputs and forward again, compiled once for each cascade."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pinesy._common.caching import cached_on_owner
from pinesy._common.console import notice
from pinesy._common.masks import positions
from pinesy._common.validation import FloatArray
from pinesy.engine.code import Code
from pinesy.engine.compiler import link
from pinesy.engine.evidence import Rows
from pinesy.engine.program import run
from pinesy.inverse.reversal import Reversal, RuleKey
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import BoolArray

COMPILING = "pinesy: compiling the rules ..."

#: Distributions of a batch by name, of shape ``(n, |D_a|)`` each.
Arrays = Mapping[str, FloatArray]


@dataclass(frozen=True)
class ProgramOutput:
    """The output of a program for a batch: distributions by attribute, premise degrees by set."""

    code: Code
    columns: FloatArray

    def degrees(self, attribute: Attribute) -> FloatArray:
        """Return the distributions of an attribute, of shape ``(n, |D_a|)``."""
        return self.columns[self.code.columns[attribute.name]].T

    def first(self, attribute: Attribute) -> FloatArray:
        """Return the distribution of an attribute for the first sample."""
        return np.asarray(self.degrees(attribute)[0])

    def premises(self, attribute: Attribute) -> tuple[FloatArray, FloatArray]:
        """Return ``lambda`` and ``rho`` of the rules on an attribute, of shape ``(n, n_rules)``."""
        pairs = self.columns[self.code.degrees[attribute.name]].T
        return pairs[:, 0::2], pairs[:, 1::2]


class BackwardProgram:
    """The programs for one cascade and one set of target attributes."""

    def __init__(self, cascade: Cascade, targets: Sequence[str]) -> None:
        self.reversal = Reversal(cascade, targets)

    def backward(self, targets: Arrays) -> ProgramOutput:
        """Infer the greatest inputs, with no conjunct lowered."""
        return _run(self._backward, targets)

    def forward(self, inputs: Arrays, normalised: bool) -> ProgramOutput:
        """Infer the targets from inputs; if some are not `normalised`, by the bare formulas."""
        return _run(self._forward if normalised else self._forward_unnormalised, inputs)

    def reach(self, targets: Arrays) -> ProgramOutput:
        """Infer ``M box F^up`` of each target."""
        return _run(self._reaching, targets)

    def choose(
        self, targets: Arrays, switches: FloatArray, *, trace: bool = False
    ) -> ProgramOutput:
        """Infer the greatest inputs with chosen conjuncts lowered, and what they give.

        Parameters
        ----------
        switches : array (n, conjuncts), 1 for those that are lowered
        trace : whether to return every attribute's distribution and every premise degree
        """
        off = {
            a.name: np.stack([1.0 - switches[:, i], np.ones(len(switches))], axis=1)
            for i, a in enumerate(self.reversal.switches)
        }
        return _run(self._traced if trace else self._choosing, {**targets, **off})

    def upper_bounds(self, output: ProgramOutput) -> dict[RuleKey, FloatArray]:
        """Return ``max(s, lambda_up)`` of each conjunction for each sample; the last rules first.

        ``lambda_up = Pi(Q)`` as in [def:coFU].
        """
        back, bounds = self.reversal, {}
        for name, number in reversed(back.conjuncts):
            rule, source = back.sets[name].rules[number - 1], back.sources[name]
            inside = positions(rule.conclusion.mask)
            bounds[name, number] = output.degrees(source)[:, inside].max(axis=1, initial=rule.s)
        return bounds

    def exceeding(
        self, bounds: Mapping[RuleKey, FloatArray], output: ProgramOutput
    ) -> dict[RuleKey, BoolArray]:
        """Return for each conjunction the samples where ``lambda > max(s, lambda_up)``."""
        inferred = self.reversal.inferred
        lambdas = {name: output.premises(inferred[name])[0] for name, _ in bounds}
        return {key: lambdas[key[0]][:, key[1] - 1] > bound for key, bound in bounds.items()}

    @cached_property
    def _backward(self) -> Code:
        back = self.reversal
        sets = [*self._reached_first(), *back.backward(choosing=False)]
        return self._compiled(sets, [*back.inputs, *self._conjunction_sources])

    @cached_property
    def _forward(self) -> Code:
        return self._compiled_forward([])

    @cached_property
    def _forward_unnormalised(self) -> Code:
        return self._compiled_forward([a.name for a in self.reversal.inputs])

    @cached_property
    def _reaching(self) -> Code:
        return self._compiled(self.reversal.reaching(), list(self.reversal.reached.values()))

    @cached_property
    def _choosing(self) -> Code:
        outputs = [*self.reversal.inputs, *self._inferred, *self._conjunction_sources]
        return self._compiled(self._all_sets(), outputs, self._conjunction_outputs)

    @cached_property
    def _traced(self) -> Code:
        back = self.reversal
        outputs = [*back.inputs, *back.inferred.values(), *back.sources.values()]
        return self._compiled(self._all_sets(), outputs, [a.name for a in back.inferred.values()])

    @property
    def _inferred(self) -> list[Attribute]:
        return [self.reversal.inferred[name] for name in self.reversal.targets]

    @property
    def _with_conjunctions(self) -> list[str]:
        """The rule sets that have conjunctions, by their outputs."""
        return list(dict.fromkeys(name for name, _ in self.reversal.conjuncts))

    @property
    def _conjunction_sources(self) -> list[Attribute]:
        """What the bounds ``lambda_up`` of conjunctions are taken from."""
        return [self.reversal.sources[name] for name in self._with_conjunctions]

    @property
    def _conjunction_outputs(self) -> list[str]:
        """The names of what is inferred by the rule sets that have conjunctions."""
        return [self.reversal.inferred[name].name for name in self._with_conjunctions]

    def _reached_first(self) -> list[RuleSet]:
        used = {a.name for a in self.reversal.sources.values()}
        return [s for s in self.reversal.reaching() if s.output.name in used]

    def _all_sets(self) -> list[RuleSet]:
        back = self.reversal
        return [*self._reached_first(), *back.backward(choosing=True), *back.forward()]

    def _compiled_forward(self, unnormalised: Sequence[str]) -> Code:
        units = [s.unit for s in self.reversal.forward()]
        with notice(COMPILING):
            return link(
                units,
                self._inferred,
                self.reversal.inputs,
                self._conjunction_outputs,
                unnormalised,
            )

    def _compiled(
        self, sets: Sequence[RuleSet], outputs: Sequence[Attribute], degrees: Sequence[str] = ()
    ) -> Code:
        back = self.reversal
        known = [*(back.sets[name].output for name in back.targets), *back.switches]
        distinct = list({a.name: a for a in outputs}.values())
        with notice(COMPILING):
            return link([s.unit for s in sets], distinct, known, degrees)


def _run(code: Code, arrays: Arrays) -> ProgramOutput:
    inputs = [arrays[a.name] for a in code.inputs]
    return ProgramOutput(code, run(code, Rows(code.inputs, inputs, len(inputs[0]), True)))


def backward_program(cascade: Cascade, targets: Sequence[str]) -> BackwardProgram:
    """Return the programs for some targets, stored on the cascade that they belong to."""
    programs, key = _programs(cascade), tuple(targets)
    if key not in programs:
        programs[key] = BackwardProgram(cascade, key)
    return programs[key]


@cached_on_owner
def _programs(_cascade: Cascade) -> dict[tuple[str, ...], BackwardProgram]:
    return {}
