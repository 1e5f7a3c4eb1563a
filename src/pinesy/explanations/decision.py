"""A decision on one sample: which values win, and whether the rules are coherent."""

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from pinesy._common.caching import cached_on_owner
from pinesy._common.console import check_stop
from pinesy._common.validation import FloatArray, listed
from pinesy.engine.program import Program
from pinesy.evidence.evidence_form import Evidence
from pinesy.exceptions import CascadeError, DomainError, UnknownAttributeError
from pinesy.explanations.sample import (
    Sample,
    SamplePlan,
    infer_row,
    one_row,
    plain_values_of,
    plan_for,
)
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value
from pinesy.semantics.factors import leaves_a_value

#: Values or rules that a text shows; it counts the others.
SHOWN = 5
#: The maximum number of crisp inputs to try, and of instructions for them (a second or less).
MAX_CASES, MAX_INSTRUCTIONS = 100_000, 10**8
#: Rows of a batch.
BLOCK = 4096


def only_output(cascade: Cascade, cure: str) -> Attribute:
    """Return the only output of a cascade; raise `CascadeError` with a cure if it has several."""
    if len(cascade.outputs) > 1:
        names = listed([a.name for a in cascade.outputs])
        raise CascadeError(f"the rules have {len(cascade.outputs)} outputs ({names}); {cure}")
    return cascade.outputs[0]


def output_of(cascade: Cascade, output: str | Attribute | None) -> Attribute:
    """Return the attribute of a name, checked; by default the only output of the cascade."""
    if output is None:
        return only_output(cascade, "choose one by output=")
    attribute = cascade[output].output
    if isinstance(output, Attribute) and output != attribute:
        raise UnknownAttributeError(f"the rules conclude on {attribute!r}, not on {output!r}")
    return attribute


def is_coherent(rules: Cascade | RuleSet, output: str | Attribute | None = None) -> bool:
    """Return whether the rules behind an output are known to be coherent for all inputs.

    Rules are coherent if for all normalised inputs some value of the output has possibility 1. It
    is enough that this is so for all crisp inputs. One is tried for each combination of values that
    the rules distinguish, if there are at most 100,000 (of large rule bases fewer: ``rows *
    instructions`` of the program stay below 10^8). With more of them the answer is True if each
    rule set by itself leaves some value at 1 for all crisp inputs of its own, and False if that is
    not so, or not known.

    Examples
    --------
    >>> from pinesy.problems import addition
    >>> is_coherent(addition(2), "y_1")
    True
    """
    cascade = as_cascade(rules)
    return _is_coherent(plan_for(cascade, output_of(cascade, output)), False)


@cached_on_owner
def _is_coherent(plan: SamplePlan, all_attributes: bool) -> bool:
    """Return whether the rules behind an output are known to leave a value at 1 for all inputs.

    Inference is monotone, and every normalised distribution is above a crisp one (1 for a value, 0
    for all others). So rules are coherent for all normalised inputs iff they are for all crisp
    inputs, and one of these is enough for each combination of cells that the rules distinguish. If
    each rule set leaves a value for all crisp inputs of its own, so does the cascade.
    With `all_attributes`, all attributes that the output depends on must have a value at 1, too.
    """
    if all(leaves_a_value(s.unit) for s in plan.rule_sets.values()):
        return True
    program = plan.cascade.compile([plan.attribute])
    firsts = [np.unique(plan.cells[a.name].cell_of, return_index=True)[1] for a in plan.inputs]
    sizes = [len(values) for values in firsts]
    n = prod(sizes)
    if n > MAX_CASES or n * len(program.code.ops) > MAX_INSTRUCTIONS:
        return False
    starts = [plan.slices[a.name].start for a in plan.inputs]
    height = program.code.coherence.get(plan.attribute.name) if all_attributes else None
    measured = program.code.columns[plan.attribute.name] if height is None else [height]
    for start in range(0, n, BLOCK):
        check_stop()
        indices = np.unravel_index(np.arange(start, min(n, start + BLOCK)), sizes)
        rows: FloatArray = np.zeros((len(indices[0]), program.code.n_inputs))
        for first, values, index in zip(starts, firsts, indices, strict=True):
            rows[np.arange(len(rows)), first + values[index]] = 1.0
        if program.run(rows)[measured].max(axis=0).min() < 1.0:
            return False
    return True


class Decision(Sample):
    """A sample with the winners: the values of an output that have the highest degree.

    Attributes
    ----------
    output : the attribute of the plan
    program : the program for the output
    plain_values : the plain values (None or NaN for unknown) of the inputs that have one, by name
    """

    def __init__(
        self, plan: SamplePlan, row: FloatArray, program: Program, plain_values: Mapping[str, Any]
    ) -> None:
        super().__init__(plan, row, infer_row(program, row, plan.attribute))
        self.output, self.program, self.plain_values = plan.attribute, program, plain_values

    @classmethod
    def of(
        cls, rules: Cascade | RuleSet, evidence: Evidence, output: str | Attribute | None
    ) -> "Decision":
        """Return the decision on an output, from the evidence of one sample."""
        cascade = as_cascade(rules)
        attribute = output_of(cascade, output)
        program = cascade.compile([attribute])
        row = one_row(cascade, evidence, program.inputs)
        plain_values = plain_values_of(cascade, evidence, program.inputs)
        return cls(plan_for(cascade, attribute), row, program, plain_values)

    @cached_property
    def coherent(self) -> bool:
        """Whether some value always reaches 1; then a value wins if all others are below 1."""
        return _is_coherent(self.plan, False)

    @cached_property
    def always_normalised(self) -> bool:
        """Whether some value of the output and of all attributes behind it always reaches 1."""
        return _is_coherent(self.plan, True)

    @cached_property
    def winners(self) -> tuple[Hashable, ...]:
        """The values of the highest degree."""
        degrees = self.result.degrees
        indices = np.flatnonzero(degrees == degrees.max())
        return tuple(self.output.domain[i] for i in indices)

    def distributions(self) -> dict[str, Possibility]:
        """Return the distributions of the inputs."""
        slices = self.plan.slices
        return {a.name: Possibility(a, self.row[slices[a.name]]) for a in self.program.inputs}

    def losing_index(self, value: Any) -> int:
        """Return the index of a value that is not the only winner, or raise `DomainError`."""
        index = self.output.position(value)
        if self.winners == (value,):
            raise DomainError(
                f"{self.output.name} = {show_value(value)} wins already; name another value"
            )
        return index


def first_few(texts: Sequence[str], noun: str) -> list[str]:
    """Return the first texts, and the number of the others.

    Examples
    --------
    >>> first_few(list("abcdefg"), "values")[-2:]
    ['e', '2 more values']
    """
    left = len(texts) - SHOWN
    return [*texts[:SHOWN], *([f"{left} more {noun}"] if left > 0 else [])]
