"""Rules with variables over a graph of entities: relations, recursion, why and why not.

`Graph` holds entities, interned to int64 indices (`Graph.entities`), and facts in columns
(`Graph.facts(relation)`: a `FactTable` with ``columns`` of shape (arity, facts), ``certain`` and
``against``, sorted; ``csr(n)`` gives compressed rows). `RelationalRules` holds declarations
(`Relation`, `EntityAttribute`), `RelationalRule` objects and functions; ``infer(graph)`` gives a
`KnownGraph`.
"""

from pinesy.relations.answer_table import AttributeTable, GroundAtom, Table
from pinesy.relations.derivation import Derivation, Why
from pinesy.relations.fact_table import EntityIndex, FactTable
from pinesy.relations.graph import Distributions, Graph, load_facts
from pinesy.relations.grounding import GroundCascade
from pinesy.relations.known_graph import KnownGraph
from pinesy.relations.literals import (
    CountPremise,
    RelationLiteral,
    TermComparison,
    Variable,
    variables,
)
from pinesy.relations.relational_rule import (
    EntityAttribute,
    GuardedFunction,
    Relation,
    RelationalRule,
)
from pinesy.relations.relational_rules import RelationalRules
from pinesy.relations.repairs import Missing, Repair

__all__ = [
    "AttributeTable",
    "CountPremise",
    "Derivation",
    "Distributions",
    "EntityAttribute",
    "EntityIndex",
    "FactTable",
    "Graph",
    "GroundAtom",
    "GroundCascade",
    "GuardedFunction",
    "KnownGraph",
    "Missing",
    "Relation",
    "RelationLiteral",
    "RelationalRule",
    "RelationalRules",
    "Repair",
    "Table",
    "TermComparison",
    "Variable",
    "Why",
    "load_facts",
    "variables",
]
