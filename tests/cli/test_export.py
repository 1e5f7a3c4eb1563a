"""`pinesy export` writes what the library makes."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pinesy as library

Run = Callable[..., Any]


@pytest.fixture
def certain(rules: Path) -> Path:
    """Return rules without uncertainty."""
    rules.write_text(rules.read_text().replace(" [s=0.1, r=0]", ""))
    return rules


def test_rules_become_a_graph(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    done = pinesy("export", "onnx", rules, "-o", tmp_path / "sum.onnx", "--outputs", "size")
    assert (done.exit_code, done.output) == (0, "")
    expected = library.to_onnx(library.load(rules), ["size"])
    assert onnx.load(tmp_path / "sum.onnx") == expected
    done = pinesy(
        "export", "onnx", rules, "-o", tmp_path / "p.onnx", "--transform", "minimum-specificity"
    )
    assert done.exit_code == 0
    assert (tmp_path / "p.onnx").stat().st_size > len(expected.SerializeToString())


def test_what_is_not_there_is_asked_for(
    pinesy: Run, rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    done = pinesy("export", "onnx", rules, "-o", tmp_path / "sum.onnx")
    assert done.exit_code == 3
    assert "pip install 'pinesy[onnx]'" in done.stderr
    assert not (tmp_path / "sum.onnx").exists()
    done = pinesy("export", "onnx", rules, "-o", tmp_path / "sum.txt")
    assert done.exit_code == 2


def test_rules_become_texts(pinesy: Run, certain: Path, tmp_path: Path) -> None:
    cascade = library.load(certain)
    done = pinesy("export", "problog", certain, "--query", "total")
    assert (done.exit_code, done.stdout) == (0, library.to_problog(cascade, query=["total"]))
    done = pinesy("export", "cnf", certain, "-o", tmp_path / "sum.cnf")
    assert (done.exit_code, done.output) == (0, "")
    assert (tmp_path / "sum.cnf").read_text() == str(library.to_dimacs(cascade))


@pytest.mark.parametrize("form", ["problog", "cnf"])
def test_uncertain_rules_are_refused(pinesy: Run, rules: Path, form: str) -> None:
    done = pinesy("export", form, rules)
    assert done.exit_code == 3
    assert "has no uncertain rules: the rule 'if pair where" in done.stderr
