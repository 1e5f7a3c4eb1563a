"""Predictions of neuro-symbolic models, and those with a guarantee: calibrated by samples."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy.typing as npt

from pinesy._common.validation import BoolArray, FloatArray
from pinesy.calibration import CalibratedRules, PredictionSets, calibrate
from pinesy.calibration.conformal_transform import Unit
from pinesy.calibration.training_rows import TrainingRows
from pinesy.exceptions import DataError
from pinesy.model.perceptions import RawSamples, labels_of
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.targets import Target
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility

#: Attributes that rules conclude on, or their names; None for those that no premise uses.
Outputs = Iterable[str | Attribute] | None


class Predictions(dict[str, npt.NDArray[Any]]):
    """The most possible value of each output, for each sample; None where rules contradict.

    Attributes
    ----------
    contradiction : for each output an array: how far the rules contradict each other on the
        sample (`Possibility.contradiction`). Where it is above 0 the value is None, and the array
        of the values has dtype object.
    ambiguous : for each output a bool array: where several values are equally possible. No
        conclusion is drawn there; the value is the first of them in the order of the domain.
    """

    def __init__(self, inference: Mapping[str, Possibility]) -> None:
        super().__init__((name, pi.best) for name, pi in inference.items())
        self.ambiguous: dict[str, BoolArray] = {
            name: pi.ambiguous for name, pi in inference.items()
        }
        self.contradiction: dict[str, FloatArray] = {
            name: pi.contradiction for name, pi in inference.items()
        }


class GuaranteedPredictions:
    """What `NeuroSymbolic` says with a guarantee, once it is calibrated."""

    calibration_: CalibratedRules
    training_rows_: TrainingRows
    transform: Any

    @property
    @abstractmethod
    def _rules(self) -> Cascade: ...

    @property
    @abstractmethod
    def _ordered(self) -> tuple[Attribute, ...]: ...

    @abstractmethod
    def _perceived(self, samples: RawSamples) -> FloatArray: ...

    def calibrate(
        self,
        samples: Any,
        concepts: Any = None,
        answers: Mapping[Any, Any] | None = None,
        *,
        score: str = "complement",
        unit: Unit = "sample",
        class_conditional: bool = False,
        kinds: Mapping[Any, Any] | None = None,
        weights: npt.ArrayLike | None = None,
        exceptions: float | None = None,
    ) -> Self:
        """Calibrate on samples that were not used in training; sets `calibration_`.

        With concepts the inputs are calibrated, by 1 minus the probabilities of the perception;
        with answers alone the answers are. `predict` and `predict_possibility` stay as they are:
        calibration makes ties, because p-values are shares of samples.

        Parameters
        ----------
        samples : as in `predict`
        concepts : the true values of all inputs, as in `fit`
        answers : by output, the true values; with concepts, they tell how often the rules fail
        score, unit, class_conditional, kinds, weights, exceptions : as `pinesy.calibrate` takes
            them
        """
        given, targets = self._calibration_data(samples, concepts, answers)
        self.calibration_ = calibrate(
            self._rules,
            self._perceived(given),
            targets,
            score=score,
            unit=unit,
            class_conditional=class_conditional,
            kinds=kinds,
            weights=weights,
            exceptions=exceptions,
            transform=self.transform if concepts is None else None,
        )
        return self

    def calibrate_more(
        self,
        samples: Any,
        concepts: Any = None,
        answers: Mapping[Any, Any] | None = None,
        *,
        weights: npt.ArrayLike | None = None,
    ) -> Self:
        """Calibrate on more samples, as if they had been there at once."""
        before = self._calibration
        given, targets = self._calibration_data(samples, concepts, answers)
        self.calibration_ = before.calibrate_more(self._perceived(given), targets, weights)
        return self

    def _calibration_data(
        self, samples: Any, concepts: Any, answers: Mapping[Any, Any] | None
    ) -> tuple[RawSamples, dict[Any, Any]]:
        """Return samples and true values, by input or output."""
        if concepts is None and not answers:
            raise DataError("calibration needs concepts (true values of inputs), or answers")
        given = RawSamples.of(samples, self._ordered)
        if hasattr(self, "training_rows_"):
            self.training_rows_.refuse(given.columns)
        truth: dict[Any, Any] = dict(answers or {})
        if concepts is not None:
            labels = labels_of(concepts, self._ordered, given.n)
            inputs = {a.name: a for a in self._ordered}
            truth |= {name: Target.at(at, inputs[name]) for name, at in labels.items()}
        return given, truth

    @property
    def _calibration(self) -> CalibratedRules:
        if not hasattr(self, "calibration_"):
            raise DataError(
                "the model is not calibrated; call calibrate with samples that were not used in "
                "training"
            )
        return self.calibration_

    def predict_calibrated(
        self, samples: Any, outputs: Outputs = None
    ) -> Mapping[str, Possibility]:
        """Return calibrated distributions: 1 minus a degree is the level that excludes a value."""
        calibration = self._calibration
        return calibration.infer(self.probabilities(samples), outputs)

    def predict_set(
        self,
        samples: Any,
        level: float = 0.95,
        outputs: Outputs = None,
        *,
        weights: npt.ArrayLike | None = None,
    ) -> PredictionSets:
        """Return for each output the values that are not excluded at a level, for each sample.

        ``calibration_.guarantee`` says what is guaranteed; ``.abstentions`` of the result, why
        there is not one value alone. `weights` are as `CalibratedRules.predict_set` takes them.
        """
        calibration = self._calibration
        given = self.probabilities(samples)
        return calibration.predict_set(given, level, outputs, weights=weights)

    def probabilities(self, samples: Any) -> FloatArray:
        """Return the probabilities of all inputs side by side, in the order of `Cascade.inputs`.

        This is what `calibration_` takes.
        """
        return self._perceived(RawSamples.of(samples, self._ordered))
