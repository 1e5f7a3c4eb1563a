"""Explanations of results: why, why not, under which conditions, and how far from another."""

from pinesy.explanations.conditions import AllOf, AnyOf, Atom, Formula, conditions
from pinesy.explanations.decision import is_coherent
from pinesy.explanations.explain import Explanation, explain, picture
from pinesy.explanations.json_form import schema
from pinesy.explanations.justification import (
    ExplanationNode,
    Justification,
    JustifyingParameter,
    Triplet,
    TripletProposition,
)
from pinesy.explanations.labels import Label
from pinesy.explanations.margins import input_margins, margin
from pinesy.explanations.restraints import BoundedValues, Clash, LimitingDegree, Restraint
from pinesy.explanations.smallest_change import Change, Replacement, ValueChange, smallest_change
from pinesy.explanations.why_not import WhyNot, why_not

__all__ = [
    "AllOf",
    "AnyOf",
    "Atom",
    "BoundedValues",
    "Change",
    "Clash",
    "Explanation",
    "ExplanationNode",
    "Formula",
    "Justification",
    "JustifyingParameter",
    "Label",
    "LimitingDegree",
    "Replacement",
    "Restraint",
    "Triplet",
    "TripletProposition",
    "ValueChange",
    "WhyNot",
    "conditions",
    "explain",
    "input_margins",
    "is_coherent",
    "margin",
    "picture",
    "schema",
    "smallest_change",
    "why_not",
]
