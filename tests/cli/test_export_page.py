"""The command ``pinesy export page``: what it takes and what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.weather import told as plain
from pinesy import NeuroSymbolic, load, save

Run = Callable[..., Any]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a file of three samples."""
    path = tmp_path / "digits.jsonl"
    path.write_text('{"left": 1, "right": 2}\n{"left": {"3": 1, "0": 0.5}, "right": 2}\n' * 2)
    return path


def content(path: Path) -> Any:
    """Return the data in a page."""
    text = path.read_text(encoding="utf-8")
    start = text.index('id="data">') + len('id="data">')
    return json.loads(text[start : text.index("</script>", start)])


def test_a_page_is_written(pinesy: Run, rules: Path, data: Path, tmp_path: Path) -> None:
    output = tmp_path / "sum.html"
    output.write_text("an older page")
    told = pinesy("export", "page", rules, "--data", data, "--samples", 3, "-o", output)
    assert told.exit_code == 0, told.stderr
    assert told.stdout == f"{output}: {output.stat().st_size:,} bytes, 3 samples\n"
    found = content(output)
    assert [sample["inputs"] for sample in found["samples"]] == [
        [{"value": 1}, {"value": 2}],
        [{"degrees": [0.5, 0, 0, 1]}, {"value": 2}],
        [{"value": 1}, {"value": 2}],
    ]
    assert "<title>sum</title>" in output.read_text()
    assert "network" not in found["about"]


def test_images(pinesy: Run, rules: Path, data: Path, tmp_path: Path) -> None:
    images, output = tmp_path / "seen.npz", tmp_path / "sum.html"
    np.savez(images, left=np.zeros((4, 2, 2), np.uint8))
    given = ("export", "page", rules, "--data", data, "--images", images, "-o", output)
    assert pinesy(*given).exit_code == 0
    assert content(output)["samples"][3]["images"]["0"].startswith("data:image/png;base64,")
    images.write_text("no arrays")
    told = pinesy(*given)
    assert told.exit_code == 3
    assert "not a .npz file of plain arrays; numpy.savez writes one" in told.stderr
    told = pinesy("export", "page", rules, "--images", images, "-o", output)
    assert told.exit_code == 2
    assert "images are of samples: give --data" in told.stderr


def test_a_network_is_left_out(pinesy: Run, rules: Path, data: Path, tmp_path: Path) -> None:
    model, output = tmp_path / "model.zip", tmp_path / "model.html"
    save(NeuroSymbolic({"left": Blind(), "right": Blind()}, load(rules)), model)
    assert pinesy("export", "page", model, "--data", data, "-o", output).exit_code == 0
    assert "The network of the model is not in it" in content(output)["about"]
    assert len(content(output)["samples"]) == 4


class Blind:
    """A perception that sees nothing."""

    def predict_proba(self, images: Any) -> Any:
        return np.full((len(images), 4), 0.25)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"left": 1, "rihgt": 2}', "'rihgt'"),
        ('{"left": 7, "right": 2}', "has no value 7"),
        ('{"left": {"1": 0.5}, "right": 2}', "left"),
        ("", "no samples in it"),
    ],
)
def test_bad_data(pinesy: Run, rules: Path, tmp_path: Path, line: str, said: str) -> None:
    data, output = tmp_path / "bad.jsonl", tmp_path / "sum.html"
    data.write_text(line)
    told = pinesy("export", "page", rules, "--data", data, "-o", output)
    assert told.exit_code == 3
    assert said in told.stderr
    assert not output.exists()


def test_outputs_that_cannot_be(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    told = pinesy("export", "page", rules, "-o", tmp_path / "page.txt")
    assert told.exit_code == 2
    assert "does not end in .html" in plain(told.stderr)
    told = pinesy("export", "page", rules, "-o", tmp_path / "nowhere" / "page.html")
    assert told.exit_code == 3
    assert "cannot be written: there is no directory" in plain(told.stderr)
    own = tmp_path / "rules.html"
    own.symlink_to(rules)
    told = pinesy("export", "page", rules, "-o", own)
    assert told.exit_code == 2
    assert "is an input too" in plain(told.stderr)
    assert pinesy("export", "page", rules).exit_code == 2
