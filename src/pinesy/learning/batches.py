"""Learning from batches of samples, and adding counts of further samples.

The passes over the samples are those of `learn`; the results of the batches are merged, and equal
those of all samples together, to the last bit.
"""

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Any, Literal

from pinesy._common.console import progress as progress_bar
from pinesy.exceptions import DataError, placed
from pinesy.learning.learn import SMOOTHING, learn_from_samples, set_estimate
from pinesy.learning.learning_arguments import (
    Rules,
    Tolerance,
    batch_of_pair,
    check_targeted,
    initial_cascade,
)
from pinesy.learning.learning_result import SampleSummary
from pinesy.learning.parameter_estimates import ParameterEstimate, RuleCounts
from pinesy.learning.sample_passes import (
    BatchPasses,
    Passes,
    Samples,
    SetFronts,
    SetTolerances,
    merge_results,
)
from pinesy.learning.stages import CascadeStages, Stage
from pinesy.rulebase.cascade import Cascade

#: Pairs ``(evidence, targets)`` as `learn` takes them, in something that can be iterated again.
Batches = Iterable[tuple[Any, Any]]


def learn_batches(
    rules: Rules,
    batches: Batches,
    *,
    method: Literal["exact", "counts"] = "exact",
    tolerance: Tolerance = None,
    initial: Any = None,
    fixed: Any = "implications",
    smoothing: float = SMOOTHING,
    progress: bool = False,
) -> Any:
    """Learn from batches of samples, exactly as `learn` does from all of them together.

    For each stage of a cascade the batches are read twice by the exact method: once for the fronts
    and, unless these are empty, once for the distance of the stacked system. In between only the
    fronts are stored. Counting reads them once and stores counts. Gradients need the samples in
    memory: take `learn`.

    Parameters
    ----------
    batches : an iterable of pairs ``(evidence, targets)`` that can be iterated again and again,
        such as a list or a `SampleFile`; a generator cannot
    progress : whether to show a progress bar on a terminal
    rules, method, tolerance, initial, fixed, smoothing : as for `learn`

    Returns
    -------
    a `LearningResult`; a `ParameterEstimate` from counts

    Examples
    --------
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> monday = {"rain": [[1.0, 0.0]]}, [[1.0, 0.25]]
    >>> tuesday = {"rain": [[0.0, 1.0]]}, [[0.5, 1.0]]
    >>> print(learn_batches(rules, [monday, tuesday]).rule_set)
    if rain in {yes} then grass in {wet} [s=0.5, r=0.25]
    """
    cascade = initial_cascade(rules, initial)
    samples = StreamedSamples(cascade, batches, progress)
    return learn_from_samples(cascade, samples, method, tolerance, fixed, smoothing)


class StreamedSamples(Samples, Passes):
    """Samples that are read again for every pass; only summaries of them are stored.

    Attributes
    ----------
    targeted : the attributes that have targets, in the order of inference
    total : the number of samples, known after the first pass
    """

    def __init__(self, cascade: Cascade, batches: Batches, progress: bool = False) -> None:
        self._cascade = cascade
        self._batches = batches
        self._progress = progress
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

    def passes(self, stage: Stage) -> "StreamedSamples":
        """Set the stage of the next passes."""
        self._stage = stage
        return self

    def first_pass(self, tolerances: SetTolerances) -> dict[str, SampleSummary]:
        """Read all batches, and merge their summaries."""
        parts = self._batch_passes("fronts")
        return reduce(merge_results, (part.first_pass(tolerances) for part in parts))

    def second_pass(self, tolerances: SetTolerances, fronts: SetFronts) -> dict[str, float]:
        """Read all batches again, and take the largest distances."""
        parts = self._batch_passes("distances")
        return reduce(merge_results, (part.second_pass(tolerances, fronts) for part in parts))

    def count_pass(self) -> dict[str, RuleCounts]:
        """Read all batches, and add their counts."""
        return reduce(merge_results, (part.count_pass() for part in self._batch_passes("counts")))

    def _batch_passes(self, work: str) -> Iterator[BatchPasses]:
        """Yield the passes over each batch; raise if the number of samples has changed.

        The progress bar is labelled with the `work`.
        """
        label = f"{work} of {', '.join(self._stage.names[:3])}" if self._progress else ""
        n = 0
        with progress_bar(label, self.total) as bar:
            for index, pair in enumerate(self._batches):
                batch = batch_of_pair(self._cascade, f"batch {index}", pair)
                if batch.n == 0:
                    continue
                check_targeted(f"batch {index}", batch.targets, self.targeted)
                with placed(f"batch {index}"):
                    passes = BatchPasses(self._stage, batch)
                yield passes
                n += batch.n
                bar.advance(batch.n)
        if n == 0:
            raise DataError(
                "the batches hold no samples; if they did when they were first read, keep them the "
                "same"
            )
        if self.total is not None and n != self.total:
            raise DataError(
                f"the batches held {self.total} samples when they were first read and {n} now; "
                "they must be the same every time"
            )
        self.total = n


def learn_more(
    previous: ParameterEstimate, batches: Batches, *, progress: bool = False
) -> ParameterEstimate:
    """Add the counts of further samples: the result is that of all samples together.

    Counts add where the premises of the learned sets depend on inputs only. Where they depend on
    other learned sets, whose parameters the new samples change, learn from all samples again.

    Parameters
    ----------
    previous : the estimate of `learn` or `learn_batches` by counts, or of a model file
    batches : pairs ``(evidence, targets)`` of the new samples, for the same attributes
    """
    if not isinstance(previous, ParameterEstimate) or previous.method != "counts":
        raise DataError(
            "only counts can be extended by further samples; learn again from all samples, or "
            "learn with method 'counts'"
        )
    cascade = previous.cascade
    samples = StreamedSamples(cascade, batches, progress)
    if set(samples.targeted) != set(previous.sets):
        raise DataError(
            f"the new samples have targets for {', '.join(samples.targeted)}, those that were "
            f"learned from for {', '.join(previous.sets)}; all need the same"
        )
    stages = CascadeStages(cascade, samples.targeted)
    first, *later = stages.members
    if later:
        raise DataError(
            f"the counts of {stages.members[later[0]][0]!r} depend on sets whose parameters change "
            "with the new samples, so they cannot be added; learn again from all samples"
        )
    new = samples.passes(stages.stage(first, None)).count_pass()
    results = {
        name: set_estimate(name, known.counts.merge(new[name]), previous.smoothing, known.fixed)
        for name, known in previous.sets.items()
    }
    for name, result in results.items():
        stages.set_parameters(name, result.s, result.r)
    n = max((result.counts.samples for result in results.values()), default=0)
    return ParameterEstimate(stages.cascade(), results, n, {}, "counts", previous.smoothing)
