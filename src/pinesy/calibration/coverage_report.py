"""The report of observed coverage against nominal levels."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pinesy._common.reports import ReportTable, TableReport
from pinesy.rules.outcomes import OUTCOME_WORDS, OUTCOMES

#: Coverage is too low if its p-value against the guarantee is below this.
UNLIKELY = 0.01
HEAD = [
    "level", "observed", "95% band", "mean size", "median", "single", "of these right",
    *(OUTCOME_WORDS[code] for code in OUTCOMES[1:]), "chance of so few",
]  # fmt: skip


@dataclass(frozen=True)
class CoverageRow:
    """The coverage and the prediction sets of some samples at one level.

    Attributes
    ----------
    scope : ``"all"`` samples, with all outputs together; one ``"output"``; the samples of one true
        value of an output, a ``"class"``; a ``"group"`` of samples, all outputs together
    name : which output, class or group; empty for all
    level : the nominal coverage
    samples, covered : the number of samples, and of those whose true values are in their sets
    low, high : the exact 95 % confidence interval of the coverage (Clopper and Pearson)
    mean_size, median_size : of the sets; for several outputs, of their combinations
    single : the share of samples whose sets have one value (for every output)
    single_right : the share of these samples where it is the true value; NaN if there are none
    several, no_rule, novel, contradiction : the shares of samples with these outcomes (`Outcome`),
        which have no single answer
    chance : the p-value of so few covered samples if the guarantee holds, over random calibration
        samples (`chance_of_so_few`); None where nothing is guaranteed
    """

    scope: str
    name: str
    level: float
    samples: int
    covered: int
    low: float
    high: float
    mean_size: float
    median_size: float
    single: float
    single_right: float
    several: float
    no_rule: float
    novel: float
    contradiction: float
    chance: float | None

    @property
    def observed(self) -> float:
        """The observed coverage."""
        return self.covered / self.samples

    @property
    def is_low(self) -> bool:
        """Whether the guarantee is rejected; without one, whether the interval is too low."""
        return self.high < self.level if self.chance is None else self.chance < UNLIKELY

    @property
    def content(self) -> dict[str, Any]:
        """The row as a dict for JSON: NaN becomes None."""
        content = {**asdict(self), "observed": self.observed}
        return {key: None if value != value else value for key, value in content.items()}


@dataclass(frozen=True, eq=False, repr=False)
class CoverageReport(TableReport):
    """Nominal against observed coverage on samples that were not used for calibration.

    Attributes
    ----------
    outputs : the names of the attributes whose true values are known
    samples : the number of samples
    rows : a `CoverageRow` for each scope and level
    guarantee : the guarantee as a sentence; empty if nothing is guaranteed
    """

    SEPARATOR = "\n\n"

    outputs: tuple[str, ...]
    samples: int
    rows: tuple[CoverageRow, ...]
    guarantee: str = ""

    def of(self, scope: str) -> tuple[CoverageRow, ...]:
        """Return the rows of ``"all"``, ``"output"``, ``"class"`` or ``"group"``."""
        return tuple(row for row in self.rows if row.scope == scope)

    @property
    def too_low(self) -> tuple[CoverageRow, ...]:
        """The rows of scope ``"all"`` whose coverage is significantly too low."""
        return tuple(row for row in self.of("all") if row.is_low)

    @property
    def verdict(self) -> str:
        """The conclusion from the rows as a sentence."""
        if not self.too_low:
            return "No level covers fewer samples than chance allows."
        levels = ", ".join(f"{row.level:g}" for row in self.too_low)
        if not self.guarantee:
            return f"Too few are covered at {levels}: these degrees are no guaranteed levels."
        return (
            f"Too few are covered at {levels} to be chance: the samples are not exchangeable with "
            "those of calibration, or these were used in training, or the rules have exceptions."
        )

    # --- forms -----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, for JSON."""
        return {
            "outputs": list(self.outputs),
            "samples": self.samples,
            "guarantee": self.guarantee,
            "verdict": self.verdict,
            "rows": self._records(),
        }

    def _heading(self) -> str:
        return ""

    def _tables(self) -> list[ReportTable]:
        tables = [ReportTable(HEAD, [_cells(row) for row in self.of("all")], "Coverage")]
        return tables + [
            _scope_table(rows, scope)
            for scope in ("output", "class", "group")
            if (rows := self.of(scope))
        ]

    def _notes(self) -> list[str]:
        return [self.verdict]

    def _records(self) -> list[dict[str, Any]]:
        return [row.content for row in self.rows]

    def html(self) -> str:
        """Return the report as a part of a page: tables, and a plot if Matplotlib is there."""
        from pinesy.display.pages import coverage_html

        return coverage_html(self)

    def plot(self, axes: Any = None) -> Any:
        """Draw nominal and observed coverage and the share of single answers; return the axes.

        ``report.plot().figure.savefig("coverage.svg")`` writes it. It needs Matplotlib.
        """
        from pinesy.display.report_plots import plot_coverage

        return plot_coverage(self, axes)

    def __repr__(self) -> str:
        figures = ", ".join(f"{row.observed:.1%} at {row.level:g}" for row in self.of("all"))
        return f"CoverageReport({', '.join(self.outputs)}, {self.samples} samples: {figures})"


