"""Rule sets as the engine takes them, and programs as the kernels run them."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.engine.kinds import Kind
from pinesy.rules.attributes import Attribute
from pinesy.rules.rule import Rule


@dataclass(frozen=True)
class RuleUnit:
    """The rules that conclude on one attribute, as the engine sees them."""

    output: Attribute
    inputs: tuple[Attribute, ...]
    rules: tuple[Rule, ...]

    def kind(self, normalised: set[str]) -> Kind:
        """Return the structure of this rule set; `normalised` names the attributes known to be."""
        sizes, *rest = self._structure
        return Kind(sizes, tuple(a.name in normalised for a in self.inputs), *rest)

    @cached_property
    def _structure(self) -> tuple[Any, ...]:
        """All of the kind but which inputs are normalised."""
        place = {a.name: i for i, a in enumerate(self.inputs)}
        return (
            tuple(len(a.domain) for a in self.inputs),
            tuple(
                tuple((place[p.attribute.name], p.mask) for p in rule.premise.propositions)
                for rule in self.rules
            ),
            len(self.output.domain),
            tuple(rule.conclusion.mask for rule in self.rules),
            tuple(
                int(z) if z in (0.0, 1.0) else None for rule in self.rules for z in (rule.s, rule.r)
            ),
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
    measures : the output columns of the propositions whose possibilities were asked for
    bounds : the first column of each input attribute, and the number of columns
    least : the least height that each input must have: 1 for evidence, 0 for what was inferred
    n_inputs, n_outputs : the numbers of input and output columns
    ops, targets, starts, args : the instructions, in numbers of scratch rows: first those of the
        `constants`, then one for each input column, `n_slots` in all
    n_kernels : how many different templates it is made of
    """

    inputs: tuple[Attribute, ...]
    bounds: npt.NDArray[np.uint32]  # unsigned, so that kernels need not look for negative indices
    least: FloatArray
    ops: npt.NDArray[np.uint32]
    targets: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.uint32]
    args: npt.NDArray[np.uint32]
    constants: FloatArray
    n_inputs: int
    n_outputs: int
    n_slots: int
    n_kernels: int = 1
    columns: dict[str, slice] = field(default_factory=dict)
    degrees: dict[str, slice] = field(default_factory=dict)
    coherence: dict[str, int] = field(default_factory=dict)
    measures: slice = field(default_factory=lambda: slice(0, 0))

    @property
    def program(self) -> tuple[npt.NDArray[Any], ...]:
        """What the kernels take of it."""
        return (
            self.bounds,
            self.least,
            self.ops,
            self.targets,
            self.starts,
            self.args,
            self.constants,
        )
