"""Why an atom is certain: its best derivation, with the weakest links marked."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pinesy._common.validation import printable
from pinesy.relations.answer_table import GroundAtom
from pinesy.relations.certainty_order import SettledAtoms
from pinesy.relations.definite_clauses import Goal, Lookup, Predicate
from pinesy.relations.evaluated_graph import EvaluatedGraph
from pinesy.relations.fact_table import decode
from pinesy.relations.literals import CountPremise, RelationLiteral, Term, Variable, atom_text
from pinesy.relations.magic_sets import BoundQuestion, MagicProgram
from pinesy.relations.relational_rule import RelationalRule
from pinesy.relations.translation import AGAINST, CERTAIN
from pinesy.rules.syntax.writer import format_subset

#: Steps of a derivation that are printed.
MAX_STEPS = 40


@dataclass(eq=False)
class Derivation:
    """A step of a derivation: a literal, and what it rests on.

    Attributes
    ----------
    text : the ground literal
    certain : the lowest certainty of the facts and rules below it
    rule : that concludes it; None for a fact
    note : of a literal without a rule, where it is from
    premises : the literals that the rule needs
    """

    text: str
    certain: float
    rule: RelationalRule | None = None
    note: str = "fact"
    premises: "list[Derivation]" = field(default_factory=list)

    def steps(self) -> "Iterator[tuple[int, Derivation]]":
        """Yield each step once, with its depth, from the top."""
        waiting: list[tuple[int, Derivation]] = [(0, self)]
        seen_steps: set[int] = set()
        while waiting:
            depth, step = waiting.pop()
            if id(step) in seen_steps:
                continue
            seen_steps.add(id(step))
            yield depth, step
            waiting += [(depth + 1, premise) for premise in reversed(step.premises)]


class Why:
    """Why an atom is certain; print it, or see `to_dict`.

    Attributes
    ----------
    atom : the atom with its degrees
    literal : what is explained: the atom or its negation
    certain : how certain that is
    derivation : the best derivation; None if nothing speaks for it
    """

    def __init__(
        self,
        atom: GroundAtom,
        literal: str,
        certain: float,
        derivation: Derivation | None,
        numbers: dict[RelationalRule, int],
    ) -> None:
        self.atom, self.literal, self.certain = atom, literal, certain
        self.derivation, self._numbers = derivation, numbers

    @property
    def answer(self) -> str:
        """The atom and its degrees."""
        return str(self.atom)

    @property
    def weakest(self) -> list[str]:
        """The facts and rules that the certainty is that of."""
        if self.derivation is None or self.certain == 1.0:
            return []
        links: dict[str, None] = {}
        for _, step in self.derivation.steps():
            if step.rule is None and step.certain == self.certain:
                links[step.text] = None
            if step.rule is not None and step.rule.certainty == self.certain:
                links[f"rule {self._numbers[step.rule]}"] = None
        return list(links)

    @property
    def facts(self) -> list[str]:
        """The facts that the derivation rests on."""
        steps = [] if self.derivation is None else self.derivation.steps()
        return list(dict.fromkeys(step.text for _, step in steps if step.rule is None))

    @property
    def because(self) -> str:
        """The premises and the rule of the last step, in a sentence."""
        if self.derivation is None:
            return f"Nothing speaks for {self.literal}; see why_not."
        rule = self.derivation.rule
        if rule is None:
            return f"It is a {self.derivation.note}."
        premises = " and ".join(step.text for step in self.derivation.premises)
        return f"{premises}, by rule {self._numbers[rule]}: {rule}"

    @property
    def what_would_change_it(self) -> str:
        """What the certainty hangs on."""
        if not self.weakest:
            return ""
        links = " and ".join(self.weakest[:4])
        number = len(self.weakest)
        noun = "the weakest link" if number == 1 else "the weakest links"
        return f"{links} ({noun}, certain {self.certain:.6g})."

    def questions(self) -> dict[str, str]:
        """Return the sentences by the questions that they answer, without empty ones."""
        sentences = {"Because": self.because, "What would change it": self.what_would_change_it}
        return {question: sentence for question, sentence in sentences.items() if sentence}

    def text(self) -> str:
        """Return the answer, a line for each question, and the derivation."""
        lines = [self.answer, *(f"{q}: {line}" for q, line in self.questions().items())]
        if self.derivation is not None and self.derivation.premises:
            lines += ["Derivation:", *self._lines()]
        return printable("\n".join(lines))

    def _lines(self) -> list[str]:
        assert self.derivation is not None
        lines = []
        steps = list(self.derivation.steps())
        weakest = {*self.weakest}
        for depth, step in steps[:MAX_STEPS]:
            source = step.note if step.rule is None else f"rule {self._numbers[step.rule]}"
            is_weakest = source in weakest or (step.rule is None and step.text in weakest)
            mark = "  <- weakest link" if is_weakest else ""
            lines.append(f"{'  ' * (depth + 1)}{step.text}  {step.certain:.6g}  {source}{mark}")
        if len(steps) > MAX_STEPS:
            lines.append(f"  ... and {len(steps) - MAX_STEPS:,} more steps")
        return lines

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Why({self.literal}: certain {self.certain:.6g})"

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data."""
        return {
            "atom": atom_text(self.atom.name, self.atom.entities),
            "certain": self.atom.certain,
            "possible": self.atom.possible,
            "answer": self.answer,
            "because": self.because,
            "facts": self.facts,
            "weakest": self.weakest,
            "what_would_change_it": self.what_would_change_it,
            "steps": [
                {
                    "text": step.text,
                    "certain": step.certain,
                    "rule": None if step.rule is None else self._numbers[step.rule],
                    "premises": [premise.text for premise in step.premises],
                }
                for _, step in (self.derivation.steps() if self.derivation else ())
            ],
        }

    def to_json(self, indent: int | None = None) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def to_svg(self) -> str:
        """Return the derivation as a picture."""
        from pinesy.display.derivation_picture import derivation_svg

        return str(derivation_svg(self))

    def _repr_html_(self) -> str:
        from pinesy.display.derivation_picture import derivation_html

        return str(derivation_html(self))


