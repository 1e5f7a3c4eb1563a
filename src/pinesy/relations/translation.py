"""Rules as definite clauses on signed predicates.

An open relation p is two predicates, p and not p, which rise side by side; a closed one is
evaluated twice, on how certain and on how possible it is. An attribute is one predicate for each
value, "it is not v". So every engine sees definite clauses only.
"""

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from pinesy.relations.columnar import ColumnarJoin
from pinesy.relations.definite_clauses import (
    AtomTable,
    DefiniteClause,
    EntityComparison,
    Goal,
    Lookup,
    Predicate,
)
from pinesy.relations.evaluated_relations import EvaluatedRelations
from pinesy.relations.fact_table import IntArray
from pinesy.relations.literals import (
    Case,
    CountPremise,
    Part,
    RelationLiteral,
    Term,
    TermComparison,
    Variable,
)
from pinesy.relations.relational_rule import EntityAttribute, RelationalRule
from pinesy.relations.rule_checks import ANY_SORT, free_variables

CERTAIN, AGAINST, POSSIBLE = "certain", "against", "possible"


class ClauseWriter:
    """Writes the clauses of rules, for a graph whose lower strata are evaluated."""

    def __init__(self, known: EvaluatedRelations) -> None:
        self.known = known
        self.facts = known.ranked
        self.rules = known.rules

    def heads(self, literal: RelationLiteral) -> list[Predicate]:
        """Return the predicates that a conclusion raises."""
        if literal.values is None:
            return [(literal.name, AGAINST if literal.negated else CERTAIN)]
        return [(literal.name, AGAINST, v) for v in self._outside(literal)]

    def _outside(self, literal: RelationLiteral) -> list[object]:
        """Return the values that an attribute has not, if a literal holds."""
        declaration = self.rules.relations[literal.name]
        assert isinstance(declaration, EntityAttribute)
        assert literal.values is not None
        inside = {*literal.values}
        return [v for v in declaration.domain if (v in inside) == literal.negated]

    def certain_clauses(
        self, rules: Iterable[RelationalRule], members: Collection[str]
    ) -> list[DefiniteClause]:
        """Return the clauses of how certain the conclusions of rules are.

        Parameters
        ----------
        own : the relations and attributes that are evaluated together
        """
        clauses = []
        for rule in rules:
            rank = int(self.facts.rank(rule.certainty))
            for case in rule.cases:
                scope = ClauseScope(self)
                items, parts = [], []
                for part in case:
                    for item in self.certain_items(part, scope, rule, case, members):
                        items.append(item)
                        parts.append(part)
                head = scope.terms(rule.head.terms)
                for predicate in self.heads(rule.head):
                    clauses.append(_clause(Goal(predicate, head), items, rank, scope, rule, parts))
        return clauses

    def certain_items(
        self,
        part: Part,
        scope: "ClauseScope",
        rule: object,
        case: Case,
        members: Collection[str],
    ) -> list[Goal | Lookup | EntityComparison]:
        """Return the premises of how certain a part is."""
        if isinstance(part, TermComparison):
            return [scope.test(part)]
        if isinstance(part, CountPremise):
            return [self._count_goal(part, scope, rule, case, CERTAIN)]
        terms = scope.terms(part.terms)
        if part.values is not None:
            if part.name in members:
                return [Goal((part.name, AGAINST, v), terms) for v in self._outside(part)]
            outside = self._outside(part)
            return [Goal(self.known.subset_predicate(part.name, outside), terms)]
        if not part.negated:
            return [Goal((part.name, CERTAIN), terms)]
        if part.name in self.rules.closed:
            default = self.known.default_against(part.name)
            return [Lookup((part.name, AGAINST), terms, default)]
        return [Goal((part.name, AGAINST), terms)]

    def possible_clauses(
        self, rules: Iterable[RelationalRule], members: Collection[str], caps: Collection[str]
    ) -> tuple[list[DefiniteClause], set[str]]:
        """Return the clauses of how possible closed relations are.

        Parameters
        ----------
        own : the relations that are evaluated together
        caps : those that are capped by what speaks against them

        Returns
        -------
        clauses : of the predicates ``(name, "possible")``
        everywhere : the relations that are fully possible everywhere
        """
        clauses, everywhere = [], set()
        for rule in rules:
            for case in rule.cases:
                scope = ClauseScope(self)
                items: list[Goal | Lookup | EntityComparison] = []
                parts: list[object] = []
                for part in case:
                    for item in self._possible_items(part, scope, rule, case, members):
                        items.append(item)
                        parts.append(part)
                head = scope.terms(rule.head.terms)
                if not items and all(t >= 0 for t in head) and len({*head}) == len(head):
                    if scope.has_entities(range(len(scope.numbers))):
                        everywhere.add(rule.head.name)
                    continue
                bound = {t for i in items if isinstance(i, Goal) for t in i.terms if t >= 0}
                needed = {t for i in items if isinstance(i, Lookup) for t in i.terms if t >= 0}
                needed |= {
                    t for i in items if isinstance(i, EntityComparison) for t in i[::2] if t >= 0
                }
                needed |= {t for t in head if t >= 0}
                if not scope.has_entities(
                    [t for t in range(len(scope.numbers)) if t not in bound | needed]
                ):
                    continue
                for term in sorted(needed - bound):
                    items.append(Goal(scope.sort_predicate(term), (term,)))
                    parts.append(None)
                if rule.head.name in caps:
                    items.append(Lookup((rule.head.name, "cap"), head, self.facts.top))
                    parts.append(None)
                goal = Goal((rule.head.name, POSSIBLE), head)
                clauses.append(_clause(goal, items, self.facts.top, scope, rule, parts))
        return clauses, everywhere

    def _possible_items(
        self, part: Part, scope: "ClauseScope", rule: object, case: Case, members: Collection[str]
    ) -> list[Goal | Lookup | EntityComparison]:
        """Return the premises of how possible a part is; none if it is always fully possible."""
        if isinstance(part, TermComparison):
            return [scope.test(part)]
        if isinstance(part, CountPremise):
            return [self._count_goal(part, scope, rule, case, POSSIBLE)]
        terms = scope.terms(part.terms)
        scope.note_sorts(part, terms)
        if part.values is not None:
            # It is possible as far as nothing speaks against all of its values.
            outside = self._outside(~part)
            return self._lookup(self.known.impossible_predicate(part.name, outside), terms)
        if part.negated:
            return self._lookup(self.known.uncertain_predicate(part.name), terms)
        if part.name in members:
            return [Goal((part.name, POSSIBLE), terms)]
        default = self.facts.top - self.known.default_against(part.name)
        predicate = self.known.possible_predicate(part.name)
        if default == 0:
            return [Goal(predicate, terms)]
        return self._lookup(predicate, terms, default)

    def _lookup(
        self, predicate: Predicate, terms: tuple[int, ...], default: int | None = None
    ) -> list[Goal | Lookup | EntityComparison]:
        default = self.facts.top if default is None else default
        if default == self.facts.top and not len(self.known.evaluation.tables[predicate]):
            return []
        return [Lookup(predicate, terms, default)]

    def _count_goal(
        self, count: CountPremise, scope: "ClauseScope", rule: object, case: Case, side: str
    ) -> Goal:
        """Return the goal ``at least k Z: ...``; its table is made here."""
        free = sorted(free_variables(rule, case, count), key=lambda v: v.name)
        predicate = ("count", count, tuple(free), side)
        if predicate not in self.known.evaluation.tables:
            inner = ClauseScope(self)
            items: list[Goal | Lookup | EntityComparison] = []
            for part in count.parts:
                parts = tuple(count.parts)
                if side == CERTAIN:
                    items += self.certain_items(part, inner, rule, parts, ())
                else:
                    items += self._possible_items(part, inner, rule, parts, ())
            head = inner.terms([*free, count.counted])
            bound = {t for i in items if isinstance(i, Goal) for t in i.terms if t >= 0}
            unbound = [t for t in range(len(inner.numbers)) if t not in bound]
            items += [Goal(inner.sort_predicate(t), (t,)) for t in unbound]
            clause = _clause(Goal(predicate, head), items, self.facts.top, inner, rule, [])
            evaluation = self.known.evaluation
            join = ColumnarJoin(
                evaluation.tables, evaluation.radix, evaluation.entities, evaluation.max_instances
            )
            table = AtomTable.merge(join.run([clause]), len(head), evaluation.radix)
            evaluation.instances += join.instances
            evaluation.tables[predicate] = at_least_table(table, count.least)
        return Goal(predicate, scope.terms(free))


