"""Parameters that are fixed, in the exact method: against the definition in fractions."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from messages import raises_saying
from pinesy import Attribute, Cascade, If, Iff, RuleSet, learn, load, save
from pinesy.exceptions import DataError, UnknownAttributeError
from pinesy.learning import learn_batches, learn_more, search_tolerances

GRID = 10
X = Attribute("x", range(3))
Y = Attribute("y", range(3))


def rule_set(rng: np.random.Generator) -> RuleSet:
    rules = []
    for _ in range(int(rng.integers(1, 4))):
        premise = rng.choice(3, size=int(rng.integers(1, 3)), replace=False).tolist()
        conclusion = rng.choice(3, size=int(rng.integers(1, 3)), replace=False).tolist()
        s, r = (rng.integers(0, GRID + 1, 2) / GRID).tolist()
        rules.append(Iff(X.isin(premise)).then(Y.isin(conclusion), s=s, r=r))
    return RuleSet(rules)


def distributions(rng: np.random.Generator, n: int) -> Any:
    pi = rng.integers(0, GRID + 1, (n, 3)) / GRID
    pi[np.arange(n), rng.integers(0, 3, n)] = 1.0
    return pi


def fraction(z: float) -> Fraction:
    return Fraction(round(z * GRID * 2), GRID * 2)


class Rows:
    """The rows ``y = min_l max(x_l, g_l)`` of all samples, in fractions."""

    def __init__(self, rules: RuleSet, x: Any, y: Any, fixed: Any) -> None:
        self.held = {
            2 * j + side: fraction((rule.s, rule.r)[side])
            for j, rule in enumerate(rules.rules)
            for side in (0, 1)
            if fixed[j, side]
        }
        self.rows = []
        for pi, target in zip(x, y, strict=True):
            degrees = []
            for rule in rules.rules:
                inside = set(rule.premise.propositions[0].values)
                degrees.append(max(fraction(pi[v]) for v in range(3) if v in inside))
                outside = [fraction(pi[v]) for v in range(3) if v not in inside]
                degrees.append(max(outside, default=Fraction(0)))
            for mu in range(len(rules.partition)):
                at = np.flatnonzero(rules.partition.cell_of == mu)
                sides = [2 * j + (not sign) for j, sign in enumerate(rules.partition.signs[mu])]
                row = {side: degrees[side] for side in sides}
                self.rows.append((max(fraction(target[v]) for v in at), row))

    def lowest(self, delta: Fraction) -> dict[int, Fraction]:
        """The least parameters with which no row is more than delta below its target."""
        x = dict(self.held)
        for target, row in self.rows:
            for side, g in row.items():
                if side not in self.held and g < target - delta:
                    x[side] = max(x.get(side, Fraction(0)), target - delta)
        return x

    def reach(self, delta: Fraction) -> bool:
        x = self.lowest(delta)
        values = [
            (target, min(max(x.get(side, Fraction(0)), g) for side, g in row.items()))
            for target, row in self.rows
        ]
        return all(abs(value - target) <= delta for target, value in values)

    def distance(self) -> Fraction:
        """The least delta that can be reached: it lies on the grid or halfway."""
        steps = (Fraction(k, 4 * GRID) for k in range(4 * GRID + 1))
        return next(delta for delta in steps if self.reach(delta))


@given(seed=st.integers(0, 10**6), words=st.booleans())
def test_one_sample_against_the_definition(seed: int, words: bool) -> None:
    rng = np.random.default_rng(seed)
    rules = rule_set(rng)
    x = distributions(rng, 1)
    y = np.eye(3)[rng.integers(0, 3, 1)] if words else distributions(rng, 1)
    fixed = rng.random((len(rules), 2)) < 0.5
    result = learn(rules, {"x": x}, y, fixed=fixed)["y"]
    rows = Rows(rules, x, y, fixed)
    expected = rows.distance()
    assert result.nabla is not None
    assert result.nabla[0] == pytest.approx(float(expected))
    free = np.isnan(np.zeros(fixed.size)) if result.fixed is None else ~np.isnan(result.fixed)
    assert (free == fixed.ravel()).all() or not fixed.any()
    for side, z in enumerate(result.lowest):
        assert z == pytest.approx(float(rows.lowest(expected).get(side, Fraction(0))))


@given(seed=st.integers(0, 10**6))
def test_consistent_samples_are_met_together(seed: int) -> None:
    """Targets that the rules gave themselves: fixed ones stay, and the inferences come back."""
    rng = np.random.default_rng(seed)
    teacher = rule_set(rng)
    x = distributions(rng, 12)
    y = teacher.infer({"x": x}).degrees
    keep = y.max(axis=1) == 1.0
    if not keep.any():
        return
    x, y = x[keep], y[keep]
    fixed = rng.random((len(teacher), 2)) < 0.5
    result = learn(teacher, {"x": x}, y, fixed=fixed)
    assert result["y"].distance == 0.0
    learned = np.stack([result["y"].s, result["y"].r], axis=1)
    given_ = np.stack([teacher.s, teacher.r], axis=1)
    assert (learned[fixed] == given_[fixed]).all()
    assert (result.rule_set.infer({"x": x}).degrees == y).all()
    parts = [({"x": x[:1]}, {"y": y[:1]}), ({"x": x[1:]}, {"y": y[1:]})]
    parts = [part for part in parts if len(part[0]["x"])]
    streamed = learn_batches(teacher, parts, fixed=fixed)
    assert streamed.rule_set == result.rule_set


def test_words_and_groups() -> None:
    rules = RuleSet([If(X.isin({0})).then(Y.isin({0})), Iff(X.isin({1})).then(Y.isin({1}))])
    x, y = {"x": [0, 1, 2, 2]}, [0, 1, 2, 2]
    assert learn(rules, x, y, fixed="implications")["y"].fixed is not None
    kept = learn(rules, x, y, fixed={"y": "implications"})["y"].fixed
    assert kept is not None
    assert kept[0] == 1.0
    assert np.isnan(kept[1:]).all()
    with raises_saying(DataError, "'y'", "'q'", "s, r, implications", "(2, 2)"):
        learn(rules, x, y, fixed="q")
    with raises_saying(DataError, "booleans of shape (2, 2)"):
        learn(rules, x, y, fixed=[True, False])
    with raises_saying(UnknownAttributeError, "'z'"):
        learn(rules, x, y, fixed={"z": "s"})
    with raises_saying(UnknownAttributeError, "'y' is given twice"):
        learn(rules, x, y, fixed={"y": "s", ("y",): "r"})


def test_a_model_file_keeps_what_was_fixed(tmp_path: Any) -> None:
    rules = Cascade(RuleSet([If(X.isin({0})).then(Y.isin({0}))]))
    first = [({"x": [[1.0, 0.2, 0.0]]}, {"y": [[1.0, 0.3, 0.3]]})]
    result = learn_batches(rules, first, fixed="s")
    save(result, tmp_path / "model.json")
    again = load(tmp_path / "model.json").result
    assert np.array_equal(again["y"].fixed, result["y"].fixed, equal_nan=True)
    assert again.cascade.rule_sets[0].rules[0].s == 1.0


def test_counts_that_are_added_keep_what_was_fixed() -> None:
    rules = Cascade(RuleSet([If(X.isin({0})).then(Y.isin({0}))]))
    first, more = ({"x": [0, 0, 1, 2]}, {"y": [0, 1, 2, 0]}), ({"x": [0, 2]}, {"y": [0, 0]})
    extended = learn_more(learn_batches(rules, [first], method="counts", fixed="s"), [more])
    together = learn_batches(rules, [first, more], method="counts", fixed="s")
    assert extended.cascade == together.cascade
    assert extended.cascade.rule_sets[0].rules[0].s == 1.0


def test_a_search_for_tolerances_keeps_what_is_fixed() -> None:
    a, b = Attribute("a", [0, 1]), Attribute("b", [0, 1])
    rules = RuleSet([If(a.isin({1})).then(b.isin({1}), certainty=0.9)])
    evidence = {"a": [[0.2, 1.0], [1.0, 0.3], [0.4, 1.0]]}
    targets = {"b": [[0.3, 1.0], [1.0, 0.6], [0.2, 1.0]]}
    options: dict[str, Any] = {"candidates": [0.05, 0.15, 1.5]}
    data = (evidence, targets)
    found = search_tolerances(rules, *data, data, **options)
    direct = learn(rules, *data, tolerance=found.tolerances)
    assert found.result["b"].s.tolist() == direct["b"].s.tolist() == [1.0]
    assert found.result["b"].r.tolist() == direct["b"].r.tolist()
    free = search_tolerances(rules, *data, data, fixed=None, **options)
    assert free.result["b"].s.tolist() != [1.0]


def test_implications_stay_by_default() -> None:
    a, b = Attribute("a", [0, 1]), Attribute("b", [0, 1])
    rules = RuleSet([If(a.isin({1})).then(b.isin({1})), Iff(a.isin({0})).then(b.isin({0}))])
    x, y = {"a": [0, 0, 0, 1, 1, 1, 1]}, [0, 0, 0, 1, 1, 1, 0]
    for method in ("exact", "counts", "gradient"):
        learned = learn(rules, x, y, method=method)["b"]
        kept = learn(rules, x, y, method=method, fixed="implications")["b"]
        free = learn(rules, x, y, method=method, fixed=None)["b"]
        assert learned.s.tolist() == kept.s.tolist()
        assert learned.s[0] == 1.0 > free.s[0]
        assert learned.r.tolist() == kept.r.tolist()
    batches = [(x, {"b": y})]
    assert learn_batches(rules, batches).cascade == learn(rules, x, y).cascade
