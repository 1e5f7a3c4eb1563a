"""Fronts: selected exactly, merged in any order, evaluated bit for bit as the naive maximum."""

import pickle
import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from equations import minmax_oracle as oracle
from pinesy.equations import Front, Fronts, pareto_front, pareto_fronts
from pinesy.exceptions import DegreeError, DomainError

FloatArray = npt.NDArray[np.float64]
Pairs = list[tuple[float, float]]

#: Decimal grids, whose ties and near-ties hurt, and any floats, the smallest included.
NUMBERS = st.integers(0, 10).map(lambda i: i / 10) | st.floats(0.0, 1.0)
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), max_size=30)
POINTS = st.lists(NUMBERS, max_size=10)


def build(pairs: Pairs) -> Front:
    return pareto_front([e for e, _ in pairs], [w for _, w in pairs])


def bits(front: Front | Fronts) -> tuple[bytes, bytes]:
    return front.e.tobytes(), front.w.tobytes()


def naive(e: FloatArray, w: FloatArray, y: FloatArray) -> FloatArray:
    """The maximum over all pairs, in float64."""
    terms = np.minimum(np.maximum(e - y[:, None], 0.0) / 2.0, w)
    result: FloatArray = terms.max(axis=1, initial=0.0)
    return result


def table(pairs: Sequence[Pairs]) -> tuple[FloatArray, FloatArray]:
    """The pairs of columns of one length as two tables."""
    both = np.array(pairs, dtype=np.float64).reshape(len(pairs), -1, 2)
    return both[:, :, 0].T, both[:, :, 1].T


# --- selection ---------------------------------------------------------------------------------


@given(PAIRS)
@example([(0.5, 0.0), (0.4, 0.0)])
@example([(0.5, 0.2), (0.5, 0.3), (0.5, 0.1)])
def test_the_pairs_that_none_beats(pairs: Pairs) -> None:
    front = build(pairs)
    assert list(zip(front.e.tolist(), front.w.tolist(), strict=True)) == oracle.front(pairs)
    assert len(front) == len(front.e)


def test_pairs_of_negative_worth_are_dropped() -> None:
    front = pareto_front([0.9, 0.8, -0.5, -0.7], [-0.5, -0.2, 0.1, 0.3])
    assert (front.e.tolist(), front.w.tolist()) == ([-0.5, -0.7], [0.1, 0.3])


def test_a_front_cannot_be_changed() -> None:
    e = np.array([0.5])
    front = pareto_front(e, [0.1])
    e[0] = 0.25
    assert front.e.tolist() == [0.5]
    with pytest.raises(ValueError, match="read-only"):
        front.e[0] = 0.75


# --- merging -----------------------------------------------------------------------------------


@given(PAIRS, PAIRS, PAIRS)
def test_merging_is_a_semilattice(one: Pairs, two: Pairs, three: Pairs) -> None:
    a, b, c = map(build, (one, two, three))
    assert bits(a.merge(b).merge(c)) == bits(a.merge(b.merge(c)))
    assert bits(a.merge(b)) == bits(b.merge(a)) == bits(build(one + two))
    assert bits(a.merge(a)) == bits(a) == bits(a.merge(build([])))


@given(st.data(), PAIRS)
def test_any_order_and_chunking_gives_the_same_bits(data: st.DataObject, pairs: Pairs) -> None:
    shuffled = data.draw(st.permutations(pairs))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(pairs)), max_size=4)))
    chunks = [shuffled[i:j] for i, j in zip([0, *cuts], [*cuts, len(pairs)], strict=True)]
    assert bits(reduce(Front.merge, map(build, chunks))) == bits(build(pairs))


# --- evaluation --------------------------------------------------------------------------------


@given(PAIRS, POINTS)
@example([(5e-324, 5e-324)], [0.0])
def test_the_value_is_the_naive_maximum_bit_for_bit(pairs: Pairs, points: list[float]) -> None:
    e, w, y = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs]), np.array(points)
    assert build(pairs).evaluate(y).tobytes() == naive(e, w, y).tobytes()


