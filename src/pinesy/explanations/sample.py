"""The degrees of one sample that one attribute depends on: of values, propositions and premises.

What is the same for all samples (the program and the rules as arrays) is stored on the cascade and
on its rule sets. A single rule set needs no program: its arrays are enough.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import cached_on_owner
from pinesy._common.masks import mask_table
from pinesy._common.names import by_name, column_slices
from pinesy._common.validation import BoolArray, FloatArray, check_distribution
from pinesy.engine.program import Program, run
from pinesy.evidence.evidence_form import Evidence, contents_by_input, evidence_rows
from pinesy.evidence.plain_values import is_scalar
from pinesy.evidence.rows import Rows
from pinesy.exceptions import CascadeError, DataError, UnknownAttributeError
from pinesy.rulebase.attaining_rules import rule_bounds
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.partition import Partition, partition_of
from pinesy.rules.possibility import Possibility
from pinesy.rules.propositions import Proposition
from pinesy.rules.rule import Rule

IntArray = npt.NDArray[np.intp]
Result = TypeVar("Result")
#: Bounds of values by rules up to which a single rule set is inferred from its arrays (8 MB).
MAX_BOUNDS = 1_000_000


class ComputedOnce(dict[str, Result]):
    """Results by name, each computed when it is first looked up.

    Examples
    --------
    >>> lengths = ComputedOnce(len)
    >>> lengths["left"], lengths
    (4, {'left': 4})
    """

    def __init__(self, compute: Callable[[str], Result]) -> None:
        self.compute = compute

    def __missing__(self, name: str) -> Result:
        result = self[name] = self.compute(name)
        return result


@dataclass(frozen=True, eq=False)
class RuleTable:
    """The rules of a set as arrays.

    Attributes
    ----------
    rules : the rules
    propositions : the distinct propositions of all premises
    premises : for each rule the indices of its propositions
    flat, starts : the arrays of `premises` concatenated, and the first index of each rule there
    inside : array (values, rules), whether the value is in the rule's conclusion
    s, r : arrays (rules,), the parameters
    members : for each proposition a bool array (values,), whether the value is in the proposition
    is_full : array (2, propositions), whether a proposition, and its negation, has all values: it
        is true then, whatever the height of the attribute's distribution
    has_full : whether some are
    sides : for each input a bool array, the `members` of the propositions on it and then of their
        negations, and the indices of these in an array (2, propositions) that is made flat
    """

    rules: tuple[Rule, ...]
    propositions: tuple[Proposition, ...]
    premises: list[IntArray]
    flat: IntArray
    starts: IntArray
    inside: BoolArray
    s: FloatArray
    r: FloatArray
    members: dict[int, BoolArray]
    is_full: BoolArray
    has_full: bool
    sides: dict[str, tuple[BoolArray, IntArray]]


@cached_on_owner
def rule_table(rule_set: RuleSet) -> RuleTable:
    """Return the rules of a set as arrays, computed once."""
    indices: dict[tuple[str, int], int] = {}
    propositions: list[Proposition] = []
    premises = []
    for rule in rule_set.rules:
        keys = [(p.attribute.name, p.mask) for p in rule.premise.propositions]
        for key, proposition in zip(keys, rule.premise.propositions, strict=True):
            if key not in indices:
                indices[key] = len(propositions)
                propositions.append(proposition)
        premises.append(np.array([indices[key] for key in keys], np.intp))
    groups: dict[str, list[int]] = {}
    for index, proposition in enumerate(propositions):
        groups.setdefault(proposition.attribute.name, []).append(index)
    sides = {}
    members: dict[int, BoolArray] = {}
    for name, group in groups.items():
        size = len(propositions[group[0]].attribute.domain)
        rows = mask_table(size, [propositions[index].mask for index in group]).T
        members.update(zip(group, rows, strict=True))
        negations = [len(propositions) + index for index in group]
        sides[name] = np.vstack([rows, ~rows]), np.array([*group, *negations])
    is_full = np.array([[q.mask == q.attribute.full for q in (p, ~p)] for p in propositions]).T
    return RuleTable(
        rule_set.rules,
        tuple(propositions),
        premises,
        np.concatenate(premises),
        np.cumsum([0, *map(len, premises[:-1])]),
        mask_table(len(rule_set.output.domain), [r.conclusion.mask for r in rule_set.rules]),
        rule_set.s,
        rule_set.r,
        members,
        is_full,
        bool(is_full.any()),
        sides,
    )


class SamplePlan:
    """What is the same for all samples when results on one attribute are explained.

    In a cascade the program infers the attribute, and ``Pi(P)`` and ``Pi(not P)`` of each
    proposition that its rules use. So a rule with 810 propositions costs 1620 numbers, not the 810
    distributions behind them.

    Parameters
    ----------
    cascade : Cascade
    attribute : one that rules conclude on

    Attributes
    ----------
    rule_sets : the rule sets that the attribute depends on, by the names of their outputs
    all_inputs : the inputs of the cascade, by name
    inputs : the inputs that the attribute depends on
    attributes : these inputs and the outputs of the rule sets, by name
    slices : the columns of each of the inputs in a row of degrees, by name
    tables : the arrays of each rule set (`RuleTable`), by the name of its output
    rule_number : `Cascade.rule_number`
    cells : for each input, by name, the partition of its domain into values that the rules do not
        distinguish
    """

    def __init__(self, cascade: Cascade, attribute: Attribute) -> None:
        self.cascade, self.attribute = cascade, attribute
        needed = cascade.needed([attribute.name])
        self.rule_sets = {s.output.name: s for s in needed}
        names = {a.name for s in needed for a in s.inputs}
        self.all_inputs = {a.name: a for a in cascade.inputs}
        self.inputs = tuple(a for a in cascade.inputs if a.name in names)
        names_in_order = (*(a.name for a in self.inputs), *self.rule_sets)
        self.attributes = {name: cascade.attributes[name] for name in names_in_order}
        self.slices = column_slices(self.inputs)
        self.tables = ComputedOnce(lambda name: rule_table(self.rule_sets[name]))
        self.cells = ComputedOnce(self._cells)
        self.rule_number = cascade.rule_number

    def _cells(self, name: str) -> Partition:
        rules = (rule for rule_set in self.rule_sets.values() for rule in rule_set.rules)
        propositions = (p for rule in rules for p in rule.premise.propositions)
        masks = dict.fromkeys(p.mask for p in propositions if p.attribute.name == name)
        return partition_of(len(self.attributes[name].domain), tuple(masks))

    @property
    def needs_program(self) -> bool:
        """Whether the attribute depends on several rule sets, or on a very large one."""
        n_bounds = len(self.attribute.domain) * len(self.rule_sets[self.attribute.name].rules)
        return len(self.rule_sets) > 1 or n_bounds > MAX_BOUNDS

    @cached_property
    def program(self) -> Program:
        """The program for the attribute, and for the propositions of its rules."""
        propositions = self.tables[self.attribute.name].propositions
        measured = [*propositions, *(p.complement for p in propositions)]
        units = [s.unit for s in self.rule_sets.values()]
        return Program(units, [self.attribute], self.all_inputs, propositions=measured)

    @cached_property
    def lower_bound_program(self) -> Program:
        """A program for the attribute whose inputs need not be normalised.

        Inference is monotone: from the lowest degrees of several samples this program infers
        degrees that are no higher than those of any of the samples.
        """
        units, inputs = [s.unit for s in self.rule_sets.values()], self.all_inputs
        return Program(units, [self.attribute], inputs, unnormalised=list(inputs))

    @cached_property
    def intermediate_program(self) -> Program:
        """The program for the distributions of all attributes between inputs and attribute."""
        return self.cascade.compile([n for n in self.rule_sets if n != self.attribute.name])

    def row(self, evidence: Evidence) -> FloatArray:
        """Return the evidence of one sample as the columns of the program."""
        if isinstance(evidence, Mapping):
            return one_row(self.cascade, evidence, self.inputs)
        inputs = self.cascade.compile().inputs
        row, slices = one_row(self.cascade, evidence, inputs), column_slices(inputs)
        return np.concatenate([row[slices[a.name]] for a in self.inputs])


def one_row(cascade: Cascade, evidence: Evidence, inputs: tuple[Attribute, ...]) -> FloatArray:
    """Return the evidence of one sample as one row: the degrees of some inputs side by side."""
    rows = evidence_rows(cascade, evidence, inputs)
    if rows.is_batch:
        raise DataError(
            f"an explanation is of one sample; got a batch of {rows.n}. Pick one: "
            "{name: rows[i] for name, rows in evidence.items()}, or evidence[i] of one array"
        )
    # A copy: explanations use it later, when its owner may have changed it.
    row: FloatArray = rows.block(0, 1)[0].copy()
    return row


def plain_values_of(
    cascade: Cascade, evidence: Evidence, inputs: tuple[Attribute, ...]
) -> dict[str, Any]:
    """Return the plain values that the evidence of one sample has for some inputs, by name."""
    contents = by_name(contents_by_input(evidence, inputs, cascade.attributes) or {}, "input")
    values = {}
    for attribute in inputs:
        if attribute.name in contents:
            content = contents[attribute.name]
            if isinstance(content, np.generic | np.ndarray) and not content.ndim:
                content = content.item()  # a Python number or text
            if is_scalar(content, attribute):
                values[attribute.name] = content
    return values


def plan_for(cascade: Cascade, attribute: Attribute) -> SamplePlan:
    """Return the plan for results on an attribute, computed once."""
    if cascade.attributes.get(attribute.name) != attribute:
        cascade[attribute]  # raises where no rule concludes on this name
        raise UnknownAttributeError(
            f"the cascade's attribute {attribute.name!r} has another domain than {attribute!r}"
        )
    if any(attribute.name == perceived.name for perceived in cascade.inputs):
        raise CascadeError(
            f"{attribute.name!r} is an input: it is perceived, no rule concludes on it; ask "
            f"for an attribute that rules conclude on, such as {cascade.outputs[0].name!r}"
        )
    return _plan(cascade, attribute.name)


@cached_on_owner
def _plan(cascade: Cascade, name: str) -> SamplePlan:
    return SamplePlan(cascade, cascade.attributes[name])


class Sample:
    """The degrees of one sample, each computed when it is first used.

    Parameters
    ----------
    plan : SamplePlan
    row : the degrees of the plan's inputs side by side
    result : the distribution of the plan's attribute, if it is inferred already

    Attributes
    ----------
    degrees : the distribution of each attribute, by name
    measures : for each attribute, by name, an array (2, propositions): ``Pi(P_j)`` and
        ``Pi(not P_j)`` of the propositions in the premises of its rules
    premises : for each attribute, by name, a pair of arrays (rules,): ``lambda_i = min_j Pi(P_j)``
        and ``rho_i = max_j Pi(not P_j)`` [eq:pinegpiformulae] of its rules
    """

    def __init__(
        self, plan: SamplePlan, row: FloatArray, result: Possibility | None = None
    ) -> None:
        self.plan, self.row = plan, row
        self.degrees = ComputedOnce(self._degrees)
        self.measures = ComputedOnce(self._measures)
        self.premises = ComputedOnce(self._premises)
        name = plan.attribute.name
        if result is None and plan.needs_program:
            out = _run(plan.program, row)
            measures = out[plan.program.code.measures].reshape(2, -1)
            self.measures[name] = np.where(plan.tables[name].is_full, 1.0, measures)
            result = _distribution(plan.program, out, plan.attribute)
        elif result is None:
            for attribute in plan.inputs:
                pi = row[plan.slices[attribute.name]]
                if not (pi.min() >= 0.0 and pi.max() == 1.0):  # or NaN
                    check_distribution(pi, attribute.domain, f"attribute {attribute.name!r}")
            degrees = self.bounds(name).min(axis=1)  # [eq:pistarbxu]
            degrees.setflags(write=False)  # results are values
            result = Possibility(plan.attribute, degrees, float(degrees.max()))
        self.result = result
        self.degrees[name] = result.degrees

    def _degrees(self, name: str) -> FloatArray:
        if name in self.plan.slices:
            return self.row[self.plan.slices[name]]
        inputs = self.plan.rule_sets[name].inputs
        if all(a.name in self.degrees or a.name in self.plan.slices for a in inputs):
            degrees: FloatArray = self.bounds(name).min(axis=1)  # [eq:pistarbxu]
            return degrees
        return self._intermediate_degrees[self.plan.intermediate_program.code.columns[name]]

    @cached_property
    def _intermediate_degrees(self) -> FloatArray:
        """The outputs of the plan's `intermediate_program`."""
        slices, program = self.plan.slices, self.plan.intermediate_program
        return _run(program, np.concatenate([self.row[slices[a.name]] for a in program.inputs]))

    def _measures(self, name: str) -> FloatArray:
        table = self.plan.tables[name]
        flat = np.empty(2 * len(table.propositions))
        for attribute, (members, indices) in table.sides.items():
            flat[indices] = np.where(members, self.degrees[attribute], 0.0).max(axis=1)
        measures = flat.reshape(2, -1)
        return np.where(table.is_full, 1.0, measures) if table.has_full else measures

    def _premises(self, name: str) -> tuple[FloatArray, FloatArray]:
        table, measures = self.plan.tables[name], self.measures[name]
        lambdas = np.minimum.reduceat(measures[0, table.flat], table.starts)
        rhos = np.maximum.reduceat(measures[1, table.flat], table.starts)
        return lambdas, rhos  # [eq:pinegpiformulae]

    def bounds(self, name: str, index: int | slice = slice(None)) -> FloatArray:
        """Return the bounds that the rules on an attribute set, an array ([values,] rules).

        Of all values, or of the value at an index.
        """
        table = self.plan.tables[name]
        return rule_bounds(table.inside[index], table.s, table.r, *self.premises[name])


def infer_row(program: Program, row: FloatArray, attribute: Attribute) -> Possibility:
    """Return the distribution of an attribute that a program infers from a row of its inputs."""
    return _distribution(program, _run(program, row), attribute)


def _distribution(program: Program, out: FloatArray, attribute: Attribute) -> Possibility:
    height = program.code.coherence.get(attribute.name)
    coherence = 1.0 if height is None else float(out[height])
    return Possibility(attribute, out[program.code.columns[attribute.name]], coherence)


def _run(program: Program, row: FloatArray) -> FloatArray:
    """Return the outputs of a program for a row of its inputs."""
    rows = Rows(program.inputs, [row[None, :]], 1, False)
    out: FloatArray = run(program.code, rows)[:, 0]
    return out
