"""Decisions on new cases: those that are made, and those that are handed over to people."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.names import name_of
from pinesy._common.validation import BoolArray, FloatArray, check_known, object_array
from pinesy.evidence.rows import Rows
from pinesy.exceptions import DataError, ShapeError
from pinesy.guarantees.decision_threshold import DecisionThreshold
from pinesy.induction.score_card import ScoreCard
from pinesy.induction.unrounded_scores import unrounded_degrees
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import (
    HANDED_OVER,
    certainty_text,
    list_text,
    number_text,
    plain_text,
)
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import format_name

Indices = npt.NDArray[np.intp]
#: The name of the only output, if degrees are an array.
ANSWER = "answer"


@dataclass(frozen=True, eq=False, repr=False)
class RankedAnswers:
    """The best answers to cases, and how certain they are.

    Attributes
    ----------
    attributes : the outputs
    best : by output, the index of the best value of each case
    certainty : the margin between the two best values, the least of all outputs; 0 where some
        output is contradictory
    """

    attributes: tuple[Attribute, ...]
    best: Mapping[str, Indices]
    certainty: FloatArray

    def __len__(self) -> int:
        return len(self.certainty)


def rank_answers(possibilities: Mapping[str, Possibility]) -> RankedAnswers:
    """Return the best answers by inferred distributions, and their certainties."""
    best, certainties = {}, []
    for name, pi in possibilities.items():
        degrees = np.atleast_2d(pi.degrees)
        best[name] = np.asarray(degrees.argmax(axis=1))
        certainties.append(np.where(np.atleast_1d(pi.normalised), margins(degrees), 0.0))
    attributes = tuple(pi.attribute for pi in possibilities.values())
    return RankedAnswers(attributes, best, np.min(certainties, axis=0))


def rank_classes(
    degrees: npt.ArrayLike, classes: Sequence[Hashable] | None = None, name: str = ANSWER
) -> RankedAnswers:
    """Return the best classes by probabilities or other degrees ``(n, classes)``."""
    array = np.asarray(degrees, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] < 2:
        raise ShapeError(
            f"degrees has shape {array.shape}; give a row for each sample and a column for each of "
            "two classes or more"
        )
    if not np.isfinite(array).all():
        row = int((~np.isfinite(array)).any(axis=1).argmax())
        raise DataError(f"degrees[{row}] has entries that are not finite numbers")
    values = range(array.shape[1]) if classes is None else np.asarray(classes).tolist()
    if len(values) != array.shape[1]:
        raise ShapeError(f"there are {len(values)} classes, and degrees for {array.shape[1]}")
    best = np.asarray(array.argmax(axis=1))
    return RankedAnswers((Attribute(name, values),), {name: best}, margins(array))


def rank_points(card: ScoreCard, rows: Rows) -> RankedAnswers:
    """Return the classes of most points, and their certainties by the points before rounding."""
    scores, degrees = card.score_rows(rows), unrounded_degrees(card, rows)
    is_best = np.arange(degrees.shape[1]) == scores.best[:, None]
    rival = np.where(is_best, 0.0, degrees).max(axis=1)
    ahead = np.maximum(degrees[is_best] - rival, 0.0)
    certainty = np.where(scores.possibility.max(axis=1) == 1.0, ahead, 0.0)
    return RankedAnswers((card.output,), {card.output.name: scores.best}, certainty)


def margins(degrees: FloatArray) -> FloatArray:
    """Return the margin between the two best values of each row; of a single value, its degree.

    Of probabilities it is the certainty of the antipignistic possibility.

    Examples
    --------
    >>> margins(np.array([[0.7, 0.2, 0.1], [0.3, 1.0, 1.0]])).tolist()
    [0.49999999999999994, 0.0]
    """
    if degrees.shape[1] == 1:
        return np.asarray(degrees[:, 0])
    top = np.partition(degrees, -2, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])


@dataclass(frozen=True, eq=False, repr=False)
class SelectiveDecisions(Mapping[str, Any]):
    """Cases that are decided, and cases that are handed over.

    A mapping from the names of outputs to arrays of values, None where a case is handed over.

    Attributes
    ----------
    answers : the best answers, also to the cases that are handed over
    threshold : what decides, with what it promises
    decided : whether each case is decided

    Examples
    --------
    >>> from pinesy.guarantees import decide_classes
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([0.3, 0.3, 0.3], 3000)
    >>> truth = (p.cumsum(axis=1) < rng.random((3000, 1))).sum(axis=1)
    >>> threshold = decide_classes(p, truth, error=0.05)
    >>> decisions = threshold.decisions([[0.96, 0.03, 0.01], [0.5, 0.3, 0.2]])
    >>> decisions["answer"].tolist(), decisions.outcomes.tolist()
    ([0, None], ['decided', 'handed_over'])
    >>> print(decisions.text(1))
    handed over: answer may be 0, certain at 0.2; cases are decided from 0.916
    """

    answers: RankedAnswers
    threshold: DecisionThreshold
    decided: BoolArray

    @classmethod
    def of(cls, answers: RankedAnswers, threshold: DecisionThreshold) -> "SelectiveDecisions":
        """Return the decisions that a threshold makes."""
        return cls(answers, threshold, threshold.decides(answers.certainty))

    @property
    def certainty(self) -> FloatArray:
        """The certainty of each best answer."""
        return self.answers.certainty

    @property
    def outcomes(self) -> npt.NDArray[np.str_]:
        """The outcome of each case: ``"decided"`` or ``"handed_over"``."""
        return np.where(self.decided, "decided", HANDED_OVER)

    @property
    def share(self) -> float:
        """The share of cases that are decided; NaN if there are no cases."""
        return float(self.decided.mean()) if len(self.decided) else float("nan")

    def proposed(self, key: Any = None) -> npt.NDArray[Any]:
        """Return the best value of each case, decided or not, of an output (the only one)."""
        attribute = self._attribute(key)
        return object_array(attribute.domain)[self.answers.best[attribute.name]]

    def __getitem__(self, key: Any) -> npt.NDArray[Any]:
        values = self.proposed(key)
        values[~self.decided] = None
        return values

    def _attribute(self, key: Any) -> Attribute:
        by_name = {a.name: a for a in self.answers.attributes}
        name = next(iter(by_name)) if key is None and len(by_name) == 1 else name_of(key)
        check_known(name, by_name, f"{name!r} is not decided")
        return by_name[str(name)]

    def __iter__(self) -> Any:
        return iter(self.answers.best)

    def __len__(self) -> int:
        return len(self.answers.best)

    def text(self, row: int) -> str:
        """Return the outcome of a case as text."""
        decided, certainty = bool(self.decided[row]), float(self.certainty[row])
        verb = "is" if decided else "may be"
        values = {a.name: a.domain[self.answers.best[a.name][row]] for a in self.answers.attributes}
        answers = list_text(
            [f"{format_name(name)} {verb} {plain_text(value)}" for name, value in values.items()]
        )
        if decided:
            return f"decided: {answers}, {certainty_text(certainty)}"
        threshold = self.threshold.threshold
        limit = "no case is decided"
        if threshold is not None:
            limit = f"cases are decided from {number_text(threshold)}"
            if certainty >= threshold:
                limit = "no answer alone is the best"
        return f"handed over: {answers}, {certainty_text(certainty)}; {limit}"

    def __repr__(self) -> str:
        counts = f"{int(self.decided.sum())} of {len(self.decided)} cases decided"
        return f"SelectiveDecisions({counts}, the others handed over)"


def wrong_answers(
    answers: RankedAnswers, truth: Mapping[str, Indices], costs: FloatArray | None = None
) -> FloatArray:
    """Return whether each case has a wrong best answer (1 or 0); with costs, its cost.

    Parameters
    ----------
    truth : by output, the indices of the true values
    costs : of the only output, ``costs[true, answer]``
    """
    if costs is not None:
        name = answers.attributes[0].name
        return np.asarray(costs[truth[name], answers.best[name]])
    is_wrong = [answers.best[name] != indices for name, indices in truth.items()]
    return np.asarray(np.any(is_wrong, axis=0), dtype=np.float64)