def test_long_fronts_bit_for_bit() -> None:
    rng = np.random.default_rng(2)
    e = rng.random(500)
    w = 1.0 - e + 1e-3 * rng.random(500)
    y = np.concatenate([rng.random(400), e])
    front = pareto_front(e, w)
    assert len(front) > 100
    assert front.evaluate(y).tobytes() == naive(e, w, y).tobytes()


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), max_size=8))
def test_the_value_is_the_exact_one_rounded(grid: list[tuple[int, int]]) -> None:
    exact = [(Fraction(e, 100), Fraction(w, 100)) for e, w in grid]
    front = build([(float(e), float(w)) for e, w in exact])
    points = [Fraction(i, 20) for i in range(21)]
    for y, found in zip(points, front.evaluate([float(y) for y in points]), strict=True):
        assert float(found) == pytest.approx(float(oracle.h(exact, y)), abs=1e-15)


def test_points_may_be_a_view() -> None:
    front = pareto_front([0.8, 0.6], [0.1, 0.4])
    y = np.linspace(0.0, 1.0, 11)
    assert front.evaluate(y[::2]).tolist() == front.evaluate(y).tolist()[::2]
    assert front.evaluate([]).tolist() == []


# --- solutions ---------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), max_size=8), st.integers(0, 200)
)
def test_the_solution_on_a_decimal_grid(grid: list[tuple[int, int]], halves: int) -> None:
    """With g and e on a grid, ``w = e - g`` is rounded; the solution is that of the fractions."""
    pairs = [(Fraction(max(p), 100), Fraction(min(p), 100)) for p in grid]
    nabla = Fraction(halves, 200)
    exact = max((e - nabla for e, g in pairs if g < e - nabla), default=Fraction(0))
    front = build([(float(e), float(e) - float(g)) for e, g in pairs])
    assert front.solution(float(nabla)) == pytest.approx(float(exact), abs=1e-15)


def test_a_tie_by_rounding_is_a_tie() -> None:
    front = pareto_front([1.0], [1.0 - 0.9])  # 0.09999999999999998
    assert front.solution(0.09999999999999995) == 0.0
    assert front.solution(0.09999999999999995, tolerance=0.0) == 0.9
    assert pareto_front([0.5], [0.25]).solution(0.25, tolerance=0.0) == 0.0
    assert pareto_front([0.5], [1e-300]).solution(0.0) == 0.5  # an exact 0 needs no tolerance


def test_solutions_on_another_interval() -> None:
    front = pareto_front([-0.25], [0.5])
    assert front.solution(0.25, bottom=-1.0) == -0.5
    assert front.solution(0.75, bottom=-1.0) == -1.0


# --- many columns ------------------------------------------------------------------------------


@given(st.data(), st.integers(0, 12), st.integers(1, 5))
def test_packed_fronts_are_the_fronts(data: st.DataObject, n: int, columns: int) -> None:
    column = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=n, max_size=n)
    one, two = (data.draw(st.lists(column, min_size=columns, max_size=columns)) for _ in "ab")
    fronts = pareto_fronts(*table(one))
    assert len(fronts) == columns
    assert [bits(front) for front in fronts] == [bits(build(pairs)) for pairs in one]
    merged = fronts.merge(pareto_fronts(*table(two)))
    expected = [build(p).merge(build(q)) for p, q in zip(one, two, strict=True)]
    assert [bits(front) for front in merged] == [bits(front) for front in expected]
    nabla = data.draw(NUMBERS)
    assert merged.solution(nabla).tolist() == [front.solution(nabla) for front in expected]


@given(st.data(), st.integers(1, 4))
def test_packed_evaluation(data: st.DataObject, columns: int) -> None:
    each = data.draw(st.lists(PAIRS, min_size=columns, max_size=columns))
    fronts = Fronts.pack(map(build, each))
    row = st.lists(NUMBERS, min_size=columns, max_size=columns)
    y = np.array(data.draw(st.lists(row, min_size=1, max_size=6)))
    expected = np.stack([build(p).evaluate(y[:, i]) for i, p in enumerate(each)], axis=1)
    assert fronts.evaluate(y).tobytes() == expected.tobytes()
    shared = np.stack([build(p).evaluate(y[:, 0]) for p in each], axis=1)
    assert fronts.evaluate(y[:, :1]).tobytes() == shared.tobytes()


