"""Rules as a layer in several semantics: as `infer`, with gradients, and losses of answers."""

import math
from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from pinesy import Attribute, Cascade, If, RuleSet, parse
from pinesy.exceptions import DataError, DegreeError, DomainError, RuleSetError
from pinesy.problems import addition
from pinesy.semantics import SEMANTICS

torch = pytest.importorskip("torch")

from pinesy.nets import RuleLayer, answer_loss, belief_loss  # noqa: E402

LOOP = parse("""
    attribute a in {0, 1, 2}
    attribute e in {0, 1}
    attribute b in {0, 1}
    attribute c in {0, 1}
    attribute d in {0, 1, 2}
    iff a in {0, 1} then b in {1}
    if a in {1} and e in {1} then c in {1}
    iff b in {1} and c in {0} then d in {0}
    iff b in {0} then d in {2}
""")
OTHERS = [name for name in SEMANTICS if name != "possibilistic"]


def drawn(rules: Cascade, n: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        a.name: torch.tensor(rng.dirichlet(np.ones(len(a.domain)), size=n)) for a in rules.inputs
    }


@pytest.mark.parametrize("rules", [LOOP, addition(2)], ids=["loop", "addition"])
@pytest.mark.parametrize("semantics", SEMANTICS)
def test_the_layer_infers_as_infer_does(rules: Cascade, semantics: Any) -> None:
    p = drawn(rules, 5)
    arrays = {name: x.numpy() for name, x in p.items()}
    layer = RuleLayer(rules, semantics=semantics)
    found = layer(p)
    if semantics == "possibilistic":
        possible = rules.infer(arrays, transform="antipignistic")
        wanted = {name: pi.degrees for name, pi in possible.items()}
    else:
        wanted = {n: w.weights for n, w in rules.infer(arrays, semantics=semantics).items()}
    assert found.keys() == wanted.keys()
    for name, x in found.items():
        np.testing.assert_allclose(x.numpy(), wanted[name], rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(layer.as_probabilities(found)[name].sum(dim=1), 1.0)


@pytest.mark.parametrize("semantics", OTHERS)
def test_gradients_are_those_of_differences(semantics: str) -> None:
    layer = RuleLayer(LOOP, semantics=semantics)
    p = drawn(LOOP, 3, seed=1)
    scores = [x.log().requires_grad_() for x in p.values()]

    def weights(*scores: Any) -> Any:
        return layer({n: torch.softmax(s, 1) for n, s in zip(p, scores, strict=True)})["d"]

    assert torch.autograd.gradcheck(weights, scores, eps=1e-7, atol=1e-5)

    def loss(*scores: Any) -> Any:
        seen = {n: torch.softmax(s, 1) for n, s in zip(p, scores, strict=True)}
        return belief_loss(layer, seen, {"d": [0, 1, 2], "b": [1, 1, 0]})

    assert torch.autograd.gradcheck(loss, scores, eps=1e-7, atol=1e-5)


def test_the_likelihood_of_a_sum_of_long_numbers_does_not_vanish() -> None:
    """A network that knows nothing: every sum of k digits has the probability of its worlds."""
    k = 100
    rules = addition(k)
    layer = RuleLayer(rules, semantics="probabilistic")
    scores = torch.zeros(1, 10, requires_grad=True)
    p = {a.name: torch.softmax(scores, dim=1) for a in rules.inputs}
    nines = {"y_0": [1], **{f"y_{i}": [9] for i in range(1, k)}, f"y_{k}": [8]}
    loss = belief_loss(layer, p, nines)  # 99...9 + 99...9 in one way only
    assert loss.item() == pytest.approx(2 * k * math.log(10), rel=1e-5)
    loss.backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None
    assert scores.grad[0, 9] < -100.0


def test_beliefs_are_posteriors() -> None:
    """The gradient of the likelihood by scores is the belief less its posterior."""
    layer = RuleLayer(addition(1), semantics="probabilistic")
    scores = torch.randn(2, 10, generator=torch.manual_seed(0)).double().requires_grad_()
    p = torch.softmax(scores, dim=1)
    both = {"a_1": p[:1], "a_2": p[1:]}
    loss = belief_loss(layer, both, {"y_0": [1], "y_1": [7]})
    loss.backward()  # type: ignore[no-untyped-call]
    joint = p[0].detach()[:, None] * p[1].detach()
    joint = joint * torch.tensor([[u + v == 17 for v in range(10)] for u in range(10)])
    posterior = joint.sum(dim=1) / joint.sum()
    assert scores.grad is not None
    torch.testing.assert_close(scores.grad[0], p[0].detach() - posterior, atol=1e-7, rtol=1e-6)


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_losses_take_values_and_are_least_where_answers_are_sure(semantics: str) -> None:
    layer = RuleLayer(addition(1), semantics=semantics)
    sure = {"a_1": torch.eye(10)[[3]], "a_2": torch.eye(10)[[4]]}
    right, wrong = {"y_0": [0], "y_1": torch.tensor([7])}, {"y_0": [1], "y_1": [7]}
    assert answer_loss(layer, layer(sure), right).item() == pytest.approx(0.0, abs=1e-6)
    assert belief_loss(layer, sure, right).item() == pytest.approx(0.0, abs=1e-6)
    assert belief_loss(layer, sure, wrong).item() > 5.0
    assert answer_loss(layer, layer(sure), wrong).item() > 5.0


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_answers_that_nothing_gives_are_refused(semantics: str) -> None:
    layer = RuleLayer(LOOP, semantics=semantics)
    with raises_saying(DataError, "sample 1: no reading gives its answers (b = 0, d = 0"):
        belief_loss(layer, drawn(LOOP, 2), {"b": [1, 0], "d": [0, 0]})
    with raises_saying(DomainError, "answers"):
        belief_loss(layer, drawn(LOOP, 2), {"d": [0, 7]})


def test_what_cannot_be_used_is_refused() -> None:
    uncertain = Cascade(
        RuleSet(
            [If(Attribute("x", [0, 1]).isin({1})).then(Attribute("y", [0, 1]).isin({1}), r=0.5)]
        )
    )
    with raises_saying(RuleSetError, "r = 0.5"):
        RuleLayer(uncertain, semantics="mpe")
    assert RuleLayer(uncertain).possibilistic is not None
    with raises_saying(DomainError, "'fuzzy'", "goedel"):
        RuleLayer(LOOP, semantics="fuzzy")
    layer = RuleLayer(LOOP, semantics="goedel")
    with raises_saying(DegreeError, "softmax"):
        layer({"a": torch.ones(1, 3), "e": torch.tensor([[0.5, 0.5]])})


def test_one_type_of_numbers_and_empty_batches() -> None:
    layer = RuleLayer(LOOP, semantics="probabilistic")
    p = {name: x.float() for name, x in drawn(LOOP, 2).items()}
    assert layer(p)["d"].dtype == torch.float32
    assert layer({name: x[:0] for name, x in p.items()})["d"].shape == (0, 3)
