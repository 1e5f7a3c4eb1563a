"""Learning on many machines, with Dask: the same two passes, each part where a worker is.

Only summaries and distances travel. Parts, batches and programs are all results of tasks, so what
a lost worker held is computed again from the parts.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, cast

from pinesy.exceptions import DataError, placed
from pinesy.learning.exact.in_memory import Rules, batch_of_pair, check_targeted, with_initial
from pinesy.learning.exact.sample_systems import Measured, Stage, TrainingBatch
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

#: Results that one task merges.
FAN_IN = 8
#: What a task may give as a pair.
PAIRS = (tuple, list)


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


class OnCluster(Samples):
    """Batches on the workers; every pass is a task for each, and a tree of merges."""

    def __init__(self, cascade: Cascade, parts: Sequence[Any], client: Any) -> None:
        self._client = client
        shared = self._submit(_same, cascade)
        # Delayed parts become futures; others go as they are, inside the task.
        futures = (client.compute(p) if hasattr(p, "__dask_graph__") else p for p in parts)
        self._batches = [
            self._submit(batch_of_pair, shared, f"part {number}", part, PAIRS)
            for number, part in enumerate(futures)
        ]
        targeted = client.gather([self._submit(_targeted, b) for b in self._batches])
        for number, names in enumerate(targeted):
            check_targeted(f"part {number}", names, targeted[0])
        self.targeted: list[str] = targeted[0]

    def _submit(self, function: Any, *arguments: Any) -> Any:
        # Not pure: results are named anew, so that equal calls of other runs are not taken for it.
        return self._client.submit(function, *arguments, pure=False)

    def begin(self, stage: Stage) -> "OnCluster":
        """Make the program of a stage known to the workers."""
        self._stage = self._submit(_same, stage)
        return self

    def summaries(self, tolerances: Mapping[str, float]) -> dict[str, SampleSummary]:
        """Do the first pass on the workers."""
        futures = [
            self._submit(_summaries, number, batch, self._stage, dict(tolerances))
            for number, batch in enumerate(self._batches)
        ]
        return cast(dict[str, SampleSummary], self._merged(futures, merge_summaries))

    def stacked(
        self, tolerances: Mapping[str, float], fronts: Mapping[str, Fronts]
    ) -> dict[str, float]:
        """Do the second pass on the workers."""
        shared = self._submit(_same, (dict(tolerances), dict(fronts)))
        futures = [self._submit(_stacked, b, self._stage, shared) for b in self._batches]
        return cast(dict[str, float], self._merged(futures, merge_distances))

    def _merged(self, futures: list[Any], merge: Any) -> Any:
        while len(futures) > 1:
            groups = [futures[i : i + FAN_IN] for i in range(0, len(futures), FAN_IN)]
            futures = [self._submit(reduce, merge, group) for group in groups]
        return futures[0].result()


def _same(content: Any) -> Any:
    return content


def _targeted(batch: TrainingBatch) -> list[str]:
    return list(batch.targets)


def _summaries(
    number: int, batch: TrainingBatch, stage: Stage, tolerances: Mapping[str, float]
) -> dict[str, SampleSummary]:
    with placed(f"part {number}"):
        return Measured(stage, batch).summaries(tolerances)


def _stacked(
    batch: TrainingBatch, stage: Stage, shared: tuple[dict[str, float], dict[str, Fronts]]
) -> dict[str, float]:
    return Measured(stage, batch).stacked(*shared)
