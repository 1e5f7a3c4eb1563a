"""Learning on a real Dask cluster, with workers that die: the bits of learning on one machine."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learning.oracle_help import DIAMOND, SKIP, assert_certified, bits, parts, random_samples
from messages import raises_saying
from pinesy import LearningError, PinesyError, learn
from pinesy.exceptions import DataError, DegreeError, DomainError
from pinesy.learning import cluster as module
from pinesy.learning import learn_distributed

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

TAU = 0.8
N = 300
INPUTS, TARGETS = random_samples(SKIP, N, seed=11)
#: Not in order, and of very different sizes; more than one task merges.
PARTS = parts(
    INPUTS, TARGETS, np.random.default_rng(0).permutation(N).tolist(), [1, 3, *range(20, N, 30)]
)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    options = {
        "processes": True,
        "n_workers": 2,
        "threads_per_worker": 1,
        "dashboard_address": ":0",  # any free port: None would take 8787, also of another run
    }
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster, set_as_default=False) as found,
    ):
        yield found


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return bits(learn(SKIP, INPUTS, TARGETS, tolerance=TAU))


def test_counts_travel_too(client: Any) -> None:
    expected = learn(SKIP, INPUTS, TARGETS, method="counts", fixed="s")
    result = learn_distributed(SKIP, PARTS, client=client, method="counts", fixed="s")
    assert result.cascade == expected.cascade
    with raises_saying(DataError, "'gradient' needs all samples in memory"):
        learn_distributed(SKIP, PARTS, client=client, method="gradient")  # type: ignore[arg-type]


# --- parts -------------------------------------------------------------------------------------


def test_pairs(client: Any, expected: dict[str, Any]) -> None:
    assert len(PARTS) > module.FAN_IN
    result = learn_distributed(SKIP, PARTS, client=client, tolerance=TAU)
    assert bits(result) == expected
    assert_certified(INPUTS, TARGETS, result)
    assert result.nabla == {}
    one = learn_distributed(SKIP, [(INPUTS, TARGETS)], client=client, tolerance=TAU)
    assert bits(one) == expected


def test_calls_and_futures(client: Any, expected: dict[str, Any]) -> None:
    """Calls that are made on the workers, results that are there already, pairs: all at once."""

    def read(number: int) -> Any:
        return PARTS[number]

    calls = [dask.delayed(read)(number) for number in range(5)]
    futures = [client.submit(read, number) for number in range(5, 9)]
    with client.as_current():
        result = learn_distributed(SKIP, [*futures, *PARTS[9:], *calls], tolerance=TAU)
    assert bits(result) == expected


def test_one_rule_set_and_initial_parameters(client: Any) -> None:
    rules, x, y = SKIP["z"], {"a": INPUTS["a"]}, TARGETS["z"]
    result = learn_distributed(rules, [(x, y)], client=client)
    assert bits(result) == bits(learn(rules, x, y))
    without = {name: t for name, t in TARGETS.items() if name != "z"}
    initial = {"z": ([0.0, 0.5], [0.75, 0.0])}
    found = learn_distributed(SKIP, [(INPUTS, without)], client=client, initial=initial)
    assert bits(found) == bits(learn(SKIP, INPUTS, without, initial=initial))


# --- workers that die --------------------------------------------------------------------------


def test_a_worker_dies_while_it_reads(
    client: Any, expected: dict[str, Any], tmp_path: Path
) -> None:
    flag = str(tmp_path / "died")

    def read(number: int) -> Any:
        if number == 6 and not os.path.exists(flag):
            with open(flag, "x"):
                os.kill(os.getpid(), signal.SIGKILL)
        return PARTS[number]

    calls = [dask.delayed(read)(number) for number in range(len(PARTS))]
    result = learn_distributed(SKIP, calls, client=client, tolerance=TAU)
    assert os.path.exists(flag)
    assert bits(result) == expected


def test_a_worker_dies_between_the_passes(
    client: Any, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that it held is gone: batches, programs, fronts."""
    second_pass = module.OnCluster.stacked
    killed: list[int] = []

    def kill_and_go_on(samples: Any, *arguments: Any) -> Any:
        if not killed:
            pid = next(iter(client.run(os.getpid).values()))
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)
        return second_pass(samples, *arguments)

    monkeypatch.setattr(module.OnCluster, "stacked", kill_and_go_on)
    result = learn_distributed(SKIP, PARTS, client=client, tolerance=TAU)
    assert len(killed) == 1
    assert bits(result) == expected


# --- what is refused ---------------------------------------------------------------------------

X, Y = random_samples(DIAMOND, 4, seed=1, graded=False)
BAD: list[tuple[Any, type[PinesyError], list[str]]] = [
    ((X, {**Y, "c": [0, 1, 7, 0]}), DomainError, ["part 1: the target of 'c', row 2", "value 7"]),
    ((X, {"b": Y["b"]}), DataError, ["part 1 has targets for b, the first part for b, c, e"]),
    (({"a": X["a"]}, Y), PinesyError, ["part 1: no distribution is given for d"]),
    (
        ({**X, "a": X["a"] * 0.5}, Y),
        DegreeError,
        ["part 1: attribute 'a', row 0", "not normalised"],
    ),
    (5, DataError, ["part 1 is not a pair (evidence, targets): 5"]),
]


@pytest.mark.parametrize(("bad", "error", "words"), BAD, ids=[" ".join(b[2])[:30] for b in BAD])
def test_a_bad_part_is_named(
    bad: Any, error: type[PinesyError], words: list[str], client: Any
) -> None:
    with raises_saying(error, *words):
        learn_distributed(DIAMOND, [(X, Y), bad], client=client)


def test_errors_travel(client: Any) -> None:
    wrong = {"a": np.eye(2)}, {"z": [1, 0]}
    with raises_saying(LearningError, "'z': none of the 4 samples is reliable") as caught:
        learn_distributed(SKIP, [wrong, wrong], client=client, tolerance=0.1)
    assert isinstance(caught.value, LearningError)
    assert caught.value.smallest == 1.0


@pytest.mark.parametrize("wrong", [[], "parts", {"a": 1}, None, iter([(X, Y)])])
def test_parts_that_are_no_list(wrong: Any) -> None:
    with raises_saying(DataError, "give the parts of the data as a list"):
        learn_distributed(DIAMOND, wrong)


def test_no_client() -> None:
    with raises_saying(DataError, "no Dask client is there", "client=..."):
        learn_distributed(DIAMOND, [(X, Y)])


def test_no_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with raises_saying(DataError, "needs Dask", "pip install 'pinesy[dask]'"):
        learn_distributed(DIAMOND, [(X, Y)])
