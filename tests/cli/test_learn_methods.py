"""`pinesy learn --method`: counted and refined parameters, and the comparison that comes first."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pinesy as library

Run = Callable[..., Any]
RULES = """version 2
attribute sky in {dark, clear}
attribute rain in {yes, no}
if sky in {dark} then rain in {yes}
"""
LINES = ["dark,yes", "dark,yes", "dark,no", "clear,no", "clear,no"] * 12


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    rules, data = tmp_path / "rain.rules", tmp_path / "days.csv"
    rules.write_text(RULES)
    data.write_text("\n".join(["sky,rain", *LINES]) + "\n")
    return rules, data, tmp_path / "model.json"


@pytest.mark.parametrize("method", ["counts", "gradient"])
def test_a_model_and_a_comparison(pinesy: Run, files: tuple[Path, Path, Path], method: str) -> None:
    rules, data, model = files
    done = pinesy("learn", rules, data, "-o", model, "--method", method, "--fixed", "s")
    assert (done.exit_code, done.stderr) == (0, "")
    for word in ("18 held out", "majority", "as given", "exact", "counts", "gradient", method):
        assert word in done.stdout
    loaded = library.load(model)
    assert loaded.result.method == method
    (rule,) = loaded.cascade["rain"].rules
    assert rule.s == 1.0
    assert 0.6 < rule.r < 0.7


def test_implications_stay_by_default(pinesy: Run, files: tuple[Path, Path, Path]) -> None:
    rules, data, model = files
    for method in ("exact", "counts", "gradient"):
        learned = []
        for fixed in ((), ("--fixed", "implications"), ("--fixed", "none")):
            done = pinesy(
                "learn", rules, data, "-o", model, "--method", method, "--no-compare", *fixed
            )
            assert done.exit_code == 0
            learned.append(library.load(model).cascade["rain"].rules[0])
        assert learned[0] == learned[1]
        assert learned[0].s == 1.0 > learned[2].s


def test_a_model_of_counts_is_extended(pinesy: Run, files: tuple[Path, Path, Path]) -> None:
    rules, data, model = files
    how = ("--method", "counts", "--no-compare")
    assert "held out" not in pinesy("learn", rules, data, "-o", model, *how).stdout
    more = data.with_name("more.csv")
    more.write_text("sky,rain\n" + "dark,no\n" * 60)
    assert pinesy("learn", model, more, "-o", model, "--more").exit_code == 0
    assert library.load(model).result.samples == 120
    assert library.load(model).cascade["rain"].rules[0].r == 1.0


def test_options_that_do_not_go_together(pinesy: Run, files: tuple[Path, Path, Path]) -> None:
    rules, data, model = files
    for options, said in (
        (("--method", "counts", "--tolerance", "0.5"), "keeps every sample"),
        (("--more", "--method", "counts"), "keeps its method"),
        (("--more", "--fixed", "s"), "keeps the parameters"),
        (("--method", "magic"), "exact"),
    ):
        done = pinesy("learn", rules, data, "-o", model, *options)
        assert done.exit_code == 2
        assert said in " ".join(done.stderr.replace("│", " ").split())
