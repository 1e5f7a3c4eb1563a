"""Systems of every composition: distances, solutions and certificates against the definitions."""

import pickle
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equations import relational_oracle as oracle
from equations.relational_oracle import ONE, ZERO
from equations.relational_systems import CLOSE, NAMES, Drawn, floats, fractions, systems
from pinesy.equations import COMPOSITIONS, IntervalSystem, MaxMinSystem, MinMaxSystem, System
from pinesy.exceptions import DegreeError, DomainError, InconsistentSystemError

EACH = pytest.mark.parametrize("name", NAMES)
#: Less than any difference of distances on the grids.
EPSILON = Fraction(1, 10**9)


def test_the_oracle_has_all_compositions() -> None:
    assert set(COMPOSITIONS) == set(NAMES)


# --- the distance ------------------------------------------------------------------------------


@EACH
@given(st.data())
def test_the_distance_is_the_infimum_of_residuals(name: str, data: st.DataObject) -> None:
    """Some vector comes as near as the distance says, or nearly; none comes nearer."""
    drawn = data.draw(systems(name))
    system, nabla = drawn.exact, drawn.exact.chebyshev_distance
    assert isinstance(nabla, Fraction)
    is_feasible = drawn.kind.is_feasible(drawn.a, drawn.b, nabla)
    assert system.is_attained == is_feasible
    assert is_feasible or drawn.kind.is_feasible(drawn.a, drawn.b, nabla + EPSILON)
    assert nabla == 0 or not drawn.kind.is_feasible(drawn.a, drawn.b, nabla - EPSILON)
    assert is_feasible or name == "min-goedel-implication"


@EACH
@given(st.data())
def test_consistency_is_that_the_extreme_candidate_solves(name: str, data: st.DataObject) -> None:
    drawn = data.draw(systems(name))
    candidate = drawn.kind.candidate(drawn.a, drawn.b)
    is_consistent = oracle.residual(drawn.kind, drawn.a, drawn.b, candidate) == 0
    for system in (drawn.exact, drawn.rounded):
        assert system.is_consistent == is_consistent
        assert (system.chebyshev_distance == 0 and system.is_attained) == is_consistent
    assert fractions(drawn.exact.candidate) == candidate


@EACH
@given(st.data())
def test_floats_give_the_exact_results_rounded(name: str, data: st.DataObject) -> None:
    drawn = data.draw(systems(name))
    exact, rounded = drawn.exact, drawn.rounded
    assert rounded.chebyshev_distance == pytest.approx(float(exact.chebyshev_distance), abs=CLOSE)
    assert rounded.row_distances == pytest.approx(floats(exact.row_distances), abs=CLOSE)
    assert rounded.is_attained == exact.is_attained
    if exact.is_attained:
        x = exact.extreme_approximate_solution
        assert rounded.extreme_approximate_solution == pytest.approx(floats(x), abs=CLOSE)
        near = floats(exact.extreme_approximation)
        assert rounded.extreme_approximation == pytest.approx(near, abs=CLOSE)


@EACH
@given(st.data())
def test_the_approximate_solution_is_certified(name: str, data: st.DataObject) -> None:
    drawn = data.draw(systems(name))
    exact = drawn.exact
    if not exact.is_attained:
        with pytest.raises(InconsistentSystemError, match="give more than"):
            _ = exact.extreme_approximate_solution
        x = exact.solution_within(exact.chebyshev_distance + EPSILON)
        nabla = oracle.residual(drawn.kind, drawn.a, drawn.b, fractions(x))
        assert exact.chebyshev_distance < nabla <= exact.chebyshev_distance + EPSILON
        return
    x = fractions(exact.extreme_approximate_solution)
    assert oracle.residual(drawn.kind, drawn.a, drawn.b, x) == exact.chebyshev_distance
    for system in (exact, drawn.rounded):
        certificate = system.verify(system.extreme_approximate_solution)
        assert certificate.attains
        assert certificate.solves == system.is_consistent
        assert certificate.distance == system.chebyshev_distance


