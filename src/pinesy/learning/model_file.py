"""Model files: rules, their learned parameters and the provenance of these, as JSON.

A model file is a file of rules in JSON with one more key::

    "learning": {"version": 1, "samples": 25000, "provenance": {...},
                 "sets": {"c_1": {"tolerance": 0.05, "samples": 25000, "reliable": 24871,
                                  "smallest": 0.0, "distance": 0.0}, ...}}

A tolerance of null keeps every sample. ``fixed`` lists the fixed parameters, null for the others.
Any method but the exact one is named (``"method": "counts", "smoothing": 1.0``), and a set has its
counts, to which the counts of more samples can be added (`learn_more`)::

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
from pinesy.learning.learning_arguments import tolerances_by_set
from pinesy.learning.learning_result import LearningResult, SampleSummary, SetResult
from pinesy.learning.parameter_estimates import ParameterEstimate, RuleCounts, SetEstimate
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet

VERSION = 1


@dataclass(frozen=True, eq=False)
class LearnedRules:
    """A learned cascade and the provenance of its parameters.

    Attributes
    ----------
    result : a `LearningResult` (without the distances of samples) or a `ParameterEstimate`
    provenance : versions, the data's fingerprint, and other facts that were noted
    """

    result: LearningResult | ParameterEstimate
    provenance: Mapping[str, Any]

    @property
    def cascade(self) -> Cascade:
        """The cascade with its learned parameters."""
        return self.result.cascade

    @property
    def data(self) -> list[Any]:
        """The data files that the provenance notes."""
        noted = self.provenance.get("data", [])
        return list(noted) if isinstance(noted, list) else [noted]

    def may_know(self, sha256: str) -> bool:
        """Return whether a file may be training data: its SHA-256 is noted, or some are not."""
        digests = [file.get("sha256") for file in self.data if isinstance(file, dict)]
        return not digests or None in digests or sha256 in digests


def model_content(
    result: LearningResult | ParameterEstimate, provenance: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the entry ``"learning"`` of a model file; the rules are other entries."""
    if provenance is not None and not isinstance(provenance, Mapping):
        raise DataError(f"the provenance is a mapping of names to facts; got {provenance!r:.60}")
    versions = {
        "pinesy": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    content: dict[str, Any] = {
        "version": VERSION,
        "samples": result.samples,
        "provenance": {**(provenance or {}), **versions},
    }
    if isinstance(result, ParameterEstimate):
        content |= {"method": result.method, "smoothing": result.smoothing}
    return {**content, "sets": {name: _set_content(result[name]) for name in result.sets}}


def _set_content(learned: SetResult | SetEstimate) -> dict[str, Any]:
    """Return the content of a model file for one rule set."""
    content: dict[str, Any]
    if isinstance(learned, SetResult):
        content = {
            "tolerance": None if isinf(learned.tolerance) else learned.tolerance,
            "samples": learned.summary.samples,
            "reliable": learned.summary.reliable,
            "smallest": learned.summary.smallest,
            "distance": learned.distance,
        }
    else:
        content = {
            "samples": learned.counts.samples,
            "counts": learned.counts.units.tolist(),
            "losses": list(learned.losses),
        }
    if learned.fixed is not None:
        content["fixed"] = [None if np.isnan(z) else z for z in learned.fixed.tolist()]
    return content


def read_model(cascade: Cascade, learning: Any) -> LearnedRules:
    """Return the learned rules of a model file, from its rules and its entry ``"learning"``.

    Raises `DataError`, or `KeyError`, `TypeError`, `ValueError` and such if something is missing
    or has the wrong form.
    """
    if not isinstance(learning, dict) or learning.get("version") != VERSION:
        raise DataError(
            f'"learning", how the rules were learned, is not of version {VERSION}, which this '
            "pinesy reads"
        )
    samples, sets = _read_count(learning["samples"]), learning["sets"].items()
    result: LearningResult | ParameterEstimate
    if "method" not in learning:
        exact = {name: _read_result(cascade[name], name, content) for name, content in sets}
        result = LearningResult(cascade, exact, samples, {})
    else:
        estimates = {name: _read_estimate(cascade[name], name, content) for name, content in sets}
        method, smoothing = learning["method"], float(learning["smoothing"])
        if method not in ("counts", "gradient"):
            raise DataError(f"unknown method {method!r}; this pinesy knows 'counts' and 'gradient'")
        result = ParameterEstimate(cascade, estimates, samples, {}, method, smoothing)
    return LearnedRules(result, dict(learning["provenance"]))


def _read_result(rule_set: RuleSet, name: str, content: Mapping[str, Any]) -> SetResult:
    samples = _read_count(content["samples"])
    reliable = _read_count(content["reliable"], samples)
    smallest = check_degree(content["smallest"], f"the smallest distance of {name!r}")
    summary = SampleSummary(samples, reliable, smallest)
    tolerance = tolerances_by_set(content["tolerance"], [name])[name]
    distance = check_degree(content["distance"], f"the distance of {name!r}")
    fixed = _read_fixed(content)
    return SetResult(name, rule_set.s, rule_set.r, tolerance, summary, distance, fixed)


def _read_estimate(rule_set: RuleSet, name: str, content: Mapping[str, Any]) -> SetEstimate:
    units = np.array(content["counts"], dtype=np.int64)
    if units.shape != (len(rule_set), 4) or (units < 0).any():
        raise DataError(f"the counts of {name!r} are not four numbers >= 0 for each of its rules")
    counts = RuleCounts(_read_count(content["samples"]), units)
    losses = tuple(map(float, content["losses"]))
    return SetEstimate(name, rule_set.s, rule_set.r, counts, _read_fixed(content), losses)


def _read_fixed(content: Mapping[str, Any]) -> FloatArray | None:
    if "fixed" not in content:
        return None
    return np.array([np.nan if z is None else z for z in content["fixed"]], dtype=np.float64)


def _read_count(number: Any, most: float = inf) -> int:
    if type(number) is not int or not 0 <= number <= most:
        raise DataError(f'"learning": {number!r} is no number of samples')
    return number
