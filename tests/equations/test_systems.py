"""Systems: every answer is checked by one certificate against the definitions in fractions."""

import pickle
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equations import minmax_oracle as oracle
from equations.minmax_oracle import Matrix, Vector
from pinesy.equations import (
    MaxMinSystem,
    MinMaxSystem,
    epsilon_product,
    maxmin_product,
    minmax_product,
)
from pinesy.exceptions import DegreeError, DomainError, InconsistentSystemError, PinesyError

FloatArray = npt.NDArray[np.float64]
System = MinMaxSystem | MaxMinSystem
Kind = TypeVar("Kind", bound=System)

KINDS = pytest.mark.parametrize("kind", [MinMaxSystem, MaxMinSystem])
#: Results of a few subtractions of degrees lie within this of the exact ones.
CLOSE = 1e-15


# --- the certificate ---------------------------------------------------------------------------


def assert_certified(kind: type[Kind], a: Matrix, b: Vector) -> Kind:
    """Check everything that a system says against the exact answers; return it.

    `a` and `b` are decimals. The exact answers are those of the min-max system in fractions; a
    max-min system is turned into one by complement, its answers are turned back.
    """
    turn: Callable[[Matrix], Matrix] = list if kind is MinMaxSystem else oracle.complement
    a_, (b_,) = turn(a), turn([b])
    rows = oracle.row_distances(a_, b_)
    nabla = max(rows)
    x_ = oracle.lowest(a_, b_, nabla)
    (x, near) = turn([x_, oracle.box(a_, x_)])

    system = kind(floats(a), floats(b))
    assert system.row_distances == approx(rows)
    assert system.chebyshev_distance == system.row_distances.max()
    assert system.is_consistent == (nabla == 0) == (system.chebyshev_distance == 0.0)
    assert approximate(system) == approx(x)
    assert approximation(system) == approx(near)
    certificate = system.verify(approximate(system))
    assert certificate.attains
    assert certificate.solves == system.is_consistent
    assert certificate.distance == system.chebyshev_distance
    assert certificate.residual == pytest.approx(float(nabla), abs=2 * CLOSE)
    certify_exact(system, x)
    return system


def certify_exact(system: System, x: Vector) -> None:
    """A consistent system has an exact solution, made of copies; any other says how far it is."""
    if system.is_consistent:
        assert exact(system).tolist() == floats(x).tolist() == approximate(system).tolist()
        assert product(system, exact(system)).tolist() == system.b.tolist()
        assert approximation(system).tolist() == system.b.tolist()
        assert set(exact(system)) <= {*system.b, 0.0 if isinstance(system, MinMaxSystem) else 1.0}
    else:
        cure = "lowest" if isinstance(system, MinMaxSystem) else "greatest"
        message = f"no solution.*{system.chebyshev_distance!r}.*ask for {cure}_approximate_solution"
        with pytest.raises(InconsistentSystemError, match=message) as caught:
            exact(system)
        assert caught.value.distance == system.chebyshev_distance


def floats(values: Any) -> FloatArray:
    return np.array(values, dtype=np.float64)


def approx(values: Vector) -> Any:
    return pytest.approx(floats(values), abs=CLOSE, rel=0.0)


def exact(system: System) -> Any:
    if isinstance(system, MinMaxSystem):
        return system.lowest_solution
    return system.greatest_solution


def approximate(system: System) -> Any:
    if isinstance(system, MinMaxSystem):
        return system.lowest_approximate_solution
    return system.greatest_approximate_solution


def approximation(system: System) -> Any:
    if isinstance(system, MinMaxSystem):
        return system.lowest_approximation
    return system.greatest_approximation


def product(system: System, x: npt.ArrayLike) -> FloatArray:
    multiply = minmax_product if isinstance(system, MinMaxSystem) else maxmin_product
    return multiply(system.a, x)


# --- systems -----------------------------------------------------------------------------------


def vectors(steps: int, size: int) -> st.SearchStrategy[Vector]:
    value = st.integers(0, steps).map(lambda i: Fraction(i, steps))
    return st.lists(value, min_size=size, max_size=size)


@st.composite
def systems(draw: st.DrawFn, steps: int, rows: int = 6, columns: int = 4) -> tuple[Matrix, Vector]:
    """Any matrix and second member on a grid; mostly inconsistent."""
    n, m = draw(st.integers(1, rows)), draw(st.integers(1, columns))
    return draw(st.lists(vectors(steps, m), min_size=n, max_size=n)), draw(vectors(steps, n))


