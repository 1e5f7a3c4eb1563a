"""What answers tell of concepts: reasoning shortcuts, labels against them, networks checked."""

from pinesy.concepts.concept_check import ConceptCheck, check_concepts
from pinesy.concepts.observed_answers import ConceptKind
from pinesy.concepts.remapping_search import GroupRemappings
from pinesy.concepts.shortcuts import Remapping, Shortcuts, shortcuts

__all__ = [
    "ConceptCheck",
    "ConceptKind",
    "GroupRemappings",
    "Remapping",
    "Shortcuts",
    "check_concepts",
    "shortcuts",
]