@EACH
@given(st.data())
def test_no_vector_of_a_grid_comes_nearer(name: str, data: st.DataObject) -> None:
    """And those that come as near lie on one side of the extreme approximate solution."""
    drawn = data.draw(systems(name, rows=3, columns=2, steps=(4,)))
    system = drawn.exact
    for x in oracle.grid(8, len(drawn.a[0])):
        residual = oracle.residual(drawn.kind, drawn.a, drawn.b, x)
        assert residual >= system.chebyshev_distance
        if residual == system.chebyshev_distance:
            extreme = system.extreme_approximate_solution
            assert ((extreme >= x) if drawn.kind.is_max else (extreme <= x)).all()


@EACH
@given(st.data())
def test_the_rows_that_disagree_are_as_far_alone(name: str, data: st.DataObject) -> None:
    drawn = data.draw(systems(name, consistent=False))
    system = drawn.exact
    conflict = system.disagreement()
    rows = conflict.rows.tolist()
    assert conflict.row in rows
    assert len(rows) <= len(drawn.a[0]) + 1
    assert set(conflict.blocking_rows.tolist()) <= set(rows)
    alone = Drawn(name, [drawn.a[i] for i in rows], [drawn.b[i] for i in rows]).exact
    assert alone.chebyshev_distance == system.chebyshev_distance
    assert min(conflict.distances) == system.chebyshev_distance


def test_a_disagreement_in_words() -> None:
    two = System([[1.0], [0.5]], [0.6, 0.0], "max-product").disagreement()
    assert str(two) == "row 0 disagrees with rows 1"
    assert str(System([[0.5]], [0.6]).disagreement()) == "row 0 alone"


@pytest.mark.parametrize("shape", [(2000, 3), (300, 5)])
@EACH
def test_large_systems_by_the_definition(name: str, shape: tuple[int, int]) -> None:
    """Random columns have few rows on their hulls; a bent cloud of points has many."""
    rng = np.random.default_rng(7)
    a, b = rng.random(shape), rng.random(shape[0])
    bent = np.clip(b[:, None] ** 0.5 + 0.01 * rng.random(shape), 0, 1)
    for matrix in (a, bent, 1 - bent, np.round(a, 1)):
        system = System(matrix, b, name)
        rows = rng.choice(len(b), 20)
        assert system.row_distances[rows] == pytest.approx(
            [blocked_distance(system, row) for row in rows], abs=CLOSE
        )


def blocked_distance(system: System, row: int) -> float:
    """The distance of a row by bisection of its meaning."""
    kind, a, b = system.composition, system.a, system.b
    low, high = 0.0, 1.0
    for _ in range(50):
        d = (low + high) / 2
        limits = np.minimum(b + d, 1) if kind.is_max else np.maximum(b - d, 0)
        bounds = kind.bound(a, limits[:, None])
        x = bounds.min(axis=0) if kind.is_max else bounds.max(axis=0)
        value = kind.reduce(kind.combine(a[row : row + 1], x))[0]
        is_reached = value >= b[row] - d if kind.is_max else value <= b[row] + d
        low, high = (low, d) if is_reached else (d, high)
    return high


def test_the_goedel_implication_need_not_attain_its_distance() -> None:
    system = System([[0.5]], [0.6], "min-goedel-implication")
    assert system.chebyshev_distance == pytest.approx(0.1)
    assert not system.is_attained
    with pytest.raises(InconsistentSystemError, match=r"solution_within\(d\) of a larger d"):
        _ = system.lowest_solution
    assert system.verify(system.solution_within(0.1 + 1e-6)).residual <= 0.1 + 1e-6
    touching = System([[0.5]], [0.5], "min-goedel-implication")
    assert (touching.chebyshev_distance, touching.is_consistent) == (0.0, False)
    assert not touching.is_attained


# --- all solutions -----------------------------------------------------------------------------


def listed(vectors: Any) -> list[tuple[Fraction, ...]]:
    return [tuple(fractions(x)) for x in vectors]


@EACH
@given(st.data())
def test_minimal_solutions_by_brute_force(name: str, data: st.DataObject) -> None:
    drawn = data.draw(systems(name, rows=4, columns=2, consistent=True))
    found = listed(drawn.exact.opposite_solutions())
    brute = oracle.solutions(drawn.kind, drawn.a, drawn.b, drawn.b)
    assert len(set(found)) == len(found)
    assert set(found) == oracle.extreme_elements(brute, drawn.kind.is_max)
    rounded = [np.round(x, 9).tolist() for x in drawn.rounded.opposite_solutions()]
    assert sorted(rounded) == pytest.approx(np.array(sorted(floats(found).tolist())), abs=1e-8)
    assert drawn.exact.count_solutions().n == len(found)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "min-goedel-implication"])
