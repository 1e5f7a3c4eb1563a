"""The degrees of one sample behind one attribute: of values, propositions and premises.

What is the same for all samples (the program and the rules as arrays) is stored on the cascade and
on its rule sets.
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
from pinesy._common.validation import BoolArray, FloatArray
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
    flat, starts : these one after the other, and where each rule's begin
    inside : array (values, rules), whether the value is in the rule's conclusion
    s, r : arrays (rules,), the parameters
    by_attribute : for each input the indices of its propositions, and which of its values are in
        each of them, an array (propositions, values)
    members : for each proposition its row of these arrays
    is_full : array (2, propositions), whether a proposition, and its negation, has all values: it
        is true then, whatever the height of the attribute's distribution
    """

    rules: tuple[Rule, ...]
    propositions: tuple[Proposition, ...]
    premises: list[IntArray]
    flat: IntArray
    starts: IntArray
    inside: BoolArray
    s: FloatArray
    r: FloatArray
    by_attribute: dict[str, tuple[list[int], BoolArray]]
    members: dict[int, BoolArray]
    is_full: BoolArray


@cached_on_owner
def rule_table(rule_set: RuleSet) -> RuleTable:
    """Return the table of a rule set, made once."""
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
    by_attribute = {}
    members: dict[int, BoolArray] = {}
    for name, group in groups.items():
        size = len(propositions[group[0]].attribute.domain)
        rows = mask_table(size, [propositions[index].mask for index in group]).T
        by_attribute[name] = group, rows
        members.update(zip(group, rows, strict=True))
    return RuleTable(
        rule_set.rules,
        tuple(propositions),
        premises,
        np.concatenate(premises),
        np.cumsum([0, *map(len, premises[:-1])]),
        mask_table(len(rule_set.output.domain), [r.conclusion.mask for r in rule_set.rules]),
        rule_set.s,
        rule_set.r,
        by_attribute,
        members,
        np.array([[q.mask == q.attribute.full for q in (p, ~p)] for p in propositions]).T,
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
    """

    def __init__(self, cascade: Cascade, attribute: Attribute) -> None:
        self.cascade, self.attribute = cascade, attribute
        needed = cascade.needed([attribute.name])
        self.rule_sets = {s.output.name: s for s in needed}
        names = {a.name for s in needed for a in s.inputs}
        self.known = {a.name: a for a in cascade.inputs}
        self.inputs = tuple(a for a in cascade.inputs if a.name in names)
        self.attributes = {a.name: a for a in (*self.inputs, *(s.output for s in needed))}
        self.slices = column_slices(self.inputs)
        #: The rules that conclude on each attribute, as arrays.
        self.tables = ComputedOnce(lambda name: rule_table(self.rule_sets[name]))
        #: The values of each input that the rules do not tell apart.
        self.cells = ComputedOnce(self._cells)

    def _cells(self, name: str) -> Partition:
        rules = (rule for rule_set in self.rule_sets.values() for rule in rule_set.rules)
        propositions = (p for rule in rules for p in rule.premise.propositions)
        masks = dict.fromkeys(p.mask for p in propositions if p.attribute.name == name)
        return partition_of(len(self.attributes[name].domain), tuple(masks))

    @cached_property
    def program(self) -> Program:
        """The program for the attribute and, in a cascade, its rules' propositions."""
        if len(self.rule_sets) == 1:  # the measures of inputs are quick to compute
            return self.cascade.compile([self.attribute])
        propositions = self.tables[self.attribute.name].propositions
        measured = [*propositions, *(p.complement for p in propositions)]
        units = [s.unit for s in self.rule_sets.values()]
        return Program(units, [self.attribute], self.known, propositions=measured)

    @cached_property
    def floor(self) -> Program:
        """A program for the attribute alone whose inputs may be lower than distributions are.

        Inferred degrees rise with those of the inputs: what it gives for the lowest degrees of
        several samples is no higher than what is inferred from any of them.
        """
        units = [s.unit for s in self.rule_sets.values()]
        return Program(units, [self.attribute], self.known, unnormalised=list(self.known))

    @cached_property
    def behind(self) -> Program:
        """The program for the distributions of all attributes behind the one explained."""
        return self.cascade.compile([n for n in self.rule_sets if n != self.attribute.name])

    def row(self, evidence: Evidence) -> FloatArray:
        """Return the evidence of one sample as the columns of the program."""
        if isinstance(evidence, Mapping):
            return one_row(self.cascade, evidence, self.inputs)
        inputs = self.cascade.compile().inputs
        row, slices = one_row(self.cascade, evidence, inputs), column_slices(inputs)
        return np.concatenate([row[slices[a.name]] for a in self.inputs])


def one_row(cascade: Cascade, evidence: Evidence, inputs: tuple[Attribute, ...]) -> FloatArray:
    """Return the evidence of one sample as a row of the columns of some inputs of a cascade."""
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
                content = content.item()  # as Python has it
            if is_scalar(content, attribute):
                values[attribute.name] = content
    return values


def plan_for(cascade: Cascade, attribute: Attribute) -> SamplePlan:
    """Return the plan for results on an attribute, made once."""
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
    plan, row : the columns of the plan's inputs
    result : the distribution of the plan's attribute, where it was inferred before

    Attributes
    ----------
    degrees : the distribution of each attribute, by name
    measures : ``Pi(P_j)``, ``Pi(not P_j)`` of the propositions that an attribute's rules use
    premises : ``lambda_i = min_j Pi(P_j)``, ``rho_i = max_j Pi(not P_j)`` [eq:pinegpiformulae] of
        the rules on an attribute
    """

    def __init__(
        self, plan: SamplePlan, row: FloatArray, result: Possibility | None = None
    ) -> None:
        self.plan, self.row = plan, row
        self.degrees = ComputedOnce(self._degrees)
        self.measures = ComputedOnce(self._measures)
        self.premises = ComputedOnce(self._premises)
        if result is None:
            out = _run(plan.program, row)
            if len(plan.rule_sets) > 1:
                measures = out[plan.program.code.measures].reshape(2, -1)
                is_full = plan.tables[plan.attribute.name].is_full
                self.measures[plan.attribute.name] = np.where(is_full, 1.0, measures)
            result = _distribution(plan.program, out, plan.attribute)
        self.result = result
        self.degrees[plan.attribute.name] = result.degrees

    def _degrees(self, name: str) -> FloatArray:
        if name in self.plan.slices:
            return self.row[self.plan.slices[name]]
        inputs = self.plan.rule_sets[name].inputs
        if all(a.name in self.degrees or a.name in self.plan.slices for a in inputs):
            degrees: FloatArray = self.bounds(name).min(axis=1)  # [eq:pistarbxu]
            return degrees
        return self._distributions_behind[self.plan.behind.code.columns[name]]

    @cached_property
    def _distributions_behind(self) -> FloatArray:
        slices, program = self.plan.slices, self.plan.behind
        return _run(program, np.concatenate([self.row[slices[a.name]] for a in program.inputs]))

    def _measures(self, name: str) -> FloatArray:
        table = self.plan.tables[name]
        measures = np.empty((2, len(table.propositions)))
        for attribute, (indices, members) in table.by_attribute.items():
            degrees = self.degrees[attribute]
            measures[0, indices] = np.where(members, degrees, 0.0).max(axis=1)
            measures[1, indices] = np.where(members, 0.0, degrees).max(axis=1)
        return np.where(table.is_full, 1.0, measures)

    def _premises(self, name: str) -> tuple[FloatArray, FloatArray]:
        table, measures = self.plan.tables[name], self.measures[name]
        lambdas = np.minimum.reduceat(measures[0, table.flat], table.starts)
        rhos = np.maximum.reduceat(measures[1, table.flat], table.starts)
        return lambdas, rhos  # [eq:pinegpiformulae]

    def bounds(self, name: str, index: int | slice = slice(None)) -> FloatArray:
        """Return the bounds that the rules on an attribute set for its values, or for one."""
        table = self.plan.tables[name]
        return rule_bounds(table.inside[index], table.s, table.r, *self.premises[name])


def infer_row(program: Program, row: FloatArray, attribute: Attribute) -> Possibility:
    """Return what a program infers of an attribute from one sample in the form of its columns."""
    return _distribution(program, _run(program, row), attribute)


def _distribution(program: Program, out: FloatArray, attribute: Attribute) -> Possibility:
    height = program.code.coherence.get(attribute.name)
    coherence = 1.0 if height is None else float(out[height])
    return Possibility(attribute, out[program.code.columns[attribute.name]], coherence)


def _run(program: Program, row: FloatArray) -> FloatArray:
    """Run a program on one sample in the form of its columns."""
    rows = Rows(program.inputs, [row[None, :]], 1, False)
    out: FloatArray = run(program.code, rows)[:, 0]
    return out
