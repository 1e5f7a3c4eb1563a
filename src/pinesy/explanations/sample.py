"""The degrees of one sample behind one attribute: of values, propositions and premises.

What is the same for all samples (the program and the rules as arrays) is stored on the cascade and
on its rule sets.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pinesy._common.caching import cached_on_owner
from pinesy._common.masks import mask_table
from pinesy._common.names import by_name, column_slices
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.engine.program import Program, run
from pinesy.evidence.evidence_form import Evidence, by_input, evidence_rows
from pinesy.evidence.plain_values import is_scalar
from pinesy.evidence.rows import Rows
from pinesy.exceptions import CascadeError, DataError, UnknownAttributeError
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
    premises : for each rule the numbers of its propositions
    flat, starts : these one after the other, and where each rule's begin
    inside : array (values, rules), whether the value is in the rule's conclusion
    parameters : array (values, rules), `s` of the rule where the value is inside, else `r`
    by_attribute : for each input the numbers of its propositions, and which of its values are in
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
    parameters: FloatArray
    by_attribute: dict[str, tuple[list[int], BoolArray]]
    members: dict[int, BoolArray]
    is_full: BoolArray


@cached_on_owner
def table_of(rule_set: RuleSet) -> RuleTable:
    """Return the table of a rule set, made once."""
    keys = [
        [(p.attribute.name, p.mask) for p in rule.premise.propositions] for rule in rule_set.rules
    ]
    every = (p for rule in rule_set.rules for p in rule.premise.propositions)
    distinct = dict(zip(chain.from_iterable(keys), every, strict=True))
    numbers = {key: number for number, key in enumerate(distinct)}
    premises = [np.array([numbers[key] for key in own], np.intp) for own in keys]
    propositions = tuple(distinct.values())
    by_attribute = _by_attribute(propositions)
    inside = mask_table(len(rule_set.output.domain), [r.conclusion.mask for r in rule_set.rules])
    return RuleTable(
        rule_set.rules,
        propositions,
        premises,
        np.concatenate(premises),
        np.cumsum([0, *map(len, premises[:-1])]),
        inside,
        np.where(inside, rule_set.s, rule_set.r),
        by_attribute,
        {n: row for ns, rows in by_attribute.values() for n, row in zip(ns, rows, strict=True)},
        np.array([[q.mask == q.attribute.full for q in (p, ~p)] for p in propositions]).T,
    )


def _by_attribute(
    propositions: tuple[Proposition, ...],
) -> dict[str, tuple[list[int], BoolArray]]:
    groups: dict[str, list[int]] = {}
    for number, proposition in enumerate(propositions):
        groups.setdefault(proposition.attribute.name, []).append(number)
    found = {}
    for name, numbers in groups.items():
        size = len(propositions[numbers[0]].attribute.domain)
        masks = [propositions[number].mask for number in numbers]
        found[name] = (numbers, mask_table(size, masks).T)
    return found


class SamplePlan:
    """What is the same for all samples when results on one attribute are explained.

    The program infers the attribute, and ``Pi(P)`` and ``Pi(not P)`` of each proposition that its
    rules use. So a rule with 810 propositions costs 1620 numbers, not the 810 distributions behind
    them.

    Parameters
    ----------
    cascade : Cascade
    attribute : one that rules conclude on
    """

    def __init__(self, cascade: Cascade, attribute: Attribute) -> None:
        self.cascade, self.attribute = cascade, attribute
        needed = cascade.needed([attribute.name])
        self.rule_sets = {s.output.name: s for s in needed}
        used = {a.name for s in needed for a in s.inputs}
        self.known = {a.name: a for a in cascade.inputs}
        self.inputs = tuple(a for a in cascade.inputs if a.name in used)
        self.attributes = {a.name: a for a in (*self.inputs, *(s.output for s in needed))}
        self.slices = column_slices(self.inputs)
        #: The rules that conclude on each attribute, as arrays.
        self.tables = ComputedOnce(lambda name: table_of(self.rule_sets[name]))
        #: The values of each input that the rules do not tell apart.
        self.cells = ComputedOnce(self._cells)

    def _cells(self, name: str) -> Partition:
        used = (p for s in self.rule_sets.values() for r in s.rules for p in r.premise.propositions)
        masks = dict.fromkeys(p.mask for p in used if p.attribute.name == name)
        return partition_of(len(self.attributes[name].domain), tuple(masks))

    @cached_property
    def program(self) -> Program:
        """The program for the attribute and its rules' propositions."""
        used = self.tables[self.attribute.name].propositions
        asked = [*used, *(p.complement for p in used)]
        units = [s.unit for s in self.rule_sets.values()]
        return Program(units, [self.attribute], self.known, propositions=asked)

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
        every = self.cascade.compile().inputs
        whole, slices = one_row(self.cascade, evidence, every), column_slices(every)
        return np.concatenate([whole[slices[a.name]] for a in self.inputs])