@given(st.data())
def test_minimal_solutions_of_intervals(name: str, data: st.DataObject) -> None:
    drawn = data.draw(systems(name, rows=3, columns=2))
    width = Fraction(data.draw(st.integers(0, 5)), 10)
    lower = [max(y - width, ZERO) for y in drawn.b]
    upper = [min(y + width, ONE) for y in drawn.b]
    system = IntervalSystem(drawn.a, lower, upper, name)
    brute = oracle.solutions(drawn.kind, drawn.a, lower, upper)
    assert system.is_consistent == bool(brute)
    if brute:
        found = listed(system.opposite_solutions())
        assert set(found) == oracle.extreme_elements(brute, drawn.kind.is_max)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "min-goedel-implication"])
@given(st.data())
def test_minimal_approximate_solutions(name: str, data: st.DataObject) -> None:
    drawn = data.draw(systems(name, rows=3, columns=2, consistent=False))
    system, nabla = drawn.exact, drawn.exact.chebyshev_distance
    lower = [max(y - nabla, ZERO) for y in drawn.b]
    upper = [min(y + nabla, ONE) for y in drawn.b]
    brute = oracle.solutions(drawn.kind, drawn.a, lower, upper)
    found = listed(system.approximate_solutions())
    assert set(found) == oracle.extreme_elements(brute, drawn.kind.is_max)
    assert len(list(drawn.rounded.approximate_solutions())) == len(found)


@EACH
@given(st.data())
def test_a_linear_objective_by_brute_force(name: str, data: st.DataObject) -> None:
    drawn = data.draw(systems(name, rows=4, columns=2, consistent=True))
    m = len(drawn.a[0])
    weights = data.draw(st.lists(st.integers(-5, 5).map(Fraction), min_size=m, max_size=m))
    brute = oracle.solutions(drawn.kind, drawn.a, drawn.b, drawn.b)
    values = [sum(map(oracle.product_of, weights, x)) for x in brute]
    least = drawn.exact.minimise(np.array(weights, dtype=object))
    assert (least.value, least.bound, least.is_optimal) == (min(values), min(values), True)
    assert oracle.residual(drawn.kind, drawn.a, drawn.b, fractions(least.x)) == 0
    most = drawn.rounded.maximise(floats(weights))
    assert most.is_optimal
    assert most.value == pytest.approx(float(max(values)), abs=1e-11)


def identity_cover(n: int) -> System:
    """Row i is reached by columns 2i and 2i + 1: there are 2^n minimal solutions."""
    return System(np.kron(np.eye(n), [[1.0, 1.0]]), np.ones(n), "max-product")


def test_many_solutions_are_lazy_and_capped() -> None:
    few = identity_cover(4)
    assert str(few.count_solutions()) == "16"
    many = identity_cover(200)
    assert len(list(islice(many.minimal_solutions(), 5))) == 5
    count = many.count_solutions(cap=100)
    assert (count.n, count.is_complete, str(count)) == (100, False, "more than 100")


def test_an_objective_that_is_given_up_says_so() -> None:
    rng = np.random.default_rng(1)
    system = System((rng.random((40, 25)) < 0.2) | np.eye(40, 25, dtype=bool), np.ones(40))
    weights = 1.0 + rng.random(25)
    best = system.minimise(weights)
    assert best.is_optimal
    hasty = system.minimise(weights, max_nodes=3)
    assert not hasty.is_optimal
    assert hasty.bound <= best.value <= hasty.value
    assert system.verify(hasty.x).solves


# --- short names, rounding and copies ----------------------------------------------------------


@given(st.data())
def test_short_names_give_the_same_bits(data: st.DataObject) -> None:
    for kind, name in ((MinMaxSystem, "min-max"), (MaxMinSystem, "max-min")):
        drawn = data.draw(systems(name))
        short, system = kind(floats(drawn.a), floats(drawn.b)), drawn.rounded
        assert short.row_distances.tobytes() == system.row_distances.tobytes()
        assert (
            short.extreme_approximate_solution.tobytes()
            == system.extreme_approximate_solution.tobytes()
        )


