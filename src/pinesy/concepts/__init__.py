"""What answers tell of concepts: reasoning shortcuts, labels against them, networks checked."""

from pinesy.concepts.concept_check import ConceptCheck, check_concepts
from pinesy.concepts.concept_kinds import ConceptKind
from pinesy.concepts.remappings import GroupRemappings, Remapping, Shortcuts
from pinesy.concepts.shortcuts import shortcuts

__all__ = [
    "ConceptCheck",
    "ConceptKind",
    "GroupRemappings",
    "Remapping",
    "Shortcuts",
    "check_concepts",
    "shortcuts",
]
