"""Predictions: the decided values, and the outcomes where there are none."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray, cut_repr
from pinesy.exceptions import DataError
from pinesy.rules.possibility import Possibility


class Predictions(dict[str, npt.NDArray[Any]]):
    """The decided value of each output, for each sample; None where there is none.

    Arrays with None have dtype object.

    Attributes
    ----------
    outcomes : for each output an array of codes: ``"decided"``, or why there is no value
        (`Possibility.outcome`)
    contradiction : for each output an array of degrees to which the rules contradict each other
        (`Possibility.contradiction`)
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
