"""Cells are read the same way everywhere: blank words, numbers, categories, values never seen."""

import datetime
import io
import warnings
from pathlib import Path

import numpy as np
import pandas
import pytest

from messages import raises_saying
from pinesy import Attribute
from pinesy.exceptions import DataError, DataWarning
from pinesy.samples import read_samples, read_table
from pinesy.samples.file_layout import BLANK_WORDS, FileOptions, is_blank, read_column

SMOKER, AGE = Attribute("smoker", ["yes", "no"]), Attribute.number("age", [50])


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("word", sorted(BLANK_WORDS))
def test_blank_words_are_blank_for_every_reader(word: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", f"age,smoker\n{word},{word}\n60, yes\n")
    (batch,) = read_samples(path, [AGE, SMOKER])
    assert batch.evidence.tolist() == [[1, 1, 1, 1], [0, 1, 1, 0]]
    table = read_table(path, None, ".")
    assert np.isnan(table["age"][0])
    assert table["age"][1] == 60.0
    assert table["smoker"].tolist() == [None, "yes"]
    assert is_blank(f" {word} ")


def test_a_blank_word_that_is_a_value_is_that_value(tmp_path: Path) -> None:
    alley = Attribute("alley", ["NA", "gravel"])
    (batch,) = read_samples(write(tmp_path / "a.csv", 'alley\nNA\n""\n'), [alley])
    assert batch.evidence.tolist() == [[1, 0], [1, 1]]


def test_numbers_are_found_by_column() -> None:
    options = FileOptions(decimal=",")
    assert read_column(["1", " 2"], options).dtype.kind == "i"
    assert read_column(["1,5", "NA", "2"], options).tolist()[::2] == [1.5, 2.0]
    assert read_column(["1", "b"], options).tolist() == ["1", "b"]
    assert read_column(["True", "true"], options).tolist() == ["True", "true"]
    assert read_column([True, None], options).tolist() == [True, None]
    assert read_column([3, 4.5, None], FileOptions()).dtype.kind == "f"


def test_a_number_names_the_same_value_in_another_spelling(tmp_path: Path) -> None:
    level = Attribute("level", [1, 2])
    (batch,) = read_samples(write(tmp_path / "a.csv", "level\n1.0\n 2\n"), [level])
    assert batch.evidence.tolist() == [[1, 0], [0, 1]]


def test_values_never_seen_are_unknown_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "smoker\npipe\nyes\npipe\ncigar\n")
    with pytest.warns(DataWarning, match=r"'smoker': 3 values .*'pipe', 'cigar'"):
        batches = list(read_samples(path, [SMOKER], batch=2))
    found = np.concatenate([batch.evidence for batch in batches])
    assert found.tolist() == [[1, 1], [1, 0], [1, 1], [1, 1]]
    lines = io.BytesIO(b'{"smoker": "pipe"}\n{"smoker": true}\n{"smoker": {"no": 1}}')
    with pytest.warns(DataWarning, match="'smoker': 2 values"):
        (batch,) = read_samples(lines, [SMOKER])
    assert batch.evidence.tolist() == [[1, 1], [1, 1], [0, 1]]


def test_what_is_no_category_stays_an_error(tmp_path: Path) -> None:
    with raises_saying(DataError, "line 2", "'age'", "old"):
        list(read_samples(write(tmp_path / "a.csv", "age\nold\n"), [AGE]))
    with raises_saying(DataError, "line 2", "'smoker' has no value 'pipe'"):
        list(read_samples(write(tmp_path / "b.csv", "smoker\npipe\n"), [], targets=[SMOKER]))
    with raises_saying(DataError, "'smoker' has no value 'pipe'"):
        list(read_samples(io.BytesIO(b'{"smoker": {"pipe": 1}}'), [SMOKER]))


def test_json_lines_are_a_table(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"a": 1, "b": "NA"}\n\n{"a": null, "c": true}\n')
    table = read_table(path, None, ".")
    assert table["c"].tolist() == [None, True]
    assert table["b"].tolist() == [None, None]
    assert np.isnan(table["a"][1])
    with raises_saying(DataError, "line 2", "not JSON"):
        read_table(write(tmp_path / "b.jsonl", '{"a": 1}\n{'), None, ".")
    with raises_saying(DataError, "two columns are called 'a'"):
        read_table(write(tmp_path / "a.csv", "a, a\n1,2\n"), None, ".")
    with raises_saying(DataError, "no samples"):
        read_table(write(tmp_path / "c.csv", "a,b\n"), None, ".")


def test_no_warning_where_nothing_is_skipped(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (batch,) = read_samples(write(tmp_path / "a.csv", "smoker\nyes\nNA\n"), [SMOKER])
    assert len(batch) == 2
    assert batch.evidence[1].tolist() == [1.0] * len(SMOKER.domain)  # a blank is unknown


def test_parquet_is_a_table(tmp_path: Path) -> None:
    days = pandas.to_datetime(["2024-01-01", "2024-01-02"])
    frame = pandas.DataFrame({"day": days, "a": [1.5, None], "b": ["NA", "x"], "c": [True, False]})
    frame.to_parquet(tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet", None, ".")
    assert table["b"].tolist() == [None, "x"]
    assert table["c"].tolist() == [True, False]
    assert table["a"][0] == 1.5
    assert all(isinstance(day, datetime.date) for day in table["day"])
