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
    known = {a.name: a for a in cascade.inputs}
    return EvidenceForm(inputs, known, frozenset(cascade.sets), cascade.attributes)
