"""Work on a Dask cluster: the bits of one machine. Workers die in test_killed_workers.py."""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from learning import cluster_help
from learning.cluster_help import EMPTY, WORK, cluster, cluster_bits, dask, distributed, local_bits
from learning.oracle_help import DIAMOND, SKIP, assert_certified, bits, parts, random_samples
from messages import raises_saying
from pinesy import LearningError, PinesyError, learn
from pinesy._common.cluster_tasks import FAN_IN
from pinesy.exceptions import DataError, DegreeError, DomainError
from pinesy.learning import audit_distributed, infer_distributed, learn_batches, learn_distributed

TAU = 0.8
N = 300
INPUTS, TARGETS = random_samples(SKIP, N, seed=11)
#: Not in order, and of very different sizes; more than one task merges.
PARTS = parts(
    INPUTS, TARGETS, np.random.default_rng(0).permutation(N).tolist(), [1, 3, *range(20, N, 30)]
)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Workers in this process, which nobody can kill: those of test_killed_workers.py can be."""
    with cluster(processes=False) as (_, found):
        yield found


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return bits(learn(SKIP, INPUTS, TARGETS, tolerance=TAU))


@pytest.mark.parametrize("work", WORK)
def test_each_kind_of_work(work: str, client: Any) -> None:
    """One of the parts is empty."""
    pairs = cluster_help.PARTS
    found = cluster_bits(work, pairs, client, [evidence for evidence, _ in pairs])
    assert found == local_bits()[work]


def test_results_that_stay_at_the_workers(client: Any) -> None:
    evidence = [pair[0] for pair in cluster_help.PARTS]
    futures = infer_distributed(DIAMOND, evidence, client=client, gather=False)
    one = futures[-1].result()
    assert one["e"].degrees.tobytes() == DIAMOND.infer(evidence[-1])["e"].degrees.tobytes()
    assert len(futures) == len(evidence)


def test_empty_parts(client: Any) -> None:
    with raises_saying(DataError, "all 2 parts are empty: there are no samples"):
        learn_distributed(DIAMOND, [EMPTY, EMPTY], client=client)
    evidence = [EMPTY[0], cluster_help.PARTS[0][0]]
    assert len(infer_distributed(DIAMOND, evidence, client=client)["e"]) == 1
    first = learn_distributed(DIAMOND, [EMPTY, *cluster_help.PARTS], client=client)
    expected = bits(learn(DIAMOND, cluster_help.INPUTS, cluster_help.LABELS))
    assert bits(first) == expected
    assert bits(learn_batches(DIAMOND, [EMPTY, *cluster_help.PARTS])) == expected
    with raises_saying(DataError, "the batches hold no samples"):
        learn_batches(DIAMOND, [EMPTY])


def test_counts_travel_too(client: Any) -> None:
    expected = learn(SKIP, INPUTS, TARGETS, method="counts", fixed="s")
    result = learn_distributed(SKIP, PARTS, client=client, method="counts", fixed="s")
    assert result.cascade == expected.cascade
    with raises_saying(DataError, "'gradient' needs all samples in memory"):
        learn_distributed(SKIP, PARTS, client=client, method="gradient")  # type: ignore[arg-type]
    with raises_saying(DataError, "'gradient' needs all samples in memory"):
        audit_distributed(SKIP, PARTS, client=client, method="gradient")  # type: ignore[arg-type]


# --- parts -------------------------------------------------------------------------------------


def test_pairs(client: Any, expected: dict[str, Any]) -> None:
    assert len(PARTS) > FAN_IN
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


def test_a_client_that_is_none(client: Any) -> None:
    with raises_saying(DataError, "client is 5; give a distributed.Client"):
        learn_distributed(DIAMOND, [(X, Y)], client=5)
    with distributed.Client(client.cluster, set_as_default=False) as closed:
        pass
    with raises_saying(DataError, "the Dask client is closed; create a new one"):
        infer_distributed(DIAMOND, [X], client=closed)


def test_a_bad_part_of_evidence_is_named(client: Any) -> None:
    with raises_saying(DegreeError, "part 1: attribute 'a', row 0", "not normalised"):
        infer_distributed(DIAMOND, [X, {**X, "a": X["a"] * 0.5}], client=client)


def test_no_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with raises_saying(DataError, "needs Dask", "pip install 'pinesy[dask]'"):
        learn_distributed(DIAMOND, [(X, Y)])
