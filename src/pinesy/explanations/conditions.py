"""Necessary and sufficient conditions on the inputs for a degree to be above or below a level.

They are an and/or formula over atoms ``Pi(a in P) > t`` on the inputs. Equal clauses are one
object, and the formula is simplified while it is built.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import or_
from typing import Any, Literal

import numpy as np

from pinesy._common.masks import contains, positions
from pinesy._common.names import column_slices
from pinesy._common.reports import printed_html
from pinesy._common.validation import BoolArray, FloatArray, check_degree, check_limit, is_word
from pinesy.evidence.evidence_form import Evidence, EvidenceForm
from pinesy.exceptions import CascadeError, DomainError
from pinesy.explanations.json_form import plain_value
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Proposition
from pinesy.rules.rule import Rule
from pinesy.rules.syntax.writer import format_name, format_subset, show_value

Comparison = Literal[">", ">=", "<", "<="]

_HOLDS = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}
_OPPOSITE: dict[Comparison, Comparison] = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}
#: Parts of a conjunction up to which all pairs are compared.
MAX_COMPARED = 50
#: Depth of these comparisons: a disjunction of conjunctions of atoms with another.
ENTAILMENT_DEPTH = 4
#: For each comparison a pair: the comparison to build, and whether the formula is negated then.
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
) -> "Formula":
    """Return the conditions on the inputs for ``Pi(P) > t`` (or ``>=``, ``<``, ``<=``).

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
    max_size : the maximum number of parts of the formula; more raise an error. None for no limit

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
    event = _event(cascade, proposition)
    built, negate = _BUILT[comparison]
    clauses = ClauseBuilder(built, level, check_limit(max_size, "max_size"))
    about = str(Atom(event, comparison, level))
    root = clauses.build(cascade, event, about)
    return Formula(about, negation(root) if negate else root, cascade.inputs)


def _event(cascade: Cascade, proposition: object) -> Proposition:
    """Return the proposition itself, or the one that the only output has a value."""
    if not isinstance(proposition, Proposition):
        if len(cascade.outputs) > 1 or not isinstance(proposition, Hashable):
            raise DomainError(
                f"{proposition!r:.60} is no proposition, and the rules have "
                f"{len(cascade.outputs)} outputs; give a proposition such as "
                "attribute.isin({value})"
            )
        return cascade.outputs[0].isin([proposition])
    attribute = proposition.attribute
    if cascade.attributes.get(attribute.name) != attribute:
        cascade[attribute]  # raises where no rule concludes on this name
        raise DomainError(f"the cascade's attribute {attribute.name!r} has another domain")
    return proposition


@dataclass(frozen=True, eq=False)
class Atom:
    """The condition ``Pi(a in P) > t`` (or ``>=``, ``<``, ``<=``)."""

    proposition: Proposition
    comparison: Comparison
    level: float

    def __str__(self) -> str:
        says = " ".join(str(self.proposition).split())
        return f"Pi({says}) {self.comparison} {level_text(self.level)}"

    def compare(self, degrees: FloatArray) -> BoolArray:
        """Return a bool array: which distributions (rows) satisfy the condition."""
        possibility = degrees[:, positions(self.proposition.mask)].max(axis=1, initial=0.0)
        return np.asarray(_HOLDS[self.comparison](possibility, self.level))


@dataclass(frozen=True, eq=False)
class AllOf:
    """The conjunction of its parts; true if there are none."""

    parts: "tuple[Clause, ...]"


@dataclass(frozen=True, eq=False)
class AnyOf:
    """The disjunction of its parts; false if there are none."""

    parts: "tuple[Clause, ...]"


Clause = Atom | AllOf | AnyOf


def clauses_of(root: Clause) -> Iterator[Clause]:
    """Yield all clauses of a formula, each once, parts before the clauses that contain them."""
    visited: set[int] = set()
    stack: list[tuple[Clause, bool]] = [(root, False)]
    while stack:
        clause, parts_done = stack.pop()
        if parts_done:
            yield clause
        elif id(clause) not in visited:
            visited.add(id(clause))
            stack.append((clause, True))
            if not isinstance(clause, Atom):
                stack.extend((part, False) for part in clause.parts)


