"""Formulas in normal form: negations only before propositions and before counts from both sides."""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any

from pinesy.rules.propositions import Compound, Premise, Proposition, Statement

#: A formula in normal form, or a truth value.
Normal = Proposition | Compound | bool


def normal_form(
    statement: Statement, holds: bool = True, given: Mapping[str, int] | None = None
) -> Normal:
    """Return what says that a statement holds, or does not, in normal form.

    Negations are moved to the propositions, nested conjunctions and disjunctions are joined, and
    so are their propositions on one attribute.

    Parameters
    ----------
    given : the subset in which each of some attributes lies; it meets every subset that the
        statement speaks of wholly or not at all
    """
    given = given or {}
    if isinstance(statement, Proposition):
        if statement.attribute.name in given:
            return bool(statement.mask & given[statement.attribute.name]) == holds
        proposition = statement if holds else ~statement
        trivial = proposition.mask in (0, proposition.attribute.full)
        return bool(proposition.mask) if trivial else proposition
    if isinstance(statement, Premise):
        parts: tuple[Statement, ...] = statement.propositions
        least = most = len(parts)
    else:
        parts, least, most = statement.parts, statement.least, statement.most
    if most < len(parts) and least > 0 and least <= most:
        return _between(least, most, [normal_form(p, True, given) for p in parts], holds)
    if most < len(parts):  # at most: so many do not hold
        k, sign = len(parts) - most if least <= most else len(parts) + 1, False
    else:
        k, sign = least, True
    if not holds:
        k, sign = len(parts) - k + 1, not sign
    return at_least_of(k, [normal_form(p, sign, given) for p in parts])


def _between(least: int, most: int, parts: Sequence[Normal], holds: bool) -> Normal:
    """Return the normal form of: from `least` to `most` of the parts hold (or do not)."""
    sure = parts.count(True)
    left = tuple(part for part in parts if not isinstance(part, bool))
    form = Compound(left, least - sure, most - sure) if left else None
    if form is None or form.least <= 0 or form.most >= len(left):
        return (least <= sure <= most) == holds if form is None else normal_form(form, holds)
    return form if holds else Compound((form,), 0, 0)


def at_least_of(k: int, parts: Sequence[Normal]) -> Normal:
    """Return the normal form of: `k` or more of the parts hold."""
    k -= parts.count(True)
    left = [part for part in parts if not isinstance(part, bool)]
    if k <= 0 or k > len(left):
        return k <= 0
    if 1 < k < len(left):
        return Compound(tuple(left), k, len(left))
    return _joined(left, k == len(left) > 1)


def _joined(parts: Sequence[Statement], is_conjunction: bool) -> Normal:
    """Return a conjunction or disjunction, with one proposition for each attribute."""
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


def propositions_of(statement: Statement) -> Iterator[Proposition]:
    """Yield the propositions of a formula; those under a count from both sides with both signs."""
    if isinstance(statement, Proposition):
        yield statement
        return
    parts = statement.propositions if isinstance(statement, Premise) else statement.parts
    both = isinstance(statement, Compound) and 0 < statement.least <= statement.most < len(parts)
    for part in parts:
        for proposition in propositions_of(part):
            yield from (proposition, ~proposition) if both else (proposition,)
