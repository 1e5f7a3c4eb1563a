"""Exact inference: against all worlds in fractions, and against the engine where it is exact."""

import sys
from fractions import Fraction
from itertools import permutations, product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pinesy.exact.exact_inference as exact_inference
from exact.joint_oracle import projections, random_cascade, random_degrees, worlds
from oracles import decimal
from pinesy import (
    Attribute,
    Cascade,
    CascadeError,
    DataError,
    DegreeError,
    DomainError,
    Iff,
    RuleSet,
    RuleSetError,
    UnknownAttributeError,
    best_world,
    parse,
    posterior,
)
from pinesy.exact import ExactInference
from pinesy.exact.level_solver import LevelSolver
from pinesy.exact.most_probable import MostProbableWorlds
from pinesy.exact.rule_clauses import folded_clauses, rule_clauses
from pinesy.exceptions import MissingPackageError
from pinesy.problems import addition, sudoku

#: Cascades in an example of hypothesis.
CASCADES = 8
SEEDS = st.integers(0, 2**32 - 1)
DOOR = """
    attribute door in {front, side, back}
    attribute alarm in {on, off}
    if door in {front, side} then alarm in {on}
    if door in {side, back} then alarm in {on}
"""
NOT_SIDE = {"door": {"front": 1.0, "back": 1.0}}


def degrees_of(best: dict[int, Fraction], attribute: Attribute) -> list[Fraction]:
    return [best.get(index, Fraction(0)) for index in range(len(attribute.domain))]


@given(SEEDS)
def test_degrees_are_those_of_all_worlds(seed: int) -> None:
    """Thousands of random cascades, most with loops, some that contradict themselves."""
    rng = np.random.default_rng(seed)
    for _ in range(CASCADES):
        cascade = random_cascade(rng)
        evidence = random_degrees(rng, cascade.inputs, 2)
        outputs = [rule_set.output for rule_set in cascade.order]
        results = cascade.infer(evidence, outputs, exact=True)
        for output in outputs:
            needed = cascade.needed([output.name])
            for row, found in enumerate(results[output].degrees.tolist()):
                sample = {name: pi[row] for name, pi in evidence.items()}
                best = projections(needed, sample)[output.name]
                assert [decimal(degree) for degree in found] == degrees_of(best, output)


