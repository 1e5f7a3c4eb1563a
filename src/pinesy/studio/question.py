"""A question of the page about one value of the current sample, as the library takes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinesy._common.validation import check_integer, check_number
from pinesy.exceptions import DataError
from pinesy.explanations import Explanation, explain
from pinesy.explanations.explanation_report import ExplanationReport
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.propositions import Proposition
from pinesy.studio.given_sample import sample_evidence, sample_images
from pinesy.studio.session import Session, Work

Asked = Mapping[str, Any]
#: Values, rules and propositions that are shown of each, unless the page asks for more.
LIMIT = 6


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of which value, on which evidence.

    Attributes
    ----------
    work : the rules as they were when it was asked
    attribute : that rules conclude on
    place : of the value in the domain; None for the most possible one
    evidence : on the inputs, plain values where they are known for certain
    images : of inputs, where there are some
    """

    work: Work
    attribute: Attribute
    place: int | None
    evidence: dict[str, Any]
    images: dict[str, Any]

    @classmethod
    def of(cls, session: Session, asked: Asked) -> "Question":
        """Read a question: ``attribute`` (its name), ``place`` (or null), ``sample``."""
        work = session.work
        attribute = output_named(work.rules, asked.get("attribute"))
        place = asked.get("place")
        place = None if place is None else place_of(attribute, place)
        given = asked.get("sample")
        inputs = {a.name for a in work.rules.compile([attribute]).inputs}
        known = {n: _plain(e) for n, e in sample_evidence(session, given).items()}
        images = {n: image for n, image in sample_images(session, given).items() if n in inputs}
        return cls(work, attribute, place, known, images)

    @property
    def proposition(self) -> Proposition | Attribute:
        """What is explained: the value, or the attribute for its most possible one."""
        if self.place is None:
            return self.attribute
        return Proposition(self.attribute, 1 << self.place)

    @property
    def own_evidence(self) -> dict[str, Any]:
        """The evidence on the inputs that the attribute depends on."""
        inputs = self.work.rules.compile([self.attribute]).inputs
        return {a.name: self.evidence[a.name] for a in inputs}

    def explanation(self, eta: float = 0.1, depth: int | None = None) -> Explanation:
        """Explain it by the rules."""
        rules = self.work.rules
        return explain(rules, self.own_evidence, self.proposition, eta=eta, depth=depth)

    def report(self, explanation: Explanation, **more: Any) -> ExplanationReport:
        """Return all that is answered, in the forms of the command line."""
        parts = {"why_not": None, "limit": LIMIT} | more
        return ExplanationReport(self.work.rules, None, self.own_evidence, explanation, **parts)


def output_named(rules: Cascade, name: object) -> Attribute:
    """Return the attribute with a name that rules conclude on; the last output for null."""
    if name is None:
        return rules.outputs[-1]
    if not isinstance(name, str) or name not in rules.sets:
        raise DataError(f"the rules conclude on no attribute {name!r:.60}")
    return rules.sets[name].output


def place_of(attribute: Attribute, place: object) -> int:
    """Return the place of a value in a domain, checked."""
    found = check_integer(place, f"a place in {attribute.name}", error=DataError)
    if found >= len(attribute.domain):
        raise DataError(f"{attribute.name} has {len(attribute.domain)} values; got place {found}")
    return found


def level_of(asked: Asked) -> float:
    """Return the level that is asked for, 0.95 by default."""
    return check_number(asked.get("level", 0.95), "the level", 0.0, 1.0, DataError)


def _plain(evidence: Any) -> Any:
    """Return a distribution with a single value as that value: changes then name values."""
    if not isinstance(evidence, Possibility):
        return evidence
    certain = np.flatnonzero(evidence.degrees)
    value = evidence.attribute.domain[certain[0]] if len(certain) == 1 else None
    return evidence if value is None else value
