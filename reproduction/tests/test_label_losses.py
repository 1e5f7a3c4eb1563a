"""Possibilistic labels beside other losses: what is trained on, records that are there stay."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")
pytest.importorskip("mlxtend")

import torch
from typer.testing import CliRunner

from messages import raises_saying
from pinesy import antipignistic_inverse
from pinesy.exceptions import DataError
from pinesy.nets import RuleLayer, projection_loss, soft_label_loss
from pinesy.problems import addition
from reproduction import commands
from reproduction.label_losses import (
    TASKS,
    answered_sums,
    backpropagated_loss,
    do_label_runs,
    label_table,
    losses_of,
    noise_loss,
    noisy_labels,
    possibilistic_labels,
    read_label_record,
)
from reproduction.scales import Images
from reproduction.tests.tiny import TINY_QUICK, few_digits, timeless

FEWEST = {"train": 40, "valid": 20, "noisy": 40}


def images() -> Images:
    pixels, labels = few_digits()
    return Images(pixels, labels, 250)


def test_noise_changes_the_share_of_labels_that_it_should() -> None:
    digits = np.arange(20_000) % 10
    for share in (0.0, 0.4):
        noisy = noisy_labels(digits, share, np.random.default_rng(0))
        assert (noisy != digits).mean() == pytest.approx(share, abs=0.02)
        assert set(noisy.tolist()) == set(range(10))


def test_label_smoothing_is_the_antipignistic_inverse_of_the_label() -> None:
    labels = np.array([3, 0])
    scores = torch.randn(2, 10, dtype=torch.float64, generator=torch.manual_seed(0))
    soft = torch.from_numpy(antipignistic_inverse(possibilistic_labels(labels, 0.3)))
    smoothed = noise_loss("smoothing", 0.3)(scores, torch.from_numpy(labels))
    assert smoothed.item() == pytest.approx(soft_label_loss(scores, soft).item())


def test_nothing_is_known_of_samples_but_their_sums() -> None:
    samples = answered_sums(addition(2), np.arange(11), images())
    assert len(samples) == 2
    assert set(samples.answers) == {"y_0", "y_1", "y_2"}
    digits = images().labels[:8].astype(int).reshape(2, 4)
    sums = digits @ [10, 1, 10, 1]
    assert [int(f"{a}{b}{c}") for a, b, c in zip(*_columns(samples), strict=True)] == sums.tolist()


def _columns(samples: Any) -> list[list[int]]:
    return [list(map(int, samples.answers[name])) for name in ("y_0", "y_1", "y_2")]


def test_backpropagated_labels_are_posteriors_of_a_network_that_knows_nothing() -> None:
    layer = RuleLayer(addition(1))
    p = dict.fromkeys(["a_1", "a_2"], torch.full((3, 10), 0.1, dtype=torch.float64))
    answers = {"y_0": [0, 1, 1], "y_1": [1, 2, 8]}
    expected = projection_loss(layer, p, answers).item()
    assert backpropagated_loss(layer, p, answers).item() == pytest.approx(expected, rel=1e-6)


def test_runs_are_done_once(tmp_path: Path) -> None:
    said = list[str]()

    def do() -> list[dict[str, Any]]:
        tasks = ["sums-1", "noise-40"]
        return do_label_runs(tasks, [0], images(), FEWEST, tmp_path, said.append, epochs=1)

    records = do()
    lines = len(said)
    assert lines == sum(len(losses_of(task)) for task in ("sums-1", "noise-40"))
    assert do() == records
    assert len(said) == lines  # nothing was done
    path = tmp_path / "possibilistic-labels" / "noise-40-00.json"
    path.unlink()
    again = do()[1]
    for name, figures in again["losses"].items():
        assert figures["digits"] == records[1]["losses"][name]["digits"]
    assert (timeless(again)["alpha"], again["images"]) == (records[1]["alpha"], FEWEST)
    assert records[0]["n_test"] == 63
    path.write_text(json.dumps({"format": "another"}))
    with raises_saying(DataError, "noise-40-00.json", "not a record", "delete it"):
        read_label_record(path)


def test_the_table_has_means_and_standard_errors() -> None:
    def record(run: int, share: float) -> dict[str, Any]:
        figures = {"digits": share, "surprise": 0.25}
        return {
            "task": "noise-20",
            "run": run,
            "losses": dict.fromkeys(losses_of("noise"), figures),
        }

    table = label_table([record(0, 0.9), record(1, 0.94)])
    assert "noise-20, digits right (2 runs)" in table
    assert "| cross-entropy | 92.00 ± 2.00 | 0.250 ± 0.000 |" in table
    assert "| cross-entropy | 90.00 | 0.250 |" in label_table([record(0, 0.9)])  # no error of one


def test_the_command_prints_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "QUICK", TINY_QUICK)
    monkeypatch.setattr("pinesy.problems.digits", few_digits)
    monkeypatch.setattr("reproduction.label_losses.SIZES", FEWEST)
    options = ["--quick", "--run", "0", "--epochs", "1", "--task", "noise-0", "noise-20"]
    done = CliRunner().invoke(
        commands.app, ["possibilistic-labels", *options, "--results", str(tmp_path)]
    )
    assert done.exit_code == 0, done.output
    assert "| possibilistic labels |" in done.output
    found = sorted(path.name for path in tmp_path.rglob("*.json"))
    assert found == ["noise-0-00.json", "noise-20-00.json"]
    assert set(TASKS) > {"noise-0", "noise-20"}


def test_the_page_shows_the_records() -> None:
    root = Path(__file__).parents[2] / "docs"
    paths = sorted((root / "results" / "records" / "possibilistic-labels").glob("*.json"))
    table = label_table([read_label_record(path) for path in paths])
    lines = [line for line in table.splitlines() if "±" in line]
    page = (root / "experiments.md").read_text(encoding="utf-8")
    assert len(lines) == len(losses_of("sums")) + len(losses_of("noise"))
    assert all(line in page for line in lines)