@given(SEEDS)
def test_it_is_the_inference_where_check_names_no_loop_and_no_contradiction(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(CASCADES):
        cascade = random_cascade(rng)
        evidence = random_degrees(rng, cascade.inputs, 2)
        noted = {f.attribute for f in cascade.check().findings if f.kind == "upper bound"}
        for output in (rule_set.output for rule_set in cascade.order):
            needed = cascade.needed([output.name])
            bound = cascade.infer(evidence, [output])[output].degrees
            exact = cascade.infer(evidence, [output], exact=True)[output].degrees
            assert (exact <= bound).all()
            leave_a_value = all(_leaves_a_value(rule_set) for rule_set in needed)
            if leave_a_value and noted.isdisjoint(s.output.name for s in needed):
                assert np.array_equal(exact, bound)


def _leaves_a_value(rule_set: RuleSet) -> bool:
    """Return whether some value has degree 1 in each case of a rule set alone."""
    left: dict[tuple[int, ...], bool] = {}
    for world, degree in worlds([rule_set]):
        case = tuple(world[a.name] for a in rule_set.inputs)
        left[case] = left.get(case, False) or degree == 1
    return all(left.values())


@given(SEEDS)
def test_posteriors_are_those_of_all_worlds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(CASCADES):
        cascade = random_cascade(rng)
        used = [*cascade.inputs, *(rule_set.output for rule_set in cascade.order)]
        evidence = random_degrees(rng, cascade.inputs, 1)
        chosen = [a for a in used if rng.random() < 0.3]
        targets = random_degrees(rng, chosen, 1)
        result = posterior(cascade, evidence, targets, [a.name for a in used], exact=True)
        assert result.exact
        assert result.lower is None
        sample, target = ({n: pi[0] for n, pi in part.items()} for part in (evidence, targets))
        best = projections(cascade.order, sample, target)
        for a in used:
            found = [decimal(degree) for degree in result.joint[a.name].degrees[0].tolist()]
            assert found == degrees_of(best[a.name], a)
            assert decimal(float(result.compatibility[0])) == max(best[a.name].values())


@given(SEEDS)
def test_best_worlds_are_the_most_probable_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(CASCADES):
        cascade = random_cascade(rng, certain=True)
        used = [*cascade.inputs, *(rule_set.output for rule_set in cascade.order)]
        counts = {a.name: rng.integers(0, 9, len(a.domain)) for a in cascade.inputs}
        for row in counts.values():
            row[rng.integers(len(row))] += 1
        shares = {n: [Fraction(int(k), int(row.sum())) for k in row] for n, row in counts.items()}
        target = {a.name: int(rng.integers(len(a.domain))) for a in used if rng.random() < 0.2}
        weights = {
            tuple(world.items()): prod(shares[n][world[n]] for n in shares)
            for world, degree in worlds(cascade.order)
            if degree == 1 and all(world[name] == value for name, value in target.items())
        }
        sees = {name: row / row.sum() for name, row in counts.items()}
        world = best_world(cascade, sees, target, used)
        highest = max(weights.values(), default=Fraction(0))
        if highest == 0:
            assert set(world.values()) == {None}
            assert world.probability == 0.0
        else:
            found = tuple((name, world[name]) for name, _ in next(iter(weights)))
            assert weights[found] == highest
            assert world.probability == pytest.approx(float(highest))


# --- Sudoku: all 288 grids of 4 x 4 ---


def valid_grids() -> list[tuple[int, ...]]:
    """Return all valid grids of 4 x 4, row by row."""
    grids = []
    for rows in product(permutations(range(4)), repeat=4):
        blocks = [
            [rows[i][j], rows[i][j + 1], rows[i + 1][j], rows[i + 1][j + 1]]
            for i in (0, 2)
            for j in (0, 2)
        ]
        if all(len(set(group)) == 4 for group in (*zip(*rows, strict=True), *blocks)):
            grids.append(tuple(digit for row in rows for digit in row))
    return grids


def cells(readings: np.ndarray) -> dict[str, Any]:
    """Return readings (..., 16, 4) by the names of the cells."""
    return {
        f"a_{i + 1}_{j + 1}": readings[..., 4 * i + j, :] for i, j in product(range(4), repeat=2)
    }


def test_sudoku_is_as_valid_as_its_best_filling() -> None:
    grids = np.array(valid_grids())
    assert len(grids) == 288
    rng = np.random.default_rng(0)
    readings = rng.choice([0.0, 0.1, 0.4, 0.7], size=(60, 16, 4))
    readings[np.arange(60)[:, None], np.arange(16), rng.integers(4, size=(60, 16))] = 1.0
    rules = sudoku(4)
    found = rules.infer(cells(readings), exact=True)["c"]
    best = readings[:, np.arange(16), grids].min(axis=2).max(axis=1)
    assert np.array_equal(found[1], best)
    bound = rules.infer(cells(readings))["c"]
    assert np.count_nonzero(bound[1] > best) > 10  # inference alone is looser
    fillings = posterior(rules, cells(readings), {"c": np.ones(60, int)}, exact=True)
    assert np.array_equal(fillings.compatibility, best)
    for cell, name in enumerate(cells(readings)):
        for digit in range(4):
            with_digit = grids[grids[:, cell] == digit]
            degrees = readings[:, np.arange(16), with_digit].min(axis=2).max(axis=1)
            assert np.array_equal(fillings.joint[name][digit], degrees)


def test_the_best_sudoku_is_the_most_probable_filling() -> None:
    grids = np.array(valid_grids())
    readings = np.random.default_rng(1).dirichlet(np.full(4, 0.5), size=(40, 16))
    world = best_world(sudoku(4), cells(readings), {"c": np.ones(40, int)})
    logs = np.log(readings[:, np.arange(16), grids]).sum(axis=2)
    found = np.stack([world[name] for name in cells(readings)], axis=1).astype(int)
    assert np.array_equal(found, grids[logs.argmax(axis=1)])
    assert np.allclose(world.log_probability, logs.max(axis=1))


# --- what becomes a clause, and when ---


def test_pairs_are_folded() -> None:
    """Whether two cells differ takes a clause for each digit, and no literals of pairs."""
    rules = sudoku(4)
    unit = rules["b_1_1_1_2"].unit
    [valid] = rules["c"].rules
    unequal = valid.premise.masks["b_1_1_1_2"]
    table = folded_clauses(unit, [unequal, unit.output.full & ~unequal])
    assert table is not None
    assert len(table) == 8
    assert len(rule_clauses(unit)) == 16


def test_a_contradiction_elsewhere_changes_nothing() -> None:
    x, b, c, d = (Attribute(name, [0, 1]) for name in "xbcd")
    loop = RuleSet([Iff(x.isin({0})).then(b.isin({0})), Iff(x.isin({1})).then(b.isin({1}))])
    clash = RuleSet([Iff(x.isin({0})).then(c.isin({0})), Iff(x.isin({1})).then(c.isin({0}))])
    after = RuleSet([Iff(b.isin({0}) & c.isin({0})).then(d.isin({0}))])
    rules = Cascade(loop, clash, after)
    found = rules.infer({"x": [1.0, 0.5]}, ["b", "c", "d"], exact=True)
    assert found["b"].to_dict() == {0: 1.0, 1: 0.5}
    assert found["c"].to_dict() == {0: 0.0, 1: 0.0}
    assert found["d"].to_dict() == {0: 0.0, 1: 0.0}
    assert found["d"].outcome == "contradiction"


def test_samples_that_are_exact_already_need_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysat.solvers", None)
    rng = np.random.default_rng(0)
    rules = addition(2)
    evidence = random_degrees(rng, rules.inputs, 5)
    found = rules.infer(evidence, exact=True)
    for name, pi in rules.infer(evidence).items():
        assert np.array_equal(found[name].degrees, pi.degrees)


def test_equal_samples_are_solved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = []
    bounds = LevelSolver.bounds

    def count(self: LevelSolver, degrees: Any, *rest: Any) -> Any:
        rows.append(len(degrees["door"]))
        return bounds(self, degrees, *rest)

    monkeypatch.setattr(LevelSolver, "bounds", count)
    doors = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 0.5], [1.0, 0.0, 1.0]])
    found = parse(DOOR).infer({"door": doors}, exact=True)["alarm"]
    assert found["off"].tolist() == [0.0, 0.0, 0.0]
    assert rows == [2]


