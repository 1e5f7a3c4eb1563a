"""A search measures nothing twice, and learns the same bits as if it did."""

from typing import Any

import numpy as np
import pytest

from pinesy import Cascade, learn, parse
from pinesy.learning import accuracy, sample_passes, search_tolerances
from pinesy.learning.learning_arguments import batch_of
from pinesy.learning.search_tolerances import SearchProblem
from pinesy.problems import addition, addition_labels
from strategies import random_batch

RULES = parse("""
    attribute sky in {clear, cloudy, dark}
    attribute wind in {weak, strong}
    attribute rain in {no, yes}
    attribute street in {dry, wet}
    attribute walk in {no, yes}

    iff sky in {dark} then rain in {yes} [s=0.3, r=0.2]
    iff wind in {strong} then rain in {no}
    iff rain in {yes} then street in {wet} [s=0.1]
    iff street in {dry} and wind in {weak} then walk in {yes}
""")
#: Up, down, and the same again.
THRESHOLDS = [(0.3, 0.4), (0.6, 0.4), (0.6, 0.9), (0.3, 0.4), (0.3, 0.4), (1.1, 1.1), (0.6, 0.9)]


def data(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    rng = np.random.default_rng(seed)
    inputs = {a.name: random_batch(rng, 60, len(a.domain)) for a in RULES.inputs}
    targets = {s.output.name: random_batch(rng, 60, len(s.output.domain)) for s in RULES.order}
    return inputs, targets


@pytest.mark.parametrize("seed", range(8))
def test_learning_again_gives_what_learning_afresh_gives(seed: int) -> None:
    inputs, targets = data(seed)
    groups: dict[Any, list[str]] = {"rain": ["rain"], "others": ["street", "walk"]}
    problem = SearchProblem(
        RULES, batch_of(RULES, inputs, targets), groups, np.array([0.0]), lambda *_: 0.0
    )
    for first, second in THRESHOLDS:
        tolerances: dict[Any, float] = {"rain": first, "street": second, "walk": second}
        found = problem.learn(tolerances)
        afresh = learn(RULES, inputs, targets, tolerance=tolerances)
        assert found.cascade == afresh.cascade
        for name, one in afresh.sets.items():
            assert found[name].n_reliable == one.n_reliable
            assert found[name].distance == one.distance
            assert np.array_equal(np.asarray(found[name].nabla), np.asarray(one.nabla))
            assert (found[name].lowest == one.lowest).all()


def test_what_is_known_is_not_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels of sums leave all parameters at 0, whatever the tolerance."""
    rng = np.random.default_rng(0)
    rules, digits = addition(1), rng.integers(0, 10, (200, 2))
    inputs = {f"a_{i + 1}": np.maximum(np.eye(10)[digits[:, i]], 0.3) for i in range(2)}
    batch = batch_of(rules, inputs, addition_labels(digits))
    problem = SearchProblem(rules, batch, {}, np.array([0.0]), lambda *_: 0.0)
    first = problem.learn(dict.fromkeys(batch.targets, 0.5))
    measured: list[Any] = []
    monkeypatch.setattr(sample_passes.BatchPasses, "measure", measured.append)
    second = problem.learn(dict.fromkeys(batch.targets, 0.4))
    assert measured == []
    assert second.cascade == first.cascade == rules


def test_equal_parameters_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is remembered, each evaluation has the accuracy of its own parameters."""
    training, validation = data(1), data(2)
    labels = {name: (rows == 1.0).argmax(axis=1) for name, rows in validation[1].items()}
    values = {name: [RULES[name].output.domain[i] for i in row] for name, row in labels.items()}
    judged: list[str] = []
    infer = Cascade.infer

    def noting(cascade: Cascade, *arguments: Any) -> Any:
        judged.append(str(cascade))
        return infer(cascade, *arguments)

    def search(**options: Any) -> Any:
        given = {"candidates": [0.2, 0.4, 0.6, 1.1], "stagnation": 9, **options}
        groups = ["rain", "street", "walk"]
        return search_tolerances(RULES, *training, (validation[0], values), groups=groups, **given)

    monkeypatch.setattr(Cascade, "infer", noting)
    found = search()
    once = len(judged)
    assert once == len(set(judged))
    again = search(metric=lambda *arguments: accuracy(*arguments))
    assert len(judged) - once > once
    assert [one.metric for one in again.evaluations] == [one.metric for one in found.evaluations]
