"""Learning from batches, in memory that does not grow with the number of samples."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pinesy._common.console import progress as progress_bar
from pinesy._common.validation import FloatArray
from pinesy.exceptions import DataError, placed
from pinesy.learning.exact.in_memory import Rules, batch_of, with_initial
from pinesy.learning.exact.method import learn_from
from pinesy.learning.exact.sample_systems import Batch, Measured, shapes_of
from pinesy.learning.exact.stages import Stage
from pinesy.learning.learning_result import LearningResult
from pinesy.learning.summary import Summary
from pinesy.learning.tolerances.tolerance_groups import Tolerance, resolve
from pinesy.minmax import Fronts
from pinesy.rulebase.cascade import Cascade
from pinesy.rulebase.rule_set import RuleSet

#: Pairs ``(inputs, targets)`` as `learn` takes them, in something that can be iterated again.
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
    are empty, once for the distance of the stacked system. In between only the fronts are kept.

    Parameters
    ----------
    batches : an iterable of pairs ``(inputs, targets)`` that can be iterated again and again, such
        as a list or a `SampleFile`; a generator cannot
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
    tolerances = resolve(tolerance, samples.targeted)
    return learn_from(cascade, samples, samples.targeted, tolerances)


class Streamed:
    """Samples that are read again for every pass; nothing of them is kept but summaries.

    Attributes
    ----------
    targeted : the attributes that have targets, in the order of inference
    total : the number of samples, known after the first pass
    """

    have = None

    def __init__(self, cascade: Cascade, batches: Batches, progress: bool = False) -> None:
        self._cascade = cascade
        self._batches = batches
        self._progress = progress
        self.total: int | None = None
        self._stage: Stage
        self._sets: Mapping[str, RuleSet]
        if not isinstance(batches, Iterable) or iter(batches) is batches:
            raise DataError(
                "the batches must be something that can be iterated again, such as a list or a "
                "SampleFile; a generator or iterator is used up after one pass"
            )
        self.targeted = list(self._first().targets)

    def _first(self) -> Batch:
        for inputs, targets in self._pairs():
            return self._batch(0, inputs, targets)
        raise DataError("there are no batches to learn from")

    def begin(self, stage: Stage, sets: Mapping[str, RuleSet]) -> None:
        """Note what the next passes are about."""
        self._stage, self._sets = stage, sets

    def summaries(self, tolerances: Mapping[str, float]) -> dict[str, Summary]:
        """Do the first pass over the batches."""
        found: dict[str, Summary] = {}
        for measured in self._measured("fronts"):
            for name, summary in measured.summaries(tolerances).items():
                found[name] = found[name].merge(summary) if name in found else summary
        return found

    def stacked(
        self, tolerances: Mapping[str, float], fronts: Mapping[str, Fronts]
    ) -> dict[str, float]:
        """Do the second pass over the batches."""
        found = dict.fromkeys(fronts, 0.0)
        for measured in self._measured("distances"):
            for name, distance in measured.stacked(tolerances, fronts).items():
                found[name] = max(found[name], distance)
        return found

    def nabla(self, name: str) -> FloatArray | None:
        """Return None: the distances of single samples are not kept."""

    def greatest(self, name: str) -> FloatArray | None:
        """Return None: no sample is at hand."""

    def _measured(self, what: str) -> Iterator[Measured]:
        """Yield the measures of each batch; the number of samples must be that of other passes."""
        shapes = shapes_of(self._stage, self._sets)
        label = f"{what} of {', '.join(self._stage.names[:3])}" if self._progress else None
        n = 0
        with progress_bar(label or "", self.total) as bar:
            for number, (inputs, targets) in enumerate(self._pairs()):
                batch = self._batch(number, inputs, targets)
                with placed(f"batch {number}"):
                    measured = Measured(self._stage, batch, shapes)
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

    def _batch(self, number: int, inputs: Any, targets: Any) -> Batch:
        with placed(f"batch {number}"):
            batch = batch_of(self._cascade, inputs, targets)
        if number and list(batch.targets) != self.targeted:
            raise DataError(
                f"batch {number} has targets for {', '.join(batch.targets)}, the first batch for "
                f"{', '.join(self.targeted)}; every batch needs the same"
            )
        return batch

    def _pairs(self) -> Iterator[tuple[Any, Any]]:
        for number, pair in enumerate(self._batches):
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise DataError(f"batch {number} is not a pair (inputs, targets): {pair!r:.60}")
            yield pair