# --- the budget ---


@pytest.mark.parametrize("max_conflicts", [0, 1, 5, 1000])
def test_a_spent_budget_leaves_bounds(max_conflicts: int) -> None:
    rng = np.random.default_rng(3)
    readings = rng.random((20, 16, 4)).round(2)
    readings[np.arange(20)[:, None], np.arange(16), rng.integers(4, size=(20, 16))] = 1.0
    exact = sudoku(4).infer(cells(readings), exact=True)["c"].degrees
    found = sudoku(4).infer(cells(readings), exact=True, max_conflicts=max_conflicts)
    lower, upper, known = found.lower["c"].degrees, found.upper["c"].degrees, found.known["c"]
    assert (lower <= exact).all()
    assert (exact <= upper).all()
    assert np.array_equal(known, (lower == upper).all(axis=1))
    assert known.all() == (max_conflicts == 1000)
    if max_conflicts < 1000:
        assert f"not known in {np.count_nonzero(~known)} samples" in repr(found)
        with pytest.raises(DegreeError, match=r"lower\['c'\] and upper\['c'\], or raise max_con"):
            found["c"]


def test_one_sample_with_a_spent_budget() -> None:
    rules = parse(DOOR)
    found = rules.infer(NOT_SIDE, exact=True, max_conflicts=0)
    assert found.known == {"alarm": False}
    assert found.lower["alarm"].to_dict() == {"on": 0.0, "off": 0.0}
    assert found.upper["alarm"].to_dict() == {"on": 1.0, "off": 1.0}
    assert repr(found) == "ExactInference(alarm: known between bounds only)"
    with pytest.raises(DegreeError, match="the exact degrees of 'alarm' are not known: the solver"):
        rules.rule_sets[0].infer(NOT_SIDE, exact=True, max_conflicts=0)
    loop = sudoku(4)
    nothing = cells(np.ones((16, 4)))
    result = posterior(loop, nothing, {"c": 1}, exact=True, max_conflicts=0)
    assert not result.exact
    assert result.lower is not None
    assert result.lower["a_1_1"].degrees.tolist() == [0.0] * 4
    assert result.joint["a_1_1"].degrees.tolist() == [1.0] * 4


# --- bad input ---


def test_without_the_solver_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysat.solvers", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'pinesy\[exact\]'"):
        parse(DOOR).infer(NOT_SIDE, exact=True)
    with pytest.raises(MissingPackageError, match=r"pip install 'pinesy\[exact\]'"):
        best_world(parse(DOOR), {"door": "front"})


