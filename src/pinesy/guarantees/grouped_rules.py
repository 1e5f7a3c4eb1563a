"""Calibration for every group: the guarantee holds in each group by itself.

For a column of groups there is one calibration for each group (Mondrian). For conditions that may
overlap, ``pi(v) = max over the groups g that hold of f_g(sigma(v))``: for each group ``P(pi(true)
<= alpha | g) <= P(f_g <= alpha | g) <= alpha``, so that the guarantee holds in every group at once,
and a maximum of possibilities is one. All samples are always one of the overlapping groups.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import BoolArray, FloatArray, listed
from pinesy.calibration.calibrate import calibrate
from pinesy.calibration.calibrated_rules import CalibratedRules, Outputs, true_values
from pinesy.calibration.calibration_file import calibration_content, read_calibration
from pinesy.calibration.conformal_transform import ConformalTransform, as_parts
from pinesy.calibration.coverage import Levels, coverage
from pinesy.calibration.coverage_report import CoverageReport
from pinesy.calibration.prediction_sets import PredictionSets
from pinesy.calibration.score_counts import checked_weights, significance
from pinesy.evidence.evidence_form import Evidence, evidence_rows
from pinesy.exceptions import DataError, placed
from pinesy.guarantees.groups import ALL_SAMPLES, Groups, Memberships
from pinesy.learning.learning_result import LearningResult
from pinesy.learning.model_file import LearnedRules
from pinesy.learning.parameter_estimates import ParameterEstimate
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet


class GroupTransform(ConformalTransform):
    """The transformation of a batch whose groups are known: the largest p-value of its groups.

    Parameters
    ----------
    base : the transformation of all samples
    transforms : by group
    members : which groups each sample is in, or may be in, shape ``(n, groups)``
    """

    def __init__(
        self,
        base: ConformalTransform,
        transforms: Mapping[str, ConformalTransform],
        members: BoolArray,
    ) -> None:
        vars(self).update(vars(base))
        self.transforms, self.members = transforms, members

    def with_conformity(
        self, degrees: Any, weights: npt.ArrayLike | None = None
    ) -> tuple[Any, FloatArray]:
        """Return the largest calibrated possibilities of the groups, and of the conformities."""
        parts = as_parts(degrees)
        largest = {key: np.zeros(part.shape) for key, part in parts.items()}
        conformity = np.zeros(len(self.members))
        checked = self.new_weights(weights, len(self.members))
        for members, transform in zip(self.members.T, self.transforms.values(), strict=True):
            rows = np.flatnonzero(members)
            if not len(rows):
                continue
            rows_of_parts = {key: part[rows] for key, part in parts.items()}
            pis, least = transform.with_conformity(
                rows_of_parts, None if checked is None else checked[rows]
            )
            for key, pi in pis.items():
                largest[key][rows] = np.maximum(largest[key][rows], pi)
            conformity[rows] = np.maximum(conformity[rows], least)
        return largest if isinstance(degrees, Mapping) else next(iter(largest.values())), conformity

    @property
    def group_sizes(self) -> dict[str, int]:
        """By group, the number of calibration samples behind its guarantee."""
        return {name: transform.n for name, transform in self.transforms.items()}

    @property
    def n(self) -> int:
        """The least number of calibration samples of the groups in the batch."""
        sizes = np.array([*self.group_sizes.values()])
        return int(sizes[np.asarray(self.members.any(axis=0))].min())

    def check_level(self, level: float) -> float:
        """Return ``alpha``; raise an error if a group of the batch has too few samples for it."""
        for members, (name, transform) in zip(self.members.T, self.transforms.items(), strict=True):
            if members.any():
                with placed(f"group {name!r}"):
                    transform.check_level(level)
        return significance(level)


@dataclass(frozen=True, eq=False, repr=False)
class GroupedRules:
    """Rules that are calibrated for every group, as `calibrate_groups` returns them.

    Attributes
    ----------
    base : the calibration by all samples
    groups : by name, the calibration by the samples of each group
    overlapping : whether the groups are conditions that may overlap
    column : the column of data files that has the groups, if commands are to read it; or None
    """

    base: CalibratedRules
    groups: Mapping[str, CalibratedRules]
    overlapping: bool
    column: str | None = None

    def for_groups(self, groups: Groups, n: int) -> CalibratedRules:
        """Return the calibrated rules for a batch of `n` samples of some groups.

        A sample whose group is blank takes the largest degrees of all groups. Raises `DataError`
        for a group that was never calibrated.
        """
        names = tuple(self.groups)
        if isinstance(groups, Mapping) != self.overlapping:
            kind = "a dict of conditions" if self.overlapping else "a column of names"
            raise DataError(f"groups is {groups!r:.60}; give {kind}, as in calibration")
        members = Memberships.of(groups, n, names).possible
        in_all = np.ones(n, dtype=np.bool_) if self.overlapping else members.all(axis=1)
        transforms = {name: rules.transform for name, rules in self.groups.items()}
        return replace(
            self.base,
            transform=GroupTransform(
                self.base.transform,
                transforms | {ALL_SAMPLES: self.base.transform},
                np.column_stack([members, in_all]),
            ),
        )

    def predict_set(
        self,
        evidence: Evidence,
        level: float = 0.95,
        outputs: Outputs = None,
        *,
        groups: Groups,
        weights: npt.ArrayLike | None = None,
    ) -> PredictionSets:
        """Return the sets of a level, which hold the true values as often in every group.

        Parameters
        ----------
        groups : as in calibration: the name of the group of each sample, blank where it is not
            known; or the conditions
        weights : as `CalibratedRules.predict_set` takes them
        """
        calibrated = self.for_groups(groups, self._n_samples(evidence))
        return calibrated.predict_set(evidence, level, outputs, weights=weights)

    def coverage(
        self,
        evidence: Evidence,
        targets: Any,
        levels: Levels = None,
        *,
        groups: Groups,
        weights: npt.ArrayLike | None = None,
    ) -> CoverageReport:
        """Compare observed coverage with nominal levels, in each group (`pinesy.coverage`)."""
        calibrated = self.for_groups(groups, self._n_samples(evidence))
        return coverage(calibrated, evidence, targets, levels, groups=groups, weights=weights)

    def _n_samples(self, evidence: Evidence) -> int:
        return evidence_rows(self.base.rules, evidence).n

    @property
    def guarantee(self) -> str:
        """The guarantee as a sentence."""
        sizes = [f"{name} ({rules.transform.n})" for name, rules in self.groups.items()]
        return (
            f"In each group by itself: {self.base.guarantee} Groups and their calibration samples: "
            f"{listed(sizes)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the groups as plain data for JSON, without the rules and the `base`."""
        groups = [[name, calibration_content(rules)] for name, rules in self.groups.items()]
        content = {"version": 1, "overlapping": self.overlapping, "groups": groups}
        return content if self.column is None else content | {"column": self.column}

    @classmethod
    def from_dict(cls, base: CalibratedRules, content: Mapping[str, Any]) -> "GroupedRules":
        """Return the calibration of `to_dict`; raise an error for other content."""
        if content["version"] != 1:
            raise DataError('"groups" is not of version 1, which this pinesy reads')
        groups = {
            str(name): read_calibration(base.rules, part, base.learned)
            for name, part in content["groups"]
        }
        if not groups or {type(rules) for rules in groups.values()} != {type(base)}:
            raise DataError('"groups" is not of this calibration; the file was changed')
        column = content.get("column")
        if not isinstance(column, str | None):
            raise DataError('"column" of "groups" must be the name of a column')
        return cls(base, groups, bool(content["overlapping"]), column)

    def __repr__(self) -> str:
        return f"GroupedRules({listed(list(self.groups))}; {self.base!r})"


