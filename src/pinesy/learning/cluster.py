"""Learning on many machines, with Dask: only summaries, counts and distances travel."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from pinesy._common.cluster_tasks import ClusterTasks, checked_parts
from pinesy._common.validation import BoolArray
from pinesy.exceptions import DataError, placed
from pinesy.learning.batches import InParts, learn_parts
from pinesy.learning.learn import SMOOTHING
from pinesy.learning.learning_arguments import (
    Rules,
    Tolerance,
    TrainingBatch,
    batch_of_pair,
    check_targeted,
    with_initial,
)
from pinesy.learning.sample_systems import Measured, Stage
from pinesy.rulebase.cascade import Cascade

T = TypeVar("T")


def learn_distributed(
    rules: Rules,
    parts: Sequence[Any],
    *,
    client: Any = None,
    method: Literal["exact", "counts"] = "exact",
    tolerance: Tolerance = None,
    initial: Any = None,
    fixed: Any = None,
    smoothing: float = SMOOTHING,
) -> Any:
    """Learn from parts of the data on a Dask cluster, exactly as `learn` does from all together.

    The result is the same to the last bit for any number of parts, in any order. A worker that is
    lost costs time: what it held is computed again.

    Parameters
    ----------
    parts : each a pair ``(evidence, targets)`` as `learn` takes them, or a `dask.delayed` call or a
        future that gives one; some may be empty. Give ``delayed(read)(path)`` for data that should
        not pass through this process.
    client : a `distributed.Client`; by default the current one
    rules, method, tolerance, initial, fixed, smoothing : as for `learn`; method ``"gradient"`` is
        refused
    """
    cascade = with_initial(rules, initial)
    samples = OnCluster.of(cascade, parts, client)
    return learn_parts(cascade, samples, method, tolerance, fixed, smoothing)


class PlacedBatch(NamedTuple):
    """A part of the samples on a worker: what it is called, its future, and its size."""

    where: str
    future: Any
    n: int


class OnCluster(InParts):
    """Batches on the workers; every pass is a task for each, and a tree of merges.

    Parameters
    ----------
    tasks : what submits them
    batches : those that are not empty, in the order of the parts
    targeted : the attributes that have targets
    """

    def __init__(
        self, tasks: ClusterTasks, batches: Sequence[PlacedBatch], targeted: list[str]
    ) -> None:
        self.tasks = tasks
        self.targeted = targeted
        self._batches = batches
        #: Where each batch begins and ends among all samples.
        self.spans = [
            slice(int(end) - one.n, int(end))
            for one, end in zip(batches, np.cumsum([one.n for one in batches]), strict=True)
        ]

    @classmethod
    def of(cls, cascade: Cascade, parts: Sequence[Any], client: Any) -> "OnCluster":
        """Check parts of the samples, each on a worker; empty ones are passed over."""
        parts, tasks = checked_parts(parts), ClusterTasks(client)
        shared, kinds = tasks.share(cascade), tuple | list
        placed_futures = [
            (where, tasks.submit(batch_of_pair, shared, where, part, kinds, where=where))
            for where, part in tasks.given(parts)
        ]
        sizes = tasks.results([tasks.submit(_size, future) for _, future in placed_futures])
        found = [
            (PlacedBatch(*one, n), names)
            for one, (n, names) in zip(placed_futures, sizes, strict=True)
            if n
        ]
        if not found:
            raise DataError(f"all {len(parts)} parts are empty: there are no samples")
        for batch, names in found:
            check_targeted(batch.where, names, found[0][1])
        return cls(tasks, [batch for batch, _ in found], found[0][1])

    @property
    def n(self) -> int:
        """The number of samples."""
        return self.spans[-1].stop

    def begin(self, stage: Stage) -> InParts:
        """Make the program of a stage known to the workers."""
        return super().begin(self.tasks.share(stage))

    def _merged(self, method: Callable[..., T], merge: Callable[[T, T], T], *given: Any) -> T:
        return self.tasks.merged(
            self.each(_measured, self._stage, method, self.tasks.share(given)), merge
        )

    def each(self, function: Callable[..., Any], *given: Any, of_samples: Any = None) -> list[Any]:
        """Return the futures of ``function(batch, *given)`` for every batch.

        With `of_samples`, an array with an entry for each sample, those of the batch come second.
        """
        return [
            self.tasks.submit(
                _on_part,
                one.where,
                function,
                one.future,
                *(() if of_samples is None else (of_samples[span],)),
                *given,
                where=one.where,
            )
            for one, span in zip(self._batches, self.spans, strict=True)
        ]

    def only(self, kept: BoolArray) -> "OnCluster":
        """Return some of the samples, at their workers."""
        futures = self.each(_rows_of, of_samples=kept)
        batches = [
            PlacedBatch(one.where, future, int(kept[span].sum()))
            for one, span, future in zip(self._batches, self.spans, futures, strict=True)
        ]
        return OnCluster(self.tasks, [one for one in batches if one.n], self.targeted)

    def single(self, sample: int) -> TrainingBatch:
        """Fetch one of the samples."""
        for one, span in zip(self._batches, self.spans, strict=True):
            if sample < span.stop:
                index = sample - span.start
                future = self.tasks.submit(TrainingBatch.single, one.future, index, where=one.where)
                break
        found: TrainingBatch = self.tasks.results([future])[0]
        return found


def _size(batch: TrainingBatch) -> tuple[int, list[str]]:
    return batch.n, list(batch.targets)


def _rows_of(batch: TrainingBatch, kept: BoolArray) -> TrainingBatch:
    rows = np.flatnonzero(kept)
    return TrainingBatch(len(rows), *batch.part(rows))


def _on_part(where: str, function: Callable[..., T], *arguments: Any) -> T:
    with placed(where):
        return function(*arguments)


def _measured(
    batch: TrainingBatch, stage: Stage, method: Callable[..., T], given: tuple[Any, ...]
) -> T:
    return method(Measured(stage, batch), *given)
