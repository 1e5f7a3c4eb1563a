"""Training: the same bits for the same seed, at one go or after a kill."""

import copy
import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

import safetensors.torch  # noqa: E402

import pinesy  # noqa: E402
from messages import raises_saying  # noqa: E402
from nets.conftest import bars  # noqa: E402
from pinesy.exceptions import DataError, DomainError, PinesyError  # noqa: E402
from pinesy.nets import (  # noqa: E402
    BETTER_EYE,
    DEEPSOFTLOG,
    PAPER,
    DeepSoftLogCNN,
    History,
    PaperCNN,
    Recipe,
    load_weights,
    network_fingerprint,
    predict_proba,
    train,
)
from pinesy.nets import network_training as module  # noqa: E402
from pinesy.nets.checkpoints import read_checkpoint  # noqa: E402
from pinesy.nets.network_training import TrainingLoop  # noqa: E402

IMAGES, LABELS = bars(24)
SMALL = replace(DEEPSOFTLOG, batch=8, epochs=4)
WITH_DROPOUT = replace(PAPER, batch=8, epochs=4)
BETTER = replace(BETTER_EYE, batch=8, epochs=4, t_max=4)
KINDS: dict[str, tuple[Callable[..., Any], Recipe]] = {
    "adadelta, dropout": (PaperCNN, WITH_DROPOUT),
    "adamw, cosine": (DeepSoftLogCNN, SMALL),
    "augmented, averaged": (PaperCNN, replace(BETTER, average_from=0)),
    "averaged after the break": (PaperCNN, replace(BETTER, average_from=3)),
}


def trained(
    make: Callable[..., Any] = DeepSoftLogCNN,
    recipe: Recipe = SMALL,
    *,
    seed: int = 0,
    checkpoint: Path | None = None,
) -> tuple[str, History]:
    """Train a network from the same first weights; return its fingerprint and the history."""
    network = make(4, seed=0)
    history = train(network, IMAGES, LABELS, recipe, seed=seed, checkpoint=checkpoint)
    return network_fingerprint(network), history


def tensors(path: Path) -> dict[str, bytes]:
    """Return all that a checkpoint holds, as bytes, except for the time that it took."""
    found = safetensors.torch.load_file(path)
    return {k: t.numpy().tobytes() for k, t in found.items() if k != "history.seconds"}


# --- learning ----------------------------------------------------------------------------------


def test_a_network_learns() -> None:
    network = DeepSoftLogCNN(4, seed=0)
    recipe = Recipe("adamw", 0.01, "constant", batch=8, epochs=8)
    history = train(network, IMAGES, LABELS, recipe, seed=0)
    assert history.losses[-1] < 0.2 * history.losses[0]
    assert history.accuracies[-1] == 1.0
    new_images, new_labels = bars(20, seed=1)
    assert (predict_proba(network, new_images).argmax(axis=1) == new_labels).all()
    assert not network.training


def test_mixed_precision_computes_in_bfloat16_and_keeps_float32() -> None:
    network = DeepSoftLogCNN(4, seed=0)
    recipe = Recipe("adamw", 0.01, "constant", batch=8, epochs=8, precision="bfloat16")
    seen: dict[str, set[Any]] = {"scores": set(), "gradients": set()}

    def note(module: Any, _inputs: Any, scores: Any) -> None:
        if module.training:
            seen["scores"].add(scores.dtype)

    forward = network.layers.register_forward_hook(note)
    weight = next(network.parameters())
    backward = weight.register_hook(  # type: ignore[no-untyped-call]
        lambda gradient: seen["gradients"].add(gradient.dtype)
    )
    history = train(network, IMAGES, LABELS, recipe, seed=0)
    forward.remove()
    backward.remove()
    assert seen == {"scores": {torch.bfloat16}, "gradients": {torch.float32}}
    assert {p.dtype for p in network.parameters()} == {torch.float32}
    assert history.losses[-1] < 0.2 * history.losses[0]
    new_images, new_labels = bars(20, seed=1)
    assert (predict_proba(network, new_images).argmax(axis=1) == new_labels).all()
    exact = DeepSoftLogCNN(4, seed=0)
    float32 = train(exact, IMAGES, LABELS, replace(recipe, precision="float32"), seed=0)
    assert history.losses[0] == pytest.approx(float32.losses[0], rel=0.02)
    assert history.losses != float32.losses


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_decides(kind: str) -> None:
    make, recipe = KINDS[kind]
    recipe = replace(recipe, epochs=1)
    torch.manual_seed(1)
    one, first = trained(make, recipe)
    torch.manual_seed(2)
    two, second = trained(make, recipe)
    assert one == two
    assert first.losses == second.losses
    assert trained(make, recipe, seed=1)[0] != one


