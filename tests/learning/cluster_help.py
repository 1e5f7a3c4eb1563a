"""Clusters for tests, and the bits of what is found on them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from learning.oracle_help import DIAMOND, parts, random_samples
from pinesy import Inference
from pinesy.learning import (
    Audit,
    DecisionReport,
    audit,
    audit_distributed,
    evaluate,
    evaluate_distributed,
    infer_distributed,
    learn,
    learn_distributed,
)

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

#: What workers import for the work of these tests.
KERNELS = (
    "pinesy.learning",
    "pinesy.engine.kernels",
    "pinesy.learning.sample_kernels",
    "pinesy.learning.system_kernels",
)
N = 60
INPUTS, LABELS = random_samples(DIAMOND, N, seed=5, graded=False)
#: In order, of very different sizes, one of them empty.
PARTS = [*parts(INPUTS, LABELS, range(N), [1, 2, 20, 41, 50])]
EMPTY: tuple[Any, Any] = {name: x[:0] for name, x in INPUTS.items()}, {name: [] for name in LABELS}
PARTS.insert(3, EMPTY)


@contextmanager
def cluster(processes: bool) -> Iterator[tuple[Any, Any]]:
    """Start two workers; yield the cluster and its client.

    Processes are forked from a server that has imported all they need: a new one after a kill takes
    a tenth of a second, not two.
    """
    options = {
        "processes": processes,
        "n_workers": 2,
        "threads_per_worker": 1,
        "dashboard_address": ":0",  # any free port: None would take 8787, also of another run
    }
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        distributed.utils.get_mp_context().set_forkserver_preload(["distributed", *KERNELS])
        with (
            distributed.LocalCluster(**options) as found,
            distributed.Client(found, set_as_default=False) as client,
        ):
            yield found, client


def inference_bits(found: Inference) -> list[Any]:
    return [(name, pi.degrees.shape, pi.degrees.tobytes()) for name, pi in found.items()]


def audit_bits(found: Audit) -> tuple[Any, ...]:
    """All arrays, the words on the worst samples, and what is fetched of some."""
    arrays = [c.tobytes() for one in found.sets.values() for c in one.columns]
    arrays += [c.tobytes() for one in found.labels.values() for c in vars(one).values()]
    repaired = [found.repaired(i)["e"].degrees.tobytes() for i in (0, 1, N - 1)]
    return arrays, found.order.tolist(), str(found), repaired, found.row(7)


def report_bits(found: DecisionReport) -> tuple[Any, ...]:
    return found.to_dict(), found.scores.log_loss.hex(), found.ranking.tolist(), str(found)


def local_bits() -> dict[str, Any]:
    """What one machine finds in all samples, for each kind of work."""
    return {
        "infer": inference_bits(DIAMOND.infer(INPUTS, ["b", "e"])),
        "audit": audit_bits(audit(DIAMOND, INPUTS, LABELS, method="counts", folds=3)),
        "evaluate": report_bits(evaluate(DIAMOND, INPUTS, LABELS)),
        "counts": str(learn(DIAMOND, INPUTS, LABELS, method="counts").cascade.rule_sets),
    }


def cluster_bits(work: str, pairs: list[Any], client: Any, evidence: list[Any]) -> Any:
    """What the workers find, for one kind of work on pairs, or on evidence alone."""
    if work == "infer":
        return inference_bits(infer_distributed(DIAMOND, evidence, ["b", "e"], client=client))
    if work == "audit":
        found = audit_distributed(DIAMOND, pairs, client=client, method="counts", folds=3)
        return audit_bits(found)
    if work == "evaluate":
        return report_bits(evaluate_distributed(DIAMOND, pairs, client=client))
    learned = learn_distributed(DIAMOND, pairs, client=client, method="counts")
    return str(learned.cascade.rule_sets)


WORK = ("infer", "audit", "evaluate", "counts")
