"""Marginals of the values of attributes in a semiring: weighted model counting.

A world assigns every attribute a value. Its weight is the product of the weights of its input
values, or 0 if it breaks a rule (docs/semantics.md). Outputs depend only on their ancestors: the
attributes in the premises of their rules, and so on.

For crisp inputs `x` rules without uncertainty leave a set ``C(x)`` of output values. If weights are
added, each value of ``C(x)`` has the weight ``1 / |C(x)|``: a uniform choice of what rules leave
open. If the largest weight counts, it has the weight 1. A table has these weights for classes of
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
    class_indices,
    multiply_tables,
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

#: The most numbers of the largest table of a block of samples.
BLOCK_NUMBERS = 1 << 21
#: The most sets of output values that `values_left` enumerates.
MAX_SETS_LEFT = 1 << 16


@dataclass(frozen=True, eq=False)
class ChoiceTable:
    """A table (1, classes ...) of weights, and its axes."""

    scope: Scope
    entries: FloatArray


@dataclass(frozen=True, eq=False)
class Part:
    """One variable elimination, from the weights of some attributes to those of another.

    Attributes
    ----------
    name : the attribute whose weights are computed; None for the total weight of all worlds
    given : the attributes whose weights are the tables 0, 1, ...
    tables : the tables of rules, after those
    plan : the elimination order
    """

    name: str | None
    given: tuple[str, ...]
    tables: tuple[ChoiceTable, ...]
    plan: Plan

    def run(self, ops: Any, weights: Sequence[Any], scale: bool = False) -> tuple[Any, Any]:
        """Return the weights (n, values), or the total (n,), and the logarithms of their scales.

        Without `scale` the logarithms are 0.
        """
        constants, steps = self._constant_tables(ops.semiring)
        tables, logs = dict(enumerate(weights)), 0.0
        tables |= {slot: ops.constant(array) for slot, array in constants.items()}
        for step in steps:
            x = step.run(ops, tables)
            if scale:
                x, log = ops.rescale(x)
                logs = logs + log
            tables[step.out] = x
        product = multiply_tables(ops, tables, self.plan.kept)
        for slot in self.plan.scalars:
            scalar = tables[slot] if self.name is None else tables[slot][:, None]
            product = scalar if product is None else ops.times(product, scalar)
        return product, logs

    @cached_on_owner
    def _constant_tables(self, semiring: Semiring) -> tuple[dict[int, FloatArray], list[Step]]:
        """Return the tables that do not depend on samples, and the steps that do."""
        ops = NumpyWeights(semiring)
        tables = {i: table.entries for i, table in enumerate(self.tables, len(self.given))}
        steps = []
        for step in self.plan.steps:
            if all(slot in tables for slot in step.slots):
                tables[step.out] = step.run(ops, tables)
                for slot in step.slots:
                    del tables[slot]
            else:
                steps.append(step)
        return tables, steps


class Worlds:
    """The worlds of some rule sets without uncertainty.

    Parameters
    ----------
    units : the rule sets in topological order
    semiring : the sum and product of weights
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
    def _ancestors(self) -> dict[str, frozenset[str]]:
        """The ancestors of each attribute, itself included."""
        ancestors = {name: frozenset([name]) for name in self._rank if name not in self.units}
        for name, unit in self.units.items():
            ancestors[name] = frozenset([name]).union(*(ancestors[a.name] for a in unit.inputs))
        return ancestors

    def parts(self, outputs: Iterable[str]) -> list[Part]:
        """Return the eliminations for the weights of some attributes, in topological order."""
        parts: dict[str, Part] = {}
        waiting = list(outputs)
        while waiting:
            name = waiting.pop()
            if name in self.units and name not in parts:
                parts[name] = self._plan_part(name, *self._independent_ancestors(name))
                waiting += parts[name].given
        return sorted(parts.values(), key=lambda part: self._rank[str(part.name)])

    def _independent_ancestors(self, name: str) -> tuple[list[str], list[str]]:
        """Return independent ancestors of an attribute, and the rule sets between.

        Two attributes with a common ancestor are replaced by their inputs, the last one in
        topological order first.
        """
        candidates, sets = {a.name for a in self.units[name].inputs}, [name]
        shared = Counter(ancestor for a in candidates for ancestor in self._ancestors[a])
        heap = [(-self._rank[a], a) for a in candidates]
        heapify(heap)
        roots = []
        while heap:
            a = heappop(heap)[1]
            if a not in self.units or all(shared[ancestor] == 1 for ancestor in self._ancestors[a]):
                roots.append(a)
                continue
            sets.append(a)
            shared.subtract(self._ancestors[a])
            for new in {i.name for i in self.units[a].inputs} - candidates:
                candidates.add(new)
                shared.update(self._ancestors[new])
                heappush(heap, (-self._rank[new], new))
        return roots, sets

    def joint(self, answers: Iterable[str]) -> Part:
        """Return the elimination for the total weight of all worlds that agree with answers.

        It takes the weights of the inputs, and then those of the answers' values.
        """
        names = list(answers)
        needed = set().union(*(self._ancestors[name] for name in names))
        inputs = [name for name in self._rank if name in needed and name not in self.units]
        return self._plan_part(None, [*inputs, *names], [n for n in self.units if n in needed])

    def _plan_part(self, name: str | None, inputs: Sequence[str], sets: Sequence[str]) -> Part:
        """Return the elimination of all attributes but `name`, given `inputs` and rule sets."""
        for rule_set in sets:
            if rule_set not in self._tables:
                tables = choice_tables(self.units[rule_set], self.semiring.adds, self.largest)
                self._tables[rule_set] = tables
        tables = [table for rule_set in sets for table in self._tables[rule_set]]
        scopes = [Scope((n,), (tuple(range(self._sizes[n])),)) for n in inputs]
        order = Planner([*scopes, *(table.scope for table in tables)], name, self.largest).plan()
        return Part(name, tuple(inputs), tuple(tables), order)


