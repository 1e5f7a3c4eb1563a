"""The exhaustive search for tolerances, against a grid whose points are learned one by one."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from pinesy import (
    Attribute,
    Cascade,
    Iff,
    LearningError,
    LearningResult,
    Proposition,
    Rule,
    RuleSet,
    learn,
)
from pinesy.learning import Evaluation, ToleranceSearch, search_tolerances
from strategies import FloatArray, random_batch

A, B, C, D, E = (Attribute(name, range(4)) for name in "abcde")
#: The attributes that each set concludes from, in shapes of one to three stages.
SHAPES: list[dict[Attribute, list[Attribute]]] = [
    {C: [A, B], D: [C]},
    {C: [A, B], D: [B], E: [C, D]},
    {C: [A, B], D: [C], E: [D, A]},
    {C: [A], D: [B]},
]


class Noisy:
    """A random cascade, and training and validation data that fit it more or less."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        shape = SHAPES[seed % len(SHAPES)]
        self.truth = Cascade(*(self._rules(known, out) for out, known in shape.items()))
        zeros = {s.output.name: (np.zeros(len(s)), np.zeros(len(s))) for s in self.truth.order}
        self.rules = self.truth.with_parameters(zeros)
        self.data = self._samples(5)
        self.validation = self._samples(10)
        self.names = [s.output.name for s in self.rules.order]
        self.values = self._values()

    def _rules(self, known: Sequence[Attribute], output: Attribute) -> RuleSet:
        conclusions = [output.isin({value}) for value in output.domain]
        return RuleSet([self._rule(known, q) for q in [*conclusions, self._some(output)]])

    def _rule(self, known: Sequence[Attribute], conclusion: Proposition) -> Rule:
        premise = [self._some(a) for a in known if self.rng.random() < 0.6]
        s, r = (self.rng.integers(0, 6, 2) / 10).tolist()
        return Iff(*premise or [self._some(known[0])]).then(conclusion, s, r)

    def _some(self, attribute: Attribute) -> Proposition:
        return attribute.isin(self.rng.permutation(4)[: self.rng.integers(1, 4)].tolist())

    def _samples(self, n: int) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
        inputs = {a.name: random_batch(self.rng, n, 4) for a in self.truth.inputs}
        trace = self.truth.trace(inputs)
        return inputs, {name: self._disturbed(trace[name].degrees) for name in trace}

    def _disturbed(self, degrees: FloatArray) -> FloatArray:
        size = self.rng.integers(1, 9, (len(degrees), 1)) / 10
        noisy = np.clip(degrees + self.rng.integers(-1, 2, degrees.shape) * size, 0.0, 1.0)
        noisy[np.arange(len(degrees)), degrees.argmax(axis=1)] = 1.0
        return noisy

    def _values(self) -> list[float]:
        """Choose candidates: three distances, which are not below themselves, and one above all."""
        nabla = learn(self.rules, *self.data).nabla.values()
        distances = np.unique(np.concatenate(list(nabla)))
        low, middle, high = np.quantile(distances[distances > 0.0], [0.0, 0.3, 0.8], method="lower")
        return [float(low), float(middle), float(high), 1.001]

    def search(self, **options: Any) -> ToleranceSearch:
        options = {"candidates": self.values, "metric": closeness, **options}
        return search_tolerances(self.rules, *self.data, self.validation, **options)

    def groupings(self) -> list[list[Any] | None]:
        """All sets, each alone, some of several stages together, some in no group."""
        first, *rest = self.names
        return [None, self.names, rest[::-1] + [first], [(first, rest[-1])], rest, [first]]


def closeness(cascade: Cascade, inputs: Any, targets: Any) -> float:
    """Measure how near the targets are: almost every model has its own value."""
    found = cascade.infer(inputs, list(targets))
    return -float(sum(np.abs(found[n].degrees - t).mean() for n, t in targets.items()))


def coarse(cascade: Cascade, inputs: Any, targets: Any) -> float:
    """Measure so that many models tie."""
    return round(closeness(cascade, inputs, targets) * 8) / 8


def parameters(cascade: Cascade) -> bytes:
    return b"".join(s.s.tobytes() + s.r.tobytes() for s in cascade.order)


