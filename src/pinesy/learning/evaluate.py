"""`evaluate` and `accuracy`: how good rules are as a classifier.

`evaluate` infers an attribute, compares it with the true values (`Decisions`), and reports right
and wrong predictions by certainty (`DecisionScores`), by class and by rule (`DecisionReport`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from pinesy._common.reports import ReportTable, TableReport
from pinesy._common.validation import BoolArray, FloatArray, is_word, suggestion
from pinesy.engine.program import Trace
from pinesy.evidence.evidence_form import Evidence
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError
from pinesy.induction.points_cascade import CardCascade
from pinesy.learning.audit import induced_output, plain_table
from pinesy.learning.class_scores import ClassScores, class_scores
from pinesy.learning.learning_arguments import Rules, TrainingBatch, batch_of
from pinesy.learning.refinement import log_loss
from pinesy.learning.set_audits import rule_terms
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.point_sums import point_sums, points_of
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value
from pinesy.transforms import probabilities

#: The most rules that the printed table shows.
SHOWN = 20
#: Margins for which a score reports the share of samples above them, and their accuracy.
LEVELS = (0.5, 0.8, 0.95)
#: Shares of the samples, by decreasing certainty, for which the accuracy is reported.
COVERAGES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.3, 0.1)
Counts = npt.NDArray[np.int64]
Indices = npt.NDArray[np.intp]
PlotKind = Literal["confusion", "coverage", "calibration"]
#: The report on a batch: the decisions on its samples, and `confusion`, `decides` and
#: `decides_right` as `DecisionReport` counts them.
BatchComparison = tuple["Decisions", Counts, Counts, Counts]


def evaluate(
    rules: Rules, evidence: Evidence, targets: Any, *, output: str | None = None
) -> "DecisionReport":
    """Compare what rules predict with the true values.

    The prediction is the value that alone is fully possible; where there are several, or rules
    contradict each other, there is none: the sample is undecided, as for `accuracy` and
    `Possibility.decided`. Samples are ranked by how far the prediction is ahead of the second.

    On induced rules the report has, too, what people ask of classifiers: precision, recall, F1,
    AUC, Brier score, calibration, by class, beside the most frequent class and (for evidence that
    is a table of plain values) a logistic regression on the same samples. These need scikit-learn.

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
    name = evaluated_output(cascade, list(batch.targets), output)
    report = report_with_card(cascade, batch, name)
    if report.card is None or find_spec("sklearn") is None:
        return report
    if isinstance(cascade, CardCascade):
        card_scores = cascade.score(batch.known)
        predicted, p = card_scores.best, card_scores.probability
    else:
        pi = cascade.infer(batch.known, [name])[name].degrees
        predicted, p = pi.argmax(axis=1), probabilities(pi)
    labels = batch.targets[name].labels.astype(np.intp)
    columns = plain_table(cascade, evidence, batch.n)
    scores = class_scores(report.values, labels, predicted, p, columns)
    return replace(report, classes=scores)


def report_with_card(cascade: Cascade, batch: TrainingBatch, name: str) -> "DecisionReport":
    """Return the report on a batch, with the score card of induced rules, without class scores."""
    report = decision_report(cascade[name], [compare_batch(batch, cascade, name)])
    if induced_output(cascade) != name:
        return report
    labels = batch.targets[name].labels.astype(np.intp)
    return replace(report, card=card_table(cascade, name, batch.known, labels))


def card_table(
    cascade: Cascade, name: str, evidence: Mapping[str, Any], labels: Indices
) -> ReportTable:
    """Return the score card of induced rules: how often each line holds, and is right there."""
    output = cascade[name].output
    sums = point_sums(cascade, output)
    giving = [rule_set.output for total in sums for rule_set in total.gives]
    inferred = cascade.infer(evidence, giving)
    lines = [
        ["at the start", show_value(total.value), f"+{total.start}", "", ""]
        for total in sums
        if total.start
    ]
    for total in sums:
        is_class = labels == output.position(total.value)
        for rule_set in sorted(total.gives, key=points_of, reverse=True):
            holds = np.asarray(inferred[rule_set.output.name].degrees)[:, 0] == 0.0
            right = f"{is_class[holds].mean():.1%}" if holds.any() else "-"
            premise, points = str(rule_set.rules[0].premise), f"+{points_of(rule_set)}"
            lines.append([premise, show_value(total.value), points, f"{holds.mean():.1%}", right])
    return ReportTable(["if", "then for", "points", "holds", "right"], lines, "Score card")