STEPS = st.sampled_from([10, 100, 7, 4])


@KINDS
@given(st.data(), STEPS)
def test_any_system(kind: type[System], data: st.DataObject, steps: int) -> None:
    assert_certified(kind, *data.draw(systems(steps)))


@KINDS
@given(st.data(), STEPS)
def test_consistent_systems(kind: type[System], data: st.DataObject, steps: int) -> None:
    a, _ = data.draw(systems(steps))
    x = data.draw(vectors(steps, len(a[0])))
    multiply = oracle.minmax if kind is MinMaxSystem else oracle.maxmin
    b = [row[0] for row in multiply(a, [[v] for v in x])]
    system = assert_certified(kind, a, b)
    assert system.is_consistent
    below = exact(system) <= floats(x)
    assert (below if kind is MinMaxSystem else exact(system) >= floats(x)).all()


@KINDS
@given(st.data(), STEPS)
def test_nearly_consistent_systems(kind: type[System], data: st.DataObject, steps: int) -> None:
    """One second member moved by one step: the distance is at most that step."""
    a, _ = data.draw(systems(steps))
    multiply = oracle.minmax if kind is MinMaxSystem else oracle.maxmin
    b = [row[0] for row in multiply(a, [[v] for v in data.draw(vectors(steps, len(a[0])))])]
    i = data.draw(st.integers(0, len(b) - 1))
    b[i] = abs(b[i] - Fraction(1, steps))
    assert assert_certified(kind, a, b).chebyshev_distance <= 1 / steps + CLOSE


@given(systems(4, rows=4, columns=2))
def test_brute_force_finds_nothing_better_or_lower(system: tuple[Matrix, Vector]) -> None:
    """All x on a grid four times as fine as the system's: the definition of the distance."""
    a, b = system
    least, attaining = oracle.nearest(a, b, 16)
    found = assert_certified(MinMaxSystem, a, b)
    assert found.chebyshev_distance == float(least)  # quarters are exact in binary
    x = found.lowest_approximate_solution
    assert tuple(map(Fraction, x)) in attaining
    assert all((x <= floats(other)).all() for other in attaining)
    near = found.lowest_approximation
    assert all((near <= floats(oracle.box(a, other))).all() for other in attaining)


@given(systems(4, rows=3, columns=3))
def test_consistency_is_that_some_vector_solves(system: tuple[Matrix, Vector]) -> None:
    a, b = system
    least, solutions = oracle.nearest(a, b, 4)
    found = MinMaxSystem(floats(a), floats(b))
    assert found.is_consistent == (least == 0)
    if least == 0:
        assert all((found.lowest_solution <= floats(x)).all() for x in solutions)
        assert epsilon_product(found.a.T, found.b).tolist() == found.lowest_solution.tolist()


@KINDS
@given(st.data(), st.integers(1, 6), st.integers(1, 4))
def test_consistent_systems_of_any_floats(
    kind: type[System], data: st.DataObject, n: int, m: int
) -> None:
    """Nothing is rounded where there is a solution, however odd the numbers."""
    row = st.lists(st.floats(0.0, 1.0), min_size=m, max_size=m)
    a = floats(data.draw(st.lists(row, min_size=n, max_size=n)))
    multiply = minmax_product if kind is MinMaxSystem else maxmin_product
    system = kind(a, multiply(a, data.draw(row)))
    assert system.chebyshev_distance == 0.0
    assert product(system, exact(system)).tobytes() == system.b.tobytes()
    assert approximate(system).tobytes() == exact(system).tobytes()


# --- large systems -----------------------------------------------------------------------------


def published(a: FloatArray, b: FloatArray) -> FloatArray:
    """The published formula in float64, O(N^2 M)."""
    half = np.maximum(b - b[:, None], 0.0) / 2.0
    margins = np.maximum(b[:, None] - a, 0.0)
    columns = [np.minimum(half, margins[:, j]).max(axis=1) for j in range(a.shape[1])]
    result: FloatArray = np.maximum(np.maximum(a - b[:, None], 0.0), np.stack(columns, 1)).min(1)
    return result


