"""Learning from samples in parts: read batch by batch, added later, or on many machines.

The passes over the samples are those of `learn_from`; what they give of each part is merged, and
the result is that of all samples together, to the last bit. On a cluster, with Dask, only summaries
and distances travel. Parts, batches and programs are all results of tasks there, so what a lost
worker held is computed again from the parts.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, TypeVar

from pinesy._common.console import progress as progress_bar
from pinesy.exceptions import DataError, placed
from pinesy.learning.learning_arguments import (
    Rules,
    Tolerance,
    TrainingBatch,
    batch_of_pair,
    check_targeted,
    resolve,
    with_initial,
)
from pinesy.learning.learning_result import LearningResult, SampleSummary
from pinesy.learning.sample_systems import Measured, SetFronts, SetTolerances, Stage
from pinesy.learning.stages import Samples, learn_from
from pinesy.rulebase.cascade import Cascade

#: Pairs ``(evidence, targets)`` as `learn` takes them, in something that can be iterated again.
Batches = Iterable[tuple[Any, Any]]
T = TypeVar("T")
#: Results that one task of a cluster merges.
FAN_IN = 8


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
    >>> from pinesy import Attribute, Iff, RuleSet
    >>> rain, grass = Attribute("rain", ["yes", "no"]), Attribute("grass", ["wet", "dry"])
    >>> rules = RuleSet([Iff(rain.isin({"yes"})).then(grass.isin({"wet"}))])
    >>> monday = {"rain": [[1.0, 0.0]]}, [[1.0, 0.25]]
    >>> tuesday = {"rain": [[0.0, 1.0]]}, [[0.5, 1.0]]
    >>> print(learn_batches(rules, [monday, tuesday]).rule_set)
    if rain in {yes} then grass in {wet} [s=0.5, r=0.25]
    """
    cascade = with_initial(rules, initial)
    samples = Streamed(cascade, batches, progress)
    return learn_from(cascade, samples, resolve(tolerance, samples.targeted))


class InParts(Samples):
    """Samples in parts: what a pass gives of each of them is merged."""

    targeted: list[str]
    _stage: Any

    def begin(self, stage: Stage) -> "InParts":
        """Note what the next passes are about."""
        self._stage = stage
        return self

    def summaries(self, tolerances: SetTolerances) -> dict[str, SampleSummary]:
        """Do the first pass."""
        return self._merged(Measured.summaries, _merged_summaries, tolerances)

    def stacked(self, tolerances: SetTolerances, fronts: SetFronts) -> dict[str, float]:
        """Do the second pass."""
        return self._merged(Measured.stacked, _larger_distances, tolerances, fronts)

    def _merged(self, method: Callable[..., T], merge: Callable[[T, T], T], *given: Any) -> T:
        """Call a method for what is measured of each part, and merge what it returns."""
        raise NotImplementedError


class Streamed(InParts):
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

    def _merged(self, method: Callable[..., T], merge: Callable[[T, T], T], *given: Any) -> T:
        what = "fronts" if method is Measured.summaries else "distances"
        return reduce(merge, (method(measured, *given) for measured in self._measured(what)))

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


def _merged_summaries(
    one: Mapping[str, SampleSummary], other: Mapping[str, SampleSummary]
) -> dict[str, SampleSummary]:
    """Return the summaries of two parts of the samples together, for each rule set."""
    return {name: summary.merge(other[name]) for name, summary in one.items()}


