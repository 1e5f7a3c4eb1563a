"""Explanations of results: why something is possible, certain, or neither."""

from pinesy.explanations.clauses import AllOf, AnyOf, Atom
from pinesy.explanations.conditions import conditions
from pinesy.explanations.data import schema
from pinesy.explanations.explain import Explanation, explain
from pinesy.explanations.formula import Formula
from pinesy.explanations.justification import Justification, Parameter
from pinesy.explanations.labels import Label
from pinesy.explanations.nodes import Node
from pinesy.explanations.picture import picture
from pinesy.explanations.triplets import Part, Triplet

__all__ = [
    "AllOf",
    "AnyOf",
    "Atom",
    "Explanation",
    "Formula",
    "Justification",
    "Label",
    "Node",
    "Parameter",
    "Part",
    "Triplet",
    "conditions",
    "explain",
    "picture",
    "schema",
]