def negation(root: Clause) -> Clause:
    """Return the negation of a formula, by De Morgan's laws."""
    negations: dict[int, Clause] = {}
    for clause in clauses_of(root):
        if isinstance(clause, Atom):
            opposite = _OPPOSITE[clause.comparison]
            negations[id(clause)] = Atom(clause.proposition, opposite, clause.level)
        else:
            kind = AnyOf if isinstance(clause, AllOf) else AllOf
            negations[id(clause)] = kind(tuple(negations[id(part)] for part in clause.parts))
    return negations[id(root)]


@dataclass(frozen=True, eq=False, repr=False)
class Formula:
    """Necessary and sufficient conditions on the inputs for a degree to be above or below a level.

    Attributes
    ----------
    about : what the formula is equivalent to, such as ``"Pi(total in {7}) > 0.5"``
    root : an `Atom`, or `AllOf` or `AnyOf` of other clauses; equal clauses are one object
    inputs : the inputs of the rules
    of_probabilities : whether the atoms are on probabilities, under the antipignistic
        transformation
    """

    about: str
    root: Clause
    inputs: tuple[Attribute, ...]
    of_probabilities: bool = field(default=False)

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """All distinct clauses, parts before the clauses that contain them."""
        return tuple(clauses_of(self.root))

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """All distinct atoms."""
        return tuple(c for c in self.clauses if isinstance(c, Atom))

    @property
    def always(self) -> bool:
        """Whether all inputs satisfy the formula."""
        return isinstance(self.root, AllOf) and not self.root.parts

    @property
    def never(self) -> bool:
        """Whether no inputs satisfy the formula."""
        return isinstance(self.root, AnyOf) and not self.root.parts

    def holds(self, evidence: Evidence) -> Any:
        """Return whether inputs satisfy the conditions: a bool, or an array for a batch.

        Evidence has the forms that `infer` takes; of probabilities if the formula is on these.
        """
        known = {a.name: a for a in self.inputs}
        transform = "antipignistic" if self.of_probabilities else None
        rows = EvidenceForm(self.inputs, known).rows(evidence, transform)
        block = rows.block(0, rows.n)
        degrees = {name: block[:, columns] for name, columns in column_slices(self.inputs).items()}
        for distributions in degrees.values():  # the formula is true of normalised ones only
            is_valid = (distributions.max(axis=1) == 1.0) & (distributions.min(axis=1) >= 0.0)
            if not is_valid.all():
                rows.refuse(int(is_valid.argmin()))
        truths: dict[int, BoolArray] = {}
        for clause in self.clauses:
            if isinstance(clause, Atom):
                truth = clause.compare(degrees[clause.proposition.attribute.name])
            elif not clause.parts:
                truth = np.full(rows.n, isinstance(clause, AllOf))
            else:
                combine = np.logical_and if isinstance(clause, AllOf) else np.logical_or
                truth = np.asarray(combine.reduce([truths[id(part)] for part in clause.parts]))
            truths[id(clause)] = truth
        answer = truths[id(self.root)]
        return answer if rows.is_batch else bool(answer[0])

    def for_probabilities(self) -> "Formula":
        """Return the conditions on the probabilities that `antipignistic` transforms.

        ``Pi(a in P) > t`` becomes: for some `v` in `P`, ``sum_w min(p(v), p(w)) > t``.
        """
        if self.of_probabilities:
            raise CascadeError("these conditions speak of probabilities already")
        return replace(self, of_probabilities=True)

    def text(self, *, limit: int | None = 10, depth: int | None = 3) -> str:
        """Return the formula in one line.

        Parameters
        ----------
        limit : the maximum number of parts of a clause to show; the others are counted
        depth : the maximum depth of clauses to show; deeper clauses are counted
        """
        limits = check_limit(limit, "limit"), check_limit(depth, "depth")
        return clause_text(self.root, *limits, self.of_probabilities)

    def to_dict(self) -> dict[str, Any]:
        """Return the formula as plain data: clauses with their parts by index, the root last."""
        indices = {id(clause): index for index, clause in enumerate(self.clauses)}
        clauses: list[dict[str, Any]] = []
        for clause in self.clauses:
            if isinstance(clause, Atom):
                proposition = clause.proposition
                content = {
                    "kind": "atom",
                    "attribute": proposition.attribute.name,
                    "values": [plain_value(v) for v in proposition.values],
                    "comparison": clause.comparison,
                    "level": clause.level,
                }
            else:
                kind = "all" if isinstance(clause, AllOf) else "any"
                content = {"kind": kind, "parts": [indices[id(part)] for part in clause.parts]}
            clauses.append(content)
        return {
            "format": "pinesy conditions",
            "version": 1,
            "about": self.about,
            "of_probabilities": self.of_probabilities,
            "clauses": clauses,
        }

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Formula({self.about}: {len(self.clauses)} clauses, {len(self.atoms)} atoms)"

    _repr_html_ = printed_html


