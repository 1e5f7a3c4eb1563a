"""A network learns to read images from what rules should conclude."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from pinesy import Attribute, Cascade, Iff, RuleSet
from pinesy.exceptions import DataError, DomainError, PinesyError, UnknownAttributeError

torch = pytest.importorskip("torch")

from pinesy.nets import Answered, DeepSoftLogCNN, Recipe, predict_proba, train_from_answers  # noqa: E402  # noqa: E402
from pinesy.nets.training_from_answers import LOSSES, _Objective  # noqa: E402

RECIPE = Recipe("adamw", 5e-3, "constant", batch=16, epochs=6)
X, Y = Attribute("x", [0, 1, 2]), Attribute("y", [0, 1, 2])
BOTH = Attribute.product("both", X, Y)
TOTAL = Attribute("total", range(5))
RULES = Cascade(
    RuleSet(
        [Iff(a.isin({v})).then(BOTH.where(f"{a.name} == {v}")) for a in (X, Y) for v in range(3)]
    ),
    RuleSet(Iff(BOTH.where(f"x + y == {t}")).then(TOTAL.isin({t})) for t in range(5)),
)


def drawn(n: int, seed: int) -> tuple[Any, Any]:
    """Return images of a bright bar at one of three heights, in noise, and which it is."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    images = rng.integers(0, 60, (n, 28, 28), np.uint8)
    for image, label in zip(images, labels, strict=True):
        image[4 + 8 * label : 9 + 8 * label] += 150
    return images, labels


def samples(n: int = 60, seed: int = 0) -> Answered:
    images, labels = drawn(2 * n, seed)
    answers = {"total": labels.reshape(n, 2).sum(axis=1)}
    return Answered(RULES, ["x", "y"], images.reshape(n, 2, 28, 28), answers)


def network(seed: int = 0) -> Any:
    return DeepSoftLogCNN(3, seed=seed)


def weights(net: Any) -> list[bytes]:
    return [p.detach().numpy().tobytes() for p in net.parameters()]


def test_sums_are_enough_to_learn_what_is_on_each_image() -> None:
    net = network()
    history = train_from_answers(net, samples(100), RECIPE.with_epochs(8), seed=0)
    assert history.losses[-1] < history.losses[0] / 4
    unseen = samples(40, seed=1)
    assert unseen.score(net) > 0.9
    images, labels = drawn(50, 2)
    assert (predict_proba(net, images).argmax(axis=1) == labels).mean() > 0.9


@pytest.mark.parametrize("loss", ["answers", "beliefs"])
def test_one_loss_is_enough_too(loss: str) -> None:
    net = network()
    train_from_answers(net, samples(100), RECIPE.with_epochs(8), seed=0, loss=loss)
    images, labels = drawn(50, 2)
    assert (predict_proba(net, images).argmax(axis=1) == labels).mean() > 0.9


@pytest.mark.parametrize("loss", ["answers", "beliefs", "both"])
def test_a_few_labels_name_the_values_where_answers_do_not(loss: str) -> None:
    # The rules ask whether two images show the same: any naming of the values will do.
    same = Attribute("same", ["no", "yes"])
    alike = RuleSet([Iff(BOTH.where("x == y")).then(same.isin({"yes"}))])
    images, labels = drawn(160, 0)
    pairs = labels.reshape(80, 2)
    answers = {"same": np.where(pairs[:, 0] == pairs[:, 1], "yes", "no").tolist()}
    known = np.full((80, 2), None)
    known[:15] = pairs[:15]
    rules = Cascade(RULES["both"], alike)
    data = Answered(rules, ["x", "y"], images.reshape(80, 2, 28, 28), answers, known)
    net = network()
    train_from_answers(net, data, RECIPE.with_epochs(8), seed=0, loss=loss)
    unseen, truth = drawn(50, 2)
    assert (predict_proba(net, unseen).argmax(axis=1) == truth).mean() > 0.9


def test_an_unknown_loss() -> None:
    with raises_saying(DomainError, "no loss 'belief'", "beliefs"):
        train_from_answers(network(), samples(), RECIPE, seed=0, loss="belief")


