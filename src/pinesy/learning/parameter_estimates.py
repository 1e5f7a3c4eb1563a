"""Parameters estimated from noisy data: counts of how often rules hold, and the estimates.

For a rule ``if p then q`` the exceptions to it and to its converse are estimated from weighted
counts of samples [docs/noisy-data.md]:

``r = min(1, 2 P(not q | p))`` and ``s = min(1, 2 P(q | not p))``,

the antipignistic transforms of two-valued distributions. A sample counts for `p` with weight
``1 - rho``, the necessity of the premise, and against it with weight ``1 - lambda``.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pinesy._common.reports import ReportTable, count_text
from pinesy._common.validation import FloatArray
from pinesy.evidence.targets import Target
from pinesy.learning.learning_result import LearnedCascade
from pinesy.rulebase.sample_equations import interleave
from pinesy.rules.partition import Partition

Counts = npt.NDArray[np.int64]
#: Weights are integer multiples of this unit, so that sums are exact in any order.
UNIT = 2.0**-20
#: Estimated parameters are rounded to this many decimals.
DECIMALS = 4
#: The head of the printed table, and the most rules that it shows.
HEAD = ("set", "if", "holds for", "then right", "s", "r")
SHOWN = 40


@dataclass(frozen=True, eq=False)
class RuleCounts:
    """How often the rules of a set hold.

    Attributes
    ----------
    samples : the number of samples
    units : int array (n_rules, 4)
        For each rule the weights of the samples with ``p, q``; ``p, not q``; ``not p, q`` and
        ``not p, not q``, in units of 2^-20.
    """

    samples: int
    units: Counts

    def merge(self, other: "RuleCounts") -> "RuleCounts":
        """Return the sum of the counts."""
        return RuleCounts(self.samples + other.samples, self.units + other.units)

    @property
    def weights(self) -> FloatArray:
        """The counts as sums of sample weights."""
        return np.asarray(self.units * UNIT, dtype=np.float64)

    def parameters(self, smoothing: float) -> FloatArray:
        """Return the estimates ``s_1, r_1, s_2, ...``, rounded to four decimals.

        Probabilities are smoothed: ``P(not q | p) = (#(p, not q) + m/2) / (#p + m)``. A rule whose
        premise never held gets ``r = 1``: it says nothing.
        """
        p_q, p_not_q, not_p_q, not_p_not_q = self.weights.T
        exceptions = np.stack([not_p_q, p_not_q], axis=1).ravel()
        regular = np.stack([not_p_not_q, p_q], axis=1).ravel()
        total = exceptions + regular + smoothing
        share = np.divide(
            exceptions + 0.5 * smoothing, total, out=np.full(len(total), 0.5), where=total > 0
        )
        return np.asarray(np.minimum(2.0 * share, 1.0).round(DECIMALS))


def rule_counts(
    degrees: FloatArray, partition: Partition, target: Target, weights: FloatArray | None
) -> RuleCounts:
    """Count how often the rules of a set hold in some samples.

    Parameters
    ----------
    degrees : array (2n, n_samples) of ``lambda_1, rho_1, lambda_2, ...``
    weights : sample weights, or None if each counts once
    """
    n = degrees.shape[1]
    unit_weights = np.full(n, 1.0 / UNIT) if weights is None else weights / UNIT
    holds = _units((1.0 - degrees[1::2]) * unit_weights)
    fails = _units((1.0 - degrees[0::2]) * unit_weights)
    if target.is_graded:
        return RuleCounts(n, _count_distributions(holds, fails, partition, target.degrees))
    return RuleCounts(n, _count_values(holds, fails, partition, partition.cell_of[target.labels]))


def _units(weights: FloatArray) -> Counts:
    return np.rint(weights).astype(np.int64)


def _count_values(
    holds: Counts, fails: Counts, partition: Partition, cells: npt.NDArray[np.intp]
) -> Counts:
    """Return the counts of rules for targets that are values, given the cell of each value."""
    order = np.argsort(cells, kind="stable")
    present, starts = np.unique(cells[order], return_index=True)
    inside = partition.signs[present].T
    columns = []
    for weights in (holds, fails):
        of_cells = np.add.reduceat(weights[:, order], starts, axis=1)
        columns += [(of_cells * inside).sum(axis=1), (of_cells * ~inside).sum(axis=1)]
    return np.stack(columns, axis=1)


def _count_distributions(
    holds: Counts, fails: Counts, partition: Partition, degrees: FloatArray
) -> Counts:
    """Return the counts of rules for targets that are distributions.

    The weight of a sample is split by the probability of the conclusion, which is the inverse
    antipignistic transform of ``(Pi(q), Pi(not q))``: where one of them is 1, the probability of
    the other is half its possibility.
    """
    cells = partition.possibilities(degrees)
    counts = np.empty((len(holds), 4), dtype=np.int64)
    for j, inside in enumerate(partition.signs.T):
        of_q = cells[:, inside].max(axis=1, initial=0.0)
        of_not_q = cells[:, ~inside].max(axis=1, initial=0.0)
        probability = 0.5 + 0.5 * (of_q - of_not_q) / np.maximum(of_q, of_not_q)
        for column, weights in ((0, holds[j]), (2, fails[j])):
            with_q = _units(weights * probability)
            counts[j, column : column + 2] = with_q.sum(), (weights - with_q).sum()
    return counts


@dataclass(frozen=True, eq=False, repr=False)
class SetEstimate:
    """The estimated parameters of one rule set, and the counts behind them.

    Attributes
    ----------
    name : the output attribute
    s, r : the parameters
    counts : the weights of the samples with premise and conclusion, one of them, or neither
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
        """The weight of the samples in which the premise of each rule holds."""
        return np.asarray(self.counts.weights[:, :2].sum(axis=1))

    @property
    def held(self) -> FloatArray:
        """The share of the `support` in which the conclusion holds too; NaN where it is 0."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.counts.weights[:, 0] / self.support)

    def __repr__(self) -> str:
        return f"SetEstimate({self.name}: {len(self.s)} rules, {self.counts.samples} samples)"


@dataclass(frozen=True, eq=False, repr=False)
class ParameterEstimate(LearnedCascade[SetEstimate]):
    """A cascade with estimated parameters, and the counts of every rule.

    Attributes
    ----------
    cascade : the rules with their estimated parameters
    sets : for each set that was learned, by the name of its output, a `SetEstimate`
    samples : the number of samples
    timings : the seconds of each step of the work
    method : ``"counts"`` or ``"gradient"``
    smoothing : the additive smoothing `m` of counts
    """

    method: Literal["counts", "gradient"]
    smoothing: float

    def _records(self) -> list[dict[str, Any]]:
        return [
            {**row, "support": float(support), "held": float(share)}
            for name, estimate in self.sets.items()
            for row, support, share in zip(
                self._rule_rows(name), estimate.support, estimate.held, strict=True
            )
        ]

    def __repr__(self) -> str:
        sets, samples = count_text(len(self.sets), "rule set"), count_text(self.samples, "sample")
        return f"ParameterEstimate({sets} learned from {samples}, method {self.method})"

    def _tables(self) -> list[ReportTable]:
        lines = [
            (
                str(row["set"]),
                f"{row['rule']:.60}",
                f"{row['support']:.6g}",
                "-" if np.isnan(row["held"]) else f"{row['held']:.1%}",
                f"{row['s']:.3f}",
                f"{row['r']:.3f}",
            )
            for row in self._records()
        ]
        return [ReportTable(HEAD, lines, noun="rules", max_lines=SHOWN)]

    def _notes(self) -> list[str]:
        return [
            f"{estimate.name}: log loss {estimate.losses[0]:.4f} -> {estimate.losses[-1]:.4f}"
            for estimate in self.sets.values()
            if estimate.losses
        ]
