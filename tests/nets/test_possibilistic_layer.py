"""A cascade as a layer: the engine's bits, and gradients that finite differences confirm."""

import gc
import math
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from messages import raises_saying
from pinesy import Attribute, Cascade, Iff, RuleSet, parse
from pinesy.exceptions import (
    CascadeError,
    DegreeError,
    DomainError,
    ShapeError,
    UnknownAttributeError,
)
from pinesy.problems import addition, sudoku
from strategies import cascades, random_batch

torch = pytest.importorskip("torch")

from pinesy.nets import PossibilisticLayer  # noqa: E402

WEATHER = parse("""
    attribute sky in {clear, cloudy, dark}
    attribute wind in {weak, strong}
    attribute rain in {no, yes}
    attribute walk in {no, yes}
    iff sky in {dark} then rain in {yes} [s=0.3, r=0.2]
    iff sky in {clear} and wind in {weak} then rain in {no} [s=0.15]
    iff rain in {no} and wind in {weak} then walk in {yes} [r=0.1]
""")


def step_by_step(cascade: Cascade, **options: Any) -> PossibilisticLayer:
    """Return a layer that works with PyTorch's operations only, as on other devices."""
    layer = PossibilisticLayer(cascade, **options)
    layer._can_use_engine = lambda values: not values  # type: ignore[method-assign]
    return layer


def drawn(cascade: Cascade, n: int, seed: int = 0, grid: int = 10) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {a.name: random_batch(rng, n, len(a.domain), grid) for a in cascade.inputs}


def tensors(inputs: Mapping[str, Any], grad: bool = False) -> dict[str, Any]:
    return {name: torch.tensor(x, requires_grad=grad) for name, x in inputs.items()}


def check_bits(layer: PossibilisticLayer, cascade: Cascade, inputs: Mapping[str, Any]) -> None:
    found, known = layer(tensors(inputs)), cascade.infer(inputs)
    assert set(found) == set(known)
    for name in known:
        assert (found[name].numpy() == known[name].degrees).all()


@given(cascade=cascades(), seed=st.integers(0, 99))
def test_any_cascade_gives_the_bits_of_the_engine(cascade: Cascade, seed: int) -> None:
    inputs = drawn(cascade, 5, seed)
    check_bits(PossibilisticLayer(cascade), cascade, inputs)
    check_bits(step_by_step(cascade), cascade, inputs)


@pytest.mark.parametrize("cascade", [addition(1), addition(3), sudoku(4)], ids=repr)
def test_the_papers_problems_give_the_bits_of_the_engine(cascade: Cascade) -> None:
    inputs = drawn(cascade, 40, grid=1000)
    check_bits(PossibilisticLayer(cascade), cascade, inputs)
    check_bits(step_by_step(cascade), cascade, inputs)


@given(cascade=cascades(), seed=st.integers(0, 99))
def test_gradients_are_those_of_finite_differences(cascade: Cascade, seed: int) -> None:
    """Away from ties; the top of a distribution is held at 1, as normalisation wants."""
    rng = np.random.default_rng(seed)
    inputs = {}
    for a in cascade.inputs:  # all degrees differ from each other and from parameters
        x = rng.uniform(0.001, 0.999, (1, len(a.domain)))
        x[0, rng.integers(len(a.domain))] = 1.0
        inputs[a.name] = x
    layer = PossibilisticLayer(cascade)
    names = list(layer(tensors(inputs)))
    weights = {name: rng.normal(size=len(cascade.attributes[name].domain)) for name in names}
    given = tensors(inputs, grad=True)
    total = sum((layer(given)[n] @ torch.tensor(w)).sum() for n, w in weights.items())
    if total.requires_grad:  # else no input matters
        total.backward()
    for name, x in inputs.items():
        grad = given[name].grad
        for place in np.flatnonzero(x[0] < 1.0):
            slope = _slope(cascade, inputs, weights, name, int(place))
            found = 0.0 if grad is None else float(grad[0, place])
            assert found == pytest.approx(slope, abs=1e-6)


def _slope(cascade: Cascade, inputs: Any, weights: Any, name: str, place: int) -> float:
    totals = []
    for step in (1e-7, -1e-7):
        moved = {key: x.copy() for key, x in inputs.items()}
        moved[name][0, place] += step
        found = cascade.infer(moved)
        totals.append(sum(float(found[n].degrees[0] @ w) for n, w in weights.items()))
    return (totals[0] - totals[1]) / 2e-7


