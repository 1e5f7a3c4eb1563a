"""What translations of rules ask of a graph whose lower strata are evaluated."""

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from pinesy.relations.clause_evaluation import ClauseEvaluation
from pinesy.relations.definite_clauses import Predicate
from pinesy.relations.fact_table import IntArray
from pinesy.relations.ranked_facts import RankedFacts
from pinesy.relations.rule_program import RuleProgram


class RelationAtoms(NamedTuple):
    """The atoms of a relation that differ from its default.

    Attributes
    ----------
    keys : sorted
    certain, against : ranks
    default : the rank of what speaks against any other atom
    """

    keys: IntArray
    certain: IntArray
    against: IntArray
    default: int


class EvaluatedRelations(Protocol):
    """Relations that are evaluated when they are used; `EvaluatedGraph` is one."""

    rules: RuleProgram
    ranked: RankedFacts
    evaluation: ClauseEvaluation

    def evaluate(self, names: Collection[str]) -> None:
        """Evaluate relations and all that they depend on."""

    def atoms(self, name: str) -> RelationAtoms:
        """Return the atoms of a relation as ranks."""

    def attribute_ranks(self, name: str) -> tuple[IntArray, IntArray]:
        """Return the keys of an attribute's tuples, and the rank against each value."""

    def default_against(self, name: str) -> int:
        """Return the rank of what speaks against an atom of a relation that has no row."""

    def subset_predicate(self, name: str, outside: Sequence[object]) -> Predicate:
        """Return the predicate of how certain it is that an attribute has none of some values."""

    def impossible_predicate(self, name: str, outside: Sequence[object]) -> Predicate:
        """Return the predicate of how possible it is that an attribute has one of some values."""

    def uncertain_predicate(self, name: str) -> Predicate:
        """Return the predicate of how possible ``not name(...)`` is."""

    def possible_predicate(self, name: str) -> Predicate:
        """Return the predicate of how possible an evaluated relation is."""
