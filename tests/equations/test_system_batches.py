"""Systems in batches: the results of one system, however its rows are divided."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equations.relational_systems import CLOSE, NAMES, systems
from pinesy.equations import BatchSolution, System, solve_batches
from pinesy.exceptions import DataError, DegreeError, DomainError, InconsistentSystemError

EACH = pytest.mark.parametrize("name", NAMES)
#: Compositions whose summaries only select numbers: the same bits for any division.
SELECTING = {n for n in NAMES if "product" not in n and "goguen" not in n and "prob" not in n}


def assert_same(solution: BatchSolution, system: System) -> None:
    assert solution.n_rows == len(system.b)
    assert solution.is_consistent == system.is_consistent
    assert solution.is_attained == system.is_attained
    assert solution.chebyshev_distance == pytest.approx(system.chebyshev_distance, abs=CLOSE)
    assert solution.candidate == pytest.approx(system.candidate, abs=CLOSE)
    if system.is_attained:
        x = system.extreme_approximate_solution
        assert solution.extreme_approximate_solution == pytest.approx(x, abs=CLOSE)
    else:
        with pytest.raises(InconsistentSystemError, match="not attained"):
            _ = solution.extreme_approximate_solution


def divided(system: System, cuts: list[int]) -> list[Any]:
    edges = [0, *cuts, len(system.b)]
    slices = [slice(i, j) for i, j in pairwise(edges) if i < j]
    return [(system.a[rows], system.b[rows]) for rows in slices]


@EACH
@given(st.data())
def test_any_division(name: str, data: st.DataObject) -> None:
    system = data.draw(systems(name, rows=8)).rounded
    cuts = sorted(data.draw(st.lists(st.integers(0, len(system.b)), max_size=3)))
    solution = solve_batches(divided(system, cuts), name)
    assert_same(solution, system)
    if name in SELECTING:
        assert solution.chebyshev_distance == system.chebyshev_distance


@EACH
def test_many_rows_in_a_stream(name: str) -> None:
    rng = np.random.default_rng(5)
    system = System(rng.random((3000, 4)), rng.random(3000), name)

    def batches() -> Iterator[Any]:
        yield from divided(system, [100, 101, 2000])

    solution = solve_batches(batches, name)
    assert_same(solution, system)
    farthest = [0, 100, 101, 2000][solution.batch] + solution.row
    assert system.row_distances[farthest] == pytest.approx(system.chebyshev_distance, abs=CLOSE)
    assert name in repr(solution)


def test_bad_batches() -> None:
    good = ([[0.5, 0.5]], [0.5])
    with pytest.raises(DataError, match=r"batches is an iterator.*give a list, or a function"):
        solve_batches(iter([good]))
    with pytest.raises(DataError, match="there is no batch"):
        solve_batches([])
    with pytest.raises(DataError, match=r"batch 1: is \[0\.5\]; a batch is a pair"):
        solve_batches([good, [0.5]])
    with pytest.raises(DegreeError, match=r"batch 1: the matrix, row 0, column 0, is 1\.5"):
        solve_batches([good, ([[1.5, 0.0]], [0.5])])
    with pytest.raises(
        DomainError, match="the columns of batch 1 are 1 and those of batch 0 are 2"
    ):
        solve_batches([good, ([[0.5]], [0.5])])


@pytest.mark.dask
def test_on_a_cluster() -> None:
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    rng = np.random.default_rng(6)
    settings = {"n_workers": 1, "processes": False, "dashboard_address": None}
    with distributed.Client(**settings) as client:
        for name in NAMES:
            system = System(rng.random((50, 3)), rng.random(50), name)
            parts = divided(system, [10, 30])
            parts[1] = dask.delayed(tuple)(parts[1])
            assert_same(solve_batches(parts, name, client=client), system)
