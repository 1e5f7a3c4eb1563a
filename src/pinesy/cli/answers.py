"""What is asked of an explanation on the command line, and the answers as text or data."""

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from pinesy.cli.options import Transform
from pinesy.cli.values import (
    by_name,
    degrees_by_name,
    find_sample,
    find_value,
    only_output,
    source_of,
)
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
from pinesy.samples import read_samples, value_texts


class ExplanationFormat(StrEnum):
    """How an explanation is written."""

    TEXT = "text"
    JSON = "json"
    SVG = "svg"


#: Values, triplets and propositions that are told of each, where nothing else is said.
LIMITS = {ExplanationFormat.TEXT: 5, ExplanationFormat.JSON: 20, ExplanationFormat.SVG: LIMIT}
#: Values that are told in an explanation as data, in all.
NODES = 500
#: Inputs that are named as the most delicate.
DELICATE = 3


@dataclass(frozen=True)
class Asked:
    """What is asked, of any sample."""

    cascade: Cascade
    attribute: Attribute
    what: Proposition | Attribute
    other: Hashable
    has_other: bool

    @classmethod
    def of(
        cls, cascade: Cascade, name: str | None, value: str | None, other: str | None
    ) -> "Asked":
        """Find the attribute and the values that the command line names."""
        name = name or only_output(cascade.outputs, "--attribute NAME")
        attribute = cascade[name].output
        what = attribute if value is None else attribute.isin({find_value(attribute, value)})
        found = None if other is None else find_value(attribute, other)
        return cls(cascade, attribute, what, found, other is not None)

    def read(self, data: Path, sample: int | None, transform: Transform) -> tuple[int, Any]:
        """Return the line of the sample, and its evidence."""
        cascade, inputs = self.cascade, self.cascade.compile([self.attribute]).inputs
        known = [*cascade.inputs, *(s.output for s in cascade.order)]
        batch = 1 if sample is None else 1000
        source, _ = source_of(data)
        batches = read_samples(
            source, inputs, known=known, transform=transform.function, batch=batch
        )
        line, row = find_sample(batches, sample, data)
        return line, by_name(row, inputs)


@dataclass(frozen=True)
class Told:
    """The answers for one sample."""

    asked: Asked
    line: int
    evidence: Any
    eta: float
    depth: int | None
    limit: int | None
    nodes: int | None = NODES

    def everything(self) -> "Told":
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
        asked = self.asked
        return explain(asked.cascade, self.evidence, asked.what, eta=self.eta, depth=self.depth)

    @cached_property
    def why_not(self) -> WhyNot | None:
        """What holds the other value down, if it is asked."""
        asked = self.asked
        if not asked.has_other:
            return None
        return why_not(asked.cascade, self.evidence, asked.other, asked.attribute)

    @cached_property
    def margin(self) -> float:
        """How far all inputs may move before the decision can change."""
        return float(margin(self.asked.cascade, self.evidence, self.asked.attribute))

    @cached_property
    def is_exact(self) -> bool:
        """Whether the margins are exact, not bounds."""
        return is_coherent(self.asked.cascade, self.asked.attribute)

    @cached_property
    def margins(self) -> dict[str, float]:
        """How far each input alone may move."""
        return input_margins(self.asked.cascade, self.evidence, self.asked.attribute)

    def text(self) -> str:
        """Return the answers in plain English."""
        # Without a limit, as deep as the rules go.
        depth = len(self.asked.cascade.rule_sets) if self.limit is None else None
        parts = [self.explanation.text(depth=self.depth or depth, limit=self.limit)]
        parts.append(self._margin_text())
        if self.asked.has_other:
            parts.append(f"Why not {_value(self.asked)}?\n{self.why_not}")
        return "\n\n".join(parts)

    def _margin_text(self) -> str:
        found, name = self.margin, self.asked.attribute.name
        if found == 0.0:
            return f"Margin: 0. Several values of {name} are most possible: nothing is decided."
        if math.isinf(found):
            return f"Margin: unlimited. No inputs make another value of {name} most possible."
        stays = f"While all input degrees move by less, {name} keeps its most possible value"
        if not self.is_exact:
            return f"Margin: at least {number_text(found)}. {stays}; it may keep it beyond that."
        moves = "moves of just as much can change it"
        return f"Margin: {number_text(found)}. {stays}; {moves}.{self._alone_text()}"

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

    def _why_not_dict(self, found: WhyNot) -> dict[str, Any]:
        holds, change = found.restraints[: self.limit], found.change
        bottlenecks = found.bottlenecks[: self.limit]
        return {
            "value": plain_value(found.value),
            "possibility": found.degree,
            "winners": [plain_value(v) for v in found.winners],
            "holds": [self._hold(hold) for hold in holds],
            "holds_omitted": len(found.restraints) - len(holds),
            "bottlenecks": [self._bottleneck(b) for b in bottlenecks],
            "bottlenecks_omitted": len(found.bottlenecks) - len(bottlenecks),
            "cut": found.cut,
            "change": None
            if change is None
            else {
                "readings": {n: plain_value(v) for n, v in change.readings.items()},
                "size": change.size,
                "exact": change.exact,
                "old": {n: degrees_by_name(change.old[n]) for n in change.readings},
                "new": {n: degrees_by_name(change.new[n]) for n in change.readings},
            },
            "obstacle": found.obstacle or None,
        }

    def _bottleneck(self, found: LimitingDegree) -> dict[str, Any]:
        value = plain_value(found.value)
        return {"attribute": found.attribute.name, "value": value, "possibility": found.degree}

    def _hold(self, hold: Restraint) -> dict[str, Any]:
        return {
            "attribute": hold.attribute.name,
            "value": plain_value(hold.value),
            "possibility": hold.degree,
            "rule": hold.number,
            "text": self.explanation.wording.rule(hold.rule, self.limit),
            "by": hold.by,
        }


def _value(asked: Asked) -> str:
    attribute = asked.attribute
    return value_texts(attribute)[attribute.position(asked.other)]


def _finite(distance: float) -> float | None:
    """Return a distance as JSON has it: null where it is unlimited."""
    return None if math.isinf(distance) else distance
