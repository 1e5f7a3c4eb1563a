"""Building and/or clauses, each once, simplified on the way."""

from collections.abc import Iterable
from functools import reduce
from operator import or_

from pinesy.explanations.formulas import AllOf, AnyOf, Atom, Clause, Comparison
from pinesy.rules.attributes import Attribute, Proposition

#: Parts of a conjunction up to which each is compared with each.
MAX_COMPARED = 50
#: Levels down which they are compared: a disjunction of conjunctions of atoms, and another.
LEVELS = 4


class ClauseBuilder:
    """Clauses over atoms ``Pi(a in P) > t`` of one comparison (``>`` or ``>=``) and level.

    Inputs are normalised, so ``Pi(D) = 1``. Simplified are: true and false, duplicates, nested
    clauses of one kind, atoms of one attribute (of those that must all hold the smallest sets
    are kept, those of which any may hold are one atom on the union), parts that follow from
    another part, and disjunctions of conjunctions that differ in one atom.

    Parameters
    ----------
    comparison : ``">"`` or ``">="``
    level : `t`
    max_size : the number of parts after which `is_full`
    """

    def __init__(self, comparison: Comparison, level: float, max_size: int | None) -> None:
        self.comparison, self.level, self.max_size = comparison, level, max_size
        self.true, self.false = AllOf(()), AnyOf(())
        self._atoms: dict[tuple[str, int], Clause] = {}
        self._made: dict[tuple[bool, frozenset[int]], Clause] = {}
        self._size = 0

    @property
    def is_full(self) -> bool:
        """Whether more parts were made than are allowed."""
        return self.max_size is not None and self._size > self.max_size

    def hits(self, degree: float) -> bool:
        """Tell whether a known degree meets the comparison."""
        return degree > self.level if self.comparison == ">" else degree >= self.level

    def constant(self, degree: float) -> Clause:
        """Return the clause of a known degree: true or false."""
        return self.true if self.hits(degree) else self.false

    def atom(self, attribute: Attribute, mask: int) -> Clause:
        """Return ``Pi(a in P) > t``, true or false where that is known."""
        if mask == attribute.full or self.hits(0.0):
            return self.constant(1.0)
        if not mask or not self.hits(1.0):
            return self.false
        key = (attribute.name, mask)
        if key not in self._atoms:
            proposition = Proposition(attribute, mask)
            self._atoms[key] = Atom(proposition, self.comparison, self.level)
            self._size += 1
        return self._atoms[key]

    def all_of(self, parts: Iterable[Clause]) -> Clause:
        """Return the conjunction."""
        atoms, others = self._flat(parts, AllOf)
        if any(part is self.false for part in others):
            return self.false
        kept = [atom for group in _by_attribute(atoms) for atom in _smallest(group)]
        rest = [o for o in others if not any(_within(k, p) for p in _parts(o, AnyOf) for k in kept)]
        return self._intern(AllOf, [*kept, *_strongest(rest)])

    def any_of(self, parts: Iterable[Clause]) -> Clause:
        """Return the disjunction."""
        atoms, others = self._flat(parts, AnyOf)
        if any(part is self.true for part in others):
            return self.true
        joined = [self._union(group) for group in _by_attribute(atoms)]
        if any(clause is self.true for clause in joined):
            return self.true
        kept = [a for a in joined if isinstance(a, Atom)]
        rest = [o for o in others if not any(_within(p, k) for p in _parts(o, AllOf) for k in kept)]
        merged = self._merged(self._merged(rest, -1), 0)
        if len(merged) < len(rest):  # some may be atoms now
            return self.any_of([*kept, *merged])
        return self._intern(AnyOf, [*kept, *rest])

    def _merged(self, clauses: list[Clause], place: int) -> list[Clause]:
        """Join conjunctions that differ in one atom's set: ``(A and x) or (A and y)``.

        The atom is the one at `place` among the atoms of each.
        """
        groups: dict[object, list[tuple[Clause, Atom]]] = {}
        alone: list[Clause] = []
        for clause in clauses:
            atoms = [p for p in _parts(clause, AllOf) if isinstance(p, Atom)]
            if not atoms:
                alone.append(clause)
                continue
            atom = atoms[place]
            rest = frozenset(id(p) for p in _parts(clause, AllOf) if p is not atom)
            key = (rest, atom.proposition.attribute.name)
            groups.setdefault(key, []).append((clause, atom))
        return [self._joined(group) for group in groups.values()] + alone

    def _joined(self, group: list[tuple[Clause, Atom]]) -> Clause:
        clause, atom = group[0]
        if len(group) == 1:
            return clause
        rest = [p for p in _parts(clause, AllOf) if p is not atom]
        return self.all_of([*rest, self._union([a for _, a in group])])

    def _union(self, atoms: list[Atom]) -> Clause:
        return self.atom(
            atoms[0].proposition.attribute, reduce(or_, (a.proposition.mask for a in atoms))
        )

    def _flat(
        self, parts: Iterable[Clause], kind: type[AllOf] | type[AnyOf]
    ) -> tuple[list[Atom], list[Clause]]:
        """Return atoms and other clauses, each once; clauses of the same kind taken apart."""
        flat: dict[int, Clause] = {}
        for part in parts:
            if isinstance(part, kind):
                for inner in part.parts:
                    flat[id(inner)] = inner
            else:
                flat[id(part)] = part
        atoms = [p for p in flat.values() if isinstance(p, Atom)]
        return atoms, [p for p in flat.values() if not isinstance(p, Atom)]

    def _intern(self, kind: type[AllOf] | type[AnyOf], parts: list[Clause]) -> Clause:
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return self.true if kind is AllOf else self.false
        key = (kind is AllOf, frozenset(map(id, parts)))
        if key not in self._made:
            self._made[key] = kind(tuple(parts))
            self._size += len(parts)
        return self._made[key]


