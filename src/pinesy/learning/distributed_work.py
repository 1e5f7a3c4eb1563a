"""Learning, inference, audit and evaluation on many machines, with Dask: the bits of one machine.

In learning only summaries, counts and distances are sent. In other work each part of the data is a
task, and results are concatenated in the order of the parts. See `cluster_tasks` for lost workers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from pinesy._common.cluster_tasks import ClusterTasks, checked_parts
from pinesy._common.validation import BoolArray
from pinesy.engine.code import Code
from pinesy.engine.number_types import NumberType
from pinesy.engine.program import Program
from pinesy.evidence.evidence_form import Transform
from pinesy.evidence.targets import Target
from pinesy.exceptions import DataError, placed
from pinesy.learning.audit import Audit, LabelJudges
from pinesy.learning.evaluate import (
    DecisionReport,
    compare_batch,
    decision_report,
    evaluated_output,
)
from pinesy.learning.learn import SMOOTHING, learn_from_samples
from pinesy.learning.learning_arguments import (
    Rules,
    Tolerance,
    TrainingBatch,
    batch_of_pair,
    check_targeted,
    initial_cascade,
)
from pinesy.learning.learning_result import SampleSummary
from pinesy.learning.parameter_estimates import RuleCounts
from pinesy.learning.sample_passes import (
    BatchPasses,
    Passes,
    Samples,
    SetFronts,
    SetTolerances,
    merge_results,
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

    The result is the same to the last bit for any number of parts, in any order. The results of a
    lost worker are computed again.

    Parameters
    ----------
    parts : each a pair ``(evidence, targets)`` as `learn` takes them, or a `dask.delayed` call or a
        future that gives one; some may be empty. Give ``delayed(read)(path)`` for data that should
        not pass through this process.
    client : a `distributed.Client`; by default the current one
    rules, method, tolerance, initial, fixed, smoothing : as for `learn`; method ``"gradient"`` is
        refused
    """
    cascade = initial_cascade(rules, initial)
    samples = ClusterSamples.of(cascade, parts, client)
    return learn_from_samples(cascade, samples, method, tolerance, fixed, smoothing)


class WorkerBatch(NamedTuple):
    """A batch of samples on a worker: the name of its part, its future, and its size."""

    where: str
    future: Any
    n: int


