"""Model files: rules, their learned parameters and where these come from, as JSON.

A model file is a file of rules in JSON with one more key::

    "learning": {"version": 1, "samples": 25000, "provenance": {...},
                 "sets": {"c_1": {"tolerance": 0.05, "samples": 25000, "reliable": 24871,
                                  "smallest": 0.0, "distance": 0.0}, ...}}

A tolerance of null keeps every sample. ``fixed`` has the parameters that were, null for the others.
Where the method is not the exact one, it is named (``"method": "counts", "smoothing": 1.0``), and a
set has its counts, to which those of more samples can be added (`learn_more`)::

    {"samples": 300, "counts": [[...], ...], "losses": []}
"""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isinf
from typing import Any

import numpy as np

from pinesy._common.validation import FloatArray, check_degree
from pinesy._version import __version__
from pinesy.exceptions import DataError
from pinesy.learning.learning_arguments import resolve
from pinesy.learning.learning_result import LearningResult, SampleSummary, SetResult
from pinesy.learning.parameter_estimates import ParameterEstimate, RuleCounts, SetEstimate
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet

VERSION = 1


@dataclass(frozen=True, eq=False)
class LearnedRules:
    """A learned cascade and where its parameters come from.

    Attributes
    ----------
    result : what was learned (without the distances of single samples), a `LearningResult` or a
        `ParameterEstimate`
    provenance : versions, the data's fingerprint, and whatever was noted beside
    """

    result: LearningResult | ParameterEstimate
    provenance: Mapping[str, Any]

    @property
    def cascade(self) -> Cascade:
        """The cascade with its parameters."""
        return self.result.cascade

    @property
    def data(self) -> list[Any]:
        """What the provenance notes of the data, a file each."""
        noted = self.provenance.get("data", [])
        return list(noted) if isinstance(noted, list) else [noted]

    def may_know(self, sha256: str) -> bool:
        """Return whether it may have been learned from a file: it is noted, or nothing is."""
        digests = [file.get("sha256") for file in self.data if isinstance(file, dict)]
        return not digests or None in digests or sha256 in digests


def model_content(
    result: LearningResult | ParameterEstimate, provenance: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return what a model file holds of learning; the rules stand beside it."""
    if provenance is not None and not isinstance(provenance, Mapping):
        raise DataError(f"the provenance is a mapping of names to facts; got {provenance!r:.60}")
    versions = {
        "pinesy": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    return {
        "version": VERSION,
        "samples": result.samples,
        "provenance": {**(provenance or {}), **versions},
        **_content(result),
    }


def read_model(cascade: Cascade, learning: Any) -> LearnedRules:
    """Return what `model_content` was made of, for the rules beside it.

    Raises `DataError`, or `KeyError`, `TypeError`, `ValueError` and such if something is missing
    or confused.
    """
    if not isinstance(learning, dict) or learning.get("version") != VERSION:
        raise DataError(
            f'"learning", how the rules were learned, is not of version {VERSION}, which this '
            "pinesy reads"
        )
    return LearnedRules(_result(cascade, learning), dict(learning["provenance"]))


def _content(result: LearningResult | ParameterEstimate) -> dict[str, Any]:
    """Return what is written of a result, apart from its samples and provenance."""
    if isinstance(result, LearningResult):
        return {"sets": {name: _set_content(learned) for name, learned in result.sets.items()}}
    sets = {
        name: {
            "samples": learned.counts.samples,
            "counts": learned.counts.units.tolist(),
            "losses": list(learned.losses),
            **_fixed_content(learned),
        }
        for name, learned in result.sets.items()
    }
    return {"method": result.method, "smoothing": result.smoothing, "sets": sets}


def _set_content(learned: SetResult) -> dict[str, Any]:
    return {
        "tolerance": None if isinf(learned.tolerance) else learned.tolerance,
        "samples": learned.summary.samples,
        "reliable": learned.summary.reliable,
        "smallest": learned.summary.smallest,
        "distance": learned.distance,
        **_fixed_content(learned),
    }


def _fixed_content(learned: SetResult | SetEstimate) -> dict[str, Any]:
    if learned.fixed is None:
        return {}
    return {"fixed": [None if np.isnan(z) else z for z in learned.fixed.tolist()]}


def _fixed(content: Mapping[str, Any]) -> FloatArray | None:
    if "fixed" not in content:
        return None
    return np.array([np.nan if z is None else z for z in content["fixed"]], dtype=np.float64)


def _result(cascade: Cascade, learning: Mapping[str, Any]) -> LearningResult | ParameterEstimate:
    samples, sets = _count(learning["samples"]), learning["sets"].items()
    if "method" not in learning:
        exact = {name: _set_result(cascade, name, content) for name, content in sets}
        return LearningResult(cascade, exact, samples, {})
    estimates = {name: _set_estimate(cascade[name], name, content) for name, content in sets}
    method = learning["method"]
    if method not in ("counts", "gradient"):
        raise DataError(f"there is no method {method!r} of learning in this version of pinesy")
    return ParameterEstimate(cascade, estimates, samples, {}, method, float(learning["smoothing"]))


def _set_estimate(rule_set: RuleSet, name: str, content: Mapping[str, Any]) -> SetEstimate:
    units = np.array(content["counts"], dtype=np.int64)
    if units.shape != (len(rule_set), 4) or (units < 0).any():
        raise DataError(f"the counts of {name!r} are not four numbers >= 0 for each of its rules")
    counts = RuleCounts(_count(content["samples"]), units)
    losses = tuple(map(float, content["losses"]))
    return SetEstimate(name, rule_set.s, rule_set.r, counts, _fixed(content), losses)


def _count(number: Any, most: float = inf) -> int:
    if type(number) is not int or not 0 <= number <= most:
        raise DataError(f'"learning": {number!r} is no number of samples')
    return number


def _set_result(cascade: Cascade, name: str, content: Mapping[str, Any]) -> SetResult:
    rule_set = cascade[name]
    samples = _count(content["samples"])
    reliable = _count(content["reliable"], samples)
    smallest = check_degree(content["smallest"], f"the smallest distance of {name!r}")
    summary = SampleSummary(samples, reliable, smallest)
    tolerance = resolve(content["tolerance"], [name])[name]
    distance = check_degree(content["distance"], f"the distance of {name!r}")
    return SetResult(name, rule_set.s, rule_set.r, tolerance, summary, distance, _fixed(content))