def test_fronts_travel() -> None:
    fronts = pareto_fronts([[0.8, 0.5], [0.6, 0.7]], [[0.1, 0.2], [0.4, 0.0]])
    copy = pickle.loads(pickle.dumps(fronts))
    assert bits(copy) == bits(fronts)
    assert copy.evaluate([[0.1, 0.1]]).tolist() == fronts.evaluate([[0.1, 0.1]]).tolist()
    assert (repr(fronts), repr(fronts[0])) == ("Fronts(2 columns, 3 pairs)", "Front(2 pairs)")


# --- what is refused ---------------------------------------------------------------------------


def test_bad_pairs_and_points() -> None:
    with pytest.raises(DegreeError, match="w, row 1, is nan; it must be a finite number"):
        pareto_front([0.1, 0.2], [0.1, np.nan])
    with pytest.raises(DegreeError, match="e, row 0, column 1, is inf"):
        pareto_fronts([[0.1, np.inf]], [[0.1, 0.2]])
    with pytest.raises(DomainError, match="the rows of e are 2 and those of w are 1"):
        pareto_front([0.1, 0.2], [0.1])
    with pytest.raises(DomainError, match="the columns of e are 1 and those of w are 2"):
        pareto_fronts([[0.1]], [[0.1, 0.2]])
    with pytest.raises(DegreeError, match="y, row 0, is nan"):
        pareto_front([0.1], [0.1]).evaluate([np.nan])
    with pytest.raises(DegreeError, match=r"nabla is -0\.1; a distance is a number >= 0"):
        pareto_front([0.1], [0.1]).solution(-0.1)


@pytest.mark.parametrize(
    ("e", "w"),
    [([0.1, 0.2], [0.1, 0.2]), ([0.2, 0.1], [0.2, 0.2]), ([0.2, 0.2], [0.1, 0.2]), ([0.2], [0.0])],
)
def test_pairs_that_are_not_a_front(e: list[float], w: list[float]) -> None:
    with pytest.raises(DomainError, match=r"not a front.*pareto_front\(e, w\)"):
        Front(np.array(e), np.array(w))


@pytest.mark.parametrize("starts", [[], [0], [1, 2], [0, 3], [0, 2, 1, 2], [0, 1]])
def test_packed_fronts_that_do_not_fit(starts: list[int]) -> None:
    pairs = np.array([0.5, 0.4]), np.array([0.1, 0.2])
    assert len(Fronts(*pairs, np.array([0, 2]))) == 1
    with pytest.raises(DomainError, match=r"begin with 0.*Fronts\.pack"):
        Fronts(*pairs, np.array(starts, dtype=np.int64))


def test_fronts_of_other_sizes() -> None:
    fronts = pareto_fronts([[0.8, 0.5]], [[0.1, 0.2]])
    with pytest.raises(DomainError, match="the fronts are 2 and those to merge are 1"):
        fronts.merge(pareto_fronts([[0.8]], [[0.1]]))
    with pytest.raises(DomainError, match="the columns of y are 3 and the fronts are 2"):
        fronts.evaluate([[0.1, 0.2, 0.3]])
    with pytest.raises(DomainError, match=r"no front 2; they are numbered 0 \.\. 1"):
        fronts[2]


def test_numba_is_loaded_only_to_evaluate() -> None:
    code = (
        "import sys; from pinesy.equations import pareto_front\n"
        "front = pareto_front([0.5], [0.1]); front.merge(front).solution(0.0)\n"
        "print('numba' in sys.modules); front.evaluate([0.1]); print('numba' in sys.modules)"
    )
    source = str(Path(__file__).parents[2] / "src")
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {source!r}); {code}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["False", "True"]