def test_it_goes_on_from_a_checkpoint_to_the_same_bits(tmp_path: Path) -> None:
    whole, halves = network(), network()
    train_from_answers(whole, samples(), RECIPE, seed=3)
    for epochs in (2, 6):
        recipe = RECIPE.with_epochs(epochs)
        halves = network()
        history = train_from_answers(
            halves, samples(), recipe, seed=3, checkpoint=tmp_path / "net.safetensors"
        )
    assert history.resumed == 2
    assert weights(halves) == weights(whole)


LABELS = np.full((60, 2), None)
LABELS[0] = 1, 1


@pytest.mark.parametrize(
    "change",
    [
        {"images": samples(seed=5).images},
        {"answers": {"total": samples().answers["total"][::-1]}},
        {"inputs": ["y", "x"]},
        {"labels": LABELS},
        {"rules": RULES.with_parameters({"total": (np.full(5, 0.5), np.zeros(5))})},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_checkpoint_of_other_samples_is_refused(tmp_path: Path, change: Any) -> None:
    file, data = tmp_path / "net.safetensors", samples()
    train_from_answers(network(), data, RECIPE.with_epochs(1), seed=0, checkpoint=file)
    with raises_saying(DataError, "another training", "fingerprint"):
        train_from_answers(network(), replace(data, **change), RECIPE, seed=0, checkpoint=file)


def test_a_checkpoint_of_another_loss_is_refused(tmp_path: Path) -> None:
    file, data = tmp_path / "net.safetensors", samples()
    train_from_answers(network(), data, RECIPE.with_epochs(1), seed=0, checkpoint=file)
    with raises_saying(DataError, "another training", "fingerprint"):
        train_from_answers(network(), data, RECIPE, seed=0, loss="answers", checkpoint=file)


def test_a_step_has_whole_samples() -> None:
    few = RECIPE.with_epochs(1)
    net = network()
    history = train_from_answers(net, samples(4), Recipe(**{**vars(few), "batch": 1}), seed=0)
    assert len(history.losses) == 1


def test_the_score_counts_samples_with_all_answers_right() -> None:
    data = samples(5)

    class Sure(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(1))

        def forward(self, pixels: Any) -> Any:
            bars = pixels[:, 0, :, 0].reshape(len(pixels), 28)
            rows = torch.stack([bars[:, 4 + 8 * i : 9 + 8 * i].mean(dim=1) for i in range(3)], 1)
            return 100 * rows + self.weight

    assert data.score(Sure()) == 1.0
    wrong = np.array(data.answers["total"])
    wrong[0] = (wrong[0] + 1) % 5
    assert Answered(RULES, ["x", "y"], data.images, {"total": wrong}).score(Sure()) == 0.8
    both = np.stack([data.images[:, 0], data.images[:, 1]], axis=1).reshape(10, 28, 28)
    read = predict_proba(Sure(), both).argmax(axis=1).reshape(5, 2)
    pairs = {"both": [tuple(pair) for pair in read.tolist()]}
    two = Answered(RULES, ["x", "y"], data.images, {"total": wrong, **pairs})
    assert (two.score(Sure()), two.answer_accuracy(Sure())) == (0.8, 0.9)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"inputs": ["x"]}, ["inputs names 1 attributes", "2 inputs", "x, y"]),
        ({"images": np.zeros((60, 3, 28, 28), np.uint8)}, ["(60, 3, 28, 28)", "(n, 2, 28, 28)"]),
        ({"answers": {"total": [1, 2]}}, ["answers: 'total' has 2 values; give 60 values"]),
        ({"answers": {}}, ["no answers"]),
        ({"answers": [1, 2]}, ["no answers", "a mapping"]),
        ({"answers": {"total": np.ones((60, 5))}}, ["'total' has 60 distributions; give"]),
        ({"images": [[0]]}, ["shape (1, 1)", "(n, 2, 28, 28)"]),
        ({"images": np.zeros((0, 2, 28, 28), np.uint8)}, ["at least one sample"]),
        ({"images": np.zeros((60, 2, 28, 28))}, ["float64", "give uint8"]),
        ({"images": np.zeros((60, 2, 32, 32), np.uint8)}, ["(120, 32, 32)", "(n, 28, 28)"]),
        ({"labels": np.zeros((60, 3), int)}, ["shape (60, 3)", "must", "(60, 2)", "or None where"]),
    ],
)
def test_bad_samples(change: dict[str, Any], says: list[str]) -> None:
    data = samples()
    given = {"inputs": data.inputs, "images": data.images, "answers": data.answers, **change}
    with raises_saying(DataError, *says):
        Answered(RULES, **given)


