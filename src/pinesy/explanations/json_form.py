"""Explanations as plain data, for other programs: a rendering of the outline.

The form is described in ``docs/explanations.md`` and by ``explanation.schema.json`` beside this
module.
"""

import json
import math
from collections.abc import Hashable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from pinesy._common.validation import is_integer, printable_json
from pinesy.exceptions import DomainError
from pinesy.explanations.justification import ExplanationNode, Justification, Triplet
from pinesy.explanations.outline import Outline
from pinesy.explanations.points_text import LineOnSample, points_given
from pinesy.explanations.restraints import Clash
from pinesy.rules.possibility import Possibility
from pinesy.rules.propositions import Proposition


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of `Explanation.to_dict`.

    Examples
    --------
    >>> schema()["title"]
    'A pinesy explanation'
    """
    text = files("pinesy.explanations").joinpath("explanation.schema.json").read_text("utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def json_text(content: dict[str, Any], indent: int | None) -> str:
    """Return plain data as JSON."""
    if indent is not None and not (is_integer(indent) and 0 <= indent <= 100):
        raise DomainError(f"indent is {indent!r:.60}; it is None, or a number from 0 to 100")
    return printable_json(content, indent=indent, allow_nan=False)


def plain_value(value: Hashable) -> Any:
    """Return a domain value for JSON: a tuple becomes a list, an unknown type its repr.

    Examples
    --------
    >>> plain_value((1, None, "a")), plain_value(float("inf")), plain_value(frozenset())
    ([1, None, 'a'], 'inf', 'frozenset()')
    """
    if isinstance(value, tuple):
        return [plain_value(part) for part in value]
    if value is None or type(value) in (bool, int, str):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else repr(value)


def _distribution_data(pi: Possibility) -> list[dict[str, Any]]:
    """Return the values of a distribution with their possibilities."""
    return [
        {"value": plain_value(v), "possibility": d}
        for v, d in zip(pi.attribute.domain, pi.degrees.tolist(), strict=True)
    ]


def _omission_data(degrees: Sequence[float]) -> dict[str, Any] | None:
    """Return the number and the range of the degrees omitted from a list; None if it is empty."""
    if not degrees:
        return None
    return {"count": len(degrees), "least": min(degrees), "greatest": max(degrees)}


def _line(line: LineOnSample) -> dict[str, Any]:
    return {
        "premise": str(line.premise),
        "points": line.points,
        "gives": line.expected,
        "possible": line.possible,
        "certain": line.certain,
        "unknown": [a.name for a in line.unknown],
    }


class DataWriter(Outline):
    """Writes an explanation as plain data: a list of nodes that refer to each other by index."""

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation."""
        explanation, nodes = self.explanation, list(self.walk())
        self.indices = {node: index for index, (node, _) in enumerate(nodes)}
        return {
            "format": "pinesy explanation",
            "version": 2,
            "attribute": explanation.attribute.name,
            "label": self.wording.name(explanation.attribute),
            "proposition": self._proposition(explanation.proposition),
            "asked": explanation.asked is not None,
            "possibility": explanation.possibility,
            "certainty": explanation.certainty if explanation.normalised else None,
            "outcome": explanation.outcome,
            "verdict": explanation.verdict,
            "normalised": explanation.normalised,
            "contradiction": explanation.contradiction,
            "clashes": [self._clash_data(clash) for clash in explanation.clashes],
            "eta": explanation.eta,
            "depth": self.depth,
            "limit": self.limit,
            "distribution": _distribution_data(explanation.distribution),
            "values": self._node_indices(explanation.values),
            "rivals": self._node_indices(explanation.rivals),
            "nodes": [self._node(node, level) for node, level in nodes],
            **self._card(),
        }

    def _card(self) -> dict[str, Any]:
        """Return what the score card gives, as `card`; nothing of rules without one."""
        explanation = self.explanation
        if explanation.probability is None:
            return {}
        chances = explanation.probability.items()
        points = points_given(explanation.graph)
        return {
            "card": {
                "predicted": plain_value(explanation.predicted),
                "probability": [{"value": plain_value(v), "probability": p} for v, p in chances],
                "points": [
                    {
                        "value": plain_value(value_points.value),
                        "start": value_points.start or 0,
                        "points": value_points.expected,
                        "lines": [_line(line) for line in value_points.lines],
                    }
                    for value_points in points
                ],
            }
        }

    def _proposition(self, proposition: Proposition) -> dict[str, Any]:
        return {
            "attribute": proposition.attribute.name,
            "values": [plain_value(v) for v in proposition.values],
            "condition": proposition.condition,
            "text": self.wording.proposition_sentence(proposition, self.limit),
        }

    def _clash_data(self, clash: Clash) -> dict[str, Any]:
        """Return which rules clash, and the values that each of them limits."""
        groups, more_groups = self.split(clash.groups)
        bounds, more_bounds = self.split(clash.bounds)
        attaining = [bound.rules[: self.limit] for bound in bounds]
        numbers = {number for group in (*groups, *attaining) for number in group}
        return {
            "attribute": clash.attribute.name,
            "label": self.wording.name(clash.attribute),
            "contradiction": clash.contradiction,
            "groups": [list(group) for group in groups],
            "groups_omitted": len(more_groups),
            "values": [
                {
                    "values": [plain_value(v) for v in bound.values],
                    "possibility": bound.degree,
                    "rules": list(bound.rules[: self.limit]),
                }
                for bound in bounds
            ],
            "values_omitted": sum(len(bound.values) for bound in more_bounds),
            "rules": [
                {"rule": n, "text": clash.rules[n - 1].line(self.limit)} for n in sorted(numbers)
            ],
        }

    def _node_indices(self, nodes: Sequence[ExplanationNode]) -> dict[str, Any]:
        """Return the indices of nodes, and what is omitted: nodes that are not in the list."""
        left = [n.possibility for n in nodes if n not in self.indices]
        indices = [self.indices[n] for n in nodes if n in self.indices]
        return {"nodes": indices, "omitted": _omission_data(left)}

    def _node(self, node: ExplanationNode, level: int) -> dict[str, Any]:
        content = {
            "id": self.indices[node],
            "attribute": node.attribute.name,
            "label": self.wording.name(node.attribute),
            "value": plain_value(node.value),
            "text": self.wording.values_sentence(node.attribute, [node.value]),
            "possibility": node.possibility,
            "certainty": node.certainty,
            "level": level,
        }
        if node.justification is None:
            return content | {
                "kind": "perceived",
                "distribution": _distribution_data(node.distribution),
            }
        cut = self.is_cut(level)
        content |= {"kind": "inferred", "cut": cut}
        return content if cut else content | self._justification(node, node.justification)

    def _justification(self, node: ExplanationNode, justification: Justification) -> dict[str, Any]:
        triplets, left = self.split(justification.triplets)
        return {
            "triplets": [self._triplet(node, t) for t in triplets],
            "triplets_omitted": _omission_data([t.degree for t in left]),
            "parameters": [
                {
                    "rule": p.number,
                    "text": p.rule.line(self.limit),
                    "name": p.name,
                    "degree": p.degree,
                }
                for p in justification.parameters
            ],
        }

    def _triplet(self, node: ExplanationNode, triplet: Triplet) -> dict[str, Any]:
        return {
            "rule": triplet.number,
            "text": triplet.rule.line(self.limit),
            "semantics": triplet.semantics,
            "degree": triplet.degree,
            "holds": triplet.holds,
            **self._premise(node, triplet, "reduced"),
            **self._premise(node, triplet, "unexpected"),
        }

    def _premise(self, node: ExplanationNode, triplet: Triplet, key: str) -> dict[str, Any]:
        propositions, degrees = triplet.first_propositions(
            self.limit, unexpected=key == "unexpected"
        )
        parts = [
            {
                "number": part.number,
                "proposition": self._proposition(part.proposition),
                "reduced": self._proposition(part.reduced),
                "degree": part.degree,
                "decides": part.decides,
                "because": self._node_indices(node.children_of(part)),
            }
            for part in propositions
        ]
        return {key: parts, f"{key}_omitted": _omission_data(degrees[len(propositions) :])}
