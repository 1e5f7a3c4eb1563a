"""What learning by counts or by gradients gives: parameters that survive noise."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pinesy._common.console import data_frame, text_table
from pinesy._common.markup import first_lines, joined, tag
from pinesy._common.validation import FloatArray
from pinesy.learning.learning_result import LearnedCascade
from pinesy.learning.rule_counts import RuleCounts
from pinesy.rulebase.equations import interleave


@dataclass(frozen=True, eq=False, repr=False)
class SetEstimate:
    """The parameters of one rule set, and how often its rules hold.

    Attributes
    ----------
    name : the output attribute
    s, r : the parameters
    counts : the weights of samples with premise and conclusion, one of them, and neither
    fixed : the parameters ``s_1, r_1, s_2, ...`` that were fixed, NaN for the others, or None
    losses : for gradients, the log loss at the start and at the end; else empty
    """

    name: str
    s: FloatArray
    r: FloatArray
    counts: RuleCounts
    fixed: FloatArray | None = None
    losses: tuple[float, ...] = ()

    @property
    def parameters(self) -> FloatArray:
        """The parameters as a vector ``(s_1, r_1, s_2, ...)``."""
        return interleave(self.s, self.r)

    @property
    def support(self) -> FloatArray:
        """How many samples the premise of each rule holds for, by weight."""
        return np.asarray(self.counts.weights[:, :2].sum(axis=1))

    @property
    def held(self) -> FloatArray:
        """The share of these for which the conclusion holds too; NaN where there are none."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.counts.weights[:, 0] / self.support)

    def __repr__(self) -> str:
        return f"SetEstimate({self.name}: {len(self.s)} rules, {self.counts.samples} samples)"


@dataclass(frozen=True, eq=False, repr=False)
class ParameterEstimate(LearnedCascade[SetEstimate]):
    """The cascade with estimated parameters, and what is known of every rule.

    Attributes
    ----------
    cascade : with its parameters
    sets : for each set that was learned, by the name of its output, a `SetEstimate`
    samples : the number of samples
    timings : seconds by kind of work
    method : ``"counts"`` or ``"gradient"``
    smoothing : the weight `m` of the smoothing of counts
    """

    method: Literal["counts", "gradient"]
    smoothing: float

    def to_frame(self) -> Any:
        """Return the result as a pandas DataFrame, a row for each rule."""
        return data_frame([row for one in self.sets.values() for row in self._rows(one)])

    def _rows(self, one: SetEstimate) -> list[dict[str, Any]]:
        columns = zip(
            self.cascade[one.name].rules, one.s, one.r, one.support, one.held, strict=True
        )
        return [
            {
                "set": one.name,
                "rule": str(rule.premise),
                "s": float(s),
                "r": float(r),
                "support": float(support),
                "held": float(held),
            }
            for rule, s, r, support, held in columns
        ]

    def __repr__(self) -> str:
        return (
            f"ParameterEstimate({len(self.sets)} rule sets learned from {self.samples} samples, "
            f"method {self.method})"
        )

    def __str__(self) -> str:
        """Return a table, a line for each rule (the first ones, if they are very many)."""
        lines = self._lines()
        more = len(lines) - SHOWN
        rest = [f"... and {more} more rules"] if more > 0 else []
        return "\n".join([repr(self), text_table([HEAD, *lines[:SHOWN]]), *rest, *self._losses()])

    def _repr_html_(self) -> str:
        lines, losses = self._lines(), joined(tag("div", loss) for loss in self._losses())
        return tag("div", repr(self)) + first_lines(HEAD, lines, len(lines), "rules") + losses

    def _lines(self) -> list[tuple[str, ...]]:
        return [
            (
                str(row["set"]),
                f"{row['rule']:.60}",
                f"{row['support']:.6g}",
                "-" if np.isnan(row["held"]) else f"{row['held']:.1%}",
                f"{row['s']:.3f}",
                f"{row['r']:.3f}",
            )
            for one in self.sets.values()
            for row in self._rows(one)
        ]

    def _losses(self) -> list[str]:
        return [
            f"{one.name}: log loss {one.losses[0]:.4f} -> {one.losses[-1]:.4f}"
            for one in self.sets.values()
            if one.losses
        ]


#: The head of the printed table, and the rules that it shows.
HEAD = ("set", "if", "holds for", "then right", "s", "r")
SHOWN = 40
