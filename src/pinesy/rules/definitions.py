"""Formulas in premises: a formula that is not a conjunction becomes an inner attribute.

An inner attribute has the values false and true. It is named and printed as its formula, and rules
of its own define it (`Defined.rules`), so that the engine has conjunctions only. With ``lambda``
and ``rho`` for the possibilities that a part holds and does not hold,

====================  ===========================================================================
``p and q``           ``iff p and q then true``: min of lambdas; max of rhos
``p or q``            ``iff not p and not q then false``: max of lambdas; min of rhos
``at least k of n``   ``T(i, j) = T(i-1, j) or (T(i-1, j-1) and p_i)``: j of the first i hold
``exactly k of n``    at least k, and at least n - k of the negations
====================  ===========================================================================

This is exact if the parts have different attributes, or if each attribute occurs in one proposition
that is nowhere negated: a circuit of min and max computes a monotone function on every level cut.
Otherwise, as in ``(a == 1 and b == 1) or (a == 2 and c == 1)``, the attributes that occur with
several subsets are split into cases (up to `MAX_CASES`): in each case the rest of the formula does
not contain them, and both lambda and rho are the max over the cases (docs/rules-format.md).
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, reduce
from itertools import product
from math import prod
from operator import and_, or_
from typing import Any

from pinesy._common.budgets import NODE, take_steps
from pinesy.exceptions import RuleSetError
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Compound, Premise, Proposition, Statement, all_of
from pinesy.rules.rule import Rule

#: A formula in normal form, or a truth value.
Normal = Proposition | Compound | bool
#: Cases of a formula, at most.
MAX_CASES = 1_000
#: Partial counts of ``at least k of n``, at most.
MAX_COUNTS = 1_000_000
#: Characters of a name; longer formulas are cut.
MAX_NAME = 300


class Defined(Attribute):
    """The attribute of a formula: its truth value, which `rules` conclude on.

    Attributes
    ----------
    content : the formula, in normal form
    split : whether attributes that occur with several subsets are split into cases
    """

    content: Compound
    split: bool

    def __init__(
        self,
        content: Compound,
        name: str | None = None,
        split: bool = True,
        formula: str | None = None,
    ) -> None:
        text = str(content) if formula is None else formula
        super().__init__(name or _formula_name(text), (False, True))
        self.__dict__.update(content=content, split=split, formula=text)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that define the truth value."""
        return tuple(_defining_rules(self))


def _formula_name(text: str) -> str:
    """Return the name of the attribute of a formula: its text, cut and with a digest if long."""
    line = " ".join(text.replace("`", "'").split())
    if len(line) <= MAX_NAME:
        return line
    return f"{line[:MAX_NAME]}... ({hashlib.sha256(text.encode()).hexdigest()[:12]})"


def premise_of(*statements: Statement) -> Premise:
    """Return the conjunction of statements as a premise, with inner attributes for formulas.

    An attribute that the normal form drops stays, with its whole domain: the inputs of a rule do
    not depend on how its formula is written.

    Examples
    --------
    >>> p, q, r = (Attribute(name, [0, 1]).isin({1}) for name in "pqr")
    >>> premise_of(p, q | r)
    p in {1} and (q in {1} or r in {1})
    >>> [str(rule) for rule in premise_of(q | r).propositions[0].attribute.rules]
    ['iff q in {0} and r in {0} then not (q in {1} or r in {1})']
    """
    conjunction = all_of(*statements)
    if isinstance(conjunction, Premise):
        return conjunction
    form = normal_form(conjunction)
    mentioned = dict.fromkeys(p.attribute for p in propositions_of(conjunction))
    if isinstance(form, bool):  # of all attributes: which one comes first does not matter
        return Premise(tuple(Proposition(a, a.full * form) for a in mentioned))
    parts: tuple[Proposition, ...] = (_as_proposition(form),)
    if isinstance(form, Compound) and form.least == len(form.parts) and not _conflicts(form):
        parts = tuple(map(_as_proposition, form.parts))
    names = _attribute_names(parts)
    return Premise((*parts, *(Proposition(a, a.full) for a in mentioned if a.name not in names)))


