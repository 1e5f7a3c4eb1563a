"""Why an atom is not certain enough: the derivation with the fewest facts to add or raise.

A fact that is below the degree, or absent, is a *repair*. The derivation with the fewest repairs,
counted along the tree, is found by Knuth's generalisation of Dijkstra's algorithm: sums over
premises, minimum over rules. Fewest *distinct* repairs would be abduction, which is NP-hard.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from pinesy._common.validation import check_degree, printable
from pinesy.relations.answer_table import GroundAtom
from pinesy.relations.definite_clauses import (
    DefiniteClause,
    EntityComparison,
    Goal,
    Lookup,
    variables_of,
)
from pinesy.relations.evaluated_graph import EvaluatedGraph
from pinesy.relations.fact_table import decode
from pinesy.relations.literals import RelationLiteral, atom_text
from pinesy.relations.translation import AGAINST, CERTAIN
from pinesy.rules.syntax.writer import format_subset

#: Ground instances that are searched, at most.
MAX_SEARCHED = 200_000

#: A ground atom: predicate and key.
Atom = tuple[Any, int]
#: A ground instance: its conclusion, its clause, its premises.
Instance = tuple[Atom, DefiniteClause, list[Atom]]


@dataclass(frozen=True)
class Repair:
    """A fact to add or raise.

    Attributes
    ----------
    name, entities, negated : the literal
    now : how certain it is
    """

    text: str
    name: str
    entities: tuple[Any, ...]
    negated: bool
    now: float

    def __str__(self) -> str:
        return f"{self.text} ({'absent' if self.now == 0.0 else f'now {self.now:.6g}'})"


@dataclass(frozen=True)
class Missing:
    """Why an atom is not certain at a degree; print it, or see `to_dict`.

    Attributes
    ----------
    atom : with its degrees
    certain : the degree that was asked for
    repairs : the facts that would make it so; None if no rule could
    would_be : how certain it would be then
    searched : how many entities were tried for the variables
    is_complete : whether these were all
    """

    atom: GroundAtom
    certain: float
    repairs: tuple[Repair, ...] | None
    would_be: float
    searched: int
    is_complete: bool

    @property
    def answer(self) -> str:
        """The atom and how certain it is."""
        return str(self.atom)

    @property
    def what_would_change_it(self) -> str:
        """The repairs, in a sentence."""
        if self.repairs is None:
            return (
                f"No facts to add would make it certain at {self.certain:.6g}: no rule of that "
                "certainty concludes it, or each needs what is closed to be otherwise."
            )
        if not self.repairs:
            return f"Nothing is missing: it is certain at {self.atom.certain:.6g}."
        facts = " and ".join(map(str, self.repairs))
        note = (
            "" if self.is_complete else f" (searched among the {self.searched:,} entities nearest)"
        )
        return f"It would follow at {self.would_be:.6g} if {facts}{note}."

    def text(self) -> str:
        """Return the answer and what would change it."""
        return printable(f"{self.answer}\nWhat would change it: {self.what_would_change_it}")

    def __str__(self) -> str:
        return self.text()

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data."""
        return {
            "atom": atom_text(self.atom.name, self.atom.entities),
            "certain": self.atom.certain,
            "asked": self.certain,
            "what_would_change_it": self.what_would_change_it,
            "repairs": None if self.repairs is None else [str(r) for r in self.repairs],
            "would_be": self.would_be,
            "is_complete": self.is_complete,
        }


def find_repairs(
    known: EvaluatedGraph, literal: RelationLiteral, atom: GroundAtom, certain: float | None
) -> Missing:
    """Return the fewest facts that make a ground atom certain at a degree.

    Without a degree, the greatest that rules allow.
    """
    degrees = [1.0, *sorted({rule.certainty for rule in known.rules.rules}, reverse=True)]
    if certain is not None:
        degrees = [check_degree(certain, "certain")]
    for degree in degrees:
        if atom.certain >= degree:
            return Missing(atom, degree, (), atom.certain, 0, True)
        answer = RepairSearch(known, literal, degree).run(atom)
        if answer.repairs is not None:
            break
    return answer