def _cells(row: CoverageRow) -> list[str]:
    shares = (row.single, row.single_right, *(getattr(row, code) for code in OUTCOMES[1:]))
    return [
        f"{row.level:g}",
        f"{row.observed:.2%}",
        f"{row.low:.2%} to {row.high:.2%}",
        f"{row.mean_size:.3g}",
        f"{row.median_size:g}",
        *("" if share != share else f"{share:.1%}" for share in shares),
        "" if row.chance is None else f"{row.chance:.3g}",
    ]


def _scope_table(rows: Sequence[CoverageRow], scope: str) -> ReportTable:
    """Return a table with a row for each name and a column for each level; ``*`` is too low."""
    levels = list(dict.fromkeys(row.level for row in rows))
    lines: dict[str, list[str]] = {}
    for row in rows:
        line = lines.setdefault(row.name, [row.name, str(row.samples)])
        line.append(f"{row.observed:.1%}{'*' * row.is_low}")
    head = [scope, "samples", *(f"{level:g}" for level in levels)]
    return ReportTable(head, list(lines.values()), f"Coverage by {scope}")


def share_band(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the ends of the Clopper-Pearson confidence interval of a binomial proportion.

    They are the lowest and the highest share for which at least so many, or at most so few,
    `successes` have probability ``(1 - confidence) / 2``: whatever the true share, the interval
    contains it with at least the confidence.

    Examples
    --------
    >>> [round(end, 4) for end in share_band(19, 20)]
    [0.7513, 0.9987]
    """
    from scipy.special import betaincinv  # not at the top: most never need it

    risk = (1.0 - confidence) / 2.0
    low = betaincinv(successes, trials - successes + 1, risk) if successes else 0.0
    high = betaincinv(successes + 1, trials - successes, 1.0 - risk) if successes < trials else 1.0
    return float(low), float(high)


def chance_of_so_few(covered: int, new: int, calibrated: int, alpha: float) -> float:
    """Return the p-value of at most `covered` covered samples among `new`, if the guarantee holds.

    If `calibrated` and new samples are exchangeable and no scores are equal, the share of new
    samples that a calibration covers is distributed as ``Beta(a, b)`` with ``a = n + 1 - b`` and
    ``b = floor((n + 1) alpha)``, so that their number is beta-binomial; equal scores, and rules
    that enlarge sets, only raise it. So this is a p-value against the guarantee, over random
    calibration samples and new samples.

    Examples
    --------
    >>> round(chance_of_so_few(850, 1000, 200, 0.1), 4)
    0.0234
    """
    b = int((calibrated + 1) * alpha + 1e-9)
    if covered == new or b == 0:  # 0: no value is ever excluded
        return float(covered == new)
    from scipy.stats import betabinom  # not at the top: most never need it

    return float(betabinom.cdf(covered, new, calibrated + 1 - b, b))