def test_pytorchs_own_generator_is_left_alone() -> None:
    before = torch.get_rng_state()
    trained(recipe=replace(SMALL, epochs=1))
    assert torch.equal(torch.get_rng_state(), before)


def orders(monkeypatch: pytest.MonkeyPatch, recipe: Recipe, seed: int) -> list[list[int]]:
    """Return the order in which images are seen, epoch by epoch."""
    seen: list[list[int]] = []
    batches = module._split_batches

    def noted(order: Any, size: int) -> Any:
        seen.append(order.tolist())
        return batches(order, size)

    with monkeypatch.context() as patch:
        patch.setattr(module, "_split_batches", noted)
        trained(recipe=recipe, seed=seed)
    return seen


def test_each_epoch_has_its_own_order_of_all_images(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = replace(SMALL, epochs=3)
    seen = orders(monkeypatch, recipe, seed=0)
    assert [sorted(order) for order in seen] == [list(range(24))] * 3
    assert len(set(map(tuple, seen))) == 3
    other = orders(monkeypatch, replace(recipe, batch=5), seed=0)
    assert other == seen, "neither the batch size nor dropout changes the order"
    assert orders(monkeypatch, recipe, seed=1) != seen


def test_each_epoch_has_its_learning_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    rates: list[float] = []
    step = TrainingLoop._step

    def noted(run: Any, *arguments: Any) -> Any:
        rates.extend(group["lr"] for group in run.optimizer.param_groups)
        return step(run, *arguments)

    monkeypatch.setattr(TrainingLoop, "_step", noted)
    trained(recipe=replace(WITH_DROPOUT, epochs=3))
    assert rates == pytest.approx([1.0] * 3 + [0.7] * 3 + [0.49] * 3)


def test_a_last_batch_of_one_joins_the_one_before() -> None:
    cut = [b.tolist() for b in module._split_batches(torch.arange(9), 4)]
    assert cut == [[0, 1, 2, 3], [4, 5, 6, 7, 8]]
    assert [len(b) for b in module._split_batches(torch.arange(10), 4)] == [4, 4, 2]
    assert [len(b) for b in module._split_batches(torch.arange(3), 1)] == [1, 1, 1]
    assert [len(b) for b in module._split_batches(torch.arange(4), 4)] == [4]
    network = PaperCNN(4, seed=0)
    recipe = replace(WITH_DROPOUT, epochs=1)
    assert len(train(network, IMAGES[:9], LABELS[:9], recipe, seed=0).losses) == 1


def test_progress_is_shown_only_if_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bars_made: list[tuple[str, float | None]] = []
    advanced: list[float] = []

    def noted(label: str, total: float | None) -> Any:
        bars_made.append((label, total))
        return nullcontext(SimpleNamespace(advance=advanced.append))

    monkeypatch.setattr("pinesy.nets.network_training.progress_bar", noted)
    for epochs, progress in ((1, True), (3, True), (4, False)):
        network, recipe = DeepSoftLogCNN(4), replace(SMALL, epochs=epochs)
        path = tmp_path / "c"
        train(network, IMAGES, LABELS, recipe, seed=0, checkpoint=path, progress=progress)
    assert bars_made == [("training DeepSoftLogCNN", 24), ("training DeepSoftLogCNN", 48), ("", 24)]
    assert sum(advanced) == 96
    assert capsys.readouterr() == ("", "")


# --- going on ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_two_and_two_epochs_are_four(kind: str, tmp_path: Path) -> None:
    make, recipe = KINDS[kind]
    whole, parts = tmp_path / "whole.safetensors", tmp_path / "parts.safetensors"
    expected, history = trained(make, recipe, checkpoint=whole)
    trained(make, replace(recipe, epochs=2), checkpoint=parts)
    network = make(4, seed=99)  # its weights are replaced by those of the checkpoint
    second = train(network, IMAGES, LABELS, recipe, seed=0, checkpoint=parts)
    assert network_fingerprint(network) == expected
    assert (second.losses, second.accuracies) == (history.losses, history.accuracies)
    assert (history.resumed, second.resumed, len(second.seconds)) == (0, 2, 4)
    assert tensors(parts) == tensors(whole)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["parts.safetensors", "whole.safetensors"]


def test_without_a_checkpoint_the_bits_are_the_same(tmp_path: Path) -> None:
    assert trained()[0] == trained(checkpoint=tmp_path / "c")[0]


def test_training_that_is_done_is_not_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, history = trained(checkpoint=tmp_path / "c")
    monkeypatch.setattr(TrainingLoop, "_step", lambda *_: pytest.fail("a step"))
    again, found = trained(checkpoint=tmp_path / "c")
    assert again == expected
    assert found == replace(history, resumed=4)


PROGRAM = """
import json, os, sys, torch, torch._dynamo  # which optimizers load: once for all children
torch.set_num_threads(1)
sys.path[:0] = sys.argv[1:]
from nets.conftest import bars
from pinesy import nets
for line in sys.stdin:
    path, recipe, kind = json.loads(line)
    child = os.fork()
    if not child:
        network = getattr(nets, kind)(4, seed=0)
        nets.train(network, *bars(24), nets.Recipe.from_json(recipe), seed=0, checkpoint=path)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""


@pytest.fixture(scope="module")
def trainer() -> Iterator[subprocess.Popen[str]]:
    """A process that trains in children of its own: PyTorch is loaded once for all of them."""
    paths = [str(Path(pinesy.__file__).parents[1]), str(Path(__file__).parents[1])]
    command = [sys.executable, "-c", PROGRAM, *paths]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True) as process:
        yield process


@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_changes_no_bit(kind: str, tmp_path: Path, trainer: subprocess.Popen[str]) -> None:
    """Kill a training that would never end, at some moment; go on for one epoch more."""
    make, recipe = KINDS[kind]
    path = tmp_path / "c.safetensors"
    endless = replace(recipe, epochs=10**9).to_json()
    assert trainer.stdin is not None
    assert trainer.stdout is not None
    print(json.dumps([str(path), endless, make.__name__]), file=trainer.stdin, flush=True)
    child = int(trainer.stdout.readline())
    deadline = time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(random.uniform(0.0, 0.2))
    os.kill(child, signal.SIGKILL)
    assert os.WTERMSIG(int(trainer.stdout.readline())) == signal.SIGKILL
    epochs = len(read_checkpoint(path).history["losses"]) + 1
    recipe = replace(recipe, epochs=epochs)
    resumed, history = trained(make, recipe, checkpoint=path)
    assert history.resumed == epochs - 1
    expected, at_one_go = trained(make, recipe)
    assert history.losses == at_one_go.losses
    assert resumed == expected


def test_a_full_disk_leaves_the_checkpoint_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c"
    trained(recipe=replace(SMALL, epochs=1), checkpoint=path)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with raises_saying(DataError, str(path), "No space left"):
            trained(checkpoint=path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["c"]
    assert trained(checkpoint=path)[0] == trained()[0]


def test_weights_are_loaded_for_prediction(tmp_path: Path) -> None:
    expected, _ = trained(PaperCNN, WITH_DROPOUT, checkpoint=tmp_path / "c")
    network = load_weights(PaperCNN(4, seed=5), tmp_path / "c")
    assert network_fingerprint(network) == expected
    assert not network.training
    with raises_saying(DataError, "the weights of another network"):
        load_weights(PaperCNN(10), tmp_path / "c")


# --- checkpoints that do not fit ---------------------------------------------------------------


def go_on(path: Path, **change: Any) -> None:
    arguments = {"network": DeepSoftLogCNN(4), "images": IMAGES, "labels": LABELS, "recipe": SMALL}
    train(**{**arguments, "seed": 0, "checkpoint": path, **change})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"network": PaperCNN(4)}, ["network", "DeepSoftLogCNN(", "not", "PaperCNN("]),
        ({"network": DeepSoftLogCNN(5)}, ["network", "out_features=4", "not", "out_features=5"]),
        ({"recipe": replace(SMALL, batch=4)}, ["recipe", "batch=8", "not", "batch=4"]),
        ({"recipe": replace(SMALL, learning_rate=0.5)}, ["recipe", "0.001", "not", "0.5"]),
        ({"recipe": replace(SMALL, epochs=1)}, ["after epoch 2", "has only 1"]),
        ({"seed": 7}, ["seed is '0', not '7'"]),
        ({"images": IMAGES[::-1].copy()}, ["fingerprint of the data"]),
        ({"labels": LABELS[::-1].copy()}, ["fingerprint of the data"]),
    ],
)
def test_a_checkpoint_of_another_training(
    tmp_path: Path, change: dict[str, Any], said: list[str]
) -> None:
    path = tmp_path / "c.safetensors"
    trained(recipe=replace(SMALL, epochs=2), checkpoint=path)
    before = path.read_bytes()
    with raises_saying(DataError, "c.safetensors", *said, "give another file"):
        go_on(path, **change)
    assert path.read_bytes() == before


def rewritten(path: Path, drop: str = "", **metadata: str) -> None:
    with safetensors.safe_open(path, "pt") as file:
        old = file.metadata()
        found = {k: file.get_tensor(k) for k in file.keys() if k != drop}  # noqa: SIM118
    safetensors.torch.save_file(found, path, {**old, **metadata})


DAMAGE: dict[str, Callable[[Path], object]] = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("not a checkpoint at all"),
    "no weights": lambda path: rewritten(path, "network.layers.0.weight"),
    "no optimizer": lambda path: rewritten(path, "optimizer.3.exp_avg"),
    "no history": lambda path: rewritten(path, "history.losses"),
    "other history": lambda path: rewritten(path, epoch="3"),
    "no recipe": lambda path: rewritten(path, recipe="{}"),
    "wrong recipe": lambda path: rewritten(path, recipe=SMALL.to_json().replace("adamw", "sgd")),
    "no number": lambda path: rewritten(path, seed="x"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_checkpoint(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "c.safetensors"
    trained(recipe=replace(SMALL, epochs=1), checkpoint=path)
    DAMAGE[kind](path)
    with raises_saying(DataError, "c.safetensors", "a damaged checkpoint", "delete it to begin"):
        go_on(path)


def test_files_that_are_no_checkpoints(tmp_path: Path) -> None:
    path = tmp_path / "other.safetensors"
    safetensors.torch.save_file({"a": torch.zeros(2)}, path)
    with raises_saying(DataError, "other.safetensors", "not a checkpoint of pinesy"):
        go_on(path)
    with raises_saying(DataError, str(tmp_path), "cannot be read"):
        go_on(tmp_path)
    with raises_saying(DataError, "none", "cannot be read"):
        load_weights(DeepSoftLogCNN(4), tmp_path / "none")
    with raises_saying(DataError, "nowhere", "cannot be written"):
        go_on(tmp_path / "nowhere" / "c")


class Own(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A network of a user's own: tied weights, and a layer that nothing goes through."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = torch.nn.Linear(784, 4), torch.nn.Linear(4, 4)
        self.again, self.unused = self.last, torch.nn.Linear(2, 2)

    def forward(self, images: Any) -> Any:
        return self.again(self.last(self.first(images.flatten(1))))


def test_any_network_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    torch.manual_seed(1)
    networks = [Own()]
    networks.append(copy.deepcopy(networks[0]))
    path = tmp_path / "c.safetensors"
    for network, epochs in zip(networks, [(4,), (2, 4)], strict=True):
        for number in epochs:
            recipe, file = replace(SMALL, epochs=number), path if len(epochs) > 1 else None
            train(network, IMAGES, LABELS, recipe, seed=3, checkpoint=file)
    one, two = (network.state_dict() for network in networks)
    assert all(torch.equal(one[name], two[name]) for name in one)


# --- bad input ---------------------------------------------------------------------------------


class Lines(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Gives what a function makes of images, and has no parameters."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, images: Any) -> Any:
        return self.function(images)


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (
            Lines(lambda x: x.mean(dim=(1, 2, 3))),
            "gives torch.float32 (@,) for images",
        ),
        (Lines(lambda x: x.flatten(1).long()), "gives torch.int64 (@, 784) for images"),
        (Lines(lambda x: (x, x)), "gives a tuple for images"),
        (torch.nn.Conv2d(3, 4, 28), "Conv2d cannot read images of shape (@, 1, 28, 28): "),
    ],
)
def test_networks_that_give_no_scores(network: Any, said: str) -> None:
    with raises_saying(DataError, said.replace("@", "1")):
        train(network, IMAGES, LABELS, SMALL, seed=0)
    with raises_saying(DataError, said.replace("@", "24")):
        predict_proba(network, IMAGES)


def test_a_network_without_parameters_predicts() -> None:
    assert predict_proba(Lines(lambda x: x.flatten(1)[:, :3]), IMAGES).shape == (24, 3)


def test_batch_normalisation_needs_two_images() -> None:
    with raises_saying(DomainError, "batch is 1", "batch normalisation needs at least 2"):
        train(PaperCNN(4), IMAGES, LABELS, replace(SMALL, batch=1), seed=0)


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"labels": LABELS[:-1]}, DataError, "labels has shape (23,), and there are 24 images"),
        ({"labels": LABELS / 2}, DataError, "give an array of integers"),
        ({"labels": LABELS.tolist()}, DataError, "give an array of integers"),
        (
            {"labels": LABELS + 1},
            DataError,
            "label 4 of image 3: the network has the classes 0 to 3",
        ),
        ({"labels": LABELS.astype(int) - 1}, DataError, "label -1 of image 0"),
        ({"images": IMAGES / 255}, DataError, "images has type float64"),
        ({"images": IMAGES[:1], "labels": LABELS[:1]}, DataError, "at least 2 images"),
        ({"seed": -1}, DomainError, "seed is -1"),
        ({"seed": 0.5}, DomainError, "seed is 0.5"),
    ],
)
def test_bad_input(change: dict[str, Any], error: type[PinesyError], said: str) -> None:
    with raises_saying(error, said):
        go_on(Path("not-written"), **change)
    assert not Path("not-written").exists()


def test_training_that_diverges(tmp_path: Path) -> None:
    recipe = Recipe("adamw", 1e30, "constant", batch=8, epochs=3)
    with raises_saying(PinesyError, "the loss of step", "learning rate 1e+30", "smaller"):
        trained(recipe=recipe, checkpoint=tmp_path / "c")


@pytest.mark.parametrize("missing", ["torch", "safetensors"])
def test_the_extra_is_missing(missing: str) -> None:
    code = f"import sys\nsys.modules[{missing!r}] = None\nimport pinesy\nimport pinesy.nets"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(Path(pinesy.__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert f"pinesy.nets needs {missing}" in last
    assert "pip install 'pinesy[nn]'" in last
