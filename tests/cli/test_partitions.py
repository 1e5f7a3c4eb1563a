"""`pinesy infer` of many files, on several processes, and on a Dask cluster: the same results."""

import json
import os
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pinesy import DataError
from pinesy.cli import column_writers, worker_processes
from pinesy.cli.partitions import data_files
from pinesy.cli.worker_processes import results_in_order

Run = Callable[..., Any]
N = 40


def lines(seed: int, n: int = N) -> str:
    """Return samples as JSON Lines: some with an unknown text, a column of no rule, and ids."""
    rng = np.random.default_rng(seed)
    texts = []
    for i in range(n):
        degrees = rng.integers(0, 11, 4) / 10
        degrees[rng.integers(4)] = 1.0
        sample = {"id": f"{seed}-{i}", "left": degrees.tolist(), "right": int(rng.integers(4))}
        texts.append(json.dumps(sample | {"weight": i}))
    return "\n".join(texts) + "\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    directory = tmp_path / "data"
    directory.mkdir()
    for seed in range(3):
        (directory / f"part-{seed}.jsonl").write_text(lines(seed))
    return directory


@pytest.fixture
def expected(pinesy: Run, rules: Path, data: Path) -> dict[str, str]:
    """Return the results of each file by itself."""
    return {f.name: pinesy("infer", rules, f).stdout for f in sorted(data.iterdir())}


def contents(directory: Path) -> dict[str, str]:
    return {f.name: f.read_text() for f in sorted(directory.iterdir())}


@pytest.mark.parametrize("pattern", ["data", "data/part-*.jsonl"])
def test_each_file_has_its_results(
    pinesy: Run, rules: Path, data: Path, expected: dict[str, str], pattern: str
) -> None:
    output = data.parent / "results"
    done = pinesy("infer", rules, data.parent / pattern, "-o", output)
    assert done.stdout.startswith(f"3 files, {3 * N} samples: results in ")
    assert done.stderr == "notice: 1 column that no rule uses is ignored: 'weight'\n"
    assert contents(output) == expected