class RepairSearch:
    """Searches the ground instances that could conclude an atom."""

    def __init__(self, known: EvaluatedGraph, literal: RelationLiteral, certain: float) -> None:
        self.known, self.certain = known, certain
        self.rank = known.ranked.rank_at_least(certain)
        self.is_in_scale = certain <= 1.0
        names = known.dependencies([literal.name])
        known.evaluate(names)
        rules = [
            rule
            for rule in known.rules.rules
            if rule.head.name in names and rule.certainty >= certain
        ]
        self.clauses: dict[Any, list[DefiniteClause]] = {}
        for clause in known.writer.certain_clauses(rules, names):
            self.clauses.setdefault(clause.head.predicate, []).append(clause)
        self.indices = [known.ranked.entities.find(t) for t in literal.terms]  # type: ignore[arg-type]
        self.target: Atom = ((literal.name, CERTAIN), self._key(self.indices))
        self.entities, self.is_complete = self._candidates()

    def _key(self, indices: Sequence[int]) -> int:
        key = 0
        for index in indices:
            key = key * self.known.ranked.radix + index
        return key

    def _candidates(self) -> tuple[list[int], bool]:
        """Return the entities that variables may stand for: the nearest, as many as the budget."""
        n = len(self.known.ranked.entities)
        free = [
            clause.n_variables - len({*variables_of(clause.head)})
            for clauses in self.clauses.values()
            for clause in clauses
        ]
        is_deep = any(
            goal.predicate in self.clauses
            for clauses in self.clauses.values()
            for clause in clauses
            for goal in clause.body
        )
        most_variables = max(
            [1, *free]
            if not is_deep
            else [1, *(c.n_variables for cs in self.clauses.values() for c in cs)]
        )
        budget = int(MAX_SEARCHED ** (1 / most_variables))
        if n <= budget:
            return list(range(n)), True
        nearest = dict.fromkeys(i for i in self.indices if i >= 0)
        waiting = list(nearest)
        tables = [
            t
            for p, t in self.known.evaluation.tables.items()
            if isinstance(p, tuple) and len(p) == 2 and p[1] == CERTAIN and t.arity == 2
        ]
        for entity in waiting:  # grows in the loop
            for table in tables:
                for position in (0, 1):
                    index = table.index((position,))
                    low, high = np.searchsorted(index.bound, [entity, entity + 1])
                    rows = index.order[low : min(high, low + budget)]
                    for neighbour in table.columns[1 - position][rows].tolist():
                        if neighbour not in nearest and len(nearest) < budget:
                            nearest[neighbour] = None
                            waiting.append(neighbour)
        return list(nearest), False

    def _cost(self, atom: Atom) -> int | None:
        """Return 0 for an atom that is certain enough, 1 for a repair, None for a conclusion."""
        predicate, key = atom
        if self._rank(predicate, key) >= self.rank:
            return 0
        if predicate in self.clauses:
            return None
        name = predicate[0]
        if name == "count" or (
            name in self.known.rules.derived and name in self.known.rules.closed
        ):
            return -1  # neither derived by these rules nor a fact
        if name in self.known.rules.derived and predicate[1] == CERTAIN:
            return -1
        return 1

    def _rank(self, predicate: Any, key: int) -> int:
        table = self.known.evaluation.tables.get(predicate)
        default = 0
        if predicate[1:] == (AGAINST,):
            default = self.known.default_against(predicate[0])
        if table is None:
            return default
        return int(table.lookup(np.array([key], np.int64), default)[0])

    def _instances(self, atom: Atom) -> Iterator[tuple[DefiniteClause, list[Atom]]]:
        """Yield the ground premises of each instance that concludes an atom."""
        predicate, key = atom
        radix = self.known.ranked.radix
        compare = self.known.evaluation.entities.compare
        for clause in self.clauses[predicate]:
            arguments = [
                int(c[0]) for c in decode(np.array([key], np.int64), radix, len(clause.head.terms))
            ]
            binding: dict[int, int] = {}
            is_match = True
            for term, argument in zip(clause.head.terms, arguments, strict=True):
                value = -term - 1 if term < 0 else binding.setdefault(term, argument)
                is_match = is_match and value == argument
            if not is_match:
                continue
            free = [v for v in range(clause.n_variables) if v not in binding]
            for values in product(self.entities, repeat=len(free)):
                full = binding | dict(zip(free, values, strict=True))

                def ground(term: int, full: dict[int, int] = full) -> int:
                    return full[term] if term >= 0 else -term - 1

                tests = [f for f in clause.filters if isinstance(f, EntityComparison)]
                holds = all(
                    compare(t.sign, np.array([ground(t.left)]), np.array([ground(t.right)]))[0]
                    for t in tests
                )
                if holds:
                    items: list[Goal | Lookup] = list(clause.body)
                    items += [f for f in clause.filters if isinstance(f, Lookup)]
                    yield (
                        clause,
                        [(i.predicate, self._key([ground(t) for t in i.terms])) for i in items],
                    )

    def run(self, atom: GroundAtom) -> Missing:
        """Return the answer, by Knuth's algorithm over the instances that the atom reaches."""
        if self.target[0] not in self.clauses or -1 in self.indices:
            return self._without_repairs(atom)
        instances, costs = self._reach()
        used_in: dict[Atom, list[int]] = {}
        for number, (_, _, premises) in enumerate(instances):
            for premise in premises:
                used_in.setdefault(premise, []).append(number)
        heap: list[tuple[int, int, Atom, int]] = [
            (cost, counter, premise, -1) for counter, (premise, cost) in enumerate(costs.items())
        ]
        heapq.heapify(heap)
        counter = len(heap)
        remaining = [len(premises) for _, _, premises in instances]
        total = [0] * len(instances)
        final: dict[Atom, tuple[int, int]] = {}
        while heap:
            cost_now, _, current, number = heapq.heappop(heap)
            if current in final:
                continue
            final[current] = (cost_now, number)
            if current == self.target:
                break
            for index in used_in.get(current, ()):
                remaining[index] -= 1
                total[index] += cost_now
                if not remaining[index]:
                    counter += 1
                    heapq.heappush(heap, (total[index], counter, instances[index][0], index))
        if self.target not in final:
            return self._without_repairs(atom)
        return self._collect(atom, final, instances)

    def _reach(self) -> tuple[list[Instance], dict[Atom, int]]:
        """Return the instances that the target depends on, and the costs of facts."""
        instances: list[Instance] = []
        costs: dict[Atom, int] = {}
        waiting, reached = [self.target], {self.target}
        while waiting:
            current = waiting.pop()
            for clause, premises in self._instances(current):
                instances.append((current, clause, premises))
                for premise in premises:
                    if premise in reached:
                        continue
                    reached.add(premise)
                    cost = self._cost(premise)
                    if cost is None:
                        waiting.append(premise)
                    elif cost >= 0:
                        costs[premise] = cost
        return instances, costs

    def _without_repairs(self, atom: GroundAtom) -> Missing:
        return Missing(atom, self.certain, None, 0.0, len(self.entities), self.is_complete)

    def _collect(
        self,
        atom: GroundAtom,
        final: dict[Atom, tuple[int, int]],
        instances: list[Instance],
    ) -> Missing:
        repairs: dict[Atom, Repair] = {}
        levels = self.known.ranked.levels
        would_be = 1.0
        waiting, reached = [self.target], {self.target}
        while waiting:
            current = waiting.pop()
            cost, number = final[current]
            if number >= 0:
                _, clause, premises = instances[number]
                would_be = min(would_be, float(levels[clause.rank]))
                for premise in premises:
                    if premise not in reached:
                        reached.add(premise)
                        waiting.append(premise)
            elif cost:
                repairs[current] = self._repair(current)
            else:
                would_be = min(would_be, float(levels[self._rank(*current)]))
        ordered = tuple(sorted(repairs.values(), key=lambda r: r.text))
        return Missing(atom, self.certain, ordered, would_be, len(self.entities), self.is_complete)

    def _repair(self, atom: Atom) -> Repair:
        predicate, key = atom
        table = self.known.evaluation.tables.get(predicate)
        arity = table.arity if table is not None else 0
        columns = decode(np.array([key], np.int64), self.known.ranked.radix, arity)
        names = tuple(self.known.ranked.entities.names[int(c[0])] for c in columns)
        text = atom_text(predicate[0], names)
        negated = predicate[1] == AGAINST
        if predicate[1] == "without":
            text = f"{text} not in {format_subset(predicate[2])}"
        elif len(predicate) == 3:
            text = f"{text} not in {format_subset([predicate[2]])}"
        elif negated:
            text = f"not {text}"
        now = float(self.known.ranked.levels[self._rank(predicate, key)])
        return Repair(text, predicate[0], names, negated, now)