def _attribute_names(parts: Sequence[Proposition]) -> set[str]:
    """Return the names of the attributes of propositions, and of their defining rules."""
    waiting, names = list(parts), set[str]()
    for proposition in waiting:  # grows on the way
        attribute = proposition.attribute
        if attribute.name not in names and isinstance(attribute, Defined):
            waiting += [p for rule in attribute.rules for p in rule.premise.propositions]
        names.add(attribute.name)
    return names


def _as_proposition(form: Statement) -> Proposition:
    """Return a formula in normal form as one proposition, on an inner attribute if needed."""
    if isinstance(form, Proposition):
        return form
    assert isinstance(form, Compound)
    return ~_as_proposition(form.parts[0]) if form.most == 0 else Defined(form).isin({True})


def _conflicts(form: Compound) -> dict[str, set[int]]:
    """Return the subsets of attributes for which min and max may be inexact, by name.

    There are none if the parts have different attributes.
    """
    names = [{p.attribute.name for p in propositions_of(part)} for part in form.parts]
    disjoint = sum(map(len, names)) == len(set().union(*names))
    return {} if disjoint else _repeated_subsets(form)


def _repeated_subsets(form: Compound) -> dict[str, set[int]]:
    """Return the subsets of the attributes that occur with several subsets, by name."""
    masks: dict[str, set[int]] = {}
    for proposition in propositions_of(form):
        masks.setdefault(proposition.attribute.name, set()).add(proposition.mask)
    return {name: subsets for name, subsets in masks.items() if len(subsets) > 1}


def is_satisfiable(*statements: Statement) -> bool:
    """Return whether some values satisfy all statements; True if there are too many cases.

    Examples
    --------
    >>> p, q = (Attribute(name, [0, 1]).isin({1}) for name in "pq")
    >>> is_satisfiable(p | q, ~p), is_satisfiable(p | q, ~p, ~q)
    (True, False)
    """
    conjunction = all_of(*statements)
    if isinstance(conjunction, Premise):
        if not all(conjunction.masks.values()):
            return False
        if all(p.attribute.formula is None for p in conjunction.propositions):
            return True
    contents = tuple(map(formula_of, statements))
    form = normal_form(Compound(contents, len(contents), len(contents)))
    if not isinstance(form, Compound):
        return form is not False
    cases = list(_cases(form, _repeated_subsets(form)))
    return not cases or any(form_in_case is not False for _, form_in_case in cases)


def formula_of(statement: Statement) -> Statement:
    """Return the formula of a proposition on its attribute; other statements unchanged."""
    if isinstance(statement, Proposition) and isinstance(statement.attribute, Defined):
        content = statement.attribute.content
        return content if statement.mask == 2 else ~content
    return statement


def _defining_rules(attribute: Defined) -> Iterator[Rule]:
    """Yield the rules that define the attribute of a formula."""
    form = attribute.content
    n, true, false = len(form.parts), attribute.isin({True}), attribute.isin({False})
    cases = list(_cases(form, _conflicts(form))) if attribute.split else []
    if cases:
        # Possibly true, and possibly false: each the max over cases, in a rule of its own.
        yield _bound_rule(cases, true, holds=True)
        yield _bound_rule(cases, false, holds=False)
    elif form.most < n:
        most = at_least_of(n - form.most, [normal_form(p, False) for p in form.parts])
        least = at_least_of(form.least, form.parts)  # type: ignore[arg-type]
        yield Rule(Premise((_as_proposition(least), _as_proposition(most))), true, 0.0, 0.0)  # type: ignore[arg-type]
    elif form.least == n:
        yield Rule(Premise(tuple(map(_as_proposition, form.parts))), true, 0.0, 0.0)
    elif form.least == 1:
        yield Rule(Premise(tuple(~_as_proposition(p) for p in form.parts)), false, 0.0, 0.0)
    else:
        yield _count_rule(form, attribute)


