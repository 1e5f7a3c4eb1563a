"""The propositional rules that an atom depends on: a cascade with an attribute for each atom.

An ``if`` is ground once for each substitution, an ``iff`` once for each head atom: its premise is
the ``or`` over all substitutions. A fact on an atom that rules conclude on is two attributes,
*given* and *denied*, with a rule each. The distribution of the cascade's output is then (P, 1 - N).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pinesy.exceptions import CascadeError, DataError
from pinesy.relations.columnar import ColumnarJoin
from pinesy.relations.definite_clauses import (
    AtomTable,
    DefiniteClause,
    EntityComparison,
    Goal,
    Lookup,
)
from pinesy.relations.evaluated_graph import EvaluatedGraph
from pinesy.relations.fact_table import complement
from pinesy.relations.literals import (
    Case,
    CountPremise,
    Entity,
    Part,
    RelationLiteral,
    Term,
    TermComparison,
    Variable,
    atom_text,
)
from pinesy.relations.relational_rule import EntityAttribute, GuardedFunction, RelationalRule
from pinesy.relations.translation import ClauseScope
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.functions import function
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.definitions import premise_of
from pinesy.rules.propositions import Statement, all_of, any_of, at_least
from pinesy.rules.rule import Rule

#: Atoms of a grounding, at most.
MAX_GROUND = 20_000


class GroundCascade(Cascade):
    """The propositional rules of an atom.

    Attributes
    ----------
    evidence : what the graph says of its inputs, as `infer` takes it
    """

    evidence: Mapping[str, Any]


class Grounding:
    """Makes the ground rules that an atom depends on."""

    def __init__(self, known: EvaluatedGraph, literal: RelationLiteral) -> None:
        self.known, self.rules, self.facts = known, known.rules, known.ranked
        known.evaluate(known.dependencies([literal.name]))
        self.attributes: dict[str, Attribute] = {}
        self.rule_sets: list[RuleSet] = []
        self.parts: list[Cascade] = []
        self.evidence: dict[str, Any] = {}
        self.waiting: list[tuple[str, tuple[Entity, ...]]] = []
        self._add(literal.name, tuple(literal.terms))  # type: ignore[arg-type]
        for name, entities in self.waiting:  # grows in the loop
            self._expand(name, entities)

    def cascade(self) -> GroundCascade:
        """Return the rules, with the evidence of their inputs."""
        if not self.rule_sets and not self.parts:
            raise CascadeError("no rule concludes on this atom: it is a fact, or unknown")
        try:
            cascade = GroundCascade(
                *self.rule_sets, *self.parts, attributes=self.attributes.values()
            )
        except CascadeError as error:
            raise CascadeError(
                f"the ground rules depend on each other, which those of a cascade cannot: {error}"
            ) from None
        cascade.evidence = {
            a.name: self.evidence[a.name] for a in cascade.inputs if a.name in self.evidence
        }
        return cascade

    def _add(self, name: str, entities: tuple[Entity, ...]) -> Attribute:
        """Return the attribute of an atom; a new one is expanded later."""
        text = atom_text(name, entities)
        if text not in self.attributes:
            if len(self.attributes) >= MAX_GROUND:
                raise DataError(
                    f"the grounding has more than {MAX_GROUND:,} atoms; ground an atom that "
                    "depends on fewer"
                )
            declaration = self.rules.relations[name]
            domain = (True, False)
            if isinstance(declaration, EntityAttribute):
                domain = declaration.domain
            self.attributes[text] = Attribute(text, domain)
            self.waiting.append((name, entities))
        return self.attributes[text]

    def _degrees(self, name: str, entities: Sequence[Entity]) -> dict[bool, float] | None:
        """Return the possibilities of a fact; None if there is none."""
        atoms = self.facts.atoms(name)
        key = self._key(entities)
        index = int(np.searchsorted(atoms.keys, key))
        if index < len(atoms.keys) and atoms.keys[index] == key:
            ranks = np.array([atoms.against[index], atoms.certain[index]])
            possible, impossible = complement(self.facts.levels[ranks]).tolist()
            return {True: possible, False: impossible}
        return None

    def _key(self, entities: Sequence[Entity]) -> int:
        key = 0
        for entity in entities:
            key = key * self.facts.radix + self.facts.entities.find(entity)
        return key

    def _expand(self, name: str, entities: tuple[Entity, ...]) -> None:
        text = atom_text(name, entities)
        attribute = self.attributes[text]
        declaration = self.rules.relations[name]
        is_attribute = isinstance(declaration, EntityAttribute)
        fact = None if is_attribute else self._degrees(name, entities)
        is_contradictory = fact is not None and max(fact.values()) < 1.0
        if name not in self.rules.derived and not is_contradictory:
            self.evidence[text] = self._base_evidence(name, entities, is_attribute)
            return
        for part in self.rules.functions:
            if part.name == name:
                self._expand_function(part, attribute, entities)
                return
        rules: list[Rule] = []
        definitions: list[Statement] = []
        for rule in self.rules.rules:
            if rule.head.name == name:
                rules += self._rules(rule, attribute, entities, definitions)
        rules += self._given_rules(name, entities, attribute, is_attribute, definitions)
        is_closed = name in self.rules.closed
        is_defined = any(r.is_definition and r.head.name == name for r in self.rules.rules)
        if is_closed and not is_defined:
            premise = any_of(*definitions) if definitions else None
            rules.append(self._converse(premise, attribute))
        if not rules:  # nothing is said of it
            self.evidence[text] = {}
        else:
            self.rule_sets.append(RuleSet(rules))

    def _converse(self, premise: Statement | None, attribute: Attribute) -> Rule:
        """Return the rule that what nothing supports is false."""
        if premise is None:
            nothing = Attribute(f"nothing for {attribute.name}", (True, False))
            self.evidence[nothing.name] = {True: 0.0, False: 1.0}
            premise = nothing.isin({True})
        return Rule(premise_of(premise), attribute.isin({True}), 0.0, 1.0)

    def _base_evidence(self, name: str, entities: tuple[Entity, ...], is_attribute: bool) -> Any:
        if is_attribute:
            keys, against = self.known.attribute_ranks(name)
            ranks = against[keys == self._key(entities)].max(axis=0, initial=0)
            domain = self.attributes[atom_text(name, entities)].domain
            return dict(zip(domain, complement(self.facts.levels[ranks]).tolist(), strict=True))
        degrees = self._degrees(name, entities)
        if degrees is None:
            is_closed = name in self.rules.closed
            return {True: 0.0 if is_closed else 1.0, False: 1.0}
        return degrees

    def _given_rules(
        self,
        name: str,
        entities: tuple[Entity, ...],
        attribute: Attribute,
        is_attribute: bool,
        definitions: list[Statement],
    ) -> list[Rule]:
        """Return the rules of a fact on an atom that rules conclude on."""
        if is_attribute:
            keys, against = self.facts.distributions(name)
            index = int(np.searchsorted(keys, self._key(entities)))
            if index == len(keys) or keys[index] != self._key(entities):
                return []
            source = Attribute(f"given {attribute.name}", attribute.domain)
            degrees = complement(self.facts.levels[against[index]]).tolist()
            self.evidence[source.name] = dict(zip(source.domain, degrees, strict=True))
            return [
                Rule(
                    premise_of(source.isin({v}).complement),
                    attribute.isin({v}).complement,
                    1.0,
                    0.0,
                )
                for v in source.domain
            ]
        fact = self._degrees(name, entities)
        if fact is None:
            return []
        # What speaks for it and what speaks against it are two inputs, for they may contradict.
        rules = []
        for prefix, value in (("given", True), ("denied", False)):
            source = Attribute(f"{prefix} {attribute.name}", (True, False))
            self.evidence[source.name] = {True: 1.0, False: fact[not value]}
            rules.append(Rule(premise_of(source.isin({True})), attribute.isin({value}), 1.0, 0.0))
            if value:
                definitions.append(source.isin({True}))
        return rules

    def _rules(
        self,
        rule: RelationalRule,
        attribute: Attribute,
        entities: tuple[Entity, ...],
        definitions: list[Statement],
    ) -> list[Rule]:
        """Return the ground rules of a rule for one head atom."""
        binding: dict[Variable, Term] = {}
        for term, entity in zip(rule.head.terms, entities, strict=True):
            expected = binding.setdefault(term, entity) if isinstance(term, Variable) else term
            if expected != entity:
                if rule.is_definition:
                    return [self._nothing_rule(rule, attribute)]
                return []
        premises = [
            premise
            for case in rule.cases
            for premise in self._premises(rule, tuple(p.substitute(binding) for p in case))
        ]
        head = rule.head
        conclusion = attribute.isin(head.values if head.values is not None else {True})
        conclusion = conclusion.complement if head.negated else conclusion
        if not head.negated and head.values is None:
            definitions += premises
        if not rule.is_definition:
            return [Rule(premise_of(p), conclusion, 1.0, rule.r) for p in premises]
        if not premises:
            return [self._nothing_rule(rule, attribute)]
        whole_premise = any_of(*premises) if len(premises) > 1 else premises[0]
        return [Rule(premise_of(whole_premise), conclusion, rule.s, rule.r)]

    def _nothing_rule(self, rule: RelationalRule, attribute: Attribute) -> Rule:
        nothing = Attribute(f"nothing for {attribute.name}", (True, False))
        self.evidence[nothing.name] = {True: 0.0, False: 1.0}
        return Rule(premise_of(nothing.isin({True})), attribute.isin({True}), rule.s, rule.r)

    def _premises(self, rule: RelationalRule, case: Case) -> list[Statement]:
        """Return the ground conjunctions of a case."""
        literals = [p for p in case if not isinstance(p, TermComparison)]
        premises = []
        for mapping in self._substitutions(rule, case):
            parts = [self._statement(p.substitute(mapping)) for p in literals]
            parts = list(dict.fromkeys(parts))
            premises.append(all_of(*parts) if len(parts) > 1 else parts[0])
        return premises

    def _statement(self, part: Part) -> Statement:
        if isinstance(part, CountPremise):
            return self._count(part)
        assert isinstance(part, RelationLiteral)
        attribute = self._add(part.name, part.terms)  # type: ignore[arg-type]
        proposition = attribute.isin(part.values if part.values is not None else {True})
        return proposition.complement if part.negated else proposition

    def _count(self, count: CountPremise) -> Statement:
        """Return ``at least k`` of the ground conjunctions, one for each counted entity."""
        case = tuple(count.parts)
        by_entity: dict[Any, list[Statement]] = {}
        for mapping in self._substitutions(None, case):
            literals = [p for p in case if isinstance(p, RelationLiteral)]
            parts = [self._statement(p.substitute(mapping)) for p in literals]
            premise = all_of(*parts) if len(parts) > 1 else parts[0]
            by_entity.setdefault(mapping[count.counted], []).append(premise)
        options = [any_of(*p) if len(p) > 1 else p[0] for p in by_entity.values()]
        if len(options) < count.least:
            nothing = Attribute("nothing", (True, False))
            self.evidence[nothing.name] = {True: 0.0, False: 1.0}
            return nothing.isin({True})
        return at_least(count.least, *options)

    def _substitutions(
        self, rule: RelationalRule | None, case: Case
    ) -> list[dict[Variable, Entity]]:
        """Return the values of variables for which a conjunction may hold."""
        writer = self.known.writer
        is_closed = rule is not None and rule.head.name in self.rules.closed
        make: list[Callable[..., list[Goal | Lookup | EntityComparison]]] = [self._listed_items]
        if is_closed or rule is None:
            make.append(partial(writer._possible_items, rule=rule, case=case, members=()))
        results: dict[tuple[Any, ...], dict[Variable, Entity]] = {}
        for items_of in make:
            scope = ClauseScope(writer)
            items: list[Goal | Lookup | EntityComparison] = []
            for part in case:
                if isinstance(part, CountPremise):
                    scope.terms(list(part.variables()))
                    continue
                items += items_of(part, scope)
            variables = list(scope.numbers)
            bound = {t for i in items if isinstance(i, Goal) for t in i.terms if t >= 0}
            for term in range(len(variables)):
                if term not in bound:
                    items.append(Goal(scope.sort_predicate(term), (term,)))
            for row in self._rows(items, len(variables), rule):
                names = [self.facts.entities.names[i] for i in row]
                mapping = dict(zip(variables, names, strict=True))
                results[tuple(mapping[v] for v in sorted(mapping, key=str))] = mapping
        return list(results.values())

    def _listed_items(
        self, part: Part, scope: ClauseScope
    ) -> list[Goal | Lookup | EntityComparison]:
        """Return the premises that a literal is listed: that something is known of it."""
        if isinstance(part, TermComparison):
            return [scope.test(part)]
        assert isinstance(part, RelationLiteral)
        terms = scope.terms(part.terms)
        scope.note_sorts(part, terms)
        if part.negated and part.name in self.rules.closed:
            return []
        tables = self.known.evaluation.tables
        predicate = ("listed", part.name)
        if predicate not in tables:
            is_attribute = part.values is not None
            keys = self.known.attribute_ranks(part.name)[0] if is_attribute else None
            keys = self.known.atoms(part.name).keys if keys is None else keys
            ranks = np.full(len(keys), self.facts.top, np.int64)
            arity = len(self.rules.relations[part.name].sorts)
            tables[predicate] = AtomTable(keys, ranks, arity, self.facts.radix)
        return [Goal(predicate, terms)]

    def _rows(
        self, items: Sequence[Goal | Lookup | EntityComparison], n_variables: int, rule: object
    ) -> list[tuple[int, ...]]:
        evaluation = self.known.evaluation
        head = Goal(("ground",), tuple(range(n_variables)))
        goals = tuple(i for i in items if isinstance(i, Goal))
        filters = tuple(i for i in items if not isinstance(i, Goal))
        clause = DefiniteClause(head, goals, filters, self.facts.top, n_variables, rule)
        join = ColumnarJoin(evaluation.tables, evaluation.radix, evaluation.entities, MAX_GROUND)
        table = AtomTable.merge(join.run([clause]), n_variables, evaluation.radix)
        if not n_variables:
            return [()] * len(table)
        return list(zip(*(c.tolist() for c in table.columns), strict=True))

    def _expand_function(
        self, part: GuardedFunction, attribute: Attribute, entities: tuple[Entity, ...]
    ) -> None:
        binding: dict[Variable, Term] = dict(zip(part.variables, entities, strict=True))
        guard = tuple(p.substitute(binding) for p in part.guard)
        rows = self._substitutions(None, guard)
        if not rows:
            self.evidence[attribute.name] = {}
            return
        if len(rows) > 1:
            raise DataError(f"{attribute.name} is given by {len(rows)} tuples; ground one of them")
        full = binding | rows[0]
        text = part.text
        arguments = []
        for argument in part.arguments:
            ground = argument.substitute(full)
            attribute_of = self._add(ground.name, ground.terms)  # type: ignore[arg-type]
            arguments.append(attribute_of)
            plain = atom_text(argument.name, argument.terms)
            text = text.replace(f"`{plain}`", f"`{attribute_of.name}`")
        distinct = list(dict.fromkeys(arguments))
        self.parts.append(function(attribute.name, distinct, text, attribute.domain))
