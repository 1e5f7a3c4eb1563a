"""What ``pinesy explain`` says of a sample, as text, as data or as a picture."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from pinesy.cli.output import degrees_by_name
from pinesy.explanations import (
    Explanation,
    LimitingDegree,
    Restraint,
    WhyNot,
    input_margins,
    is_coherent,
    margin,
    picture,
)
from pinesy.explanations.json_form import json_text, plain_value
from pinesy.explanations.labels import listed, number_text
from pinesy.explanations.picture import LIMIT
from pinesy.explanations.picture import NODES as PICTURED
from pinesy.rulebase.cascade import Cascade
from pinesy.samples import value_texts

ExplanationFormat = Literal["text", "json", "svg"]

#: Values, triplets and propositions that are shown of each by default.
LIMITS: dict[ExplanationFormat, int] = {"text": 5, "json": 20, "svg": LIMIT}
#: Values of an explanation as data, in all.
NODES = 500
#: Inputs that are named as the most delicate.
DELICATE = 3


@dataclass(frozen=True)
class ExplanationReport:
    """The explanation, margins and counterfactual of one sample.

    Attributes
    ----------
    line, evidence : where the sample stands, and its degrees
    why_not : what holds another value down, if ``--why-not`` asks
    limit : how much of each is shown; None for everything
    """

    cascade: Cascade
    line: int
    evidence: Any
    explanation: Explanation
    why_not: WhyNot | None
    limit: int | None

    def write(self, form: ExplanationFormat) -> str:
        """Return all of it in a format."""
        if form == "text":
            return self.text()
        if form == "json":
            return json_text(self.to_dict(), indent=1)
        return picture(self.explanation, limit=self.limit, nodes=self.limit and PICTURED)

    def text(self) -> str:
        """Return the answers in plain English."""
        # Without a limit, as deep as the rules go.
        depth = len(self.cascade.rule_sets) if self.limit is None else None
        depth = self.explanation.depth or depth
        parts = [self.explanation.text(depth=depth, limit=self.limit), self._margin_text()]
        if self.why_not:
            attribute = self.why_not.attribute
            value = value_texts(attribute)[attribute.position(self.why_not.value)]
            parts.append(f"Why not {value}?\n{self.why_not}")
        return "\n\n".join(parts)

    def _margin_text(self) -> str:
        attribute = self.explanation.attribute
        name, distance = attribute.name, float(margin(self.cascade, self.evidence, attribute))
        if distance == 0.0:
            return f"Margin: 0. Several values of {name} are most possible: nothing is decided."
        if math.isinf(distance):
            return f"Margin: unlimited. No inputs make another value of {name} most possible."
        stays = f"While all input degrees move by less, {name} keeps its most possible value"
        if not is_coherent(self.cascade, attribute):
            return f"Margin: at least {number_text(distance)}. {stays}; it may keep it beyond that."
        moves = "moves of just as much can change it"
        return f"Margin: {number_text(distance)}. {stays}; {moves}.{self._alone_text()}"

    def _alone_text(self) -> str:
        """Return how far the most delicate inputs may move alone, where there are several."""
        margins = input_margins(self.cascade, self.evidence, self.explanation.attribute)
        if len(margins) == 1:
            return ""
        bounded = [f"{n} ({number_text(far)})" for n, far in margins.items() if far < math.inf]
        if not bounded:
            return " No input alone can change it."
        left = len(bounded) - DELICATE
        shown = bounded[:DELICATE] + [f"{left} more"] * (left > 0)
        return f" Inputs that can change it alone: {listed(shown)}."

    def to_dict(self) -> dict[str, Any]:
        """Return the answers as plain data."""
        attribute, nodes = self.explanation.attribute, self.limit and NODES
        margins = input_margins(self.cascade, self.evidence, attribute)
        return {
            "sample": self.line,
            "explanation": self.explanation.to_dict(limit=self.limit, nodes=nodes),
            "margin": {
                "all": _finite(float(margin(self.cascade, self.evidence, attribute))),
                "exact": is_coherent(self.cascade, attribute),
                "inputs": {name: _finite(far) for name, far in margins.items()},
            },
            "why_not": self._why_not_dict(self.why_not) if self.why_not else None,
        }

    def _why_not_dict(self, answer: WhyNot) -> dict[str, Any]:
        restraints, bottlenecks = answer.restraints[: self.limit], answer.bottlenecks[: self.limit]
        change, wording = answer.change, self.explanation.wording
        return {
            "value": plain_value(answer.value),
            "possibility": answer.degree,
            "winners": [plain_value(v) for v in answer.winners],
            "holds": [
                _degree(one)
                | {"rule": one.number, "text": wording.rule(one.rule, self.limit), "by": one.by}
                for one in restraints
            ],
            "holds_omitted": len(answer.restraints) - len(restraints),
            "bottlenecks": [_degree(one) for one in bottlenecks],
            "bottlenecks_omitted": len(answer.bottlenecks) - len(bottlenecks),
            "cut": answer.cut,
            "change": change
            and {
                "readings": {n: plain_value(v) for n, v in change.readings.items()},
                "size": change.size,
                "exact": change.exact,
                "old": {n: degrees_by_name(change.old[n]) for n in change.readings},
                "new": {n: degrees_by_name(change.new[n]) for n in change.readings},
            },
            "obstacle": answer.obstacle or None,
        }


def _degree(held: Restraint | LimitingDegree) -> dict[str, Any]:
    value = plain_value(held.value)
    return {"attribute": held.attribute.name, "value": value, "possibility": held.degree}


def _finite(distance: float) -> float | None:
    """Return a distance as JSON has it: null where it is unlimited."""
    return None if math.isinf(distance) else distance