def marginals(parts: Sequence[Part], ops: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the weights (n, values) of all attributes that parts compute, and of the inputs.

    In the max-product semiring weights are rescaled to maximum 1, against underflow.
    """
    weights = dict(inputs)
    rescales = ops.semiring.multiplies and not ops.semiring.adds
    for part in parts:
        x, _ = part.run(ops, [weights[name] for name in part.given])
        weights[str(part.name)] = ops.rescale_to_one(x) if rescales else x
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


# --- tables of a rule set -------------------------------------------------------------------------


def choice_tables(unit: RuleUnit, adds: bool, largest: int) -> list[ChoiceTable]:
    """Return tables whose product has the weight of each output value for crisp inputs.

    Parameters
    ----------
    adds : whether weights are added, so that the values that rules leave share a weight of 1
    largest : the most entries of a table

    Raises
    ------
    RuleSetError
        A rule has uncertainty, or there are too many inputs to count the values that are left.
    """
    check_certain(unit)
    factors: Sequence[Factor] = factors_of(unit, largest)
    share = 1.0
    if adds and (count := values_left(factors)) != 1:
        if count is None:
            factors, share = [_uniform_table(unit, factors, largest)], 1.0
        else:
            share = 1.0 / count
    tables: list[ChoiceTable] = []
    for index, factor in enumerate(factors):
        if isinstance(factor, ConjunctionFactor):
            tables += _chain_tables(factor, f"{factor.names[0]}{HIDDEN}{index}.")
        else:
            assert isinstance(factor, TableFactor)
            tables.append(_choice_table(factor.names, factor.classes, factor.entries))
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
    """Return the number of output values that rules leave, the same for all crisp inputs.

    Inputs that leave no value do not count. None if the number depends on the inputs, or there are
    too many sets of values to enumerate.
    """
    masks = joint_conclusions(factors, MAX_SETS_LEFT)
    if masks is None:
        return None
    counts = {mask.bit_count() for mask in masks} - {0}
    return counts.pop() if len(counts) == 1 else 1 if not counts else None


def _uniform_table(unit: RuleUnit, factors: Sequence[Factor], largest: int) -> TableFactor:
    """Return all rules in one table, with equal weights of the values that are left."""
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


def _choice_table(
    names: Sequence[str], classes: Sequence[ValueClasses], entries: FloatArray
) -> ChoiceTable:
    """Return a table with classes in order of first occurrence, without empty ones."""
    scope = Scope(tuple(names), tuple(class_indices(value_classes.of) for value_classes in classes))
    for axis, value_classes in enumerate(classes):
        entries = np.take(entries, list(dict.fromkeys(value_classes.of)), axis=axis)
    return ChoiceTable(scope, entries[None])


def _chain_tables(factor: ConjunctionFactor, name: str) -> list[ChoiceTable]:
    """Return a rule as a chain of hidden Boolean attributes: its first `k` propositions hold."""
    output, *inputs = factor.classes
    booleans = ValueClasses((0, 1), 2)
    hidden = [f"{name}{k}" for k in range(1, len(inputs) + 1)]
    weights = np.array([[1.0, factor.r], [factor.s, 1.0]])  # rows: the output outside Q, inside Q
    tables = [
        _choice_table([hidden[0], factor.names[1]], [booleans, inputs[0]], np.eye(2)),
        _choice_table([factor.names[0], hidden[-1]], [output, booleans], weights),
    ]
    holds = np.zeros((2, 2, 2))  # axes: the conjunction, its first part, the proposition
    for before in (0, 1):
        for inside in (0, 1):
            holds[before & inside, before, inside] = 1.0
    for (name_before, name_after), attribute, classes in zip(
        pairwise(hidden), factor.names[2:], inputs[1:], strict=True
    ):
        tables.append(
            _choice_table(
                [name_after, name_before, attribute], [booleans, booleans, classes], holds
            )
        )
    return tables