@pytest.mark.parametrize("decimals", [1, 2, 17])
@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_row_distances_bit_for_bit(decimals: int, slope: float) -> None:
    """Random columns have short fronts; margins that fall with b have long ones. Ties are many."""
    rng = np.random.default_rng(3)
    b = rng.random(300)
    a = np.clip(b[:, None] - slope * (1 - b[:, None]) * rng.random(5), 0, 1) if slope else None
    a = np.round(rng.random((300, 5)) if a is None else a, decimals)
    b = np.round(b, decimals)
    assert MinMaxSystem(a, b).row_distances.tobytes() == published(a, b).tobytes()
    assert (MaxMinSystem(1 - a, 1 - b).row_distances == pytest.approx(published(a, b))) is True


def test_blocks_of_columns_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    a, b = rng.random((20, 7)), rng.random(20)
    whole = MinMaxSystem(a, b)
    expected = whole.row_distances.tobytes(), whole.lowest_approximate_solution.tobytes()
    monkeypatch.setattr("pinesy.equations.product.BLOCK", 45)
    again = MinMaxSystem(np.asfortranarray(a), b)
    assert (again.row_distances.tobytes(), again.lowest_approximate_solution.tobytes()) == expected


def test_memory_grows_with_the_input_and_not_with_its_square() -> None:
    rng = np.random.default_rng(5)
    system = MinMaxSystem(rng.random((20_000, 4)), rng.random(20_000))
    _ = MinMaxSystem([[0.5]], [0.5]).chebyshev_distance  # Numba is loaded
    tracemalloc.start()
    assert system.verify(system.lowest_approximate_solution).attains
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * system.a.nbytes


# --- the paper's numbers -----------------------------------------------------------------------


def decimals(*rows: str) -> Matrix:
    return [list(map(Fraction, row.split())) for row in rows]


SAMPLE_B = decimals(
    "1   1 .18 1 1 .43 1 1",
    ".12 1 1   1 1 .43 1 1",
    "1   1 .18 1 1 1   1 .66",
    ".12 1 1   1 1 1   1 .66",
)
SAMPLE_C = decimals("1 1 .35 1", ".25 1 1 1")
CERTAIN = decimals("1 0 0 1 1 0 0 1", "1 1 1 1 1 0 0 1", "1 0 0 1 1 1 1 1", "1 1 1 1 1 1 1 1")


def test_the_consistent_samples() -> None:
    b = assert_certified(MinMaxSystem, SAMPLE_B, decimals(".2 .87 .2 1")[0])
    assert exact(b).tolist() == [1, 0, 0.2, 0, 0, 0.87, 0, 1]
    assert b.verify([1, 0.2, 0.2, 1, 1, 0.87, 0.87, 1]).solves  # the paper's greatest solution
    c = assert_certified(MinMaxSystem, SAMPLE_C, decimals(".4 1")[0])
    assert exact(c).tolist() == [1, 0, 0.4, 0]
    assert c.verify([1, 0.4, 0.4, 1]).solves


def test_the_inconsistent_sample() -> None:
    system = assert_certified(MinMaxSystem, CERTAIN, decimals(".005 0 0 1")[0])
    assert system.row_distances.tolist() == [0, 0.0025, 0.0025, 0]
    assert system.chebyshev_distance == 0.0025
    assert approximation(system).tolist() == [0.0025, 0.0025, 0.0025, 1]
    expected = [0, 0.0025, 0.0025, 0, 0, 0.0025, 0.0025, 0]
    assert approximate(system).tolist() == expected


def test_the_stacked_samples() -> None:
    stacked = decimals("0 0 0 1 .0025 .0025 .0025 1")[0]
    system = assert_certified(MinMaxSystem, CERTAIN + CERTAIN, stacked)
    assert system.chebyshev_distance == 0.00125
    expected = [0, 0.00125, 0.00125, 0, 0, 0.00125, 0.00125, 0]
    assert approximate(system).tolist() == expected


# --- rounding ----------------------------------------------------------------------------------


def test_a_tie_on_a_decimal_grid_does_not_flip() -> None:
    """nabla is 0.1 and 0.8 - 0.7 is 0.1 too; in float64 the one is above the other."""
    system = assert_certified(MinMaxSystem, decimals(".7", ".1"), decimals(".8 .6")[0])
    assert approximate(system) == approx([Fraction(1, 2)])  # and not 0.7


