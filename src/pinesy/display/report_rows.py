"""Suspicious labels of a data file in words: ids, what is known, the label and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pinesy.explanations.labels import Wording, list_text
from pinesy.learning.audit import Audit
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.samples import Batch, evidence_of

#: Labels that a report shows.
MAX_ROWS = 20
#: Inputs and values that the text of a row names; others are counted.
MAX_INPUTS, MAX_VALUES = 6, 3


@dataclass(frozen=True)
class SuspiciousRow:
    """A suspicious label.

    Attributes
    ----------
    name : the ids of the row, or its number
    known : what is known of it
    attribute, label : of which attribute the label is, and the label
    answer : the value that is more possible
    possibility : of the label
    reason : why it is suspicious, with the rule that speaks against it
    """

    name: str
    known: str
    attribute: str
    label: str
    answer: str
    possibility: float
    reason: str


@dataclass(frozen=True)
class SuspiciousLabels:
    """The first suspicious labels of an audit, worst first, the number of all, and their basis."""

    count: int
    basis: str
    rows: tuple[SuspiciousRow, ...]


def suspicious_labels(
    audit: Audit, batch: Batch, inputs: Sequence[Attribute], limit: int = MAX_ROWS
) -> SuspiciousLabels:
    """Return the worst suspicious labels of the rows of a file.

    Parameters
    ----------
    batch : the audited rows
    inputs : the attributes of its columns
    limit : how many to return
    """
    wording = Wording.of(None, audit.cascade.attributes)
    count = int(audit.suspicious.sum())
    rows = []
    for row in audit.rows(min(limit, count)):
        index = row["sample"]
        ids = " ".join(map(str, batch.ids_of(index).values()))
        rows.append(
            SuspiciousRow(
                ids or f"row {index + 1:,}",
                evidence_text(inputs, evidence_of(batch, index, inputs), wording),
                wording.name(audit.cascade[row["set"]].output),
                row["label"],
                row["best"],
                row["possibility"],
                row["reason"],
            )
        )
    return SuspiciousLabels(count, audit.basis, tuple(rows))


def evidence_text(
    inputs: Sequence[Attribute], evidence: Mapping[str, Any], wording: Wording
) -> str:
    """Return what is known of a row: the first inputs with their values.

    Examples
    --------
    >>> sky = Attribute("sky", ["clear", "dark"])
    >>> evidence_text([sky], {"sky": "dark"}, Wording())
    'sky dark'
    """
    texts = []
    for attribute in inputs[:MAX_INPUTS]:
        content = evidence[attribute.name]
        if isinstance(content, Possibility):
            best = [wording.value(attribute, value) for value in content.best_values]
            text = f"perhaps {remaining_text(best)}"
        else:
            text = Wording().plain_value(attribute, content)
        texts.append(f"{wording.name(attribute)} {text}")
    hidden = len(inputs) - MAX_INPUTS
    return ", ".join([*texts, *([f"{hidden} more"] if hidden > 0 else [])])


def remaining_text(values: Sequence[str]) -> str:
    """Return the values that remain possible: the first of them, and a count."""
    hidden = len(values) - MAX_VALUES
    count = [f"{hidden} more"] if hidden > 0 else []
    return list_text([*values[:MAX_VALUES], *count], "or")
