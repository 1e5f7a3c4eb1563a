"""A decision: an output attribute, one sample, and the program that infers it."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.names import column_slices
from pinesy._common.validation import FloatArray
from pinesy.engine.evidence import Evidence
from pinesy.engine.program import Program
from pinesy.exceptions import DomainError, UnknownAttributeError
from pinesy.explanations.explain import only_output
from pinesy.explanations.sample import one_row
from pinesy.inverse.factor_graph import factor_graph
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value


def output_of(cascade: Cascade, output: str | Attribute | None) -> Attribute:
    """Return the attribute that is decided on: by default the only output of the cascade."""
    if output is None:
        return only_output(cascade, "say which by output=")
    found = cascade[output].output
    if isinstance(output, Attribute) and output != found:
        raise UnknownAttributeError(f"the rules conclude on {found!r}, not on {output!r}")
    return found


def is_coherent(rules: Cascade | RuleSet, output: str | Attribute | None = None) -> bool:
    """Tell whether the rules behind an output are known to be coherent for all inputs.

    Then for all normalised inputs some value of it has possibility 1. It holds if each rule set
    leaves some value at 1 for every choice of crisp inputs; False where one does not, or where
    there are too many cases to look at.

    Examples
    --------
    >>> from pinesy.problems import addition
    >>> is_coherent(addition(2), "y_1")
    True
    """
    cascade = as_cascade(rules)
    behind = cascade.needed([output_of(cascade, output).name])
    return factor_graph(cascade).coherent.issuperset(s.output.name for s in behind)


@dataclass(frozen=True, eq=False)
class Decision:
    """What is inferred of an output attribute for one sample.

    Attributes
    ----------
    cascade, output : where the decision is taken
    program : infers the output alone
    row : the columns of the program's inputs, side by side
    """

    cascade: Cascade
    output: Attribute
    program: Program
    row: FloatArray

    @classmethod
    def of(
        cls, rules: Cascade | RuleSet, evidence: Evidence, output: str | Attribute | None
    ) -> "Decision":
        """Check the form of the evidence of one sample; inference checks the degrees."""
        cascade = as_cascade(rules)
        attribute = output_of(cascade, output)
        program = cascade.compile([attribute])
        return cls(cascade, attribute, program, one_row(cascade, evidence, program.inputs))

    @property
    def inputs(self) -> tuple[Attribute, ...]:
        """The inputs that it depends on, in the order of their columns."""
        return self.program.inputs

    @cached_property
    def slices(self) -> dict[str, slice]:
        """The columns of each input."""
        return column_slices(self.inputs)

    @cached_property
    def result(self) -> Possibility:
        """The distribution that is inferred."""
        return self.program.infer(self.row)[self.output.name]

    @cached_property
    def winners(self) -> tuple[Hashable, ...]:
        """The values of the highest degree."""
        degrees = self.result.degrees
        places = np.flatnonzero(degrees == degrees.max())
        return tuple(self.output.domain[i] for i in places)

    def infer(self, rows: FloatArray) -> FloatArray:
        """Return the degrees of the output for other inputs: (n, columns) to (n, |D|)."""
        return self.program.run(rows)[self.program.code.columns[self.output.name]].T

    def distributions(self, row: FloatArray) -> dict[str, Possibility]:
        """Return the input distributions of a row of columns."""
        return {a.name: Possibility(a, row[self.slices[a.name]].copy()) for a in self.inputs}

    def loser(self, value: Any) -> int:
        """Return the place of a value that is not the only winner, or raise `DomainError`."""
        place = self.output.position(value)
        if self.winners == (value,):
            raise DomainError(
                f"{self.output.name} = {show_value(value)} wins already; ask of another value"
            )
        return place


def unique_winner(degrees: FloatArray, place: int) -> npt.NDArray[np.bool_]:
    """Tell for each row whether the value at `place` is above all others."""
    others = np.delete(degrees, place, axis=1).max(axis=1, initial=-1.0)
    return np.asarray(degrees[:, place] > others)