def test_a_tolerance_decides_what_is_equal() -> None:
    a, b = [[0.3], [0.1]], [0.3 * 0.7 + 1e-9, 0.07]
    assert not System(a, b, "max-product").is_consistent
    assert System(a, b, "max-product", tolerance=1e-8).is_consistent
    rounded = System([[0.3], [0.1]], [0.3 * 0.7, 0.1 * 0.7], "max-product")
    assert rounded.is_consistent
    assert rounded.chebyshev_distance == 0.0


def test_fractions_stay_fractions_and_floats_do_not() -> None:
    third: Any = Fraction(1, 3)
    system = System([[1, third]], [third], "max-product")
    assert system.is_exact
    assert fractions(system.greatest_solution) == [third, 1]
    assert not System([[1, 0]], [1], "max-product").is_exact
    assert not System([[0.5, third]], [third]).is_exact


@EACH
def test_systems_travel_between_processes(name: str) -> None:
    system = System([[0.5, 0.25]], [0.25], name)
    copy = pickle.loads(pickle.dumps(system))
    assert copy.composition is system.composition
    assert copy.chebyshev_distance == system.chebyshev_distance


@EACH
def test_zero_rows_and_columns(name: str) -> None:
    for value in (0.0, 1.0):
        for right in (0.0, 0.5, 1.0):
            drawn = Drawn(name, [[Fraction(value)] * 2] * 3, [Fraction(right)] * 3)
            assert drawn.rounded.is_consistent == drawn.exact.is_consistent
            assert drawn.rounded.chebyshev_distance == float(drawn.exact.chebyshev_distance)


# --- what is refused ---------------------------------------------------------------------------


def test_an_unknown_composition() -> None:
    with pytest.raises(DomainError, match=r"unknown composition 'max-prod'.*max-product"):
        System([[0.5]], [0.5], "max-prod")


def test_the_other_extreme_is_refused_with_the_cure() -> None:
    system = System([[0.5]], [0.5], "min-bounded-sum")
    with pytest.raises(DomainError, match=r"lowest_solution or maximal_solutions\(\)"):
        _ = system.greatest_solution
    with pytest.raises(DomainError, match="lowest_solution"):
        system.minimal_solutions()
    with pytest.raises(DomainError, match=r"greatest_solution or minimal_solutions\(\)"):
        System([[0.5]], [0.5]).maximal_solutions()


def test_bad_arguments() -> None:
    system = System([[0.5, 1.0]], [0.5])
    with pytest.raises(DegreeError, match="weights, row 1, is nan"):
        system.minimise([1.0, np.nan])
    with pytest.raises(DomainError, match="the weights are 1 and the columns are 2"):
        system.minimise([1.0])
    with pytest.raises(DomainError, match="cap"):
        system.count_solutions(0)
    with pytest.raises(DegreeError, match="tolerance is 2"):
        System([[0.5]], [0.5], tolerance=2)
    with pytest.raises(InconsistentSystemError, match="give at least"):
        System([[0.5]], [1.0]).solution_within(0.25)
    with pytest.raises(DegreeError, match="fraction outside"):
        System([[Fraction(10**40 + 1, 10**40)]], [Fraction(1)])


def test_bad_intervals() -> None:
    with pytest.raises(DomainError, match=r"row 0: lower is 0\.5 and upper is 0\.25.*exchange"):
        IntervalSystem([[0.5]], [0.5], [0.25])
    with pytest.raises(InconsistentSystemError, match="widen the bounds"):
        _ = IntervalSystem([[0.5]], [0.75], None).greatest_solution
    open_system = IntervalSystem([[0.5]], None, [0.75], "min-goedel-implication")
    assert open_system.is_consistent
    with pytest.raises(DomainError, match="none is maximal"):
        open_system.maximal_solutions()


def test_inequalities() -> None:
    below = IntervalSystem([[0.5, 0.75]], None, [0.5], "max-min")
    assert below.greatest_solution.tolist() == [1.0, 0.5]
    assert [x.tolist() for x in below.minimal_solutions()] == [[0.0, 0.0]]
    above = IntervalSystem([[0.5, 0.75]], [0.5], None, "max-min")
    assert [x.tolist() for x in above.minimal_solutions()] == [[0.5, 0.0], [0.0, 0.5]]
