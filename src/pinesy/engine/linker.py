"""Compiles rule sets: puts their templates together into one program."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from pinesy._common.budgets import check_output_size
from pinesy._common.console import check_stop
from pinesy.engine.circuit import MIN, STORE, Facet
from pinesy.engine.code import Code, assemble
from pinesy.engine.rule_set_kinds import COMPILING, Kind, RuleUnit
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
        output_names = {a.name for a in outputs}
        read_names = {a.name for u in units for a in u.inputs} | output_names
        needed = read_names | {p.attribute.name for p in propositions}
        inputs = {a.name: a for a in known if a.name in needed}
        kinds = kinds_of(units, set(inputs).difference(inferred))
        linker = Linker(inputs)
        linker.demand(outputs, propositions, kinds)
        for unit in _stoppable(reversed(units)):
            name = unit.output.name
            linker.prepare(unit, kinds[name], name in degrees, name in read_names)
        for unit in _stoppable(_depth_first(units)):
            name = unit.output.name
            linker.add(unit, name in output_names, name in degrees)
        for attribute in outputs:
            if attribute.name not in kinds:
                linker.store_distribution(attribute)
        linker.store_measures(propositions)
        return linker.code([0.0 if name in inferred else 1.0 for name in inputs])


def _stoppable(units: Iterable[RuleUnit]) -> Iterator[RuleUnit]:
    """Yield rule sets to compile; a limit of time covers many, and few are compiled at once."""
    for count, unit in enumerate(units, 1):
        if count % FEW == 0:
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


class Linker:
    """Puts templates one after the other, in numbers of values that are valid everywhere.

    First comes what is demanded, from the outputs back to the inputs: which subsets of which
    domains (`demand`, `prepare`). Then rule sets are added from the inputs on.

    Parameters
    ----------
    inputs : the attributes whose degrees are the input columns
    """

    def __init__(self, inputs: dict[str, Attribute]) -> None:
        self.inputs = inputs
        self.masks: dict[str, set[Subset]] = {}
        self.templates: dict[str, Template] = {}
        sizes = [len(a.domain) for a in inputs.values()]
        self.first = dict(zip(inputs, accumulate(sizes, initial=2), strict=False))
        self.n_values, self.n_stored = 2 + sum(sizes), 0
        self.constants: dict[float, int] = {0.0: 0, 1.0: 1}
        self.facets: dict[tuple[str, Subset], int] = {}
        self.height: dict[str, int] = {}
        #: Operations, targets, numbers of operands, and operands, in arrays to concatenate.
        self.instructions: tuple[list[IntArray], ...] = ([], [], [], [])
        self.linked: set[int] = set()  # the templates that are in it
        self.columns: dict[str, slice] = {}
        self.degrees: dict[str, slice] = {}
        self.coherence: dict[str, int] = {}
        self.measures = slice(0, 0)

    def demand(
        self,
        outputs: Sequence[Attribute],
        propositions: Sequence[Proposition],
        kinds: Mapping[str, Kind],
    ) -> None:
        """Ask for the values of the outputs, and for the subsets of propositions."""
        for attribute in outputs:
            masks = self.masks.setdefault(attribute.name, set())
            if attribute.name in kinds:  # equal masks that are in memory anyway
                conclusions = kinds[attribute.name].conclusions
                masks.update(subset_key(q) for q in conclusions if q.bit_count() == 1)
            check_output_size(attribute.name, len(attribute.domain))
            masks.update((i + 1, 1 << i) for i in range(len(attribute.domain)))
        for p in propositions:
            self.masks.setdefault(p.attribute.name, set()).add(subset_key(p.mask))

    def prepare(self, unit: RuleUnit, kind: Kind, degrees: bool, concludes: bool) -> None:
        """Make the template for what is demanded of a rule set, and ask for what that needs."""
        name = unit.output.name
        template = rule_template(kind, self._demanded(name), degrees, concludes)
        self.templates[name] = template
        for leaf in template.leaves:
            if isinstance(leaf, Facet):
                attribute = unit.inputs[leaf.attribute]
                self.masks.setdefault(attribute.name, set()).add(subset_key(leaf.mask))

    def _demanded(self, name: str) -> tuple[int, ...]:
        """Return the subsets wanted of an attribute, in a fixed order."""
        return tuple(mask for _, mask in sorted(self.masks.get(name, ())))

    def add(self, unit: RuleUnit, stores_distribution: bool, stores_degrees: bool) -> None:
        """Link one rule set: its inputs' subsets first, then its template, then its outputs."""
        for attribute in unit.inputs:
            self._take_in(attribute)
        parameters = [z for rule in unit.rules for z in (rule.s, rule.r)]
        name = unit.output.name
        template = self.templates[name]
        leaves = [
            self.facets[unit.inputs[leaf.attribute].name, subset_key(leaf.mask)]
            if isinstance(leaf, Facet)
            else self._constant(parameters[leaf.index])
            for leaf in template.leaves
        ]
        height, *degrees = self._link(name, template, leaves)
        self.height[name] = self._lowest(
            [height, *(self.height.get(a.name, 1) for a in unit.inputs)]
        )
        if stores_distribution:
            self.store_distribution(unit.output)
        if stores_degrees:
            self.degrees[name] = self._store(degrees)

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
        masks = self._demanded(name)
        if masks:
            columns = range(self.first[name], self.first[name] + len(attribute.domain))
            self._link(name, column_template(len(columns), masks), columns)

    def _link(self, name: str, template: Template, leaves: Sequence[int]) -> list[int]:
        """Append the template of what is demanded of an attribute, with its leaves filled in.

        Returns the numbers of its outputs after those of the subsets.
        """
        results = np.arange(self.n_values, self.n_values + len(template.ops), dtype=np.int32)
        numbers = np.concatenate([np.array([0, 1, *leaves], dtype=np.int32), results])
        self.n_values += len(results)
        self.linked.add(id(template))
        self._append(template.ops, results, np.diff(template.starts), numbers[template.args])
        outputs: list[int] = numbers[template.outputs].tolist()
        masks = self._demanded(name)
        self.facets.update(zip([(name, subset_key(m)) for m in masks], outputs, strict=False))
        return outputs[len(masks) :]

    def _append(self, *parts: npt.ArrayLike) -> None:
        """Append instructions: their operations, targets, numbers of operands, and operands."""
        for instructions, part in zip(self.instructions, parts, strict=True):
            instructions.append(np.asarray(part, dtype=np.int32))

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

    def code(self, least: Sequence[float]) -> Code:
        """Return the finished program, whose inputs must have at least these heights."""
        ops, targets, lengths, args = map(np.concatenate, self.instructions)
        return assemble(
            list(self.inputs.values()),
            least,
            self.constants,
            (ops, targets, np.cumsum(np.append(0, lengths)), args),
            self.n_values,
            columns=self.columns,
            degrees=self.degrees,
            coherence=self.coherence,
            measures=self.measures,
            n_kernels=len(self.linked),
        )
