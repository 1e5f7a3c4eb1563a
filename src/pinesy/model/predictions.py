"""Rules behind perceptions: what they perceive of samples, and predictions with a guarantee."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from pinesy._common.names import name_of
from pinesy._common.validation import FloatArray, cut_repr
from pinesy.calibration import CalibratedRules, PredictionSets, calibrate
from pinesy.calibration.conformal_transform import Unit
from pinesy.calibration.training_rows import TrainingRows
from pinesy.engine.program import Inference
from pinesy.evidence.targets import Target
from pinesy.exceptions import CascadeError, DataError
from pinesy.learning import accuracy
from pinesy.model.perceptions import RawSamples, Transform, View, labels_of, names, views_of
from pinesy.rulebase.cascade import Cascade, as_cascade
from pinesy.rulebase.rule_set import RuleSet
from pinesy.rules.attributes import Attribute
from pinesy.rules.possibility import Possibility
from pinesy.transforms import as_transform

#: Attributes that rules conclude on, or their names; None for those that no premise uses.
Outputs = Iterable[str | Attribute] | None


class Predictions(dict[str, npt.NDArray[Any]]):
    """The value of each output that is decided on, for each sample; None where none is.

    Arrays with None have dtype object.

    Attributes
    ----------
    outcomes : for each output an array of codes: ``"decided"``, or why there is no value
        (`Possibility.outcome`)
    contradiction : for each output an array: how far the rules contradict each other on the
        sample (`Possibility.contradiction`)
    """

    def __init__(self, inference: Mapping[str, Possibility]) -> None:
        if not isinstance(inference, Mapping):
            raise DataError(
                "predictions are of distributions by the names of outputs, such as "
                f"predict_possibility(samples); got {cut_repr(inference)}"
            )
        super().__init__((name, pi.best) for name, pi in inference.items())
        self.outcomes: dict[str, npt.NDArray[np.str_]] = {
            name: pi.outcome for name, pi in inference.items()
        }
        self.contradiction: dict[str, FloatArray] = {
            name: pi.contradiction for name, pi in inference.items()
        }


class PerceivedRules:
    """What `NeuroSymbolic` perceives and infers, with a guarantee once it is calibrated."""

    perception: Any
    rules: Cascade | RuleSet
    transform: Any
    inputs: Sequence[str | Attribute] | None
    calibration_: CalibratedRules
    training_rows_: TrainingRows

    @property
    def _rules(self) -> Cascade:
        """The rules that are used: with what was learned, if something was."""
        learned: Cascade | None = getattr(self, "rules_", None)
        return as_cascade(self.rules) if learned is None else learned

    @property
    def _transform(self) -> Transform:
        return as_transform(self.transform)

    @property
    def _ordered(self) -> tuple[Attribute, ...]:
        """The inputs in the order of arrays of samples."""
        given, inputs = self.inputs, as_cascade(self.rules).inputs
        if given is None:
            return inputs
        by_name = {a.name: a for a in inputs}
        keys = [] if isinstance(given, str) else [str(name_of(key)) for key in given]
        if sorted(keys) != sorted(by_name):
            raise CascadeError(
                f"inputs is {given!r:.80}; it must name each of {names(inputs)} once"
            )
        return tuple(by_name[key] for key in keys)

    @property
    def _views(self) -> tuple[View, ...]:
        """Each perception with the inputs that it sees."""
        return views_of(self.perception, self._ordered)

    def evidence(self, samples: Any) -> FloatArray:
        """Return the possibilities of all inputs side by side, in the order of `Cascade.inputs`.

        This is what `Cascade.infer`, `learn` and `audit` take.
        """
        return self._perceived(RawSamples.of(samples, self._ordered), self._transform)

    def probabilities(self, samples: Any) -> FloatArray:
        """Return the probabilities of all inputs side by side, in the order of `Cascade.inputs`.

        This is what `calibration_` takes.
        """
        return self._perceived(RawSamples.of(samples, self._ordered))

    def _perceived(self, samples: RawSamples, transform: Transform | None = None) -> FloatArray:
        degrees: dict[str, FloatArray] = {}
        for view in self._views:
            degrees |= view.perceived(samples, transform)
        return np.hstack([degrees[a.name] for a in self._rules.inputs])

    # --- inference -----------------------------------------------------------------------------

    def predict_possibility(self, samples: Any, outputs: Outputs = None) -> Inference:
        """Return the possibility distribution of each output, for each sample.

        Parameters
        ----------
        outputs : what is inferred; by default the attributes that no premise uses
        """
        return self._rules.infer(self.evidence(samples), outputs)

    def predict(self, samples: Any, outputs: Outputs = None) -> Predictions:
        """Return the value of each output that is decided on, and why there is none elsewhere.

        `outputs` are as in `predict_possibility`.
        """
        return Predictions(self.predict_possibility(samples, outputs))

    def predict_necessity(self, samples: Any, outputs: Outputs = None) -> dict[str, FloatArray]:
        """Return for each output and sample how certain each value is: ``N({u})``.

        It is NaN where the rules contradict each other (`Possibility.contradiction`).
        `outputs` are as in `predict_possibility`.

        Returns
        -------
        necessities : by the output's name, arrays ``(n, size of the domain)``
        """
        inference = self.predict_possibility(samples, outputs)
        return {name: _necessities(pi) for name, pi in inference.items()}

    def score(self, samples: Any, targets: Any) -> float:
        """Return the share of samples with all final outputs right and decided.

        Targets of other attributes count only if no final output has one; see `accuracy`.
        """
        return accuracy(self._rules, self.evidence(samples), targets)

    # --- with a guarantee ----------------------------------------------------------------------

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
        """Calibrate on more samples, as if they had been there at once.

        Sums of weights may differ from those in their last bits.
        """
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

    def calibration_evidence(self, samples: Any) -> FloatArray:
        """Return samples as `calibration_` takes them: their `probabilities`."""
        return self.probabilities(samples)

    def predict_calibrated(
        self, samples: Any, outputs: Outputs = None, *, weights: npt.ArrayLike | None = None
    ) -> Mapping[str, Possibility]:
        """Return calibrated distributions: 1 minus a degree is the level that excludes a value.

        `weights` are as `CalibratedRules.predict_set` takes them.
        """
        calibration = self._calibration
        return calibration.infer(self.probabilities(samples), outputs, weights=weights)

    def predict_set(
        self,
        samples: Any,
        level: float = 0.95,
        outputs: Outputs = None,
        *,
        weights: npt.ArrayLike | None = None,
    ) -> PredictionSets:
        """Return for each output the values that are not excluded at a level, for each sample.

        ``calibration_.guarantee`` says what is guaranteed; ``.outcomes`` of the result, why
        there is not one value alone. `weights` are as `CalibratedRules.predict_set` takes them.
        """
        calibration = self._calibration
        given = self.probabilities(samples)
        return calibration.predict_set(given, level, outputs, weights=weights)


def _necessities(possibility: Possibility) -> FloatArray:
    """Return ``N({u}) = 1 - max {pi(v) : v != u}`` of each value and sample; NaN if it has none."""
    degrees = possibility.degrees
    is_best = np.arange(degrees.shape[1]) == degrees.argmax(axis=1)[:, None]
    others = np.where(possibility.normalised, 1.0 - degrees.max(axis=1), np.nan)[:, None]
    return np.asarray(np.where(is_best, possibility.certainty[:, None], others))
