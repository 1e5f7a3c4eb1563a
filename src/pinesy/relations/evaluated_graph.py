"""`EvaluatedGraph`: evaluates the strata of rules over a graph, when they are used."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from pinesy._common.validation import check_known
from pinesy.exceptions import DataError
from pinesy.relations.clause_evaluation import ClauseEvaluation
from pinesy.relations.definite_clauses import MAX_ATOMS, MAX_INSTANCES, AtomTable, Predicate
from pinesy.relations.evaluated_relations import RelationAtoms
from pinesy.relations.fact_table import IntArray, distinct_keys, encode
from pinesy.relations.graph import Graph
from pinesy.relations.guarded_functions import function_ranks
from pinesy.relations.literals import literals_of
from pinesy.relations.ranked_facts import RankedFacts
from pinesy.relations.relational_rule import EntityAttribute
from pinesy.relations.rule_checks import Stratum
from pinesy.relations.rule_program import RuleProgram
from pinesy.relations.translation import AGAINST, CERTAIN, POSSIBLE, ClauseWriter
from pinesy.rules.rule import from_certainty


class EvaluatedGraph:
    """The facts of a graph, and relations that are evaluated when they are first used."""

    def __init__(
        self,
        rules: RuleProgram,
        graph: Graph,
        max_instances: int = MAX_INSTANCES,
        max_atoms: int = MAX_ATOMS,
    ) -> None:
        self.rules, self.graph = rules, graph
        self.ranked = RankedFacts(rules, graph)
        self.evaluation = ClauseEvaluation(
            {},
            self.ranked.radix,
            self.ranked.top,
            self.ranked.entity_order(),
            max_instances,
            max_atoms,
        )
        self.writer = ClauseWriter(self)
        self._atoms: dict[str, RelationAtoms] = {}
        self._strata: dict[str, Stratum] = {
            name: stratum for stratum in rules.strata for name in stratum.names
        }
        #: The engine that evaluates recursive strata; None for the fastest.
        self.engine: str | None = None

    def declaration(self, name: str) -> Any:
        """Return the declaration of a relation or attribute, or raise `DataError`."""
        check_known(name, self.rules.relations, f"there is no relation {name!r:.60}", DataError)
        return self.rules.relations[name]

    def attribute_ranks(self, name: str) -> tuple[IntArray, IntArray]:
        """Return the keys of an attribute's tuples, and the rank against each value."""
        self.evaluate([name])
        domain = self.declaration(name).domain
        tables = [self.evaluation.tables[name, AGAINST, v] for v in domain]
        known_keys = self._atoms[name].keys
        keys = distinct_keys(known_keys, *(t.keys for t in tables))
        return keys, np.stack([t.lookup(keys, 0) for t in tables], axis=1)

    # --- evaluation ---

    def evaluate(self, names: Collection[str]) -> None:
        """Evaluate relations and all that they depend on."""
        needed = {*names} - {*self._atoms}
        if not needed:
            return
        wanted_names = self.dependencies(needed)
        for stratum in self.rules.strata:
            if stratum.names[0] in wanted_names and stratum.names[0] not in self._atoms:
                self._evaluate_stratum(stratum)

    def dependencies(self, names: Collection[str]) -> set[str]:
        """Return relations and all that they depend on."""
        reached = {*names}
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            for other in self.depends_on(name):
                if other not in reached:
                    reached.add(other)
                    waiting.append(other)
        return reached

    def stratum_of(self, name: str) -> Stratum:
        """Return the stratum of a relation."""
        return self._strata[name]

    def depends_on(self, name: str) -> set[str]:
        """Return the relations and attributes in the premises for a relation."""
        others: set[str] = set()
        for rule in self.rules.rules:
            if rule.head.name == name:
                others |= {literal.name for literal in literals_of(rule.parts())}
        for function in self.rules.functions:
            if function.name == name:
                others |= {literal.name for literal in literals_of(function.guard)}
                others |= {argument.name for argument in function.arguments}
        return others

    def _needed_closed(self, name: str) -> list[str]:
        return [name] if name in self.rules.closed else []

    def _default(self, name: str) -> int:
        return self._atoms[name].default if name in self.rules.closed else 0

    def default_against(self, name: str) -> int:
        """Return the rank of what speaks against an atom of a relation that has no row."""
        self.evaluate(self._needed_closed(name))
        return self._default(name)

    def _evaluate_stratum(self, stratum: Stratum) -> None:
        function = next((f for f in self.rules.functions if f.name in stratum.names), None)
        if function is not None:
            self._publish_attribute(function.name, *function_ranks(self, function))
            return
        rules = [rule for rule in self.rules.rules if rule.head.name in stratum.names]
        if stratum.closed:
            self._evaluate_closed(stratum.names, rules)
        else:
            self._evaluate_open(stratum.names, rules)

    def _arity(self, name: str) -> int:
        return len(self.rules.relations[name].sorts)

    def _table(self, keys: IntArray, ranks: IntArray, name: str) -> AtomTable:
        keep = ranks > 0
        return AtomTable(keys[keep], ranks[keep], self._arity(name), self.ranked.radix)

    def initial_tables(self, names: Collection[str]) -> dict[Predicate, AtomTable]:
        """Return the facts of open relations and attributes, by predicate."""
        tables: dict[Predicate, AtomTable] = {}
        for name in names:
            declaration = self.rules.relations[name]
            if isinstance(declaration, EntityAttribute):
                keys, against = self.ranked.distributions(name)
                for column, value in enumerate(declaration.domain):
                    tables[name, AGAINST, value] = self._table(keys, against[:, column], name)
                continue
            facts = self.ranked.atoms(name)
            tables[name, CERTAIN] = self._table(facts.keys, facts.certain, name)
            tables[name, AGAINST] = self._table(facts.keys, facts.against, name)
        return tables

    def _evaluate_open(self, names: Sequence[str], rules: Sequence[Any]) -> None:
        initial = self.initial_tables(names)
        clauses = self.writer.certain_clauses(rules, names)
        predicates = {predicate: table.arity for predicate, table in initial.items()}
        self.evaluation.run(clauses, predicates, initial, self.engine)
        for name in names:
            if isinstance(self.rules.relations[name], EntityAttribute):
                keys, _ = self.ranked.distributions(name)
                self._atoms[name] = RelationAtoms(keys, keys, keys, 0)
                continue
            certain = self.evaluation.tables[name, CERTAIN]
            against = self.evaluation.tables[name, AGAINST]
            if not len(against):
                zeros = np.zeros(len(certain), np.int64)
                self._atoms[name] = RelationAtoms(certain.keys, certain.ranks, zeros, 0)
                continue
            keys = distinct_keys(certain.keys, against.keys)
            self._atoms[name] = RelationAtoms(
                keys, certain.lookup(keys, 0), against.lookup(keys, 0), 0
            )

    def _evaluate_closed(self, names: Sequence[str], rules: Sequence[Any]) -> None:
        """Evaluate closed relations twice, from below: how certain, and how possible."""
        top = self.ranked.top
        tables = self.evaluation.tables
        initial = self.initial_tables(names)
        clauses = self.writer.certain_clauses(rules, names)
        predicates = {predicate: table.arity for predicate, table in initial.items()}
        self.evaluation.run(clauses, predicates, initial, self.engine)
        definitions = {rule.head.name: rule for rule in rules if rule.is_definition}
        possible: dict[Predicate, AtomTable] = {}
        caps = set()
        leaks = {n: top - int(self.ranked.rank(_converse(definitions, n))) for n in names}
        for name in names:
            negative = tables[name, AGAINST]
            if len(negative):
                caps.add(name)
                cap = AtomTable(
                    negative.keys, top - negative.ranks, self._arity(name), self.ranked.radix
                )
                tables[name, "cap"] = cap
            facts = self.ranked.atoms(name)
            ranks = top - facts.against
            if name in definitions:
                facts, ranks = facts._replace(keys=facts.keys[:0]), ranks[:0]
            elif name in caps and len(ranks):
                ranks = np.minimum(ranks, tables[name, "cap"].lookup(facts.keys, top))
            possible[name, POSSIBLE] = self._table(facts.keys, ranks, name)
        positive = [
            rule
            for rule in rules
            if not rule.head.negated and (rule.is_definition or rule.head.name not in definitions)
        ]
        clauses, everywhere = self.writer.possible_clauses(positive, names, caps)
        if len({*leaks.values()}) > 1 and any(leaks.values()):
            self._seed_leaks(names, leaks, possible, caps)
        clauses = [c for c in clauses if c.head.predicate[0] not in everywhere]  # type: ignore[index]
        if everywhere & {*names} and len(names) > 1:
            # Seen by others of the stratum at every tuple: listed.
            for name in everywhere:
                leaks[name] = top
            self._seed_leaks(names, leaks, possible, caps)
        self.evaluation.run(
            clauses, {(n, POSSIBLE): self._arity(n) for n in names}, possible, self.engine
        )
        for name in names:
            default_possible = top if name in everywhere else leaks[name]
            self._publish_closed(name, default_possible)

    def _seed_leaks(
        self,
        names: Sequence[str],
        leaks: dict[str, int],
        possible: dict[Predicate, AtomTable],
        caps: Collection[str],
    ) -> None:
        """List every tuple at the possibility that it has without a reason."""
        for name in names:
            if not leaks[name]:
                continue
            sorts = self.rules.relations[name].sorts
            members = [self.ranked.sort_entities.get(s, np.zeros(0, np.int64)) for s in sorts]
            n_tuples = int(np.prod([len(m) for m in members], dtype=object))
            if n_tuples > self.evaluation.max_atoms:
                raise DataError(
                    f"{name!r} is possible at every of {n_tuples:,} tuples; the limit is "
                    f"{self.evaluation.max_atoms:,}: give the 'iff' of its cycle one s"
                )
            columns = [c.reshape(-1) for c in np.meshgrid(*members, indexing="ij")]
            keys = encode(columns, self.ranked.radix) if columns else np.zeros(1, np.int64)
            ranks = np.full(len(keys), leaks[name], np.int64)
            if name in caps:
                cap = self.evaluation.tables[name, "cap"]
                ranks = np.minimum(ranks, cap.lookup(keys, self.ranked.top))
            old = possible[name, POSSIBLE]
            possible[name, POSSIBLE] = AtomTable.merge(
                [(old.keys, old.ranks), (keys, ranks)], self._arity(name), self.ranked.radix
            )

    def _publish_closed(self, name: str, default_possible: int) -> None:
        top, tables = self.ranked.top, self.evaluation.tables
        certain, negative = tables[name, CERTAIN], tables[name, AGAINST]
        possible = tables[name, POSSIBLE]
        facts = self.ranked.atoms(name)
        keys = distinct_keys(certain.keys, negative.keys, possible.keys, facts.keys)
        ranks = np.maximum(possible.lookup(keys, 0), default_possible)
        against = np.maximum(top - ranks, negative.lookup(keys, 0))
        default = top - default_possible
        self._atoms[name] = RelationAtoms(keys, certain.lookup(keys, 0), against, default)
        tables[name, AGAINST] = AtomTable(keys, against, self._arity(name), self.ranked.radix)

    def _publish_attribute(self, name: str, keys: IntArray, against: IntArray) -> None:
        declaration = self.rules.relations[name]
        assert isinstance(declaration, EntityAttribute)
        for column, value in enumerate(declaration.domain):
            table = self._table(keys, against[:, column], name)
            self.evaluation.tables[name, AGAINST, value] = table
        self._atoms[name] = RelationAtoms(keys, keys, keys, 0)

    # --- predicates that are made from evaluated relations ---

    def subset_predicate(self, name: str, outside: Sequence[object]) -> Predicate:
        """Return the predicate of how certain it is that an attribute has none of some values."""
        predicate = (name, "without", tuple(outside))
        if predicate not in self.evaluation.tables:
            keys, against = self.attribute_ranks(name)
            domain = list(self.declaration(name).domain)
            columns = [domain.index(v) for v in outside]
            ranks = against[:, columns].min(axis=1) if len(keys) else keys
            self.evaluation.tables[predicate] = self._table(keys, ranks, name)
        return predicate

    def impossible_predicate(self, name: str, outside: Sequence[object]) -> Predicate:
        """Return the predicate of how possible it is that an attribute has one of some values."""
        predicate = (name, "with", tuple(outside))
        if predicate not in self.evaluation.tables:
            table = self.evaluation.tables[self.subset_predicate(name, outside)]
            self.evaluation.tables[predicate] = AtomTable(
                table.keys, self.ranked.top - table.ranks, self._arity(name), self.ranked.radix
            )
        return predicate

    def uncertain_predicate(self, name: str) -> Predicate:
        """Return the predicate of how possible ``not name(...)`` is."""
        predicate = (name, "uncertain")
        if predicate not in self.evaluation.tables:
            self.evaluate([name])
            table = self.evaluation.tables[name, CERTAIN]
            self.evaluation.tables[predicate] = AtomTable(
                table.keys, self.ranked.top - table.ranks, self._arity(name), self.ranked.radix
            )
        return predicate

    def possible_predicate(self, name: str) -> Predicate:
        """Return the predicate of how possible an evaluated relation is."""
        predicate = (name, "possible below")
        if predicate not in self.evaluation.tables:
            self.evaluate([name])
            atoms = self._atoms[name]
            ranks = self.ranked.top - atoms.against
            default = self.ranked.top - atoms.default
            keep = ranks > 0 if default == 0 else ranks != default
            self.evaluation.tables[predicate] = AtomTable(
                atoms.keys[keep], ranks[keep], self._arity(name), self.ranked.radix
            )
        return predicate

    def atoms(self, name: str) -> RelationAtoms:
        """Return the atoms of a relation as ranks."""
        self.evaluate([name])
        return self._atoms[name]

    def clauses_of(self, names: Collection[str]) -> list[Any]:
        """Return the clauses of how certain some open relations are."""
        rules = [rule for rule in self.rules.rules if rule.head.name in names]
        return self.writer.certain_clauses(rules, names)


def _converse(definitions: dict[str, Any], name: str) -> float:
    """Return ``1 - s`` of the ``iff`` of a relation; 1 where it has none."""
    return from_certainty(definitions[name].s) if name in definitions else 1.0
