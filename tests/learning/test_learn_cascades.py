"""Learning cascades of several shapes: stages, skip connections, sets without target, groups."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import oracles
from learning.oracle_help import (
    BROKEN,
    BROKEN_SKIP,
    DIAMOND,
    SKIP,
    B,
    C,
    as_floats,
    assert_certified,
    assert_same,
    bits,
    chain,
    random_samples,
)
from messages import raises_saying
from pinesy import Cascade, CascadeError, learn
from pinesy.learning.stages import CascadeStages
from strategies import LearningProblem

# --- shapes ------------------------------------------------------------------------------------


def exact_problem(cascade: Cascade, n: int, seed: int, without: str = "") -> LearningProblem:
    """Draw a problem on binary fractions, with targets for all sets but one."""
    inputs, targets = random_samples(cascade, n, seed, graded=True, grid=16)
    samples = [
        {name: list(map(Fraction, rows[i].tolist())) for name, rows in inputs.items()}
        for i in range(n)
    ]
    graded = {
        name: [list(map(Fraction, row)) for row in rows.tolist()]
        for name, rows in targets.items()
        if name != without
    }
    return LearningProblem(cascade, samples, graded)


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize(
    ("cascade", "without"),
    [(SKIP, "z"), (DIAMOND, ""), (BROKEN_SKIP, "z"), (BROKEN_SKIP, ""), (chain(12), "x3")],
    ids=["skip", "diamond", "broken", "broken and learned", "chain"],
)
def test_shapes_of_cascades(cascade: Cascade, without: str, n: int) -> None:
    for seed in range(8):
        problem = exact_problem(cascade, n, seed, without)
        inputs, targets = as_floats(problem)
        result = learn(cascade, inputs, targets)
        exact = oracles.learn_cascade_exact(*problem)
        for name, found in exact.items():
            assert_same(result[name], found)


def test_a_chain_of_many_sets() -> None:
    cascade = chain(60)
    inputs, targets = random_samples(cascade, 20, seed=3)
    result = learn(cascade, inputs, targets)
    assert len(result.sets) == 60
    assert_certified(inputs, targets, result)


def test_distributions_that_are_not_normalised_are_used_as_they_are() -> None:
    inferred = BROKEN.infer({"a": [[1.0, 0.25], [0.5, 1.0]]}).degrees
    assert inferred.max() == 0.0
    inputs, targets = random_samples(BROKEN_SKIP, 200, seed=1)
    del targets["z"]
    result = learn(BROKEN_SKIP, inputs, targets)
    assert_certified(inputs, targets, result)
    assert result.cascade["z"] is BROKEN


def test_what_is_kept_from_stage_to_stage() -> None:
    """`z` is inferred once, in the first stage; a learned set is inferred in the next one."""
    targeted = ["b", "c", "d", "e"]
    stages = CascadeStages(SKIP, targeted)
    assert list(stages.members) == [1, 2, 3, 4]
    have: frozenset[str] = frozenset()
    plans = []
    for index in stages.members:
        stage = stages.stage(index, have)
        have = stage.needed
        plans.append((stage.names, [a.name for a in stage.code.inputs], set(have)))
    assert plans == [
        (("b",), ["a"], {"z"}),
        (("c",), ["a", "z"], {"b", "z"}),
        (("d",), ["b", "z"], {"c", "z"}),
        (("e",), ["c", "z"], set()),
    ]


# --- sets without target, initial parameters, groups -------------------------------------------


def test_sets_without_target_keep_their_parameters() -> None:
    inputs, targets = random_samples(SKIP, 50, seed=2)
    result = learn(SKIP, inputs, {"c": targets["c"], "e": targets["e"]})
    assert list(result.sets) == ["c", "e"]
    for name in ("z", "b", "d"):
        assert result.cascade[name] is SKIP[name]
    assert_certified(inputs, {"c": targets["c"], "e": targets["e"]}, result)
    with raises_saying(CascadeError, "'b' had no target; its parameters were kept"):
        result["b"]
    with raises_saying(CascadeError, "no rule set concludes on 'q'"):
        result["q"]


def test_only_the_inputs_that_are_needed() -> None:
    inputs, targets = random_samples(DIAMOND, 20, seed=0)
    result = learn(DIAMOND, {"a": inputs["a"]}, {"b": targets["b"]})
    assert bits(result) == bits(learn(DIAMOND, inputs, {"b": targets["b"]}))
    with raises_saying(CascadeError, "no distribution is given for d"):
        learn(DIAMOND, {"a": inputs["a"]}, {"c": targets["c"]})


def test_initial_parameters_are_those_of_sets_without_target() -> None:
    inputs, targets = random_samples(SKIP, 50, seed=4)
    del targets["z"]
    changed = {"z": ([0.0, 0.5], [0.75, 0.0]), "b": ([1.0, 1.0], [1.0, 1.0])}
    found = learn(SKIP, inputs, targets, initial=changed, fixed=None)
    expected = learn(SKIP.with_parameters({"z": changed["z"]}), inputs, targets)
    assert bits(found) == bits(expected) != bits(learn(SKIP, inputs, targets))
    assert found.cascade["z"].s.tolist() == [0.0, 0.5]
    alone = learn(SKIP["z"], inputs, random_samples(SKIP, 50, 5)[1]["z"], initial=changed["z"])
    assert alone.rule_set.s.tolist() == alone["z"].s.tolist() != [0.0, 0.5]


@pytest.mark.parametrize("form", [dict, list, tuple])
def test_the_result_does_not_depend_on_the_form_of_the_samples(form: Any) -> None:
    inputs, targets = random_samples(DIAMOND, 30, seed=6)
    columns = np.concatenate([inputs[a.name] for a in DIAMOND.inputs], axis=1)
    other = {DIAMOND[name].output: form_of(each, form) for name, each in targets.items()}
    expected = bits(learn(DIAMOND, inputs, targets))
    assert bits(learn(DIAMOND, columns, other)) == expected
    by_attribute = {a: inputs[a.name].tolist() for a in DIAMOND.inputs}
    assert bits(learn(DIAMOND, by_attribute, other)) == expected


def form_of(targets: Any, form: Any) -> Any:
    if form is dict:
        return np.array(targets)
    return form(targets) if isinstance(targets, list) else form(map(form, targets.tolist()))


@pytest.mark.parametrize(
    "tolerance",
    [
        {"b": 0.6, ("c", "e"): 0.8},
        {("b",): 0.6, "[ce]": 0.8},
        {B: 0.6, (C, "e"): 0.8},
        {"b": 0.6, "c": 0.8, "e": np.float64(0.8)},
    ],
)
def test_groups(tolerance: Any) -> None:
    inputs, targets = random_samples(DIAMOND, 60, seed=7)
    result = learn(DIAMOND, inputs, targets, tolerance=tolerance)
    assert {name: one.tolerance for name, one in result.sets.items()} == {
        "b": 0.6,
        "c": 0.8,
        "e": 0.8,
    }
    assert any(0 < one.n_reliable < 60 for one in result.sets.values())
    assert_certified(inputs, targets, result)


def test_no_tolerance_keeps_all_and_so_does_one_above_1() -> None:
    inputs, targets = random_samples(DIAMOND, 60, seed=8, graded=False)
    free = learn(DIAMOND, inputs, targets)
    large = learn(DIAMOND, inputs, targets, tolerance=1.5)
    some = learn(DIAMOND, inputs, targets, tolerance={"b": 1.5})
    assert max(nabla.max() for nabla in free.nabla.values()) == 1.0
    for name, one in free.sets.items():
        assert one.n_reliable == large[name].n_reliable == 60
        assert one.lowest.tolist() == large[name].lowest.tolist() == some[name].lowest.tolist()
    at_one = learn(DIAMOND, inputs, targets, tolerance=1.0)
    assert at_one["b"].n_reliable == (free.nabla["b"] < 1.0).sum() < 60
    assert at_one.reliable["b"].tolist() == (free.nabla["b"] < 1.0).tolist()