def evaluated_output(cascade: Cascade, names: list[str], output: str | None) -> str:
    """Return the name of the attribute to report on; by default the last one with targets."""
    if output is None:
        return [name for name in cascade.sets if name in names][-1]
    if not is_word(output, names):
        raise DataError(f"{output!r:.60} has no targets{suggestion(output, names)}")
    return output


def compare_batch(batch: TrainingBatch, cascade: Cascade, name: str) -> BatchComparison:
    """Infer an attribute for a batch, and compare it with its targets."""
    rule_set, target = cascade[name], batch.targets[name]
    if target.is_graded:
        raise DataError(f"the targets of {name!r} are distributions; give values to compare with")
    program = cascade.compile([rule_set.output], trace=True)
    trace = cast(Trace, program.infer(batch.known))
    pi = trace[name]
    decisions = Decisions.of(pi, target)
    size = len(rule_set.output.domain)
    predicted = np.where(decisions.decided, pi.degrees.argmax(axis=1), size)
    confusion = np.zeros((size, size + 1), dtype=np.int64)
    np.add.at(confusion, (target.labels, predicted), 1)
    # The rule that decides limits the second most possible value: the possibility of that value is
    # the alpha or beta of the rule, by the side on which the value lies [eq:redFP].
    rivals = pi.degrees.copy()
    rivals[np.arange(len(pi)), pi.degrees.argmax(axis=1)] = -1.0
    deciding = rule_terms(rule_set, trace.premises[name], rivals.argmax(axis=1)).argmin(axis=1)
    decides, right = (
        np.bincount(deciding[mask], minlength=len(rule_set))
        for mask in (decisions.decided, decisions.right)
    )
    return decisions, confusion, decides, right


def decision_report(rule_set: RuleSet, parts: Sequence[BatchComparison]) -> "DecisionReport":
    """Return the report on all samples of some batches."""
    batches, *counts = zip(*parts, strict=True)
    decisions = Decisions.concatenate(batches)
    confusion, decides, right = (np.sum(part, axis=0) for part in counts)
    return DecisionReport(
        rule_set.output.name,
        tuple(show_value(value) for value in rule_set.output.domain),
        len(decisions.right),
        DecisionScores.of_decisions(decisions),
        confusion,
        decisions.right[np.argsort(-decisions.ahead, kind="stable")],
        tuple(map(str, rule_set.rules)),
        decides,
        right,
    )


def accuracy(rules: Rules, evidence: Evidence, targets: Any) -> float:
    """Return the fraction of samples whose final outputs are all predicted correctly.

    A prediction is right if the target is the only most possible value. A result that is not
    decided (`Possibility.outcome`) counts as an error, a contradiction too, even if it has a single
    most possible value. The final outputs are those of `Cascade.outputs` that have targets; if
    none has, all attributes with targets.

    Parameters
    ----------
    rules : a cascade or a rule set
    evidence, targets : as `learn` takes them; targets that are distributions stand for their most
        possible value, and must have only one

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> rains = {"rain": [[1.0, 0.0], [0.2, 1.0], [1.0, 1.0]]}  # nobody knows in the third sample
    >>> accuracy(rules, rains, ["wet", "wet", "wet"]) * 3
    1.0
    """
    cascade = as_cascade(rules)
    batch = batch_of(cascade, evidence, targets)
    true_values = final_values(cascade, batch.targets)
    inferred = cascade.infer(batch.known, list(true_values))
    right = np.ones(batch.n, dtype=np.bool_)
    for name, indices in true_values.items():
        right &= (inferred[name].degrees.argmax(axis=1) == indices) & inferred[name].decided
    return float(right.mean())


def final_values(cascade: Cascade, targets: Mapping[str, Target]) -> dict[str, Indices]:
    """Return the indices of the true values of each final output; see `accuracy`."""
    final = [a.name for a in cascade.outputs if a.name in targets]
    true_values = {}
    for name in final or targets:
        target = targets[name]
        if not target.is_graded:
            true_values[name] = target.labels.astype(np.intp)
            continue
        ties = (target.degrees == 1.0).sum(axis=1) > 1
        if ties.any():
            raise DataError(
                f"the target of {name!r}, row {int(np.argmax(ties))}, has several most possible "
                "values, so that no prediction is the correct one; give values as targets, or a "
                "metric of your own"
            )
        true_values[name] = np.asarray(target.degrees.argmax(axis=1))
    return true_values


