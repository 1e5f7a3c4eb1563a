"""Rules with variables over a graph of entities: relations, recursion, why and why not.

`Graph` holds entities, interned to int64 indices (`Graph.entities`), and facts in columns
(`Graph.facts(relation)`: a `FactTable` with ``columns`` of shape (arity, facts), ``certain`` and
``against``, sorted; ``csr(n)`` gives compressed rows). `RelationalRules` holds declarations
(`Relation`, `EntityAttribute`), `RelationalRule` objects and functions; ``infer(graph)`` gives a
`KnownGraph`.
"""

from pinesy.relations.fact_table import EntityIndex, FactTable
from pinesy.relations.graph import Distributions, Graph
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

__all__ = [
    "CountPremise",
    "Distributions",
    "EntityAttribute",
    "EntityIndex",
    "FactTable",
    "Graph",
    "GuardedFunction",
    "Relation",
    "RelationLiteral",
    "RelationalRule",
    "RelationalRules",
    "TermComparison",
    "Variable",
    "variables",
]