def test_results_may_have_another_format(pinesy: Run, rules: Path, data: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    output = data.parent / "results"
    done = pinesy("infer", rules, data, "-o", output, "--format", "parquet")
    assert done.exit_code == 0
    tables = [parquet.read_table(path) for path in sorted(output.iterdir())]
    assert [table["id"][0].as_py() for table in tables] == ["0-0", "1-0", "2-0"]
    assert pinesy("infer", rules, output, "-o", data.parent / "again").exit_code == 3


@pytest.mark.process
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_processes_write_the_same(pinesy: Run, rules: Path, data: Path, form: str) -> None:
    source = data / "part-0.jsonl"
    source.write_text(lines(7, 101))
    plain, shared = data.parent / f"plain.{form}", data.parent / f"shared.{form}"
    one = pinesy("infer", rules, source, "-o", plain, "--batch", 10)
    two = pinesy("infer", rules, source, "-o", shared, "--batch", 10, "--jobs", 2)
    assert (two.exit_code, two.stderr) == (one.exit_code, one.stderr) == (0, two.stderr)
    assert "weight" in one.stderr
    assert shared.read_bytes() == plain.read_bytes()


@pytest.mark.process
def test_processes_warn_and_fail_as_one_does(pinesy: Run, tmp_path: Path) -> None:
    rules, source = tmp_path / "r.rules", tmp_path / "d.csv"
    rules.write_text("attribute a in {x, y}\nattribute b in {u, v}\nif a == x then b == u\n")
    source.write_text("a\n" + "x\nq\ny\nz\nq\n" * 20)
    runs = [pinesy("infer", rules, source, "--batch", 7, "--jobs", n) for n in (1, 3)]
    assert runs[0].stderr == runs[1].stderr
    assert "60 values" in runs[0].stderr
    assert runs[0].stdout == runs[1].stdout
    source.write_text("a,b=u\n" + "x,1\n" * 20 + "x\n" + "x,1\n" * 20)
    runs = [pinesy("infer", rules, source, "--batch", 7, "--jobs", n) for n in (1, 3)]
    assert runs[0].stderr == runs[1].stderr
    assert "line 22" in runs[1].stderr
    assert (runs[0].exit_code, runs[0].stdout) == (runs[1].exit_code, runs[1].stdout)


@pytest.mark.process
def test_files_are_shared_by_processes(
    pinesy: Run, rules: Path, data: Path, expected: dict[str, str]
) -> None:
    output = data.parent / "results"
    assert pinesy("infer", rules, data, "-o", output, "--jobs", 2).exit_code == 0
    assert contents(output) == expected


def killed(share: tuple[int, int]) -> Any:
    yield share[0]
    if share[0] == 1:
        os._exit(9)
    yield share[0]


@pytest.mark.process
def test_a_process_that_dies_is_reported() -> None:
    results = results_in_order(killed, 2)
    assert [next(results), next(results), next(results)] == [0, 1, 0]
    with pytest.raises(DataError, match=r"code 9.*--batch"):
        next(results)


def test_processes_are_copies_only_where_that_is_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert worker_processes._start_method() == "spawn"


def test_bad_options(pinesy: Run, rules: Path, data: Path) -> None:
    output = data.parent / "results"
    cases: list[tuple[list[object], str]] = [
        ([data], "-o DIRECTORY"),
        ([data, "-o", output, "--format", "table"], "csv or jsonl"),
        (["-", "-o", output, "--format", "csv", "--jobs", 2], "give a file"),
        ([data / "part-0.jsonl", "--format", "table", "--jobs", 2], "by one process"),
        ([data / "part-0.jsonl", "--format", "parquet"], "give -o FILE.parquet"),
    ]
    for arguments, cure in cases:
        done = pinesy("infer", rules, *arguments)
        assert done.exit_code == 2
        assert cure in " ".join(done.stderr.replace("│", "").split())
    assert not output.exists()


def test_bad_directories(pinesy: Run, rules: Path, data: Path) -> None:
    output = data.parent / "results"
    none = pinesy("infer", rules, data / "*.csv", "-o", output)
    assert (none.exit_code, "*.csv: no file matches" in none.stderr) == (3, True)
    output.mkdir()
    (output / "notes.txt").write_text("mine")
    other = pinesy("infer", rules, data, "-o", output)
    assert (other.exit_code, "other files ('notes.txt')" in other.stderr) == (3, True)
    same = pinesy("infer", rules, data, "-o", data)
    assert (same.exit_code, "give a new directory" in same.stderr) == (3, True)
    file = pinesy("infer", rules, data, "-o", output / "notes.txt")
    assert (file.exit_code, "-o is a directory" in file.stderr) == (3, True)
    (data / "part-0.ndjson").write_text(lines(0))
    twice = pinesy("infer", rules, data, "-o", data.parent / "new", "--format", "csv")
    assert (twice.exit_code, "two data files would give part-0.csv" in twice.stderr) == (3, True)
    assert sorted(f.name for f in output.iterdir()) == ["notes.txt"]


def test_files_of_other_columns_are_named(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"a": [1], "b": [1.5]}), tmp_path / "1.parquet")
    parquet.write_table(pyarrow.table({"a": [1], "b": ["x"]}), tmp_path / "2.parquet")
    with pytest.raises(DataError, match=r"2\.parquet: .*1\.parquet: 'b' is string here, double"):
        data_files(tmp_path)
    (tmp_path / "2.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"2\.parquet: cannot be read as a Parquet file"):
        data_files(tmp_path)


def test_an_output_that_fails_leaves_nothing(pinesy: Run, rules: Path, data: Path) -> None:
    (data / "part-1.jsonl").write_text(lines(1) + '{"left": 9, "right": 1}\n')
    output = data.parent / "results"
    done = pinesy("infer", rules, data, "-o", output)
    assert (done.exit_code, f"part-1.jsonl, line {N + 1}" in done.stderr) == (3, True)
    assert [f.name for f in output.iterdir()] == ["part-0.jsonl"]


def test_parquet_groups_are_large(
    pinesy: Run, rules: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(column_writers, "GROUP_ROWS", 25)
    output = data.parent / "out.parquet"
    done = pinesy("infer", rules, data / "part-0.jsonl", "-o", output, "--batch", 10)
    assert done.exit_code == 0
    file = parquet.ParquetFile(output).metadata
    assert [file.row_group(i).num_rows for i in range(file.num_row_groups)] == [30, 10]


def test_parquet_needs_pyarrow(
    pinesy: Run, rules: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    output = data.parent / "out.parquet"
    done = pinesy("infer", rules, data / "part-0.jsonl", "-o", output)
    assert (done.exit_code, "pinesy[parquet]" in done.stderr) == (3, True)
    assert not output.exists()


@pytest.mark.dask
def test_a_cluster_writes_the_same(
    pinesy: Run, rules: Path, data: Path, expected: dict[str, str]
) -> None:
    distributed = pytest.importorskip("distributed")
    output = data.parent / "results"
    settings = {"processes": False, "n_workers": 1, "dashboard_address": ":0"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(**settings) as cluster:
            address = cluster.scheduler_address
            done = pinesy("infer", rules, data, "-o", output, "--scheduler", address)
            assert done.exit_code == 0, done.output
            assert contents(output) == expected
            (data / "part-1.jsonl").write_text('{"left": 9, "right": 1}\n')
            done = pinesy("infer", rules, data, "-o", output, "--scheduler", address)
            assert (done.exit_code, "part-1.jsonl, line 1" in done.stderr) == (3, True)


@pytest.mark.dask
def test_a_scheduler_that_does_not_answer(
    pinesy: Run, rules: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("pinesy.cli.partitions.TIMEOUT", 0.2)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        done = pinesy("infer", rules, data, "-o", data.parent / "r", "--scheduler", address)
        assert (done.exit_code, "cannot be reached" in done.stderr) == (3, True)
