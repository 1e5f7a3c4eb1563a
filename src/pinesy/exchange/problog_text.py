"""Rules as a program of ProbLog, in the probabilistic semantics (docs/semantics.md).

``value(a, v)`` means that attribute `a` has the value `v`, ``holds(b, i)`` that the premise of the
`i`-th rule on `b` is true, ``excluded(b, v)`` that rules exclude `v` and the values that no rule
on `b` distinguishes from it. Names, texts and values other than integers are quoted.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from pinesy._common.names import name_of
from pinesy._common.validation import FloatArray, check_known
from pinesy.evidence.evidence_form import Evidence, evidence_form
from pinesy.exceptions import DegreeError, RuleSetError
from pinesy.exchange.dimacs_cnf import require_certain
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.rule import Rule
from pinesy.samples import value_texts
from pinesy.semantics.factors import factors_of
from pinesy.semantics.world_weights import probabilities_of
from pinesy.semantics.worlds import values_left

#: The maximum number of clauses on one attribute.
MAX_CLAUSES = 200_000
NOT = "\\+ "

_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def to_problog(
    rules: Cascade | RuleSet,
    evidence: Evidence | None = None,
    query: Iterable[str | Attribute] | None = None,
) -> str:
    r"""Return rules without uncertainty, and probabilities of inputs, as a program for ProbLog.

    The answers of ProbLog are those of ``infer(evidence, semantics="probabilistic")``.

    Parameters
    ----------
    evidence : probabilities of the inputs of one sample, as `infer` takes them; by default all
        values of an input are equally probable
    query : attributes to query; by default the attributes that no premise uses

    Raises
    ------
    RuleSetError
        A rule has an `s` or `r` that is neither 0 nor 1.

    Examples
    --------
    >>> from pinesy import parse
    >>> rules = parse("attribute a in {0, 1} attribute b in {0, 1} iff a in {1} then b in {1}")
    >>> print(to_problog(rules, {"a": {0: 0.25, 1: 0.75}}))
    0.25::value('a', 0); 0.75::value('a', 1).
    <BLANKLINE>
    holds('b', 1) :- value('a', 1).
    excluded('b', 0) :- holds('b', 1).
    excluded('b', 1) :- \+ holds('b', 1).
    value('b', 0) :- \+ excluded('b', 0).
    value('b', 1) :- \+ excluded('b', 1).
    <BLANKLINE>
    query(value('b', _)).
    <BLANKLINE>
    """
    cascade = as_cascade(rules)
    queried = [name_of(key) for key in (cascade.outputs if query is None else query)]
    for name in queried:
        check_known(name, cascade.attributes, f"no attribute is called {name!r}")
    sets = cascade.needed(queried)
    require_certain(sets, "ProbLog")
    used_names = {a.name for s in sets for a in s.inputs}
    inputs = tuple(a for a in cascade.inputs if a.name in used_names.union(queried))
    parts = [
        _annotated_disjunctions(inputs, _probabilities(cascade, inputs, evidence)),
        *(
            chain(_clauses(rule_set, cascade.sets), _known_clause(rule_set, used_names))
            for rule_set in sets
        ),
        (f"query(value({_atom(name)}, _))." for name in queried),
    ]
    return "\n\n".join(map("\n".join, parts)) + "\n"


def _probabilities(
    cascade: Cascade, inputs: Sequence[Attribute], evidence: Evidence | None
) -> dict[str, FloatArray]:
    """Return the probabilities of each input of one sample, by name."""
    filled: Any = dict.fromkeys(a.name for a in inputs) if evidence is None else evidence
    rows = evidence_form(cascade, tuple(inputs)).rows(filled, probabilities=True)
    if rows.n != 1:
        raise DegreeError(f"a program is about one sample; got a batch of {rows.n}")
    return {name: row[0] for name, row in probabilities_of(rows).items()}


def _annotated_disjunctions(
    inputs: Iterable[Attribute], probabilities: Mapping[str, FloatArray]
) -> Iterator[str]:
    """Yield an annotated disjunction (a random choice of a value) for each input."""
    for a in inputs:
        heads = zip(_values(a), probabilities[a.name].tolist(), strict=True)
        possible = [(head, p) for head, p in heads if p > 0.0]
        if len(possible) == 1:
            yield f"{possible[0][0]}."
        else:
            yield "; ".join(f"{p!r}::{head}" for head, p in possible) + "."


def _atom(text: str) -> str:
    """Return a text as an atom, in quotes."""
    codes = (f"\\u{n:04x}" if n < 1 << 16 else f"\\U{n:08x}" for n in map(ord, text))
    pairs = zip(text, codes, strict=True)
    inside = "".join(_ESCAPES.get(c) or (c if c.isprintable() else code) for c, code in pairs)
    return f"'{inside}'"


def _terms(attribute: Attribute) -> list[str]:
    """Return the values of an attribute as terms: integers, or atoms in quotes."""
    pairs = zip(attribute.domain, value_texts(attribute), strict=True)
    return [text if type(v) is int and text.isdecimal() else _atom(text) for v, text in pairs]


def _values(attribute: Attribute) -> list[str]:
    """Return for each value of an attribute the term ``value(a, v)``."""
    return [f"value({_atom(attribute.name)}, {term})" for term in _terms(attribute)]


# --- rule sets -----------------------------------------------------------------------------------


def _clauses(rule_set: RuleSet, inferred: Mapping[str, RuleSet]) -> Iterator[str]:
    """Yield the clauses of a rule set.

    A world in which an inferred input has no value, because rules contradict each other, does not
    count: `ready` are the conditions that all of them have one.
    """
    name, terms, cells = _atom(rule_set.output.name), _terms(rule_set.output), _cells(rule_set)
    ready = [f"known({_atom(a.name)})" for a in rule_set.inputs if a.name in inferred]
    for number, rule in enumerate(rule_set.rules, 1):
        yield f"holds({name}, {number}) :- {_body(rule)}."
    for cell in cells:
        reasons = list(_exclusions(rule_set, cell[0])) or ["fail"]  # ProbLog needs a clause
        yield from (f"excluded({name}, {terms[cell[0]]}) :- {reason}." for reason in reasons)
    left = [f"{NOT}excluded({name}, {terms[cell[0]]})" for cell in cells]
    if values_left(factors_of(rule_set.unit)) == 1:
        values = _values(rule_set.output)
        for cell, is_left in zip(cells, left, strict=True):
            yield from (f"{values[v]} :- {_all([*ready, is_left])}." for v in cell)
    else:
        yield from _random_value_clauses(rule_set, cells, left, ready)


def _exclusions(rule_set: RuleSet, index: int) -> Iterator[str]:
    """Yield the conditions that exclude the value at an index: a premise, or its negation."""
    name = _atom(rule_set.output.name)
    for number, rule in enumerate(rule_set.rules, 1):
        inside = rule.conclusion.mask >> index & 1
        if (rule.s if inside else rule.r) == 0.0:
            yield f"{NOT * inside}holds({name}, {number})"


def _known_clause(rule_set: RuleSet, used_names: Collection[str]) -> Iterator[str]:
    """Yield the clause that an attribute has a value, if premises use it."""
    if rule_set.output.name in used_names:
        name = _atom(rule_set.output.name)
        yield f"known({name}) :- value({name}, _)."


def _cells(rule_set: RuleSet) -> list[list[int]]:
    """Return lists of the indices of values that no rule distinguishes."""
    cells: dict[int, list[int]] = {}
    for index, cell in enumerate(rule_set.partition.cell_of.tolist()):
        cells.setdefault(cell, []).append(index)
    return list(cells.values())


def _all(conditions: Sequence[str]) -> str:
    return ", ".join(conditions) or "true"


def _body(rule: Rule) -> str:
    """Return a premise as the body of a clause: a conjunction of disjunctions of values."""
    parts = []
    for proposition in rule.premise.propositions:
        statements = _values(proposition.attribute)
        inside = [s for i, s in enumerate(statements) if proposition.mask >> i & 1]
        joined = "; ".join(inside) or "fail"
        parts.append(f"({joined})" if len(inside) > 1 else joined)
    return ", ".join(parts)


def _random_value_clauses(
    rule_set: RuleSet, cells: Sequence[Sequence[int]], left: Sequence[str], ready: Sequence[str]
) -> Iterator[str]:
    """Yield clauses that draw one of the values that rules leave, all with equal probability.

    Cells of values that no rule distinguishes are visited in order. Where a cell of `c` values is
    left and from it on `k` values are (``rest``), it is taken (``lot``) with probability ``c / k``.
    """
    name, values = _atom(rule_set.output.name), _values(rule_set.output)
    sums = [{0}]
    for cell in reversed(cells):
        sums.append(sums[-1] | {k + len(cell) for k in sums[-1]})
    sums.reverse()
    if 4 * sum(map(len, sums)) > MAX_CLAUSES:
        raise RuleSetError(
            f"how many of {len(values):,} values the rules on {name} leave depends on the inputs, "
            f"which takes more than {MAX_CLAUSES:,} clauses: give rules that leave one value, such "
            "as equivalences (iff), or a smaller domain"
        )
    yield f"open({name}, 0) :- {_all(ready)}."
    yield f"rest({name}, {len(cells)}, 0)."
    for j, cell in enumerate(cells):
        size, gone = len(cell), left[j].removeprefix(NOT)
        for k in sorted(sums[j + 1]):
            after = f"rest({name}, {j + 1}, {k})"
            yield f"rest({name}, {j}, {k + size}) :- {left[j]}, {after}."
            yield f"rest({name}, {j}, {k}) :- {gone}, {after}."
            reached = f"open({name}, {j}), {left[j]}, rest({name}, {j}, {k + size})"
            lot = f"lot({name}, {j}, {k + size})"
            yield f"{size}/{k + size}::{lot}."
            yield f"taken({name}, {j}) :- {reached}, {lot}."
            yield f"open({name}, {j + 1}) :- {reached}, {NOT}{lot}."
        yield f"open({name}, {j + 1}) :- open({name}, {j}), {gone}."
        heads = "; ".join(f"1/{size}::{values[v]}" for v in cell)
        yield f"{heads} :- taken({name}, {j})."
