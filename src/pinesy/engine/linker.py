"""Compiles rule sets: puts their templates together into one program."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from pinesy._common.budgets import check_output
from pinesy._common.console import check_stop
from pinesy.engine.circuit import MIN, STORE, Facet
from pinesy.engine.code import Code, assemble
from pinesy.engine.kinds import COMPILING, Kind, RuleUnit
from pinesy.engine.templates import IntArray, Template, column_template, rule_template
from pinesy.engine.wide import is_always_normalised
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Proposition

#: Rule sets that are compiled without a look at the time.
FEW = 32


def link(
    units: Sequence[RuleUnit],
    outputs: Sequence[Attribute],
    known: Iterable[Attribute],
    degrees: Collection[str] = (),
    inferred: Collection[str] = (),
    propositions: Sequence[Proposition] = (),
) -> Code:
    """Compile rule sets, given in an order in which inputs come first, into one program.

    Parameters
    ----------
    units : the rule sets that the outputs depend on
    outputs : the attributes whose distributions are wanted
    known : the inputs of all rules; those that are needed get their columns in this order
    degrees : the output names of the rule sets whose premise degrees are wanted too
    inferred : the inputs that earlier rule sets gave, so that they may be not normalised
    propositions : those whose possibilities ``Pi(a in A)`` are wanted, without the distribution
    """
    with COMPILING:
        wanted = [*outputs, *(p.attribute for p in propositions)]
        needed = {a.name for u in units for a in u.inputs} | {a.name for a in wanted}
        inputs = {a.name: a for a in known if a.name in needed}
        kinds = kinds_of(units, set(inputs).difference(inferred))
        demands = Demands(units, kinds, outputs, degrees, propositions)
        linker = Linker(inputs, demands, outputs, inferred)
        for unit in _stoppable(_depth_first(units)):
            linker.add(unit, demands.templates[unit.output.name])
        for attribute in outputs:
            if attribute.name not in kinds:
                linker.store_distribution(attribute)
        linker.store_measures(propositions)
        return linker.code()


def _stoppable(units: Iterable[RuleUnit]) -> Iterator[RuleUnit]:
    """Yield rule sets to compile; a limit of time covers many, and few are compiled at once."""
    for number, unit in enumerate(units, 1):
        if number % FEW == 0:
            check_stop()
        yield unit


def kinds_of(units: Sequence[RuleUnit], evidence: set[str]) -> dict[str, Kind]:
    """Return the kind of each unit, finding on the way which outputs are always normalised."""
    normalised = set(evidence)  # which is checked to be
    kinds = {}
    for unit in units:
        kind = kinds[unit.output.name] = unit.kind(normalised)
        if is_always_normalised(kind):
            normalised.add(unit.output.name)
    return kinds


def _depth_first(units: Sequence[RuleUnit]) -> Iterable[RuleUnit]:
    """Yield the units, each as soon as its inputs are there, the latest possible one first.

    So a result is used while it is still in cache, whatever order the user wrote.
    """
    produced = {u.output.name for u in units}
    waiting = {u.output.name: {a.name for a in u.inputs} & produced for u in units}
    users: dict[str, list[RuleUnit]] = {}
    for unit in units:
        for name in waiting[unit.output.name]:
            users.setdefault(name, []).append(unit)
    ready = [u for u in reversed(units) if not waiting[u.output.name]]
    while ready:
        unit = ready.pop()
        yield unit
        for user in users.get(unit.output.name, ()):
            waiting[user.output.name].discard(unit.output.name)
            if not waiting[user.output.name]:
                ready.append(user)


#: A mask and its length before it, as a key: hashes of powers of 2 alone repeat after 61 of them.
Subset = tuple[int, int]


def subset_key(mask: int) -> Subset:
    """Return a mask as a key; keys are in the order of masks."""
    return mask.bit_length(), mask


class Demands:
    """Which subsets of which domains are needed, from the outputs back to the inputs."""

    def __init__(
        self,
        units: Sequence[RuleUnit],
        kinds: dict[str, Kind],
        outputs: Sequence[Attribute],
        degrees: Collection[str],
        propositions: Sequence[Proposition],
    ) -> None:
        self.masks: dict[str, set[Subset]] = {}
        self.templates: dict[str, Template] = {}
        self.with_degrees = degrees
        used = {a.name for u in units for a in u.inputs} | {a.name for a in outputs}
        for attribute in outputs:
            masks = self.masks.setdefault(attribute.name, set())
            if attribute.name in kinds:  # equal masks that are in memory anyway
                conclusions = kinds[attribute.name].conclusions
                masks.update(subset_key(q) for q in conclusions if q.bit_count() == 1)
            check_output(attribute.name, len(attribute.domain))
            masks.update((i + 1, 1 << i) for i in range(len(attribute.domain)))
        for p in propositions:
            self.masks.setdefault(p.attribute.name, set()).add(subset_key(p.mask))
        for unit in _stoppable(reversed(units)):
            name = unit.output.name
            template = rule_template(kinds[name], self.of(name), name in degrees, name in used)
            self.templates[name] = template
            for leaf in template.leaves:
                if isinstance(leaf, Facet):
                    attribute = unit.inputs[leaf.attribute]
                    self.masks.setdefault(attribute.name, set()).add(subset_key(leaf.mask))

    def of(self, name: str) -> tuple[int, ...]:
        """Return the subsets wanted of an attribute, in a fixed order."""
        return tuple(mask for _, mask in sorted(self.masks.get(name, ())))


@dataclass
class Linker:
    """Puts templates one after the other, in numbers of values that are valid everywhere."""

    inputs: dict[str, Attribute]
    demands: Demands
    outputs: Sequence[Attribute]
    inferred: Collection[str] = ()
    constants: dict[float, int] = field(default_factory=lambda: {0.0: 0, 1.0: 1})
    facets: dict[tuple[str, Subset], int] = field(default_factory=dict)
    height: dict[str, int] = field(default_factory=dict)
    columns: dict[str, slice] = field(default_factory=dict)
    degrees: dict[str, slice] = field(default_factory=dict)
    coherence: dict[str, int] = field(default_factory=dict)
    n_stored: int = 0

    def __post_init__(self) -> None:
        #: Operations, targets, numbers of operands, and operands, in arrays to concatenate.
        self.instructions: tuple[list[IntArray], ...] = ([], [], [], [])
        self.templates: set[int] = set()
        sizes = [len(a.domain) for a in self.inputs.values()]
        self.first = dict(zip(self.inputs, accumulate(sizes, initial=2), strict=False))
        self.n_values = 2 + sum(sizes)
        self.wanted = {a.name for a in self.outputs}
        self.measures = slice(0, 0)

    def add(self, unit: RuleUnit, template: Template) -> None:
        """Link one rule set: its inputs' subsets first, then its template, then its outputs."""
        for attribute in unit.inputs:
            self._take_in(attribute)
        parameters = [z for rule in unit.rules for z in (rule.s, rule.r)]
        leaves = [
            self.facets[unit.inputs[leaf.attribute].name, subset_key(leaf.mask)]
            if isinstance(leaf, Facet)
            else self._constant(parameters[leaf.index])
            for leaf in template.leaves
        ]
        results = self._instructions(template, leaves)
        name = unit.output.name
        masks = self.demands.of(name)
        self.facets.update(zip([(name, subset_key(m)) for m in masks], results, strict=False))
        self.height[name] = self._lowest(
            [results[len(masks)], *(self.height.get(a.name, 1) for a in unit.inputs)]
        )
        if name in self.wanted:
            self.store_distribution(unit.output)
        if name in self.demands.with_degrees:
            self.degrees[name] = self._store(results[len(masks) + 1 :])

    def store_distribution(self, attribute: Attribute) -> None:
        """Write out the distribution of an attribute, and its coherence where that can fail."""
        name = attribute.name
        if name in self.inputs:
            self._take_in(attribute)
        values = [self.facets[name, (i + 1, 1 << i)] for i in range(len(attribute.domain))]
        self.columns[name] = self._store(values)
        if self.height.get(name, 1) != 1:
            self.coherence[name] = self._store([self.height[name]]).start

    def store_measures(self, propositions: Sequence[Proposition]) -> None:
        """Write out ``Pi(a in A)`` of each proposition, one column after the other."""
        for proposition in propositions:
            self._take_in(proposition.attribute)
        facets = [self.facets[p.attribute.name, subset_key(p.mask)] for p in propositions]
        self.measures = self._store(facets)

    def _take_in(self, attribute: Attribute) -> None:
        """Compute the subsets of an input when it is first used."""
        name = attribute.name
        if name not in self.inputs or name in self.height:
            return
        self.height[name] = 1
        masks = self.demands.of(name)
        if masks:
            columns = range(self.first[name], self.first[name] + len(attribute.domain))
            results = self._instructions(column_template(len(columns), masks), columns)
            self.facets.update(zip([(name, subset_key(m)) for m in masks], results, strict=True))

    def _instructions(self, template: Template, leaves: Sequence[int]) -> list[int]:
        """Append a template with its leaves filled in; return the numbers of its outputs."""
        made = np.arange(self.n_values, self.n_values + len(template.ops), dtype=np.int32)
        numbers = np.concatenate([np.array([0, 1, *leaves], dtype=np.int32), made])
        self.n_values += len(made)
        self.templates.add(id(template))
        self._append(template.ops, made, np.diff(template.starts), numbers[template.args])
        return [int(v) for v in numbers[template.outputs]]

    def _append(self, *parts: npt.ArrayLike) -> None:
        """Append instructions: their operations, targets, numbers of operands, and operands."""
        for whole, part in zip(self.instructions, parts, strict=True):
            whole.append(np.asarray(part, dtype=np.int32))

    def _store(self, values: Sequence[int]) -> slice:
        """Write values out to the next output columns."""
        n, first = len(values), self.n_stored
        self.n_stored += n
        self._append(np.full(n, STORE), range(first, first + n), np.ones(n), values)
        return slice(first, first + n)

    def _constant(self, number: float) -> int:
        if number not in self.constants:
            self.constants[number] = self.n_values
            self.n_values += 1
        return self.constants[number]

    def _lowest(self, values: Sequence[int]) -> int:
        distinct = sorted(set(values) - {1})
        if len(distinct) <= 1:
            return distinct[0] if distinct else 1
        self._append([MIN], [self.n_values], [len(distinct)], distinct)
        self.n_values += 1
        return self.n_values - 1

    def code(self) -> Code:
        """Return the finished program."""
        ops, targets, lengths, args = map(np.concatenate, self.instructions)
        return assemble(
            list(self.inputs.values()),
            [0.0 if name in self.inferred else 1.0 for name in self.inputs],
            self.constants,
            (ops, targets, np.cumsum(np.append(0, lengths)), args),
            self.n_values,
            columns=self.columns,
            degrees=self.degrees,
            coherence=self.coherence,
            measures=self.measures,
            n_kernels=len(self.templates),
        )