def _larger_distances(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """Return the distance of the stacked system of two parts of the samples: the larger one."""
    return {name: max(distance, other[name]) for name, distance in one.items()}


def learn_more(
    previous: LearningResult,
    batches: Batches,
    *,
    earlier: Batches | None = None,
    progress: bool = False,
) -> LearningResult:
    """Learn from further samples: the result is that of all samples together, to the last bit.

    The fronts of the new samples are merged into those of `previous`. The earlier samples must be
    read again only

    * for the fronts of a set whose premises depend on parameters that the new samples changed;
    * for the distance of a stacked system whose fronts the new samples made grow.

    Where that happens and `earlier` is not given, the error names the sets.

    Parameters
    ----------
    previous : what was learned before, by `learn` or `learn_batches`, or loaded from a model file
    batches : pairs ``(evidence, targets)`` of the new samples, for the same attributes
    earlier : the batches that `previous` was learned from
    """
    cascade = previous.cascade
    new = Streamed(cascade, batches, progress)
    old = None if earlier is None else Streamed(cascade, earlier, progress)
    for what, given in (("new", new), ("earlier", old)):
        if given is not None and set(given.targeted) != set(previous.sets):
            raise DataError(
                f"the {what} samples have targets for {', '.join(given.targeted)}, those that were "
                f"learned from for {', '.join(previous.sets)}; all need the same"
            )
    tolerances = {name: one.tolerance for name, one in previous.sets.items()}
    return learn_from(cascade, Extended(previous, new, old), tolerances)


class Extended(Samples):
    """New samples, and the summaries of earlier ones wherever these are still valid."""

    def __init__(self, previous: LearningResult, new: Streamed, old: Streamed | None) -> None:
        self._previous = previous
        self._new = new
        self._old = old

    def begin(self, stage: Stage) -> "Extended":
        """Note for which sets the earlier samples' premise degrees are still the same."""
        for samples in (self._new, self._old):
            if samples is not None:
                samples.begin(stage)
        self._changed = stage.changed
        return self

    def summaries(self, tolerances: SetTolerances) -> dict[str, SampleSummary]:
        """Merge the summaries of the new samples with those of the earlier ones."""
        found = self._new.summaries(tolerances)
        before = {name: one.summary for name, one in self._previous.sets.items()}
        stale = [name for name in found if name in self._changed]
        why = "the parameters of sets that they depend on have changed"
        again = self._reread(stale, why, lambda old: old.summaries(tolerances))
        return _merged_summaries(found, before | {name: again[name] for name in stale})

    def stacked(self, tolerances: SetTolerances, fronts: SetFronts) -> dict[str, float]:
        """Return the larger of the distances of the new samples' rows and of the earlier ones'."""
        found = self._new.stacked(tolerances, fronts)
        before = {name: self._previous.sets[name] for name in fronts}
        grown = {
            name: front
            for name, front in fronts.items()
            if name in self._changed or not front.same(before[name].summary.fronts)
        }
        why = "the new samples have made their fronts grow"
        again = self._reread(grown, why, lambda old: old.stacked(tolerances, grown))
        return _larger_distances(found, {n: one.distance for n, one in before.items()} | again)

    def _reread(
        self, names: Collection[str], why: str, read: Callable[[Streamed], dict[str, T]]
    ) -> dict[str, T]:
        """Do a pass over the earlier samples, if there are sets that it must be done for."""
        if not names:
            return {}
        if self._old is None:
            raise DataError(
                f"the earlier samples must be read again for {', '.join(names)}, because {why}; "
                "give them as earlier=..."
            )
        found, before = read(self._old), self._previous.samples
        if self._old.total != before:
            raise DataError(
                f"the earlier batches hold {self._old.total} samples, but {before} were learned "
                "from before; give the same ones"
            )
        return found


def learn_distributed(
    rules: Rules,
    parts: Sequence[Any],
    *,
    client: Any = None,
    tolerance: Tolerance = None,
    initial: Any = None,
) -> LearningResult:
    """Learn from parts of the data on a Dask cluster, exactly as `learn` does from all together.

    The result is the same to the last bit for any number of parts, in any order. A worker that is
    lost costs time: what it held is computed again.

    Parameters
    ----------
    parts : each a pair ``(evidence, targets)`` as `learn` takes them, or a `dask.delayed` call or a
        future that gives one. Give ``delayed(read)(path)`` for data that should not pass through
        this process.
    client : a `distributed.Client`; by default the current one
    rules, tolerance, initial : as for `learn`
    """
    cascade = with_initial(rules, initial)
    if isinstance(parts, str | Mapping) or not isinstance(parts, Sequence) or not parts:
        raise DataError("give the parts of the data as a list with at least one pair in it")
    samples = OnCluster(cascade, parts, _client(client))
    return learn_from(cascade, samples, resolve(tolerance, samples.targeted))


def _client(client: Any) -> Any:
    try:
        from distributed import get_client
    except ImportError:
        raise DataError(
            "learning on a cluster needs Dask; install it with: pip install 'pinesy[dask]'"
        ) from None
    if client is not None:
        return client
    try:
        return get_client()
    except ValueError:
        raise DataError("no Dask client is there; create one, or give client=...") from None


class OnCluster(InParts):
    """Batches on the workers; every pass is a task for each, and a tree of merges."""

    def __init__(self, cascade: Cascade, parts: Sequence[Any], client: Any) -> None:
        self._client = client
        shared = self._submit(_same, cascade)
        # Delayed parts become futures; others go as they are, inside the task.
        futures = (client.compute(p) if hasattr(p, "__dask_graph__") else p for p in parts)
        self._batches = [
            self._submit(batch_of_pair, shared, f"part {number}", part, (tuple, list))
            for number, part in enumerate(futures)
        ]
        targeted = client.gather([self._submit(_targeted, b) for b in self._batches])
        for number, names in enumerate(targeted):
            check_targeted(f"part {number}", names, targeted[0])
        self.targeted = targeted[0]

    def _submit(self, function: Any, *arguments: Any) -> Any:
        # Not pure: results are named anew, so that equal calls of other runs are not taken for it.
        return self._client.submit(function, *arguments, pure=False)

    def begin(self, stage: Stage) -> InParts:
        """Make the program of a stage known to the workers."""
        return super().begin(self._submit(_same, stage))

    def _merged(self, method: Callable[..., T], merge: Callable[[T, T], T], *given: Any) -> T:
        shared = self._submit(_same, given)
        futures = [
            self._submit(_on_part, f"part {number}", batch, self._stage, method, shared)
            for number, batch in enumerate(self._batches)
        ]
        while len(futures) > 1:
            groups = [futures[i : i + FAN_IN] for i in range(0, len(futures), FAN_IN)]
            futures = [self._submit(reduce, merge, group) for group in groups]
        result: T = futures[0].result()
        return result


def _same(content: Any) -> Any:
    return content


def _targeted(batch: TrainingBatch) -> list[str]:
    return list(batch.targets)


def _on_part(
    where: str, batch: TrainingBatch, stage: Stage, method: Callable[..., T], given: tuple[Any, ...]
) -> T:
    with placed(where):
        return method(Measured(stage, batch), *given)
