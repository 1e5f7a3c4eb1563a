"""What a neuro-symbolic model is fitted to, checked before a network is trained for hours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinesy._common.validation import FloatArray
from pinesy.exceptions import DataError, placed
from pinesy.learning import LearningResult, ToleranceSearch, accuracy, learn, search_tolerances
from pinesy.learning.exact.in_memory import batch_of
from pinesy.learning.metrics import answers
from pinesy.learning.tolerances.tolerance_groups import Tolerance, members, resolve
from pinesy.model.raw_samples import Labels, RawSamples, labels_of
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.targets import Target
from pinesy.rules.attributes import Attribute


@dataclass(frozen=True, eq=False)
class ToleranceChoice:
    """How tolerances are chosen: they are given, or there are validation data.

    Attributes
    ----------
    search : the other arguments of `search_tolerances`, those that were given
    """

    validation: Any
    groups: Sequence[Any] | None
    tolerance: Tolerance
    search: Mapping[str, Any]

    def check(self, targeted: Sequence[str]) -> None:
        """Raise an error unless the arguments go together, and name sets with targets."""
        given = [*self.search, *(["groups"] if self.groups is not None else [])]
        if self.validation is None and given:
            raise DataError(
                f"{', '.join(given)}: for a search for thresholds, which needs validation data"
            )
        if self.validation is not None and self.tolerance is not None:
            raise DataError(
                "tolerance and validation are both given; thresholds are either given or chosen "
                "by validation data"
            )
        resolve(self.tolerance, targeted)
        for group in self.groups if isinstance(self.groups, list | tuple) else ():
            members(group, targeted)


@dataclass(frozen=True, eq=False)
class FittingTask:
    """Training samples and, if thresholds are to be searched for, others for validation.

    Attributes
    ----------
    samples, labels : the data of samples, and the values of their inputs
    targets : what should be inferred, for outputs by name
    validation : the data of other samples, and their targets as the metric takes them
    choice : of the tolerances
    """

    samples: RawSamples
    labels: Labels
    targets: Mapping[str, Target]
    validation: tuple[RawSamples, Any] | None
    choice: ToleranceChoice

    @classmethod
    def of(
        cls,
        rules: Cascade,
        inputs: tuple[Attribute, ...],
        given: tuple[Any, Any, Any],
        choice: ToleranceChoice,
    ) -> "FittingTask":
        """Check what `NeuroSymbolic.fit` is given: samples, targets and concepts."""
        data, targets, concepts = given
        samples = RawSamples.of(data, inputs)
        labels = {} if concepts is None else labels_of(concepts, inputs, samples.n)
        batch = batch_of(rules, _ignorance(inputs, samples.n), targets)
        choice.check(list(batch.targets))
        validation = None if choice.validation is None else _validation(rules, inputs, choice)
        return cls(samples, labels, batch.targets, validation, choice)

    def learn(
        self, rules: Cascade, evidence: FloatArray, validation: FloatArray | None
    ) -> tuple[LearningResult, ToleranceSearch | None]:
        """Learn the parameters of the rules, given the evidence on all samples."""
        if validation is None or self.validation is None:
            return learn(rules, evidence, self.targets, tolerance=self.choice.tolerance), None
        search = search_tolerances(
            rules,
            evidence,
            self.targets,
            (validation, self.validation[1]),
            groups=self.choice.groups,
            **self.choice.search,
        )
        return search.result, search


def _ignorance(inputs: tuple[Attribute, ...], n: int) -> FloatArray:
    """Stand in for the evidence on `n` samples, where only targets are checked."""
    columns = sum(len(a.domain) for a in inputs)
    return np.broadcast_to(np.float64(1.0), (n, columns))


def _validation(
    rules: Cascade, inputs: tuple[Attribute, ...], choice: ToleranceChoice
) -> tuple[RawSamples, Any]:
    """Check validation data: their targets too, if it is known what the metric takes."""
    given = choice.validation
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise DataError(f"the validation data are {given!r:.60}; give a pair (samples, targets)")
    data, targets = given
    samples = RawSamples.of(data, inputs, "samples of the validation data")
    if choice.search.get("metric", accuracy) is accuracy:
        with placed("the validation data"):
            answers(rules, _ignorance(inputs, samples.n), targets)
    return samples, targets
