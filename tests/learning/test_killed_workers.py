"""Workers that are killed: the bits of one machine, or an error of pinesy with a cure."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from learning.cluster_help import PARTS, WORK, cluster, cluster_bits, dask, local_bits
from learning.oracle_help import DIAMOND, SKIP, bits, random_samples
from messages import raises_saying
from pinesy import learn
from pinesy.exceptions import DataError
from pinesy.learning import distributed_work as module
from pinesy.learning import infer_distributed, learn_distributed


@pytest.fixture(scope="module")
def started() -> Iterator[tuple[Any, Any]]:
    with cluster(processes=True) as found:
        yield found


@pytest.fixture(scope="module")
def local() -> dict[str, Any]:
    return local_bits()


def reading(deadly: int, flag: Path) -> Callable[[int, int | None], Any]:
    """Return what reads a part, and kills the worker that does so first."""
    name = str(flag)

    def read(number: int, side: int | None = None) -> Any:
        if number == deadly and not os.path.exists(name):
            with open(name, "x"):
                os.kill(os.getpid(), signal.SIGKILL)
        return PARTS[number] if side is None else PARTS[number][side]

    return read


@pytest.mark.parametrize("work", WORK)
def test_a_worker_dies_while_it_reads(
    work: str, started: tuple[Any, Any], local: dict[str, Any], tmp_path: Path
) -> None:
    flag = tmp_path / "died"
    read = dask.delayed(reading(4, flag))
    pairs = [read(number) for number in range(len(PARTS))]
    evidence = [read(number, 0) for number in range(len(PARTS))]
    found = cluster_bits(work, pairs, started[1], evidence)
    assert flag.exists()
    assert found == local[work]


def test_a_worker_dies_between_the_passes(
    started: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that it held is gone: batches, programs, fronts."""
    _, client = started
    do_pass = module.ClusterSamples.second_pass
    killed: list[int] = []

    def kill_and_go_on(samples: Any, *arguments: Any) -> Any:
        if not killed:
            pid = next(iter(client.run(os.getpid).values()))
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)
        return do_pass(samples, *arguments)

    monkeypatch.setattr(module.ClusterSamples, "second_pass", kill_and_go_on)
    x, y = random_samples(SKIP, 40, seed=11)
    half = [({"a": x["a"][i::2]}, {n: t[i::2] for n, t in y.items()}) for i in range(2)]
    result = learn_distributed(SKIP, half, client=client, tolerance=0.8)
    assert len(killed) == 1
    assert bits(result) == bits(learn(SKIP, x, y, tolerance=0.8))


def test_scattered_data_is_lost_with_its_worker(started: tuple[Any, Any]) -> None:
    _, client = started
    futures = client.scatter(PARTS[:2], hash=False)
    [(worker, *_), *_] = client.who_has(futures).values()
    os.kill(client.run(os.getpid)[worker], signal.SIGKILL)
    with raises_saying(DataError, "client.scatter", "dask.delayed"):
        learn_distributed(DIAMOND, futures, client=client)


def test_a_part_that_kills_every_worker(started: tuple[Any, Any]) -> None:
    found, client = started

    def read() -> Any:
        time.sleep(0.3)  # a task before it, of which nobody heard that it is done, would be blamed
        os.kill(os.getpid(), signal.SIGKILL)

    parts = [dask.delayed(read)()]  # alone: others that their worker was given die with it
    allowed, found.scheduler.allowed_failures = found.scheduler.allowed_failures, 0
    try:
        with raises_saying(DataError, "part 0: the workers", "smaller parts", "memory_limit"):
            infer_distributed(DIAMOND, parts, client=client)
    finally:
        found.scheduler.allowed_failures = allowed
