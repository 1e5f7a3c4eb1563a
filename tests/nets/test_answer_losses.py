"""Losses against their formulas."""

import math
from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from pinesy import Attribute, Cascade, Iff, RuleSet
from pinesy.exceptions import CascadeError, DataError, DomainError, UnknownAttributeError
from pinesy.transforms import antipignistic_inverse
from strategies import random_batch

torch = pytest.importorskip("torch")

from pinesy.nets import (  # noqa: E402
    EntropyLoss,
    RuleLayer,
    answer_loss,
    belief_loss,
    soft_label_loss,
)

X = Attribute("x", [0, 1])
#: Values are not their positions.
A, B, C = Attribute("a", [7, 8, 9]), Attribute("b", [4, 3, 2, 1, 0]), Attribute("c", list("uvw"))
RULES = Cascade(*(RuleSet([Iff(X.isin({0})).then(a.isin({a.domain[0]}))]) for a in (A, B, C)))


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
    values = {n: [RULES.attributes[n].domain[i] for i in at] for n, at in answers.items()}
    forms: list[Any] = [
        values,
        {RULES.attributes[name]: given for name, given in values.items()},
        {**values, "a": np.array(values["a"]), "b": torch.tensor(values["b"])},
    ]
    for form in forms:
        loss = answer_loss(RULES, outputs, form)
        assert loss.item() == pytest.approx(expected, rel=1e-12)


def test_only_attributes_with_answers_count() -> None:
    outputs = {"a": torch.tensor([[1.0, 0.5, 0.0]]), "c": torch.tensor([[1.0, 1.0, 0.2]])}
    loss = answer_loss(RULES, outputs, {"a": [8]})
    assert loss.item() == pytest.approx(-math.log(0.25))
    with raises_saying(DataError, "no answers to learn from"):
        answer_loss(RULES, outputs, {})


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
    pi = torch.tensor([[1.0, 1e-13, 0.0]], dtype=torch.float64, requires_grad=True)
    answer_loss(RULES["c"], {"c": pi}, {"c": ["v"]}).backward()  # type: ignore[no-untyped-call]
    assert pi.grad is not None
    assert pi.grad[0, 1] < -1e12


@pytest.mark.parametrize(
    ("answers", "error", "says"),
    [
        ([7, 8], DataError, ["answers: 'a' has 2 values; give 3 values"]),
        (torch.tensor([7, 8]), DataError, ["answers: 'a' has 2 values; give 3 values"]),
        (np.ones((3, 3)), DataError, ["answers: 'a' has 3 distributions; give 3 values"]),
        (torch.tensor([7, 0, 8]), DomainError, ["the target of 'a', row 1", "no value 0", "7, 8"]),
        ([7, 8, "x"], DomainError, ["the target of 'a', row 2", "'x'"]),
        (7, DataError, ["the target of 'a' is 7", "one value"]),
    ],
)
def test_answers_that_fit_no_output(answers: Any, error: Any, says: list[str]) -> None:
    with raises_saying(error, *says):
        answer_loss(RULES, {"a": torch.ones(3, 3)}, {"a": answers})


def test_an_answer_for_no_output() -> None:
    with raises_saying(DataError, "outputs is tensor", "give a mapping"):
        answer_loss(RULES, torch.ones(1, 2), torch.tensor([0]))
    for name in ("b", "d"):
        with raises_saying(UnknownAttributeError, f"an answer for '{name}', which is no output"):
            answer_loss(RULES, {"a": torch.ones(1, 3)}, {name: [0]})
    with raises_saying(CascadeError, "rules are a RuleSet or a Cascade"):
        answer_loss({"a": torch.ones(1, 3)}, {"a": torch.ones(1, 3)}, {"a": [7]})  # type: ignore[arg-type]


def test_the_entropy_of_what_is_read() -> None:
    layer = RuleLayer(RULES, semantics="probabilistic")
    p: Any = {"x": torch.tensor([[0.9, 0.1], [0.3, 0.7]], dtype=torch.float64)}
    answers = {"a": [7, 8]}
    plain = belief_loss(layer, p, answers)
    entropy = -(0.6 * math.log(0.6) + 0.4 * math.log(0.4))
    found = EntropyLoss("beliefs", weight=3.0)(layer, p, answers)
    assert found.item() == pytest.approx(plain.item() - 3.0 * entropy)
    alike = {"x": torch.tensor([[1.0, 0.0]], requires_grad=True)}
    EntropyLoss("beliefs", 1.0)(layer, alike, {"a": [7]}).backward()  # type: ignore[no-untyped-call]
    assert torch.isfinite(alike["x"].grad).all()