@dataclass(frozen=True, eq=False)
class Decisions:
    """The predictions for samples, compared with their true values; an entry for each sample.

    Attributes
    ----------
    ahead : how far the largest degree is ahead of the second: the certainty; 0 if undecided
    decided : whether one value alone is fully possible
    right : whether that is the true one
    most_possible : whether the true value is the most possible, alone, in a contradiction too
    contradictory : whether no value is fully possible
    losses : ``-log q(value)``
    """

    ahead: FloatArray
    decided: BoolArray
    right: BoolArray
    most_possible: BoolArray
    contradictory: BoolArray
    losses: FloatArray

    @classmethod
    def of(cls, pi: Possibility, target: Target) -> "Decisions":
        """Compare a batch of distributions with targets that are values."""
        certainty = np.where(pi.decided, pi.certainty, 0.0)
        is_first = pi.degrees.argmax(axis=1) == target.labels
        is_alone = (pi.degrees == pi.degrees.max(axis=1, keepdims=True)).sum(axis=1) == 1
        right = pi.decided & is_first
        losses = log_loss(pi.degrees, target.distributions)[0]
        return cls(certainty, pi.decided, right, is_first & is_alone, ~pi.normalised, losses)

    @classmethod
    def concatenate(cls, parts: "Sequence[Decisions]") -> "Decisions":
        """Return the decisions on the samples of several batches."""
        columns = zip(*(vars(part).values() for part in parts), strict=True)
        return cls(*map(np.concatenate, columns))


@dataclass(frozen=True)
class DecisionScores:
    """How good inferred distributions are as predictions of values.

    Attributes
    ----------
    accuracy : the share of samples whose value alone is fully possible
    most_possible : the share whose value is the most possible, alone, also where rules contradict
        each other: estimated parameters do a little wherever rules disagree
    undecided : the share where no value alone is: several are, or rules contradict each other
    contradictory : the share where no value is fully possible, which is a part of `undecided`
    coverage : for each level in `LEVELS`, the share of samples that are decided with at least that
        certainty
    selective : the share of these that is right; NaN if there are none
    log_loss : the mean of ``-log q(value)``, with the probabilities `q` that the distributions
        stand for (mixed with a thousandth of the uniform distribution)
    """

    accuracy: float
    most_possible: float
    undecided: float
    contradictory: float
    coverage: tuple[float, ...]
    selective: tuple[float, ...]
    log_loss: float

    @classmethod
    def of(cls, pi: Possibility, target: Target) -> "DecisionScores":
        """Return the scores of a batch of distributions, for targets that are values."""
        return cls.of_decisions(Decisions.of(pi, target))

    @classmethod
    def of_decisions(cls, decisions: Decisions) -> "DecisionScores":
        """Return the scores of compared predictions."""
        right, masks = decisions.right, [decisions.ahead >= level for level in LEVELS]
        return cls(
            float(right.mean()),
            float(decisions.most_possible.mean()),
            float((~decisions.decided).mean()),
            float(decisions.contradictory.mean()),
            tuple(float(mask.mean()) for mask in masks),
            tuple(float(right[mask].mean()) if mask.any() else float("nan") for mask in masks),
            float(decisions.losses.mean()),
        )

    @property
    def cells(self) -> list[str]:
        """The scores as the cells of a table row."""
        pairs = zip(self.coverage, self.selective, strict=True)
        sure = [f"{right:.1%} of {share:.0%}" if share else "-" for share, right in pairs]
        return [
            f"{self.accuracy:.1%}",
            f"{self.most_possible:.1%}",
            f"{self.undecided:.1%}",
            f"{self.contradictory:.1%}",
            *sure,
            f"{self.log_loss:.4f}",
        ]