@pytest.mark.parametrize("cascade", [WEATHER, addition(2), sudoku(4)], ids=repr)
def test_both_ways_have_the_same_gradients(cascade: Cascade) -> None:
    rng = np.random.default_rng(0)
    inputs = {}
    for a in cascade.inputs:
        x = rng.uniform(0.001, 0.999, (30, len(a.domain)))
        x[np.arange(30), rng.integers(len(a.domain), size=30)] = 1.0
        inputs[a.name] = x
    grads = []
    for layer in (PossibilisticLayer(cascade), step_by_step(cascade)):
        given = tensors(inputs, grad=True)
        sum(((i + 1) * pi).sum() for i, pi in enumerate(layer(given).values())).backward()
        grads.append(given)
    for name, x in inputs.items():
        below = torch.tensor(x < 1.0)  # what is at the top cannot move
        one, two = (g[name].grad * below for g in grads)
        assert torch.allclose(one, two, atol=1e-12)


@pytest.mark.parametrize("make", [PossibilisticLayer, step_by_step])
@pytest.mark.parametrize("transform", ["antipignistic", "minimum_specificity"])
def test_scores_of_a_network_have_the_right_gradients(make: Any, transform: str) -> None:
    torch.manual_seed(1)
    layer = make(WEATHER, transform=transform)
    scores = [torch.randn(4, n, dtype=torch.float64, requires_grad=True) for n in (3, 2)]

    def walk(sky: Any, wind: Any) -> Any:
        p = {"sky": torch.softmax(sky, dim=1), "wind": torch.softmax(wind, dim=1)}
        return layer(p)["walk"]

    assert torch.autograd.gradcheck(walk, tuple(scores))


@pytest.mark.parametrize("make", [PossibilisticLayer, step_by_step])
def test_ties_share_the_gradient(make: Any) -> None:
    a, b = Attribute("a", range(4)), Attribute("b", [0, 1])
    layer = make(Cascade(RuleSet([Iff(a.isin({0, 1, 2})).then(b.isin({1}))])))
    x = torch.tensor([[0.5, 0.5, 0.2, 1.0]], dtype=torch.float64, requires_grad=True)
    layer({"a": x})["b"][0, 1].backward()
    assert x.grad.tolist() == [[0.5, 0.5, 0.0, 0.0]]