class Grid:
    """What every point of a grid gives, learned one by one; points that fail are None."""

    def __init__(self, problem: Noisy, groups: list[Any] | None) -> None:
        self.problem = problem
        keys = groups or ["*"]
        self.points = {
            steps: self._learn(dict(zip(keys, (problem.values[k] for k in steps), strict=True)))
            for steps in product(range(4), repeat=len(keys))
        }
        self.models = {parameters(m.cascade): m.cascade for m in self.points.values() if m}

    def _learn(self, tolerance: dict[Any, float]) -> LearningResult | None:
        try:
            return learn(self.problem.rules, *self.problem.data, tolerance=tolerance)
        except LearningError:
            return None

    def best(self, metric: Any) -> tuple[float, list[float]]:
        """Return the highest metric; of those that tie fewest steps, then the first groups' own."""
        values = {key: metric(m, *self.problem.validation) for key, m in self.models.items()}
        order = [
            (-values[parameters(m.cascade)], sum(steps), steps)
            for steps, m in self.points.items()
            if m
        ]
        value, _, steps = min(order)
        return -value, [self.problem.values[k] for k in steps]


SEEDS = range(8)


@pytest.mark.parametrize("seed", SEEDS)
def test_exhaustive_is_the_whole_grid(seed: int) -> None:
    problem = Noisy(seed)
    for groups in problem.groupings():
        grid = Grid(problem, groups)
        for metric in (closeness, coarse):
            found = problem.search(groups=groups, metric=metric, method="exhaustive")
            assert (found.metric, list(found.tolerances.values())) == grid.best(metric)
            assert list(found.tolerances) == (groups or ["*"])
            assert (found.n_grid, found.n_distinct) == (len(grid.points), len(grid.models))
            impossible = [one.points for one in found.evaluations if one.metric is None]
            assert sum(impossible) == sum(m is None for m in grid.points.values())
            assert sum(one.points for one in found.evaluations) == found.n_grid


def test_the_random_problems_are_not_trivial() -> None:
    """Several models, tolerances that are too low, and models that several points give."""
    found = [Noisy(seed).search(groups=Noisy(seed).names, method="exhaustive") for seed in SEEDS]
    assert sum((one.n_distinct or 0) > 5 for one in found) > 2
    assert sum(any(e.metric is None for e in one.evaluations) for one in found) > 2
    assert all((one.n_distinct or 0) < (one.n_grid or 0) for one in found)


@pytest.mark.parametrize("method", ["paper", "exhaustive"])
@pytest.mark.parametrize("seed", SEEDS)
def test_records_are_what_learning_gives(seed: int, method: str) -> None:
    problem = Noisy(seed)
    for groups in problem.groupings():
        found = problem.search(groups=groups, metric=coarse, method=method, stagnation=9)
        for one in found.evaluations:
            check_record(problem, one)
        again = learn(problem.rules, *problem.data, tolerance=found.tolerances)
        assert again.cascade == found.result.cascade
        assert coarse(again.cascade, *problem.validation) == found.metric
        assert again.reliable.keys() == found.result.reliable.keys()


def check_record(problem: Noisy, one: Evaluation) -> None:
    assert one.seconds >= 0.0
    if one.metric is not None:
        result = learn(problem.rules, *problem.data, tolerance=one.tolerances)
        assert one.reason == ""
        assert one.metric == coarse(result.cascade, *problem.validation)
        assert one.reliable == {name: s.n_reliable for name, s in result.sets.items()}
        return
    with pytest.raises(LearningError) as caught:
        learn(problem.rules, *problem.data, tolerance=one.tolerances)
    assert one.reliable == {caught.value.rule_set: 0}
    assert repr(caught.value.rule_set) in one.reason
    assert repr(caught.value.smallest) in one.reason


@pytest.mark.parametrize("seed", SEEDS)
def test_a_metric_is_asked_once_for_each_model(seed: int) -> None:
    asked: list[bytes] = []

    def metric(cascade: Cascade, inputs: Any, targets: Any) -> float:
        asked.append(parameters(cascade))
        return closeness(cascade, inputs, targets)

    found = Noisy(seed).search(metric=metric, groups=Noisy(seed).names, method="exhaustive")
    assert len(asked) == len(set(asked)) == found.n_distinct


def test_records_of_an_exhaustive_search_rise() -> None:
    problem = Noisy(1)
    found = problem.search(groups=problem.names, method="exhaustive")
    places = [[problem.values.index(t) for t in e.tolerances.values()] for e in found.evaluations]
    assert places == sorted(places, key=lambda steps: (sum(steps), steps))
    assert len(places) > 5
