"""Comparison of several semantics on the same rules and data."""

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

#: The lower bound of probabilities in the log loss, which is finite then.
LEAST_PROBABILITY = 1e-12


@dataclass(frozen=True)
class SemanticsScore:
    """The scores of one semantics.

    Attributes
    ----------
    semantics : the name
    accuracy : the share of samples whose answers are all decided and correct
    answer_accuracy : the share of single answers that are decided and correct
    log_loss : the mean over samples and answers of ``- log q(true value)``, with `q` at least 1e-12
    seconds : the CPU time of inference, without compilation
    refused : why there are no scores, if the semantics does not apply to the rules
    """

    semantics: str
    accuracy: float = float("nan")
    answer_accuracy: float = float("nan")
    log_loss: float = float("nan")
    seconds: float = float("nan")
    refused: str = ""


@dataclass(frozen=True)
class SemanticsComparison(TableReport):
    """A table with a row of scores for each semantics."""

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
    """Infer the same samples in several semantics, and score the results.

    Parameters
    ----------
    probabilities : the probabilities of the inputs of a batch, as `Cascade.infer` takes them; for a
        semantics of possibilities, the antipignistic transformation is applied
    answers : the true values of all samples, by attribute or name; without a mapping if there is
        one output
    semantics : the semantics to compare
    largest : the maximal number of entries of a table in variable elimination

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
    rows = [
        _score(cascade, probabilities, targets, as_semantics(name), largest)
        for name in as_list(semantics, "semantics")
    ]
    return SemanticsComparison(tuple(rows))


def _score(
    cascade: Cascade,
    probabilities: Evidence,
    answers: dict[str, Any],
    semantics: Semantics,
    largest: int,
) -> SemanticsScore:
    """Return the scores of one semantics, or why it does not apply."""
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
    correct, losses = [], []
    for attribute, values in answers.items():
        result = inferred[attribute]
        weights = result.degrees if semantics.is_compiled else result.weights
        shares = semantics.probabilities(weights)
        with placed("answers"):
            target = Target.of_values(values, cascade[attribute].output, len(shares))
        correct.append((shares.argmax(axis=1) == target.labels) & result.decided)
        true_shares = shares[np.arange(len(shares)), target.labels]
        losses.append(-np.log(np.maximum(true_shares, LEAST_PROBABILITY)))
    all_correct = float(np.all(correct, axis=0).mean())
    return SemanticsScore(
        name, all_correct, float(np.mean(correct)), float(np.mean(losses)), seconds
    )
