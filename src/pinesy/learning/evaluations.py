"""Trials of tolerances: what is tried, by which metric it is judged, what a search returns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.console import data_frame, text_table
from pinesy._common.markup import BLUE, first_lines, tag
from pinesy._common.pages import axes_for, plot_text
from pinesy._common.validation import FloatArray
from pinesy.engine.evidence import Evidence
from pinesy.exceptions import DataError, LearningError, placed
from pinesy.learning.learn import InMemory, Past
from pinesy.learning.learning_arguments import (
    Rules,
    SetGroup,
    SetParameters,
    Tolerances,
    TrainingBatch,
    batch_of,
    resolve,
    show_group,
    show_tolerances,
)
from pinesy.learning.learning_result import SHOWN, LearningResult
from pinesy.learning.stages import learn_from
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.targets import Target

#: A function of a cascade, evidence and targets; the larger its value the better.
Metric = Callable[[Cascade, Any, Any], float]
Positions = npt.NDArray[np.intp]


@dataclass(frozen=True, repr=False)
class Evaluation:
    """One trial of tolerances.

    Attributes
    ----------
    tolerances : for each group
    metric : its value, or None if learning is impossible with these tolerances
    reason : why it is impossible; empty if it is not
    reliable : how many samples each rule set was learned from; if learning is impossible, only
        the set that has none
    seconds : how long it took, since the trial before it
    points : of the grid of an exhaustive search, how many points have this outcome; `tolerances`
        is then the lowest of them
    """

    tolerances: Tolerances
    metric: float | None
    reason: str
    reliable: Mapping[str, int]
    seconds: float
    points: int = 1

    def __repr__(self) -> str:
        outcome = self.reason if self.metric is None else f"{self.metric:.6g}"
        return f"Evaluation({show_tolerances(self.tolerances)}: {outcome})"

    @property
    def row(self) -> dict[str, Any]:
        """The evaluation as a row of a table."""
        return {
            **{f"tau {show_group(g)}": t for g, t in self.tolerances.items()},
            "metric": self.metric,
            "reliable": min(self.reliable.values()),
            "points": self.points,
            "seconds": self.seconds,
            "reason": self.reason,
        }


@dataclass(frozen=True, eq=False, repr=False)
class ToleranceSearch:
    """The tolerances that a search chose, what is learned with them, and all that was tried.

    Attributes
    ----------
    method : ``"paper"`` or ``"exhaustive"``
    tolerances : for each group; `learn` takes it as `tolerance`
    metric : the value that they reach on the validation data
    result : what is learned with them
    evaluations : for ``"paper"`` every trial, in their order; for ``"exhaustive"`` one for each
        model that differs, and one for each way in which learning is impossible, from the lowest
        tolerances on
    n_grid, n_distinct : of an exhaustive search, the number of combinations of candidates and of
        models that differ; else None
    """

    method: str
    tolerances: Tolerances
    metric: float
    result: LearningResult
    evaluations: tuple[Evaluation, ...] = field(default=())
    n_grid: int | None = None
    n_distinct: int | None = None

    def to_frame(self) -> Any:
        """Return the evaluations as a pandas DataFrame, a row for each.

        Its columns are the tolerance ``tau <group>`` of each group, ``metric``, ``reliable`` (the
        smallest number of samples that a rule set was learned from), ``points``, ``seconds`` and
        ``reason``.
        """
        return data_frame([one.row for one in self.evaluations])

    def __repr__(self) -> str:
        return (
            f"ToleranceSearch({show_tolerances(self.tolerances)}: metric {self.metric:.6g}, "
            f"{len(self.evaluations)} evaluations)"
        )

    def __str__(self) -> str:
        """Return a table, a line for each evaluation (the first ones, if they are very many)."""
        text = text_table([self._head, *map(self._line, self.evaluations[:SHOWN])])
        more = len(self.evaluations) - SHOWN
        grid = f"\n{self.n_grid} combinations of candidates, {self.n_distinct} different models"
        start = f"{self!r}{grid * (self.n_grid is not None)}\n{text}"
        return start + f"\n... and {more} more" * (more > 0)

    def _repr_html_(self) -> str:
        lines = map(self._line, self.evaluations)
        return tag("div", repr(self)) + first_lines(
            self._head, lines, len(self.evaluations), "trials"
        )

    def plot(self, axes: Any = None) -> Any:
        """Draw the metric of each trial, of one group against its tolerance; return the axes."""
        axes = axes_for(axes)
        done = [(i, one) for i, one in enumerate(self.evaluations, 1) if one.metric is not None]
        label, places = "trial", [float(i) for i, _ in done]
        if len(self.tolerances) == 1:
            label = f"tolerance {plot_text(self._head[1])}"
            places = [next(iter(one.tolerances.values())) for _, one in done]
        axes.plot(places, [one.metric for _, one in done], ".", color=BLUE)
        axes.set(xlabel=label, ylabel="metric", title="Trials of tolerances")
        return axes

    @property
    def _head(self) -> list[str]:
        return ["", *(f"tau {show_group(g)}" for g in self.tolerances), "metric", "reliable"]

    def _line(self, one: Evaluation) -> list[str]:
        mark = "*" if one.tolerances == self.tolerances else ""
        metric = "impossible" if one.metric is None else f"{one.metric:.6g}"
        least = min(one.reliable, key=one.reliable.__getitem__)
        numbers = [f"{t:.4g}" for t in one.tolerances.values()]
        return [mark, *numbers, metric, f"{one.reliable[least]} for {least}"]


@dataclass(eq=False)
class SearchProblem:
    """Tolerances to be searched for; it makes the records of what is tried.

    Attributes
    ----------
    cascade : with its initial parameters
    batch : the training samples
    groups : the sets of each group
    candidates : tolerances, rising
    evaluate : the metric on the validation data, as a function of a cascade and of the tolerances
        that it was learned with
    fixed : the parameters that are fixed, of sets that have some
    """

    cascade: Cascade
    batch: TrainingBatch
    groups: Mapping[SetGroup, Sequence[str]]
    candidates: FloatArray
    evaluate: Callable[[Cascade, Tolerances], float]
    fixed: SetParameters = field(default_factory=dict)
    _past: Past = field(default_factory=dict)
    _last: float = field(default_factory=perf_counter)

    @property
    def n_grid(self) -> int:
        """The number of all combinations of candidates."""
        return int(len(self.candidates) ** len(self.groups))

    def tolerances(self, steps: Sequence[int]) -> dict[SetGroup, float]:
        """Return the tolerance of each group, given its position among the candidates."""
        chosen = (float(self.candidates[step]) for step in steps)
        return dict(zip(self.groups, chosen, strict=True))

    def learn(self, tolerances: Tolerances) -> LearningResult:
        """Learn with given tolerances."""
        each = resolve(tolerances, list(self.batch.targets))
        return learn_from(self.cascade, InMemory(self.batch, self._past), each, self.fixed)

    def evaluated(
        self, tolerances: Tolerances, metric: float, reliable: Mapping[str, int], points: int = 1
    ) -> Evaluation:
        """Return the record of tolerances that were learned with and judged."""
        return Evaluation(tolerances, metric, "", reliable, self._lap(), points)

    def impossible(
        self, tolerances: Tolerances, name: str, smallest: float, points: int = 1
    ) -> Evaluation:
        """Return the record of tolerances for which a set has no reliable sample."""
        reason = f"no sample is reliable for {name!r}: the smallest distance is {smallest!r}"
        return Evaluation(tolerances, None, reason, {name: 0}, self._lap(), points)

    def _lap(self) -> float:
        """Return the seconds since the trial before."""
        last, self._last = self._last, perf_counter()
        return self._last - last

    def hopeless(self, name: str, smallest: float) -> LearningError:
        """Return the error that no candidate is high enough for a set."""
        return LearningError(
            f"rule set {name!r}: no sample is reliable for the largest candidate, "
            f"{float(self.candidates[-1])!r}; the smallest distance of a sample is {smallest!r}: "
            "give candidates that go above 1, as those of candidate_tolerances() do",
            name,
            smallest,
        )


class Judge:
    """A metric on validation data, checked."""

    def __init__(self, metric: Metric, validation: object, cascade: Cascade) -> None:
        if not callable(metric):
            raise DataError(
                f"the metric is {metric!r:.60}; give a function of a cascade, evidence and targets"
            )
        if not isinstance(validation, tuple | list) or len(validation) != 2:
            raise DataError(
                f"the validation data are {validation!r:.60}; give a pair (evidence, targets)"
            )
        self._metric = metric
        self._evidence, self._targets = validation
        self._known: dict[bytes, float] = {}
        if metric is accuracy:  # what other metrics take is not known
            with placed("the validation data"):
                answers(cascade, self._evidence, self._targets)

    def __call__(self, cascade: Cascade, tolerances: Tolerances) -> float:
        """Return the metric of what was learned with some tolerances.

        Tolerances that give the same parameters have the same accuracy, which is measured once;
        what a metric of one's own depends on is not known.
        """
        if self._metric is not accuracy:
            return self._measured(cascade, tolerances)
        key = b"".join(z.tobytes() for one in cascade.rule_sets for z in (one.s, one.r))
        if key not in self._known:
            self._known[key] = self._measured(cascade, tolerances)
        return self._known[key]

    def _measured(self, cascade: Cascade, tolerances: Tolerances) -> float:
        value = self._metric(cascade, self._evidence, self._targets)
        number = _as_float(value)
        if not isfinite(number):
            name = getattr(self._metric, "__name__", repr(self._metric))
            raise DataError(
                f"the metric {name:.60} returned {value!r:.60} for the tolerances "
                f"{show_tolerances(tolerances)}; it must return a finite number"
            )
        return number


def _as_float(value: Any) -> float:
    """Return a number, also an array of one, as a float; NaN if it is none."""
    if isinstance(value, bool | np.bool_ | str | bytes) or np.iscomplexobj(value):
        return nan
    try:
        return float(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError, OverflowError):
        return nan


def accuracy(rules: Rules, evidence: Evidence, targets: Any) -> float:
    """Return the fraction of samples whose final outputs are all predicted rightly.

    A prediction is right if the most possible value is the target and no other value is as
    possible: an ambiguous result draws no conclusion, and counts as an error, as does a
    contradiction (`Possibility.contradiction`), which has no answer. The final outputs are
    those of `Cascade.outputs` that have targets; if none has, all attributes with targets.

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
    batch, wanted = answers(cascade, evidence, targets)
    found = cascade.infer(batch.known, list(wanted))
    right = np.ones(batch.n, dtype=np.bool_)
    for name, positions in wanted.items():
        right &= (found[name].degrees.argmax(axis=1) == positions) & found[name].decided
    return float(right.mean())


def answers(
    cascade: Cascade, evidence: Evidence, targets: Any
) -> tuple[TrainingBatch, dict[str, Positions]]:
    """Check samples; return them and the right value of each final output, by its position."""
    batch = batch_of(cascade, evidence, targets)
    final = [a.name for a in cascade.outputs if a.name in batch.targets]
    return batch, {name: _positions(batch.targets[name]) for name in final or batch.targets}


def _positions(target: Target) -> Positions:
    if not target.is_graded:
        return target.labels.astype(np.intp)
    ties = (target.degrees == 1.0).sum(axis=1) > 1
    if ties.any():
        raise DataError(
            f"the target of {target.attribute.name!r}, row {int(np.argmax(ties))}, has several "
            "most possible values, so that no prediction is the right one; give values as "
            "targets, or a metric of your own"
        )
    return np.asarray(target.degrees.argmax(axis=1))
