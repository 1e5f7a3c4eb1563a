"""What a neuro-symbolic model is fitted to, checked before a network is trained for hours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from pinesy._common.validation import FloatArray, suggestion
from pinesy.exceptions import DataError, placed
from pinesy.learning import LearningResult, ThresholdSearch, accuracy, learn, search_thresholds
from pinesy.learning.exact.in_memory import batch_of
from pinesy.learning.metrics import answers
from pinesy.learning.tolerances.tolerance_groups import Tolerance, members, resolve
from pinesy.model.pieces import Labels, Pieces, labels_of
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.targets import Target
from pinesy.rules.attributes import Attribute

#: What `fit` hands on to the search for thresholds as it is.
SEARCH = frozenset(signature(search_thresholds).parameters).difference(
    ["rules", "inputs", "targets", "validation", "groups", "initial"]
)


@dataclass(frozen=True, eq=False)
class Choice:
    """How tolerances are chosen: they are given, or there are validation data."""

    validation: Any
    groups: Sequence[Any] | None
    tolerance: Tolerance
    search: Mapping[str, Any]

    def check(self, targeted: Sequence[str]) -> None:
        """Raise an error unless the arguments go together, and name sets with targets."""
        for name in self.search:
            if name not in SEARCH:
                raise DataError(f"fit has no argument {name!r}{suggestion(name, sorted(SEARCH))}")
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
class Task:
    """Training samples and, if thresholds are to be searched for, others for validation.

    Attributes
    ----------
    pieces, labels : the data of samples, and what the values of inputs are
    targets : what should be inferred, for outputs by name
    held_out : the data of other samples, and their targets as the metric takes them
    choice : of the tolerances
    """

    pieces: Pieces
    labels: Labels
    targets: Mapping[str, Target]
    held_out: tuple[Pieces, Any] | None
    choice: Choice

    @classmethod
    def of(
        cls,
        cascade: Cascade,
        inputs: tuple[Attribute, ...],
        samples: tuple[Any, Any, Any],
        choice: Choice,
    ) -> "Task":
        """Check what `NeuroSymbolic.fit` is given; `samples` are data, concepts and targets."""
        data, concepts, targets = samples
        pieces = Pieces.of(data, inputs)
        labels = {} if concepts is None else labels_of(concepts, inputs, pieces.n)
        batch = batch_of(cascade, _ignorance(inputs, pieces.n), targets)
        choice.check(list(batch.targets))
        held_out = None if choice.validation is None else _held_out(cascade, inputs, choice)
        return cls(pieces, labels, batch.targets, held_out, choice)

    def learn(
        self, cascade: Cascade, evidence: FloatArray, held_out: FloatArray | None
    ) -> tuple[LearningResult, ThresholdSearch | None]:
        """Learn the parameters of the rules, given the evidence on all samples."""
        if held_out is None or self.held_out is None:
            tolerance = self.choice.tolerance
            return learn(cascade, evidence, self.targets, tolerance=tolerance), None
        validation = (held_out, self.held_out[1])
        groups, options = self.choice.groups, self.choice.search
        found = search_thresholds(
            cascade, evidence, self.targets, validation, groups=groups, **options
        )
        return found.result, found


def _ignorance(inputs: tuple[Attribute, ...], n: int) -> FloatArray:
    """Stand in for the evidence on `n` samples, where only targets are checked."""
    columns = sum(len(a.domain) for a in inputs)
    return np.broadcast_to(np.float64(1.0), (n, columns))


def _held_out(
    cascade: Cascade, inputs: tuple[Attribute, ...], choice: Choice
) -> tuple[Pieces, Any]:
    """Check validation data: their targets too, if it is known what the metric takes."""
    validation = choice.validation
    if not isinstance(validation, tuple | list) or len(validation) != 2:
        raise DataError(
            f"the validation data are {validation!r:.60}; give a pair (samples, targets)"
        )
    data, targets = validation
    pieces = Pieces.of(data, inputs, "X of the validation data")
    if choice.search.get("metric", accuracy) is accuracy:
        with placed("the validation data"):
            answers(cascade, _ignorance(inputs, pieces.n), targets)
    return pieces, targets
