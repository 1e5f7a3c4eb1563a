"""Cascades and rule sets in a semantics other than the possibilistic one (docs/semantics.md)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinesy._common.caching import cached_on_owner
from pinesy._common.validation import check_integer
from pinesy.engine.number_types import NumberType
from pinesy.engine.rule_set_kinds import RuleUnit
from pinesy.evidence.evidence_form import Evidence, EvidenceForm, Transform, evidence_form
from pinesy.exceptions import CascadeError
from pinesy.rules.attributes import Attribute
from pinesy.semantics.semirings import SEMIRINGS
from pinesy.semantics.world_weights import WorldInference, WorldWeights, infer_worlds
from pinesy.semantics.worlds import Part, Worlds

if TYPE_CHECKING:
    from pinesy.rulebase.cascade import Cascade


@cached_on_owner
def worlds_of(cascade: "Cascade", semantics: str, largest: int) -> Worlds:
    """Return the worlds of a cascade in a semantics other than the possibilistic one."""
    largest = check_integer(largest, "largest", least=1)
    return Worlds([one.unit for one in cascade.order], SEMIRINGS[semantics], largest)


def infer_in(
    cascade: "Cascade",
    evidence: Evidence,
    outputs: tuple[Attribute, ...],
    semantics: str,
    largest: int,
) -> WorldInference:
    """Return what the worlds weigh for each value of the outputs; see `Cascade.infer`."""
    largest = check_integer(largest, "largest", least=1)
    parts, inputs = world_parts(cascade, tuple(a.name for a in outputs), semantics, largest)
    form = evidence_form(cascade, inputs)
    return infer_worlds(parts, SEMIRINGS[semantics], outputs, form, evidence)


def infer_units(
    units: Sequence[RuleUnit], output: Attribute, evidence: Evidence, semantics: str, largest: int
) -> WorldWeights:
    """Return the same for a rule set and those of the formulas in its premises."""
    semiring = SEMIRINGS[semantics]
    parts = Worlds(units, semiring, check_integer(largest, "largest", least=1)).parts([output.name])
    made = {unit.output.name for unit in units}
    inputs = {a.name: a for unit in units for a in unit.inputs if a.name not in made}
    form = EvidenceForm(tuple(inputs.values()), inputs, frozenset(made), inputs)
    return infer_worlds(parts, semiring, [output], form, evidence)[output.name]


def check_plain(transform: Transform, dtype: NumberType, semantics: str) -> None:
    """Raise `CascadeError` for what only the possibilistic semantics has."""
    if transform is not None or dtype != "float64":
        raise CascadeError(
            f"transform and dtype are not of the {semantics} semantics; leave them out"
        )


@cached_on_owner
def world_parts(
    cascade: "Cascade", outputs: tuple[str, ...], semantics: str, largest: int
) -> tuple[list[Part], tuple[Attribute, ...]]:
    """Return what is computed for some outputs, and the inputs that it takes."""
    parts = worlds_of(cascade, semantics, largest).parts(outputs)
    used = {name for part in parts for name in part.given} | set(outputs)
    return parts, tuple(a for a in cascade.inputs if a.name in used)


@cached_on_owner
def joint_part(cascade: "Cascade", answers: tuple[str, ...], semantics: str, largest: int) -> Part:
    """Return what is computed for all worlds that agree with some answers."""
    return worlds_of(cascade, semantics, largest).joint(answers)