def _parts(clause: Clause, kind: type[AllOf] | type[AnyOf]) -> tuple[Clause, ...]:
    return clause.parts if isinstance(clause, kind) else ()


def _by_attribute(atoms: list[Atom]) -> list[list[Atom]]:
    groups: dict[str, list[Atom]] = {}
    for atom in atoms:
        groups.setdefault(atom.proposition.attribute.name, []).append(atom)
    return list(groups.values())


def _smallest(atoms: list[Atom]) -> list[Atom]:
    """Return the atoms whose sets have none of the others' within: the others follow."""
    kept: list[Atom] = []
    for atom in sorted(atoms, key=lambda a: a.proposition.mask.bit_count()):
        if not any(k.proposition.mask & ~atom.proposition.mask == 0 for k in kept):
            kept.append(atom)
    return kept


def _strongest(clauses: list[Clause]) -> list[Clause]:
    """Drop clauses that follow from another one, where few enough are to be compared."""
    if len(clauses) > MAX_COMPARED:
        return clauses
    kept: list[Clause] = []
    for clause in clauses:
        if not any(_entails(k, clause, LEVELS) for k in kept):
            kept = [k for k in kept if not _entails(clause, k, LEVELS)] + [clause]
    return kept


def _entails(one: Clause, other: Clause, depth: int) -> bool:
    """Tell whether it is plain, looking some levels down, that one implies the other."""
    if one is other or _within(one, other):
        return True
    if depth == 0:
        return False
    if isinstance(one, AnyOf):
        return all(_entails(p, other, depth - 1) for p in one.parts)
    if isinstance(other, AllOf):
        return all(_entails(one, p, depth - 1) for p in other.parts)
    if any(_entails(p, other, depth - 1) for p in _parts(one, AllOf)):
        return True
    return any(_entails(one, p, depth - 1) for p in _parts(other, AnyOf))


def _within(one: Clause, other: Clause) -> bool:
    """Tell whether both are atoms and the set of one lies in that of the other, so implies it."""
    if not (isinstance(one, Atom) and isinstance(other, Atom)):
        return False
    p, q = one.proposition, other.proposition
    return p.attribute.name == q.attribute.name and p.mask & ~q.mask == 0
