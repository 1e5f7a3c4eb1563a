"""One flat program for a whole cascade: templates linked, and values given places in scratch."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pinesy._validation import FloatArray
from pinesy.engine.circuit import MIN, Facet
from pinesy.engine.kind import Kind, circuit_of
from pinesy.engine.template import (
    STORE,
    IntArray,
    Template,
    column_template,
    rule_template,
)
from pinesy.rules.attribute import Attribute
from pinesy.rules.rule import Rule

__all__ = ["Code", "RuleUnit", "link"]


@dataclass(frozen=True)
class RuleUnit:
    """The rules that conclude on one attribute, as the engine sees them."""

    output: Attribute
    inputs: tuple[Attribute, ...]
    rules: tuple[Rule, ...]

    def kind(self, normalised: set[str]) -> Kind:
        """Return the structure of this rule set; `normalised` names the attributes known to be."""
        place = {a.name: i for i, a in enumerate(self.inputs)}
        return Kind(
            tuple(len(a.domain) for a in self.inputs),
            tuple(a.name in normalised for a in self.inputs),
            tuple(
                tuple((place[p.attribute.name], p.mask) for p in rule.premise.propositions)
                for rule in self.rules
            ),
            len(self.output.domain),
            tuple(rule.conclusion.mask for rule in self.rules),
            tuple(z != 0.0 for rule in self.rules for z in (rule.s, rule.r)),
        )


@dataclass(frozen=True, eq=False)
class Code:
    """A program that the kernels run, and where its inputs and outputs stand.

    Attributes
    ----------
    inputs : the input attributes; their domains, one after the other, are the input columns
    columns : the output columns of each attribute whose distribution was asked for
    degrees : the output columns of each rule set whose premise degrees were asked for
    coherence : the output column that holds the lowest height behind each attribute, where it
        is not known to be 1
    bounds : the first column of each input attribute, and the number of columns
    n_inputs, n_outputs : the numbers of input and output columns
    ops, targets, starts, args : the instructions, in numbers of scratch rows: first those of the
        `constants`, then one for each input column, `n_slots` in all
    n_kernels : how many different templates it is made of
    """

    inputs: tuple[Attribute, ...]
    columns: dict[str, slice]
    degrees: dict[str, slice]
    coherence: dict[str, int]
    bounds: npt.NDArray[np.uint32]  # unsigned, so that kernels need not look for negative indices
    ops: npt.NDArray[np.uint32]
    targets: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.uint32]
    args: npt.NDArray[np.uint32]
    constants: FloatArray
    n_inputs: int
    n_outputs: int
    n_slots: int
    n_kernels: int


def link(units: Sequence[RuleUnit], outputs: Sequence[Attribute], degrees: bool = False) -> Code:
    """Compile rule sets, given in an order in which inputs come first, into one program.

    Parameters
    ----------
    units : the rule sets that the outputs depend on
    outputs : the attributes whose distributions are wanted
    degrees : whether the premise degrees of every rule are wanted too
    """
    inferred = {u.output.name for u in units}
    inputs = {a.name: a for u in units for a in u.inputs if a.name not in inferred}
    inputs |= {a.name: a for a in outputs if a.name not in inferred}
    kinds = _kinds(units, set(inputs))
    demands = _Demands(units, kinds, outputs, degrees)
    linker = _Linker(inputs, demands, outputs)
    for unit in _depth_first(units):
        linker.add(unit, demands.templates[unit.output.name])
    for attribute in outputs:
        if attribute.name not in inferred:
            linker.store_distribution(attribute)
    return linker.code()


def _kinds(units: Sequence[RuleUnit], inputs: set[str]) -> dict[str, Kind]:
    """Return the kind of each unit, finding on the way which outputs are always normalised."""
    normalised = set(inputs)  # evidence is checked to be
    kinds = {}
    for unit in units:
        kind = kinds[unit.output.name] = unit.kind(normalised)
        if circuit_of(kind).height == 1:
            normalised.add(unit.output.name)
    return kinds


class _Demands:
    """Which subsets of which domains are needed, from the outputs back to the inputs."""

    def __init__(
        self,
        units: Sequence[RuleUnit],
        kinds: dict[str, Kind],
        outputs: Sequence[Attribute],
        degrees: bool,
    ) -> None:
        self.masks: dict[str, set[int]] = {}
        self.templates: dict[str, Template] = {}
        self.with_degrees = degrees
        for attribute in outputs:
            singletons = (1 << i for i in range(len(attribute.domain)))
            self.masks.setdefault(attribute.name, set()).update(singletons)
        for unit in reversed(units):
            name = unit.output.name
            template = rule_template(kinds[name], self.of(name), degrees)
            self.templates[name] = template
            for leaf in template.leaves:
                if isinstance(leaf, Facet):
                    attribute = unit.inputs[leaf.attribute]
                    self.masks.setdefault(attribute.name, set()).add(leaf.mask)

    def of(self, name: str) -> tuple[int, ...]:
        """Return the subsets wanted of an attribute, in a fixed order."""
        return tuple(sorted(self.masks.get(name, ())))


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


@dataclass
class _Linker:
    """Puts templates one after the other, in numbers of values that are valid everywhere."""

    inputs: dict[str, Attribute]
    demands: _Demands
    outputs: Sequence[Attribute]
    n_values: int = 2
    constants: dict[float, int] = field(default_factory=lambda: {0.0: 0, 1.0: 1})
    facets: dict[tuple[str, int], int] = field(default_factory=dict)
    height: dict[str, int] = field(default_factory=dict)
    columns: dict[str, slice] = field(default_factory=dict)
    degrees: dict[str, slice] = field(default_factory=dict)
    coherence: dict[str, int] = field(default_factory=dict)
    n_stored: int = 0

    def __post_init__(self) -> None:
        self.ops: list[IntArray] = []
        self.targets: list[IntArray] = []
        self.lengths: list[IntArray] = []
        self.args: list[IntArray] = []
        self.templates: set[int] = set()
        sizes = [len(a.domain) for a in self.inputs.values()]
        self.bounds = np.cumsum([0, *sizes], dtype=np.int32)
        self.first = {n: 2 + int(b) for n, b in zip(self.inputs, self.bounds, strict=False)}
        self.n_values = 2 + sum(sizes)
        self.wanted = {a.name for a in self.outputs}

    def add(self, unit: RuleUnit, template: Template) -> None:
        """Link one rule set: its inputs' subsets first, then its template, then its outputs."""
        for attribute in unit.inputs:
            self._take_in(attribute)
        parameters = [z for rule in unit.rules for z in (rule.s, rule.r)]
        leaves = [
            self.facets[unit.inputs[leaf.attribute].name, leaf.mask]
            if isinstance(leaf, Facet)
            else self._constant(parameters[leaf.index])
            for leaf in template.leaves
        ]
        results = self._instructions(template, leaves)
        name = unit.output.name
        masks = self.demands.of(name)
        self.facets.update(zip([(name, m) for m in masks], results, strict=False))
        self.height[name] = self._lowest(
            [results[len(masks)], *(self.height.get(a.name, 1) for a in unit.inputs)]
        )
        if name in self.wanted:
            self.store_distribution(unit.output)
        if self.demands.with_degrees:
            self.degrees[name] = self._store(results[len(masks) + 1 :])

    def store_distribution(self, attribute: Attribute) -> None:
        """Write out the distribution of an attribute, and its coherence where that can fail."""
        name = attribute.name
        if name in self.inputs:
            self._take_in(attribute)
        values = [self.facets[name, 1 << i] for i in range(len(attribute.domain))]
        self.columns[name] = self._store(values)
        if self.height.get(name, 1) != 1:
            self.coherence[name] = self._store([self.height[name]]).start

    def _take_in(self, attribute: Attribute) -> None:
        """Compute the subsets of an input when it is first used."""
        name = attribute.name
        if name not in self.inputs or name in self.height:
            return
        self.height[name] = 1
        size = len(attribute.domain)
        masks = self.demands.of(name)
        if masks:
            columns = range(self.first[name], self.first[name] + size)
            results = self._instructions(column_template(size, masks), columns)
            self.facets.update(zip([(name, m) for m in masks], results, strict=True))

    def _instructions(self, template: Template, leaves: Sequence[int]) -> list[int]:
        """Append a template with its leaves filled in; return the numbers of its outputs."""
        n = len(template.ops)
        made = np.arange(self.n_values, self.n_values + n, dtype=np.int32)
        numbers = np.concatenate([np.array([0, 1, *leaves], dtype=np.int32), made])
        self.n_values += n
        self.templates.add(id(template))
        self.ops.append(template.ops)
        self.targets.append(made)
        self.lengths.append(np.diff(template.starts))
        self.args.append(numbers[template.args])
        return [int(v) for v in numbers[template.outputs]]

    def _instruction(self, op: int, target: int, args: Sequence[int]) -> None:
        self.ops.append(np.array([op], dtype=np.int32))
        self.targets.append(np.array([target], dtype=np.int32))
        self.lengths.append(np.array([len(args)], dtype=np.int32))
        self.args.append(np.array(args, dtype=np.int32))

    def _store(self, values: Sequence[int]) -> slice:
        """Write values out to the next output columns."""
        columns = slice(self.n_stored, self.n_stored + len(values))
        self.n_stored = columns.stop
        n = len(values)
        self.ops.append(np.full(n, STORE, dtype=np.int32))
        self.targets.append(np.arange(columns.start, columns.stop, dtype=np.int32))
        self.lengths.append(np.ones(n, dtype=np.int32))
        self.args.append(np.array(values, dtype=np.int32))
        return columns

    def _constant(self, number: float) -> int:
        if number not in self.constants:
            self.constants[number] = self.n_values
            self.n_values += 1
        return self.constants[number]

    def _lowest(self, values: Sequence[int]) -> int:
        distinct = sorted(set(values) - {1})
        if len(distinct) <= 1:
            return distinct[0] if distinct else 1
        self._instruction(MIN, self.n_values, distinct)
        self.n_values += 1
        return self.n_values - 1

    def code(self) -> Code:
        """Return the finished program."""
        ops, targets = np.concatenate(self.ops), np.concatenate(self.targets)
        starts = np.cumsum(np.concatenate([[0], *self.lengths]), dtype=np.int32)
        args = np.concatenate(self.args)
        columns = range(2, 2 + int(self.bounds[-1]))
        fixed = np.array([*self.constants.values(), *columns], dtype=np.int32)
        slots, n_slots = _allocate(ops, targets, starts, args, fixed, self.n_values)
        makes = ops < STORE
        targets[makes] = slots[targets[makes]]
        return Code(
            tuple(self.inputs.values()),
            self.columns,
            self.degrees,
            self.coherence,
            self.bounds.astype(np.uint32),
            ops.astype(np.uint32),
            targets.astype(np.uint32),
            starts.astype(np.uint32),
            slots[args].astype(np.uint32),
            np.array(list(self.constants), dtype=np.float64),
            int(self.bounds[-1]),
            self.n_stored,
            n_slots,
            len(self.templates),
        )


def _allocate(
    ops: IntArray,
    targets: IntArray,
    starts: IntArray,
    args: IntArray,
    fixed: IntArray,
    n_values: int,
) -> tuple[IntArray, int]:
    """Give each value a row of scratch, free again after its last use, so that few are in use.

    The `fixed` values keep the first rows. A result never takes the row of an operand of its own
    instruction, because kernels write while they read.
    """
    instruction = np.repeat(np.arange(len(ops)), np.diff(starts))
    last = np.full(n_values, -1)
    np.maximum.at(last, args, instruction)
    last[fixed] = len(ops)
    slots = np.full(n_values, -1, dtype=np.int32)
    slots[fixed] = np.arange(len(fixed))
    n_slots = len(fixed)
    free: list[int] = []
    bounds, operands, dying = starts.tolist(), args.tolist(), (last[args] == instruction).tolist()
    for i, (op, made) in enumerate(zip(ops.tolist(), targets.tolist(), strict=True)):
        if op < STORE:
            if not free:
                free.append(n_slots)
                n_slots += 1
            slots[made] = free.pop()
        dead = {operands[k] for k in range(bounds[i], bounds[i + 1]) if dying[k]}
        free.extend(slots[list(dead)].tolist())
    return slots, n_slots
