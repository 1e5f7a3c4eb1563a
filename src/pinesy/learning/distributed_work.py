"""Learning, inference, audit and evaluation on many machines, with Dask: the bits of one machine.

In learning only summaries, counts and distances travel. Of other work each part of the data is a
task, and its results are put one after the other in the order of the parts. See `cluster_tasks`
for workers that are lost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import BoolArray
from pinesy.engine.code import Code
from pinesy.engine.number_types import NumberType
from pinesy.engine.program import Program
from pinesy.evidence.evidence_form import Transform
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError, placed
from pinesy.learning.audit import Audit, LabelJudges
from pinesy.learning.batches import learn_parts
from pinesy.learning.cluster_tasks import ClusterTasks, checked_parts
from pinesy.learning.evaluate import DecisionReport, decide, judged_output, report_on
from pinesy.learning.learn import SMOOTHING
from pinesy.learning.learning_arguments import (
    Rules,
    Tolerance,
    TrainingBatch,
    batch_of_pair,
    check_targeted,
    with_initial,
)
from pinesy.learning.learning_result import SampleSummary
from pinesy.learning.parameter_estimates import RuleCounts
from pinesy.learning.sample_passes import (
    Measured,
    Passes,
    Samples,
    SetFronts,
    SetTolerances,
    merged,
)
from pinesy.learning.set_audits import Columns, SetAudit, SetSuspicion, judged_sets
from pinesy.learning.stages import CascadeStages, Stage
from pinesy.rulebase.cascade import Cascade, Outputs, as_cascade

T = TypeVar("T")


def learn_distributed(
    rules: Rules,
    parts: Sequence[Any],
    *,
    client: Any = None,
    method: Literal["exact", "counts"] = "exact",
    tolerance: Tolerance = None,
    initial: Any = None,
    fixed: Any = "implications",
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


class OnCluster(Samples, Passes):
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
            slice(int(end) - batch.n, int(end))
            for batch, end in zip(batches, np.cumsum([batch.n for batch in batches]), strict=True)
        ]

    @classmethod
    def of(cls, cascade: Cascade, parts: Sequence[Any], client: Any) -> "OnCluster":
        """Check parts of the samples, each on a worker; empty ones are skipped."""
        parts, tasks = checked_parts(parts), ClusterTasks(client)
        shared, kinds = tasks.share(cascade), tuple | list
        placed_futures = [
            (where, tasks.submit(batch_of_pair, shared, where, part, kinds, where=where))
            for where, part in tasks.given(parts)
        ]
        sizes = tasks.results([tasks.submit(_size, future) for _, future in placed_futures])
        batches = [
            (PlacedBatch(*placed_future, n), names)
            for placed_future, (n, names) in zip(placed_futures, sizes, strict=True)
            if n
        ]
        if not batches:
            raise DataError(f"all {len(parts)} parts are empty: there are no samples")
        for batch, names in batches:
            check_targeted(batch.where, names, batches[0][1])
        return cls(tasks, [batch for batch, _ in batches], batches[0][1])

    @property
    def n(self) -> int:
        """The number of samples."""
        return self.spans[-1].stop

    def passes(self, stage: Stage) -> "OnCluster":
        """Make the program of a stage known to the workers."""
        self._stage = self.tasks.share(stage)
        return self

    def first_pass(self, tolerances: SetTolerances) -> dict[str, SampleSummary]:
        """Merge what the first passes keep at the workers."""
        return self._merged(_first_pass, tolerances)

    def second_pass(self, tolerances: SetTolerances, fronts: SetFronts) -> dict[str, float]:
        """Take the largest distances of the workers' samples."""
        return self._merged(_second_pass, tolerances, fronts)

    def count_pass(self) -> dict[str, RuleCounts]:
        """Add the counts of the workers' samples."""
        return self._merged(_count_pass)

    def _merged(self, do_pass: Callable[..., dict[str, T]], *arguments: Any) -> dict[str, T]:
        futures = self.each(do_pass, self._stage, *map(self.tasks.share, arguments))
        return cast(dict[str, T], self.tasks.merged(futures, merged))

    def each(
        self, function: Callable[..., Any], *arguments: Any, of_samples: Any = None
    ) -> list[Any]:
        """Return the futures of ``function(batch, *given)`` for every batch.

        With `of_samples`, an array with an entry for each sample, those of the batch come second.
        """
        return [
            self.tasks.submit(
                _on_part,
                batch.where,
                function,
                batch.future,
                *(() if of_samples is None else (of_samples[span],)),
                *arguments,
                where=batch.where,
            )
            for batch, span in zip(self._batches, self.spans, strict=True)
        ]

    def only(self, mask: BoolArray) -> "OnCluster":
        """Return some of the samples, at their workers."""
        futures = self.each(TrainingBatch.only, of_samples=mask)
        batches = [
            PlacedBatch(batch.where, future, int(mask[span].sum()))
            for batch, span, future in zip(self._batches, self.spans, futures, strict=True)
        ]
        return OnCluster(self.tasks, [batch for batch in batches if batch.n], self.targeted)

    def single(self, sample: int) -> TrainingBatch:
        """Fetch one of the samples."""
        for batch, span in zip(self._batches, self.spans, strict=True):
            if sample < span.stop:
                index = sample - span.start
                future = self.tasks.submit(
                    TrainingBatch.single, batch.future, index, where=batch.where
                )
                break
        return cast(TrainingBatch, self.tasks.results([future])[0])


def _size(batch: TrainingBatch) -> tuple[int, list[str]]:
    return batch.n, list(batch.targets)


