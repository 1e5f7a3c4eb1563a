"""What ``pinesy explain`` says of a sample, as text, as data or as a picture."""

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from pinesy.cli.output import degrees_by_name
from pinesy.explanations import (
    Explanation,
    LimitingDegree,
    Restraint,
    WhyNot,
    explain,
    input_margins,
    is_coherent,
    margin,
    picture,
    why_not,
)
from pinesy.explanations.json_form import json_text, plain_value
from pinesy.explanations.labels import listed, number_text
from pinesy.explanations.picture import LIMIT
from pinesy.explanations.picture import NODES as PICTURED
from pinesy.rulebase.cascade import Cascade
from pinesy.rules.attributes import Attribute, Proposition
from pinesy.samples import value_texts


class ExplanationFormat(StrEnum):
    """How an explanation is written."""

    TEXT = "text"
    JSON = "json"
    SVG = "svg"


#: Values, triplets and propositions that are shown of each by default.
LIMITS = {ExplanationFormat.TEXT: 5, ExplanationFormat.JSON: 20, ExplanationFormat.SVG: LIMIT}
#: Values of an explanation as data, in all.
NODES = 500
#: Inputs that are named as the most delicate.
DELICATE = 3


@dataclass(frozen=True)
class Question:
    """What is to be explained, of any sample.

    Attributes
    ----------
    proposition : the value asked about; the attribute itself for the most possible one
    other, has_other : the value of ``--why-not``, and whether it is given (None may be a value)
    """

    cascade: Cascade
    attribute: Attribute
    proposition: Proposition | Attribute
    other: Hashable
    has_other: bool


@dataclass(frozen=True)
class ExplanationReport:
    """The explanation, margins and counterfactual of one sample.

    Attributes
    ----------
    line, evidence : where the sample stands, and its degrees
    eta, depth : as `explain` takes them
    limit, nodes : how much of each is shown, and how many values of an explanation as data
    """

    question: Question
    line: int
    evidence: Any
    eta: float
    depth: int | None
    limit: int | None
    nodes: int | None = NODES

    def everything(self) -> "ExplanationReport":
        """Return the same without limits."""
        return replace(self, limit=None, nodes=None)

    def write(self, form: ExplanationFormat) -> str:
        """Return all of it in a format."""
        if form is ExplanationFormat.TEXT:
            return self.text()
        if form is ExplanationFormat.JSON:
            return json_text(self.to_dict(), indent=1)
        return picture(self.explanation, limit=self.limit, nodes=self.nodes and PICTURED)

    @cached_property
    def explanation(self) -> Explanation:
        """The explanation of the value asked about."""
        question = self.question
        return explain(
            question.cascade, self.evidence, question.proposition, eta=self.eta, depth=self.depth
        )

    @cached_property
    def why_not(self) -> WhyNot | None:
        """What holds the other value down, if ``--why-not`` asks."""
        question = self.question
        if not question.has_other:
            return None
        return why_not(question.cascade, self.evidence, question.other, question.attribute)

    @cached_property
    def margin(self) -> float:
        """How far all inputs may move before the decision can change."""
        return float(margin(self.question.cascade, self.evidence, self.question.attribute))

    @cached_property
    def is_exact(self) -> bool:
        """Whether the margins are exact, not bounds."""
        return is_coherent(self.question.cascade, self.question.attribute)

    @cached_property
    def margins(self) -> dict[str, float]:
        """How far each input alone may move."""
        return input_margins(self.question.cascade, self.evidence, self.question.attribute)

    def text(self) -> str:
        """Return the answers in plain English."""
        # Without a limit, as deep as the rules go.
        depth = len(self.question.cascade.rule_sets) if self.limit is None else None
        parts = [self.explanation.text(depth=self.depth or depth, limit=self.limit)]
        parts.append(self._margin_text())
        if self.question.has_other:
            parts.append(f"Why not {_value(self.question)}?\n{self.why_not}")
        return "\n\n".join(parts)

    def _margin_text(self) -> str:
        distance, name = self.margin, self.question.attribute.name
        if distance == 0.0:
            return f"Margin: 0. Several values of {name} are most possible: nothing is decided."
        if math.isinf(distance):
            return f"Margin: unlimited. No inputs make another value of {name} most possible."
        stays = f"While all input degrees move by less, {name} keeps its most possible value"
        if not self.is_exact:
            return f"Margin: at least {number_text(distance)}. {stays}; it may keep it beyond that."
        moves = "moves of just as much can change it"
        return f"Margin: {number_text(distance)}. {stays}; {moves}.{self._alone_text()}"

    def _alone_text(self) -> str:
        """Return how far the most delicate inputs may move alone, where there are several."""
        if len(self.margins) == 1:
            return ""
        bounded = [f"{n} ({number_text(far)})" for n, far in self.margins.items() if far < math.inf]
        if not bounded:
            return " No input alone can change it."
        left = len(bounded) - DELICATE
        shown = bounded[:DELICATE] + [f"{left} more"] * (left > 0)
        return f" Inputs that can change it alone: {listed(shown)}."

    def to_dict(self) -> dict[str, Any]:
        """Return the answers as plain data."""
        margins = {name: _finite(far) for name, far in self.margins.items()}
        content = self.explanation.to_dict(limit=self.limit, nodes=self.nodes)
        return {
            "sample": self.line,
            "explanation": content,
            "margin": {"all": _finite(self.margin), "exact": self.is_exact, "inputs": margins},
            "why_not": self._why_not_dict(self.why_not) if self.why_not else None,
        }

    def _why_not_dict(self, answer: WhyNot) -> dict[str, Any]:
        restraints, change = answer.restraints[: self.limit], answer.change
        bottlenecks = answer.bottlenecks[: self.limit]
        return {
            "value": plain_value(answer.value),
            "possibility": answer.degree,
            "winners": [plain_value(v) for v in answer.winners],
            "holds": [self._restraint(one) for one in restraints],
            "holds_omitted": len(answer.restraints) - len(restraints),
            "bottlenecks": [self._bottleneck(b) for b in bottlenecks],
            "bottlenecks_omitted": len(answer.bottlenecks) - len(bottlenecks),
            "cut": answer.cut,
            "change": None
            if change is None
            else {
                "readings": {n: plain_value(v) for n, v in change.readings.items()},
                "size": change.size,
                "exact": change.exact,
                "old": {n: degrees_by_name(change.old[n]) for n in change.readings},
                "new": {n: degrees_by_name(change.new[n]) for n in change.readings},
            },
            "obstacle": answer.obstacle or None,
        }

    def _bottleneck(self, reason: LimitingDegree) -> dict[str, Any]:
        value = plain_value(reason.value)
        return {"attribute": reason.attribute.name, "value": value, "possibility": reason.degree}

    def _restraint(self, restraint: Restraint) -> dict[str, Any]:
        return {
            "attribute": restraint.attribute.name,
            "value": plain_value(restraint.value),
            "possibility": restraint.degree,
            "rule": restraint.number,
            "text": self.explanation.wording.rule(restraint.rule, self.limit),
            "by": restraint.by,
        }


def _value(question: Question) -> str:
    attribute = question.attribute
    return value_texts(attribute)[attribute.position(question.other)]


def _finite(distance: float) -> float | None:
    """Return a distance as JSON has it: null where it is unlimited."""
    return None if math.isinf(distance) else distance
