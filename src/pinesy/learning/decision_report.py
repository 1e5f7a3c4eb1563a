"""How good rules are as a classifier: right and wrong, by certainty, by class and by rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from pinesy._common.console import text_table
from pinesy._common.markup import BLUE, ORANGE, escaped, tag
from pinesy._common.pages import axes_for, html_plots, html_tables, page, plot_text, short_tables
from pinesy._common.validation import BoolArray, FloatArray, is_word, suggestion
from pinesy.engine.program import Trace
from pinesy.evidence.evidence_form import Evidence
from pinesy.exceptions import DataError
from pinesy.learning.comparison import Decisions, DecisionScores
from pinesy.learning.learning_arguments import Rules, TrainingBatch, batch_of
from pinesy.learning.set_audits import rule_terms
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value

#: Rules that the printed table shows.
SHOWN = 20
Counts = npt.NDArray[np.int64]
PlotKind = Literal["confusion", "coverage"]
#: What a report takes from a batch: what became of its samples, and the counts of the report,
#: `confusion`, `decides` and `decides_right`.
DecisionPart = tuple[Decisions, Counts, Counts, Counts]
#: Shares of the samples, the surest ones, for which the accuracy is reported.
COVERAGES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.3, 0.1)


@dataclass(frozen=True, eq=False, repr=False)
class DecisionReport:
    """The predictions of one attribute, compared with its true values.

    Attributes
    ----------
    attribute : the name of the attribute
    values : its values, as text
    samples : the number of samples
    scores : accuracy, contradictions, coverage at some certainties, log loss
    confusion : int array (|D_b|, |D_b| + 1), true values by predicted ones; the last column counts
        the samples without a single most possible value
    ranking : for each sample, from the surest to the least sure, whether it is right
    rules : the rules as text, and how often each decides: by keeping down the strongest rival of
        the most possible value
    decides, decides_right : these counts, and those of them where the prediction is right
    """

    attribute: str
    values: tuple[str, ...]
    samples: int
    scores: DecisionScores
    confusion: Counts
    ranking: BoolArray
    rules: tuple[str, ...]
    decides: Counts
    decides_right: Counts

    @property
    def selective_accuracy(self) -> FloatArray:
        """The accuracy on the surest 1, 2, 3, ... samples."""
        return np.asarray(np.cumsum(self.ranking) / np.arange(1, len(self.ranking) + 1))

    def accuracy_at(self, coverage: float) -> float:
        """Return the accuracy on a share of the samples, the surest ones."""
        return float(self.selective_accuracy[max(0, round(coverage * self.samples) - 1)])

    @property
    def risk(self) -> float:
        """The area under the risk-coverage curve: the mean error over all coverages."""
        return float(1.0 - self.selective_accuracy.mean())

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, for JSON."""
        curve = {f"{share:g}": self.accuracy_at(share) for share in COVERAGES}
        return {
            "attribute": self.attribute,
            "samples": self.samples,
            **{k: _plain(v) for k, v in vars(self.scores).items()},
            "accuracy_at_coverage": curve,
            "area_under_risk_coverage": self.risk,
            "values": list(self.values),
            "confusion": self.confusion.tolist(),
            "rules": [
                {"rule": rule, "decides": int(n), "right": int(right)}
                for rule, n, right in zip(self.rules, self.decides, self.decides_right, strict=True)
            ],
        }

    def tables(self) -> dict[str, list[list[str]]]:
        """Return the tables of the report by their titles, each with its head."""
        return {
            "Predictions": self._summary(),
            "Accuracy on the surest": [
                ["share of the samples", *(f"{share:.0%}" for share in COVERAGES)],
                ["right", *(f"{self.accuracy_at(share):.1%}" for share in COVERAGES)],
            ],
            "True values by predicted ones": self._confusion(),
            "Rules that decide": self._rules(),
        }

    def _summary(self) -> list[list[str]]:
        *shares, _, _, _, loss = self.scores.cells
        return [
            ["samples", "right", "undecided", "contradictory", "log loss", "mean risk"],
            [str(self.samples), *shares, loss, f"{self.risk:.4f}"],
        ]

    def _confusion(self) -> list[list[str]]:
        head = ["", *self.values, "undecided"]
        rows = zip(self.values, self.confusion.tolist(), strict=True)
        return [head, *([value, *map(str, row)] for value, row in rows)]

    def _rules(self) -> list[list[str]]:
        order = np.argsort(-self.decides, kind="stable")[:SHOWN].tolist()
        lines = [
            [
                f"{self.decides[j] / self.samples:.1%}",
                f"{self.decides_right[j] / self.decides[j]:.1%}",
                self.rules[j],
            ]
            for j in order
            if self.decides[j]
        ]
        return [["decides", "right", "rule"], *lines]

    def __repr__(self) -> str:
        return (
            f"DecisionReport({self.attribute}: {self.scores.accuracy:.1%} of {self.samples} samples"
            " right)"
        )

    def __str__(self) -> str:
        """Return the tables as text."""
        parts = [f"{title}\n{text_table(table)}" for title, table in self.tables().items()]
        return "\n\n".join([repr(self), *parts])

    def _repr_html_(self) -> str:
        return tag("div", repr(self)) + short_tables(self.tables())

    def plot(self, axes: Any = None, *, kind: PlotKind = "confusion") -> Any:
        """Draw the confusion, or the accuracy on the surest samples; return the axes."""
        drawings = {"confusion": self._draw_confusion, "coverage": self._draw_coverage}
        if not is_word(kind, drawings):
            raise DataError(f"kind is {kind!r:.60}; it must be one of {', '.join(drawings)}")
        axes = axes_for(axes)
        drawings[kind](axes)
        return axes

    def _draw_coverage(self, axes: Any) -> None:
        """Draw the accuracy on the surest samples."""
        share = np.arange(1, self.samples + 1) / self.samples
        axes.plot(share, self.selective_accuracy, color=BLUE)
        axes.axhline(self.scores.accuracy, color=ORANGE, linewidth=1, linestyle="--")
        axes.set(
            xlabel="share of the samples, the surest first",
            ylabel="right",
            title="Accuracy on the surest samples",
            xlim=(0, 1),
        )

    def _draw_confusion(self, axes: Any) -> None:
        """Draw true values by predicted ones, as shares of each true value."""
        from matplotlib.colors import LinearSegmentedColormap, to_rgba

        counts = self.confusion
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        # Clear to nearly opaque: text of any page, black or white, has a contrast of 5 on each.
        shades = LinearSegmentedColormap.from_list(
            "shares", [to_rgba(BLUE, 0.0), to_rgba(BLUE, 0.85)]
        )
        axes.imshow(shares, cmap=shades, vmin=0, vmax=1)
        names = [*map(plot_text, self.values), "undecided"]
        axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
        axes.set_yticks(range(len(self.values)), names[:-1])
        axes.set(xlabel="predicted", ylabel="true", title="Confusion")
        if counts.size <= 200:
            for place, count in np.ndenumerate(counts):
                axes.text(place[1], place[0], str(count), ha="center", va="center", fontsize=8)


