"""Necessary and sufficient conditions on the inputs for a degree to be so high, or so low.

The formula is built of and/or clauses, each once, simplified on the way.
"""

from collections.abc import Hashable, Iterable
from functools import reduce
from operator import or_

from pinesy._common.masks import contains, positions
from pinesy._common.validation import check_degree, check_limit, is_word
from pinesy.exceptions import CascadeError, DomainError
from pinesy.explanations.formulas import AllOf, AnyOf, Atom, Clause, Comparison, Formula, negated
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Proposition
from pinesy.rules.rule import Rule

#: Parts of a conjunction up to which each is compared with each.
MAX_COMPARED = 50
#: Levels down which they are compared: a disjunction of conjunctions of atoms, and another.
LEVELS = 4
#: For each comparison: the one to build, and whether to negate what was built.
_BUILT: dict[str, tuple[Comparison, bool]] = {
    ">": (">", False),
    ">=": (">=", False),
    "<": (">=", True),
    "<=": (">", True),
}


def conditions(
    rules: Cascade | RuleSet,
    proposition: Proposition | Hashable,
    comparison: Comparison,
    level: float,
    *,
    max_size: int | None = 200_000,
) -> Formula:
    """Return what inputs must be like for ``Pi(P) > t`` (or ``>=``, ``<``, ``<=``) to come out.

    ``pi*(u) > t`` iff for every rule ``z > t`` or ``d > t``, with ``(z, d) = (s, lambda)`` where
    `u` is in the rule's conclusion, else ``(r, rho)``; ``lambda > t`` iff ``Pi(P_j) > t`` for all
    propositions of its premise, ``rho > t`` iff ``Pi(not P_j) > t`` for some. In a cascade the
    conditions on inferred attributes are replaced by those of their values.

    Parameters
    ----------
    rules : Cascade or RuleSet
    proposition : or a value of the only output
    comparison : ``">"``, ``">="``, ``"<"`` or ``"<="``
    level : `t`
    max_size : parts of the formula after which to give up with an error; None for no limit

    Returns
    -------
    Formula : necessary and sufficient, for normalised inputs

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> rain, grass = Attribute("rain", ["no", "yes"]), Attribute("grass", ["dry", "wet"])
    >>> rules = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}), s=0.3)])
    >>> wet = conditions(rules, "wet", ">", 0.5)
    >>> print(wet)
    Pi(rain in {yes}) > 0.5
    >>> wet.holds({"rain": {"yes": 0.6, "no": 1.0}})
    True
    >>> print(conditions(rules, "wet", "<", 0.2))
    never
    """
    cascade = as_cascade(rules)
    if not is_word(comparison, _BUILT):
        raise DomainError(f"comparison is {comparison!r:.60}; it must be one of >, >=, <, <=")
    level = check_degree(level, "the level")
    asked = _proposition(cascade, proposition)
    built, negate = _BUILT[comparison]
    clauses = ClauseBuilder(built, level, check_limit(max_size, "max_size"))
    about = str(Atom(asked, comparison, level))
    root = clauses.build(cascade, asked, about)
    return Formula(about, negated(root) if negate else root, cascade.inputs)


