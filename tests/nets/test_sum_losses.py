"""Probabilities of sums against fractions and enumeration."""

from fractions import Fraction
from itertools import product
from math import log, prod
from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from pinesy.exceptions import DataError

torch = pytest.importorskip("torch")

from pinesy.nets import sum_log_probability, sum_loss, sum_probabilities  # noqa: E402

pytestmark = pytest.mark.torch


def distributions(rows: int, n: int, m: int, peak: float, seed: int = 0) -> Any:
    """Return random distributions; the larger the peak, the nearer to one value."""
    generator = torch.Generator().manual_seed(seed)
    scores = peak * torch.randn(rows, n, m, generator=generator, dtype=torch.float64)
    return scores.softmax(dim=2)


def exact_sums(p: Any) -> list[Fraction]:
    """Return the probabilities of all sums of inputs (n, m), in fractions."""
    sums = [Fraction(1)]
    for row in p.tolist():
        factor, longer = [Fraction(x) for x in row], [Fraction(0)] * (len(sums) + len(row) - 1)
        for i, a in enumerate(sums):
            for v, b in enumerate(factor):
                longer[i + v] += a * b
        sums = longer
    return sums


def exact_log(x: Fraction) -> float:
    """Return the logarithm of a fraction that may be too small for a float."""
    return log(x.numerator) - log(x.denominator)


@pytest.mark.parametrize("peak", [1.0, 6.0, 30.0])
@pytest.mark.parametrize(("n", "m"), [(1, 10), (3, 4), (12, 10), (40, 3)])
def test_probabilities_of_all_sums_are_those_of_fractions(n: int, m: int, peak: float) -> None:
    p = distributions(1, n, m, peak)
    expected = exact_sums(p[0])
    totals = torch.arange(len(expected))
    logs = sum_log_probability(p.expand(len(totals), n, m), totals)
    assert logs.tolist() == pytest.approx([exact_log(x) for x in expected], rel=1e-11, abs=1e-11)
    sums = sum_probabilities(p)[0]
    assert sums.tolist() == pytest.approx([float(x) for x in expected], abs=1e-14)


def test_a_long_sum_far_from_its_mean() -> None:
    n = 300
    weights = np.random.default_rng(0).multinomial(1021, [0.6, 0.3, 0.1], size=n) + 1  # of 1024
    sums = [1]
    for row in weights.tolist():
        padded = [0, 0, *sums, 0, 0]
        sums = [sum(row[v] * padded[s + 2 - v] for v in range(3)) for s in range(len(sums) + 2)]
    p = torch.from_numpy(weights / 1024.0)[None]
    totals = torch.tensor([0, 40, 100, 150, 500, 600])
    logs = sum_log_probability(p.expand(len(totals), n, 3), totals)
    assert logs[-1] < -650.0
    expected = [log(sums[s]) - n * log(1024) for s in totals.tolist()]
    assert logs.tolist() == pytest.approx(expected, rel=1e-11)


def test_the_gradient_times_the_probability_is_the_posterior() -> None:
    p = distributions(1, 4, 3, 1.5).requires_grad_()
    logs: Any = sum_log_probability(p, torch.tensor([5]))
    logs.sum().backward()
    weights = np.zeros((4, 3))
    for world in product(range(3), repeat=4):
        if sum(world) == 5:
            weight = prod(p[0, i, v].item() for i, v in enumerate(world))
            weights[range(4), world] += weight
    assert (p * p.grad)[0].tolist() == pytest.approx(weights / weights.sum(axis=1, keepdims=True))


def test_posteriors_of_a_long_sum_add_up_to_it() -> None:
    p = distributions(3, 200, 10, 3.0).requires_grad_()
    totals = torch.tensor([500, 900, 1500])
    logs: Any = sum_log_probability(p, totals)
    logs.sum().backward()
    posterior = (p * p.grad).detach()
    assert posterior.sum(dim=2).numpy() == pytest.approx(np.ones((3, 200)), rel=1e-10)
    means = (posterior @ torch.arange(10.0, dtype=torch.float64)).sum(dim=1)
    assert means.tolist() == pytest.approx(totals.tolist(), rel=1e-10)


def test_a_sum_between_those_that_are_probable() -> None:
    """All values but tiny ones are even, so that the transform of an odd total cancels."""
    p = torch.full((1, 9, 3), 1e-12, dtype=torch.float64)
    p[:, :, ::2] = 0.5
    expected = exact_log(exact_sums(p[0])[7])
    assert sum_log_probability(p, torch.tensor([7])).item() == pytest.approx(expected, rel=1e-12)


def test_an_impossible_total_has_no_probability_but_a_loss() -> None:
    p = torch.tensor([[[1.0, 0.0], [1.0, 0.0]]])
    assert sum_log_probability(p, torch.tensor([2])).item() == -float("inf")
    assert sum_loss(p, torch.tensor([2])).item() == pytest.approx(-2 * log(0.5e-9))


def test_the_loss_is_differentiable_in_the_type_of_the_scores() -> None:
    scores: Any = torch.zeros(2, 5, 10, requires_grad=True)
    loss: Any = sum_loss(scores.softmax(dim=2), torch.tensor([0, 45]))
    loss.backward()
    assert scores.grad is not None
    assert scores.grad.dtype == torch.float32
    assert scores.grad[0, 0].argmin() == 0
    assert scores.grad[1, 0].argmin() == 9


def test_bad_input() -> None:
    p = torch.full((2, 3, 4), 0.25)
    with raises_saying(DataError, "10", "0 to 9"):
        sum_log_probability(p, torch.tensor([1, 10]))
    with raises_saying(DataError, "float", "2 rows"):
        sum_loss(p, torch.tensor([1.0, 2.0]))
    with raises_saying(DataError, "(2, 3)"):
        sum_probabilities(p[..., 0])