def _cases(
    form: Compound, conflicts: Mapping[str, set[int]]
) -> Iterator[tuple[list[Proposition], Normal]]:
    """Yield the cases of conflicting attributes: propositions, and the formula given them."""
    attributes = {p.attribute.name: p.attribute for p in propositions_of(form)}
    cells = {name: _partition_masks(attributes[name], masks) for name, masks in conflicts.items()}
    if not cells or prod(map(len, cells.values())) > MAX_CASES:
        return  # too many: an upper bound, which `Cascade.check` reports
    for case in product(*cells.values()):
        cell_of = dict(zip(cells, case, strict=True))
        propositions = [Proposition(attributes[name], mask) for name, mask in cell_of.items()]
        yield propositions, normal_form(form, True, cell_of)


def _partition_masks(attribute: Attribute, masks: set[int]) -> list[int]:
    """Return the masks of the partition of a domain by some subsets."""
    cells = [attribute.full]
    for mask in sorted(masks):
        cells = [part for cell in cells for part in (cell & mask, cell & ~mask) if part]
    return cells


def _bound_rule(
    cases: Sequence[tuple[list[Proposition], Normal]], bounded: Proposition, holds: bool
) -> Rule:
    """Return the rule that bounds the possibility of a truth value by its cases."""
    attribute = cases[0][0][0].attribute
    if all(form is holds for _, form in cases):  # nothing to exclude; a premise that never holds
        return Rule(Premise((Proposition(attribute, 0),)), ~bounded, 1.0, 0.0)
    parts: list[Proposition] = []
    for case, form in cases:
        form = form if holds or isinstance(form, bool) else normal_form(form, False)
        if not isinstance(form, bool):
            parts.append(_case_proposition([*case, _as_proposition(form)], len(case) + 1))
        elif form == holds:
            parts.append(_case_proposition(case, len(case)))
    if not parts:  # in no case; a premise that always holds
        return Rule(Premise((Proposition(attribute, attribute.full),)), ~bounded, 1.0, 0.0)
    return Rule(Premise((~_case_proposition(parts, 1),)), ~bounded, 1.0, 0.0)


def _case_proposition(parts: Sequence[Proposition], least: int) -> Proposition:
    """Return at least `least` of some parts as one proposition."""
    if len(parts) == 1:
        return parts[0]
    form = Compound(tuple(parts), least, len(parts))
    return Defined(form, _formula_name(f"case: {form}"), split=False).isin({True})


def _count_rule(form: Compound, attribute: Defined) -> Rule:
    """Return the rule of ``at least k of n``, by partial counts of the first parts."""
    n, k = len(form.parts), form.least
    parts = list(map(_as_proposition, form.parts))
    holds = 2 * k <= n + 1
    if not holds:  # fewer counts: not so many of the negations
        k, parts = n - k + 1, [~part for part in parts]
    if n * k > MAX_COUNTS:
        raise RuleSetError(
            f"'{str(form)[:60]} ...' takes {n * k:,} partial counts, more than {MAX_COUNTS:,}; "
            "use count_of(name, propositions)"
        )

    def step(left: Proposition, right: Proposition, least: int, label: str) -> Proposition:
        # The formula of a step would repeat all steps before it.
        name = f"{attribute.name}: {label}"
        return Defined(Compound((left, right), least, 2), name, False, name).isin({True})

    counts: list[Proposition] = []  # that at least 1, 2, ... of the parts so far hold
    for i, part in enumerate(parts, 1):
        with_part = [
            part,
            *(step(c, part, 2, f"{j} with number {i}") for j, c in enumerate(counts, 2)),
        ]
        without_part = [
            step(c, m, 1, f"{j} of the first {i}")
            for j, (c, m) in enumerate(zip(counts, with_part, strict=False), 1)
        ]
        counts = [*without_part, *with_part[len(counts) :]][:k]
    return Rule(Premise((counts[-1],)), attribute.isin({holds}), 0.0, 0.0)


