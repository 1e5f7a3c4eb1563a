"""What PyTorch does with a layer: derivatives of any order, vmap, export, empty batches, states."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messages import raises_saying
from pinesy import Attribute, Cascade, Iff, RuleSet, antipignistic, parse
from pinesy.exceptions import DataError
from pinesy.problems import addition

torch = pytest.importorskip("torch")

from pinesy.nets import PossibilisticLayer  # noqa: E402

#: PyTorch's own, on the way to forward derivatives and to exported graphs.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit.script"),
    pytest.mark.filterwarnings("ignore:.*should not be instantiated"),
]

RULES = parse("""
    attribute sky in {clear, cloudy, dark}
    attribute wind in {weak, strong}
    attribute rain in {no, yes}
    attribute walk in {no, yes}
    iff sky in {dark} then rain in {yes} [s=0.3, r=0.2]
    iff sky in {clear} and wind in {weak} then rain in {no} [s=0.15, r=0.05]
    iff rain in {no} and wind in {weak} then walk in {yes} [s=0.07, r=0.1]
""")
WAYS = [(False, False), (False, True), (True, False), (True, True)]


def layer_of(trainable: bool, by_groups: bool) -> PossibilisticLayer:
    layer = PossibilisticLayer(RULES, transform="antipignistic", trainable=trainable)
    if by_groups:  # as on other devices
        layer._can_use_engine = lambda values: not values  # type: ignore[method-assign]
    return layer


def scores(*shape: int) -> list[Any]:
    torch.manual_seed(1)
    return [torch.randn(*shape, n, dtype=torch.float64) for n in (3, 2)]


def walk(layer: Any, sky: Any, wind: Any) -> Any:
    return layer({"sky": torch.softmax(sky, dim=-1), "wind": torch.softmax(wind, dim=-1)})["walk"]


@pytest.mark.parametrize("way", WAYS)
def test_first_and_second_derivatives(way: tuple[bool, bool]) -> None:
    layer = layer_of(*way)
    inputs = tuple(x.requires_grad_() for x in scores(3))
    inputs += tuple(layer.parameters())

    def result(sky: Any, wind: Any, *parameters: Any) -> Any:
        named = dict(zip(("s", "r"), parameters, strict=False))
        p = {"sky": torch.softmax(sky, dim=1), "wind": torch.softmax(wind, dim=1)}
        return torch.func.functional_call(layer, named, (p,))["walk"]

    assert torch.autograd.gradcheck(result, inputs)
    assert torch.autograd.gradgradcheck(result, inputs)


@pytest.mark.parametrize("way", WAYS)
def test_transforms_of_functions(way: tuple[bool, bool]) -> None:
    layer, (sky, wind) = layer_of(*way), scores(4, 3)

    def loss(one: Any, two: Any) -> Any:
        return walk(layer, one, two).square().sum()

    gradient = torch.func.grad(loss)
    each = torch.stack([gradient(*pair) for pair in zip(sky, wind, strict=True)])
    assert torch.allclose(torch.vmap(gradient)(sky, wind), each)
    found = torch.vmap(loss, in_dims=(0, None))(sky, wind[0])
    assert torch.allclose(found, torch.stack([loss(one, wind[0]) for one in sky]))
    forward = torch.func.jacfwd(loss)(sky[0], wind[0])
    assert torch.allclose(forward, gradient(sky[0], wind[0]))
    assert torch.func.hessian(loss)(sky[0], wind[0]).shape == (3, 3, 3, 3)


def test_gradients_of_parameters_for_each_sample() -> None:
    layer, (sky, wind) = layer_of(True, False), scores(4, 1)

    def loss(parameters: Any, one: Any, two: Any) -> Any:
        p = {"sky": torch.softmax(one, dim=1), "wind": torch.softmax(two, dim=1)}
        return torch.func.functional_call(layer, parameters, (p,))["walk"].square().sum()

    own, gradient = dict(layer.named_parameters()), torch.func.grad(loss)
    found = torch.vmap(gradient, in_dims=(None, 0, 0))(own, sky, wind)
    for i in range(4):
        for name, one in gradient(own, sky[i], wind[i]).items():
            assert torch.allclose(found[name][i], one)


@pytest.mark.parametrize("way", WAYS)
def test_an_empty_batch(way: tuple[bool, bool]) -> None:
    layer, inputs = layer_of(*way), [x.requires_grad_() for x in scores(0)]
    found = walk(layer, *inputs)
    found.sum().backward()
    assert found.shape == (0, 2)
    assert inputs[0].grad.shape == (0, 3)


def test_it_can_be_exported() -> None:
    layer, n = PossibilisticLayer(RULES), torch.export.Dim("n")
    inputs = {"sky": torch.ones(4, 3), "wind": torch.ones(4, 2)}
    shapes = ({"sky": {0: n}, "wind": {0: n}},)
    exported = torch.export.export(layer, (inputs,), dynamic_shapes=shapes).module()
    other = {"sky": torch.tensor([[0.2, 1.0, 0.4]] * 7), "wind": torch.tensor([[1.0, 0.5]] * 7)}
    assert torch.equal(exported(other)["walk"], layer(other)["walk"])


def test_trainable_layers_give_the_bits_of_the_engine() -> None:
    layer = PossibilisticLayer(RULES, trainable=True)
    x = {"sky": np.array([[0.1, 1.0, 0.3], [1.0, 0.2, 0.7]]), "wind": np.array([[1.0, 0.4]] * 2)}
    found = layer({name: torch.tensor(rows) for name, rows in x.items()})["walk"]
    assert (found.detach().numpy() == RULES.infer(x)["walk"].degrees).all()


@pytest.mark.parametrize("trainable", [False, True])
def test_layers_with_a_transformation_give_the_bits_of_the_engine(trainable: bool) -> None:
    rules = addition(1)
    p = np.random.default_rng(0).dirichlet(np.full(10, 0.5), size=(2, 200))
    layer = PossibilisticLayer(rules, transform="antipignistic", trainable=trainable)
    found = layer({"a_1": torch.from_numpy(p[0]), "a_2": torch.from_numpy(p[1])})["y_1"]
    expected = rules.infer({"a_1": antipignistic(p[0]), "a_2": antipignistic(p[1])})["y_1"].degrees
    assert np.array_equal(found.detach().numpy(), expected)


def of_possibilities(trainable: bool, by_groups: bool) -> PossibilisticLayer:
    layer = layer_of(trainable, by_groups)
    layer.transform = None
    return layer


LAYERS = [of_possibilities(*way) for way in WAYS]


@given(st.lists(st.sampled_from([0.0, 0.05, 0.2, 0.3, 0.6, 1.0]), min_size=5, max_size=5))
@settings(max_examples=15)
def test_the_gradient_of_a_degree_is_spread_over_what_is_equal_to_it(degrees: list[float]) -> None:
    """The shares of a tie may differ from layer to layer; without a tie there is only one way."""
    whole = np.array([*degrees])
    whole[[0, 3]] = 1.0  # normalised
    for u in range(2):
        parts = []
        for layer in LAYERS:
            x = torch.tensor(whole[None], requires_grad=True)
            walk = layer({"sky": x[:, :3], "wind": x[:, 3:]})["walk"][0, u]
            known = [x, *layer.parameters()]
            shares = torch.autograd.grad(walk, known, allow_unused=True)
            for z, share in zip(known, shares, strict=True):
                assert share is None or not share[z != walk].any()
                assert share is None or (share >= 0.0).all()
            parts.append(shares[0].ravel())
            assert sum(float(share.sum()) for share in shares if share is not None) <= 1 + 1e-12
        numbers = [*whole, *(z for s in RULES.rule_sets for z in (*s.s, *s.r))]
        if numbers.count(walk.item()) == 1:
            assert all(torch.equal(part, parts[0]) for part in parts)


def test_rules_of_formulas_are_not_trained() -> None:
    a, b = Attribute("a", [0, 1, 2]), Attribute("b", [0, 1])
    rules = Cascade(RuleSet([Iff(a.isin({0}) | (a.isin({1}) & b.isin({1}))).then(
        Attribute("c", [0, 1]).isin({1}), s=0.2, r=0.1)]))  # fmt: skip
    layer = PossibilisticLayer(rules, trainable=True)
    assert len(layer.s) == 1
    assert layer.learned() == rules


# --- states ------------------------------------------------------------------------------------


def test_the_state_is_parameters() -> None:
    assert PossibilisticLayer(RULES).state_dict() == {}
    state = PossibilisticLayer(RULES, trainable=True).state_dict()
    assert {name: tuple(t.shape) for name, t in state.items()} == {
        "s": (3,),
        "r": (3,),
        "rules_id": (),
    }
    other = PossibilisticLayer(RULES.with_parameters({"rain": ([0, 0], [0, 0])}), trainable=True)
    other.load_state_dict(state)  # rules that differ in parameters only
    assert other.learned() == RULES


def test_states_of_other_layers() -> None:
    state = PossibilisticLayer(RULES, trainable=True).state_dict()
    with raises_saying(DataError, "of other rules (3 in number, here 2)", "saved with"):
        PossibilisticLayer(RULES["rain"], trainable=True).load_state_dict(state)
    with raises_saying(DataError, "of other rules (3 in number, here 3)"):
        renamed = RULES.rename({"walk": "stroll"})
        PossibilisticLayer(renamed, trainable=True).load_state_dict(state)
    with raises_saying(DataError, "are fixed; make it with trainable=True"):
        PossibilisticLayer(RULES).load_state_dict(state)
    with raises_saying(DataError, "an earlier version"):
        PossibilisticLayer(RULES).load_state_dict({"groups.0.s": torch.zeros(1, 1)})
