"""And/or formulas over conditions ``Pi(a in P) > t`` on the inputs."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from pinesy._common.markup import text_html
from pinesy._common.masks import positions
from pinesy._common.names import column_slices
from pinesy._common.validation import BoolArray, FloatArray, check_limit
from pinesy.evidence.evidence_form import Evidence, EvidenceForm
from pinesy.evidence.rows import Rows
from pinesy.exceptions import CascadeError
from pinesy.explanations.json_form import plain_value
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Proposition
from pinesy.rules.syntax.writer import format_name, format_subset, show_value

Comparison = Literal[">", ">=", "<", "<="]

_HOLDS = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}
_OPPOSITE: dict[Comparison, Comparison] = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}


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
        """Tell of each distribution (a row) whether it meets the condition."""
        measured = degrees[:, positions(self.proposition.mask)].max(axis=1, initial=0.0)
        return np.asarray(_HOLDS[self.comparison](measured, self.level))


@dataclass(frozen=True, eq=False)
class AllOf:
    """The conjunction of its parts; true if there are none."""

    parts: "tuple[Clause, ...]"


@dataclass(frozen=True, eq=False)
class AnyOf:
    """The disjunction of its parts; false if there are none."""

    parts: "tuple[Clause, ...]"


Clause = Atom | AllOf | AnyOf


def below(root: Clause) -> Iterator[Clause]:
    """Yield a clause and all behind it, each once, parts before wholes; however deep it is."""
    seen: set[int] = set()
    waiting: list[tuple[Clause, bool]] = [(root, False)]
    while waiting:
        clause, ready = waiting.pop()
        if ready:
            yield clause
        elif id(clause) not in seen:
            seen.add(id(clause))
            waiting.append((clause, True))
            if not isinstance(clause, Atom):
                waiting.extend((part, False) for part in clause.parts)


def negated(root: Clause) -> Clause:
    """Return the negation: and for or, or for and, the opposite comparison."""
    found: dict[int, Clause] = {}
    for clause in below(root):
        if isinstance(clause, Atom):
            opposite = _OPPOSITE[clause.comparison]
            found[id(clause)] = Atom(clause.proposition, opposite, clause.level)
        else:
            kind = AnyOf if isinstance(clause, AllOf) else AllOf
            found[id(clause)] = kind(tuple(found[id(part)] for part in clause.parts))
    return found[id(root)]


@dataclass(frozen=True, eq=False, repr=False)
class Formula:
    """Necessary and sufficient conditions on the inputs, for a degree to be so high or so low.

    Attributes
    ----------
    about : what it decides, such as ``"Pi(total in {7}) > 0.5"``
    root : an `Atom`, or `AllOf` or `AnyOf` of others; equal parts are one object
    inputs : the inputs of the rules
    of_probabilities : whether it speaks of probabilities, under the antipignistic transformation
    """

    about: str
    root: Clause
    inputs: tuple[Attribute, ...]
    of_probabilities: bool = field(default=False)

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """All different clauses, parts before wholes."""
        return tuple(below(self.root))

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """All different atoms."""
        return tuple(c for c in self.clauses if isinstance(c, Atom))

    @property
    def always(self) -> bool:
        """Whether it holds whatever the inputs are."""
        return isinstance(self.root, AllOf) and not self.root.parts

    @property
    def never(self) -> bool:
        """Whether no inputs meet it."""
        return isinstance(self.root, AnyOf) and not self.root.parts

    def holds(self, evidence: Evidence) -> Any:
        """Tell whether inputs meet the conditions: one answer, or an array for a batch.

        Evidence is given as to `infer`; as probabilities if the formula speaks of them.
        """
        known = {a.name: a for a in self.inputs}
        transform = "antipignistic" if self.of_probabilities else None
        rows = EvidenceForm(self.inputs, known).rows(evidence, transform)
        degrees = self._degrees(rows)
        found: dict[int, BoolArray] = {}
        for clause in self.clauses:
            found[id(clause)] = _evaluate(clause, degrees, found, rows.n)
        answer = found[id(self.root)]
        return answer if rows.is_batch else bool(answer[0])

    def _degrees(self, rows: Rows) -> dict[str, FloatArray]:
        """Return the possibilities of each input; the formula holds for normalised ones only."""
        block = rows.block(0, rows.n)
        degrees = {name: block[:, part] for name, part in column_slices(self.inputs).items()}
        for part in degrees.values():
            wrong = ~((part.max(axis=1) == 1.0) & (part.min(axis=1) >= 0.0))
            if wrong.any():
                rows.refuse(int(wrong.argmax()))
        return degrees

    def for_probabilities(self) -> "Formula":
        """Return the conditions on probabilities that antipignistic makes possibilities of.

        ``Pi(a in P) > t`` becomes: for some `v` in `P`, ``sum_w min(p(v), p(w)) > t``.
        """
        if self.of_probabilities:
            raise CascadeError("these conditions speak of probabilities already")
        return replace(self, of_probabilities=True)

    def text(self, *, limit: int | None = 10, depth: int | None = 3) -> str:
        """Return the formula in one line.

        Parameters
        ----------
        limit : parts of a conjunction or disjunction to show; the others are counted
        depth : levels of them to show; what is below is counted
        """
        limits = check_limit(limit, "limit"), check_limit(depth, "depth")
        return clause_text(self.root, *limits, self.of_probabilities)

    def to_dict(self) -> dict[str, Any]:
        """Return the formula as plain data: clauses by number, the last one is the whole."""
        numbers = {id(clause): number for number, clause in enumerate(self.clauses)}
        return {
            "format": "pinesy conditions",
            "version": 1,
            "about": self.about,
            "of_probabilities": self.of_probabilities,
            "clauses": [_clause_dict(c, numbers) for c in self.clauses],
        }

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Formula({self.about}: {len(self.clauses)} clauses, {len(self.atoms)} atoms)"

    _repr_html_ = text_html


def _evaluate(
    clause: Clause, degrees: dict[str, FloatArray], found: dict[int, BoolArray], n: int
) -> BoolArray:
    if isinstance(clause, Atom):
        return clause.compare(degrees[clause.proposition.attribute.name])
    parts = [found[id(part)] for part in clause.parts]
    if not parts:
        return np.full(n, isinstance(clause, AllOf))
    together = np.logical_and if isinstance(clause, AllOf) else np.logical_or
    return np.asarray(together.reduce(parts))


def _clause_dict(clause: Clause, numbers: dict[int, int]) -> dict[str, Any]:
    if isinstance(clause, Atom):
        return {
            "kind": "atom",
            "attribute": clause.proposition.attribute.name,
            "values": [plain_value(v) for v in clause.proposition.values],
            "comparison": clause.comparison,
            "level": clause.level,
        }
    kind = "all" if isinstance(clause, AllOf) else "any"
    return {"kind": kind, "parts": [numbers[id(part)] for part in clause.parts]}


def level_text(level: float) -> str:
    """Write a level in full: rounded, it would be another condition.

    Examples
    --------
    >>> level_text(0.99999), level_text(1.0)
    ('0.99999', '1')
    """
    return repr(level).removesuffix(".0")


def clause_text(
    clause: Clause, limit: int | None, depth: int | None, of_probabilities: bool
) -> str:
    """Return a clause in words; what is left out is counted."""
    if isinstance(clause, Atom):
        return _probability(clause) if of_probabilities else str(clause)
    word = "and" if isinstance(clause, AllOf) else "or"
    if not clause.parts:
        return "always" if word == "and" else "never"
    less = None if depth is None else depth - 1
    atoms = [part for part in clause.parts if isinstance(part, Atom) or less != 0]
    texts = [(part, clause_text(part, limit, less, of_probabilities)) for part in atoms[:limit]]
    shown = [text if isinstance(part, Atom) else f"({text})" for part, text in texts]
    deeper, more = len(clause.parts) - len(atoms), len(atoms) - len(shown)
    shown += [f"{more} more conditions"] * (more > 0)
    shown += [f"{deeper} conditions of several parts"] * (deeper > 0)
    return f" {word} ".join(shown)


def _probability(atom: Atom) -> str:
    """``Pi(P) > t`` iff some ``v in P`` has ``sum_w min(p(v), p(w)) > t``; ``<`` iff all have."""
    name, values = format_name(atom.proposition.attribute.name), atom.proposition.values
    tail = f"{atom.comparison} {level_text(atom.level)}"
    if len(values) == 1:
        value = show_value(values[0])
        return f"sum_w min(p({name} = {value}), p({name} = w)) {tail}"
    who = "some" if atom.comparison in (">", ">=") else "every"
    body = f"sum_w min(p({name} = v), p({name} = w)) {tail}"
    return f"[{body} for {who} v in {' '.join(format_subset(values).split())}]"
