"""The report on one sample: why, how far from another answer, and why not another."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pinesy.evidence.evidence_form import Evidence
from pinesy.explanations.decision import is_coherent
from pinesy.explanations.explain import PICTURE_LIMIT, PICTURE_NODES, Explanation, picture
from pinesy.explanations.json_form import json_text
from pinesy.explanations.labels import list_text, number_text
from pinesy.explanations.margins import input_margins, margin
from pinesy.explanations.why_not import WhyNot
from pinesy.rulebase.cascade import Cascade
from pinesy.samples import value_texts

ExplanationFormat = Literal["text", "json", "svg"]

#: The default maximum number of values, of triplets and of propositions to show.
LIMITS: dict[ExplanationFormat, int] = {"text": 5, "json": 20, "svg": PICTURE_LIMIT}
#: The maximum number of nodes of an explanation as data.
NODES = 500
#: Inputs of the smallest margins to name.
MAX_INPUTS = 3


@dataclass(frozen=True)
class ExplanationReport:
    """The explanation, margins and counterfactual of one sample.

    Attributes
    ----------
    row : the row of the sample in its file, from 1; None if it is from no file
    evidence : the evidence of the sample
    why_not : why another value did not win, or None
    limit : the maximum number of values, of triplets and of propositions to show; None for all
    """

    cascade: Cascade
    row: int | None
    evidence: Evidence
    explanation: Explanation
    why_not: WhyNot | None
    limit: int | None

    def write(self, form: ExplanationFormat, images: Mapping[str, Any] | None = None) -> str:
        """Return the report in a format; a picture shows the `images` of inputs, by name."""
        if form == "text":
            return "\n\n".join(
                [self.justification(), *([self.why_not_text()] if self.why_not else [])]
            )
        if form == "json":
            return json_text(self.to_dict(), indent=1)
        nodes = self.limit and PICTURE_NODES
        return picture(self.explanation, images, limit=self.limit, nodes=nodes)

    def justification(self) -> str:
        """Return why the value is as possible and as certain, and the margin, in plain English."""
        # Without a limit, as deep as the rules go.
        depth = len(self.cascade.rule_sets) if self.limit is None else None
        depth = self.explanation.depth or depth
        why = self.explanation.justification(depth=depth, limit=self.limit)
        return f"{why}\n\n{self.margin_text()}"

    def why_not_text(self) -> str:
        """Return why another value did not win, and what would make it win."""
        if self.why_not is None:
            return ""
        attribute = self.why_not.attribute
        value = value_texts(attribute)[attribute.position(self.why_not.value)]
        return f"Why not {value}?\n{self.why_not}"

    def margin_text(self) -> str:
        """Return the margin of the decision in words."""
        attribute = self.explanation.attribute
        name = self.explanation.wording.name(attribute)
        if not self.explanation.normalised:
            return "Margin: none. The rules contradict each other: nothing is decided."
        distance = float(margin(self.cascade, self.evidence, attribute))
        if distance == 0.0:
            return f"Margin: 0. Several values of {name} are most possible: nothing is decided."
        if math.isinf(distance):
            return f"Margin: unlimited. No inputs make another value of {name} most possible."
        stays = f"While all input degrees move by less, {name} keeps its most possible value"
        if not is_coherent(self.cascade, attribute):
            return f"Margin: at least {number_text(distance)}. {stays}; it may keep it beyond that."
        moves = "moves of just as much can change it"
        return f"Margin: {number_text(distance)}. {stays}; {moves}.{self._input_margins_text()}"

    def _input_margins_text(self) -> str:
        """Return the smallest margins of single inputs in words; empty if there is one input."""
        attribute = self.explanation.attribute
        margins = input_margins(self.cascade, self.evidence, attribute)
        if len(margins) == 1:
            return ""
        wording, known = self.explanation.wording, self.cascade.attributes
        bounded = [
            f"{wording.name(known[n])} ({number_text(distance)})"
            for n, distance in margins.items()
            if distance < math.inf
        ]
        if not bounded:
            return " No input alone can change it."
        n_omitted = len(bounded) - MAX_INPUTS
        texts = bounded[:MAX_INPUTS] + [f"{n_omitted} more"] * (n_omitted > 0)
        return f" Inputs that can change it alone: {list_text(texts)}."

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        nodes = self.limit and NODES
        return {
            "sample": self.row,
            "explanation": self.explanation.to_dict(limit=self.limit, nodes=nodes),
            "margin": self.margin_dict(),
            "why_not": self.why_not and self.why_not.to_dict(self.limit),
        }

    def margin_dict(self) -> dict[str, Any]:
        """Return the margins as plain data."""
        rules, attribute = self.cascade, self.explanation.attribute
        margins = input_margins(rules, self.evidence, attribute)
        return {
            "all": _finite_or_none(float(margin(rules, self.evidence, attribute))),
            "exact": is_coherent(rules, attribute),
            "inputs": {name: _finite_or_none(distance) for name, distance in margins.items()},
        }


def _finite_or_none(distance: float) -> float | None:
    """Return a distance, or None for infinity, which JSON does not have."""
    return None if math.isinf(distance) else distance
