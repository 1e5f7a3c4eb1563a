"""A compiled program as steps that emitters write in another language.

Every emitter (SQL, C, ONNX, the page) reads the same steps: values are numbered, each is computed
once, and a step names the values it combines. So an emitter only has to write a number, a minimum
and a maximum.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy.engine.circuit import MAX, MAXMIN, MIN, STORE
from pinesy.engine.code import Code
from pinesy.engine.derivatives import operand_values
from pinesy.engine.templates import Template

Indices = npt.NDArray[np.int64]
#: Writes the minimum or the maximum of some texts.
Combine = Callable[[Sequence[str]], str]


@dataclass(frozen=True, eq=False)
class ProgramSteps:
    """A program in static single assignment.

    Values have numbers: first the constants, then the input columns, then one a step.

    Attributes
    ----------
    constants : the numbers that steps use
    n_inputs : the number of input columns
    ops : of each step MAX, MIN, MAXMIN (a maximum of minima of pairs) or MINMAX
    starts, operands : the values that step `i` combines are ``operands[starts[i]:starts[i + 1]]``
    outputs : the value of each output column
    """

    constants: npt.NDArray[Any]
    n_inputs: int
    ops: Indices
    starts: Indices
    operands: Indices
    outputs: Indices

    @property
    def n_fixed(self) -> int:
        """The number of constants and input columns: the value of the first step."""
        return len(self.constants) + self.n_inputs

    @cached_property
    def operand_lists(self) -> list[list[int]]:
        """The values that each step combines."""
        bounds, operands = self.starts.tolist(), self.operands.tolist()
        return [operands[i:j] for i, j in pairwise(bounds)]

    @cached_property
    def levels(self) -> Indices:
        """The level of each value: 0 if fixed, else one more than its highest operand's."""
        levels = [0] * self.n_fixed
        for operands in self.operand_lists:
            levels.append(1 + max(levels[value] for value in operands))
        return np.array(levels, np.int64)

    @cached_property
    def uses(self) -> Indices:
        """How often each value is an operand or an output."""
        size = self.n_fixed + len(self.ops)
        counts: Indices = np.bincount(self.operands, minlength=size)
        return counts + np.bincount(self.outputs, minlength=size)


def program_steps(code: Code) -> ProgramSteps:
    """Return the steps of a program."""
    n_fixed = len(code.constants) + code.n_inputs
    instruction, values = operand_values(code)
    computes = code.ops < STORE
    numbers = np.concatenate([np.arange(n_fixed), n_fixed + np.cumsum(computes) - 1])
    stores = np.flatnonzero(~computes)
    outputs = np.zeros(code.n_outputs, np.int64)
    outputs[code.targets[stores]] = numbers[values[code.starts[stores]]]
    lengths = np.diff(code.starts.astype(np.int64))[computes]
    return ProgramSteps(
        code.constants,
        code.n_inputs,
        code.ops[computes].astype(np.int64),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        numbers[values[computes[instruction]]],
        outputs,
    )


def template_steps(template: Template) -> ProgramSteps:
    """Return the steps of one rule set structure; the input columns are the template's leaves."""
    return ProgramSteps(
        np.array([0.0, 1.0]),
        len(template.leaves),
        template.ops.astype(np.int64),
        template.starts.astype(np.int64),
        template.args.astype(np.int64),
        template.outputs.astype(np.int64),
    )


def write_step(op: int, operands: Sequence[str], maximum: Combine, minimum: Combine) -> str:
    """Return a step as text, given the texts of its operands.

    Examples
    --------
    >>> write_step(MAXMIN, ["a", "b", "c", "d"], " | ".join, "&".join)
    'a&b | c&d'
    """
    outer, inner = (maximum, minimum) if op in (MAX, MAXMIN) else (minimum, maximum)
    if op in (MAX, MIN):
        return outer(operands)
    return outer([inner(operands[k : k + 2]) for k in range(0, len(operands), 2)])
