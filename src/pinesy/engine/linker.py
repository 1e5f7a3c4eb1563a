"""Compiles rule sets: links their templates into one program."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from pinesy._common.budgets import check_output_size
from pinesy._common.console import check_stop
from pinesy.engine.circuit import MIN, STORE, Facet
from pinesy.engine.code import Code, assemble
from pinesy.engine.rule_set_kinds import COMPILING, RuleSetStructure, RuleUnit
from pinesy.engine.templates import IntArray, Template, column_template, rule_template
from pinesy.engine.wide import is_always_normalised
from pinesy.rules.attributes import Attribute
from pinesy.rules.propositions import Proposition

#: Rule sets compiled between two checks for a timeout.
CHECK_INTERVAL = 32


def link(
    units: Sequence[RuleUnit],
    outputs: Sequence[Attribute],
    known: Iterable[Attribute],
    degrees: Collection[str] = (),
    inferred: Collection[str] = (),
    propositions: Sequence[Proposition] = (),
) -> Code:
    """Compile rule sets, in topological order, into one program.

    Parameters
    ----------
    units : the rule sets that the outputs depend on
    outputs : the attributes whose distributions are outputs
    known : the inputs of all rules; those that are needed get their columns in this order
    degrees : the output names of the rule sets whose premise degrees are outputs too
    inferred : the inputs that earlier rule sets inferred, which may be not normalised
    propositions : propositions whose possibilities ``Pi(a in A)`` are outputs, without the
        distribution
    """
    with COMPILING:
        output_names = {a.name for a in outputs}
        read_names = {a.name for u in units for a in u.inputs} | output_names
        needed = read_names | {p.attribute.name for p in propositions}
        inputs = {a.name: a for a in known if a.name in needed}
        structures = structures_of(units, set(inputs).difference(inferred))
        linker = Linker(inputs)
        linker.require(outputs, propositions, structures)
        for unit in _check_timeout(reversed(units)):
            name = unit.output.name
            linker.prepare(unit, structures[name], name in degrees, name in read_names)
        for unit in _check_timeout(_depth_first(units)):
            name = unit.output.name
            linker.add(unit, name in output_names, name in degrees)
        for attribute in outputs:
            if attribute.name not in structures:
                linker.store_distribution(attribute)
        linker.store_measures(propositions)
        return linker.code([0.0 if name in inferred else 1.0 for name in inputs])


def _check_timeout(units: Iterable[RuleUnit]) -> Iterator[RuleUnit]:
    """Yield the rule sets, with a check for a timeout every `CHECK_INTERVAL`."""
    for count, unit in enumerate(units, 1):
        if count % CHECK_INTERVAL == 0:
            check_stop()
        yield unit


def structures_of(units: Sequence[RuleUnit], evidence: set[str]) -> dict[str, RuleSetStructure]:
    """Return the structure of each rule set by output; `evidence` names normalised inputs."""
    normalised = set(evidence)
    structures = {}
    for unit in units:
        structure = structures[unit.output.name] = unit.structure(normalised)
        if is_always_normalised(structure):
            normalised.add(unit.output.name)
    return structures


def _depth_first(units: Sequence[RuleUnit]) -> Iterable[RuleUnit]:
    """Yield the rule sets in depth-first topological order, so that results are used in cache."""
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


#: The bit length of a mask, and the mask: hashes of powers of 2 alone repeat after 61 of them.
SubsetKey = tuple[int, int]


def subset_key(mask: int) -> SubsetKey:
    """Return the dictionary key of a mask; keys are in the order of masks."""
    return mask.bit_length(), mask


class Linker:
    """Concatenates templates, with value ids that are unique in the program.

    First it collects the subsets that are needed of each domain, from the outputs back to the
    inputs (`require`, `prepare`). Then rule sets are added from the inputs on (`add`).

    Parameters
    ----------
    inputs : the attributes whose degrees are the input columns
    """

    def __init__(self, inputs: dict[str, Attribute]) -> None:
        self.inputs = inputs
        self.masks: dict[str, set[SubsetKey]] = {}
        self.templates: dict[str, Template] = {}
        sizes = [len(a.domain) for a in inputs.values()]
        self.first = dict(zip(inputs, accumulate(sizes, initial=2), strict=False))
        self.n_values, self.n_stored = 2 + sum(sizes), 0
        self.constants: dict[float, int] = {0.0: 0, 1.0: 1}
        self.facets: dict[tuple[str, SubsetKey], int] = {}
        self.height: dict[str, int] = {}
        #: Operations, targets, operand counts and operands, in arrays to concatenate.
        self.instructions: tuple[list[IntArray], ...] = ([], [], [], [])
        self.linked: set[int] = set()  # the ids of the templates
        self.columns: dict[str, slice] = {}
        self.degrees: dict[str, slice] = {}
        self.coherence: dict[str, int] = {}
        self.measures = slice(0, 0)

    def require(
        self,
        outputs: Sequence[Attribute],
        propositions: Sequence[Proposition],
        structures: Mapping[str, RuleSetStructure],
    ) -> None:
        """Require the single values of the outputs, and the subsets of propositions."""
        for attribute in outputs:
            masks = self.masks.setdefault(attribute.name, set())
            if attribute.name in structures:  # masks that are in memory already
                conclusions = structures[attribute.name].conclusions
                masks.update(subset_key(q) for q in conclusions if q.bit_count() == 1)
            check_output_size(attribute.name, len(attribute.domain))
            masks.update((i + 1, 1 << i) for i in range(len(attribute.domain)))
        for p in propositions:
            self.masks.setdefault(p.attribute.name, set()).add(subset_key(p.mask))

    def prepare(
        self, unit: RuleUnit, structure: RuleSetStructure, degrees: bool, concludes: bool
    ) -> None:
        """Create the template of a rule set, and require the subsets of inputs that it needs."""
        name = unit.output.name
        template = rule_template(structure, self._required_masks(name), degrees, concludes)
        self.templates[name] = template
        for leaf in template.leaves:
            if isinstance(leaf, Facet):
                attribute = unit.inputs[leaf.attribute]
                self.masks.setdefault(attribute.name, set()).add(subset_key(leaf.mask))

    def _required_masks(self, name: str) -> tuple[int, ...]:
        """Return the required masks of an attribute, sorted."""
        return tuple(mask for _, mask in sorted(self.masks.get(name, ())))

    def add(self, unit: RuleUnit, stores_distribution: bool, stores_degrees: bool) -> None:
        """Link one rule set: the subsets of its inputs, its template, and its outputs."""
        for attribute in unit.inputs:
            self._link_input(attribute)
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
        self.height[name] = self._minimum(
            [height, *(self.height.get(a.name, 1) for a in unit.inputs)]
        )
        if stores_distribution:
            self.store_distribution(unit.output)
        if stores_degrees:
            self.degrees[name] = self._store(degrees)

    def store_distribution(self, attribute: Attribute) -> None:
        """Store the distribution of an attribute, and its coherence unless that is always 1."""
        name = attribute.name
        if name in self.inputs:
            self._link_input(attribute)
        values = [self.facets[name, (i + 1, 1 << i)] for i in range(len(attribute.domain))]
        self.columns[name] = self._store(values)
        if self.height.get(name, 1) != 1:
            self.coherence[name] = self._store([self.height[name]]).start

    def store_measures(self, propositions: Sequence[Proposition]) -> None:
        """Store ``Pi(a in A)`` of each proposition in consecutive columns."""
        for proposition in propositions:
            self._link_input(proposition.attribute)
        facets = [self.facets[p.attribute.name, subset_key(p.mask)] for p in propositions]
        self.measures = self._store(facets)

    def _link_input(self, attribute: Attribute) -> None:
        """Link the required subsets of an input when it is first used."""
        name = attribute.name
        if name not in self.inputs or name in self.height:
            return
        self.height[name] = 1
        masks = self._required_masks(name)
        if masks:
            columns = range(self.first[name], self.first[name] + len(attribute.domain))
            self._link(name, column_template(len(columns), masks), columns)

    def _link(self, name: str, template: Template, leaves: Sequence[int]) -> list[int]:
        """Append the template of an attribute, given the ids of its leaves.

        Returns the ids of its outputs after those of the required subsets.
        """
        results = np.arange(self.n_values, self.n_values + len(template.ops), dtype=np.int32)
        ids = np.concatenate([np.array([0, 1, *leaves], dtype=np.int32), results])
        self.n_values += len(results)
        self.linked.add(id(template))
        self._append(template.ops, results, np.diff(template.starts), ids[template.args])
        outputs: list[int] = ids[template.outputs].tolist()
        masks = self._required_masks(name)
        self.facets.update(zip([(name, subset_key(m)) for m in masks], outputs, strict=False))
        return outputs[len(masks) :]

    def _append(self, *parts: npt.ArrayLike) -> None:
        """Append instructions: their operations, targets, operand counts and operands."""
        for instructions, part in zip(self.instructions, parts, strict=True):
            instructions.append(np.asarray(part, dtype=np.int32))

    def _store(self, values: Sequence[int]) -> slice:
        """Store values in the next output columns; return the columns."""
        n, first = len(values), self.n_stored
        self.n_stored += n
        self._append(np.full(n, STORE), range(first, first + n), np.ones(n), values)
        return slice(first, first + n)

    def _constant(self, number: float) -> int:
        """Return the value id of a constant."""
        if number not in self.constants:
            self.constants[number] = self.n_values
            self.n_values += 1
        return self.constants[number]

    def _minimum(self, values: Sequence[int]) -> int:
        """Return the value id of the minimum of some values."""
        distinct = sorted(set(values) - {1})
        if len(distinct) <= 1:
            return distinct[0] if distinct else 1
        self._append([MIN], [self.n_values], [len(distinct)], distinct)
        self.n_values += 1
        return self.n_values - 1

    def code(self, min_heights: Sequence[float]) -> Code:
        """Return the program; each input must have at least its height in `min_heights`."""
        ops, targets, lengths, args = map(np.concatenate, self.instructions)
        return assemble(
            list(self.inputs.values()),
            min_heights,
            self.constants,
            (ops, targets, np.cumsum(np.append(0, lengths)), args),
            self.n_values,
            columns=self.columns,
            degrees=self.degrees,
            coherence=self.coherence,
            measures=self.measures,
            n_templates=len(self.linked),
        )
