"""Evidence read from data files: what it becomes, and what is said of bad lines."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pinesy import Attribute, DataError, DegreeError, PinesyError, antipignistic
from pinesy.exceptions import UnusedColumnsWarning
from pinesy.samples import file_formats, read_samples, value_texts
from pinesy.samples import sample_file as module

LEFT = Attribute("left", range(4))
DRINK = Attribute("drink", ["tea", "iced coffee"])
PAIR = Attribute("pair", [(0, 1), (1, 0)])
MIXED = Attribute("mixed", [3, "3", True, "true", None, 0.5])


def read(content: str | bytes, tmp_path: Path, *inputs: Attribute, **options: Any) -> list[Any]:
    suffix = options.pop("suffix", ".jsonl")
    path = tmp_path / f"data{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    parts = [b.evidence for b in read_samples(path, inputs or (LEFT,), **options)]
    rows: list[Any] = np.concatenate(parts).tolist()
    return rows


def message(content: str | bytes, tmp_path: Path, *inputs: Attribute, **options: Any) -> str:
    with pytest.raises(PinesyError) as caught:
        read(content, tmp_path, *inputs, **options)
    return str(caught.value).replace(f"{tmp_path}/", "")


def test_json_forms_of_a_distribution(tmp_path: Path) -> None:
    lines = '{"left": {"3": 1, "0": 0.4}}\n\n{"left": [0, 1, 0.5, 0]}\n{"left": 2}\n{"left": "1"}'
    assert read(lines, tmp_path) == [
        [0.4, 0.0, 0.0, 1.0],
        [0.0, 1.0, 0.5, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
    ]


def test_values_by_their_text(tmp_path: Path) -> None:
    line = '{"drink": {"\\"iced coffee\\"": 1, "tea": 0.5}, "pair": "(1, 0)"}'
    assert read(line, tmp_path, DRINK, PAIR) == [[0.5, 1.0, 0.0, 1.0]]


def test_texts_come_before_written_forms_and_every_value_has_a_name(tmp_path: Path) -> None:
    names = ["3 (int)", "3", "true (bool)", "true", "none", "0.5"]
    assert value_texts(MIXED) == names
    for place, name in enumerate(names):
        row = read(json.dumps({"mixed": {name: 1}}), tmp_path, MIXED)[0]
        assert row.index(1.0) == place


@pytest.mark.parametrize(
    ("scalar", "place"), [("3", 0), ('"3"', 1), ("true", 2), ("null", 4), ("0.5", 5)]
)
def test_a_scalar_is_the_value_of_its_type(scalar: str, place: int, tmp_path: Path) -> None:
    assert read(f'{{"mixed": {scalar}}}', tmp_path, MIXED)[0].index(1.0) == place


def test_csv_columns_of_degrees_and_of_values(tmp_path: Path) -> None:
    text = 'drink,left=3,left=0,"pair=(0, 1)"\r\niced coffee,1,0.25,1\r\n\r\ntea, 0.5 ,1e0,1.0\r\n'
    assert read(text, tmp_path, LEFT, DRINK, PAIR, suffix=".csv") == [
        [0.25, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0],
        [1.0, 0.0, 0.0, 0.5, 1.0, 0.0, 1.0, 0.0],
    ]


def test_csv_names_that_hold_an_equals_sign(tmp_path: Path) -> None:
    odd, plain = Attribute("x=1", ["a", "b=c"]), Attribute("x", ["1", "1=a"])
    text = "x=1=b=c,x=1\n1,b=c\n"
    assert "gives the same" in message(text, tmp_path, odd, plain, suffix=".csv")
    text = "x=1=b=c,x\n1,1=a\n"
    assert read(text, tmp_path, odd, plain, suffix=".csv") == [[0.0, 1.0, 0.0, 1.0]]


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    assert read(b"\xef\xbb\xbfleft\n2\n", tmp_path, suffix=".csv") == [[0.0, 0.0, 1.0, 0.0]]


def test_known_attributes_are_passed_over(tmp_path: Path) -> None:
    line = '{"left": 1, "drink": "anything"}'
    assert read(line, tmp_path, known=[LEFT, DRINK]) == [[0.0, 1.0, 0.0, 0.0]]
    assert read("left,drink\n1,x\n", tmp_path, known=[DRINK], suffix=".csv")[0][1] == 1.0
    with pytest.warns(UnusedColumnsWarning, match="no rule uses is ignored: 'drink'"):
        assert read(line, tmp_path) == [[0.0, 1.0, 0.0, 0.0]]
    assert "there is no input 'drink'" in message(line, tmp_path, strict=True)


def test_probabilities_are_transformed(tmp_path: Path) -> None:
    p = [0.1, 0.6, 0.3, 0.0]
    rows = read(json.dumps({"left": p}) + "\n" + '{"left": 0}', tmp_path, transform=antipignistic)
    assert rows == [antipignistic(np.array(p)).tolist(), [1.0, 0.0, 0.0, 0.0]]


def test_batches_and_what_they_know(tmp_path: Path) -> None:
    path = tmp_path / "data.ndjson"
    path.write_text("\n" + '{"left": 0}\n' * 7)
    batches = list(read_samples(path, [LEFT], batch=3))
    assert [b.lines for b in batches] == [(2, 3, 4), (5, 6, 7), (8,)]
    assert list(map(len, batches)) == [3, 3, 1]
    assert batches[-1].position == path.stat().st_size


def test_a_batch_stays_small_for_large_domains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_CELLS", 8)
    path = tmp_path / "data.jsonl"
    path.write_text('{"left": 0}\n' * 5)
    assert [len(b) for b in read_samples(path, [LEFT], batch=10**9)] == [2, 2, 1]


def test_a_stream_is_read_as_json_lines() -> None:
    file = io.BytesIO(b'{"left": 1}\n{"left": 9}')
    with pytest.raises(DataError, match=r"<stream>, line 2: attribute 'left' has no value 9"):
        list(read_samples(file, [LEFT]))


JSON_ERRORS = {
    '{"left": {"3": 1.0}': "line 2: column 20: not JSON (Expecting ',' delimiter)",
    "[1, 2]": "line 2: expected one JSON object a line",
    '{"left": {"3": NaN}}': "line 2: NaN is no number",
    '{"left": [1, 1e999, 0, 0]}': "line 2: 1e999 is beyond all numbers",
    '{"left": [1, -Infinity, 0, 0]}': "line 2: -Infinity is no number",
    '{"left": {"7": 1}}': "line 2: attribute 'left' has no value '7'; known: 0, 1, 2, 3",
    '{"left": 7}': "line 2: attribute 'left' has no value 7; known: 0, 1, 2, 3",
    '{"left": {"3": 1': "line 2: column 17: not JSON",
    '{"left": [1, 0]}': "line 2: attribute 'left' has 4 values; got a list of 2 degrees",
    '{"left": {"3": "1"}}': "line 2: attribute 'left': the degree \"1\" is not a number",
    '{"left": {"3": true}}': "line 2: attribute 'left': the degree true is not a number",
    '{"left": [1, [], 0, 0]}': "line 2: attribute 'left': the degree [] is not a number",
    '{"rihgt": 2}': "line 2: there is no input 'rihgt'; known: left",
    '{"lft": 1}': "line 2: there is no input 'lft'; did you mean 'left'?",
    "{}": "line 2: nothing is given for left; where nothing is known, leave cells blank",
    '{"left": {"3": 1, "3": 0}}': "line 2: the key '3' stands twice in one object",
    '{"left": 1, "left": 2}': "line 2: the key 'left' stands twice in one object",
    '{"left": {"3": 0.5}}': "line 2: attribute 'left': the distribution is not normalised",
    '{"left": {"3": 1, "0": 1.5}}': "line 2: attribute 'left': the possibility of 0 is 1.5",
    '{"left": {"3": 1, "0": -1}}': "line 2: attribute 'left': the possibility of 0 is -1.0",
    '{"left": {"3": 1, "0": 1e999}}': "line 2: 1e999 is beyond all numbers",
    '{"left": {"3": 1, "0": 1'
    + "0" * 400
    + "}}": "line 2: attribute 'left': a degree is far above",
    '{"left": {"3": ' + "1" * 5000 + "}}": "line 2: not usable JSON (Exceeds the limit",
    "[" * 100_000: "line 2: JSON that nests too deep",
    '{"left": {}}': "line 2: attribute 'left': the distribution is not normalised",
}


@pytest.mark.parametrize("line", JSON_ERRORS, ids=range(len(JSON_ERRORS)))
def test_bad_json_lines(line: str, tmp_path: Path) -> None:
    told = message('{"left": 1}\n' + line, tmp_path)
    assert told.startswith(f"data.jsonl, {JSON_ERRORS[line]}")


def test_one_value_by_two_spellings(tmp_path: Path) -> None:
    told = message('{"drink": {"iced coffee": 1, "\\"iced coffee\\"": 0.5}}', tmp_path, DRINK)
    assert (
        told == "data.jsonl, line 1: attribute 'drink': one value is given twice, by two spellings"
    )


CSV_ERRORS = {
    "left=0;left=1\n1;0,5\n": "line 2: column 'left=1': '0,5' is not a number; if commas are",
    "left=0,left=1\n1,0\n1\n": "line 3: a row of length 1 under a header of length 2",
    "left=0\n1\n1,1\n": "line 3: a row of length 2 under a header of length 1",
    "left=0\n1\nhigh\n": "line 3: column 'left=0': 'high' is not a number",
    "left=0,left=1\n1,\n": "line 2: column 'left=1': '' is not a number",
    "left=0\n0_1\n": "line 2: column 'left=0': '0_1' is not a number",
    "left=0\n1\nnan\n": "line 3: attribute 'left': the possibility of 0 is nan",
    "left\n9\n": "line 2: attribute 'left' has no value '9'; known: 0, 1, 2, 3",
    "left=9\n1\n": "line 1: attribute 'left' has no value '9'; known: 0, 1, 2, 3",
    "lfet=1\n1\n": "line 1: column 'lfet=1' is neither an input nor input=value; did you",
    "weight,lfet\n1,2\n": "line 1: column 'weight' is neither an input nor input=value",
    ",lfet\n1,2\n": "line 1: column '' is neither an input",
    "left=0,left=0\n1,1\n": "line 1: column 'left=0': an earlier column gives the same",
    "left=0,left\n1,0\n": "line 1: column 'left': an earlier column gives the same",
    "left,left=0\n0,1\n": "line 1: column 'left=0': an earlier column gives the same",
    'left=0\n"1\n': "line 2: not CSV (unexpected end of data)",
    "left=0\n0.5\n": "line 2: attribute 'left': the distribution is not normalised",
}


@pytest.mark.parametrize("text", CSV_ERRORS, ids=range(len(CSV_ERRORS)))
def test_bad_csv(text: str, tmp_path: Path) -> None:
    assert message(text, tmp_path, suffix=".csv").startswith(f"data.csv, {CSV_ERRORS[text]}")


def test_a_csv_file_without_columns_for_an_input(tmp_path: Path) -> None:
    told = message("left=0\n1\n", tmp_path, LEFT, DRINK, suffix=".csv")
    assert told.startswith("data.csv, line 1: nothing is given for drink;")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_files_without_samples(suffix: str, tmp_path: Path) -> None:
    assert message("", tmp_path, suffix=suffix) == f"data{suffix}: no samples in it"
    header = "left=0\n" if suffix == ".csv" else "\n  \n"
    assert message(header, tmp_path, suffix=suffix) == f"data{suffix}: no samples in it"


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_bytes_that_are_not_text(suffix: str, tmp_path: Path) -> None:
    told = message(b"left\xff\n", tmp_path, suffix=suffix)
    assert told == f"data{suffix}, line 1: not UTF-8 text (byte 5 of the line)"


def test_a_line_without_end(tmp_path: Path) -> None:
    told = message(b'{"left": 1}\n' + b" " * 10_000_001, tmp_path)
    assert told == "data.jsonl, line 2: longer than 10,000,000 bytes; a sample takes one line"


def test_files_that_are_not_there_or_not_data(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.csv: cannot be read: No such file"):
        list(read_samples(tmp_path / "none.csv", [LEFT]))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match=r"folder\.csv: cannot be read: Is a directory"):
        list(read_samples(tmp_path / "folder.csv", [LEFT]))
    told = message("", tmp_path, suffix=".xlsx")
    assert (
        told == "data.xlsx: data are read from .csv, .json, .jsonl, .ndjson, .parquet, not '.xlsx'"
    )


def test_the_first_bad_line_of_a_batch_is_named(tmp_path: Path) -> None:
    lines = ['{"left": 0, "drink": "tea"}'] * 9
    lines[4] = '{"left": 0, "drink": {"tea": 0.25}}'
    lines[7] = '{"left": {"1": 0.5}, "drink": "tea"}'
    told = message("\n".join(lines), tmp_path, LEFT, DRINK)
    assert told.startswith("data.jsonl, line 5: attribute 'drink': the distribution is not norm")


def test_bad_probabilities_name_their_line(tmp_path: Path) -> None:
    lines = '{"left": 0}\n{"left": {"0": 0.5, "1": 0.25}}\n'
    with pytest.raises(DegreeError):
        read(lines, tmp_path, transform=antipignistic)
    told = message(lines, tmp_path, transform=antipignistic)
    assert told.startswith("data.jsonl, line 2: attribute 'left': the probabilities sum to 0.75")
    told = message('{"left": {"0": 1.5, "2": -0.5}}', tmp_path, transform=antipignistic)
    assert "line 1: attribute 'left': the probability of 2 is -0.5" in told


degrees = st.floats(0, 1).map(lambda x: x + 0.0)
rows = st.lists(
    st.tuples(st.lists(degrees, min_size=4, max_size=4), st.integers(0, 3)), min_size=1, max_size=6
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=rows, batch=st.integers(1, 4))
def test_both_formats_give_back_what_was_written(
    content: list[tuple[list[float], int]], batch: int, tmp_path: Path
) -> None:
    table = [[1.0 if i == top else d for i, d in enumerate(row)] for row, top in content]
    lines = "\n".join(json.dumps({"left": dict(zip("0123", row, strict=True))}) for row in table)
    assert read(lines, tmp_path, batch=batch) == table
    text = io.StringIO()
    csv.writer(text).writerows([[f"left={v}" for v in range(4)], *table])
    assert read(text.getvalue(), tmp_path, batch=batch, suffix=".csv") == table


FIRST_BAD = {
    "a cut line": '{"left": {"3": 1',
    "a name": '{"lfet": 1, "drink": "tea"}',
    "a value": '{"left": 7, "drink": "tea"}',
    "a number": '{"left": [1, "0", 0, 0], "drink": "tea"}',
    "a degree": '{"left": [1, 2, 0, 0], "drink": "tea"}',
    "a probability": '{"left": [0.5, 0, 0, 0], "drink": "tea"}',
}


@pytest.mark.parametrize("late", FIRST_BAD)
@pytest.mark.parametrize("early", FIRST_BAD)
def test_the_first_bad_line_is_named_whatever_is_wrong(
    early: str, late: str, tmp_path: Path
) -> None:
    lines = ['{"left": 0, "drink": "tea"}'] * 9
    lines[3], lines[5] = FIRST_BAD[early], FIRST_BAD[late]
    told = message("\n".join(lines), tmp_path, LEFT, DRINK, transform=antipignistic)
    assert told.startswith("data.jsonl, line 4: ")


def test_the_first_bad_row_of_a_table_is_named(tmp_path: Path) -> None:
    rows = ["1,tea"] * 9
    rows[3], rows[5], rows[7] = "7,tea", "high,tea", "1"
    told = message("\n".join(["left,drink", *rows]), tmp_path, LEFT, DRINK, suffix=".csv")
    assert told.startswith("data.csv, line 5: attribute 'left' has no value '7'")


def test_rows_that_are_read_in_many_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.5, 0.0], [0.0, 0.0, 0.0, 1.0]] * 5
    lines = "\n".join(json.dumps({"left": row}) for row in whole)
    monkeypatch.setattr(file_formats, "RAW_CELLS", 8)
    assert read(lines, tmp_path, batch=7) == whole
    batches = list(read_samples(tmp_path / "data.jsonl", [LEFT], batch=7))
    assert [list(b.lines) for b in batches] == [[*range(1, 8)], [*range(8, 15)], [15]]
