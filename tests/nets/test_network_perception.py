"""A network as a perception: trained as by `train`, kept in a file, and the same bits again."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

import safetensors.torch  # noqa: E402

from messages import raises_saying  # noqa: E402
from nets.conftest import bars  # noqa: E402
from pinesy import (  # noqa: E402
    Attribute,
    Iff,
    NeuroSymbolic,
    RuleSet,
    antipignistic,
    learn,
    load,
    save,
)
from pinesy.exceptions import DataError, DomainError, PinesyError  # noqa: E402
from pinesy.nets import (  # noqa: E402
    DEEPSOFTLOG,
    PAPER,
    DeepSoftLogCNN,
    PaperCNN,
    Recipe,
    network_fingerprint,
    predict_proba,
    train,
)
from pinesy.nets.network_perception import FORMAT, NetworkPerception  # noqa: E402
from pinesy.problems import addition, addition_labels, addition_samples, digits  # noqa: E402

IMAGES, PLACES = bars(24)
SMALL = replace(DEEPSOFTLOG, batch=8, epochs=2)
BAR = Attribute("bar", ["top", "upper", "lower", "bottom"])
HALF = Attribute("half", ["first", "second"])
RULES = RuleSet([Iff(BAR.isin({"top", "upper"})).then(HALF.isin({"first"}))])
HALVES = np.array(HALF.domain)[PLACES // 2]


class OwnNetwork(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A network that is not one of pinesy's, with tied weights."""

    def __init__(self, classes: int = 4, activation: Any = torch.nn.ReLU) -> None:
        super().__init__()
        self.first = torch.nn.Linear(784, 16)
        self.second = torch.nn.Linear(16, 16)
        self.third = torch.nn.Linear(16, 16)
        self.third.weight = self.second.weight
        self.activation = activation()
        self.last = torch.nn.Linear(16, classes)

    def forward(self, images: Any) -> Any:
        x = self.activation(self.first(images.flatten(1)))
        return self.last(self.activation(self.third(self.activation(self.second(x)))))


def own_network(seed: int = 0, **options: Any) -> OwnNetwork:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return OwnNetwork(**options)


# --- training and prediction -------------------------------------------------------------------


def test_training_is_that_of_train() -> None:
    perception = NetworkPerception(DeepSoftLogCNN(4, seed=0), SMALL, seed=3)
    assert perception.history is None
    assert perception.fit(IMAGES, PLACES) is perception
    network = DeepSoftLogCNN(4, seed=0)
    history = train(network, IMAGES, PLACES, SMALL, seed=3)
    assert network_fingerprint(perception.network) == network_fingerprint(network)
    assert perception.history is not None
    assert perception.history.losses == history.losses
    assert np.array_equal(perception.predict_proba(IMAGES), predict_proba(network, IMAGES))
    parts = NetworkPerception(network, batch=5).predict_proba(IMAGES)
    assert np.array_equal(parts, predict_proba(network, IMAGES, 5))


def test_training_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "c.safetensors"
    longer = replace(SMALL, epochs=3)
    NetworkPerception(DeepSoftLogCNN(4, seed=0), SMALL, 0, path).fit(IMAGES, PLACES)
    resumed = NetworkPerception(DeepSoftLogCNN(4, seed=0), longer, 0, path).fit(IMAGES, PLACES)
    at_once = NetworkPerception(DeepSoftLogCNN(4, seed=0), longer, 0).fit(IMAGES, PLACES)
    assert resumed.history is not None
    assert resumed.history.resumed == 2
    assert network_fingerprint(resumed.network) == network_fingerprint(at_once.network)


