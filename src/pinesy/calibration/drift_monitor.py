"""Drift detection: an alarm when new samples are not exchangeable with calibration samples."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pinesy._common.files import atomic_text, read_text
from pinesy._common.validation import BoolArray, FloatArray
from pinesy.calibration.calibrated_rules import CalibratedRules
from pinesy.calibration.conformal_martingale import ConformalMartingale, DriftStatus
from pinesy.calibration.score_counts import ScoreCounts, exceeds, true_scores, worst_margin_scores
from pinesy.evidence.evidence_form import Evidence
from pinesy.exceptions import DataError

FORMAT, VERSION = "pinesy drift monitor", 1


class CalibratedModel(Protocol):
    """A model with a calibration: `RuleClassifier`, `NeuroSymbolic`."""

    calibration_: CalibratedRules

    def calibration_evidence(self, samples: Any, /) -> Evidence:
        """Return the evidence of samples, for the calibrated rules."""


def as_calibrated_rules(calibrated: Any) -> CalibratedRules:
    """Return calibrated rules, or those of a calibrated model; raise `DataError` for others."""
    if isinstance(calibrated, CalibratedRules):
        return calibrated
    if not hasattr(calibrated, "calibration_evidence"):
        raise DataError(
            f"{calibrated!r:.60} cannot be monitored; give what calibrate returns, or a calibrated "
            "RuleClassifier or NeuroSymbolic"
        )
    if not hasattr(calibrated, "calibration_"):
        raise DataError(
            "the model is not calibrated, so there is nothing to compare new samples with; call "
            "its calibrate first"
        )
    return calibrated.calibration_  # type: ignore[no-any-return]


class DriftMonitor:
    """Raises an alarm when new samples are not exchangeable with those of calibration.

    It tests the margin score of each sample (1 minus the margin between the two best values of its
    least certain input, or answer), which needs no true values; or, if `labelled`, the
    nonconformity score of the true values. The rank of a score among all earlier ones, calibration
    included, is a p-value; if calibration and new samples are exchangeable, all p-values are
    independent and uniform, and the probability of an alarm, ever, is at most `chance`: see
    `ConformalMartingale` for the test. After an alarm the guarantee of the calibration no longer
    holds: calibrate again, on new samples. No alarm is no proof that nothing has changed: a change
    that leaves the margin scores alone is not detected.

    Parameters
    ----------
    calibrated : what `calibrate` returns, without weights; or a calibrated `RuleClassifier` or
        `NeuroSymbolic`, whose samples `update` then takes
    chance : the probability of a false alarm, ever
    labelled : whether true values come with the samples: of all inputs, or of all answers if these
        are calibrated
    seed : of the random tie-breaking

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> from pinesy.calibration import calibrate
    >>> sky, rain = Attribute("sky", ["dark", "clear"]), Attribute("rain", ["yes", "no"])
    >>> rules = RuleSet([Iff(sky.isin({"dark"})).then(rain.isin({"yes"}))])
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([0.3, 0.3], 300)
    >>> sure = calibrate(rules, {"sky": p}, {"sky": np.where(p[:, 0] > 0.5, "dark", "clear")})
    >>> monitor = DriftMonitor(sure)
    >>> monitor.update({"sky": rng.dirichlet([0.3, 0.3], 500)})
    DriftStatus(500 samples, no alarm)
    >>> monitor.update({"sky": rng.dirichlet([3.0, 3.0], 500)})  # a new camera, and less clear
    DriftStatus(1000 samples, alarm at sample 522)
    """

    def __init__(
        self,
        calibrated: CalibratedRules | CalibratedModel,
        *,
        chance: float = 0.01,
        labelled: bool = False,
        seed: int = 0,
    ) -> None:
        self.model = None if isinstance(calibrated, CalibratedRules) else calibrated
        self.calibrated, self.labelled = as_calibrated_rules(calibrated), labelled
        counts = _monitored_counts(self.calibrated, labelled)
        self.test = ConformalMartingale(counts, chance=chance, seed=seed)

    def update(self, evidence: Evidence, targets: Mapping[str, Any] | None = None) -> DriftStatus:
        """Update the test with a batch of new samples, in their order.

        Parameters
        ----------
        evidence : as for the calibrated rules; for a model, its samples
        targets : the true values, if the monitor is `labelled`
        """
        if self.model is not None:
            evidence = self.model.calibration_evidence(evidence)
        scores = self.calibrated.scores(evidence)
        if not self.labelled:
            if targets is not None:
                raise DataError("this monitor takes no targets; make one with labelled=True")
            return self.test.update(worst_margin_scores(scores))
        if not isinstance(targets, Mapping):
            raise DataError(
                f"targets is {targets!r:.60}; a labelled monitor needs a dict of the true values "
                "of what was calibrated"
            )
        n = len(next(iter(scores.values())))
        columns = self.calibrated.label_indices(targets, n)
        return self.test.update(true_scores(scores, columns).max(axis=1))

    @property
    def samples(self) -> int:
        """The number of samples so far."""
        return self.test.samples

    @property
    def alarm(self) -> int | None:
        """The number of the sample, from 1, at which the alarm was raised; None without alarm."""
        return self.test.alarm

    @property
    def path(self) -> tuple[npt.NDArray[np.int64], FloatArray]:
        """The pair of sample numbers and of the log martingale after these samples.

        Long streams have every second, fourth, eighth ... sample.
        """
        return self.test.path

    def __repr__(self) -> str:
        text = "no alarm" if self.alarm is None else f"alarm at sample {self.alarm}"
        return f"DriftMonitor({self.samples} samples, {text})"

    def plot(self, axes: Any = None) -> Any:
        """Draw the path of the martingale and its threshold; return the axes.

        It needs Matplotlib.
        """
        from pinesy.display.report_plots import plot_drift

        return plot_drift(self, axes)

    # --- files -----------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a JSON file: all scores so far, but no samples."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "calibration": _digest(self.test.counts),
            "labelled": self.labelled,
            **self.test.content,
        }
        with atomic_text(Path(path)) as stream:
            json.dump(content, stream)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], calibrated: CalibratedRules | CalibratedModel
    ) -> "DriftMonitor":
        """Return the monitor in a file, which continues to the same bits.

        Parameters
        ----------
        calibrated : the same as when it was saved
        """
        path = Path(path)
        try:
            content = json.loads(read_text(path))
            if content["format"] != FORMAT or content["version"] != VERSION:
                raise DataError(f"{path}: is no monitor of version {VERSION}")
            monitor = cls(calibrated, labelled=content["labelled"])
            if content["calibration"] != _digest(monitor.test.counts):
                raise DataError(f"{path}: is the monitor of another calibration; make a new one")
            monitor.test = ConformalMartingale.read(monitor.test.counts, content)
        except DataError:
            raise
        except (KeyError, TypeError, ValueError):
            raise DataError(f"{path}: is not what DriftMonitor.save wrote") from None
        return monitor


def _monitored_counts(calibrated: CalibratedRules, labelled: bool) -> ScoreCounts:
    """Return the counts of the calibration scores that new scores are compared with."""
    transform = calibrated.transform
    if not labelled:
        return transform.doubt_
    if transform.unit != "sample" or transform.class_conditional:
        raise DataError(
            "a labelled monitor needs a calibration that counts whole samples: unit='sample', "
            "without class_conditional"
        )
    return transform.counts_[0]


def _digest(counts: ScoreCounts) -> str:
    return hashlib.sha256(json.dumps(counts.content).encode()).hexdigest()


@dataclass(frozen=True, eq=False, repr=False)
class Novelty:
    """Which samples are novel: no value of some input or answer conforms to the calibration.

    Attributes
    ----------
    p_values : for each sample, the p-value of the best value of its least conforming input (or
        answer); at most a share `alpha` of exchangeable samples has `alpha` or less
    level : float
    novel : which samples are excluded at the level, whatever their values
    """

    p_values: FloatArray
    level: float
    novel: BoolArray

    @property
    def order(self) -> npt.NDArray[np.intp]:
        """The indices of the samples, the most novel first."""
        return np.argsort(self.p_values, kind="stable")

    def __repr__(self) -> str:
        return f"Novelty({self.novel.sum()} of {len(self.novel)} samples at {self.level:g})"


def novelty(
    calibrated: CalibratedRules,
    evidence: Evidence,
    level: float = 0.99,
    *,
    weights: npt.ArrayLike | None = None,
) -> Novelty:
    """Return which samples are novel: outliers with respect to the calibration samples.

    If new samples are exchangeable with those of calibration, at most a share ``1 - level`` is
    called novel: the best value conforms at least as well as the true one. `weights` are those of
    `CalibratedRules.predict_set`.
    """
    if not isinstance(calibrated, CalibratedRules):
        raise DataError(f"give what calibrate returns; got {calibrated!r:.60}")
    calibrated.transform.check_level(level)
    p = np.atleast_1d(calibrated.conformity(evidence, weights=weights))
    return Novelty(p, level, ~exceeds(p, level))
