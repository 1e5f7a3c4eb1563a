"""`KnownGraph`: the facts of a graph and what follows from them by rules."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pinesy._common.validation import check_degree, check_known
from pinesy.exceptions import DataError
from pinesy.relations.answer_table import AttributeTable, GroundAtom, Table
from pinesy.relations.clause_evaluation import ClauseEvaluation
from pinesy.relations.definite_clauses import MAX_ATOMS, MAX_INSTANCES, AtomTable, Predicate
from pinesy.relations.derivation import Why, explain_atom
from pinesy.relations.fact_table import IntArray, complement, decode, distinct_keys, encode
from pinesy.relations.graph import Graph
from pinesy.relations.guarded_functions import function_ranks
from pinesy.relations.literals import Entity, RelationLiteral, Variable, literals_of
from pinesy.relations.magic_sets import BoundQuestion
from pinesy.relations.ranked_facts import RankedFacts
from pinesy.relations.relational_rule import EntityAttribute
from pinesy.relations.relational_rules import RelationalRules
from pinesy.relations.relational_text import parse_atom
from pinesy.relations.repairs import Missing, find_repairs
from pinesy.relations.rule_checks import Stratum
from pinesy.relations.translation import AGAINST, CERTAIN, POSSIBLE, ClauseWriter


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


class KnownGraph:
    """Facts and conclusions. Relations are evaluated when they are first used.

    Examples
    --------
    >>> from pinesy import Graph, parse
    >>> rules = parse('''
    ...     relation parent(person, person)
    ...     if parent(X, Y) or parent(X, Z) and ancestor(Z, Y) then ancestor(X, Y)
    ... ''')
    >>> known = rules.infer(Graph({"parent": [("ann", "bob", 0.8), ("bob", "cleo")]}))
    >>> known.ask("ancestor(ann, X)")
    X     certain  possible
    bob   0.8      1
    cleo  0.8      1
    >>> known.ask("ancestor(cleo, ann)")
    ancestor(cleo, ann): certain 0, possible 1
    """

    def __init__(
        self,
        rules: RelationalRules,
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
        self._writer = ClauseWriter(self)
        self._atoms: dict[str, RelationAtoms] = {}
        self._strata: dict[str, Stratum] = {
            name: stratum for stratum in rules.strata for name in stratum.names
        }
        #: The engine that evaluates recursive strata; None for the fastest.
        self.engine: str | None = None

    # --- answers ---

    def __getitem__(self, name: str) -> "Table | AttributeTable":
        """Return the atoms of a relation, or the distributions of an attribute."""
        declaration = self._declaration(name)
        self.evaluate([name])
        if isinstance(declaration, EntityAttribute):
            return self._attribute_table(declaration)
        atoms = self._atoms[name]
        listed_rows = np.ones(len(atoms.keys), bool)
        if name not in self.rules.closed:
            listed_rows = (atoms.certain > 0) | (atoms.against > 0)
        columns = decode(atoms.keys[listed_rows], self.ranked.radix, len(declaration.sorts))
        levels = self.ranked.levels
        return Table(
            name,
            self._titles(name, len(declaration.sorts)),
            columns,
            levels[atoms.certain[listed_rows]],
            levels[atoms.against[listed_rows]],
            self.ranked.entities,
        )

    def _declaration(self, name: str) -> Any:
        check_known(name, self.rules.relations, f"there is no relation {name!r:.60}", DataError)
        return self.rules.relations[name]

    def _titles(self, name: str, arity: int) -> list[str]:
        for rule in self.rules.rules:
            titles = [t.name for t in rule.head.terms if isinstance(t, Variable)]
            if rule.head.name == name and len({*titles}) == arity:
                return titles
        return ["X", "Y", "Z"][:arity] if arity <= 3 else [f"X{i + 1}" for i in range(arity)]

    def _attribute_table(self, declaration: EntityAttribute) -> AttributeTable:
        keys, against = self.attribute_ranks(declaration.name)
        return AttributeTable(
            declaration.as_attribute(),
            decode(keys, self.ranked.radix, len(declaration.sorts)),
            complement(self.ranked.levels[against]),
            self.ranked.entities,
        )

    def attribute_ranks(self, name: str) -> tuple[IntArray, IntArray]:
        """Return the keys of an attribute's tuples, and the rank against each value."""
        self.evaluate([name])
        domain = self._declaration(name).domain
        tables = [self.evaluation.tables[name, AGAINST, v] for v in domain]
        known_keys = self._atoms[name].keys
        keys = distinct_keys(known_keys, *(t.keys for t in tables))
        return keys, np.stack([t.lookup(keys, 0) for t in tables], axis=1)

    def ask(
        self,
        question: str | RelationLiteral,
        certain: float = 0.0,
        among: Mapping[str, Iterable[Entity]] | None = None,
    ) -> "Table | GroundAtom":
        """Return the answers to a question such as ``grandparent(ann, Z)``.

        Constants are bound first: the work is in proportion to what the question reaches, unless
        the relation was evaluated before.

        Parameters
        ----------
        question : an atom; with variables the answer is a `Table`, without a `GroundAtom`
        certain : answers below this certainty are not looked for
        among : for some variables, the entities that they may stand for: as constants, many at once
        """
        check_degree(certain, "certain")
        literal = parse_atom(question) if isinstance(question, str) else question
        declaration = self._declaration(literal.name)
        if isinstance(declaration, EntityAttribute):
            raise DataError(f"{literal.name!r} is an attribute: read known[{literal.name!r}]")
        if len(literal.terms) != len(declaration.sorts):
            raise DataError(f"'{declaration}' takes {len(declaration.sorts)} arguments: {literal}")
        if literal.negated:
            raise DataError("ask for the atom itself: 'possible' says what speaks against it")
        stop = self.ranked.rank_at_least(certain) if certain else 0
        atoms = self._answer_atoms(literal, stop, self._bindings(literal, among or {}))
        levels, entities = self.ranked.levels, self.ranked.entities
        names = list(dict.fromkeys(t for t in literal.terms if isinstance(t, Variable)))
        if not names:
            row_certain = int(atoms.certain[0]) if len(atoms.keys) else 0
            row_against = int(atoms.against[0]) if len(atoms.keys) else atoms.default
            values = tuple(t for t in literal.terms if not isinstance(t, Variable))
            return GroundAtom(
                literal.name, values, float(levels[row_certain]), float(levels[row_against])
            )
        columns = decode(atoms.keys, self.ranked.radix, len(literal.terms))
        positions = [literal.terms.index(variable) for variable in names]
        table = Table(
            literal.name,
            [variable.name for variable in names],
            [columns[p] for p in positions],
            levels[atoms.certain],
            levels[atoms.against],
            entities,
        )
        if certain:
            table = table.select(table.certain >= certain)
        elif literal.name not in self.rules.closed:
            table = table.select((table.certain > 0) | (table.against > 0))
        return table.sorted()

    def _bindings(
        self, literal: RelationLiteral, among: Mapping[str, Iterable[Entity]]
    ) -> list[IntArray | None]:
        """Return the entities of each argument that is bound, those that are known."""
        names = [t.name for t in literal.variables()]
        for name in among:
            check_known(name, names, f"{literal} has no variable {name!r:.60}", DataError)
        entities: list[Iterable[Entity] | None] = [
            among.get(t.name) if isinstance(t, Variable) else (t,) for t in literal.terms
        ]
        found_indices = [
            None if e is None else np.array([self.ranked.entities.find(v) for v in e], np.int64)
            for e in entities
        ]
        return [None if i is None else i[i >= 0] for i in found_indices]

    def _answer_atoms(
        self, literal: RelationLiteral, stop: int, indices: Sequence[IntArray | None]
    ) -> RelationAtoms:
        """Return the atoms that match a question."""
        name = literal.name
        if any(index is not None and not len(index) for index in indices):
            empty = np.zeros(0, np.int64)
            self.evaluate(self._needed_closed(name))
            return RelationAtoms(empty, empty, empty, self._default(name))
        is_bound = any(index is not None for index in indices)
        if is_bound and name not in self._atoms and name in self.rules.derived:
            atoms = BoundQuestion(self, literal, indices, stop).atoms()
        else:
            self.evaluate([name])
            atoms = self._atoms[name]
        return self._matching(atoms, literal, indices)

    def _matching(
        self, atoms: RelationAtoms, literal: RelationLiteral, indices: Sequence[IntArray | None]
    ) -> RelationAtoms:
        columns = decode(atoms.keys, self.ranked.radix, len(indices))
        mask = np.ones(len(atoms.keys), bool)
        first: dict[Any, int] = {}
        for position, (term, index) in enumerate(zip(literal.terms, indices, strict=True)):
            if index is not None:
                mask &= np.isin(columns[position], index)
            if isinstance(term, Variable) and first.setdefault(term, position) != position:
                mask &= columns[position] == columns[first[term]]
        return RelationAtoms(
            atoms.keys[mask], atoms.certain[mask], atoms.against[mask], atoms.default
        )

    def contradictions(self, least: float = 0.0) -> list[GroundAtom]:
        """Return the atoms that something speaks for and against, the worst first.

        Parameters
        ----------
        least : contradictions of this degree or less are not returned
        """
        found_atoms: list[GroundAtom] = []
        for name, declaration in self.rules.relations.items():
            if isinstance(declaration, EntityAttribute):
                continue
            table = self[name]
            assert isinstance(table, Table)
            table = table.select(table.contradiction > least)
            degrees = zip(table.certain.tolist(), table.against.tolist(), strict=True)
            for row, (certain, against) in zip(table.rows(), degrees, strict=True):
                found_atoms.append(GroundAtom(name, row, certain, against))
        return sorted(found_atoms, key=lambda atom: -atom.contradiction)

    def why(self, literal: str | RelationLiteral) -> Why:
        """Return why an atom, or ``not`` an atom, is certain: its best derivation.

        Examples
        --------
        >>> from pinesy import Graph, parse
        >>> rules = parse("relation p(t) if p(X) then q(X) [certainty=0.9]")
        >>> print(rules.infer(Graph({"p": ["a"]})).why("q(a)"))
        q(a): certain 0.9, possible 1
        Because: p(a), by rule 1: if p(X) then q(X) [certainty=0.9]
        What would change it: rule 1 (the weakest link, certain 0.9).
        Derivation:
          q(a)  0.9  rule 1  <- weakest link
            p(a)  1  fact
        """
        return explain_atom(self, self._ground_literal(literal))

    def why_not(self, literal: str | RelationLiteral, certain: float | None = None) -> Missing:
        """Return the fewest facts that would make an atom certain at a degree.

        Parameters
        ----------
        certain : the degree; by default the greatest that the rules allow

        Examples
        --------
        >>> from pinesy import Graph, parse
        >>> rules = parse("relation p(t) relation q(t) if p(X) and q(X) then both(X)")
        >>> print(rules.infer(Graph({"p": [("a", 0.4)]})).why_not("both(a)", certain=0.9))
        both(a): certain 0, possible 1
        What would change it: It would follow at 1 if p(a) (now 0.4) and q(a) (absent).
        """
        ground = self._ground_literal(literal)
        if ground.negated:
            raise DataError("why_not is for an atom; ask why('not ...') for its negation")
        return find_repairs(self, ground, certain)

    def _ground_literal(self, literal: str | RelationLiteral) -> RelationLiteral:
        """Return a literal without variables, checked."""
        if isinstance(literal, str):
            text = literal.strip()
            is_negated = text.startswith("not ")
            ground = parse_atom(text[4:] if is_negated else text)
            ground = ~ground if is_negated else ground
        else:
            ground = literal
        declaration = self._declaration(ground.name)
        if isinstance(declaration, EntityAttribute) or ground.values is not None:
            raise DataError(f"{ground.name!r} is an attribute; ask why of a relation")
        if len(ground.terms) != len(declaration.sorts):
            raise DataError(f"'{declaration}' takes {len(declaration.sorts)} arguments: {ground}")
        names = [t.name for t in ground.terms if isinstance(t, Variable)]
        if names:
            raise DataError(
                f"{ground} has the variable {names[0]}; name an entity, such as one that "
                f"ask({str(RelationLiteral(ground.name, ground.terms))!r}) gives"
            )
        return ground

    # --- evaluation ---

    def evaluate(self, names: Collection[str]) -> None:
        """Evaluate relations and all that they depend on."""
        needed = {*names} - {*self._atoms}
        if not needed:
            return
        wanted_names = self._dependencies(needed)
        for stratum in self.rules.strata:
            if stratum.names[0] in wanted_names and stratum.names[0] not in self._atoms:
                self._evaluate_stratum(stratum)

    def _dependencies(self, names: Collection[str]) -> set[str]:
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
        clauses = self._writer.certain_clauses(rules, names)
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
        clauses = self._writer.certain_clauses(rules, names)
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
        clauses, everywhere = self._writer.possible_clauses(positive, names, caps)
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
            domain = list(self._declaration(name).domain)
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
        return self._writer.certain_clauses(rules, names)

    def __repr__(self) -> str:
        return f"KnownGraph({self.graph!r}, {self.rules!r})"


def _converse(definitions: dict[str, Any], name: str) -> float:
    """Return ``1 - s`` of the ``iff`` of a relation; 1 where it has none."""
    from pinesy.rules.rule import from_certainty

    return from_certainty(definitions[name].s) if name in definitions else 1.0
