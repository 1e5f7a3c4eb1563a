"""What ``pinesy infer`` computes: the results of a batch of samples, by all its options."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

import numpy as np

from pinesy._common.distinct import distinct_rows
from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray
from pinesy.cli import options
from pinesy.cli.result_columns import (
    BatchResults,
    Clashes,
    OutputColumns,
    decided_columns,
    exact_columns,
    possibility_columns,
    weight_columns,
)
from pinesy.engine.program import Program
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.clashes import first_clashes
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import rule_numbers_text
from pinesy.rules.possibility import Possibility
from pinesy.samples import Batch
from pinesy.semantics.semantics import Semantics

if TYPE_CHECKING:  # imported where an option needs them
    from pinesy.calibration import CalibratedRules, PredictionSets
    from pinesy.guarantees import GroupedRules, SelectiveRules


@dataclass(frozen=True, eq=False)
class BatchInference:
    """Infers the outputs of rules for batches of samples.

    Attributes
    ----------
    inputs : the attributes that are read
    meaning : the semantics
    selective, calibrated, level, is_consistent : the guarantees, if some are asked for
    max_conflicts : of exact inference; None for inference by the rules
    """

    cascade: Cascade
    program: Program
    inputs: Sequence[Attribute]
    meaning: Semantics
    selective: Union["SelectiveRules", None] = None
    calibrated: Union["CalibratedRules", "GroupedRules", None] = None
    level: float | None = None
    is_consistent: bool = False
    max_conflicts: int | None = None

    @property
    def attributes(self) -> Sequence[Attribute]:
        """The attributes that have results."""
        outputs = self.program.outputs
        return [*self.cascade.inputs, *outputs] if self.is_consistent else outputs

    def __call__(self, samples: Batch) -> BatchResults:
        """Return the results of a batch."""
        return BatchResults(samples, self._columns(samples))

    def _columns(self, samples: Batch) -> list[OutputColumns]:
        evidence, outputs = samples.evidence, self.program.outputs
        if not self.meaning.is_compiled:
            return self._weighted(evidence)
        if self.selective is not None:
            decisions = self.selective.decisions(evidence)
            return [decided_columns(decisions, a) for a in outputs]
        if self.calibrated is not None and self.level is not None:
            sets = self._sets(self.calibrated, samples, self.level)
            return [possibility_columns(p, sets=sets) for p in sets.possibilities.values()]
        if self.max_conflicts is not None:
            names = [a.name for a in outputs]
            exact = self.cascade.infer(
                evidence, names, exact=True, max_conflicts=self.max_conflicts
            )
            return [
                exact_columns(exact, a, self._clashes(exact.upper[a.name], evidence))
                for a in outputs
            ]
        inferred = self.program.infer(evidence)
        results = [inferred[a.name] for a in outputs]
        return [possibility_columns(pi, self._clashes(pi, evidence)) for pi in results]

    def _weighted(self, evidence: FloatArray) -> list[OutputColumns]:
        """Return the results of each output in another semantics."""
        inputs, outputs = self.inputs, self.program.outputs
        by_name = {name: evidence[:, span] for name, span in column_slices(inputs).items()}
        if self.meaning.reads == "probabilities":
            by_name = options.input_probabilities(inputs, evidence)
        weighted = self.cascade.infer(by_name, outputs, semantics=self.meaning)
        return [weight_columns(weighted[a.name]) for a in outputs]

    def _sets(
        self, calibrated: "CalibratedRules | GroupedRules", samples: Batch, level: float
    ) -> "PredictionSets":
        """Return the sets of a level, by the calibrations of groups if there are some."""
        from pinesy.cli.guaranteed_models import calibrated_for
        from pinesy.guarantees import consistent_sets

        rules = calibrated_for(calibrated, samples)
        if self.is_consistent:
            return consistent_sets(rules, samples.evidence, level, attributes=self.attributes)
        return rules.predict_set(samples.evidence, level, self.attributes)

    def _clashes(self, pi: Possibility, evidence: FloatArray) -> Clashes:
        """Return the rules that clash in contradictory samples; equal evidence is traced once."""
        lost = np.flatnonzero(pi.contradiction)
        if not len(lost):
            return Clashes()
        needed = self.cascade.needed([pi.attribute.name])
        trace = self.cascade.compile([s.output for s in needed], trace=True)
        columns = column_slices(self.program.inputs)
        lost_evidence = evidence[lost]
        rows, contents = distinct_rows(lost_evidence)
        traced = {a.name: lost_evidence[rows][:, columns[a.name]] for a in trace.inputs}
        texts, indices = [""], np.zeros(len(rows), np.intp)
        by_rules: dict[tuple[str, tuple[int, ...]], int] = {}
        for row, clash in first_clashes(needed, trace.infer(traced)).items():
            if clash not in by_rules:
                by_rules[clash] = len(texts)
                name, rules = clash
                texts.append(rule_numbers_text([self.cascade.rule_number(name, j) for j in rules]))
            indices[row] = by_rules[clash]
        all_indices = np.zeros(len(pi), np.intp)
        all_indices[lost] = indices[contents]
        return Clashes(texts, all_indices)
