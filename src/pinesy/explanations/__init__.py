"""Explanations of results: why something is possible, certain, or neither."""

from pinesy.explanations.clauses import AllOf, AnyOf, Atom
from pinesy.explanations.conditions import conditions
from pinesy.explanations.explain import Explanation, explain
from pinesy.explanations.formula import Formula
from pinesy.explanations.json_form import schema
from pinesy.explanations.justification import (
    ExplanationNode,
    Justification,
    JustifyingParameter,
    Triplet,
    TripletProposition,
)
from pinesy.explanations.labels import Label
from pinesy.explanations.picture import picture

__all__ = [
    "AllOf",
    "AnyOf",
    "Atom",
    "Explanation",
    "ExplanationNode",
    "Formula",
    "Justification",
    "JustifyingParameter",
    "Label",
    "Triplet",
    "TripletProposition",
    "conditions",
    "explain",
    "picture",
    "schema",
]