def _plain(value: Any) -> Any:
    """Return a score as JSON can hold it: NaN is null."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return None if np.isnan(value) else value


def evaluate(
    rules: Rules, evidence: Evidence, targets: Any, *, output: str | None = None
) -> DecisionReport:
    """Compare what rules predict with the true values.

    The prediction is the most possible value; samples are ranked by how far it is ahead of the
    second (the certainty, less the contradiction).

    Parameters
    ----------
    rules, evidence, targets : as for `learn`; the targets are values
    output : the attribute to report on, where several have targets; by default the last one in the
        order of inference

    Examples
    --------
    >>> from pinesy import Attribute, If, RuleSet
    >>> sky, rain = Attribute("sky", ["dark", "clear"]), Attribute("rain", ["yes", "no"])
    >>> rules = RuleSet([If(sky.isin({"dark"})).then(rain.isin({"yes"}))])
    >>> evaluate(rules, {"sky": ["dark", "dark", "clear"]}, ["yes", "no", "no"])
    DecisionReport(rain: 33.3% of 3 samples right)
    """
    cascade = as_cascade(rules)
    batch = batch_of(cascade, evidence, targets)
    name = judged_output(cascade, list(batch.targets), output)
    return report_on(cascade[name], [decide(batch, cascade, name)])


def judged_output(cascade: Cascade, names: list[str], output: str | None) -> str:
    """Return the attribute with targets to report on."""
    if output is None:
        return [name for name in cascade.sets if name in names][-1]
    if not is_word(output, names):
        raise DataError(f"{output!r:.60} has no targets{suggestion(output, names)}")
    return output


def decide(batch: TrainingBatch, cascade: Cascade, name: str) -> DecisionPart:
    """Infer an attribute for a batch, and compare it with its targets."""
    rule_set, target = cascade[name], batch.targets[name]
    if target.is_graded:
        raise DataError(f"the targets of {name!r} are distributions; give values to compare with")
    program = cascade.compile([rule_set.output], trace=True)
    trace = cast(Trace, program.infer(batch.known))
    pi = trace[name]
    made = Decisions.of(pi, target)
    size = len(rule_set.output.domain)
    predicted = np.where(made.decided, pi.degrees.argmax(axis=1), size)
    confusion = np.zeros((size, size + 1), dtype=np.int64)
    np.add.at(confusion, (target.labels, predicted), 1)
    deciding = deciding_rules(rule_set, trace, pi)
    decides, right = (
        np.bincount(deciding[which], minlength=len(rule_set))
        for which in (made.decided, made.right)
    )
    return made, confusion, decides, right


def report_on(rule_set: RuleSet, parts: Sequence[DecisionPart]) -> DecisionReport:
    """Return the report on the samples of some batches, one after the other."""
    decisions, *counts = zip(*parts, strict=True)
    made = Decisions.join(decisions)
    confusion, decides, right = (np.sum(part, axis=0) for part in counts)
    return DecisionReport(
        rule_set.output.name,
        tuple(show_value(value) for value in rule_set.output.domain),
        len(made.right),
        DecisionScores.of_decisions(made),
        confusion,
        made.right[np.argsort(-made.ahead, kind="stable")],
        tuple(map(str, rule_set.rules)),
        decides,
        right,
    )


def deciding_rules(rule_set: RuleSet, trace: Trace, pi: Possibility) -> npt.NDArray[np.intp]:
    """Return for each sample the first rule that keeps down the strongest rival of the best value.

    That is the rule whose ``alpha`` or ``beta`` is the possibility of the second most possible
    value, by the side on which it lies [eq:redFP].
    """
    rivals = pi.degrees.copy()
    rivals[np.arange(len(pi)), pi.degrees.argmax(axis=1)] = -1.0
    premises = trace.premises[rule_set.output.name]
    return np.asarray(rule_terms(rule_set, premises, rivals.argmax(axis=1)).argmin(axis=1))


def report_page(report: DecisionReport, title: str, more: str = "") -> str:
    """Return a page that stands alone; `more` is HTML to put at its end."""
    said = f"{report.scores.accuracy:.1%} of {report.samples} samples right."
    plots = html_plots([partial(report.plot, kind="coverage"), report.plot])
    tables = html_tables(report.tables())
    return page(title, f"<p>{escaped(report.attribute)}: {said}</p>{plots}{tables}{more}")