@dataclass(frozen=True, eq=False, repr=False)
class DecisionReport(TableReport):
    """The predictions of one attribute, compared with its true values.

    Attributes
    ----------
    attribute : the name of the attribute
    values : its values, as text
    samples : the number of samples
    scores : accuracy, contradictions, coverage at some certainties, log loss
    confusion : int array (|D_b|, |D_b| + 1), true values by predicted ones; the last column counts
        the samples that are undecided
    ranking : for each sample, from the surest to the least sure, whether it is right
    rules : the rules as text, and how often each decides: by keeping down the strongest rival of
        the most possible value
    decides, decides_right : these counts, and those of them where the prediction is right
    card : of induced rules, the score card, which is shown in place of the rules
    classes : of induced rules, the scores by class and beside baselines, of predictions that take
        the first of several most possible values
    """

    SEPARATOR = "\n\n"

    attribute: str
    values: tuple[str, ...]
    samples: int
    scores: DecisionScores
    confusion: Counts
    ranking: BoolArray
    rules: tuple[str, ...]
    decides: Counts
    decides_right: Counts
    card: ReportTable | None = None
    classes: ClassScores | None = None

    @property
    def verdict(self) -> str:
        """The report in one sentence."""
        if self.classes is not None:
            return f"{self.attribute}: {self.classes.verdict}"
        undecided = f", {self.scores.undecided:.1%} undecided" if self.scores.undecided else ""
        right = f"{self.scores.accuracy:.1%} of {self.samples:,} samples are right"
        return f"{self.attribute}: {right}{undecided}."

    def _heading(self) -> str:
        return self.verdict

    def _notes(self) -> list[str]:
        return [] if self.classes is None else [self.classes.note]

    @property
    def selective_accuracy(self) -> FloatArray:
        """The accuracy on the 1, 2, 3, ... most certain samples."""
        return np.asarray(np.cumsum(self.ranking) / np.arange(1, len(self.ranking) + 1))

    def accuracy_at(self, coverage: float) -> float:
        """Return the accuracy on the most certain share of the samples."""
        return float(self.selective_accuracy[max(0, round(coverage * self.samples) - 1)])

    @property
    def risk(self) -> float:
        """The area under the risk-coverage curve: the mean error over all coverages."""
        return float(1.0 - self.selective_accuracy.mean())

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, for JSON."""
        curve = {f"{share:g}": self.accuracy_at(share) for share in COVERAGES}
        return {
            "verdict": self.verdict,
            "attribute": self.attribute,
            "samples": self.samples,
            **{k: _plain(v) for k, v in vars(self.scores).items()},
            "accuracy_at_coverage": curve,
            "area_under_risk_coverage": self.risk,
            "values": list(self.values),
            "confusion": self.confusion.tolist(),
            "rules": self._records(),
            **({} if self.card is None else {"card": [*map(list, self.card.lines)]}),
            **({} if self.classes is None else self.classes.to_dict()),
        }

    def _records(self) -> list[dict[str, Any]]:
        return [
            {"rule": rule, "decides": int(n), "right": int(right)}
            for rule, n, right in zip(self.rules, self.decides, self.decides_right, strict=True)
        ]

    def _tables(self) -> list[ReportTable]:
        *shares, _, _, _, loss = self.scores.cells
        heads = ["samples", "right", "most possible", "undecided", "contradictory"]
        summary = [*heads, "log loss", "mean risk"]
        counts = zip(self.values, self.confusion.tolist(), strict=True)
        deciding = np.argsort(-self.decides, kind="stable")[:SHOWN].tolist()
        rules = [
            [
                f"{self.decides[j] / self.samples:.1%}",
                f"{self.decides_right[j] / self.decides[j]:.1%}",
                self.rules[j],
            ]
            for j in deciding
            if self.decides[j]
        ]
        by_rule = ReportTable(["decides", "right", "rule"], rules, "Rules that decide")
        return [
            *([] if self.classes is None else self.classes.tables()),
            ReportTable(
                summary,
                [[str(self.samples), *shares, loss, f"{self.risk:.4f}"]],
                "Predictions",
            ),
            ReportTable(
                ["share of the samples", *(f"{share:.0%}" for share in COVERAGES)],
                [["right", *(f"{self.accuracy_at(share):.1%}" for share in COVERAGES)]],
                "Accuracy on the surest",
            ),
            ReportTable(
                ["", *self.values, "undecided"],
                [[value, *map(str, row)] for value, row in counts],
                "True values by predicted ones",
            ),
            by_rule if self.card is None else self.card,
        ]

    def __repr__(self) -> str:
        return (
            f"DecisionReport({self.attribute}: {self.scores.accuracy:.1%} of {self.samples} samples"
            " right)"
        )

    def plot(self, axes: Any = None, *, kind: PlotKind = "confusion") -> Any:
        """Draw the confusion, the accuracy on the surest samples, or the calibration curve.

        Returns the axes.
        """
        from pinesy.display import report_plots

        plots: dict[str, Any] = {
            "confusion": report_plots.plot_confusion,
            "coverage": report_plots.plot_selective_accuracy,
        }
        if self.classes is not None:
            plots["calibration"] = report_plots.plot_calibration
        if not is_word(kind, plots):
            raise DataError(f"kind is {kind!r:.60}; it must be one of {', '.join(plots)}")
        return plots[kind](self, axes)


def _plain(value: Any) -> Any:
    """Return a score, or a list of scores, for JSON: NaN becomes None."""
    if isinstance(value, tuple):
        return [_plain(score) for score in value]
    return None if np.isnan(value) else value
