"""Losses against their formulas."""

import math
from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from pinesy.exceptions import DataError, UnknownAttributeError
from pinesy.transforms import antipignistic_inverse
from strategies import random_batch

torch = pytest.importorskip("torch")

from pinesy.nets import answer_loss, soft_label_loss  # noqa: E402


def test_the_loss_of_answers_is_the_sum_over_attributes() -> None:
    rng = np.random.default_rng(0)
    sizes = {"a": 3, "b": 5, "c": 3}
    pi = {name: random_batch(rng, 20, size) for name, size in sizes.items()}
    answers = {name: rng.integers(0, size, 20) for name, size in sizes.items()}
    expected = 0.0
    for name in sizes:
        q = antipignistic_inverse(pi[name])[np.arange(20), answers[name]]
        expected -= sum(math.log(max(x, 1e-30)) for x in q) / 20
    outputs: Any = {name: torch.from_numpy(x) for name, x in pi.items()}
    found = answer_loss(outputs, {n: torch.from_numpy(t) for n, t in answers.items()})
    assert found.item() == pytest.approx(expected, rel=1e-12)


def test_only_attributes_with_answers_count() -> None:
    outputs = {"a": torch.tensor([[1.0, 0.5]]), "b": torch.tensor([[1.0, 1.0, 0.2]])}
    found = answer_loss(outputs, {"a": torch.tensor([1])})
    assert found.item() == pytest.approx(-math.log(0.25))
    with raises_saying(DataError, "no answers to learn from"):
        answer_loss(outputs, {})


def test_soft_labels() -> None:
    scores = torch.tensor([[1.0, 2.0], [0.5, -0.5]])
    labels = torch.tensor([[0.25, 0.75], [1.0, 0.0]], dtype=torch.float64)
    p = torch.softmax(scores, dim=1).double()
    expected = -(labels * p.log()).sum(dim=1).mean()
    assert soft_label_loss(scores, labels).item() == pytest.approx(expected.item(), rel=1e-6)


def test_weights_of_soft_labels() -> None:
    scores = torch.tensor([[0.0, 0.0], [0.0, math.log(3.0)]], dtype=torch.float64)
    labels = torch.tensor([[1.0, 0.0], [0.25, 0.75]])
    each = [math.log(2.0), -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))]
    assert soft_label_loss(scores, labels).item() == pytest.approx(sum(each) / 2)
    weighed = soft_label_loss(scores, labels, torch.tensor([0.5, 0.0]))
    assert weighed.item() == pytest.approx(each[0] / 4)


def test_a_sure_error_has_a_gradient() -> None:
    pi = torch.tensor([[1.0, 1e-13]], dtype=torch.float64, requires_grad=True)
    answer_loss({"b": pi}, {"b": torch.tensor([1])}).backward()  # type: ignore[no-untyped-call]
    assert pi.grad is not None
    assert pi.grad[0, 1] < -1e12


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ([0, 1, 0], "the answers for 'b' are of type list"),
        (np.array([0, 1, 0]), "the answers for 'b' are of type ndarray"),
        (torch.tensor([0.0, 1.0, 0.0]), "the answers for 'b' are of type torch.float32"),
        (torch.tensor([0, 1]), "the answers for 'b' have shape (2,), and there are 3 samples"),
        (torch.tensor([[0], [1], [0]]), "the answers for 'b' have shape (3, 1)"),
        (torch.tensor([0, 7, 0]), "the answer for 'b', row 1, is 7; the domain has the positions"),
        (torch.tensor([0, 0, -1]), "the answer for 'b', row 2, is -1"),
    ],
)
def test_answers_that_fit_no_output(answers: Any, says: str) -> None:
    with raises_saying(DataError, says):
        answer_loss({"b": torch.ones(3, 2)}, {"b": answers})


def test_an_answer_for_no_output() -> None:
    with raises_saying(DataError, "outputs and answers are mappings"):
        answer_loss(torch.ones(1, 2), torch.tensor([0]))
    with raises_saying(UnknownAttributeError, "an answer for 'c', which is no output"):
        answer_loss({"b": torch.ones(1, 2)}, {"c": torch.tensor([0])})
