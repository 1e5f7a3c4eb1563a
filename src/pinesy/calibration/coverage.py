"""Coverage: how often true values are in the prediction sets of calibrated rules or degrees."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.names import by_name
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.calibration.calibrated_rules import CalibratedAnswers, CalibratedRules, Possibilities
from pinesy.calibration.coverage_report import (
    CoverageReport,
    CoverageRow,
    chance_of_so_few,
    share_band,
)
from pinesy.calibration.prediction_sets import PredictionSets
from pinesy.calibration.score_counts import degrees_in_unit, samples_needed, significance
from pinesy.evidence.evidence_form import Evidence
from pinesy.evidence.targets import named_targets, read_targets
from pinesy.exceptions import DataError, ShapeError
from pinesy.rules.attributes import Attribute
from pinesy.rules.outcomes import OUTCOMES
from pinesy.rules.possibility import Possibility
from pinesy.rules.syntax.writer import show_value

#: The levels of a report, as far as calibration samples suffice for them.
LEVELS = (0.8, 0.9, 0.95, 0.98, 0.99, 0.995)
Levels = float | Iterable[float] | None
Indices = npt.NDArray[np.intp]
#: How many samples guarantee the coverage of all samples, or of those of one class.
Guaranteed = Mapping[tuple[str, str], int]


def coverage(
    calibrated: CalibratedRules,
    evidence: Evidence,
    targets: Any,
    levels: Levels = None,
    *,
    groups: Any = None,
    weights: npt.ArrayLike | None = None,
) -> CoverageReport:
    """Compare the observed coverage of true answers with the nominal levels.

    Parameters
    ----------
    calibrated : what `calibrate` returns
    evidence : of samples that were used neither in training nor in calibration
    targets : by output, the true values; a single output needs no name. With several outputs a
        sample is covered if all its true values are in their sets.
    levels : one or several; by default those of `LEVELS`, from 0.8 to 0.995, for which there were
        enough calibration samples
    groups : for each sample the group that it belongs to, such as a column of the data; or a dict
        from names to conditions (whether each sample is in the group). The coverage of each group
        is reported, but guaranteed only by `pinesy.guarantees.calibrate_groups`.
    weights : sample weights, if the calibration was weighted for a covariate shift: the samples
        must come from the shifted distribution

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> from pinesy.calibration import calibrate
    >>> sky, rain = Attribute("sky", ["dark", "clear"]), Attribute("rain", ["yes", "no"])
    >>> rules = RuleSet([Iff(sky.isin({"dark"})).then(rain.isin({"yes"}))])
    >>> p = np.random.default_rng(0).dirichlet([0.3, 0.3], 600)
    >>> seen = np.where(np.random.default_rng(1).random(600) < p[:, 0], "dark", "clear")
    >>> sure = calibrate(rules, {"sky": p[:300]}, {"sky": seen[:300]})
    >>> coverage(sure, {"sky": p[300:]}, np.where(seen[300:] == "dark", "yes", "no"), 0.9)
    CoverageReport(rain, 300 samples: 90.7% at 0.9)
    """
    if not isinstance(calibrated, CalibratedRules):
        raise DataError(f"give what calibrate returns; got {calibrated!r:.60}")
    checked_levels = _levels(levels, calibrated)
    truth = _answers_by_name(calibrated, targets)
    inferred, conformity = calibrated.infer_with_conformity(evidence, list(truth), weights)
    pis = {name: inferred[name] for name in truth}
    labelled = _LabelledSamples.of(pis, truth, np.atleast_1d(conformity))
    rows = labelled.rows(checked_levels, groups, _guaranteed_counts(calibrated))
    return CoverageReport(tuple(truth), labelled.n, rows, calibrated.guarantee)


def coverage_of(
    possibilities: Any,
    targets: Any,
    levels: Levels = None,
    *,
    classes: Iterable[Hashable] | None = None,
    groups: Any = None,
) -> CoverageReport:
    """Compare the observed coverage of the cuts of any degrees with their levels.

    This is for calibrated degrees of any model, and for plain possibilities read as if they were
    calibrated, such as ``coverage_of(rules.infer(evidence), targets)``.

    Parameters
    ----------
    possibilities : an array ``(n, values)`` of degrees, a batch of a `Possibility`, or several of
        these by name
    targets : the true values, by name if there are several: values of the attribute of a
        `Possibility`, classes, or else the numbers of columns
    classes : the values of the columns of arrays, such as ``model.classes_``
    levels, groups : as for `coverage`

    Examples
    --------
    >>> pi = np.array([[1.0, 0.04], [0.3, 1.0], [1.0, 0.01], [0.03, 1.0]])
    >>> coverage_of(pi, [0, 1, 1, 0], [0.9, 0.98])
    CoverageReport(answer, 4 samples: 50.0% at 0.9, 75.0% at 0.98)
    """
    pis = _possibilities(possibilities, classes)
    attributes = {name: pi.attribute for name, pi in pis.items()}
    only = next(iter(attributes.values())) if len(attributes) == 1 else None
    truth = named_targets(targets, attributes, only)
    labelled = _LabelledSamples.of({name: pis[name] for name in truth}, truth, None)
    return CoverageReport(
        tuple(truth), labelled.n, labelled.rows(_levels(levels, None), groups, {})
    )


def _answers_by_name(calibrated: CalibratedRules, targets: Any) -> dict[str, Any]:
    """Return the true answers by name; those of a single output need no name."""
    rules = calibrated.rules
    final, names = tuple(a.name for a in rules.outputs), tuple(rules.sets)
    if isinstance(calibrated, CalibratedAnswers):
        final = names = calibrated.outputs
    attributes = {name: rules[name].output for name in names}
    return named_targets(targets, attributes, attributes[final[0]] if len(final) == 1 else None)


def _possibilities(degrees: Any, classes: Iterable[Hashable] | None) -> dict[str, Possibility]:
    """Return degrees as distributions by name; the name of a single array is "answer"."""
    parts = by_name(degrees, "output") if isinstance(degrees, Mapping) else {"": degrees}
    possibilities = {}
    for name, part in parts.items():
        pi = part
        if not isinstance(part, Possibility):
            array = np.asarray(part, dtype=np.float64)
            if array.ndim != 2 or not array.shape[1]:
                raise ShapeError(f"degrees have shape (n_samples, values); got {array.shape}")
            values = range(array.shape[1]) if classes is None else classes
            pi = Possibility(Attribute(name or "answer", values), array)
        degrees_in_unit(pi.degrees)  # raises where a degree is outside [0, 1]
        possibilities[name or pi.attribute.name] = pi
    return possibilities


def _levels(levels: Levels, calibrated: CalibratedRules | None) -> list[float]:
    """Return levels in increasing order; raise if there are too few calibration samples."""
    if levels is None:
        n = np.inf if calibrated is None else calibrated.transform.n
        return [level for level in LEVELS if n >= samples_needed(level)] or _levels(0.8, calibrated)
    numbers = [*levels] if isinstance(levels, Iterable) else [levels]
    if not numbers or isinstance(levels, str):
        raise DataError(f"levels is {levels!r:.60}; give at least one, such as 0.95")
    for level in numbers:
        significance(level)
        if calibrated is not None:
            calibrated.transform.check_level(level)
    return sorted({float(level) for level in numbers})


def _guaranteed_counts(calibrated: CalibratedRules) -> Guaranteed:
    """Return by scope and class the number of calibration samples behind the guarantee."""
    transform = calibrated.transform
    if transform.is_weighted:
        return {}  # the coverage given a weighted calibration has no known distribution
    if transform.group_sizes:
        return {("group", name): size for name, size in transform.group_sizes.items()}
    totals = [counts.samples for counts in transform.counts_]
    if transform.class_conditional:
        if not isinstance(calibrated, CalibratedAnswers) or len(calibrated.outputs) > 1:
            return {}
        output = calibrated.rules[calibrated.outputs[0]].output
        classes = zip(output.domain, totals, strict=True)
        return {("class", show_value(value)): total for value, total in classes}
    return {("all", ""): totals[0]} if transform.unit == "sample" else {}


#: For the samples at a level: whether true values are covered, the number of values that remain,
#: and the index of the outcome in `OUTCOMES`.
_Outcome = tuple[BoolArray, FloatArray, Indices]


def _row(
    scope: str, name: str, level: float, outcome: _Outcome, calibrated: int | None
) -> CoverageRow:
    """Return a row of the report, for some samples."""
    covered, size, reason = outcome
    n, k, single = len(covered), int(covered.sum()), size == 1.0
    low, high = share_band(k, n)
    shares = (np.bincount(reason, minlength=len(OUTCOMES)) / n).tolist()
    return CoverageRow(
        scope,
        name,
        level,
        n,
        k,
        low,
        high,
        mean_size=float(size.mean()),
        median_size=float(np.median(size)),
        single=float(single.mean()),
        single_right=float(covered[single].mean()) if single.any() else float("nan"),
        **dict(list(zip(OUTCOMES, shares, strict=True))[1:]),
        chance=calibrated and chance_of_so_few(k, n, calibrated, significance(level)),
    )


@dataclass(frozen=True)
class _LabelledSamples:
    """Distributions of outputs, and the indices of their true values."""

    possibilities: Possibilities
    label_indices: Mapping[str, Indices]
    conformity: FloatArray

    @classmethod
    def of(
        cls, pis: Mapping[str, Possibility], truth: Mapping[str, Any], conformity: Any
    ) -> "_LabelledSamples":
        batches = {
            k: Possibility(p.attribute, np.atleast_2d(p.degrees), p.coherence)
            for k, p in pis.items()
        }
        n = len(next(iter(batches.values())))
        if not n:
            raise DataError("there are no samples to report on")
        targets = read_targets(truth, {name: pi.attribute for name, pi in pis.items()}, n)
        for name, target in targets.items():
            if target.is_graded:
                raise DataError(f"the targets of {name!r} are distributions; give the true values")
        indices = {name: target.labels.astype(np.intp) for name, target in targets.items()}
        return cls(batches, indices, np.ones(n) if conformity is None else conformity)

    @property
    def n(self) -> int:
        """The number of samples."""
        return len(self.conformity)

    def rows(
        self, levels: Sequence[float], groups: Any, guaranteed: Guaranteed
    ) -> tuple[CoverageRow, ...]:
        """Return the rows for all samples, outputs, classes and groups, at each level."""
        outcomes = {level: self._outcomes(level) for level in levels}
        rows = []
        for scope, name, output, where in self._scopes(groups):
            calibrated = guaranteed.get((scope, name))
            for level in levels:
                covered, size, reason = outcomes[level][output]
                outcome = covered[where], size[where], reason[where]
                rows.append(_row(scope, name, level, outcome, calibrated))
        return tuple(rows)

    def _outcomes(self, level: float) -> dict[str, _Outcome]:
        """Return the outcome of each output, and of all together under the empty name."""
        sets = PredictionSets(level, self.possibilities, self.conformity)
        outcomes = {}
        for name, indices in self.label_indices.items():
            covered = sets.members(name)[np.arange(self.n), indices]
            size = sets.sizes[name].astype(np.float64)
            outcomes[name] = covered, size, sets.outcome_indices(name)
        hits, sizes, reasons = zip(*outcomes.values(), strict=True)  # the worst reason counts
        joint = np.all(hits, axis=0), np.prod(sizes, axis=0), np.max(reasons, axis=0)
        return {"": joint, **outcomes}

    def _scopes(self, groups: Any) -> Iterator[tuple[str, str, str, Any]]:
        """Yield scope, name, output and the rows of samples of each line of the report."""
        yield "all", "", "", slice(None)
        has_several = len(self.label_indices) > 1
        for output in self.label_indices if has_several else ():
            yield "output", output, output, slice(None)
        for output, indices in self.label_indices.items():
            domain = self.possibilities[output].attribute.domain
            for value, where in zip(domain, _rows_by_index(indices, len(domain)), strict=True):
                text = show_value(value)
                if len(where):
                    yield "class", f"{output} = {text}" if has_several else text, output, where
        if isinstance(groups, Mapping):
            for name, where in _rows_of_conditions(groups, self.n):
                yield "group", name, "", where
        elif groups is not None:
            array = np.asarray(groups)
            if array.shape != (self.n,):
                raise ShapeError(
                    f"groups has shape {array.shape}; name one for each of {self.n} samples"
                )
            array = array.astype(str) if array.dtype == object else array
            names, group_indices = np.unique(array, return_inverse=True)
            for name, where in zip(names, _rows_by_index(group_indices, len(names)), strict=True):
                yield "group", str(name), "", where


def _rows_of_conditions(groups: Mapping[Any, Any], n: int) -> Iterator[tuple[str, Indices]]:
    """Yield the names of conditions, and the rows where they are known to hold."""
    for name, content in groups.items():
        holds = np.asarray(content, dtype=object) == True  # noqa: E712
        if holds.shape != (n,):
            raise ShapeError(f"group {name!r} has shape {holds.shape}; give one of {n} samples")
        if holds.any():
            yield str(name), np.flatnonzero(holds)


def _rows_by_index(indices: Indices, n_parts: int) -> list[Indices]:
    """Return the rows in which an array of indices is 0, 1, ..."""
    order = np.argsort(indices, kind="stable")
    return np.split(order, np.searchsorted(indices[order], np.arange(1, n_parts)))
