"""The semantics of relational rules in dictionaries: slow, and obviously what the definition says.

Degrees are pairs: `certain` is N(p), `against` is N(not p). Every substitution of entities for
variables is tried until nothing changes.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from pinesy.relations import CountPremise, EntityAttribute, Graph, RelationalRules, TermComparison
from pinesy.relations.literals import Variable, literals_of
from pinesy.rules.rule import from_certainty
from pinesy.rules.syntax.expressions import COMPARISONS

Key = tuple[Any, ...]


class Reference:
    """N and N(not) of every ground atom: `certain[name, *entities]`, `against[...]`.

    The `against` of an attribute has one more part in its key, the value.
    """

    def __init__(self, rules: RelationalRules, graph: Graph) -> None:
        self.rules = rules
        self.certain: dict[Key, float] = {}
        self.against: dict[Key, float] = {}
        self.listed: set[Key] = set()
        #: What speaks against closed atoms, except that they are not derived.
        self.negative: dict[Key, float] = {}
        #: What speaks against an atom of a closed relation that is not listed here.
        self.defaults: dict[str, float] = {}
        self.sorts: dict[str, set[Any]] = {"entity": {*graph.entities.names}}
        self._read_facts(graph)
        self._read_sorts(graph)
        for stratum in rules.strata:
            own = [rule for rule in rules.rules if rule.head.name in stratum.names]
            if stratum.closed:
                self._closed(stratum.names, own)
            else:
                self._raise_certainties(own)

    def _read_facts(self, graph: Graph) -> None:
        names = graph.entities.names
        for name in graph.relations:
            table = graph.facts(name)
            for row in range(len(table)):
                key = (name, *(names[i] for i in table.columns[:, row]))
                self.certain[key] = table.certain[row]
                self.against[key] = table.against[row]
                self.listed.add(key)
        for name, attached in graph.attached.items():
            domain = self.rules.relations[name].domain  # type: ignore[union-attr]
            for row, degrees in zip(attached.columns.T, attached.degrees, strict=True):
                for value, degree in zip(domain, degrees.tolist(), strict=True):
                    key = (name, *(names[i] for i in row), value)
                    self.against[key] = from_certainty(degree)

    def _read_sorts(self, graph: Graph) -> None:
        names, rules = graph.entities.names, self.rules
        for name in (*graph.relations, *graph.attached):
            table_columns = (
                graph.facts(name) if name in graph.relations else graph.attached[name]
            ).columns
            for sort, column in zip(rules.relations[name].sorts, table_columns, strict=True):
                self.sorts.setdefault(sort, set()).update(names[i] for i in column)
        for rule in rules.rules:
            for literal in [rule.head, *literals_of(rule.parts())]:
                for term, sort in zip(
                    literal.terms, rules.relations[literal.name].sorts, strict=True
                ):
                    if not isinstance(term, Variable):
                        self.sorts.setdefault(sort, set()).add(term)
                        self.sorts["entity"].add(term)

    def _substitutions(self, parts: Any) -> Iterator[dict[Variable, Any]]:
        """Yield every substitution of the variables of literals by entities of their sorts."""
        sorts: dict[Variable, str] = {}
        for literal in literals_of(parts):
            for term, sort in zip(
                literal.terms, self.rules.relations[literal.name].sorts, strict=True
            ):
                if isinstance(term, Variable):
                    sorts.setdefault(term, sort)
        # What only one count mentions is read "exists" inside the count.
        inside = [v for p in parts if isinstance(p, CountPremise) for v in {*p.variables()}]
        outside = {v for p in parts if not isinstance(p, CountPremise) for v in p.variables()}
        counted = {p.counted for p in parts if isinstance(p, CountPremise)}
        sorts = {
            v: s
            for v, s in sorts.items()
            if v not in counted and (v in outside or inside.count(v) > 1)
        }
        ranges = [sorted(self.sorts.get(s, ()), key=str) for s in sorts.values()]
        for values in product(*ranges):
            yield dict(zip(sorts, values, strict=True))

    def _degree(self, part: Any, theta: Mapping[Variable, Any], side: str) -> float:
        """Return how certain a part is (side "for"), or its negation (side "against")."""
        if isinstance(part, TermComparison):
            left, right = (theta.get(t, t) for t in (part.left, part.right))  # type: ignore[arg-type]
            same_kind = isinstance(left, str) == isinstance(right, str)
            holds = part.sign == "!=" if not same_kind else COMPARISONS[part.sign](left, right)
            return float(holds == (side == "for"))
        if isinstance(part, CountPremise):
            return self._count(part, theta, side)
        key = (part.name, *(theta.get(t, t) for t in part.terms))
        positive = part.negated == (side == "against")
        if part.values is None:
            default = 1.0 if part.name in self.rules.closed else 0.0
            if positive:
                return self.certain.get(key, 0.0)
            return self.against.get(key, self.defaults.get(part.name, default))
        declaration = self.rules.relations[part.name]
        assert isinstance(declaration, EntityAttribute)
        outside = [v for v in declaration.domain if (v not in part.values) == positive]
        return min(self.against.get((*key, v), 0.0) for v in outside)

    def _count(self, count: CountPremise, theta: Mapping[Variable, Any], side: str) -> float:
        best: dict[Any, float] = {}
        for inner in self._substitutions(count.parts):
            if all(theta.get(v, value) == value for v, value in inner.items()):
                degrees = [self._degree(part, inner, side) for part in count.parts]
                degree = min(degrees) if side == "for" else max(degrees)
                entity = inner[count.counted]
                pick = max if side == "for" else min
                best[entity] = pick(degree, best.get(entity, degree))
        degrees = sorted(best.values(), reverse=side == "for")
        if len(degrees) < count.least:
            return 0.0 if side == "for" else 1.0
        return degrees[count.least - 1]

    def _raise_certainties(self, rules: Any) -> None:
        changed = True
        while changed:
            changed = False
            for rule in rules:
                for case in rule.cases:
                    for theta in self._substitutions([rule.head, *case]):
                        degrees = [self._degree(part, theta, "for") for part in case]
                        degree = min(rule.certainty, *degrees)
                        for target, key in self._targets(rule.head, theta):
                            if degree > target.get(key, 0.0):
                                target[key] = degree
                                changed = True

    def _targets(self, head: Any, theta: Any) -> Iterator[tuple[dict[Key, float], Key]]:
        key = (head.name, *(theta.get(t, t) for t in head.terms))
        if head.values is None:
            yield (
                (
                    self.negative
                    if head.negated and head.name in self.rules.closed
                    else self.against
                    if head.negated
                    else self.certain
                ),
                key,
            )
            return
        for value in self.rules.relations[head.name].domain:  # type: ignore[union-attr]
            if (value in head.values) == head.negated:
                yield self.against, (*key, value)

    def _closed(self, names: Any, rules: Any) -> None:
        """Evaluate from below how certain and, by what speaks against, how possible."""
        definitions = {rule.head.name: rule for rule in rules if rule.is_definition}
        self.negative = {k: d for k, d in self.against.items() if k[0] in names}
        self.defaults = dict(self.defaults)
        self._raise_certainties(rules)
        for name in names:
            sorts = self.rules.relations[name].sorts
            for entities in product(*(self.sorts.get(s, ()) for s in sorts)):
                key = (name, *entities)
                if name in definitions:
                    self.against[key] = from_certainty(definitions[name].s)
                elif key not in self.listed:
                    self.against[key] = 1.0
                self.against[key] = max(self.against[key], self.negative.get(key, 0.0))
            default = from_certainty(definitions[name].s) if name in definitions else 1.0
            self.defaults[name] = default
        self._raise_possibilities([r for r in rules if not r.head.negated], definitions)

    def _raise_possibilities(self, rules: Any, definitions: Any) -> None:
        changed = True
        while changed:
            changed = False
            for rule in rules:
                head = rule.head
                if head.name in definitions and not rule.is_definition:
                    continue
                for case in rule.cases:
                    for theta in self._substitutions([head, *case]):
                        key = (head.name, *(theta.get(t, t) for t in head.terms))
                        degree = max(self._degree(part, theta, "against") for part in case)
                        degree = max(degree, self.negative.get(key, 0.0))
                        if degree < self.against[key]:
                            self.against[key] = degree
                            changed = True