def test_a_model_is_what_the_steps_give(tmp_path: Path) -> None:
    """Images, names of values in an order that is not alphabetic, training, learning, files."""
    recipe = Recipe("adamw", 0.01, "constant", batch=8, epochs=8)
    model = NeuroSymbolic(NetworkPerception(DeepSoftLogCNN(4, seed=0), recipe), RULES)
    model.fit(IMAGES[:, None], HALVES, np.array(BAR.domain)[PLACES][:, None])
    network = DeepSoftLogCNN(4, seed=0)
    train(network, IMAGES, PLACES.astype(np.int64), recipe, seed=0)
    evidence = antipignistic(predict_proba(network, IMAGES))
    assert np.array_equal(model.evidence(IMAGES[:, None]), evidence)
    assert model.rules_ == learn(RULES, evidence, HALVES).cascade
    new_images, new_places = bars(20, seed=1)
    assert model.score(new_images[:, None], np.array(HALF.domain)[new_places // 2]) == 1.0

    save(model, tmp_path / "m.zip")
    with ZipFile(tmp_path / "m.zip") as archive:
        assert archive.namelist() == [
            "neurosymbolic.json",
            "model.json",
            "perception-0.safetensors",
        ]
    again = load(tmp_path / "m.zip")
    assert isinstance(again.perception, NetworkPerception)
    assert np.array_equal(again.evidence(new_images[:, None]), model.evidence(new_images[:, None]))
    assert again.rules_ == model.rules_
    save(again, tmp_path / "copy.zip")
    assert (tmp_path / "copy.zip").read_bytes() == (tmp_path / "m.zip").read_bytes()


def test_digits(tmp_path: Path) -> None:
    images, labels = digits()
    rng = np.random.default_rng(0)
    order = rng.permutation(5000)
    samples = order[addition_samples(labels[order], 1, rng)]
    train_set, test_set = samples[:600], samples[600:700]
    recipe = Recipe("adamw", 0.003, "constant", batch=64, epochs=4)
    model = NeuroSymbolic(NetworkPerception(DeepSoftLogCNN(10, seed=0), recipe), addition(1))
    model.fit(images[train_set], addition_labels(labels[train_set]), labels[train_set])
    truth = addition_labels(labels[test_set])
    score = model.score(images[test_set], truth)
    assert score > 0.6
    save(model, tmp_path / "m.zip")
    again = load(tmp_path / "m.zip")
    assert again.score(images[test_set], truth) == score
    evidence = model.evidence(images[test_set])
    assert np.array_equal(again.evidence(images[test_set]), evidence)


# --- files -------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [PaperCNN, DeepSoftLogCNN])
def test_weights_come_back_to_the_same_bits(tmp_path: Path, make: Callable[..., Any]) -> None:
    recipe = replace(PAPER, batch=8, epochs=1)
    perception = NetworkPerception(make(4, seed=1), recipe, 7, batch=9).fit(IMAGES, PLACES)
    perception.save(tmp_path / "p.safetensors")
    again = NetworkPerception.load(tmp_path / "p.safetensors")
    assert network_fingerprint(again.network) == network_fingerprint(perception.network)
    assert (again.recipe, again.seed, again.batch) == (recipe, 7, 9)
    assert not again.network.training
    assert np.array_equal(again.predict_proba(IMAGES), perception.predict_proba(IMAGES))
    again.fit(IMAGES, PLACES)  # the weights are its own, not those of the file
    untrained = NetworkPerception(make(4, seed=1))
    untrained.save(tmp_path / "u.safetensors")
    assert NetworkPerception.load(tmp_path / "u.safetensors").recipe is None


def test_a_network_of_ones_own_takes_its_weights_again(tmp_path: Path) -> None:
    perception = NetworkPerception(own_network(), SMALL).fit(IMAGES, PLACES)
    path = tmp_path / "p.safetensors"
    perception.save(path)
    other = NetworkPerception(own_network(seed=1))
    assert other.restore(path) is other
    assert np.array_equal(other.predict_proba(IMAGES), perception.predict_proba(IMAGES))
    with raises_saying(DataError, str(path), "a OwnNetwork", "perception=NetworkPerception"):
        NetworkPerception.load(path)

    model = NeuroSymbolic(perception, RULES)
    save(model, tmp_path / "m.zip")
    with raises_saying(DataError, "a OwnNetwork", "perception=NetworkPerception"):
        load(tmp_path / "m.zip")
    fresh = NetworkPerception(own_network(seed=2))
    again = load(tmp_path / "m.zip", fresh)
    assert again.perception is fresh
    assert np.array_equal(again.evidence(IMAGES[:, None]), model.evidence(IMAGES[:, None]))


def test_two_networks_for_two_inputs(tmp_path: Path) -> None:
    other = Attribute("other", range(4))
    rules = RuleSet([Iff(BAR.isin({"top"}), other.isin({0})).then(HALF.isin({"first"}))])
    one, two = (NetworkPerception(DeepSoftLogCNN(4, seed=s)) for s in (1, 2))
    model = NeuroSymbolic({"bar": one, "other": two}, rules)
    save(model, tmp_path / "m.zip")
    data = {"bar": IMAGES, "other": IMAGES[::-1].copy()}
    again = load(tmp_path / "m.zip")
    assert np.array_equal(again.evidence(data), model.evidence(data))
    assert list(again.perception) == ["bar", "other"]
    mixed = load(tmp_path / "m.zip", {"other": one.predict_proba})
    expected = NeuroSymbolic({"bar": one, "other": one}, rules).evidence(data)
    assert np.array_equal(mixed.evidence(data), expected)


def test_layers_that_are_printed_otherwise_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "p.safetensors"
    NetworkPerception(own_network()).save(path)
    tanh = NetworkPerception(own_network(activation=torch.nn.Tanh))
    with pytest.warns(UserWarning, match=r"(?s)layers are printed in another way.*same network\?"):
        tanh.restore(path)


def rewritten(key: str = FORMAT, **changes: str) -> Callable[[Path], None]:
    def rewrite(path: Path) -> None:
        tensors = safetensors.torch.load_file(path)
        with safetensors.safe_open(path, "pt") as file:
            story = {**json.loads(file.metadata()[FORMAT]), **changes}
        kept = json.dumps({k: v for k, v in story.items() if v != "gone"})
        path.write_bytes(safetensors.torch.save(tensors, {key: kept}))

    return rewrite


HUGE_RATE = PAPER.to_json().replace('"learning_rate": 1.0', f'"learning_rate": 1{"0" * 400}')
DAMAGE: list[tuple[Callable[[Path], Any], list[str]]] = [
    (lambda path: path.unlink(), ["cannot be read"]),
    (lambda path: path.write_bytes(path.read_bytes()[:-9]), ["a damaged file of weights"]),
    (lambda path: path.write_bytes(b""), ["a damaged file of weights"]),
    (lambda path: path.write_text("no weights"), ["a damaged file of weights"]),
    (lambda path: path.write_bytes(safetensors.torch.save({})), ["not the weights of a Network"]),
    (rewritten("other"), ["not the weights of a NetworkPerception"]),
    (rewritten(seed="gone"), ["a damaged file of weights", "seed"]),
    (rewritten(classes="many"), ["a damaged file of weights", "many"]),
    (rewritten(recipe="{}"), ["a damaged file of weights"]),
    (rewritten(recipe="[" * 9999), ["a damaged file of weights"]),
    (rewritten(recipe=HUGE_RATE), ["a damaged file of weights", "learning_rate"]),
    (rewritten(batch="0"), ["a damaged file of weights", "batch"]),
    (rewritten(classes="4000000000"), ["another network, DeepSoftLogCNN", "(4000000000, 84) in"]),
    (rewritten(classes="5"), ["another network, DeepSoftLogCNN", "(4, 84) there", "(5, 84) in"]),
    (rewritten(network="PaperCNN"), ["another network, PaperCNN", "(6, 1, 5, 5) there"]),
]


@pytest.mark.parametrize(("damage", "said"), DAMAGE, ids=[" ".join(p) for _, p in DAMAGE])
def test_files_that_do_not_fit(
    tmp_path: Path, damage: Callable[[Path], Any], said: list[str]
) -> None:
    path = tmp_path / "p.safetensors"
    NetworkPerception(DeepSoftLogCNN(4, seed=0), SMALL).save(path)
    assert NetworkPerception.load(path).recipe == SMALL
    damage(path)
    with raises_saying(DataError, "p.safetensors", *said):
        NetworkPerception.load(path)


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (lambda: DeepSoftLogCNN(5), ["(4, 84) there", "(5, 84) in this DeepSoftLogCNN"]),
        (lambda: PaperCNN(4), ["in this PaperCNN"]),
        (
            lambda: DeepSoftLogCNN(4).double(),
            ["float32 (6, 1, 5, 5) there", "float64 (6, 1, 5, 5)"],
        ),
    ],
)
def test_weights_of_another_network(
    tmp_path: Path, network: Callable[[], Any], said: list[str]
) -> None:
    path = tmp_path / "p.safetensors"
    NetworkPerception(DeepSoftLogCNN(4, seed=0)).save(path)
    other = NetworkPerception(network())
    before = network_fingerprint(other.network)
    with raises_saying(DataError, "the weights of another network, DeepSoftLogCNN", *said):
        other.restore(path)
    assert network_fingerprint(other.network) == before


