"""Marginals of the values of attributes in a semiring: weighted model counting.

A world gives every attribute a value. It weighs the product of the weights of its input values, or
nothing if it breaks a rule (docs/semantics.md). Outputs depend on what is before them alone: on the
attributes that their rules mention, whether a formula needs them or not, and so on.

For crisp inputs `x` rules without uncertainty leave a set ``C(x)`` of output values. Where weights
are added, a value of it has the weight ``1 / |C(x)|``: what rules leave open is decided by lot,
evenly. Where the largest weight counts, it has the weight 1. A table holds these for classes of
values.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any

import numpy as np

from pinesy._common.caching import cached_on_owner
from pinesy._common.validation import FloatArray
from pinesy.engine.rule_set_kinds import RuleUnit
from pinesy.exceptions import RuleSetError
from pinesy.rules.attributes import Attribute
from pinesy.semantics.elimination import (
    HIDDEN,
    LARGEST,
    Plan,
    Planner,
    Scope,
    Step,
    numbered,
    product_of,
)
from pinesy.semantics.factors import (
    ConjunctionFactor,
    Factor,
    TableFactor,
    ValueClasses,
    factors_of,
    joint_conclusions,
    joint_table,
)
from pinesy.semantics.semirings import NumpyWeights, Semiring

#: Samples are taken together for so many numbers of the largest table.
BLOCK_NUMBERS = 1 << 21
#: The most sets of output values that are looked at to see how many are left.
MAX_LEFT = 1 << 16


@dataclass(frozen=True, eq=False)
class ChoiceTable:
    """A table (1, classes ...) of weights, and its axes."""

    scope: Scope
    entries: FloatArray


@dataclass(frozen=True, eq=False)
class Part:
    """What is computed at one go.

    Attributes
    ----------
    name : the attribute whose weights are computed; None for those of all worlds together
    given : the attributes whose weights come in, as the tables 0, 1 and so on
    tables : those of rules, after them
    plan : how
    """

    name: str | None
    given: tuple[str, ...]
    tables: tuple[ChoiceTable, ...]
    plan: Plan

    def run(self, ops: Any, weights: Sequence[Any], scale: bool = False) -> tuple[Any, Any]:
        """Return the weights, or for no attribute their sum (n,), and logarithms to add to it."""
        folded, left = self._folded(ops.semiring)
        tables, logs = dict(enumerate(weights)), 0.0
        tables |= {slot: ops.constant(array) for slot, array in folded.items()}
        for step in left:
            x = step.run(ops, tables)
            if scale:
                x, log = ops.scaled(x)
                logs = logs + log
            tables[step.out] = x
        product = product_of(ops, tables, self.plan.kept)
        for slot in self.plan.scalars:
            scalar = tables[slot] if self.name is None else tables[slot][:, None]
            product = scalar if product is None else ops.times(product, scalar)
        return product, logs

    @cached_on_owner
    def _folded(self, semiring: Semiring) -> tuple[dict[int, FloatArray], list[Step]]:
        """Do what does not depend on samples: return tables, and the steps that are left."""
        ops = NumpyWeights(semiring)
        tables = {i: table.entries for i, table in enumerate(self.tables, len(self.given))}
        left = []
        for step in self.plan.steps:
            if all(slot in tables for slot in step.used):
                tables[step.out] = step.run(ops, tables)
                for slot in step.used:
                    del tables[slot]
            else:
                left.append(step)
        return tables, left


class Worlds:
    """The worlds of some rule sets without uncertainty.

    Parameters
    ----------
    units : the rule sets, in an order of inference
    semiring : how weights are added and multiplied
    largest : the most entries of a table that joins attributes
    """

    def __init__(
        self, units: Sequence[RuleUnit], semiring: Semiring, largest: int = LARGEST
    ) -> None:
        self.semiring, self.largest = semiring, largest
        self.units = {unit.output.name: unit for unit in units}
        self._sizes = {a.name: len(a.domain) for u in units for a in (*u.inputs, u.output)}
        inputs = [name for name in self._sizes if name not in self.units]
        self._rank = {name: i for i, name in enumerate([*inputs, *self.units])}
        self._tables: dict[str, list[ChoiceTable]] = {}

    @cached_property
    def _before(self) -> dict[str, frozenset[str]]:
        """Each attribute with all that it depends on."""
        before = {name: frozenset([name]) for name in self._rank if name not in self.units}
        for name, unit in self.units.items():
            before[name] = frozenset([name]).union(*(before[a.name] for a in unit.inputs))
        return before

    def parts(self, outputs: Iterable[str]) -> list[Part]:
        """Return what to compute for the weights of some attributes, in an order."""
        parts: dict[str, Part] = {}
        waiting = list(outputs)
        while waiting:
            name = waiting.pop()
            if name in self.units and name not in parts:
                parts[name] = self._planned(name, *self._independent(name))
                waiting += parts[name].given
        return sorted(parts.values(), key=lambda part: self._rank[str(part.name)])

    def _independent(self, name: str) -> tuple[list[str], list[str]]:
        """Return attributes before one that do not depend on each other, and the sets between.

        Two attributes with something in common before them are replaced by what is before them,
        the last one in the order of inference first.
        """
        candidates, sets = {a.name for a in self.units[name].inputs}, [name]
        shared = Counter(ancestor for a in candidates for ancestor in self._before[a])
        heap = [(-self._rank[a], a) for a in candidates]
        heapify(heap)
        roots = []
        while heap:
            a = heappop(heap)[1]
            if a not in self.units or all(shared[ancestor] == 1 for ancestor in self._before[a]):
                roots.append(a)
                continue
            sets.append(a)
            shared.subtract(self._before[a])
            for new in {i.name for i in self.units[a].inputs} - candidates:
                candidates.add(new)
                shared.update(self._before[new])
                heappush(heap, (-self._rank[new], new))
        return roots, sets

    def joint(self, answers: Iterable[str]) -> Part:
        """Return what to compute for the weight of all worlds that agree with answers.

        What is given are the inputs, and then the weights of the answers' values.
        """
        names = list(answers)
        needed = set().union(*(self._before[name] for name in names))
        inputs = [name for name in self._rank if name in needed and name not in self.units]
        return self._planned(None, [*inputs, *names], [n for n in self.units if n in needed])

    def _planned(self, name: str | None, inputs: Sequence[str], sets: Iterable[str]) -> Part:
        tables = [table for rule_set in sets for table in self._of_set(rule_set)]
        scopes = [Scope((n,), (tuple(range(self._sizes[n])),)) for n in inputs]
        order = Planner([*scopes, *(table.scope for table in tables)], name, self.largest).plan()
        return Part(name, tuple(inputs), tuple(tables), order)

    def _of_set(self, name: str) -> list[ChoiceTable]:
        if name not in self._tables:
            tables = choice_tables(self.units[name], self.semiring.adds, self.largest)
            self._tables[name] = tables
        return self._tables[name]


def marginals(parts: Sequence[Part], ops: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the weights (n, values) of all attributes that parts compute, and of the inputs.

    Where products of many probabilities compete for the largest, they are rescaled to maximum 1.
    """
    weights = dict(inputs)
    rescales = ops.semiring.multiplies and not ops.semiring.adds
    for part in parts:
        x, _ = part.run(ops, [weights[name] for name in part.given])
        weights[str(part.name)] = ops.at_most_one(x) if rescales else x
    return weights


