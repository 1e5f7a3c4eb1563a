"""Inference in semantics other than the possibilistic one (docs/semantics.md)."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Protocol

from pinesy._common.caching import cached_on_owner
from pinesy._common.validation import check_integer
from pinesy.engine.number_types import NumberType
from pinesy.engine.rule_set_kinds import RuleUnit
from pinesy.evidence.evidence_form import Evidence, EvidenceForm, RuleBase, Transform, evidence_form
from pinesy.exceptions import CascadeError
from pinesy.rules.attributes import Attribute
from pinesy.semantics.semantics import Semantics
from pinesy.semantics.world_weights import (
    Compute,
    WorldInference,
    WorldWeights,
    infer_worlds,
    rule_function,
)
from pinesy.semantics.worlds import Part, Worlds, marginals_in_blocks


class RuleSets(RuleBase, Protocol):
    """Protocol of cascades: rule sets, each with its `unit`."""

    @property
    def order(self) -> Sequence[Any]:
        """All sets, in the order of inference."""

    def needed(self, outputs: Iterable[str]) -> Sequence[Any]:
        """Return the sets that some outputs depend on, in the order of inference."""


def infer_cascade(
    cascade: RuleSets,
    evidence: Evidence,
    outputs: tuple[Attribute, ...],
    semantics: Semantics,
    transform: Transform,
    largest: int,
) -> WorldInference:
    """Return the weights of the values of some outputs of a cascade; see `Cascade.infer`."""
    names = tuple(a.name for a in outputs)
    largest = check_integer(largest, "largest", least=1)
    if semantics.sums_out:
        parts, inputs = world_parts(cascade, names, semantics, largest)
        compute: Compute = partial(marginals_in_blocks, parts, semantics.semiring)
    else:
        units = [rule_set.unit for rule_set in cascade.needed(names)]
        compute = rule_function(semantics, units)
        input_names = {a.name for unit in units for a in unit.inputs}.union(names)
        inputs = tuple(a for a in cascade.inputs if a.name in input_names)
    form = evidence_form(cascade, inputs)
    return infer_worlds(semantics, compute, outputs, form, evidence, transform)


def infer_units(
    units: Sequence[RuleUnit],
    output: Attribute,
    evidence: Evidence,
    semantics: Semantics,
    transform: Transform,
    largest: int,
) -> WorldWeights:
    """Return the weights of the values of the output of a rule set (with its formulas)."""
    largest = check_integer(largest, "largest", least=1)
    if semantics.sums_out:
        parts = Worlds(units, semantics.semiring, largest).parts([output.name])
        compute: Compute = partial(marginals_in_blocks, parts, semantics.semiring)
    else:
        compute = rule_function(semantics, units)
    concluded = {unit.output.name for unit in units}
    inputs = {a.name: a for unit in units for a in unit.inputs if a.name not in concluded}
    form = EvidenceForm(tuple(inputs.values()), inputs, frozenset(concluded), inputs)
    return infer_worlds(semantics, compute, [output], form, evidence, transform)[output.name]


def check_options(semantics: Semantics, transform: Transform, dtype: NumberType) -> None:
    """Raise `CascadeError` for options that the semantics does not have."""
    if dtype != "float64" or (transform is not None and semantics.reads == "probabilities"):
        raise CascadeError(
            f"the {semantics.name} semantics has no transform and no dtype; leave them out"
        )


def check_exact_options(semantics: Semantics, dtype: NumberType) -> None:
    """Raise `CascadeError` for options that exact inference does not have."""
    if not semantics.is_compiled:
        raise CascadeError(
            f"exact is for possibilities, and the {semantics.name} semantics is exact already; "
            "leave it out. Where its tables are too large, best_world finds the most probable world"
        )
    if dtype != "float64":
        raise CascadeError(f"exact inference is in float64; got dtype {dtype!r}, leave it out")


@cached_on_owner
def _worlds(cascade: RuleSets, semantics: Semantics, largest: int) -> Worlds:
    """Return the worlds of a cascade in a semantics."""
    largest = check_integer(largest, "largest", least=1)
    units = [rule_set.unit for rule_set in cascade.order]
    return Worlds(units, semantics.semiring, largest)


@cached_on_owner
def world_parts(
    cascade: RuleSets, outputs: tuple[str, ...], semantics: Semantics, largest: int
) -> tuple[list[Part], tuple[Attribute, ...]]:
    """Return the parts of the computation of some outputs, and the inputs of these parts."""
    parts = _worlds(cascade, semantics, largest).parts(outputs)
    input_names = {name for part in parts for name in part.given} | set(outputs)
    return parts, tuple(a for a in cascade.inputs if a.name in input_names)


@cached_on_owner
def joint_part(
    cascade: RuleSets, answers: tuple[str, ...], semantics: Semantics, largest: int
) -> Part:
    """Return the part that computes the weight of all worlds with some answers."""
    return _worlds(cascade, semantics, largest).joint(answers)