ERRORS: list[tuple[Callable[[], Any], type[PinesyError], list[str]]] = [
    (lambda: NetworkPerception("net"), DomainError, ["network is 'net'", "torch.nn.Module"]),  # type: ignore[arg-type]
    (lambda: NetworkPerception(PaperCNN(4), 3), DomainError, ["recipe is 3", "PAPER"]),  # type: ignore[arg-type]
    (
        lambda: NetworkPerception(PaperCNN(4), batch=0).predict_proba(IMAGES),
        DomainError,
        ["batch is 0"],
    ),
    (
        lambda: NetworkPerception(PaperCNN(4)).fit(IMAGES, PLACES),
        DataError,
        ["without a recipe", "fit(samples, targets)"],
    ),
    (
        lambda: NeuroSymbolic(NetworkPerception(PaperCNN(4)), RULES).predict(IMAGES[:, None] / 255),
        DataError,
        ["the perception of bar: images has type float64"],
    ),
    (
        lambda: NeuroSymbolic(NetworkPerception(PaperCNN(5)), RULES).predict(IMAGES[:, None]),
        DomainError,
        ["the perception of bar gave", "(24, 5)", "'bar' has 4 values"],
    ),
    (lambda: NeuroSymbolic(PaperCNN(4), RULES), DataError, ["PaperCNN, a network", "scores"]),
]


