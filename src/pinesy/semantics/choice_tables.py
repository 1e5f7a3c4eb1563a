"""What a rule set without uncertainty says of its output, as tables of weights.

For crisp inputs `x` such rules leave a set ``C(x)`` of output values. Where weights are added, a
value of it has the weight ``1 / |C(x)|``: what rules leave open is decided by lot, evenly. Where
the largest weight counts, it has the weight 1. A table holds these for classes of values.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.engine.kinds import RuleUnit
from pinesy.exceptions import RuleSetError
from pinesy.semantics.elimination import HIDDEN, Scope, numbered, size
from pinesy.semantics.factors import (
    ConjunctionFactor,
    Factor,
    TableFactor,
    ValueClasses,
    factors_of,
    joint_conclusions,
    joint_table,
)

#: The most sets of output values that are looked at to see how many are left.
MAX_LEFT = 1 << 16


@dataclass(frozen=True, eq=False)
class ChoiceTable:
    """A table (1, classes ...) of weights, and its axes."""

    scope: Scope
    entries: FloatArray


def choice_tables(unit: RuleUnit, adds: bool, largest: int) -> list[ChoiceTable]:
    """Return tables whose product says what a rule set leaves of its output.

    Parameters
    ----------
    adds : whether weights are added, so that several values that are left share them
    largest : the most entries of a table

    Raises
    ------
    RuleSetError
        A rule has uncertainty, or it is too much work to see how many values are left.
    """
    check_certain(unit)
    factors: Sequence[Factor] = factors_of(unit, largest)
    share = 1.0
    if adds and (left := values_left(factors)) != 1:
        if left is None:
            factors, share = [_shared(unit, factors, largest)], 1.0
        else:
            share = 1.0 / left
    tables = [one for i, factor in enumerate(factors) for one in _tables(factor, i)]
    tables[0] = replace(tables[0], entries=tables[0].entries * share)
    return tables


def check_certain(unit: RuleUnit) -> None:
    """Raise `RuleSetError` for a rule whose parameters are neither 0 nor 1."""
    for rule in unit.rules:
        for name, number in (("s", rule.s), ("r", rule.r)):
            if number not in (0.0, 1.0):
                raise RuleSetError(
                    f"the rule '{rule}' has {name} = {number:g}; only the possibilistic semantics "
                    "has uncertain rules, the others take s and r of 0 or 1"
                )


def values_left(factors: Iterable[Factor]) -> int | None:
    """Return how many output values are left for all crisp inputs that leave some.

    None if it depends on the inputs, or would take too long to find out.
    """
    left = joint_conclusions(factors, MAX_LEFT)
    if left is None:
        return None
    numbers = {one.bit_count() for one in left} - {0}
    return numbers.pop() if len(numbers) == 1 else 1 if not numbers else None


def _shared(unit: RuleUnit, factors: Sequence[Factor], largest: int) -> TableFactor:
    """Return all rules in one table, the values that are left having equal shares."""
    factor: Factor | None = factors[0] if len(factors) == 1 else None
    if not isinstance(factor, TableFactor):
        factor = joint_table(unit, largest)
    if factor is None:
        raise RuleSetError(
            f"how many values the rules on {unit.output.name!r} leave depends on "
            f"{len(unit.inputs)} inputs, too many to list: for the probabilistic semantics give "
            "rules that leave one value, such as equivalences (iff), or raise largest"
        )
    sizes = np.array([len(members) for members in factor.classes[0].members])
    number = np.tensordot(sizes, factor.entries, axes=1)
    return replace(factor, entries=factor.entries / np.where(number > 0.0, number, 1.0))


def _tables(factor: Factor, number: int) -> list[ChoiceTable]:
    if isinstance(factor, ConjunctionFactor):
        return _chain(factor, f"{factor.names[0]}{HIDDEN}{number}.")
    assert isinstance(factor, TableFactor)
    return [_table(factor.names, factor.classes, factor.entries)]


def _table(
    names: Sequence[str], classes: Sequence[ValueClasses], entries: FloatArray
) -> ChoiceTable:
    """Return a table with classes numbered as they first occur, without empty ones."""
    scope = Scope(tuple(names), tuple(numbered(one.of) for one in classes))
    for axis, one in enumerate(classes):
        entries = np.take(entries, list(dict.fromkeys(one.of)), axis=axis)
    return ChoiceTable(scope, entries[None])


def _chain(factor: ConjunctionFactor, name: str) -> list[ChoiceTable]:
    """Return a rule as a chain of hidden attributes: whether its first propositions hold."""
    output, *inputs = factor.classes
    both = ValueClasses((0, 1), 2)
    hidden = [f"{name}{k}" for k in range(1, len(inputs) + 1)]
    says = np.array([[1.0, factor.r], [factor.s, 1.0]])  # the output outside Q or in it
    tables = [
        _table([hidden[0], factor.names[1]], [both, inputs[0]], np.eye(2)),
        _table([factor.names[0], hidden[-1]], [output, both], says),
    ]
    holds = np.zeros((2, 2, 2))  # so far, before and the proposition
    for before in (0, 1):
        for inside in (0, 1):
            holds[before & inside, before, inside] = 1.0
    for (before_name, own), attribute, classes in zip(
        pairwise(hidden), factor.names[2:], inputs[1:], strict=True
    ):
        tables.append(_table([own, before_name, attribute], [both, both, classes], holds))
    return tables


def hidden_sizes(tables: Iterable[ChoiceTable]) -> dict[str, int]:
    """Return the number of values of each attribute that only tables have."""
    return {
        name: size(classes)
        for table in tables
        for name, classes in zip(table.scope.names, table.scope.classes, strict=True)
        if HIDDEN in name
    }
