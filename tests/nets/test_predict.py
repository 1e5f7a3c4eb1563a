"""Predictions are distributions in float64, and are made once."""

import errno
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors.torch")

from messages import raises_saying  # noqa: E402
from nets.conftest import bars  # noqa: E402
from pinesy.exceptions import DataError, DomainError  # noqa: E402
from pinesy.nets import DeepSoftLogCNN, PaperCNN, PredictionCache, predict_proba, preprocess  # noqa: E402
from pinesy.nets import network_perception as module  # noqa: E402

IMAGES, _ = bars(7)


def test_probabilities_are_the_softmax_of_the_scores() -> None:
    network = DeepSoftLogCNN(4, seed=0)
    found = predict_proba(network, IMAGES)
    with torch.inference_mode():
        scores = network.eval()(preprocess(IMAGES)).numpy().astype(float)
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert found.dtype == np.float64
    assert found == pytest.approx(expected, rel=1e-12)
    assert found.sum(axis=1) == pytest.approx(np.ones(7), abs=1e-15)


def test_batches_change_nothing_but_the_last_bits() -> None:
    network = PaperCNN(4, seed=0)
    whole, parts = predict_proba(network, IMAGES), predict_proba(network, IMAGES, batch=3)
    assert parts.shape == (7, 4)
    assert parts == pytest.approx(whole, abs=1e-5)


def test_dropout_is_off_and_the_mode_is_kept() -> None:
    network = PaperCNN(4, seed=0).train()
    first, second = predict_proba(network, IMAGES), predict_proba(network, IMAGES)
    assert np.array_equal(first, second)
    assert network.training
    predict_proba(network.eval(), IMAGES)
    assert not network.training


def test_large_scores_are_no_trouble() -> None:
    network = DeepSoftLogCNN(4, seed=0)
    with torch.no_grad():
        bias = list(network.parameters())[-1]
        bias.copy_(torch.tensor([1e4, 0.0, 0.0, 0.0]))
    assert predict_proba(network, IMAGES)[:, 0].tolist() == [1.0] * 7


@pytest.mark.parametrize("batch", [0, -1, 2.5, "9", None])
def test_batch(batch: Any) -> None:
    with raises_saying(DomainError, f"batch is {batch!r}"):
        predict_proba(DeepSoftLogCNN(4), IMAGES, batch)


def test_bad_images() -> None:
    with raises_saying(DataError, "images has type float64"):
        predict_proba(DeepSoftLogCNN(4), IMAGES / 255)
    with raises_saying(DataError, "no images"):
        predict_proba(DeepSoftLogCNN(4), IMAGES[:0])
    with raises_saying(DataError, "images is a list"):
        PredictionCache("unused").predict_proba(DeepSoftLogCNN(4), [1])  # type: ignore[arg-type]


# --- the cache ---------------------------------------------------------------------------------


def test_predictions_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network, cache = DeepSoftLogCNN(4, seed=0), PredictionCache(tmp_path / "new" / "place")
    first = cache.predict_proba(network, IMAGES)
    assert np.array_equal(first, predict_proba(network, IMAGES))
    monkeypatch.setattr(module, "predict_proba", lambda *_: pytest.fail("made again"))
    assert np.array_equal(cache.predict_proba(DeepSoftLogCNN(4, seed=0), IMAGES), first)
    assert [p.suffix for p in cache.directory.iterdir()] == [".safetensors"]


def test_other_weights_images_or_batches_have_other_files(tmp_path: Path) -> None:
    cache, network = PredictionCache(tmp_path), DeepSoftLogCNN(4, seed=0)
    changed = IMAGES.copy()
    changed[0, 0, 0] ^= 1
    paths = {
        cache.path(network, IMAGES),
        cache.path(DeepSoftLogCNN(4, seed=1), IMAGES),
        cache.path(DeepSoftLogCNN(5, seed=0), IMAGES),
        cache.path(network, changed),
        cache.path(network, IMAGES, batch=2),
    }
    assert len(paths) == 5
    with torch.no_grad():
        next(network.parameters())[0, 0, 0, 0] += 1e-3
    assert cache.path(network, IMAGES) not in paths


def kept(probabilities: Any, seconds: str | None = "1.0", name: str = "probabilities") -> Any:
    """Return what puts an array, and seconds, into a file."""
    texts = {} if seconds is None else {"seconds": seconds}
    tensors = {name: torch.as_tensor(probabilities)}
    return lambda path: path.write_bytes(safetensors.save(tensors, texts))


def huge(path: Path) -> None:
    """Make a file whose header claims 36 TiB."""
    entry = {"dtype": "F64", "shape": [1_250_000_000_000, 4], "data_offsets": [0, 40 * 10**12]}
    head = json.dumps({"__metadata__": {"seconds": "1.0"}, "probabilities": entry}).encode()
    path.write_bytes(len(head).to_bytes(8, "little") + head + EVEN.tobytes())


EVEN = np.full((7, 4), 0.25)
DAMAGE: dict[str, Any] = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("no tensors"),
    "other shape": kept(np.ones((3, 1))),
    "other type": kept(np.full((7, 4), 0.25, np.float32)),
    "a type that NumPy lacks": kept(torch.full((7, 4), 0.25, dtype=torch.bfloat16)),
    "other classes": kept(np.full((7, 2), 0.5)),
    "no distributions": kept(np.ones((7, 4))),
    "negative": kept(np.tile([1.5, -0.5, 0.0, 0.0], (7, 1))),
    "no numbers": kept(np.full((7, 4), np.nan)),
    "flat": kept(EVEN.ravel()),
    "36 TiB": huge,
    "no number": kept(EVEN, seconds="soon"),
    "no seconds": kept(EVEN, seconds=None),
    "another tensor": kept(EVEN, name="weights"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_reported_and_made_anew(tmp_path: Path, kind: str) -> None:
    network, cache = DeepSoftLogCNN(4, seed=0), PredictionCache(tmp_path)
    first = cache.predict_proba(network, IMAGES)
    path = cache.path(network, IMAGES)
    DAMAGE[kind](path)
    with pytest.warns(UserWarning, match=f"(?s){path.name}: cannot be used: .*made anew"):
        assert np.array_equal(cache.predict_proba(network, IMAGES), first)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(cache.predict_proba(network, IMAGES), first)


def test_the_time_is_kept_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([10.0, 12.5])
    monkeypatch.setattr(time, "perf_counter", lambda: next(times))
    network, cache = DeepSoftLogCNN(4, seed=0), PredictionCache(tmp_path)
    assert [cache.timed(network, IMAGES)[1] for _ in range(2)] == [2.5, 2.5]


def test_a_full_disk_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    network, cache = DeepSoftLogCNN(4, seed=0), PredictionCache(tmp_path)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(UserWarning, match="predictions are not stored: .*No space left"):
        found = cache.predict_proba(network, IMAGES)
    assert found.shape == (7, 4)
    assert list(tmp_path.iterdir()) == []
