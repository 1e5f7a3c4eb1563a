"""The facts of a graph for some rules: degrees as ranks, entities of each sort."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple
from warnings import warn

import numpy as np

from pinesy._common.validation import FloatArray, listed, suggestion
from pinesy.exceptions import DataError, DataWarning
from pinesy.relations.columnar import EntityOrder
from pinesy.relations.fact_table import EntityIndex, IntArray, complement, distinct_keys, encode
from pinesy.relations.graph import Graph
from pinesy.relations.literals import (
    CountPremise,
    Entity,
    RelationLiteral,
    TermComparison,
    Variable,
    literals_of,
)
from pinesy.relations.relational_rule import EntityAttribute, Relation
from pinesy.relations.rule_checks import ANY_SORT
from pinesy.relations.rule_program import RuleProgram
from pinesy.rules.rule import from_certainty


class RankedAtoms(NamedTuple):
    """Atoms with ranks: sorted keys, for and against."""

    keys: IntArray
    certain: IntArray
    against: IntArray


class RankedFacts:
    """The facts of a graph that rules use.

    Attributes
    ----------
    levels : the degrees that occur, ascending from 0 to 1; a rank is an index of them. min and max
        only copy degrees, so ranks are all that is computed with.
    top : the rank of 1
    radix : the base of keys: the number of entities
    """

    def __init__(self, rules: RuleProgram, graph: Graph) -> None:
        self.rules, self.graph = rules, graph
        self._check_facts()
        self.entities = self._entities_with_constants()
        self.radix = max(1, len(self.entities))
        degrees = [np.array([0.0, 1.0])]
        for rule in rules.rules:
            degrees.append(np.array([rule.certainty, from_certainty(rule.s)]))
        for name in self._names():
            table = graph.facts(name)
            degrees += [table.certain, table.against]
        self._against = {
            name: self._attached_against(name) for name in graph.attached if name in rules.relations
        }
        degrees += [against.reshape(-1) for _, against in self._against.values()]
        self.levels: FloatArray = np.unique(np.concatenate([np.unique(part) for part in degrees]))
        self.top = len(self.levels) - 1
        self.sort_entities = self._sort_entities()

    def rank(self, degrees: FloatArray | float) -> IntArray:
        """Return the ranks of degrees that occur."""
        return np.searchsorted(self.levels, degrees).astype(np.int64)

    def rank_at_least(self, degree: float) -> int:
        """Return the lowest rank whose degree is at least `degree`; at least 1."""
        return max(1, int(np.searchsorted(self.levels, degree)))

    def _names(self) -> list[str]:
        return [n for n in self.graph.relations if n in self.rules.relations]

    def _check_facts(self) -> None:
        """Raise for facts of the wrong arity; warn of relations that the rules do not know."""
        unknown = []
        for name in (*self.graph.relations, *self.graph.attached):
            declaration = self.rules.relations.get(name)
            is_attached = name in self.graph.attached
            if declaration is None:
                unknown.append(name)
                continue
            if isinstance(declaration, Relation) == is_attached:
                problem = "an attribute: attach distributions" if not is_attached else "a relation"
                raise DataError(f"{name!r} is {problem} in the rules; add its facts accordingly")
            arity = (
                len(self.graph.attached[name].columns) if is_attached else self.graph.arity(name)
            )
            if arity != len(declaration.sorts):
                raise DataError(
                    f"facts of {name!r} have {arity} entities; '{declaration}' takes "
                    f"{len(declaration.sorts)}"
                )
        if unknown:
            hint = suggestion(unknown[0], self.rules.relations)
            warn(
                f"the rules do not know these relations of the graph, which are ignored: "
                f"{listed([repr(n)[:60] for n in unknown])}{hint}",
                DataWarning,
                stacklevel=5,
            )

    def _entities_with_constants(self) -> EntityIndex:
        """Return the entities of the graph, and those of rules that it does not have."""
        entities = self.graph.entities
        missing = [t for _, t in self._constants() if entities.find(t) < 0]
        if missing:
            entities = entities.copy()
            for entity in missing:
                entities.add(entity)
        return entities

    def _constants(self) -> Iterator[tuple[str, Entity]]:
        """Yield the entities in rules, each with its sort."""
        for rule in self.rules.rules:
            yield from self._sorted_constants([rule.head, *literals_of(rule.parts())])
            for part in rule.parts():
                for term in (getattr(part, "left", None), getattr(part, "right", None)):
                    if term is not None and not isinstance(term, Variable):
                        yield ANY_SORT, term
        for function in self.rules.functions:
            yield from self._sorted_constants(literals_of(function.guard))

    def _sorted_constants(
        self, literals: Iterable[RelationLiteral]
    ) -> Iterator[tuple[str, Entity]]:
        for literal in literals:
            sorts = self.rules.relations[literal.name].sorts
            for term, sort in zip(literal.terms, sorts, strict=True):
                if not isinstance(term, Variable):
                    yield sort, term

    def _sort_entities(self) -> dict[str, IntArray]:
        """Return the entities of each sort; raise for an entity of two."""
        sorts: dict[str, list[IntArray]] = {}
        where: dict[str, str] = {}
        for name in (*self._names(), *self._against):
            table = self.graph.attached if name in self.graph.attached else None
            columns = self.graph.facts(name).columns if table is None else table[name].columns
            for sort, column in zip(self.rules.relations[name].sorts, columns, strict=True):
                sorts.setdefault(sort, []).append(distinct_keys(column))
                where.setdefault(sort, name)
        for sort, entity in self._constants():
            sorts.setdefault(sort, []).append(np.array([self.entities.find(entity)], np.int64))
            where.setdefault(sort, "a rule")
        members = {sort: distinct_keys(*parts) for sort, parts in sorts.items()}
        members[ANY_SORT] = np.arange(len(self.entities), dtype=np.int64)
        owner = np.full(len(self.entities), -1, np.int64)
        sort_names = [sort for sort in members if sort != ANY_SORT]
        for index, sort in enumerate(sort_names):
            clashing = members[sort][owner[members[sort]] >= 0]
            if len(clashing):
                entity = self.entities.names[int(clashing[0])]
                other = sort_names[int(owner[clashing[0]])]
                raise DataError(
                    f"entity {entity!r:.60} is of sort {other!r} in {where[other]!r} and of sort "
                    f"{sort!r} in {where[sort]!r}; an entity has one sort: rename one of them, or "
                    "declare both relations on one sort"
                )
            owner[members[sort]] = index
        return members

    def atoms(self, name: str) -> RankedAtoms:
        """Return the facts of a relation."""
        if name not in self.graph.relations:
            empty = np.zeros(0, np.int64)
            return RankedAtoms(empty, empty, empty)
        table = self.graph.facts(name)
        keys = encode(table.columns, self.radix) if table.arity else np.zeros(len(table), np.int64)
        return RankedAtoms(keys, self.rank(table.certain), self.rank(table.against))

    def distributions(self, name: str) -> tuple[IntArray, IntArray]:
        """Return the keys of an attribute's tuples, and against each value its rank."""
        declaration = self.rules.relations[name]
        assert isinstance(declaration, EntityAttribute)
        if name not in self._against:
            return np.zeros(0, np.int64), np.zeros((0, len(declaration.domain)), np.int64)
        keys, against = self._against[name]
        return keys, self.rank(against)

    def _attached_against(self, name: str) -> tuple[IntArray, FloatArray]:
        declaration = self.rules.relations[name]
        assert isinstance(declaration, EntityAttribute)
        attached = self.graph.attached[name]
        domain = declaration.domain
        values = domain if attached.values is None else attached.values
        if len(values) != attached.degrees.shape[1] or {*values} != {*domain}:
            raise DataError(
                f"{name!r}: {attached.degrees.shape[1]} columns of degrees for the values "
                f"{listed([str(v) for v in domain])}; give one for each, or values="
            )
        columns = [values.index(value) for value in domain]
        keys = encode(attached.columns, self.radix)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        if (keys[1:] == keys[:-1]).any():
            raise DataError(f"{name!r}: an entity has two distributions")
        return keys, complement(attached.degrees[order][:, columns])

    def entity_order(self) -> EntityOrder:
        """Return what comparisons of entities need; nothing if no rule compares their order."""
        names = self.entities.names
        signs = {
            inner.sign
            for case in [c for r in self.rules.rules for c in r.cases]
            + [f.guard for f in self.rules.functions]
            for part in case
            for inner in (part.parts if isinstance(part, CountPremise) else (part,))
            if isinstance(inner, TermComparison)
        }
        if signs <= {"==", "!="}:
            nothing = np.zeros(max(1, len(names)), np.int64)
            return EntityOrder(nothing, nothing)
        number = np.array([not isinstance(name, str) for name in names], np.int64).reshape(-1)
        positions = np.zeros(len(names), np.int64)
        for kind in (0, 1):
            members = np.flatnonzero(number == kind).tolist()
            for position, index in enumerate(sorted(members, key=lambda i: names[i])):
                positions[index] = position
        return EntityOrder(number, positions)