def level_text(level: float) -> str:
    """Return a level with all digits: rounded, it would be another condition.

    Examples
    --------
    >>> level_text(0.99999), level_text(1.0)
    ('0.99999', '1')
    """
    return repr(level).removesuffix(".0")


def clause_text(
    clause: Clause, limit: int | None, depth: int | None, of_probabilities: bool
) -> str:
    """Return a clause in words, with the number of omitted parts at the end."""
    if isinstance(clause, Atom):
        return _probability_text(clause) if of_probabilities else str(clause)
    connective = "and" if isinstance(clause, AllOf) else "or"
    if not clause.parts:
        return "always" if connective == "and" else "never"
    less = None if depth is None else depth - 1
    parts = [part for part in clause.parts if isinstance(part, Atom) or less != 0]
    texts = []
    for part in parts[:limit]:
        text = clause_text(part, limit, less, of_probabilities)
        texts.append(text if isinstance(part, Atom) else f"({text})")
    deeper, left = len(clause.parts) - len(parts), len(parts) - len(texts)
    texts += [f"{left} more conditions"] * (left > 0)
    texts += [f"{deeper} conditions of several parts"] * (deeper > 0)
    return f" {connective} ".join(texts)


def _probability_text(atom: Atom) -> str:
    """Return an atom on probabilities in words.

    ``Pi(P) > t`` iff some ``v in P`` has ``sum_w min(p(v), p(w)) > t``; ``<`` iff all have.
    """
    name, values = format_name(atom.proposition.attribute.name), atom.proposition.values
    tail = f"{atom.comparison} {level_text(atom.level)}"
    if len(values) == 1:
        value = show_value(values[0])
        return f"sum_w min(p({name} = {value}), p({name} = w)) {tail}"
    quantifier = "some" if atom.comparison in (">", ">=") else "every"
    body = f"sum_w min(p({name} = v), p({name} = w)) {tail}"
    return f"[{body} for {quantifier} v in {' '.join(format_subset(values).split())}]"


