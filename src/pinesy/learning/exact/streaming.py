"""Learning from batches, in memory that does not grow with the number of samples."""

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from typing import Any

from pinesy._common.console import progress as progress_bar
from pinesy.exceptions import DataError, placed
from pinesy.learning.exact.in_memory import Rules, batch_of_pair, check_targeted, with_initial
from pinesy.learning.exact.sample_systems import Measured, Stage
from pinesy.learning.exact.stages import Samples, learn_from
from pinesy.learning.learning_result import (
    LearningResult,
    SampleSummary,
    merge_distances,
    merge_summaries,
)
from pinesy.learning.tolerances.tolerance_groups import Tolerance, resolve
from pinesy.minmax import Fronts
from pinesy.rulebase.cascade import Cascade

#: Pairs ``(evidence, targets)`` as `learn` takes them, in something that can be iterated again.
Batches = Iterable[tuple[Any, Any]]


def learn_batches(
    rules: Rules,
    batches: Batches,
    *,
    tolerance: Tolerance = None,
    initial: Any = None,
    progress: bool = False,
) -> LearningResult:
    """Learn from batches of samples, exactly as `learn` does from all of them together.

    For each stage of a cascade the batches are read twice: once for the fronts and, unless these
    are empty, once for the distance of the stacked system. In between only the fronts are stored.

    Parameters
    ----------
    batches : an iterable of pairs ``(evidence, targets)`` that can be iterated again and again,
        such as a list or a `SampleFile`; a generator cannot
    progress : show on a terminal how far the reading is
    rules, tolerance, initial : as for `learn`

    Examples
    --------
    >>> from pinesy import Attribute, If, RuleSet
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([If(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> monday = {"rain": [[1.0, 0.0]]}, [[1.0, 0.25]]
    >>> tuesday = {"rain": [[0.0, 1.0]]}, [[0.5, 1.0]]
    >>> print(learn_batches(rules, [monday, tuesday]).rule_set)
    if rain in {yes} then grass in {wet} [s=0.5, r=0.25]
    """
    cascade = with_initial(rules, initial)
    samples = Streamed(cascade, batches, progress)
    return learn_from(cascade, samples, resolve(tolerance, samples.targeted))


class Streamed(Samples):
    """Samples that are read again for every pass; nothing of them is stored but summaries.

    Attributes
    ----------
    targeted : the attributes that have targets, in the order of inference
    total : the number of samples, known after the first pass
    """

    def __init__(self, cascade: Cascade, batches: Batches, progress: bool = False) -> None:
        self._cascade = cascade
        self._batches = batches
        self._progress = progress
        self._stage: Stage
        self.total: int | None = None
        if not isinstance(batches, Iterable) or iter(batches) is batches:
            raise DataError(
                "the batches must be something that can be iterated again, such as a list or a "
                "SampleFile; a generator or iterator is used up after one pass"
            )
        for pair in batches:
            self.targeted = list(batch_of_pair(cascade, "batch 0", pair).targets)
            return
        raise DataError("there are no batches to learn from")

    def begin(self, stage: Stage) -> "Streamed":
        """Note what the next passes are about."""
        self._stage = stage
        return self

    def summaries(self, tolerances: Mapping[str, float]) -> dict[str, SampleSummary]:
        """Do the first pass over the batches."""
        parts = (measured.summaries(tolerances) for measured in self._measured("fronts"))
        return reduce(merge_summaries, parts)

    def stacked(
        self, tolerances: Mapping[str, float], fronts: Mapping[str, Fronts]
    ) -> dict[str, float]:
        """Do the second pass over the batches."""
        parts = (measured.stacked(tolerances, fronts) for measured in self._measured("distances"))
        return reduce(merge_distances, parts)

    def _measured(self, what: str) -> Iterator[Measured]:
        """Yield the measures of each batch; the number of samples must be that of other passes."""
        label = f"{what} of {', '.join(self._stage.names[:3])}" if self._progress else ""
        n = 0
        with progress_bar(label, self.total) as bar:
            for number, pair in enumerate(self._batches):
                batch = batch_of_pair(self._cascade, f"batch {number}", pair)
                check_targeted(f"batch {number}", batch.targets, self.targeted)
                with placed(f"batch {number}"):
                    measured = Measured(self._stage, batch)
                yield measured
                n += batch.n
                bar.advance(batch.n)
        if n == 0:
            raise DataError("there were batches at the first look and none now; they must stay")
        if self.total is not None and n != self.total:
            raise DataError(
                f"the batches held {self.total} samples when they were first read and {n} now; "
                "they must be the same every time"
            )
        self.total = n
