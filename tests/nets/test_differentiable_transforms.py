"""The transformations with gradients are those without."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinesy import transforms as plain
from strategies import distributions, probabilities

torch = pytest.importorskip("torch")

from pinesy.nets import differentiable_transforms as gradients  # noqa: E402

PAIRS = [
    (gradients.antipignistic, plain.antipignistic),
    (gradients.minimum_specificity, plain.minimum_specificity),
]


@pytest.mark.parametrize(("ours", "known"), PAIRS)
@given(counts=probabilities())
def test_probabilities(ours: Callable, known: Callable, counts: list[int]) -> None:  # type: ignore[type-arg]
    p = np.array(counts) / sum(counts)
    found = ours(torch.from_numpy(p)).numpy()
    assert np.array_equal(found, known(p))
    assert found.max() == 1.0


@pytest.mark.parametrize(("ours", "known"), PAIRS)
@pytest.mark.parametrize("m", [5, 8, 10, 17, 128, 130, 300])
def test_the_same_bits(ours: Callable, known: Callable, m: int) -> None:  # type: ignore[type-arg]
    """Sums that are a little off 1 are divided by; they are added up in one order."""
    rng = np.random.default_rng(m)
    p = rng.dirichlet(np.full(m, 0.5), size=40) * rng.uniform(0.99995, 1.00005, (40, 1))
    assert np.array_equal(ours(torch.from_numpy(p)).numpy(), known(p))


@given(pi=st.integers(1, 8).flatmap(distributions))
def test_the_inverse(pi: list[float]) -> None:
    found = gradients.antipignistic_inverse(torch.tensor(pi, dtype=torch.float64)).numpy()
    assert np.array_equal(found, plain.antipignistic_inverse(np.array(pi)))


@pytest.mark.parametrize("ours", [pair[0] for pair in PAIRS])
def test_gradients_of_probabilities(ours: Callable) -> None:  # type: ignore[type-arg]
    torch.manual_seed(0)
    scores = torch.randn(5, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: ours(torch.softmax(x, dim=1)), (scores,))


def test_gradients_of_the_inverse() -> None:
    torch.manual_seed(0)
    pi = torch.rand(5, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(gradients.antipignistic_inverse, (pi,))


def test_the_inverse_gives_the_probabilities_back() -> None:
    torch.manual_seed(0)
    p = torch.softmax(torch.randn(4, 3, 7, dtype=torch.float64), dim=-1)
    back = gradients.antipignistic_inverse(gradients.antipignistic(p))
    assert torch.allclose(back, p, atol=1e-15, rtol=0)


def test_float32_stays() -> None:
    p = torch.tensor([[0.5, 0.3, 0.2]])
    for change in (gradients.antipignistic, gradients.antipignistic_inverse):
        assert change(p).dtype == torch.float32