@pytest.mark.parametrize("label", [3, -1, "0", 0.5])
def test_labels_that_are_no_values(label: Any) -> None:
    labels = LABELS.copy()
    labels[7, 1] = label
    with raises_saying(DomainError, "labels: the target of 'y', row 7", "has no value"):
        replace(samples(), labels=labels)


def test_labels_are_values_and_not_positions() -> None:
    x, y = Attribute("x", ["low", "high"]), Attribute("y", ["high", "low"])
    same = Attribute("same", ["no", "yes"])
    rules = RuleSet([Iff(x.isin({"low"}), y.isin({"low"})).then(same.isin({"yes"}))])
    images = np.zeros((3, 2, 28, 28), np.uint8)
    known = [["low", "low"], [None, "high"], [None, None]]
    data = Answered(rules, [x, "y"], images, {same: ["yes", "no", "no"]}, known)
    assert data.label_positions is not None
    assert data.label_positions.tolist() == [[0, 1], [-1, 0], [-1, -1]]


def test_inputs_that_the_rules_have_not() -> None:
    data = samples()
    with raises_saying(UnknownAttributeError, "inputs: the rules have no input 'z'; known: x, y"):
        Answered(RULES, ["x", "z"], data.images, data.answers)


def test_inputs_of_several_sizes() -> None:
    z = Attribute("z", [0, 1])
    rules = RuleSet([Iff(X.isin({0}), z.isin({1})).then(TOTAL.isin({0}))])
    with raises_saying(DataError, "'x' has 3 values and 'z' has 2", "one network"):
        Answered(Cascade(rules), ["x", "z"], samples().images, {"total": [0] * 60})


@pytest.mark.parametrize("loss", LOSSES)
def test_a_network_with_other_classes(loss: str) -> None:
    with raises_saying(DataError, "the network has 4 classes", "3 values"):
        train_from_answers(DeepSoftLogCNN(4, seed=0), samples(), RECIPE, seed=0, loss=loss)
    with raises_saying(DataError, "the network has 4 classes", "3 values"):
        samples().score(DeepSoftLogCNN(4, seed=0))


@pytest.mark.parametrize("loss", LOSSES)
def test_a_training_that_diverges_says_so(loss: str) -> None:
    wild = Recipe("adamw", 1e30, "constant", batch=16, epochs=3)
    with raises_saying(PinesyError, "training diverges", "smaller"):
        train_from_answers(network(), samples(), wild, seed=0, loss=loss)


def test_a_seed_that_is_none() -> None:
    with raises_saying(DomainError, "seed is -1"):
        train_from_answers(network(), samples(), RECIPE, seed=-1)


def test_rule_sets_and_attributes_will_do() -> None:
    names = samples(seed=4)
    pairs = RULES["both"]
    labels = [(0, 0)] * 60
    one = Answered(pairs, [X, Y], names.images, {BOTH: labels})
    two = Answered(Cascade(pairs), ["x", "y"], names.images, {"both": labels})
    assert one.fingerprint == two.fingerprint
    assert one.score(network()) == two.score(network())


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
    y, x = labels.reshape(100, 2).T  # the first image of a sample is y
    answers = {"difference": (2 * x - y).tolist()}
    data = Answered(CROOKED, ["y", "x"], images.reshape(100, 2, 28, 28), answers)
    net = network()
    train_from_answers(net, data, RECIPE.with_epochs(8), seed=0, loss=loss)
    unseen, truth = drawn(50, 2)
    assert (predict_proba(net, unseen).argmax(axis=1) == truth).mean() > 0.9
    assert data.score(net) > 0.9


def test_the_rules_go_where_the_network_is() -> None:
    objective = _Objective(samples(), "both", torch.device("meta"))
    assert objective.layer is not None
    assert {buffer.device.type for buffer in objective.layer.buffers()} == {"meta"}
