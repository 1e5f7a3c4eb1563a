"""A network learns to read images from what rules should conclude."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from pinesy import Attribute, Cascade, Iff, RuleSet
from pinesy.exceptions import DataError, DomainError, PinesyError, UnknownAttributeError

torch = pytest.importorskip("torch")

from nets.bar_sums import (  # noqa: E402
    BOTH,
    LAYER,
    RECIPE,
    RULES,
    X,
    drawn,
    network,
    pairs,
    reader,
    samples,
    weights,
)
from pinesy.nets import (  # noqa: E402
    AnsweredInputs,
    InputReader,
    Recipe,
    RuleLayer,
    answer_score,
    fit_answers,
    predict_proba,
)
from pinesy.nets.answer_losses import LOSSES  # noqa: E402


def reads_rightly(net: Any) -> bool:
    images, labels = drawn(50, 2)
    return bool((predict_proba(net, images).argmax(axis=1) == labels).mean() > 0.9)


@pytest.mark.parametrize("loss", LOSSES)
def test_sums_are_enough_to_learn_what_is_on_each_image(loss: str) -> None:
    net = reader()
    fit = fit_answers(net, LAYER, samples(100), samples(40, 1), RECIPE, seed=0, loss=loss)
    assert fit.losses[-1] < fit.losses[0] / 2
    assert fit.score > 0.9
    assert reads_rightly(net.network)


@pytest.mark.parametrize("semantics", ["possibilistic", "probabilistic"])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_few_labels_name_the_values_where_answers_do_not(loss: str, semantics: str) -> None:
    # The rules ask whether two images show the same: any naming of the values will do.
    same = Attribute("same", ["no", "yes"])
    alike = RuleSet([Iff(BOTH.where("x == y")).then(same.isin({"yes"}))])
    images, labels = drawn(160, 0)
    x, y = labels[0::2], labels[1::2]
    known = {name: [*at[:15].tolist(), *[None] * 65] for name, at in (("x", x), ("y", y))}
    answers = {"same": np.where(x == y, "yes", "no").tolist(), **known}
    data = AnsweredInputs(pairs(images), answers)
    rules = Cascade(RULES["both"], alike)
    net = InputReader(rules, network(1))
    layer = RuleLayer(rules, semantics=semantics)
    fit_answers(net, layer, data, data, RECIPE.with_epochs(4), seed=1, loss=loss)
    assert reads_rightly(net.network)


def test_an_unknown_loss() -> None:
    with raises_saying(DomainError, "no loss 'belief'", "beliefs"):
        fit_answers(reader(), LAYER, samples(), samples(), RECIPE, seed=0, loss="belief")


def test_it_goes_on_from_a_checkpoint_to_the_same_bits(tmp_path: Path) -> None:
    whole, halves, file = reader(), reader(), tmp_path / "net.safetensors"
    given: Any = {"seed": 3, "loss": "both"}
    data, valid = samples(20), samples(10, 1)
    expected = fit_answers(whole, LAYER, data, valid, RECIPE.with_epochs(4), **given)
    for epochs in (2, 4):
        halves, recipe = reader(9), RECIPE.with_epochs(epochs)
        if epochs == 2:
            halves = reader()
        fit = fit_answers(halves, LAYER, data, valid, recipe, checkpoint=file, **given)
    assert fit.resumed == 2
    assert (fit.losses, fit.scores, fit.best) == (expected.losses, expected.scores, expected.best)
    assert weights(halves) == weights(whole)


def changed() -> dict[str, dict[str, Any]]:
    data = samples(6)
    other = RULES.with_parameters({"total": (np.full(5, 0.5), np.zeros(5))})
    swapped = {"x": data.inputs["y"], "y": data.inputs["x"]}
    return {
        "images": {"data": AnsweredInputs(swapped, data.answers)},
        "answers": {"data": AnsweredInputs(data.inputs, {"total": data.answers["total"][::-1]})},
        "labels": {"data": samples(6, x=[1, *[None] * 5])},
        "validation": {"validation": samples(6, 9)},
        "rules": {"layer": RuleLayer(other)},
        "semantics": {"layer": RuleLayer(RULES, semantics="goedel")},
        "loss": {"loss": "answers"},
    }


@pytest.mark.parametrize("what", changed())
def test_a_checkpoint_of_another_training_is_refused(tmp_path: Path, what: str) -> None:
    given: dict[str, Any] = {
        "reader": reader(),
        "layer": LAYER,
        "data": samples(6),
        "validation": samples(6, 1),
        "recipe": RECIPE.with_epochs(1),
        "seed": 0,
        "checkpoint": tmp_path / "net.safetensors",
    }
    fit_answers(**given)
    assert fit_answers(**given).resumed == 1
    with raises_saying(DataError, "another training", "fingerprint"):
        fit_answers(**{**given, **changed()[what]})


class Sure(torch.nn.Module):  # type: ignore[misc,name-defined]
    """Sees which bar is bright."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def forward(self, pixels: Any) -> Any:
        rows = [pixels[:, 0, 4 + 8 * i : 9 + 8 * i].mean(dim=(1, 2)) for i in range(3)]
        return 100 * torch.stack(rows, dim=1) + self.weight