def test_parameters_are_learned_and_stay_between_0_and_1() -> None:
    layer = PossibilisticLayer(WEATHER, trainable=True)
    inputs = drawn(WEATHER, 60)
    wanted = WEATHER.with_parameters({"rain": ([0.6, 0.15], [0.05, 0.0])}).infer(inputs)["walk"]
    target = torch.tensor(np.array(wanted.degrees))
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    losses = []
    for _ in range(60):
        loss = ((layer(tensors(inputs))["walk"] - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 10
    learned = layer.learned()
    for rule_set in learned.rule_sets:
        assert ((rule_set.s >= 0) & (rule_set.s <= 1) & (rule_set.r >= 0) & (rule_set.r <= 1)).all()
    found = layer(tensors(inputs))["walk"].detach().numpy()
    assert (found == learned.infer(inputs)["walk"].degrees).all()


def test_parameters_that_were_pushed_out_count_as_0_or_1_and_come_back() -> None:
    layer = PossibilisticLayer(WEATHER, trainable=True)
    s = next(p for name, p in layer.named_parameters() if name.endswith("s"))
    with torch.no_grad():
        s.fill_(1.5)
    assert (layer.learned()["rain"].s == 1.0).all()
    layer(tensors({"sky": [[0.1, 0.2, 1.0]], "wind": [[1.0, 0.3]]}))["walk"].sum().backward()
    assert s.grad is not None
    assert s.grad[0] > 0  # a plain clamp would give 0, and the parameter would stay outside


@pytest.mark.parametrize("make", [PossibilisticLayer, step_by_step])
def test_float32(make: Any) -> None:
    inputs = drawn(addition(1), 8)
    rounded = {name: x.astype(np.float32) for name, x in inputs.items()}
    found = make(addition(1))({n: torch.tensor(x) for n, x in rounded.items()})
    known = addition(1).infer({n: x.astype(np.float64) for n, x in rounded.items()})
    for name, pi in found.items():
        assert pi.dtype == torch.float32
        assert (pi.numpy() == known[name].degrees.astype(np.float32)).all()


def test_some_outputs_only() -> None:
    layer = PossibilisticLayer(addition(3), ["y_3"])
    assert [a.name for a in layer.inputs] == ["a_3", "a_6"]
    assert list(layer(tensors(drawn(addition(3), 2)))) == ["y_3"]


@pytest.mark.filterwarnings("ignore:.*should not be instantiated")  # by PyTorch's own compiler
def test_it_can_be_compiled() -> None:
    layer = PossibilisticLayer(WEATHER)
    compiled = torch.compile(layer, backend="eager", fullgraph=True)
    inputs = drawn(WEATHER, 6)
    for name, pi in compiled(tensors(inputs)).items():
        assert (pi.numpy() == WEATHER.infer(inputs)[name].degrees).all()


def test_the_state_can_be_saved() -> None:
    layer = PossibilisticLayer(WEATHER, trainable=True)
    with torch.no_grad():
        for p in layer.parameters():
            p.fill_(0.25)
    other = PossibilisticLayer(WEATHER, trainable=True)
    other.load_state_dict(layer.state_dict())
    assert other.learned() == layer.learned()


@pytest.mark.parametrize(
    ("inputs", "error", "says"),
    [
        ({"sky": [[1.0, 0.0, 0.0]]}, UnknownAttributeError, ["the input 'wind' is missing"]),
        (
            {"sky": [[1.0, 0.0, 0.0]], "wnd": [[1.0, 0.0]]},
            UnknownAttributeError,
            ["there is no input 'wnd'; did you mean 'wind'?"],
        ),
        (
            {"sky": [[1.0, 0.0]], "wind": [[1.0, 0.0]]},
            ShapeError,
            ["'sky'", "(1, 2)", "(n, 3)"],
        ),
        ({"sky": [1.0, 0.0, 0.0], "wind": [1.0, 0.0]}, ShapeError, ["'sky'", "(n, 3)"]),
        (
            {"sky": [[0.5, 0.0, 0.0]], "wind": [[1.0, 0.0]]},
            DegreeError,
            ["sky", "largest degree is 0.5"],
        ),
    ],
)
def test_bad_inputs(inputs: Any, error: Any, says: list[str]) -> None:
    with raises_saying(error, *says):
        PossibilisticLayer(WEATHER)(tensors(inputs))


@pytest.mark.parametrize(
    "row",
    [[-0.1, -2.5, -4.0], [70.0, 20.0, 10.0], [0.2, 0.2, 0.1], [1.5, -0.5, 0.0], [math.nan] * 3],
)
def test_what_are_no_probabilities(row: list[float]) -> None:
    layer = PossibilisticLayer(WEATHER, transform="antipignistic")
    inputs = {"sky": [[0.2, 0.3, 0.5], row], "wind": [[0.5, 0.5]] * 2}
    with raises_saying(DegreeError, "the input 'sky', row 1, is [", "softmax to raw scores"):
        layer(tensors(inputs))


def test_a_rule_set_is_enough() -> None:
    one, other = PossibilisticLayer(WEATHER["rain"]), PossibilisticLayer(Cascade(WEATHER["rain"]))
    inputs = {a.name: torch.ones(1, len(a.domain)) for a in one.inputs}
    assert torch.equal(one(inputs)["rain"], other(inputs)["rain"])


def test_rules_are_freed_with_their_layer() -> None:
    rules = parse(str(WEATHER))
    layer = PossibilisticLayer(rules)
    inputs = {a.name: torch.ones(1, len(a.domain), requires_grad=True) for a in layer.inputs}
    sum(pi.sum() for pi in layer(inputs).values()).backward()
    dead = weakref.ref(rules)
    del rules, layer
    gc.collect()
    assert dead() is None


def test_either_spelling_of_a_transformation() -> None:
    found = PossibilisticLayer(WEATHER, transform="minimum-specificity").transform
    assert found == "minimum_specificity"


def test_bad_layers() -> None:
    with raises_saying(CascadeError, "rules are a RuleSet or a Cascade; got 3"):
        PossibilisticLayer(3)  # type: ignore[arg-type]
    with raises_saying(DomainError, "unknown transformation 'antipignistc'", "antipignistic"):
        PossibilisticLayer(WEATHER, transform="antipignistc")
    with raises_saying(UnknownAttributeError, "no rule uses 'wlak'"):
        PossibilisticLayer(WEATHER, ["wlak"])
