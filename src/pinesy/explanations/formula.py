"""And/or formulas over conditions ``Pi(a in P) > t`` on the inputs."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from pinesy._common.validation import FloatArray, check_limit
from pinesy.engine.evidence import Evidence, Rows
from pinesy.exceptions import CascadeError, placed
from pinesy.explanations.clauses import AllOf, AnyOf, Atom, Clause, below
from pinesy.explanations.formula_text import clause_text
from pinesy.explanations.json_form import plain_value
from pinesy.explanations.sample import BoolArray
from pinesy.rules.attributes import Attribute
from pinesy.transforms import antipignistic


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
        columns = sum(len(a.domain) for a in self.inputs)
        rows = Rows.of(evidence, self.inputs, known, frozenset(), columns)
        degrees = self._degrees(rows)
        found: dict[int, BoolArray] = {}
        for clause in self.clauses:
            found[id(clause)] = _evaluate(clause, degrees, found, rows.n)
        answer = found[id(self.root)]
        return answer if rows.is_batch else bool(answer[0])

    def _degrees(self, rows: Rows) -> dict[str, FloatArray]:
        block, start = rows.block(0, rows.n), 0
        if not self.of_probabilities:
            self._check(rows, block)
        degrees = {}
        for attribute in self.inputs:
            part = block[:, start : start + len(attribute.domain)]
            start += len(attribute.domain)
            degrees[attribute.name] = self._possible(attribute, part, rows.is_batch)
        return degrees

    def _possible(self, attribute: Attribute, part: FloatArray, is_batch: bool) -> FloatArray:
        """Return the possibilities, made of probabilities if the formula speaks of them."""
        if not self.of_probabilities:
            return part
        with placed(f"attribute {attribute.name!r}"):
            return antipignistic(part) if is_batch else antipignistic(part[0])[None, :]

    def _check(self, rows: Rows, block: FloatArray) -> None:
        """Refuse rows that are not normalised: the formula was simplified for those that are."""
        start = 0
        for attribute in self.inputs:
            part = block[:, start : start + len(attribute.domain)]
            start += len(attribute.domain)
            wrong = ~((part.max(axis=1) == 1.0) & (part.min(axis=1) >= 0.0))
            if wrong.any():
                rows.refuse(int(np.flatnonzero(wrong)[0]))

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
            "threshold": clause.threshold,
        }
    kind = "all" if isinstance(clause, AllOf) else "any"
    return {"kind": kind, "parts": [numbers[id(part)] for part in clause.parts]}