def _on_part(where: str, function: Callable[..., T], *arguments: Any) -> T:
    with placed(where):
        return function(*arguments)


def _first_pass(
    batch: TrainingBatch, stage: Stage, tolerances: SetTolerances
) -> dict[str, SampleSummary]:
    return Measured(stage, batch).first_pass(tolerances)


def _second_pass(
    batch: TrainingBatch, stage: Stage, tolerances: SetTolerances, fronts: SetFronts
) -> dict[str, float]:
    return Measured(stage, batch).second_pass(tolerances, fronts)


def _count_pass(batch: TrainingBatch, stage: Stage) -> dict[str, RuleCounts]:
    return Measured(stage, batch).count_pass()


def infer_distributed(
    rules: Rules,
    parts: Sequence[Any],
    outputs: Outputs = None,
    *,
    client: Any = None,
    transform: Transform = None,
    dtype: NumberType = "float64",
    gather: bool = True,
) -> Any:
    """Infer for parts of the data on a Dask cluster, exactly as `Cascade.infer` does for all.

    Parameters
    ----------
    parts : each the evidence of a batch (or of one sample) as `Cascade.infer` takes it, or a
        `dask.delayed` call or a future that gives it; some may be empty
    outputs, transform, dtype : as for `Cascade.infer`
    client : a `distributed.Client`; by default the current one
    gather : whether results come here; if not, they stay where they are

    Returns
    -------
    an `Inference` of the samples of all parts, one part after the other; without `gather` a list
    of futures, each of the `Inference` of one part, for tasks of one's own that write them
    """
    program = as_cascade(rules).compile(outputs, dtype=dtype)
    tasks = ClusterTasks(client)
    shared = tasks.share(program)
    futures = [
        tasks.submit(_on_part, where, Program.columns, shared, part, transform, where=where)
        for where, part in tasks.given(checked_parts(parts))
    ]
    if not gather:
        return [tasks.submit(Program.result, shared, columns) for columns in futures]
    out = np.concatenate(tasks.results(futures), axis=1)
    out.setflags(write=False)
    return program.result(out)


def evaluate_distributed(
    rules: Rules, parts: Sequence[Any], *, client: Any = None, output: str | None = None
) -> DecisionReport:
    """Compare what rules predict with true values in parts, exactly as `evaluate` does for all.

    Of each sample six numbers travel, and of each part its counts.

    Parameters
    ----------
    parts, client : as for `learn_distributed`; the targets are values
    rules, output : as for `evaluate`
    """
    cascade = as_cascade(rules)
    samples = OnCluster.of(cascade, parts, client)
    name = judged_output(cascade, samples.targeted, output)
    futures = samples.each(decide, samples.tasks.share(cascade), name)
    return report_on(cascade[name], samples.tasks.results(futures))


def audit_distributed(
    rules: Rules,
    parts: Sequence[Any],
    *,
    client: Any = None,
    method: Literal["given", "exact", "counts"] = "given",
    folds: int = 5,
    seed: int = 0,
) -> Audit:
    """Judge training samples in parts, exactly as `audit` judges all together.

    Samples are numbered through, in the order of the parts. Some fifty bytes of each sample and
    set travel, and its targets. The evidence stays at the workers: `Audit.repaired`,
    `Audit.equations` and the reasons of suspicions fetch that of a sample, so they need the client
    still.

    Parameters
    ----------
    parts, client : as for `learn_distributed`
    rules, method, folds, seed : as for `audit`; method ``"gradient"`` is refused
    """
    cascade = as_cascade(rules)
    samples = OnCluster.of(cascade, parts, client)

    def learned_from(mask: BoolArray) -> Cascade:
        learned = learn_parts(cascade, samples.only(mask), cast(Any, method), None, None, SMOOTHING)
        return learned.cascade

    judges = LabelJudges.of(cascade, samples.n, method, folds, seed, learned_from)
    code = CascadeStages(cascade, samples.targeted).program()
    shared = map(samples.tasks.share, (cascade, code, judges.cascades))
    judged = samples.tasks.results(samples.each(_judged, *shared, of_samples=judges.fold))
    names = samples.targeted
    sets, labels, targets = ([part[k] for part in judged] for k in range(3))
    batch = RemoteBatch(
        samples.n, {}, {n: Target.join([part[n] for part in targets]) for n in names}, None, samples
    )
    return Audit(
        cascade,
        {n: SetAudit.join(cascade[n], [part[n] for part in sets]) for n in names},
        {n: SetSuspicion.join([part[n] for part in labels]) for n in names},
        method,
        code,
        batch,
        judges,
    )


@dataclass(frozen=True, eq=False)
class RemoteBatch(TrainingBatch):
    """Samples whose targets are here and whose evidence is fetched, sample by sample."""

    samples: OnCluster | None = None

    def single(self, sample: int) -> TrainingBatch:
        """Fetch one of the samples."""
        assert self.samples is not None
        return self.samples.single(sample)


def _judged(
    batch: TrainingBatch,
    fold: npt.NDArray[np.intp],
    cascade: Cascade,
    code: Code,
    judges: Sequence[Cascade],
) -> tuple[dict[str, Columns], dict[str, SetSuspicion], dict[str, Target]]:
    """Judge the samples of a part."""
    sets = judged_sets(cascade, code, batch)
    labels = LabelJudges(judges, fold).suspicions(batch)
    return (
        {name: set_audit.columns for name, set_audit in sets.items()},
        labels,
        dict(batch.targets),
    )