def normal_form(statement: Statement, holds: bool = True, cells: Mapping[str, int] = {}) -> Normal:
    """Return the normal form of a statement, or of its negation.

    Negations are moved to the propositions (and stay before counts from both sides), nested
    conjunctions and disjunctions are joined, and so are their propositions on one attribute.

    Parameters
    ----------
    cells : known subsets of some attributes, by name; each is contained in, or disjoint from, every
        subset of the attribute in the statement
    """
    take_steps(NODE // 2)
    if isinstance(statement, Proposition):
        if statement.attribute.name in cells:
            return bool(statement.mask & cells[statement.attribute.name]) == holds
        proposition = statement if holds else ~statement
        trivial = proposition.mask in (0, proposition.attribute.full)
        return bool(proposition.mask) if trivial else proposition
    if isinstance(statement, Premise):
        parts: tuple[Statement, ...] = statement.propositions
        least = most = len(parts)
    else:
        parts, least, most = statement.parts, statement.least, statement.most
    if most < len(parts) and least > 0 and least <= most:
        return _range_normal_form(least, most, [normal_form(p, True, cells) for p in parts], holds)
    if most < len(parts):  # at most: so many do not hold
        k, sign = len(parts) - most if least <= most else len(parts) + 1, False
    else:
        k, sign = least, True
    if not holds:
        k, sign = len(parts) - k + 1, not sign
    return at_least_of(k, [normal_form(p, sign, cells) for p in parts])


def _range_normal_form(least: int, most: int, parts: Sequence[Normal], holds: bool) -> Normal:
    """Return the normal form of "from `least` to `most` of the parts hold", or its negation."""
    n_true = parts.count(True)
    remaining = tuple(part for part in parts if not isinstance(part, bool))
    if not remaining:
        return (least <= n_true <= most) == holds
    form = Compound(remaining, least - n_true, most - n_true)
    if form.least <= 0 or form.most >= len(remaining):
        return normal_form(form, holds)
    return form if holds else Compound((form,), 0, 0)


def at_least_of(k: int, parts: Sequence[Normal]) -> Normal:
    """Return the normal form of "at least `k` of the parts hold"."""
    k -= parts.count(True)
    left = [part for part in parts if not isinstance(part, bool)]
    if k <= 0 or k > len(left):
        return k <= 0
    if 1 < k < len(left):
        return Compound(tuple(left), k, len(left))
    return _merge_by_attribute(left, k == len(left) > 1)


def _merge_by_attribute(parts: Sequence[Statement], is_conjunction: bool) -> Normal:
    """Return a conjunction or disjunction with one merged proposition for each attribute."""
    inners: dict[object, list[Any]] = {}
    for part in parts:
        is_inner = isinstance(part, Compound) and part.is_gate(is_conjunction)
        for inner in part.parts if is_inner else [part]:  # type: ignore[union-attr]
            key = inner.attribute.name if isinstance(inner, Proposition) else inner
            inners.setdefault(key, []).append(inner)
    joined: list[Any] = []
    for same in inners.values():
        if len(same) == 1 or isinstance(same[0], Compound):
            joined.append(same[0])
            continue
        attribute = same[0].attribute
        mask = reduce(and_ if is_conjunction else or_, (p.mask for p in same))
        if mask == (0 if is_conjunction else attribute.full):
            return not is_conjunction
        joined.append(Proposition(attribute, mask))
    if len(joined) == 1:
        return joined[0]  # type: ignore[no-any-return]
    return Compound(tuple(joined), len(joined) if is_conjunction else 1, len(joined))


def propositions_of(statement: Statement, signed: bool = False) -> Iterator[Proposition]:
    """Yield the propositions of a formula; under a two-sided count, their negations too.

    Parameters
    ----------
    signed : whether the formula is under a two-sided count
    """
    if isinstance(statement, Proposition):
        yield from (statement, ~statement) if signed else (statement,)
        return
    parts = statement.propositions if isinstance(statement, Premise) else statement.parts
    if isinstance(statement, Compound):
        signed = signed or 0 < statement.least <= statement.most < len(parts)
    for part in parts:
        yield from propositions_of(part, signed)
