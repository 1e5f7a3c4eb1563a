"""Explanations as plain data, for pictures and for other programs.

The form is described in ``docs/explanations.md`` and by ``explanation.schema.json`` beside this
module.
"""

import json
import math
from collections.abc import Hashable, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pinesy.explanations.justification import Justification
from pinesy.explanations.labels import Wording
from pinesy.explanations.nodes import Node
from pinesy.explanations.triplets import Part, Triplet
from pinesy.rules.attributes import Proposition
from pinesy.rules.possibility import Possibility

if TYPE_CHECKING:
    from pinesy.explanations.explain import Explanation


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of `Explanation.to_dict`.

    Examples
    --------
    >>> schema()["title"]
    'A pinesy explanation'
    """
    text = files("pinesy.explanations").joinpath("explanation.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def explanation_dict(
    explanation: "Explanation", depth: int | None, limit: int | None, nodes: int | None
) -> dict[str, Any]:
    """Return an explanation as plain data."""
    walked = list(explanation.walk(depth=depth, limit=limit, nodes=nodes))
    writer = _Writer(explanation.wording, limit, {node: i for i, (node, _) in enumerate(walked)})
    return {
        "format": "pinesy explanation",
        "version": 1,
        "attribute": explanation.attribute.name,
        "label": explanation.wording.name(explanation.attribute),
        "proposition": writer.proposition(explanation.proposition),
        "asked": explanation.asked is not None,
        "possibility": explanation.possibility,
        "certainty": explanation.certainty,
        "ambiguous": explanation.ambiguous,
        "normalised": explanation.normalised,
        "eta": explanation.eta,
        "depth": depth,
        "limit": limit,
        "distribution": _distribution(explanation.distribution),
        "values": writer.nodes(explanation.values),
        "rivals": writer.nodes(explanation.rivals),
        "nodes": [
            writer.node(node, level, depth is not None and level >= depth) for node, level in walked
        ],
    }


def explanation_json(content: dict[str, Any], indent: int | None) -> str:
    """Return plain data as JSON."""
    return json.dumps(content, indent=indent, ensure_ascii=False, allow_nan=False)


def plain_value(value: Hashable) -> Any:
    """Return a domain value as JSON has it: tuples become lists, what has no form its repr.

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


def _distribution(pi: Possibility) -> list[dict[str, Any]]:
    degrees = pi.degrees.tolist()
    return [
        {"value": plain_value(v), "possibility": d}
        for v, d in zip(pi.attribute.domain, degrees, strict=True)
    ]


def _omitted(count: int, degrees: Sequence[float]) -> dict[str, Any] | None:
    """Return how many were left out, and the range of their degrees."""
    if not count:
        return None
    return {"count": count, "least": float(min(degrees)), "greatest": float(max(degrees))}


class _Writer:
    """Writes nodes, by the numbers that they have in the list of nodes."""

    def __init__(self, wording: Wording, limit: int | None, numbers: dict[Node, int]) -> None:
        self.wording, self.limit, self.numbers = wording, limit, numbers

    def proposition(self, proposition: Proposition) -> dict[str, Any]:
        return {
            "attribute": proposition.attribute.name,
            "values": [plain_value(v) for v in proposition.values],
            "condition": proposition.condition,
            "text": self.wording.says(proposition, self.limit),
        }

    def nodes(self, nodes: Sequence[Node]) -> dict[str, Any]:
        """Return the numbers of nodes; those that are not in the list are counted."""
        left = [n.possibility for n in nodes if n not in self.numbers]
        shown = [self.numbers[n] for n in nodes if n in self.numbers]
        return {"nodes": shown, "omitted": _omitted(len(left), left)}

    def node(self, node: Node, level: int, cut: bool) -> dict[str, Any]:
        content = {
            "id": self.numbers[node],
            "attribute": node.attribute.name,
            "label": self.wording.name(node.attribute),
            "value": plain_value(node.value),
            "text": self.wording.says(node.attribute.isin([node.value])),
            "possibility": node.possibility,
            "certainty": node.certainty,
            "level": level,
        }
        if node.justification is None:
            return {
                **content,
                "kind": "perceived",
                "distribution": _distribution(node.distribution),
            }
        content |= {"kind": "inferred", "cut": cut}
        return content if cut else {**content, **self._justification(node, node.justification)}

    def _justification(self, node: Node, justification: Justification) -> dict[str, Any]:
        triplets = justification.triplets
        shown = triplets[: self.limit]
        left = [t.degree for t in triplets[len(shown) :]]
        return {
            "triplets": [self._triplet(node, t) for t in shown],
            "triplets_omitted": _omitted(len(left), left),
            "parameters": [
                {
                    "rule": p.number,
                    "text": self.wording.rule(p.rule, self.limit),
                    "name": p.name,
                    "degree": p.degree,
                }
                for p in justification.parameters
            ],
        }

    def _triplet(self, node: Node, triplet: Triplet) -> dict[str, Any]:
        return {
            "rule": triplet.number,
            "text": self.wording.rule(triplet.rule, self.limit),
            "semantics": triplet.semantics,
            "degree": triplet.degree,
            "holds": triplet.holds,
            "reduced": [self._part(node, p) for p in triplet.first(self.limit)],
            "reduced_omitted": self._left(triplet, unexpected=False),
            "unexpected": [self._part(node, p) for p in triplet.first_unexpected(self.limit)],
            "unexpected_omitted": self._left(triplet, unexpected=True),
        }

    def _left(self, triplet: Triplet, unexpected: bool) -> dict[str, Any] | None:
        degrees = triplet.degrees(unexpected).tolist()
        left = degrees[self.limit :] if self.limit is not None else []
        return _omitted(len(left), left)

    def _part(self, node: Node, part: Part) -> dict[str, Any]:
        return {
            "number": part.number,
            "proposition": self.proposition(part.proposition),
            "reduced": self.proposition(part.reduced),
            "degree": part.degree,
            "decides": part.decides,
            "because": self.nodes(node.behind(part)),
        }