def calibrate_groups(
    rules: Cascade | RuleSet | LearnedRules | LearningResult | ParameterEstimate,
    evidence: Evidence,
    targets: Mapping[Any, Any],
    groups: Groups,
    *,
    weights: npt.ArrayLike | None = None,
    **options: Any,
) -> GroupedRules:
    """Calibrate for every group, so that the guarantee holds in each of them by itself.

    Parameters
    ----------
    rules, evidence, targets, options : as `pinesy.calibrate` takes them
    groups : a column, the name of the group of each sample; or a dict from names to conditions
        (whether each sample is in the group), which may overlap. They must use only what is known
        at prediction. Samples whose entry is blank count for all samples only.
    weights : sample weights, for a covariate shift

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> sky, rain = Attribute("sky", ["dark", "clear"]), Attribute("rain", ["yes", "no"])
    >>> rules = RuleSet([Iff(sky.isin({"dark"})).then(rain.isin({"yes"}))])
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([0.5, 0.5], 400)
    >>> camera = np.where(np.arange(400) % 4 == 0, "old", "new")
    >>> is_dark = rng.random(400) < np.where(camera == "new", p[:, 0], 0.5)  # the old is blind
    >>> truth = {"sky": np.where(is_dark, "dark", "clear")}
    >>> fair = calibrate_groups(rules, {"sky": p}, truth, camera)
    >>> sample = {"sky": [[0.9, 0.1]] * 3}
    >>> fair.predict_set(sample, 0.9, groups=["new", "old", None])["rain"]
    [('yes',), ('yes', 'no'), ('yes', 'no')]
    """
    base = calibrate(rules, evidence, targets, weights=weights, **options)
    parts = base.parts(evidence)
    n = len(next(iter(parts.values())))
    labels = base.label_indices(true_values(base.rules, targets), n)
    checked = None if weights is None else checked_weights(weights, n)
    memberships = Memberships.of(groups, n)
    calibrated = {}
    for name, members in zip(memberships.names, memberships.certain.T, strict=True):
        rows = np.flatnonzero(members)
        with placed(f"group {name!r}"):
            transform = base.transform.unfitted().fit(
                {key: part[rows] for key, part in parts.items()},
                {key: columns[rows] for key, columns in labels.items()},
                None if checked is None else checked[rows],
            )
        calibrated[name] = replace(base, transform=transform)
    return GroupedRules(base, calibrated, memberships.overlapping)