def at_least_table(table: AtomTable, least: int) -> AtomTable:
    """Return, for each tuple without its last entity, the k-th greatest rank."""
    groups = table.keys // table.radix
    order = np.lexsort((-table.ranks, groups))
    groups, ranks = groups[order], table.ranks[order]
    starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]]) if len(groups) else groups
    ends = np.r_[starts[1:], len(groups)] if len(groups) else groups
    enough = starts[ends - starts >= least]
    return AtomTable(groups[enough], ranks[enough + least - 1], table.arity - 1, table.radix)


class ClauseScope:
    """The variables of a clause: their numbers and their sorts."""

    def __init__(self, writer: ClauseWriter) -> None:
        self.facts = writer.facts
        self.known = writer.known
        self.numbers: dict[Variable, int] = {}
        self.sorts: dict[int, str] = {}

    def terms(self, terms: Sequence[Term]) -> tuple[int, ...]:
        """Return terms as numbers: of variables, or of entities."""
        return tuple(
            self.numbers.setdefault(t, len(self.numbers))
            if isinstance(t, Variable)
            else -self.facts.entities.find(t) - 1
            for t in terms
        )

    def test(self, comparison: TermComparison) -> EntityComparison:
        """Return a comparison of numbers."""
        left, right = self.terms([comparison.left, comparison.right])
        return EntityComparison(left, comparison.sign, right)

    def note_sorts(self, literal: RelationLiteral, terms: Sequence[int]) -> None:
        """Note the sorts of the variables of a literal."""
        sorts = self.known.rules.relations[literal.name].sorts
        for term, sort in zip(terms, sorts, strict=True):
            if term >= 0:
                self.sorts.setdefault(term, sort)

    def _members(self, term: int) -> IntArray:
        sort = self.sorts.get(term, ANY_SORT)
        return self.facts.sort_entities.get(sort, np.zeros(0, np.int64))

    def has_entities(self, terms: Iterable[int]) -> bool:
        """Return whether there is an entity of the sort of each variable."""
        return all(len(self._members(term)) for term in terms)

    def sort_predicate(self, term: int) -> Predicate:
        """Return the predicate of all entities of the sort of a variable."""
        predicate = ("sort", self.sorts.get(term, ""))
        if predicate not in self.known.evaluation.tables:
            members = self._members(term)
            ranks = np.full(len(members), self.facts.top, np.int64)
            self.known.evaluation.tables[predicate] = AtomTable(members, ranks, 1, self.facts.radix)
        return predicate


def _clause(
    head: Goal,
    items: Sequence[Goal | Lookup | EntityComparison],
    rank: int,
    scope: ClauseScope,
    rule: object,
    parts: Sequence[object],
) -> DefiniteClause:
    body = [i for i in items if isinstance(i, Goal)]
    filters = [i for i in items if not isinstance(i, Goal)]
    goal_parts = [p for i, p in zip(items, parts, strict=False) if isinstance(i, Goal)]
    filter_parts = [p for i, p in zip(items, parts, strict=False) if not isinstance(i, Goal)]
    names = (tuple(goal_parts), tuple(filter_parts))
    return DefiniteClause(head, tuple(body), tuple(filters), rank, len(scope.numbers), rule, names)