def explain_atom(known: EvaluatedGraph, literal: RelationLiteral, atom: GroundAtom) -> Why:
    """Return why a ground literal is certain; the atom has its degrees."""
    numbers = {rule: number for number, rule in enumerate(known.rules.rules, 1)}
    certain = atom.against if literal.negated else atom.certain
    derivation = None
    if certain > 0.0:
        derivation = DerivationFinder(known).find(literal)
    return Why(atom, str(literal), certain, derivation, numbers)


class DerivationFinder:
    """Finds best derivations by the pointers of the kernel, which form no cycle."""

    def __init__(self, known: EvaluatedGraph) -> None:
        self.known = known
        self._memo: dict[Any, Derivation] = {}

    def find(self, literal: RelationLiteral) -> Derivation:
        """Return a best derivation of a ground literal that is certain above 0."""
        known = self.known
        name = literal.name
        indices = [known.ranked.entities.find(t) for t in literal.terms]  # type: ignore[arg-type]
        if name not in known.rules.derived or (literal.negated and name in known.rules.closed):
            return self._leaf((name, AGAINST if literal.negated else CERTAIN), indices)
        bound = [np.array([index], np.int64) for index in indices]
        question = BoundQuestion(known, literal, bound)
        program = question.program()
        predicate = (name, AGAINST if literal.negated else CERTAIN)
        answer = program.add(predicate, question.bound)
        result = question.run(program, predicate, 1, record=True)
        return _Pointers(self, program, result).derive(answer, indices)

    def _leaf(self, predicate: Any, indices: list[int]) -> Derivation:
        """Return a literal that the program took from a table."""
        known = self.known
        names = [known.ranked.entities.names[i] for i in indices]
        if predicate[0] == "count":
            return self._count_leaf(predicate, names)
        key = 0
        for index in indices:
            key = key * known.ranked.radix + index
        name, side = predicate[0], predicate[1]
        levels = known.ranked.levels
        default = known.default_against(name) if side == AGAINST else 0
        table = known.evaluation.tables[predicate]
        rank = int(table.lookup(np.array([key], np.int64), default)[0])
        text = atom_text(name, names)
        certain = float(levels[rank])
        if side == CERTAIN:
            if name in known.rules.derived:
                return self.find(RelationLiteral(name, tuple(names)))
            return Derivation(text, certain)
        if side == AGAINST and len(predicate) == 2:
            is_listed = bool(table.lookup(np.array([key], np.int64), -1)[0] >= 0)
            is_closed = name in known.rules.closed
            note = "not listed: the relation is closed" if is_closed and not is_listed else "fact"
            return Derivation(f"not {text}", certain, note=note)
        values = predicate[2] if side == "without" else (predicate[2],)
        return Derivation(f"{text} not in {format_subset(values)}", certain, note="distribution")

    def _count_leaf(self, predicate: Any, names: list[Any]) -> Derivation:
        _, count, free, _ = predicate
        assert isinstance(count, CountPremise)
        mapping: dict[Variable, Term] = dict(zip(free, names, strict=True))
        key = 0
        for name in names:
            key = key * self.known.ranked.radix + self.known.ranked.entities.find(name)
        table = self.known.evaluation.tables[predicate]
        rank = int(table.lookup(np.array([key], np.int64), 0)[0])
        text = str(count.substitute(mapping))
        return Derivation(text, float(self.known.ranked.levels[rank]), note="count")


