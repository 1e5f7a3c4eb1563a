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


def test_guarantees_become_a_graph(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    cascade, n = library.load(rules), 40
    evidence = {a.name: [a.domain[i % len(a.domain)] for i in range(n)] for a in cascade.inputs}
    truth = {a.name: [a.domain[i % len(a.domain)] for i in range(n)] for a in cascade.outputs}
    calibrated = library.calibrate(cascade, evidence, truth)
    selective = library.decide(calibrated, evidence, truth)
    model, graph = tmp_path / "sum.json", tmp_path / "sum.onnx"
    library.save(selective, model)
    options = ["--level", 0.9, "--inputs-as", "values"]
    done = pinesy("export", "onnx", model, "-o", graph, *options)
    assert (done.exit_code, done.output) == (0, "")
    assert onnx.load(graph) == library.to_onnx(calibrated, inputs_as="values", level=0.9)
    done = pinesy("export", "onnx", model, "-o", graph, "--decide")
    assert done.exit_code == 0
    assert onnx.load(graph) == library.to_onnx(selective)
    done = pinesy("export", "onnx", rules, "-o", graph, "--decide")
    assert done.exit_code == 3
    assert "pinesy calibrate" in done.stderr
    done = pinesy("export", "onnx", rules, "-o", graph, "--level", 0.9)
    assert done.exit_code == 3
    assert "calibrate the rules" in done.stderr


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


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_tables_are_written_and_read(pinesy: Run, rules: Path, suffix: str) -> None:
    pytest.importorskip("openpyxl")
    written, back = rules.with_suffix(suffix), rules.with_name("back.rules")
    done = pinesy("export", "table", rules, "-o", written)
    assert (done.exit_code, done.output) == (0, "")
    done = pinesy("import", "table", written, "-o", back)
    assert (done.exit_code, done.output) == (0, "")
    assert library.load(back) == library.load(rules)


def test_the_table_of_the_help_is_one(pinesy: Run, tmp_path: Path) -> None:
    lines = [line.strip() for line in pinesy("import", "table", "--help").stdout.splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("kind, "))
    path = tmp_path / "triage.csv"
    text = "\n".join(lines[start : start + 4]).replace("{no, yes}", '"{no, yes}"')
    path.write_text(text.replace(",  ", ",").replace(", ", ",").replace("no,yes", "no, yes"))
    done = pinesy("import", "table", path, "-o", tmp_path / "triage.rules")
    assert (done.exit_code, done.output) == (0, "")
    assert len(library.load(tmp_path / "triage.rules")["urgent"]) == 2


def test_a_wrong_table_is_refused_with_its_place(pinesy: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("if a,then b\n1,2\n")
    done = pinesy("import", "table", path, "-o", tmp_path / "t.rules")
    assert done.exit_code == 3
    assert "t.csv: row 1, column A: the domain of 'a' is not known" in done.stderr


def test_rules_become_sql(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    done = pinesy("export", "sql", rules, "--dialect", "sqlite")
    assert (done.exit_code, done.output) == (0, library.to_sql(library.load(rules), "sqlite"))
    options = [
        "--table",
        "t",
        "--schema",
        "s",
        "--keep",
        "id",
        "--inputs-as",
        "degrees",
    ]
    path = tmp_path / "sum.sql"
    done = pinesy(
        "export", "sql", rules, "--dialect", "duckdb", *options, "--no-degrees", "-o", path
    )
    assert (done.exit_code, done.output) == (0, "")
    assert path.read_text() == library.to_sql(
        library.load(rules), "duckdb", ["s", "t"], keep=["id"], inputs_as="degrees", degrees=False
    )
    assert pinesy("export", "sql", rules, "--dialect", "oracle").exit_code == 2


def test_rules_become_c(pinesy: Run, rules: Path, tmp_path: Path) -> None:
    done = pinesy("export", "c", rules, "-o", tmp_path / "sums.c")
    assert (done.exit_code, done.output) == (0, "")
    files = library.to_c(library.load(rules), "sums")
    assert (tmp_path / "sums.c").read_text() == files.source
    assert (tmp_path / "sums.h").read_text() == files.header
    done = pinesy("export", "c", rules, "-o", tmp_path / "2 sums.c")
    assert done.exit_code == 3
    assert "name" in done.output