class ClauseBuilder:
    """Clauses over atoms ``Pi(a in P) > t`` of one comparison (``>`` or ``>=``) and level.

    Inputs are normalised, so ``Pi(D) = 1``. These are simplified: true and false; duplicates;
    conjunctions in conjunctions, and disjunctions in disjunctions; atoms of one attribute (a
    conjunction keeps the minimal sets, a disjunction becomes one atom on the union); parts that
    another part implies; and disjunctions of conjunctions that differ in one atom.

    Parameters
    ----------
    comparison : ``">"`` or ``">="``
    level : `t`
    max_size : the maximum number of parts, for `build`; None for no limit
    """

    def __init__(self, comparison: Comparison, level: float, max_size: int | None) -> None:
        self.comparison, self.level, self.max_size = comparison, level, max_size
        self.true: Clause = AllOf(())
        self.false: Clause = AnyOf(())
        self._atoms: dict[tuple[str, int], Clause] = {}
        self._clauses: dict[tuple[bool, frozenset[int]], Clause] = {}
        #: For each attribute that is built, by name, the clause of each value by its index.
        self._values: dict[str, dict[int, Clause]] = {}
        self._size = 0

    def build(self, cascade: Cascade, event: Proposition, about: str) -> Clause:
        """Return the clause of an event; clauses are built in the order of inference."""
        if event.attribute in cascade.inputs:
            return self.atom(event.attribute, event.mask)
        rule_sets = cascade.needed([event.attribute.name])
        masks = {event.attribute.name: event.mask}  # the values whose clauses are needed
        for rule_set in rule_sets[::-1]:
            mask = masks.get(rule_set.output.name, 0)
            for rule in rule_set.rules:
                inside = bool(mask & rule.conclusion.mask) and not self.is_met(rule.s)
                outside = bool(mask & ~rule.conclusion.mask) and not self.is_met(rule.r)
                for p in rule.premise.propositions:
                    needed = p.mask * inside | p.complement.mask * outside
                    masks[p.attribute.name] = masks.get(p.attribute.name, 0) | needed
        for rule_set in rule_sets:
            if self.max_size is not None and self._size > self.max_size:
                raise CascadeError(
                    f"the conditions for {about} have more than {self.max_size} parts; ask for an "
                    "attribute nearer to the inputs, or raise max_size"
                )
            name = rule_set.output.name
            self._values[name] = self._value_clauses(rule_set, masks.get(name, 0))
        return self._subset_clause(event.attribute, event.mask)

    def _value_clauses(self, rule_set: RuleSet, mask: int) -> dict[int, Clause]:
        """Return the clause of each value of a mask, by its index; values of a cell share it."""
        cells: dict[int, Clause] = {}
        clauses = {}
        sides = [self._rule_clauses(rule) for rule in rule_set.rules] if mask else []
        for index in positions(mask):
            cell = int(rule_set.partition.cell_of[index])
            if cell not in cells:
                inside = [contains(rule.conclusion.mask, index) for rule in rule_set.rules]
                cells[cell] = self.all_of(
                    holds if is_inside else fails
                    for (holds, fails), is_inside in zip(sides, inside, strict=True)
                )
            clauses[index] = cells[cell]
        return clauses

    def _rule_clauses(self, rule: Rule) -> tuple[Clause, Clause]:
        """Return ``s > t or lambda > t``, and ``r > t or rho > t``, of one rule [eq:alphabeta]."""
        holds = fails = self.true
        propositions = rule.premise.propositions
        if not self.is_met(rule.s):
            holds = self.all_of(map(self._proposition_clause, propositions))
        if not self.is_met(rule.r):
            fails = self.any_of(self._proposition_clause(p.complement) for p in propositions)
        return holds, fails

    def _proposition_clause(self, proposition: Proposition) -> Clause:
        """Return ``pi(p) > t``; a proposition with all values is true, whatever their degrees."""
        attribute, mask = proposition.attribute, proposition.mask
        subset = self.atom if mask == attribute.full else self._subset_clause
        return subset(attribute, mask)

    def _subset_clause(self, attribute: Attribute, mask: int) -> Clause:
        """Return ``Pi(a in P) > t``: an atom for an input, else the disjunction over its values."""
        if not mask or attribute.name not in self._values:
            return self.atom(attribute, mask)
        clauses = self._values[attribute.name]
        # A value without a clause has no influence on the event.
        return self.any_of(clauses.get(i, self.true) for i in positions(mask))

    def is_met(self, degree: float) -> bool:
        """Return whether a constant degree satisfies the comparison."""
        return degree > self.level if self.comparison == ">" else degree >= self.level

    def atom(self, attribute: Attribute, mask: int) -> Clause:
        """Return ``Pi(a in P) > t``, or true or false where the inputs do not matter."""
        if not self.is_met(1.0):
            return self.false
        if mask == attribute.full or self.is_met(0.0):
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
        groups, others = _flatten(parts, AllOf)
        if any(part is self.false for part in others):
            return self.false
        atoms: list[Clause] = []
        for group in groups:  # an atom implies the atoms on larger sets
            smallest: list[Atom] = []
            for atom in sorted(group, key=lambda a: a.proposition.mask.bit_count()):
                if not any(_is_subset(other, atom) for other in smallest):
                    smallest.append(atom)
            atoms += smallest
        others = [o for o in others if not _has_subset(atoms, _parts(o, AnyOf))]
        return self._intern(AllOf, [*atoms, *_without_implied(others)])

    def any_of(self, parts: Iterable[Clause]) -> Clause:
        """Return the disjunction."""
        groups, others = _flatten(parts, AnyOf)
        if any(part is self.true for part in others):
            return self.true
        unions = [self._union(group) for group in groups]
        if any(clause is self.true for clause in unions):
            return self.true
        atoms = [clause for clause in unions if isinstance(clause, Atom)]
        others = [o for o in others if not _has_subset(_parts(o, AllOf), atoms)]
        merged = self._merge(self._merge(others, -1), 0)
        if len(merged) < len(others):  # some may be atoms now
            return self.any_of([*atoms, *merged])
        return self._intern(AnyOf, [*atoms, *others])

    def _merge(self, clauses: list[Clause], index: int) -> list[Clause]:
        """Merge conjunctions that differ in the set of one atom: ``(A and x) or (A and y)``.

        Only the atom at an index, among the atoms of each conjunction, may differ.
        """
        groups: dict[object, list[tuple[Clause, Atom]]] = {}
        without_atoms: list[Clause] = []
        for clause in clauses:
            atoms = [p for p in _parts(clause, AllOf) if isinstance(p, Atom)]
            if not atoms:
                without_atoms.append(clause)
                continue
            atom = atoms[index]
            others = frozenset(id(p) for p in _parts(clause, AllOf) if p is not atom)
            key = (others, atom.proposition.attribute.name)
            groups.setdefault(key, []).append((clause, atom))
        merged = []
        for group in groups.values():
            clause, atom = group[0]
            if len(group) > 1:
                common = [p for p in _parts(clause, AllOf) if p is not atom]
                clause = self.all_of([*common, self._union([atom for _, atom in group])])
            merged.append(clause)
        return merged + without_atoms

    def _union(self, atoms: list[Atom]) -> Clause:
        """Return the disjunction of atoms of one attribute."""
        return self.atom(
            atoms[0].proposition.attribute, reduce(or_, (a.proposition.mask for a in atoms))
        )

    def _intern(self, kind: type[AllOf] | type[AnyOf], parts: list[Clause]) -> Clause:
        """Return the clause of simplified parts, one object for equal parts."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return self.true if kind is AllOf else self.false
        key = (kind is AllOf, frozenset(map(id, parts)))
        if key not in self._clauses:
            self._clauses[key] = kind(tuple(parts))
            self._size += len(parts)
        return self._clauses[key]


def _flatten(
    parts: Iterable[Clause], kind: type[AllOf] | type[AnyOf]
) -> tuple[list[list[Atom]], list[Clause]]:
    """Return the distinct parts, with the parts of clauses of the same kind in their place.

    A pair: the atoms, in a list for each attribute, and the other clauses.
    """
    flat: dict[int, Clause] = {}
    for part in parts:
        for inner in part.parts if isinstance(part, kind) else (part,):
            flat[id(inner)] = inner
    groups: dict[str, list[Atom]] = {}
    others: list[Clause] = []
    for clause in flat.values():
        if isinstance(clause, Atom):
            groups.setdefault(clause.proposition.attribute.name, []).append(clause)
        else:
            others.append(clause)
    return list(groups.values()), others


def _parts(clause: Clause, kind: type[AllOf] | type[AnyOf]) -> tuple[Clause, ...]:
    return clause.parts if isinstance(clause, kind) else ()


def _has_subset(clauses: Sequence[Clause], others: Sequence[Clause]) -> bool:
    """Return whether some atom of `clauses` is on a subset of one of `others`."""
    return any(_is_subset(clause, other) for other in others for clause in clauses)


def _without_implied(clauses: list[Clause]) -> list[Clause]:
    """Return clauses without those that another one implies; all of them if there are too many."""
    if len(clauses) > MAX_COMPARED:
        return clauses
    strongest: list[Clause] = []
    for clause in clauses:
        if not any(_entails(other, clause) for other in strongest):
            strongest = [other for other in strongest if not _entails(clause, other)]
            strongest.append(clause)
    return strongest


def _entails(left: Clause, right: Clause, depth: int = ENTAILMENT_DEPTH) -> bool:
    """Return whether `left` implies `right`, as far as parts down to a depth show it."""
    if left is right or _is_subset(left, right):
        return True
    if depth == 0:
        return False
    if isinstance(left, AnyOf):
        return all(_entails(part, right, depth - 1) for part in left.parts)
    if isinstance(right, AllOf):
        return all(_entails(left, part, depth - 1) for part in right.parts)
    if any(_entails(part, right, depth - 1) for part in _parts(left, AllOf)):
        return True
    return any(_entails(left, part, depth - 1) for part in _parts(right, AnyOf))


def _is_subset(left: Clause, right: Clause) -> bool:
    """Return whether both are atoms and the set of `left` is a subset of the set of `right`."""
    if not (isinstance(left, Atom) and isinstance(right, Atom)):
        return False
    p, q = left.proposition, right.proposition
    return p.attribute.name == q.attribute.name and p.mask & ~q.mask == 0
