"""Several semantics of the same rules, on the same data, in one table."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinesy._common.reports import ReportTable, TableReport, printed_html
from pinesy._common.validation import as_list
from pinesy.evidence.evidence_form import Evidence
from pinesy.evidence.targets import Target, named_targets
from pinesy.exceptions import PinesyError, placed
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.semantics.elimination import LARGEST
from pinesy.semantics.semantics import SEMANTICS, Semantics, as_semantics

#: So that the logarithm of a probability of 0 is finite.
LEAST_PROBABILITY = 1e-12


@dataclass(frozen=True)
class SemanticsScore:
    """How one semantics does.

    Attributes
    ----------
    semantics : its name
    accuracy : the share of samples whose answers are all right, each alone the best one
    answer_accuracy : the share of single answers that are
    log_loss : the mean over samples and answers of ``- log q(right value)``, at least 1e-12 each
    seconds : the processor time of inference, rules compiled before
    refused : why there are no figures, if it does not apply to the rules
    """

    semantics: str
    accuracy: float = float("nan")
    answer_accuracy: float = float("nan")
    log_loss: float = float("nan")
    seconds: float = float("nan")
    refused: str = ""


@dataclass(frozen=True)
class SemanticsComparison(TableReport):
    """A row for each semantics; printed, a table."""

    rows: tuple[SemanticsScore, ...]

    def __getitem__(self, semantics: str | Semantics) -> SemanticsScore:
        name = as_semantics(semantics).name
        return next(row for row in self.rows if row.semantics == name)

    def _heading(self) -> str:
        return ""

    def _tables(self) -> list[ReportTable]:
        head = ["semantics", "samples right", "answers right", "log loss", "seconds"]
        lines = []
        for row in self.rows:
            shares = [f"{100 * x:.1f} %" for x in (row.accuracy, row.answer_accuracy)]
            figures = [*shares, f"{row.log_loss:.3f}", f"{row.seconds:.3f}"]
            lines.append([row.semantics, *(["-"] * 4 if row.refused else figures)])
        return [ReportTable(head, lines)]

    def _notes(self) -> list[str]:
        return [f"{row.semantics}: {row.refused}" for row in self.rows if row.refused]

    def _records(self) -> list[dict[str, Any]]:
        return [vars(row) for row in self.rows]

    _repr_html_ = printed_html


def compare_semantics(
    rules: Cascade | RuleSet,
    probabilities: Evidence,
    answers: Any,
    *,
    semantics: Iterable[str | Semantics] = SEMANTICS,
    largest: int = LARGEST,
) -> SemanticsComparison:
    """Infer the same samples in several semantics, and compare what comes out with the answers.

    Parameters
    ----------
    probabilities : of the inputs of a batch, as `Cascade.infer` takes them; a semantics that reads
        possibilities transforms them by the antipignistic method
    answers : for attributes or their names the right value of each sample; those of an only output
        may come alone
    semantics : the ones to compare
    largest : the most entries of a table that joins attributes which loops tie together

    Examples
    --------
    >>> from pinesy import parse
    >>> rules = parse('''
    ...     attribute sky in {clear, cloudy, dark}
    ...     attribute rain in {no, yes}
    ...     iff sky in {dark} then rain in {yes}
    ... ''')
    >>> sky = np.array([[0.3, 0.3, 0.4], [0.1, 0.1, 0.8]])
    >>> table = compare_semantics(rules, {"sky": sky}, {"rain": ["no", "yes"]})
    >>> table["probabilistic"].accuracy, table["mpe"].accuracy
    (1.0, 0.5)
    """
    cascade = as_cascade(rules)
    known = {name: rule_set.output for name, rule_set in cascade.sets.items()}
    only = cascade.outputs[0] if len(cascade.outputs) == 1 else None
    targets = named_targets(answers, known, only)
    compared = [as_semantics(name) for name in as_list(semantics, "semantics")]
    rows = [_score(cascade, probabilities, targets, meaning, largest) for meaning in compared]
    return SemanticsComparison(tuple(rows))


def _score(
    cascade: Cascade,
    probabilities: Evidence,
    answers: dict[str, Any],
    semantics: Semantics,
    largest: int,
) -> SemanticsScore:
    name = semantics.name
    transform = "antipignistic" if semantics.reads == "possibilities" else None

    def infer() -> Any:
        return cascade.infer(
            probabilities,
            list(answers),
            transform=transform,
            semantics=semantics,
            largest=largest,
        )

    try:
        infer()  # compiles
        began = time.process_time()
        inferred = infer()
        seconds = time.process_time() - began
    except PinesyError as error:
        if semantics.is_compiled:  # it takes all rules: the error is in the probabilities
            raise
        return SemanticsScore(name, refused=str(error))
    right, losses = [], []
    for attribute, values in answers.items():
        result = inferred[attribute]
        weights = result.degrees if semantics.is_compiled else result.weights
        shares = semantics.probabilities(weights)
        with placed("answers"):
            target = Target.of_values(values, cascade[attribute].output, len(shares))
        right.append((shares.argmax(axis=1) == target.labels) & result.decided)
        indices = shares[np.arange(len(shares)), target.labels]
        losses.append(-np.log(np.maximum(indices, LEAST_PROBABILITY)))
    all_right = float(np.all(right, axis=0).mean())
    return SemanticsScore(name, all_right, float(np.mean(right)), float(np.mean(losses)), seconds)