@pytest.mark.parametrize(("do", "error", "said"), ERRORS, ids=[" ".join(p) for *_, p in ERRORS])
def test_errors(do: Callable[[], Any], error: type[PinesyError], said: list[str]) -> None:
    with raises_saying(error, *said):
        do()


UNFIT: list[tuple[dict[str, Any], list[str]]] = [
    ({"network": PaperCNN(5)}, ["the perception of bar: PaperCNN has 5 classes", "4 values"]),
    ({"network": torch.nn.Conv2d(3, 4, 28)}, ["the perception of bar: Conv2d cannot read images"]),
    ({"samples": IMAGES[:, None] / 255}, ["the perception of bar: images has type float64"]),
    ({"recipe": None}, ["the perception of bar: the network cannot be trained without a recipe"]),
    (
        {"validation": (IMAGES[:, None] / 255, HALVES)},
        ["the validation data: the perception of bar: images has type float64"],
    ),
    (
        {"validation": (IMAGES[:, None, :20], HALVES)},
        ["the validation data: the perception of bar: images has shape (1, 20, 28)"],
    ),
]


@pytest.mark.parametrize(("change", "said"), UNFIT, ids=[" ".join(p) for _, p in UNFIT])
def test_what_a_network_cannot_do_is_told_before_training(
    change: dict[str, Any], said: list[str]
) -> None:
    given = {"network": PaperCNN(4), "recipe": SMALL, "samples": IMAGES[:, None], **change}
    perception = NetworkPerception(given.pop("network"), given.pop("recipe"))
    concepts = np.array(BAR.domain)[PLACES][:, None]
    with raises_saying(PinesyError, *said):
        NeuroSymbolic(perception, RULES).fit(concepts=concepts, targets=HALVES, **given)
    assert perception.history is None


def test_a_network_is_named_when_it_is_printed() -> None:
    assert repr(NetworkPerception(PaperCNN(4))) == "NetworkPerception(PaperCNN)"
