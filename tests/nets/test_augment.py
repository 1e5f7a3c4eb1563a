"""Augmentation, one cycle and averaged weights: what each does, and that the seed decides."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from messages import raises_saying  # noqa: E402
from nets.conftest import bars  # noqa: E402
from pinesy.exceptions import DataError, DomainError  # noqa: E402
from pinesy.nets import (  # noqa: E402
    BETTER_EYE,
    DeepSoftLogCNN,
    PaperCNN,
    load_weights,
    network_fingerprint,
    preprocess,
    train,
)
from pinesy.nets import recipes as module  # noqa: E402
from pinesy.nets.checkpoints import read_checkpoint  # noqa: E402
from pinesy.nets.network_training import TrainingLoop  # noqa: E402
from pinesy.nets.recipes import BLACK, augment  # noqa: E402

IMAGES, LABELS = bars(24)
RECIPE = replace(BETTER_EYE, batch=8, epochs=3, t_max=3, average_from=1)


def dots(n: int, row: int = 14, column: int = 14) -> Any:
    """Return images of one blurred dot."""
    rows, columns = np.mgrid[:28, :28]
    dot = 255 * np.exp(-((rows - row) ** 2 + (columns - column) ** 2) / 8)
    return preprocess(np.repeat(dot.round().astype(np.uint8)[None], n, axis=0))


def centres(pixels: Any) -> np.ndarray[Any, Any]:
    """Return row and column of the centre of mass of each image."""
    mass = (pixels[:, 0] - BLACK).double().numpy()
    found = np.einsum("nij,kij->nk", mass, np.indices((28, 28)))
    return np.asarray(found / mass.sum(axis=(1, 2))[:, None])


# --- augmentation ------------------------------------------------------------------------------


def test_the_generator_decides() -> None:
    pixels = preprocess(IMAGES)
    one, same, other = (augment(pixels, np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
    assert (one.shape, one.dtype) == (pixels.shape, pixels.dtype)
    assert torch.equal(pixels, preprocess(IMAGES)), "the images given are left alone"


def test_no_strength_changes_nothing_and_draws_nothing() -> None:
    rng = np.random.default_rng(0)
    assert torch.equal(augment(preprocess(IMAGES), rng, 0.0), preprocess(IMAGES))
    assert rng.random() == np.random.default_rng(0).random()


def test_black_stays_black_and_comes_in_at_the_edges() -> None:
    rng = np.random.default_rng(0)
    black = preprocess(np.zeros((9, 28, 28), np.uint8))
    assert torch.allclose(augment(black, rng), black, atol=1e-5)
    white = preprocess(np.full((99, 28, 28), 255, np.uint8))
    moved = augment(white, rng)
    assert moved.min().item() == pytest.approx(BLACK, abs=1e-5)
    assert moved.max().item() == pytest.approx(white.max().item(), abs=1e-5)


def test_images_move_by_as_much_as_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DISPLACEMENT", 0.0)
    way = centres(augment(dots(500), np.random.default_rng(0))) - centres(dots(1))
    assert np.abs(way).max() < 0.07 * 28 + 0.3
    assert (np.abs(way).max(axis=0) > 0.07 * 28 - 0.3).all()
    assert np.abs(way.mean(axis=0)).max() < 0.2
    weaker = centres(augment(dots(500), np.random.default_rng(0), 0.5)) - centres(dots(1))
    assert np.abs(weaker).max() < 0.035 * 28 + 0.3


def test_images_are_turned_and_scaled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DISPLACEMENT", 0.0)
    monkeypatch.setattr(module, "BOUNDS", module.BOUNDS * [1, 1, 0, 0])
    place = centres(augment(dots(500, row=6), np.random.default_rng(0))) - 13.5
    radius, angle = np.hypot(*place.T), np.degrees(np.arctan2(place[:, 1], -place[:, 0]))
    start = np.degrees(np.arctan2(0.5, 7.5))
    assert (radius.min(), radius.max()) == pytest.approx((7.52 * 0.9, 7.52 * 1.1), abs=0.15)
    assert (angle.min(), angle.max()) == pytest.approx((start - 10, start + 10), abs=0.7)


def test_images_are_bent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BOUNDS", module.BOUNDS * 0)
    way = centres(augment(dots(500), np.random.default_rng(0))) - centres(dots(1))
    spread = way.std(axis=0)  # less than that of a pixel: a dot averages over its neighbours
    assert (spread > 0.4 * module.DISPLACEMENT).all()
    assert (spread < module.DISPLACEMENT).all()


def test_displacements_are_smooth() -> None:
    displacements = (
        module._displacements(400, np.random.default_rng(0), 1.0).numpy() * 14
    )  # in pixels
    assert displacements.shape == (400, 28, 28, 2)
    corner = displacements[:, 0, 0]
    assert corner.std() == pytest.approx(module.DISPLACEMENT, rel=0.1)
    assert abs(np.corrcoef(corner[:, 0], corner[:, 1])[0, 1]) < 0.2
    assert np.abs(np.diff(displacements, axis=1)).std() < 0.3 * module.DISPLACEMENT
    assert abs(np.corrcoef(corner[:, 0], displacements[:, -1, -1, 0])[0, 1]) < 0.2


@pytest.mark.parametrize("strength", [-0.1, 4.1, float("nan"), True, "a"])
def test_wrong_strengths(strength: Any) -> None:
    with raises_saying(DomainError, "strength is", "a number from 0 to 4"):
        augment(preprocess(IMAGES), np.random.default_rng(0), strength)


def test_wrong_pixels() -> None:
    with raises_saying(DataError, "pixels has shape (24, 28, 28)", "as preprocess makes it"):
        augment(preprocess(IMAGES)[:, 0], np.random.default_rng(0))


# --- in training -------------------------------------------------------------------------------


def steps(monkeypatch: pytest.MonkeyPatch, recipe: Any, images: Any = IMAGES) -> list[Any]:
    """Return the images, the learning rate and the weights after it of each step."""
    seen: list[Any] = []
    step = TrainingLoop._step

    def noted(run: Any, batch: Any, *where: Any) -> Any:
        done, pixels = step(run, batch, *where), batch[0]
        weights = [p.detach().clone() for p in run.network.parameters()]
        seen.append((pixels.clone(), run.optimizer.param_groups[0]["lr"], weights))
        return done

    with monkeypatch.context() as patch:
        patch.setattr(TrainingLoop, "_step", noted)
        train(PaperCNN(4, seed=0), images, LABELS, recipe, seed=0)
    return seen


def test_each_epoch_is_augmented_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = replace(RECIPE, batch=24, epochs=2)
    same = np.repeat(IMAGES[:1], 24, axis=0)  # so that their order does not matter
    one, two = (pixels for pixels, *_ in steps(monkeypatch, recipe, same))
    assert not torch.equal(one, two)
    assert len(torch.unique(one, dim=0)) == 24, "and each image in its own way"
    for pixels, *_ in steps(monkeypatch, replace(recipe, augment=0.0), same):
        assert torch.equal(pixels, preprocess(same))


def test_each_step_has_its_learning_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = [rate for _, rate, _ in steps(monkeypatch, RECIPE)]
    assert rates == [RECIPE.rate(epoch, k / 3) for epoch in range(3) for k in range(3)]
    assert len(set(rates)) == 9


def test_the_network_gets_the_mean_of_its_weights(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen = steps(monkeypatch, RECIPE)
    network = PaperCNN(4, seed=0)
    train(network, IMAGES, LABELS, RECIPE, seed=0, checkpoint=tmp_path / "c")
    averaged = [weights for *_, weights in seen[3:]]  # those of the epochs 1 and 2
    for number, parameter in enumerate(network.parameters()):
        mean = torch.stack([weights[number] for weights in averaged]).double().mean(dim=0)
        assert torch.allclose(parameter.double(), mean, atol=1e-6)
    last = dict(zip(dict(network.named_parameters()), seen[-1][2], strict=True))
    kept = read_checkpoint(tmp_path / "c").network
    assert all(torch.equal(kept[name], weights) for name, weights in last.items())


def test_the_statistics_are_those_of_the_mean() -> None:
    network = PaperCNN(4, seed=0)
    train(network, IMAGES, LABELS, replace(RECIPE, batch=24), seed=0)
    first = network.layers[:1](preprocess(IMAGES)).detach()
    norm: Any = network.layers[1]
    assert torch.allclose(norm.running_mean, first.mean(dim=(0, 2, 3)), atol=1e-4)
    assert torch.allclose(norm.running_var, first.var(dim=(0, 2, 3)), rtol=1e-3)
    assert (norm.momentum, norm.training) == (0.1, False), "the network could be trained further"


@pytest.mark.parametrize("make", [PaperCNN, DeepSoftLogCNN])
def test_the_average_is_what_is_loaded(make: Any, tmp_path: Path) -> None:
    path = tmp_path / "c"
    for epochs, has_average in ((1, False), (2, True), (3, True)):
        network = make(4, seed=0)
        recipe = replace(RECIPE, epochs=epochs)
        train(network, IMAGES, LABELS, recipe, seed=0, checkpoint=path)
        assert bool(read_checkpoint(path).average) == has_average
        loaded = load_weights(make(4, seed=1), path)
        assert network_fingerprint(loaded) == network_fingerprint(network)


def test_a_checkpoint_that_lost_its_average(tmp_path: Path) -> None:
    from safetensors import safe_open
    from safetensors.torch import save_file

    path = tmp_path / "c"
    recipe = replace(RECIPE, epochs=2)
    train(DeepSoftLogCNN(4), IMAGES, LABELS, recipe, seed=0, checkpoint=path)
    with safe_open(path, "pt") as file:
        metadata, names = file.metadata(), list(file.keys())
        kept = {k: file.get_tensor(k) for k in names if not k.startswith("average")}
    save_file(kept, path, metadata)
    with raises_saying(DataError, "a damaged checkpoint", "its average is not that of its epochs"):
        train(DeepSoftLogCNN(4), IMAGES, LABELS, RECIPE, seed=0, checkpoint=path)