def one_row(cascade: Cascade, evidence: Evidence, inputs: tuple[Attribute, ...]) -> FloatArray:
    """Return the evidence of one sample as a row of the columns of some inputs of a cascade."""
    rows = evidence_rows(cascade, evidence, inputs)
    if rows.is_batch:
        raise DataError(
            f"an explanation is of one sample; got a batch of {rows.n}. Pick one: "
            "{name: rows[i] for name, rows in evidence.items()}, or evidence[i] of one array"
        )
    # A copy: explanations look at it later, when its owner may have changed it.
    row: FloatArray = rows.block(0, 1)[0].copy()
    return row


def plain_values_of(
    cascade: Cascade, evidence: Evidence, inputs: tuple[Attribute, ...]
) -> dict[str, Any]:
    """Return the inputs that evidence of one sample gives plain values of, by name."""
    named = by_input(evidence, inputs, cascade.attributes)
    contents = {
        name: _as_python(content) for name, content in by_name(named or {}, "input").items()
    }
    return {
        a.name: contents[a.name]
        for a in inputs
        if a.name in contents and is_scalar(contents[a.name], a)
    }


def _as_python(content: Any) -> Any:
    """Return a number or text of NumPy as Python has it."""
    is_one = isinstance(content, np.generic) or (
        isinstance(content, np.ndarray) and not content.ndim
    )
    return content.item() if is_one else content


def plan_for(cascade: Cascade, attribute: Attribute) -> SamplePlan:
    """Return the plan for results on an attribute, made once."""
    if cascade.attributes.get(attribute.name) != attribute:
        cascade[attribute]  # raises where no rule concludes on this name
        raise UnknownAttributeError(
            f"the cascade's attribute {attribute.name!r} has another domain than {attribute!r}"
        )
    if any(attribute.name == used.name for used in cascade.inputs):
        raise CascadeError(
            f"{attribute.name!r} is an input: it is perceived, no rule concludes on it; ask "
            f"for an attribute that rules conclude on, such as {cascade.outputs[0].name!r}"
        )
    return _plan(cascade, attribute.name)


@cached_on_owner
def _plan(cascade: Cascade, name: str) -> SamplePlan:
    return SamplePlan(cascade, cascade.attributes[name])


class Sample:
    """The degrees of one sample, each computed when it is first looked at.

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
            table, (lambdas, rhos) = self.plan.tables[name], self.premises[name]
            bounds = np.maximum(table.parameters, np.where(table.inside, lambdas, rhos))
            found: FloatArray = bounds.min(axis=1)  # [eq:pistarbxu]
            return found
        return self._behind[self.plan.behind.code.columns[name]]

    @cached_property
    def _behind(self) -> FloatArray:
        slices, program = self.plan.slices, self.plan.behind
        return _run(program, np.concatenate([self.row[slices[a.name]] for a in program.inputs]))

    def _measures(self, name: str) -> FloatArray:
        table = self.plan.tables[name]
        measures = np.empty((2, len(table.propositions)))
        for used, (numbers, members) in table.by_attribute.items():
            degrees = self.degrees[used]
            measures[0, numbers] = np.where(members, degrees, 0.0).max(axis=1)
            measures[1, numbers] = np.where(members, 0.0, degrees).max(axis=1)
        return np.where(table.is_full, 1.0, measures)

    def _premises(self, name: str) -> tuple[FloatArray, FloatArray]:
        table, measures = self.plan.tables[name], self.measures[name]
        lambdas = np.minimum.reduceat(measures[0, table.flat], table.starts)
        rhos = np.maximum.reduceat(measures[1, table.flat], table.starts)
        return lambdas, rhos  # [eq:pinegpiformulae]


def inferred(program: Program, row: FloatArray, attribute: Attribute) -> Possibility:
    """Return what a program infers of an attribute from one sample in the form of its columns."""
    return _distribution(program, _run(program, row), attribute)


def _distribution(program: Program, out: FloatArray, attribute: Attribute) -> Possibility:
    height = program.code.coherence.get(attribute.name)
    coherence = 1.0 if height is None else float(out[height])
    return Possibility(attribute, out[program.code.columns[attribute.name]], coherence)


def _run(program: Program, row: FloatArray) -> FloatArray:
    """Run a program on one sample that is in the form of its columns."""
    rows = Rows(program.inputs, [row[None, :]], 1, False)
    out: FloatArray = run(program.code, rows)[:, 0]
    return out