def test_the_score_counts_samples_with_all_answers_right_or_single_ones() -> None:
    data, sure = samples(5), InputReader(RULES, Sure())
    assert answer_score(sure, LAYER, data) == 1.0
    wrong = [(data.answers["total"][0] + 1) % 5, *data.answers["total"][1:]]
    assert answer_score(sure, LAYER, AnsweredInputs(data.inputs, {"total": wrong})) == 0.8
    _, labels = drawn(10, 0)
    both = {"total": wrong, "both": labels.reshape(5, 2)}
    layer, two = RuleLayer(RULES, ["total", "both"]), AnsweredInputs(data.inputs, both)
    assert answer_score(sure, layer, two) == 0.8
    assert answer_score(sure, layer, two, single=True) == 0.9
    some = AnsweredInputs(data.inputs, {"total": [*wrong[:2], None, None, None]})
    assert answer_score(sure, LAYER, some, single=True) == 0.5


@pytest.mark.parametrize(
    ("answers", "error", "says"),
    [
        ({}, DataError, ["as many samples"]),
        ({"total": [1, 2]}, DataError, ["as many samples", "'answer total': 2"]),
        ({"total": [9] * 6}, DomainError, ["answers", "'total', row 0", "no value 9"]),
        ({"totl": [0] * 6}, UnknownAttributeError, ["an answer for 'totl'", "total"]),
        ({"x": [0] * 5 + [3]}, DomainError, ["'x', row 5", "no value 3"]),
    ],
)
def test_bad_answers(answers: dict[str, Any], error: Any, says: list[str]) -> None:
    with raises_saying(error, *says):
        data = AnsweredInputs(samples(6).inputs, answers)
        fit_answers(reader(), LAYER, data, data, RECIPE, seed=0)


def test_bad_inputs() -> None:
    data = samples(6)
    renamed = AnsweredInputs({"x": data.inputs["x"], "z": data.inputs["y"]}, data.answers)
    with raises_saying(UnknownAttributeError, "inputs: the rules have no input 'z'; known: x, y"):
        fit_answers(reader(), LAYER, renamed, data, RECIPE, seed=0)
    one = AnsweredInputs({"x": data.inputs["x"]}, data.answers)
    with raises_saying(DataError, "no tensor for the input 'y'"):
        fit_answers(reader(), LAYER, data, one, RECIPE, seed=0)


def test_answers_are_values_and_not_positions() -> None:
    x, y = Attribute("x", ["low", "high"]), Attribute("y", ["high", "low"])
    same = Attribute("same", ["no", "yes"])
    rules = RuleSet([Iff(x.isin({"low"}), y.isin({"low"})).then(same.isin({"yes"}))])

    class Reads(torch.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, scores: Any) -> Any:
            return scores

    seen = {"x": torch.eye(2)[[0, 0, 1]] * 9, "y": torch.eye(2)[[1, 0, 1]] * 9}
    data = AnsweredInputs(seen, {same: ["yes", "no", "no"]})
    assert answer_score(InputReader(rules, Reads()), RuleLayer(rules), data) == 1.0


@pytest.mark.parametrize("loss", LOSSES)
def test_a_training_that_diverges_says_so(loss: str) -> None:
    wild, net = Recipe("adamw", 1e30, "constant", batch=8, epochs=3), reader()
    before = weights(net)
    with raises_saying(PinesyError, "training diverges", "smaller", "those after epoch 0"):
        fit_answers(net, LAYER, samples(20), samples(9, 1), wild, seed=0, loss=loss)
    assert weights(net) == before


def test_a_seed_that_is_none() -> None:
    with raises_saying(DomainError, "seed is -1"):
        fit_answers(reader(), LAYER, samples(6), samples(6), RECIPE, seed=-1)


DIFFERENCE = Attribute("difference", range(-2, 5))
CROOKED = Cascade(
    RULES["both"],
    RuleSet(
        Iff(BOTH.where(f"2 * x - y == {d}")).then(DIFFERENCE.isin({d})) for d in DIFFERENCE.domain
    ),
)


@pytest.mark.parametrize("loss", LOSSES)
def test_each_image_belongs_to_its_input(loss: str) -> None:
    images, labels = drawn(200, 0)
    y, x = labels[0::2], labels[1::2]  # the first image of a sample is y
    data = AnsweredInputs(pairs(images, ("y", "x")), {"difference": 2 * x - y})
    net, layer = InputReader(CROOKED, network()), RuleLayer(CROOKED)
    fit_answers(net, layer, data, data, RECIPE.with_epochs(8), seed=0, loss=loss)
    assert reads_rightly(net.network)
    assert answer_score(net, layer, data) > 0.9


def test_the_rules_go_where_the_network_is() -> None:
    layer = RuleLayer(RULES).to("meta")
    assert layer.possibilistic is not None
    assert {buffer.device.type for buffer in layer.buffers()} == {"meta"}


def test_attributes_will_do_for_names() -> None:
    data = samples(6)
    total = RULES.attributes["total"]
    named = AnsweredInputs(
        {X: data.inputs["x"], "y": data.inputs["y"]}, {total: data.answers["total"]}
    )
    assert named.fingerprint == data.fingerprint
