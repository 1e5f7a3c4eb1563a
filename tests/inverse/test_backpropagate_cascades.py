"""Backpropagation through random cascades, one sample and batches."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from inverse import backpropagation_oracle as oracle
from pinesy import Attribute, Cascade, Iff, Possibility, RuleSet
from pinesy.inverse import Backpropagation, backpropagate
from pinesy.problems import addition, sudoku, sudoku_labels
from strategies import BatchCase, Case, batches, cascades, cases, distributions


def exact(arrays: Mapping[str, Possibility]) -> dict[str, oracle.Pi]:
    return {name: oracle.fractions(pi) for name, pi in arrays.items()}


def own_targets(cascade: Cascade, evidence: Mapping[str, Any], every: bool) -> dict[str, Any]:
    """What the cascade infers, as targets: of its outputs, or of all that is concluded on."""
    trace = cascade.trace(evidence)
    names = list(trace) if every else [a.name for a in cascade.outputs]
    return {n: trace[n] for n in names if np.all(trace[n].degrees.max(axis=-1) == 1.0)}


def check(cascade: Cascade, found: Backpropagation) -> None:
    """Compare a result with the definitions."""
    given_ = exact(found.inputs)
    outcome = oracles.infer(cascade.rule_sets, given_).distributions
    gaps = []
    for name, target in exact(found.targets).items():
        system = oracle.premises(cascade[name], target)
        assert exact(found.repaired)[name] == oracle.spread(system, system.reached)
        assert exact(found.inferred)[name] == outcome[name]
        cells = [oracles.possibility(outcome[name], cell) for cell in system.cells]
        gaps += [abs(o - y) for o, y in zip(cells, system.target, strict=True)]
        assert (found.nabla[name] == 0.0) == (system.reached == system.target)
    normal = all(max(pi.values()) == 1 for pi in given_.values())
    assert found.normalised == normal
    assert found.reproduced == (normal and max(gaps) == 0)
    assert found.distance == pytest.approx(float(max(gaps)), abs=1e-15)
    assert bool(found.conflicts) != found.reproduced


@given(cases(), st.booleans())
def test_targets_that_are_inferred(case: Case, every: bool) -> None:
    targets = own_targets(case.cascade, case.evidence, every)
    if not targets:
        return
    found = backpropagate(case.cascade, None, targets, limit=3)
    check(case.cascade, found)
    if found.reproduced:
        again = case.cascade.infer(found.inputs, list(targets))
        for name, target in targets.items():
            assert np.array_equal(again[name].degrees, target.degrees)


@given(cascades(), st.data())
def test_any_targets(cascade: Cascade, data: st.DataObject) -> None:
    """Without choices, the inputs are the least bounds that any rule sets, or all is possible."""
    outputs = [s.output for s in cascade.order]
    chosen = data.draw(st.lists(st.sampled_from(outputs), min_size=1, max_size=3, unique=True))
    targets = {a.name: np.array(data.draw(distributions(len(a.domain)))) for a in chosen}
    found = backpropagate(cascade, None, targets, limit=0)
    check(cascade, found)
    expected = oracle.greatest_without_choices(cascade, exact(found.targets))
    if exact(found.inputs) != expected:  # a solution outside of the bounds that lowers nothing
        assert len(chosen) == 1  # and one rule set behind it
        assert found.solved
        assert all((pi.degrees == 1.0).all() for pi in found.inputs.values())


@settings(max_examples=15)
@given(batches(sizes=(1, 2, 130)))
def test_a_batch_is_its_samples(case: BatchCase) -> None:
    targets = own_targets(case.cascade, case.evidence, every=False)
    if not targets:
        return
    whole = backpropagate(case.cascade, case.evidence, targets, limit=2)
    for row in sorted({0, case.n - 1}):
        one = backpropagate(
            case.cascade, case.row(row), {n: t.sample(row) for n, t in targets.items()}, limit=2
        )
        part = whole.sample(row)
        assert exact(part.inputs) == exact(one.inputs)
        for name in ("reproduced", "solved", "exhausted", "normalised", "distance", "matches"):
            assert np.atleast_1d(getattr(whole, name))[row] == getattr(one, name)
            assert getattr(part, name) == getattr(one, name)
        assert part.output_distance == whole.output_distance[row] == one.output_distance == 0.0
        assert list(map(str, part.conflicts)) == list(map(str, one.conflicts))


# --- problems ----------------------------------------------------------------------------------


def test_addition_leaves_many_pairs_and_says_so() -> None:
    """A sum of 7 has eight pairs, and no two distributions say just these."""
    rules = addition(1)
    found = backpropagate(rules, None, {"y_1": 7, "y_0": 0})
    assert found.inputs["a_1"].degrees.tolist() == [1.0] * 8 + [0.0] * 2
    assert not found.reproduced
    assert found.distance == 1.0
    assert {c.kind for c in found.conflicts} == {"reach"}
    assert found.nabla == {"y_0": 0.0, "y_1": 0.0}
    assert found.premises["c_1"].distance == 0.5
    certain = backpropagate(rules, None, {"y_1": 8, "y_0": 1})  # only 9 + 9
    assert certain.reproduced
    assert certain.inputs["a_2"].best == 9
    assert certain.inputs["a_2"].certainty == 1.0


def test_addition_with_the_pairs_as_targets() -> None:
    rules = addition(2)
    digits = np.array([[3, 7, 1, 8], [9, 9, 0, 1]])  # 37 + 18 = 55 and 99 + 01 = 100
    pairs = {"c_2": digits[:, [1, 3]], "c_1": np.column_stack([digits[:, [0, 2]], [1, 1]])}
    found = backpropagate(rules, None, {**pairs, "y_2": [5, 0], "y_1": [5, 0], "y_0": [0, 1]})
    assert found.reproduced.tolist() == [True, True]
    for i in range(4):
        assert found.inputs[f"a_{i + 1}"].best.tolist() == digits[:, i].tolist()
        p = found.probabilities()[f"a_{i + 1}"]
        assert p.argmax(axis=1).tolist() == digits[:, i].tolist()


def test_sudoku_valid_and_invalid() -> None:
    rules = sudoku(4)
    grid = np.array([[0, 1, 2, 3], [2, 3, 0, 1], [1, 0, 3, 2], [3, 2, 1, 0]])
    actual = {f"a_{i + 1}_{j + 1}": np.eye(4)[grid[i, j]] for i in range(4) for j in range(4)}
    assert sudoku_labels(grid[None])["c"].tolist() == [1]
    valid = backpropagate(rules, actual, 1)
    assert valid.output_distance == 0.0
    assert not valid.reproduced  # nothing is ruled out, so that the grid may be invalid
    assert set(valid.input_excess.values()) == {0.0}
    invalid = backpropagate(rules, None, {0: 1.0}, limit=5)
    assert invalid.exhausted
    assert not invalid.reproduced
    assert {c.kind for c in invalid.conflicts} == {"conjunction"}
    assert not backpropagate(rules, None, {0: 1.0}, limit=100).exhausted


def test_values_that_no_rule_tells_apart_are_out_of_reach() -> None:
    a, b, c = Attribute("a", (0, 1)), Attribute("b", (0, 1, 2)), Attribute("c", (0, 1))
    cascade = Cascade(
        RuleSet([Iff(a.isin([0])).then(b.isin([0]))]), RuleSet([Iff(b.isin([1])).then(c.isin([1]))])
    )
    found = backpropagate(cascade, None, 1)
    assert not found.reproduced
    (conflict,) = found.conflicts
    assert (conflict.kind, conflict.attribute, conflict.distance) == ("reach", "b", 1.0)
    assert conflict.message == (
        "the greatest inputs give 2 of 'b' possibility 1, more than its target 0; no rule on 'b' "
        "tells it from values whose target is higher"
    )


def test_targets_that_contradict_each_other() -> None:
    a, b, c = (Attribute(n, (0, 1)) for n in "abc")
    cascade = Cascade(
        RuleSet([Iff(a.isin([0])).then(b.isin([0]))]), RuleSet([Iff(b.isin([0])).then(c.isin([0]))])
    )
    found = backpropagate(cascade, None, {"b": 0, "c": 1})
    assert not found.reproduced
    assert found.inputs["a"].best == 0  # the target that is nearer to the input
    kinds = [c.kind for c in found.conflicts]
    assert "targets" in kinds
    assert "rule 2 allows 0, but the target of 'b' makes it 1" in str(found)


def test_attributes_that_no_target_depends_on_are_free() -> None:
    a, b, c, d = (Attribute(n, (0, 1)) for n in "abcd")
    cascade = Cascade(
        RuleSet([Iff(a.isin([0])).then(c.isin([0]))]), RuleSet([Iff(b.isin([0])).then(d.isin([0]))])
    )
    found = backpropagate(cascade, None, {"c": 1})
    assert found.inputs["a"].degrees.tolist() == [0.0, 1.0]
    assert found.inputs["b"].degrees.tolist() == [1.0, 1.0]
    assert found.reproduced
    batch = backpropagate(cascade, None, {"c": [1, 0, 1]})
    assert batch.inputs["b"].degrees.tolist() == [[1.0, 1.0]] * 3


def test_choices_stay_near_the_actual_inputs() -> None:
    a, b, c = (Attribute(n, (0, 1)) for n in "abc")
    rules = RuleSet([Iff(a.isin([1]), b.isin([1])).then(c.isin([1]))])
    first = backpropagate(rules, None, 0)
    assert first.inputs["a"].degrees.tolist() == [1.0, 0.0]
    assert first.inputs["b"].degrees.tolist() == [1.0, 1.0]
    near = backpropagate(rules, {"a": [0.2, 1.0], "b": [1.0, 0.9]}, 0)
    assert near.inputs["a"].degrees.tolist() == [1.0, 1.0]
    assert near.inputs["b"].degrees.tolist() == [1.0, 0.0]
    batch = backpropagate(
        rules, {"a": [[0.2, 1.0], [1, 0.1], [0, 1]], "b": [[1.0, 0.9]] * 3}, [0, 0, 1]
    )
    assert batch.inputs["a"].degrees.tolist() == [[1, 1], [1, 0], [0, 1]]
    assert batch.reproduced.all()


def test_a_conjunction_may_have_no_conjunct_that_can_be_lowered() -> None:
    """`b` has a target, and nothing is outside of all values of `d`: nothing of rule 1 can fall."""
    a, b, c, d, e = (Attribute(name, (0, 1)) for name in "abcde")
    rules = Cascade(
        RuleSet([Iff(a.isin([1]), e.isin([1])).then(b.isin([1]), s=0.3)]),
        RuleSet(
            [
                Iff(d.isin([0, 1]), b.isin([1])).then(c.isin([0]), s=0.3),
                Iff(b.isin([1])).then(c.isin([1]), s=0.2),
            ]
        ),
    )
    targets = {"c": [0.0, 1.0], "b": [1.0, 0.5]}
    evidence = {name: [1.0, 0.6] for name in "ade"}
    known, unknown = (backpropagate(rules, one, targets) for one in (evidence, None))
    assert known.inputs["a"].degrees.tolist() == unknown.inputs["a"].degrees.tolist()
    assert [c.kind for c in known.conflicts] == [c.kind for c in unknown.conflicts] != []


def test_the_same_program_serves_again() -> None:
    rules = addition(1)
    first, second = (backpropagate(rules, None, {"y_1": [3]})._pass.back for _ in range(2))
    assert first is second
    assert backpropagate(rules, None, {"y_0": [1]})._pass.back is not first


def test_degrees_are_copied_not_computed() -> None:
    """A degree that no float arithmetic would give back comes out as it went in."""
    a, b = Attribute("a", (0, 1, 2)), Attribute("b", (0, 1, 2))
    rules = RuleSet(Iff(a.isin([v])).then(b.isin([v])) for v in (0, 1, 2))
    target = [0.1 + 0.2, 1.0, 1 / 3]
    found = backpropagate(rules, None, target)
    assert found.inputs["a"].degrees.tolist() == target
    assert Fraction(found.distance) == 0