class ClusterSamples(Samples, Passes):
    """Batches on the workers; every pass is a task for each, and a tree of merges.

    Parameters
    ----------
    tasks : submits the tasks
    batches : the batches that are not empty, in the order of the parts
    targeted : the attributes that have targets
    """

    def __init__(
        self, tasks: ClusterTasks, batches: Sequence[WorkerBatch], targeted: list[str]
    ) -> None:
        self.tasks = tasks
        self.targeted = targeted
        self._batches = batches
        #: The slice of each batch among all samples.
        self.spans = [
            slice(int(end) - batch.n, int(end))
            for batch, end in zip(batches, np.cumsum([batch.n for batch in batches]), strict=True)
        ]

    @classmethod
    def of(cls, cascade: Cascade, parts: Sequence[Any], client: Any) -> "ClusterSamples":
        """Check parts of the samples, each on a worker; empty ones are skipped."""
        parts, tasks = checked_parts(parts), ClusterTasks(client)
        shared, types = tasks.share(cascade), tuple | list
        named_futures = [
            (where, tasks.submit(batch_of_pair, shared, where, part, types, where=where))
            for where, part in tasks.named_parts(parts)
        ]
        sizes = tasks.results([tasks.submit(_size, future) for _, future in named_futures])
        batches = [
            (WorkerBatch(*named_future, n), names)
            for named_future, (n, names) in zip(named_futures, sizes, strict=True)
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

    def passes(self, stage: Stage) -> "ClusterSamples":
        """Send a stage to the workers, for the next passes."""
        self._stage = self.tasks.share(stage)
        return self

    def first_pass(self, tolerances: SetTolerances) -> dict[str, SampleSummary]:
        """Merge the summaries of the workers' samples."""
        return self._merge_passes("first_pass", tolerances)

    def second_pass(self, tolerances: SetTolerances, fronts: SetFronts) -> dict[str, float]:
        """Take the largest distances of the workers' samples."""
        return self._merge_passes("second_pass", tolerances, fronts)

    def count_pass(self) -> dict[str, RuleCounts]:
        """Add the counts of the workers' samples."""
        return self._merge_passes("count_pass")

    def _merge_passes(self, name: str, *arguments: Any) -> dict[str, Any]:
        """Do a pass of `BatchPasses` on every batch, and merge the results."""
        futures = self.submit(_batch_pass, self._stage, name, *map(self.tasks.share, arguments))
        return self.tasks.merge(futures, merge_results)

    def submit(
        self, function: Callable[..., Any], *arguments: Any, of_samples: Any = None
    ) -> list[Any]:
        """Return the futures of ``function(batch, *arguments)`` for every batch.

        `of_samples`, an array with an entry for each sample, is split among the batches; the
        entries of a batch are its second argument.
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

    def select(self, mask: BoolArray) -> "ClusterSamples":
        """Return the samples that a mask selects; they stay on their workers."""
        futures = self.submit(TrainingBatch.select, of_samples=mask)
        batches = [
            WorkerBatch(batch.where, future, int(mask[span].sum()))
            for batch, span, future in zip(self._batches, self.spans, futures, strict=True)
        ]
        return ClusterSamples(self.tasks, [batch for batch in batches if batch.n], self.targeted)

    def single(self, sample: int) -> TrainingBatch:
        """Fetch one sample from its worker."""
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


def _batch_pass(batch: TrainingBatch, stage: Stage, name: str, *arguments: Any) -> Any:
    return getattr(BatchPasses(stage, batch), name)(*arguments)


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
    gather : whether to fetch the results; if not, they stay on the workers

    Returns
    -------
    an `Inference` of the samples of all parts, one part after the other; without `gather` a list
    of futures, each of the `Inference` of one part, for your own tasks that write them
    """
    program = as_cascade(rules).compile(outputs, dtype=dtype)
    tasks = ClusterTasks(client)
    shared = tasks.share(program)
    futures = [
        tasks.submit(_on_part, where, Program.columns, shared, part, transform, where=where)
        for where, part in tasks.named_parts(checked_parts(parts))
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

    Six numbers of each sample and the counts of each part are sent.

    Parameters
    ----------
    parts, client : as for `learn_distributed`; the targets are values
    rules, output : as for `evaluate`
    """
    cascade = as_cascade(rules)
    samples = ClusterSamples.of(cascade, parts, client)
    name = evaluated_output(cascade, samples.targeted, output)
    futures = samples.submit(compare_batch, samples.tasks.share(cascade), name)
    return decision_report(cascade[name], samples.tasks.results(futures))


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

    Samples are numbered through, in the order of the parts. Some fifty bytes for each sample and
    set are sent, and the targets. The evidence stays on the workers: `Audit.repaired`,
    `Audit.equations` and the reasons of suspicions fetch the evidence of a sample, so they still
    need the client.

    Parameters
    ----------
    parts, client : as for `learn_distributed`
    rules, method, folds, seed : as for `audit`; method ``"gradient"`` is refused
    """
    cascade = as_cascade(rules)
    samples = ClusterSamples.of(cascade, parts, client)

    def learned_from(mask: BoolArray) -> Cascade:
        selected = samples.select(mask)
        return learn_from_samples(
            cascade, selected, cast(Any, method), None, None, SMOOTHING
        ).cascade

    judges = LabelJudges.of(cascade, samples.n, method, folds, seed, learned_from)
    code = CascadeStages(cascade, samples.targeted).program()
    shared = map(samples.tasks.share, (cascade, code, judges.cascades))
    audits = samples.tasks.results(samples.submit(_audit_batch, *shared, of_samples=judges.fold))
    names = samples.targeted
    sets, labels, targets = ([part[k] for part in audits] for k in range(3))
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
    """Samples with targets in this process; the evidence of a single sample is fetched."""

    samples: ClusterSamples | None = None

    def single(self, sample: int) -> TrainingBatch:
        """Fetch one sample from its worker."""
        assert self.samples is not None
        return self.samples.single(sample)


def _audit_batch(
    batch: TrainingBatch,
    fold: npt.NDArray[np.intp],
    cascade: Cascade,
    code: Code,
    judges: Sequence[Cascade],
) -> tuple[dict[str, Columns], dict[str, SetSuspicion], dict[str, Target]]:
    """Return the columns of the audit, the suspicions and the targets of a batch, by set."""
    sets = judged_sets(cascade, code, batch)
    labels = LabelJudges(judges, fold).suspicions(batch)
    return (
        {name: set_audit.columns for name, set_audit in sets.items()},
        labels,
        dict(batch.targets),
    )
