"""Questions with constants: magic sets, so that only what the question reaches is evaluated.

For each relation and each set of its arguments that are bound there is a *magic* predicate, which
says for which values the relation is needed, and an *answer* predicate. Cutting at a degree
commutes with the transformation, so the degrees of the answers are those of the whole.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pinesy.relations.certainty_order import SettledAtoms, settle
from pinesy.relations.clause_evaluation import find_closure
from pinesy.relations.definite_clauses import (
    AtomTable,
    DefiniteClause,
    EntityComparison,
    Goal,
    Lookup,
    Predicate,
    order_items,
    variables_of,
)
from pinesy.relations.evaluated_graph import EvaluatedGraph
from pinesy.relations.evaluated_relations import RelationAtoms
from pinesy.relations.fact_table import IntArray, distinct_keys, encode
from pinesy.relations.literals import CountPremise, RelationLiteral, literals_of
from pinesy.relations.translation import AGAINST, CERTAIN

Positions = tuple[int, ...]


@dataclass
class MagicProgram:
    """The clauses that a question with bound arguments needs.

    Attributes
    ----------
    clauses : on answer and magic predicates
    predicates : these, with their arities
    originals : for each clause that concludes on an answer, the clause that it was made from, and
        the order of its premises; None for a fact
    """

    by_head: Mapping[Predicate, Sequence[DefiniteClause]]
    arities: Mapping[Predicate, int]
    facts: Mapping[Predicate, AtomTable]
    tables: Mapping[Predicate, AtomTable]
    top: int
    clauses: list[DefiniteClause] = field(default_factory=list)
    predicates: dict[Predicate, int] = field(default_factory=dict)
    originals: dict[int, DefiniteClause | None] = field(default_factory=dict)

    def add(self, predicate: Predicate, bound: Positions) -> Predicate:
        """Add the clauses of a predicate with some bound arguments, and all that they need."""
        waiting = [(predicate, bound)]
        while waiting:
            current, positions = waiting.pop()
            answer = ("answer", current, positions)
            if answer in self.predicates:
                continue
            self.predicates[answer] = self.arities[current]
            self.predicates["magic", current, positions] = len(positions)
            self._add_facts(current, positions)
            for clause in self.by_head.get(current, ()):
                waiting += self._add_clause(clause, positions)
        return "answer", predicate, bound

    def _add_facts(self, predicate: Predicate, positions: Positions) -> None:
        arity = self.arities[predicate]
        terms = tuple(range(arity))
        guard = Goal(("magic", predicate, positions), positions)
        body = (guard, Goal(("facts", predicate), terms))
        head = Goal(("answer", predicate, positions), terms)
        self.originals[len(self.clauses)] = None
        self.clauses.append(DefiniteClause(head, body, (), self.top, arity))

    def _add_clause(
        self, clause: DefiniteClause, positions: Positions
    ) -> list[tuple[Predicate, Positions]]:
        predicate, terms = clause.head
        guard = Goal(("magic", predicate, positions), tuple(terms[p] for p in positions))
        bound = {*variables_of(guard)}
        sizes = [
            float("inf") if goal.predicate in self.arities else len(self._table(goal.predicate))
            for goal in clause.body
        ]
        goals: list[Goal] = [guard]
        filters: list[Lookup | EntityComparison] = []
        needed: list[tuple[Predicate, Positions]] = []
        for index in order_items(clause, bound, sizes):
            if index >= len(clause.body):
                filters.append(clause.filters[index - len(clause.body)])
                continue
            goal = clause.body[index]
            if goal.predicate in self.arities:
                inner = tuple(p for p, t in enumerate(goal.terms) if t < 0 or t in bound)
                needed.append((goal.predicate, inner))
                magic = Goal(("magic", goal.predicate, inner), tuple(goal.terms[p] for p in inner))
                if goals != [magic]:
                    self.clauses.append(
                        replace(clause, head=magic, body=tuple(goals), filters=tuple(filters))
                    )
                goal = Goal(("answer", goal.predicate, inner), goal.terms)
            goals.append(goal)
            bound |= {*variables_of(goal)}
        head = Goal(("answer", predicate, positions), terms)
        self.originals[len(self.clauses)] = clause
        self.clauses.append(replace(clause, head=head, body=tuple(goals), filters=tuple(filters)))
        return needed

    def _table(self, predicate: Predicate) -> Sequence[Any] | AtomTable:
        return self.tables.get(predicate, ())


class BoundQuestion:
    """A question with constants on an open relation, evaluated from its constants.

    Closed relations that it depends on are evaluated completely: what is not derived must be known.
    """

    def __init__(
        self,
        known: EvaluatedGraph,
        literal: RelationLiteral,
        indices: Sequence[IntArray | None],
        stop: int = 0,
    ) -> None:
        self.known, self.literal, self.stop = known, literal, stop
        self.bound = tuple(p for p, index in enumerate(indices) if index is not None)
        #: The entities of each bound argument.
        self.values = [index for index in indices if index is not None]
        #: How many rows of facts and atoms were visited.
        self.instances = 0

    def atoms(self) -> RelationAtoms:
        """Return the atoms of the relation that match the constants, as ranks."""
        known, name = self.known, self.literal.name
        if name in known.rules.closed:
            return known.atoms(name)
        program = self.program()
        certain = self._side((name, CERTAIN), program, max(1, self.stop))
        against = self._side((name, AGAINST), program, 1)
        keys = distinct_keys(certain.keys, against.keys)
        known.evaluation.instances += self.instances
        return RelationAtoms(keys, certain.lookup(keys, 0), against.lookup(keys, 0), 0)

    def program(self) -> MagicProgram:
        """Return an empty program over the relations that the question depends on."""
        known, name = self.known, self.literal.name
        members: Collection[str] = known.stratum_of(name).names
        if name in known.rules.closed:
            known.evaluate([name])
        else:
            members = self._open_relations(name)
        initial = known.initial_tables(members)
        arities = {predicate: table.arity for predicate, table in initial.items()}
        by_head: dict[Predicate, list[DefiniteClause]] = {}
        for clause in known.clauses_of(members):
            by_head.setdefault(clause.head.predicate, []).append(clause)
        tables: dict[Predicate, AtomTable] = dict(known.evaluation.tables)
        tables |= {("facts", predicate): table for predicate, table in initial.items()}
        return MagicProgram(by_head, arities, initial, tables, known.ranked.top)

    def _open_relations(self, name: str) -> Collection[str]:
        """Return the open relations that are evaluated from the constants; evaluate the others."""
        known = self.known
        functions = {f.name for f in known.rules.functions}
        members = {name}
        waiting = [name]
        others: set[str] = set()
        while waiting:
            current = waiting.pop()
            for rule in known.rules.rules:
                if rule.head.name != current:
                    continue
                for part in rule.parts():
                    for literal in literals_of([part]):
                        is_open = literal.name not in known.rules.closed
                        is_complete = (
                            isinstance(part, CountPremise)
                            or not is_open
                            or literal.name not in known.rules.derived
                            or literal.name in functions
                        )
                        if is_complete:
                            others.add(literal.name)
                        elif literal.name not in members:
                            members.add(literal.name)
                            waiting.append(literal.name)
        known.evaluate(others)
        return members - others

    def seed(self, predicate: Predicate) -> dict[Predicate, AtomTable]:
        """Return the magic atoms of the constants."""
        radix = self.known.ranked.radix
        columns = [c.reshape(-1) for c in np.meshgrid(*self.values, indexing="ij")]
        keys = np.unique(encode(columns, radix)) if columns else np.zeros(1, np.int64)
        ranks = np.full(len(keys), self.known.ranked.top, np.int64)
        table = AtomTable(keys, ranks, len(self.bound), radix)
        return {("magic", predicate, self.bound): table}

    def _side(self, predicate: Predicate, program: MagicProgram, stop: int) -> AtomTable:
        clauses = program.by_head.get(predicate, [])
        closure = find_closure(clauses, predicate, program.facts) if clauses else None
        is_copied = closure is not None and closure.edges not in (None, *program.arities)
        if closure is not None and is_copied:
            inverse = 0 not in self.bound
            sources = np.unique(self.values[0])
            evaluation = self.known.evaluation
            before = evaluation.instances
            empty = AtomTable(sources[:0], sources[:0], 2, evaluation.radix)
            table = evaluation.widest(closure, empty, sources, inverse, stop)
            self.instances += evaluation.instances - before
            evaluation.instances = before
            return table
        answer = program.add(predicate, self.bound)
        result = self.run(program, predicate, stop)
        return result.tables[answer]

    def run(
        self, program: MagicProgram, predicate: Predicate, stop: int, record: bool = False
    ) -> SettledAtoms:
        """Evaluate a program from the constants of the question."""
        evaluation = self.known.evaluation
        result = settle(
            program.clauses,
            program.predicates,
            self.seed(predicate),
            program.tables,
            evaluation.radix,
            evaluation.top,
            evaluation.entities,
            stop=stop,
            record=record,
            max_instances=evaluation.max_instances,
            max_atoms=evaluation.max_atoms,
        )
        self.instances += result.instances
        return result
