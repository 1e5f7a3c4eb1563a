"""What a `RuleClassifier` says of its decisions: probabilities, abstentions, and guarantees."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from pinesy._common.validation import FloatArray, check_degree
from pinesy.calibration import CalibratedRules, PredictionSets, calibrate
from pinesy.calibration.training_rows import TrainingRows
from pinesy.estimators.feature_table import Columns, evidence_of, read_features
from pinesy.exceptions import DataError, TableError
from pinesy.rulebase.cascade import Cascade
from pinesy.transforms import antipignistic_inverse

#: Why no value is predicted, where none is.
ABSTENTIONS = ("", "ambiguous", "contradictory", "unknown")


def probabilities(pi: FloatArray) -> FloatArray:
    """Return the probabilities that possibilities (n, classes) stand for; see `predict_proba`."""
    height = pi.max(axis=1, keepdims=True)
    scaled = np.where(height > 0.0, pi / np.where(height > 0.0, height, 1.0), 1.0)
    return np.asarray(antipignistic_inverse(scaled))


def abstention_kinds(pi: FloatArray, certainty: float) -> npt.NDArray[np.str_]:
    """Return why no class is predicted with a certainty: for each row a word, empty if one is."""
    least = check_degree(certainty, "certainty")
    top = np.sort(pi, axis=1)[:, ::-1]
    sure = (top[:, 0] > top[:, 1]) & (top[:, 0] - top[:, 1] >= least)
    kinds = np.where(top[:, 0] < 1.0, 2, np.where(top[:, -1] == 1.0, 3, 1))
    return np.array(ABSTENTIONS)[np.where(sure, 0, kinds)]


class GuaranteedClasses:
    """What a `RuleClassifier` says with a guarantee, once it is calibrated."""

    calibration_: CalibratedRules
    training_rows_: TrainingRows
    rules_: Cascade
    target_: str

    def _checked_labels(self, y: Any, sample_weight: Any, columns: Columns) -> tuple[Any, Any]:
        raise NotImplementedError

    def calibrate(
        self,
        X: Any,  # noqa: N803
        y: Any,
        sample_weight: Any = None,
        class_conditional: bool = False,
    ) -> Self:
        """Calibrate on rows that were not used in `fit`; sets `calibration_`.

        `predict` and the possibilities stay as they are: calibration makes ties, because p-values
        are shares of rows.

        Parameters
        ----------
        X, y : rows and their true labels
        sample_weight : how much more frequent rows like each are among those to come
        class_conditional : count the rows of each class apart, so that the guarantee holds for
            each class by itself
        """
        check_is_fitted(self)
        columns = read_features(self, X, reset=False)
        labels, weights = self._checked_labels(y, sample_weight, columns)
        try:
            self.training_rows_.refuse(columns)
            self.calibration_ = calibrate(
                self.rules_,
                evidence_of(columns, self.rules_.inputs),
                {self.target_: labels.tolist()},
                weights=weights,
                class_conditional=class_conditional,
            )
        except DataError as error:
            raise TableError(str(error)) from error
        return self

    def _calibrated(self, features: Any) -> tuple[CalibratedRules, dict[str, Any]]:
        """Return the calibration, and rows as its evidence."""
        check_is_fitted(self)
        if not hasattr(self, "calibration_"):
            raise TableError(
                "the classifier is not calibrated; call calibrate(X, y) with rows that were not "
                "used in fit"
            )
        columns = read_features(self, features, reset=False)
        return self.calibration_, evidence_of(columns, self.rules_.inputs)

    def predict_calibrated(self, X: Any) -> FloatArray:  # noqa: N803
        """Return calibrated possibilities ``(n_samples, n_classes)``; at least one class has 1.

        A class is excluded at all levels up to 1 minus its possibility.
        """
        calibration, evidence = self._calibrated(X)
        return np.asarray(calibration.infer(evidence)[self.target_].degrees)

    def predict_set(self, X: Any, level: float = 0.95) -> PredictionSets:  # noqa: N803
        """Return the classes that are not excluded at a level, for each row.

        ``sets[model.target_]`` is a list of tuples, ``sets.abstentions[model.target_]`` says why
        there is not one class alone, and ``calibration_.guarantee`` what is guaranteed.
        """
        calibration, evidence = self._calibrated(X)
        return calibration.predict_set(evidence, level)