def test_negative_zero_becomes_zero() -> None:
    system = MinMaxSystem([[-0.0]], [-0.0])
    assert not np.signbit([*system.a[0], *system.b, *exact(system)]).any()
    turned = MaxMinSystem([[0.5]], [0.0])
    assert not np.signbit([*exact(turned), *turned.row_distances]).any()


# --- verification ------------------------------------------------------------------------------


@KINDS
@given(st.data(), systems(10))
def test_verify_says_what_is(
    kind: type[System], data: st.DataObject, drawn: tuple[Matrix, Vector]
) -> None:
    a, b = drawn
    x = floats(data.draw(vectors(20, len(a[0]))))
    system = kind(floats(a), floats(b))
    found = system.verify(x)
    gaps = np.abs(product(system, x) - system.b)
    assert found.residual == gaps.max() == gaps[found.row]
    assert found.solves == (product(system, x) == system.b).all()
    assert found.residual >= found.distance - CLOSE
    assert found.attains == (found.residual <= found.distance + 1e-12)  # steps of 1/20 otherwise


def test_verify_tells_near_from_nearest() -> None:
    system = MinMaxSystem([[0.0], [0.0]], [0.5, 0.75])
    best, worse = system.verify([0.625]), system.verify([0.65625])
    assert (best.attains, best.solves, best.residual) == (True, False, 0.125)
    assert (worse.attains, worse.row, worse.residual) == (False, 0, 0.15625)
    assert system.verify([0.65625], tolerance=0.03125).attains
    almost = MinMaxSystem([[0.0]], [0.5]).verify([0.5 + 2.0**-52])
    assert (almost.attains, almost.solves) == (True, False)
    assert repr(system) == "MinMaxSystem(2 equations, 1 unknowns)"


# --- what is refused ---------------------------------------------------------------------------

WRONG: list[tuple[Any, Any, type[PinesyError], str]] = [
    ([[0.1, np.nan]], [0.1], DegreeError, "the matrix, row 0, column 1, is nan; .*missing"),
    ([[0.1], [1.5]], [0.1, 0.2], DegreeError, r"the matrix, row 1, column 0, is 1\.5; .*rescale"),
    ([[0.1]], [-0.5], DegreeError, r"the second member, row 0, is -0\.5; .* in \[0, 1\]"),
    ([[0.1], [0.2]], [0.1], DomainError, "the matrix are 2 and those of the second member are 1"),
    ([[0.1]], [[0.1]], DomainError, r"the second member has shape \(1, 1\); .*\(n,\): reshape"),
    ([0.1], [0.1], DomainError, r"the matrix has shape \(1,\)"),
    (np.empty((0, 3)), [], DomainError, r"the matrix is empty \(shape \(0, 3\)\)"),
    ([["x"]], [0.1], DegreeError, r"the matrix is \[\['x'\]\]; it must be an array of numbers"),
    ([["0.5"]], [0.1], DegreeError, r"the matrix is \[\['0\.5'\]\]; it must be"),
    ([[0.5]], [0.5 + 0.1j], DegreeError, "the second member is .*array of numbers"),
]


@KINDS
@pytest.mark.parametrize(("a", "b", "error", "message"), WRONG, ids=[w[3][:30] for w in WRONG])
def test_bad_systems(
    kind: type[System], a: Any, b: Any, error: type[PinesyError], message: str
) -> None:
    with pytest.raises(error, match=message):
        kind(a, b)


@KINDS
def test_bad_candidates(kind: type[System]) -> None:
    system = kind([[0.1, 0.2]], [0.1])
    with pytest.raises(DomainError, match="the entries of x are 1 and the columns are 2"):
        system.verify([0.1])
    with pytest.raises(DegreeError, match="x, row 1, is nan"):
        system.verify([0.1, np.nan])
    with pytest.raises(DegreeError, match=r"tolerance is -1"):
        system.verify([0.1, 0.2], tolerance=-1.0)


def test_the_error_travels_between_processes() -> None:
    """An exception that cannot be unpickled hangs a pool of processes."""
    with pytest.raises(InconsistentSystemError) as caught:
        _ = MinMaxSystem([[0.0], [0.0]], [0.5, 0.75]).lowest_solution
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.distance) == (str(caught.value), 0.125)


def test_a_system_does_not_change() -> None:
    a = np.array([[0.25]])
    system = MinMaxSystem(a, [0.5])
    a[0, 0] = 1.0
    assert system.is_consistent
    with pytest.raises(ValueError, match="read-only"):
        system.lowest_solution[0] = 0.0
