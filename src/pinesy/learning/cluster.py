"""Learning on many machines, with Dask: only summaries, counts and distances travel.

Parts, batches and programs are all results of tasks, so what a lost worker held is computed again
from the parts.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, Literal, TypeVar

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
#: Results that one task of a cluster merges.
FAN_IN = 8


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
        future that gives one. Give ``delayed(read)(path)`` for data that should not pass through
        this process.
    client : a `distributed.Client`; by default the current one
    rules, method, tolerance, initial, fixed, smoothing : as for `learn`; method ``"gradient"`` is
        refused
    """
    cascade = with_initial(rules, initial)
    if isinstance(parts, str | Mapping) or not isinstance(parts, Sequence) or not parts:
        raise DataError("give the parts of the data as a list with at least one pair in it")
    samples = OnCluster(cascade, parts, _client(client))
    return learn_parts(cascade, samples, method, tolerance, fixed, smoothing)


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