def _proposition(cascade: Cascade, what: object) -> Proposition:
    if not isinstance(what, Proposition):
        if len(cascade.outputs) > 1 or not isinstance(what, Hashable):
            raise DomainError(
                f"{what!r:.60} is no proposition, and the rules have {len(cascade.outputs)} "
                "outputs; give a proposition such as attribute.isin({value})"
            )
        return cascade.outputs[0].isin([what])
    known = cascade.attributes.get(what.attribute.name)
    if known != what.attribute:
        cascade[what.attribute]  # raises where no rule concludes on this name
        raise DomainError(f"the cascade's attribute {what.attribute.name!r} has another domain")
    return what


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
    max_size : the number of parts after which `build` gives up; None for no limit
    """

    def __init__(self, comparison: Comparison, level: float, max_size: int | None) -> None:
        self.comparison, self.level, self.max_size = comparison, level, max_size
        self.true: Clause = AllOf(())
        self.false: Clause = AnyOf(())
        self._atoms: dict[tuple[str, int], Clause] = {}
        self._made: dict[tuple[bool, frozenset[int]], Clause] = {}
        self._values: dict[str, dict[int, Clause]] = {}  # of the attributes that are done
        self._size = 0

    def build(self, cascade: Cascade, asked: Proposition, about: str) -> Clause:
        """Build the clauses of all values that matter, of rule sets that come first first."""
        if asked.attribute in cascade.inputs:
            return self.atom(asked.attribute, asked.mask)
        sets = cascade.needed([asked.attribute.name])
        wanted = self._wanted(sets, asked)
        for rule_set in sets:
            name = rule_set.output.name
            if self.max_size is not None and self._size > self.max_size:
                raise CascadeError(
                    f"the conditions for {about} have more than {self.max_size} parts; ask for an "
                    "attribute nearer to the inputs, or raise max_size"
                )
            self._values[name] = self._of_values(rule_set, wanted.get(name, 0))
        return self._subset(asked.attribute, asked.mask)

    def _wanted(self, sets: list[RuleSet], asked: Proposition) -> dict[str, int]:
        """Return for each attribute the values whose clauses are needed, as a mask."""
        wanted = {asked.attribute.name: asked.mask}
        for rule_set in sets[::-1]:
            mask = wanted.get(rule_set.output.name, 0)
            for rule in rule_set.rules:
                inside = bool(mask & rule.conclusion.mask) and not self.hits(rule.s)
                outside = bool(mask & ~rule.conclusion.mask) and not self.hits(rule.r)
                for p in rule.premise.propositions:
                    needed = p.mask * inside | p.complement.mask * outside
                    wanted[p.attribute.name] = wanted.get(p.attribute.name, 0) | needed
        return wanted

    def _of_values(self, rule_set: RuleSet, mask: int) -> dict[int, Clause]:
        """Return the clause of each value wanted; values of one cell share it."""
        cells: dict[int, Clause] = {}
        found = {}
        sides = [self._sides(rule) for rule in rule_set.rules] if mask else []
        for position in positions(mask):
            cell = int(rule_set.partition.cell_of[position])
            if cell not in cells:
                inside = [contains(rule.conclusion.mask, position) for rule in rule_set.rules]
                cells[cell] = self.all_of(
                    held if is_in else failed
                    for (held, failed), is_in in zip(sides, inside, strict=True)
                )
            found[position] = cells[cell]
        return found

    def _sides(self, rule: Rule) -> tuple[Clause, Clause]:
        """Return ``s > t or lambda > t``, and ``r > t or rho > t``, of one rule [eq:alphabeta]."""
        held = failed = self.true
        if not self.hits(rule.s):
            parts = rule.premise.propositions
            held = self.all_of(map(self._holds, parts))
        if not self.hits(rule.r):
            outside = [p.complement for p in rule.premise.propositions]
            failed = self.any_of(map(self._holds, outside))
        return held, failed

    def _holds(self, proposition: Proposition) -> Clause:
        """Return ``pi(p) > t``; a proposition with all values is true, whatever their degrees."""
        attribute, mask = proposition.attribute, proposition.mask
        subset = self.atom if mask == attribute.full else self._subset
        return subset(attribute, mask)

    def _subset(self, attribute: Attribute, mask: int) -> Clause:
        """Return ``Pi(a in P) > t``: an atom for an input, else that of any of its values."""
        if not mask or attribute.name not in self._values:
            return self.atom(attribute, mask)
        values = self._values[attribute.name]
        # A value that was not wanted is in a side of a rule that no value wanted is on.
        return self.any_of(values.get(i, self.true) for i in positions(mask))

    def hits(self, degree: float) -> bool:
        """Tell whether a known degree meets the comparison."""
        return degree > self.level if self.comparison == ">" else degree >= self.level

    def atom(self, attribute: Attribute, mask: int) -> Clause:
        """Return ``Pi(a in P) > t``, true or false where that is known."""
        if not self.hits(1.0):
            return self.false
        if mask == attribute.full or self.hits(0.0):
            return self.true
        if not mask:
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