class _Pointers:
    """The derivations that a run of the kernel recorded."""

    def __init__(
        self, finder: DerivationFinder, program: MagicProgram, result: SettledAtoms
    ) -> None:
        self.finder, self.program, self.result = finder, program, result
        self.known = finder.known
        self.radix = self.known.ranked.radix
        self.index = {predicate: i for i, predicate in enumerate(program.predicates)}
        n = len(self.index)
        packed = result.keys * n + result.predicates
        self.order = np.argsort(packed)
        self.packed = packed[self.order]

    def _row(self, predicate: Predicate, key: int) -> int:
        index = np.searchsorted(self.packed, key * len(self.index) + self.index[predicate])
        return int(self.order[index])

    def derive(self, answer: Predicate, indices: list[int]) -> Derivation:
        """Return the derivation of an atom; iteratively, for chains of any length."""
        root = (answer, self._key(indices))
        steps: dict[Any, Derivation] = {}
        waiting = [root]
        while waiting:
            atom = waiting[-1]
            if atom in steps:
                waiting.pop()
                continue
            original, premises = self._premises(atom)
            missing = [p for kind, p in premises if kind == "atom" and p not in steps]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            children = [steps[p] if kind == "atom" else p for kind, p in premises]
            steps[atom] = self._step(atom, original, children)
        return steps[root]

    def _key(self, indices: list[int]) -> int:
        key = 0
        for index in indices:
            key = key * self.radix + index
        return key

    def _premises(self, atom: Any) -> tuple[Any, list[tuple[str, Any]]]:
        """Return the clause of an atom, and its premises: atoms of the program, or leaves."""
        answer, key = atom
        row = self._row(answer, key)
        number = int(self.result.clauses[row])
        clause = self.program.clauses[number]
        original = self.program.originals[number]
        if original is None:
            return None, []
        binding = self.result.bindings[row].tolist()

        def ground(terms: tuple[int, ...]) -> list[int]:
            return [binding[t] if t >= 0 else -t - 1 for t in terms]

        premises: list[tuple[str, Any]] = []
        items: list[Goal | Lookup] = [*clause.body[1:]]
        items += [f for f in clause.filters if isinstance(f, Lookup)]
        for item in items:
            indices = ground(item.terms)
            if item.predicate in self.index:
                premises.append(("atom", (item.predicate, self._key(indices))))
            else:
                premises.append(("leaf", self.finder._leaf(item.predicate, indices)))
        return original, premises

    def _step(self, atom: Any, original: Any, premises: list[Derivation]) -> Derivation:
        (_, predicate, _), key = atom
        arity = self.program.arities[predicate]
        columns = decode(np.array([key], np.int64), self.radix, arity)
        names = [self.known.ranked.entities.names[int(c[0])] for c in columns]
        text = atom_text(predicate[0], names)
        if len(predicate) == 3:
            text = f"{text} not in {format_subset([predicate[2]])}"
        elif predicate[1] == AGAINST:
            text = f"not {text}"
        if original is None:
            table = self.program.tables["facts", predicate]
            rank = int(table.lookup(np.array([key], np.int64), 0)[0])
            return Derivation(text, float(self.known.ranked.levels[rank]))
        rule = original.rule
        assert isinstance(rule, RelationalRule)
        certain = min([rule.certainty, *(p.certain for p in premises)])
        return Derivation(text, certain, rule, "rule", premises)