def marginals_in_blocks(
    parts: Sequence[Part],
    semiring: Semiring,
    inputs: Mapping[str, FloatArray],
    outputs: Sequence[Attribute],
) -> dict[str, FloatArray]:
    """Return the weights (n, values) of outputs, a block of samples at a time."""
    n = len(next(iter(inputs.values())))
    entries = max([len(a.domain) for a in outputs] + [part.plan.entries for part in parts])
    width = max(1, BLOCK_NUMBERS // entries)
    weights = {a.name: np.empty((n, len(a.domain))) for a in outputs}
    for start in range(0, n, width):
        block = {name: x[start : start + width] for name, x in inputs.items()}
        block_weights = marginals(parts, NumpyWeights(semiring), block)
        for name, x in weights.items():
            x[start : start + width] = block_weights[name]
    return weights


# --- what a rule set leaves of its output ---------------------------------------------------------


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
    if adds and (count := values_left(factors)) != 1:
        if count is None:
            factors, share = [_shared(unit, factors, largest)], 1.0
        else:
            share = 1.0 / count
    tables = [table for i, factor in enumerate(factors) for table in _tables(factor, i)]
    tables[0] = replace(tables[0], entries=tables[0].entries * share)
    return tables


def check_certain(unit: RuleUnit) -> None:
    """Raise `RuleSetError` for a rule whose parameters are neither 0 nor 1."""
    for rule in unit.rules:
        for name, parameter in (("s", rule.s), ("r", rule.r)):
            if parameter not in (0.0, 1.0):
                raise RuleSetError(
                    f"the rule '{rule}' has {name} = {parameter:g}; this semantics takes rules "
                    "with s and r of 0 or 1 only: take the possibilistic one for uncertain rules"
                )


def values_left(factors: Iterable[Factor]) -> int | None:
    """Return how many output values are left for all crisp inputs that leave some.

    None if it depends on the inputs, or would take too long to find out.
    """
    masks = joint_conclusions(factors, MAX_LEFT)
    if masks is None:
        return None
    counts = {mask.bit_count() for mask in masks} - {0}
    return counts.pop() if len(counts) == 1 else 1 if not counts else None


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
    count = np.tensordot(sizes, factor.entries, axes=1)
    return replace(factor, entries=factor.entries / np.where(count > 0.0, count, 1.0))


def _tables(factor: Factor, index: int) -> list[ChoiceTable]:
    if isinstance(factor, ConjunctionFactor):
        return _chain(factor, f"{factor.names[0]}{HIDDEN}{index}.")
    assert isinstance(factor, TableFactor)
    return [_table(factor.names, factor.classes, factor.entries)]


def _table(
    names: Sequence[str], classes: Sequence[ValueClasses], entries: FloatArray
) -> ChoiceTable:
    """Return a table with classes numbered as they first occur, without empty ones."""
    scope = Scope(tuple(names), tuple(numbered(value_classes.of) for value_classes in classes))
    for axis, value_classes in enumerate(classes):
        entries = np.take(entries, list(dict.fromkeys(value_classes.of)), axis=axis)
    return ChoiceTable(scope, entries[None])


def _chain(factor: ConjunctionFactor, name: str) -> list[ChoiceTable]:
    """Return a rule as a chain of hidden attributes: whether its first propositions hold."""
    output, *inputs = factor.classes
    booleans = ValueClasses((0, 1), 2)
    hidden = [f"{name}{k}" for k in range(1, len(inputs) + 1)]
    says = np.array([[1.0, factor.r], [factor.s, 1.0]])  # the output outside Q or in it
    tables = [
        _table([hidden[0], factor.names[1]], [booleans, inputs[0]], np.eye(2)),
        _table([factor.names[0], hidden[-1]], [output, booleans], says),
    ]
    holds = np.zeros((2, 2, 2))  # so far, before and the proposition
    for before in (0, 1):
        for inside in (0, 1):
            holds[before & inside, before, inside] = 1.0
    for (name_before, name_after), attribute, classes in zip(
        pairwise(hidden), factor.names[2:], inputs[1:], strict=True
    ):
        tables.append(
            _table([name_after, name_before, attribute], [booleans, booleans, classes], holds)
        )
    return tables
