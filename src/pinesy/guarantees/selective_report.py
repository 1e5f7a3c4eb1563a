"""The report of decisions on labelled samples: how many are made, and how many are wrong."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pinesy._common.reports import ReportTable, TableReport
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.calibration.calibrated_rules import true_indices
from pinesy.calibration.coverage_report import UNLIKELY, share_band
from pinesy.evidence.targets import named_targets
from pinesy.exceptions import DataError
from pinesy.guarantees.decisions import SelectiveDecisions, wrong_answers
from pinesy.guarantees.groups import Groups, Memberships

HEAD = ["samples", "decided", "wrong", "of these wrong", "95% band", "chance of so many"]


@dataclass(frozen=True)
class DecidedRow:
    """The decisions on all samples, or on those of a group.

    Attributes
    ----------
    group : its name; empty for all samples
    samples, decided, wrong : the number of samples, of decided ones, and of wrong ones of these
    low, high : the exact 95 % confidence interval of the share of decided ones that are wrong
    chance : the p-value of so many wrong ones if the promise is kept; None for a group, of which
        nothing is promised
    """

    group: str
    samples: int
    decided: int
    wrong: int
    low: float
    high: float
    chance: float | None

    @property
    def share(self) -> float:
        """The share of samples that are decided."""
        return self.decided / self.samples

    @property
    def error(self) -> float:
        """The share of decided samples that are wrong; NaN if none is decided."""
        return self.wrong / self.decided if self.decided else float("nan")


@dataclass(frozen=True, eq=False, repr=False)
class SelectiveReport(TableReport):
    """How many samples are decided, and how many of these wrongly, in all and by group.

    Attributes
    ----------
    rows : all samples, then the groups
    error, confidence : of the promise
    """

    SEPARATOR = "\n\n"

    rows: tuple[DecidedRow, ...]
    error: float
    confidence: float

    @property
    def is_broken(self) -> bool:
        """Whether more decisions are wrong than the promise and chance allow."""
        chance = self.rows[0].chance
        return chance is not None and chance < UNLIKELY

    @property
    def verdict(self) -> str:
        """The conclusion as a sentence."""
        if not self.is_broken:
            return "Not more decisions are wrong than the promise and chance allow."
        return (
            "More decisions are wrong than the promise allows: the samples are not like those that "
            "tested the threshold, or these were used in training."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, for JSON."""
        return {
            "error": self.error,
            "confidence": self.confidence,
            "verdict": self.verdict,
            "rows": self._records(),
        }

    def _heading(self) -> str:
        return f"Promised: at most {100 * self.error:g} % of the decided cases are wrong."

    def _tables(self) -> list[ReportTable]:
        everything, *groups = self.rows
        tables = [ReportTable(HEAD, [_cells(everything)], "SelectiveDecisions")]
        if groups:
            lines = [[row.group, *_cells(row)[:-1]] for row in groups]
            tables.append(ReportTable(["group", *HEAD[:-1]], lines, "SelectiveDecisions by group"))
        return tables

    def _notes(self) -> list[str]:
        return [self.verdict]

    def _records(self) -> list[dict[str, Any]]:
        return [{**asdict(row), "share": row.share} for row in self.rows]

    def html(self) -> str:
        """Return the report as a part of a page."""
        return self._repr_html_()

    def plot(self, axes: Any = None) -> Any:
        """Draw the decided share of each group, and the wrong ones; return the axes."""
        from pinesy.display.guarantee_plots import plot_decided_groups

        return plot_decided_groups(self, axes)

    def __repr__(self) -> str:
        row = self.rows[0]
        return f"SelectiveReport({row.samples} samples: {row.share:.1%} decided, {row.wrong} wrong)"


def _cells(row: DecidedRow) -> list[str]:
    error = "" if not row.decided else f"{row.error:.2%}"
    chance = "" if row.chance is None else f"{row.chance:.3g}"
    band = f"{row.low:.2%} to {row.high:.2%}"
    return [str(row.samples), f"{row.share:.1%}", str(row.wrong), error, band, chance]


def selective_report(
    decisions: SelectiveDecisions, targets: Any, groups: Groups | None = None
) -> SelectiveReport:
    """Compare decisions with true answers, in all and by group.

    Parameters
    ----------
    decisions : on samples that were used neither in training nor to choose the threshold
    targets : the true answers by output; of a single output they need no name
    groups : a column of names, or a dict of conditions; nothing is promised of a group

    Examples
    --------
    >>> from pinesy.guarantees import decide_classes
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([0.1, 0.1, 0.1], 6000)
    >>> truth = (p.cumsum(axis=1) < rng.random((6000, 1))).sum(axis=1)
    >>> selective = decide_classes(p[:3000], truth[:3000], error=0.05)
    >>> selective_report(selective.decisions(p[3000:]), truth[3000:])
    SelectiveReport(3000 samples: 78.8% decided, 105 wrong)
    """
    if decisions.threshold.max_cost is not None:
        raise DataError("the threshold bounds costs; a report counts errors")
    attributes = {a.name: a for a in decisions.answers.attributes}
    only = next(iter(attributes.values())) if len(attributes) == 1 else None
    truth = named_targets(targets, attributes, only)
    n = len(decisions.decided)
    if not n:
        raise DataError("there are no samples to report on")
    indices = true_indices([attributes[name] for name in truth], truth, n)
    wrong = wrong_answers(decisions.answers, indices)
    threshold = decisions.threshold
    rows = [
        _row(name, wrong[members], decisions.decided[members], None if name else threshold.error)
        for name, members in _scopes(groups, n)
    ]
    return SelectiveReport(tuple(rows), threshold.error, threshold.confidence)


def _scopes(groups: Groups | None, n: int) -> Iterator[tuple[str, BoolArray]]:
    """Yield the names of groups, and which samples are in them; first of all samples."""
    yield "", np.ones(n, dtype=np.bool_)
    if groups is not None:
        members = Memberships.of(groups, n)
        for name, is_member in zip(members.names, members.certain.T, strict=True):
            if is_member.any():
                yield name, is_member


def _row(name: str, wrong: FloatArray, decided: BoolArray, error: float | None) -> DecidedRow:
    n, n_wrong = int(decided.sum()), int(wrong[decided].sum())
    chance = None
    if error is not None:
        from scipy.stats import binom  # not at the top: most never need it

        chance = float(binom.sf(n_wrong - 1, n, error))
    low, high = share_band(n_wrong, n) if n else (0.0, 1.0)
    return DecidedRow(name, len(decided), n, n_wrong, low, high, chance)
