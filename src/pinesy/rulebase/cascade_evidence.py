"""What evidence on the inputs of a cascade must look like."""

from typing import TYPE_CHECKING

from pinesy._common.caching import cached_on_owner
from pinesy.engine.evidence import Evidence, EvidenceForm
from pinesy.engine.rows import Rows
from pinesy.rules.attributes import Attribute

if TYPE_CHECKING:
    from pinesy.rulebase.cascade import Cascade


def evidence_rows(
    cascade: "Cascade", evidence: Evidence, inputs: tuple[Attribute, ...] | None = None
) -> Rows:
    """Check the form of evidence on some of the inputs (by default all), as inference does."""
    return evidence_form(cascade, cascade.inputs if inputs is None else inputs).rows(evidence)


@cached_on_owner
def evidence_form(cascade: "Cascade", inputs: tuple[Attribute, ...]) -> EvidenceForm:
    """Return the form of evidence on some of the inputs."""
    return EvidenceForm(inputs, inputs_by_name(cascade), _concluded(cascade), cascade.attributes)


@cached_on_owner
def inputs_by_name(cascade: "Cascade") -> dict[str, Attribute]:
    """Return the inputs by name."""
    return {a.name: a for a in cascade.inputs}


@cached_on_owner
def _concluded(cascade: "Cascade") -> frozenset[str]:
    """Return the names of the attributes that rules conclude on."""
    return frozenset(cascade.sets)
