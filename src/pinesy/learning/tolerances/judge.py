"""A metric on validation data, checked."""

from collections.abc import Mapping
from math import isfinite, nan
from typing import Any

import numpy as np

from pinesy.exceptions import DataError, placed
from pinesy.learning.metrics import Metric, accuracy, answers
from pinesy.learning.tolerances.evaluations import show_thresholds
from pinesy.learning.tolerances.tolerance_groups import Group
from pinesy.rulebase.cascade import Cascade


class Judge:
    """A metric on validation data."""

    def __init__(self, metric: Metric, validation: object) -> None:
        if not callable(metric):
            raise DataError(
                f"the metric is {metric!r:.60}; give a function of a cascade, inputs and targets"
            )
        if not isinstance(validation, tuple | list) or len(validation) != 2:
            raise DataError(
                f"the validation data are {validation!r:.60}; give a pair (inputs, targets)"
            )
        self._metric = metric
        self._inputs, self._targets = validation
        self._known: dict[bytes, float] = {}

    def check(self, cascade: Cascade) -> None:
        """Check the validation data now, if it is known what the metric takes."""
        if self._metric is accuracy:
            with placed("the validation data"):
                answers(cascade, self._inputs, self._targets)

    def __call__(self, cascade: Cascade, thresholds: Mapping[Group, float]) -> float:
        """Return the metric of what was learned with some thresholds.

        Thresholds that give the same parameters have the same accuracy, which is measured once;
        what a metric of one's own depends on is not known.
        """
        if self._metric is not accuracy:
            return self._measured(cascade, thresholds)
        key = b"".join(z.tobytes() for one in cascade.rule_sets for z in (one.s, one.r))
        if key not in self._known:
            self._known[key] = self._measured(cascade, thresholds)
        return self._known[key]

    def _measured(self, cascade: Cascade, thresholds: Mapping[Group, float]) -> float:
        value = self._metric(cascade, self._inputs, self._targets)
        number = _as_float(value)
        if not isfinite(number):
            name = getattr(self._metric, "__name__", repr(self._metric))
            raise DataError(
                f"the metric {name:.60} returned {value!r:.60} for the thresholds "
                f"{show_thresholds(thresholds)}; it must return a finite number"
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
