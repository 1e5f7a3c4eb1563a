"""Worlds: what all inputs that agree with something weigh together, in a semiring.

A world gives every attribute a value. It weighs the product of the weights of its input values, or
nothing if it breaks a rule (docs/semantics.md). Outputs depend on what is before them alone.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import Any

from pinesy._common.validation import FloatArray
from pinesy.engine.kinds import RuleUnit
from pinesy.rules.attributes import Attribute
from pinesy.semantics.choice_tables import ChoiceTable, choice_tables, hidden_sizes
from pinesy.semantics.elimination import HIDDEN, LARGEST, Plan, Scope, Step, plan, product_of
from pinesy.semantics.semirings import NumpyWeights, Semiring


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
        folded, left = self._of_sums if ops.semiring.adds else self._of_maxima
        tables, logs = dict(enumerate(weights)), 0.0
        tables |= {slot: ops.constant(array) for slot, array in folded.items()}
        for step in left:
            x = step.run(ops, tables)
            if scale:
                x, log = ops.scaled(x)
                logs = logs + log
            tables[step.out] = x
        found = product_of(ops, tables, self.plan.kept)
        for slot in self.plan.scalars:
            one = tables[slot] if self.name is None else tables[slot][:, None]
            found = one if found is None else ops.times(found, one)
        return found, logs

    @cached_property
    def _of_sums(self) -> "_Folded":
        return self._fold(NumpyWeights(Semiring("", True, True)))

    @cached_property
    def _of_maxima(self) -> "_Folded":
        return self._fold(NumpyWeights(Semiring("", False, True)))  # of 0 and 1 min is the product

    def _fold(self, ops: NumpyWeights) -> "_Folded":
        """Do what does not depend on samples: return tables, and the steps that are left."""
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


_Folded = tuple[dict[int, FloatArray], list[Step]]


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
        self._attributes: dict[str, Attribute] = {
            a.name: a for unit in units for a in (*unit.inputs, unit.output)
        }
        inputs = [name for name in self._attributes if name not in self.units]
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
        found: dict[str, Part] = {}
        waiting = list(outputs)
        while waiting:
            name = waiting.pop()
            if name in self.units and name not in found:
                found[name] = self._part(name)
                waiting += found[name].given
        return sorted(found.values(), key=lambda part: self._rank[str(part.name)])

    def _part(self, name: str) -> Part:
        roots, sets = self._independent(name)
        return self._planned(name, roots, sets)

    def _independent(self, name: str) -> tuple[list[str], list[str]]:
        """Return attributes before one that do not depend on each other, and the sets between.

        Two attributes with something in common before them are replaced by what is before them,
        the last one in the order of inference first.
        """
        own, sets = {a.name for a in self.units[name].inputs}, [name]
        shared = Counter(one for a in own for one in self._before[a])
        heap = [(-self._rank[a], a) for a in own]
        heapify(heap)
        roots = []
        while heap:
            a = heappop(heap)[1]
            if a not in self.units or all(shared[one] == 1 for one in self._before[a]):
                roots.append(a)
                continue
            sets.append(a)
            shared.subtract(self._before[a])
            for new in {i.name for i in self.units[a].inputs} - own:
                own.add(new)
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

    def _planned(self, name: str | None, given: Sequence[str], sets: Iterable[str]) -> Part:
        tables = [table for one in sets for table in self._of_set(one)]
        names = {*given, *(n for table in tables for n in table.scope.names if HIDDEN not in n)}
        every = {n: len(self._attributes[n].domain) for n in names} | hidden_sizes(tables)
        scopes = [Scope((n,), (tuple(range(every[n])),)) for n in given]
        scopes += [table.scope for table in tables]
        found = plan(every, scopes, name, self.largest)
        return Part(name, tuple(given), tuple(tables), found)

    def _of_set(self, name: str) -> list[ChoiceTable]:
        if name not in self._tables:
            made = choice_tables(self.units[name], self.semiring.adds, self.largest)
            self._tables[name] = made
        return self._tables[name]


def weigh(parts: Sequence[Part], ops: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the weights (n, values) of all attributes that parts compute, and of the inputs.

    Where products of many probabilities compete for the largest, they are rescaled to maximum 1.
    """
    weights = dict(inputs)
    rescales = ops.semiring.multiplies and not ops.semiring.adds
    for part in parts:
        x, _ = part.run(ops, [weights[name] for name in part.given])
        weights[str(part.name)] = ops.at_most_one(x) if rescales else x
    return weights
