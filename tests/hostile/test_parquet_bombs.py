"""Parquet files of a few bytes that would expand to gigabytes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from pinesy import Attribute, DataError
from pinesy.samples import arrow_entries, file_formats, read_samples

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

A = Attribute("a", [0, 1])


def written(path: Path, column: object, **more: object) -> Path:
    pq.write_table(pa.table({"a": column, **more}), path / "d.parquet", compression="zstd")
    return path / "d.parquet"


def test_a_list_that_is_far_too_long_is_not_read(tmp_path: Path) -> None:
    degrees = pa.array(np.zeros(10**6, np.float32))
    path = written(tmp_path, pa.ListArray.from_arrays([0, len(degrees)], degrees))
    assert path.stat().st_size < 2000
    with raises_saying(DataError, "d.parquet: group 1 of rows, column 'a': 1,000,000 entries in 1"):
        next(read_samples(path, [A]))


def test_what_expands_beyond_measure_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_formats, "MAX_EXPANDED", 1 << 20)
    path = written(tmp_path, pa.array(["x" * (1 << 22)]))
    with raises_saying(DataError, "d.parquet: group 1", "bytes that expand to 4,19"):
        next(read_samples(path, [A]))
    path = written(tmp_path, pa.array([0]), id=pa.array(["x" * (1 << 22)]))
    with raises_saying(DataError, "d.parquet: group 1", "column 'id'", "expand to"):
        next(read_samples(path, [A]))


def test_long_texts_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_entries, "MAX_LINE", 1000)
    path = written(tmp_path, pa.array(["1", "x" * 1001]))
    with raises_saying(DataError, "row 2: a text of 1,001 characters; at most 1,000"):
        list(read_samples(path, [A]))


def test_wide_rows_are_read_a_few_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_formats, "MAX_EXPANDED", 4096)
    path = written(tmp_path, pa.array([0] * 50), id=pa.array([f"{i:0500}" for i in range(50)]))
    sizes, read = list[int](), pq.ParquetFile.iter_batches

    def noted(table: Any, size: int, **more: Any) -> Any:
        sizes.append(size)
        return read(table, size, **more)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", noted)
    (batch,) = read_samples(path, [A])
    assert 1 <= sizes[0] <= 4096 // 500
    assert [int(text) for text in batch.ids["id"]] == list(range(50))


def test_an_encoded_text_is_there_once(tmp_path: Path) -> None:
    one = pa.array(["x" * (1 << 20)]).dictionary_encode()
    ids = one.take(pa.array(np.zeros(3000, np.int64)))  # 3 GB if each were written out
    path = written(tmp_path, pa.array([0] * 3000), id=ids)
    (batch,) = read_samples(path, [A])
    assert len(set(map(id, batch.ids["id"]))) < 10
    assert len(batch) == 3000
