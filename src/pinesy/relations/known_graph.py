"""`KnownGraph`: the facts of a graph and what follows from them by rules."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pinesy._common.validation import check_degree, check_known
from pinesy.exceptions import DataError
from pinesy.relations.answer_table import AttributeTable, GroundAtom, Table
from pinesy.relations.derivation import Why, explain_atom
from pinesy.relations.evaluated_graph import EvaluatedGraph
from pinesy.relations.evaluated_relations import RelationAtoms
from pinesy.relations.fact_table import IntArray, complement, decode
from pinesy.relations.literals import Entity, RelationLiteral, Variable
from pinesy.relations.magic_sets import BoundQuestion
from pinesy.relations.relational_rule import EntityAttribute
from pinesy.relations.relational_text import parse_atom
from pinesy.relations.repairs import Missing, find_repairs


class KnownGraph(EvaluatedGraph):
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

    # --- answers ---

    def __getitem__(self, name: str) -> "Table | AttributeTable":
        """Return the atoms of a relation, or the distributions of an attribute."""
        declaration = self.declaration(name)
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
        declaration = self.declaration(literal.name)
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
        ground = self.ground_literal(literal)
        return explain_atom(self, ground, self._ground_atom(ground))

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
        ground = self.ground_literal(literal)
        if ground.negated:
            raise DataError("why_not is for an atom; ask why('not ...') for its negation")
        return find_repairs(self, ground, self._ground_atom(ground), certain)

    def _ground_atom(self, literal: RelationLiteral) -> GroundAtom:
        """Return the atom of a ground literal, with its degrees."""
        atom = self.ask(RelationLiteral(literal.name, literal.terms))
        assert isinstance(atom, GroundAtom)
        return atom

    def ground_literal(self, literal: str | RelationLiteral) -> RelationLiteral:
        """Return a literal without variables, checked."""
        if isinstance(literal, str):
            text = literal.strip()
            is_negated = text.startswith("not ")
            ground = parse_atom(text[4:] if is_negated else text)
            ground = ~ground if is_negated else ground
        else:
            ground = literal
        declaration = self.declaration(ground.name)
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

    def __repr__(self) -> str:
        return f"KnownGraph({self.graph!r}, {self.rules!r})"
