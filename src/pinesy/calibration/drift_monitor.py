"""Watch a stream of samples: an alarm when they are no longer like those of calibration."""

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
        """Return samples as the calibrated rules take them."""


def rules_of(calibrated: Any) -> CalibratedRules:
    """Return calibrated rules, of a model its own, or raise `DataError`."""
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
    """Raises an alarm when new samples are no longer like those of calibration.

    It looks at the margin score of each sample (1 minus how far the best value of its least sure
    input, or answer, is ahead), which needs no true values; or, `labelled`, at how badly the true
    values fit.
    Ranked among all samples before it, calibration included, that is a p-value; if calibration and
    new samples are exchangeable, all p-values are independent and uniform, and the chance of an
    alarm, ever, is at most `chance`: see `ConformalMartingale` for the test. An alarm says that the
    guarantee of the calibration no longer rests on anything: calibrate anew, on new samples. No
    alarm is no proof that nothing has changed: a change that leaves the margin
    scores alone is not seen.

    Parameters
    ----------
    calibrated : what `calibrate` returns, without weights; or a calibrated `RuleClassifier` or
        `NeuroSymbolic`, whose samples `update` then takes
    chance : of a false alarm, ever
    labelled : whether true values come with the samples: those of what is calibrated, all inputs
        or all answers
    seed : of the lots that break ties

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
        self.calibrated, self.labelled = rules_of(calibrated), labelled
        counts = _counts(self.calibrated, labelled)
        self.test = ConformalMartingale(counts, chance=chance, seed=seed)

    def update(self, evidence: Evidence, targets: Mapping[str, Any] | None = None) -> DriftStatus:
        """See a batch of new samples, in the order in which they came.

        Parameters
        ----------
        evidence : as for the calibrated rules; of a model, samples as it takes them
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
        """How many samples were seen."""
        return self.test.samples

    @property
    def alarm(self) -> int | None:
        """The number of the sample, from 1 on, at which the alarm was raised; None if none was."""
        return self.test.alarm

    @property
    def path(self) -> tuple[npt.NDArray[np.int64], FloatArray]:
        """Numbers of samples and the natural logarithm of the martingale after them.

        Of long streams every second, fourth, eighth ... sample.
        """
        return self.test.path

    def __repr__(self) -> str:
        text = "no alarm" if self.alarm is None else f"alarm at sample {self.alarm}"
        return f"DriftMonitor({self.samples} samples, {text})"

    def plot(self, axes: Any = None) -> Any:
        """Draw the path of the martingale and the line of alarm; return the axes.

        It needs Matplotlib.
        """
        from pinesy.display.report_plots import plot_drift

        return plot_drift(self, axes)

    # --- files -----------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a JSON file: all scores that were seen, but no samples."""
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
        """Return the monitor in a file, which goes on to the same bits.

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


def _counts(calibrated: CalibratedRules, labelled: bool) -> ScoreCounts:
    """Return the scores that new ones are ranked among."""
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
    """Which samples conform to nothing that calibration has seen.

    Attributes
    ----------
    p_values : of each sample, how well the best value of its least conforming input (or answer)
        fits; of samples like those of calibration at most a share `alpha` is at `alpha` or below
    level : float
    novel : which samples are excluded at the level, whatever their values
    """

    p_values: FloatArray
    level: float
    novel: BoolArray

    @property
    def order(self) -> npt.NDArray[np.intp]:
        """The samples, from the most novel on."""
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
    """Return which samples conform to nothing that calibration has seen.

    If new samples are exchangeable with those of calibration, at most a share ``1 - level`` is
    called novel: the best value fits at least as well as the true one. `weights` are as
    `CalibratedRules.predict_set` takes them.
    """
    if not isinstance(calibrated, CalibratedRules):
        raise DataError(f"give what calibrate returns; got {calibrated!r:.60}")
    calibrated.transform.check_level(level)
    p = np.atleast_1d(calibrated.conformity(evidence, weights=weights))
    return Novelty(p, level, ~exceeds(p, level))
