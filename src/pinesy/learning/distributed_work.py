"""Inference, audit and evaluation on many machines, with Dask: the bits of one machine.

Each part of the data is a task, and its results are put one after the other in the order of the
parts. See `cluster_tasks` for workers that are lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from pinesy._common.cluster_tasks import ClusterTasks, checked_parts
from pinesy._common.validation import BoolArray
from pinesy.engine.code import Code
from pinesy.engine.evidence import Evidence, Transform
from pinesy.engine.program import Inference, Program
from pinesy.engine.rows import NumberType
from pinesy.exceptions import placed
from pinesy.learning.batches import learn_parts
from pinesy.learning.blame import Columns, SetAudit, judged_sets
from pinesy.learning.cascade_stages import CascadeStages
from pinesy.learning.cluster import OnCluster
from pinesy.learning.decision_report import DecisionPart, DecisionReport, judged_output, report_on
from pinesy.learning.learn import SMOOTHING
from pinesy.learning.learning_arguments import Rules, TrainingBatch
from pinesy.learning.reliability import Audit
from pinesy.learning.suspicion import LabelJudges, SetSuspicion
from pinesy.rulebase.cascade import Cascade, Outputs, as_cascade
from pinesy.rulebase.targets import Target


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
    shared, function = tasks.share(program), _columns if gather else _inferred
    futures = [
        tasks.submit(function, where, shared, part, transform, where=where)
        for where, part in tasks.given(checked_parts(parts))
    ]
    if not gather:
        return futures
    out = np.concatenate(tasks.results(futures), axis=1)
    out.setflags(write=False)
    return program.result(out)


def _columns(
    where: str, program: Program, evidence: Evidence, transform: Transform
) -> npt.NDArray[Any]:
    with placed(where):
        return program.columns(evidence, transform)


def _inferred(where: str, program: Program, evidence: Evidence, transform: Transform) -> Inference:
    return program.result(_columns(where, program, evidence, transform))


def evaluate_distributed(
    rules: Rules, parts: Sequence[Any], *, client: Any = None, output: str | None = None
) -> DecisionReport:
    """Compare what rules predict with true values in parts, exactly as `evaluate` does for all.

    Of each sample three numbers travel, and of each part its counts.

    Parameters
    ----------
    parts, client : as for `learn_distributed`; the targets are values
    rules, output : as for `evaluate`
    """
    cascade = as_cascade(rules)
    samples = OnCluster.of(cascade, parts, client)
    name = judged_output(cascade, samples.targeted, output)
    futures = samples.each(_decided, samples.tasks.share(cascade), name)
    return report_on(cascade[name], samples.tasks.results(futures))


def _decided(batch: TrainingBatch, cascade: Cascade, name: str) -> DecisionPart:
    return DecisionPart.of(cascade, name, batch)


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

    def learned_from(kept: BoolArray) -> Cascade:
        found = learn_parts(cascade, samples.only(kept), cast(Any, method), None, None, SMOOTHING)
        return found.cascade

    judges = LabelJudges.of(cascade, samples.n, method, folds, seed, learned_from)
    code = CascadeStages(cascade, samples.targeted).program()
    given = map(samples.tasks.share, (cascade, code, judges.cascades))
    found = samples.tasks.results(samples.each(_judged, *given, of_samples=judges.fold))
    names = samples.targeted
    sets, labels, targets = ([one[k] for one in found] for k in range(3))
    batch = RemoteBatch(
        samples.n, {}, {n: Target.join([one[n] for one in targets]) for n in names}, None, samples
    )
    return Audit(
        cascade,
        {n: SetAudit.join(cascade[n], [one[n] for one in sets]) for n in names},
        {n: SetSuspicion.join([one[n] for one in labels]) for n in names},
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
    return {name: one.columns for name, one in sets.items()}, labels, dict(batch.targets)