def test_bad_options() -> None:
    rules = parse(DOOR)
    with pytest.raises(CascadeError, match="in float64"):
        rules.infer(NOT_SIDE, exact=True, dtype="uint8")
    with pytest.raises(CascadeError, match="exact already; leave it out"):
        rules.infer(NOT_SIDE, exact=True, semantics="probabilistic")
    with pytest.raises(DomainError, match="max_conflicts"):
        rules.infer(NOT_SIDE, exact=True, max_conflicts=-1)
    with pytest.raises(DomainError, match="exact"):
        rules.infer(NOT_SIDE, exact="yes")  # type: ignore[call-overload]
    with pytest.raises(DegreeError, match="row 1"):
        rules.infer({"door": [[1.0, 0, 0], [0.5, 0, 0]]}, exact=True)
    with pytest.raises(DegreeError, match="probabilit"):
        rules.infer({"door": [[0.5, 0.5, 0.5]]}, exact=True, transform="antipignistic")
    with pytest.raises(UnknownAttributeError, match="'window' was not inferred"):
        rules.infer(NOT_SIDE, exact=True)["window"]


def test_bad_input_of_best_world() -> None:
    rules = parse(DOOR)
    with pytest.raises(RuleSetError, match=r"s = 0\.3"):
        best_world(rules.with_parameters({"alarm": ([0.3, 0.3], [0.0, 0.0])}), {"door": "front"})
    with pytest.raises(DataError, match="degrees between 0 and 1"):
        best_world(rules, {"door": "front"}, {"alarm": {"on": 1.0, "off": 0.5}})
    with pytest.raises(UnknownAttributeError, match="no rule uses 'window'"):
        best_world(rules, {"door": "front"}, {}, ["window"])


# --- results ---


def test_results_have_the_forms_of_inference() -> None:
    rules = parse(DOOR)
    single = rules.infer(NOT_SIDE, exact=True)
    assert isinstance(single, ExactInference)
    assert list(single) == ["alarm"]
    assert single["alarm"].best == "on"
    assert repr(single) == "ExactInference(alarm=on)"
    off = rules.attributes["alarm"].isin({"off"})
    assert single.possibility(off) == 0.0
    assert single.necessity(off.complement) == 1.0
    assert rules.infer(NOT_SIDE, [off], exact=True).possibility(off) == 0.0
    doors = np.array([[0.5, 0.0, 0.5], [0.2, 0.8, 0.0]])
    batch = rules.infer({"door": doors}, exact=True, transform="antipignistic")
    assert repr(batch) == "ExactInference(2 samples of alarm)"
    assert batch["alarm"]["off"].tolist() == [0.0, 0.0]
    assert rules.infer({"door": None}, ["door"], exact=True)["door"].degrees.tolist() == [1, 1, 1]
    assert exact_inference.tight_samples(rules, "alarm") == "unknown"


def test_a_world_that_is_not_found_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: Any) -> None:
        raise TimeoutError

    monkeypatch.setattr(MostProbableWorlds, "_search", fail)
    x, y, b = (Attribute(name, [0, 1]) for name in "xyb")
    rules = RuleSet([Iff(x.isin({0}) & y.isin({0})).then(b.isin({0}))])
    sees = {"x": [[0.4, 0.6], [0.4, 0.6]], "y": [[0.5, 0.5], [0.5, 0.5]]}
    world = best_world(rules, sees, [0, 1])
    assert world.known.tolist() == [False, True]
    assert world["x"].tolist() == [None, 1]
    assert repr(world) == "BestWorld(2 samples of x, y; 1 not known)"
    single = best_world(rules, {"x": [0.4, 0.6], "y": 0}, 0)
    assert repr(single) == "BestWorld(not known: the time was spent)"
    monkeypatch.undo()
    assert best_world(rules, sees, [0, 1]).probability == pytest.approx([0.4 * 0.5, 0.6 * 0.5])


def test_a_world_of_one_sample_and_of_a_batch() -> None:
    rules = parse(DOOR)
    single = best_world(
        rules, {"door": {"front": 0.25, "back": 0.75}}, attributes=["door", "alarm"]
    )
    assert dict(single) == {"door": "back", "alarm": "on"}
    assert repr(single) == "BestWorld(door=back, alarm=on; probability 0.75)"
    assert repr(best_world(rules, {"door": "front"}, "off")) == "BestWorld(no world is left)"
    batch = best_world(rules, {"door": ["front", "side"]}, ["on", "off"])
    assert batch["door"].tolist() == ["front", None]
    assert batch.probability.tolist() == [1.0, 0.0]
    assert repr(batch) == "BestWorld(2 samples of door; 1 without a world)"
