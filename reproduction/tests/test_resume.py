"""Experiments that are killed, and shared between processes: nothing is lost or done twice."""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")
pytest.importorskip("mlxtend")

import pinesy
from pinesy import problems
from reproduction import Experiment, Store, bench, experiments_of, scheduler
from reproduction.store import locked
from reproduction.tests.synthetic import records_in
from reproduction.tests.tiny import SCRIPT, TINY_QUICK, few_candidates, few_digits, timeless

PATH = [Path(pinesy.__file__).parents[1], Path(__file__).parents[2]]
COMMAND = ["addition", "--quick", "--threads", "1"]
EXPERIMENTS = experiments_of("addition", [1, 2], runs=[0, 1])


@pytest.fixture(autouse=True)
def few_images(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process see what the other ones see."""
    monkeypatch.setattr(problems, "digits", few_digits)
    monkeypatch.setattr(bench, "candidate_tolerances", few_candidates)
    monkeypatch.setattr(scheduler, "PAUSE", 0.1)


def here(
    place: Path, experiments: list[Experiment] = EXPERIMENTS, say: Callable[[str], object] = print
) -> scheduler.Outcome:
    """Do the experiments in this process."""
    results, work = place / "results", place / "work"
    return scheduler.reproduce(
        experiments, results, work=work, scale=TINY_QUICK, threads=1, say=say
    )


def start(place: Path, *options: str) -> "subprocess.Popen[str]":
    """Do some experiments in another process."""
    places = ["--results", str(place / "results"), "--work", str(place / "work")]
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *COMMAND, *options, *places],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PATH)), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def records(place: Path) -> list[dict[str, Any]]:
    return [timeless(record) for record in records_in(place / "results")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What an undisturbed run gives."""
    place = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(problems, "digits", few_digits)
        patch.setattr(bench, "candidate_tolerances", few_candidates)
        assert len(here(place).records) == len(EXPERIMENTS)
    return records(place)


def files(place: Path) -> int:
    """Return how many networks, predictions and records there are."""
    return sum(1 for pattern in ("*.safetensors", "*.json") for _ in place.rglob(pattern))


def wait_for(done: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    late = time.monotonic() + 120
    while not done() and process.poll() is None:
        assert time.monotonic() < late, "nothing happens"
        time.sleep(0.002)


def test_killed_at_a_random_moment_it_goes_on_to_the_same_records(
    tmp_path: Path, whole: list[dict[str, Any]]
) -> None:
    """There are six files: a network that is written twice, what it sees, four records."""
    with start(tmp_path, "--k", "1", "2", "--runs", "1") as process:
        wait_for(lambda: files(tmp_path) >= 3, process)
        time.sleep(random.Random(5).uniform(0, 0.03))
        killed = process.poll() is None
        process.kill()
    assert killed
    outcome = here(tmp_path, [e for e in EXPERIMENTS if e.run == 0])
    assert outcome.there + len(outcome.records) == 4
    assert outcome.there >= 1
    assert records(tmp_path) == [record for record in whole if record["run"] == 0]


class _Killed(BaseException):
    """What no code expects."""


@pytest.mark.parametrize("writing", range(6))
def test_stopped_while_any_file_is_written_it_goes_on(
    tmp_path: Path, whole: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, writing: int
) -> None:
    """What is written for two experiments: two epochs, predictions, two records (and no more)."""
    experiments = [p for p in EXPERIMENTS if (p.run, p.size) == (0, 1)]
    wanted = [r for r in whole if (r["run"], r["size"]) == (0, 1)]
    calls = 0

    def fsync(_descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls == writing + 1:
            raise _Killed

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        if writing < 5:
            with pytest.raises(_Killed):
                here(tmp_path, experiments)
            assert len(records(tmp_path)) == max(writing - 3, 0)
        else:
            here(tmp_path, experiments)
    outcome = here(tmp_path, experiments)
    assert outcome.there == min(max(writing - 3, 0), 2)
    assert records(tmp_path) == wanted


def test_two_processes_do_nothing_twice(tmp_path: Path, whole: list[dict[str, Any]]) -> None:
    lines: list[str] = []
    with start(tmp_path, "--k", "1", "--runs", "2") as other:
        wait_for(lambda: any(tmp_path.rglob(".*.lock")), other)  # it is at work
        here(tmp_path, [e for e in EXPERIMENTS if e.size == 1], lines.append)
        said, _ = other.communicate(timeout=240)
    assert other.returncode == 0, said
    lines += said.splitlines()
    trained = Counter(line.split(":")[0] for line in lines if line.startswith("network "))
    assert trained == {"network addition-normal-0": 1, "network addition-normal-1": 1}
    done = Counter(line.split(":")[0] for line in lines if line.startswith("addition-"))
    assert done == {str(experiment): 1 for experiment in EXPERIMENTS if experiment.size == 1}
    assert records(tmp_path) == [record for record in whole if record["size"] == 1]


def test_what_another_process_works_on_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process dies without having finished: its lock is free, and it is done here."""
    store = Store(TINY_QUICK.place(tmp_path / "results"))
    said: list[str] = []
    lock = store.lock(EXPERIMENTS[1])
    assert lock.__enter__()
    monkeypatch.setattr(scheduler, "sleep", lambda _: lock.__exit__(None, None, None))
    outcome = here(tmp_path, EXPERIMENTS[:2], said.append)
    assert (outcome.there, len(outcome.records)) == (0, 2)
    assert "another process is at work on what is left (1 experiments)" in said


def test_deepsoftlogs_networks_are_shared_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two networks to choose from another process has the first: the second is trained here."""
    said: list[str] = []
    lock = locked(TINY_QUICK.place(tmp_path / "work") / ".deepsoftlog-0.lock")
    assert lock.__enter__()
    monkeypatch.setattr(scheduler, "sleep", lambda _: lock.__exit__(None, None, None))
    experiments = experiments_of("addition", [1], settings=["deepsoftlog-cnn"], runs=[0])
    here(tmp_path, experiments, said.append)
    trained = [line.split(":")[0] for line in said if line.startswith("network")]
    assert trained == ["network deepsoftlog-1", "network deepsoftlog-0"]


def test_a_network_in_other_hands_is_not_trained_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Experiments of other networks come first; then it is waited for."""
    lock = locked(TINY_QUICK.place(tmp_path / "work") / ".addition-normal-0.lock")
    assert lock.__enter__()
    monkeypatch.setattr(scheduler, "sleep", lambda _: lock.__exit__(None, None, None))
    runs = [r["network"]["file"] for r in here(tmp_path, [EXPERIMENTS[0], EXPERIMENTS[-1]]).records]
    assert runs == ["addition-normal-1.safetensors", "addition-normal-0.safetensors"]
