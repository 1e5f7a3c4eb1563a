"""The compiled loops of learning on any premise degrees, against fractions and definitions."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from learning.oracle_help import CLOSE, FloatArray, cell_degrees, floats, stacked
from pinesy import Attribute, EquationSystem, Iff, RuleSet, Target, learn
from pinesy.equations import Fronts, pareto_fronts
from pinesy.learning import sample_passes, system_kernels
from pinesy.learning.learning_result import SampleSummary
from pinesy.learning.sample_passes import SampleSystems
from pinesy.rules.partition import Partition, partition_of
from strategies import random_batch

INF = float("inf")


class Samples:
    """Premise degrees, of any kind, and targets for a partition."""

    def __init__(self, partition: Partition, degrees: FloatArray, target: Target) -> None:
        self.partition = partition
        self.degrees = degrees
        self.target = target
        self.n = degrees.shape[1]
        self.system = SampleSystems(degrees, target, partition)
        self.nabla = self.system.nabla
        self.nabla[:] = np.nan
        self.system.measure(0, self.n)

    @property
    def equations(self) -> list[EquationSystem]:
        targets = map(self.target.distribution, range(self.n))
        cells = [cell_degrees(self.partition, pi) for pi in targets]
        rows = zip(self.degrees[0::2].T, self.degrees[1::2].T, cells, strict=True)
        return [EquationSystem(self.partition, *row) for row in rows]

    def learn(self, tau: float = INF, begin: int = 0, end: int | None = None) -> SampleSummary:
        return self.system.summary(begin, self.n if end is None else end, tau)

    def stacked(self, fronts: Fronts, tau: float = INF) -> float:
        return self.system.stacked_distance(0, self.n, tau, fronts)


def random_partition(rng: np.random.Generator) -> Partition:
    """One to seven rules on up to nine values; often cells hold several values."""
    size = int(rng.integers(1, 10))
    masks = rng.integers(1, 2**size, int(rng.integers(1, 8)))
    return partition_of(size, tuple(masks.tolist()))


def random_samples(seed: int, n: int, grid: int, graded: bool = True) -> Samples:
    """Degrees need not come of distributions: they may be those of incoherent rules."""
    rng = np.random.default_rng(seed)
    partition = random_partition(rng)
    size, rules = len(partition.cell_of), partition.signs.shape[1]
    degrees = rng.integers(0, grid + 1, (2 * rules, n)) / grid
    labels = rng.integers(0, size, n)
    pi = rng.integers(0, grid + 1, (n, size)) / grid
    pi[np.arange(n), labels] = 1.0
    attribute = Attribute("b", range(size))
    return Samples(partition, degrees, Target.of(pi if graded else labels, attribute))


# --- against fractions -------------------------------------------------------------------------


def exact(samples: Samples, grid: int) -> oracles.Stacked:
    """What the oracle learns of samples whose degrees are multiples of 1 / grid."""

    def fractions(rows: Any) -> list[list[Fraction]]:
        return [[Fraction(round(d * grid), grid) for d in row] for row in rows]

    targets = [equations.target for equations in samples.equations]
    lambdas, rhos = (fractions(samples.degrees[side::2].T) for side in (0, 1))
    signs = samples.partition.signs.tolist()
    return oracles.learn_stacked_exact(signs, lambdas, rhos, fractions(targets))


@given(st.integers(0, 2**32), st.integers(1, 5), st.booleans())
def test_binary_fractions_to_the_last_bit(seed: int, n: int, graded: bool) -> None:
    samples = random_samples(seed, n, 16, graded)
    found = exact(samples, 16)
    assert samples.nabla.tolist() == floats(found.nablas).tolist()
    repaired = samples.system.repaired_targets(0, n)
    assert repaired.T.tolist() == floats(found.repaired).tolist()
    fronts = samples.learn().fronts
    distance = samples.stacked(fronts)
    assert distance == found.distance
    assert fronts.solution(distance).tolist() == floats(found.x).tolist()


@given(st.integers(0, 2**32), st.integers(1, 5), st.booleans(), st.sampled_from([10, 100]))
def test_decimals(seed: int, n: int, graded: bool, grid: int) -> None:
    samples = random_samples(seed, n, grid, graded)
    found = exact(samples, grid)
    assert samples.nabla == pytest.approx(floats(found.nablas), abs=CLOSE)
    repaired = samples.system.repaired_targets(0, n)
    assert np.abs(repaired.T - floats(found.repaired)).max() < CLOSE
    fronts = samples.learn().fronts
    distance = samples.stacked(fronts)
    assert distance == pytest.approx(float(found.distance), abs=CLOSE)
    assert fronts.solution(distance) == pytest.approx(floats(found.x), abs=CLOSE)


# --- against definitions, bit for bit ----------------------------------------------------------


@pytest.mark.parametrize("n", [2, 7, 30, 127, 128, 129, 300])
@pytest.mark.parametrize("graded", [True, False])
def test_every_number_of_many_samples(n: int, graded: bool) -> None:
    """The distance of the stacked system must not depend on which of its rows come first."""
    for seed in range(25 if n < 100 else 8):
        samples = random_samples(seed, n, (10, 100, 2**30)[seed % 3], graded)
        equations = samples.equations
        assert samples.nabla.tolist() == [one.distance for one in equations]
        repaired = samples.system.repaired_targets(0, n)
        assert repaired.T.tolist() == [one.lowest_approximation.tolist() for one in equations]
        tau = float(np.median(samples.nabla)) + 0.01
        for limit in (INF, tau):
            summary = samples.learn(limit)
            kept = [one for one in equations if one.distance < limit - 1e-12]
            assert summary.reliable == len(kept)
            general, distance = stacked(kept), samples.stacked(summary.fronts, limit)
            assert distance == general.chebyshev_distance
            solution = general.lowest_approximate_solution
            assert summary.fronts.solution(distance).tobytes() == solution.tobytes()
            assert general.verify(summary.fronts.solution(distance)).attains


def test_the_order_of_samples_changes_nothing() -> None:
    for seed in range(60):
        samples = random_samples(seed, 12, 16)
        fronts = samples.learn().fronts
        order = np.random.default_rng(seed).permutation(12)
        turned = Samples(
            samples.partition,
            np.ascontiguousarray(samples.degrees[:, order]),
            samples.target[order],
        )
        assert turned.nabla.tolist() == samples.nabla[order].tolist()
        assert turned.learn().fronts.same(fronts)
        assert turned.stacked(fronts) == samples.stacked(fronts)


def test_the_fronts_are_those_of_all_pairs() -> None:
    for seed in range(40):
        samples = random_samples(seed, 150, 100, graded=seed % 2 == 0)
        repaired = samples.system.repaired_targets(0, samples.n)
        e = np.stack([side_maxima(samples.partition, row) for row in repaired.T])
        assert samples.learn().fronts.same(pareto_fronts(e, e - samples.degrees.T))


def side_maxima(partition: Partition, y: FloatArray) -> FloatArray:
    """Return the largest degree on each side of each rule, 0 where there is no cell."""
    inside = np.where(partition.signs, y[:, None], 0.0).max(axis=0)
    outside = np.where(partition.signs, 0.0, y[:, None]).max(axis=0)
    return np.stack([inside, outside], axis=1).ravel()


def test_long_fronts() -> None:
    """Pairs that none beats, in an order that inserts them everywhere and lets some be beaten."""
    rng = np.random.default_rng(8)
    e = 0.5 + (8 + rng.permutation(500)) / 1024
    w = 1.0 - e + rng.integers(0, 20, 500) / 4096
    degrees = np.stack([np.ones(500), e - w])  # the negation of the premise has the degree e - w
    target = Target.of(np.stack([np.ones(500), e], axis=1), Attribute("b", range(2)))
    samples = Samples(partition_of(2, (1,)), degrees, target)
    assert not samples.nabla.any()
    fronts = samples.learn().fronts
    assert fronts.same(pareto_fronts(np.stack([e * 0 + 1, e], 1), np.stack([e * 0, w], 1)))
    assert len(fronts[1]) > 50
    assert samples.stacked(fronts) == stacked(samples.equations).chebyshev_distance > 0.0


def test_chunks_of_a_system() -> None:
    assert system_kernels.WIDTH == 128  # the sizes that these tests use are around it
    samples = random_samples(3, 300, 10)
    whole = samples.learn(0.5)
    for cut in (1, 127, 128, 129, 299):
        first, second = samples.learn(0.5, 0, cut), samples.learn(0.5, cut, 300)
        merged = second.merge(first)
        assert merged.fronts.same(whole.fronts)
        counts = merged.samples, merged.reliable, merged.smallest
        assert counts == (whole.samples, whole.reliable, whole.smallest)
    nabla = np.full(300, np.nan)
    system = SampleSystems(samples.degrees, samples.target, samples.partition)
    system.nabla = nabla
    system.measure(100, 250)
    assert nabla[100:250].tolist() == samples.nabla[100:250].tolist()
    assert np.isnan(nabla[:100]).all()
    assert np.isnan(nabla[250:]).all()


def test_chunks_cover_all_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    a, b = Attribute("a", range(4)), Attribute("b", range(3))
    rules = RuleSet([Iff(a.isin({i, 3})).then(b.isin({i})) for i in range(3)])
    evidence, targets = {"a": random_batch(rng, 300, 4)}, random_batch(rng, 300, 3)
    whole = learn(rules, evidence, targets, tolerance=0.6)["b"]
    for chunk in (1, 7, 299, 300, 1000):
        monkeypatch.setattr(sample_passes, "CHUNK", chunk)
        one = learn(rules, evidence, targets, tolerance=0.6)["b"]
        assert np.array_equal(np.asarray(one.nabla), np.asarray(whole.nabla))
        assert one.lowest.tolist() == whole.lowest.tolist()
        assert (one.n_reliable, one.distance) == (whole.n_reliable, whole.distance)


@pytest.mark.parametrize("graded", [True, False])
def test_rules_that_conclude_on_the_whole_domain(graded: bool) -> None:
    """One side of such a rule has no cells; with nothing else there is one cell."""
    attribute = Attribute("b", range(3))
    target = Target.of([[1.0, 0.5, 0.0]] if graded else [0], attribute)
    for masks in ((7,), (7, 7), (7, 1), (7, 1, 7)):
        partition = partition_of(3, masks)
        degrees = np.full((2 * len(masks), 1), 0.25)
        samples = Samples(partition, degrees, target)
        summary = samples.learn()
        distance = samples.stacked(summary.fronts)
        (equations,) = samples.equations
        assert samples.nabla.tolist() == [equations.distance]
        assert distance == 0.0
        solution = equations.lowest_approximate_solution
        assert summary.fronts.solution(distance).tolist() == solution.tolist()
