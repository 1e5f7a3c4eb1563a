"""CSV read in blocks is what it is row by row: samples, ids, lines, warnings and errors."""

import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pinesy import Attribute, PinesyError
from pinesy.samples import arrow_entries, csv_blocks, read_samples
from pinesy.samples.csv_blocks import plain_ends
from pinesy.samples.file_layout import FileOptions

pytest.importorskip("pyarrow")

DRINK = Attribute("drink", ["tea", "iced coffee", "NA"])
LEFT = Attribute("left", range(3))
MIXED = Attribute("mixed", [3, "3", True, 0.5])
AGE = Attribute.number("age", cuts=[20, 60])
SIZE = Attribute.number("size", cuts=[1.5], names=["small", "NA"], blur=0.5)
LABEL = Attribute("label", ["yes", "no"])
#: Cells of each column: most are good, the others are what files of people have.
NUMBERS = [
    "1", "20", "61.5", "1e3", "-0", " 7 ", "+5", ".5", "5.", "inf", "1e999", "٣", "1_0", "nan",
    "NAN", "", " ", "NA", "1,5", "1.5", "x", "0x10", "<20", "small", '"30"', '"4""5"', "nan(1)",
]  # fmt: skip
CELLS = {
    "drink": ["tea", "iced coffee", " tea", "NA", "", "None", "milk", '"tea"', '"milk"', "é", "'"],
    "left": ["0", "1", "2", "2.0", " 1", "", "NA", "7", "x", '"1"'],
    "mixed": ["3", "3 (int)", "true", "0.5", "", "9"],
    "age": NUMBERS,
    "size": NUMBERS,
    "label": ["yes", "no", "", "maybe"],
    "label=yes": ["1", "0.5", "0", "nan", "nan(1)", "2", "", "x", "1,0"],
    "label=no": ["1", "0.5", "0", "-1"],
    "id": ["a", "", "=1", " b ", '"x\ny"', '"p;q"', '"""', "\x00", "\r", "0"],
    "other": ["", "x", "\udcff", '"', "u\u2028v"],
}
#: Cells of files that can be read.
GOOD = {
    "drink": ["tea", "iced coffee", " tea", "NA", "None", "milk", "cocoa", '"tea"', '"milk"'],
    "left": ["0", "1", "2", "2.0", " 1", "", '"1"'],
    "mixed": ["3", "3 (int)", "true", "0.5", ""],
    "age": ["1", "20", "61.5", "1e3", "", "NA", '"30"'],
    "size": ["1", "20", "1.5", "small", "NA"],
    "label": ["yes", "no"],
    "label=yes": ["1"],
    "label=no": ["1", "0.5", "0"],
    "id": ["a", "", '"p;q"', "0"],
    "other": ["", "x"],
}
COMMON = 12
LINE_ENDS = ["\n"] * 8 + ["\r\n", "\n\n", "\r"]


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, dict[str, Any]]:
    """The bytes of a file of any quality, and options to read it with."""
    has_degrees = draw(st.booleans())
    labels = ["label=yes", "label=no"] if has_degrees else ["label"]
    titles = draw(st.permutations(["drink", "left", "mixed", "age", "size", *labels]))
    titles += draw(st.lists(st.sampled_from(["id", "other"]), unique=True))
    separator = draw(st.sampled_from([",", ";", "\t", "|"]))
    if draw(st.booleans()):
        cells = [st.sampled_from(GOOD[title]) for title in titles]
    else:
        cells = [st.sampled_from([CELLS[title][0]] * COMMON + CELLS[title]) for title in titles]
    is_uniform = draw(st.booleans())
    text = separator.join(titles) + "\n"
    for _ in range(draw(st.integers(0, 12))):
        row = [draw(cell) for cell in cells]
        n_cells = draw(st.sampled_from([len(row)] * 30 + [len(row) - 1]))
        text += separator.join(row[:n_cells])
        text += "\n" if is_uniform else draw(st.sampled_from(LINE_ENDS))
    text = text[: draw(st.sampled_from([len(text), len(text) - 1]))]
    options: dict[str, Any] = {"separator": separator if draw(st.booleans()) else None}
    options["decimal"] = draw(st.sampled_from([".", ".", ","]))
    options["batch"] = draw(st.sampled_from([1, 3, 5, 100]))
    return text.encode("utf-8", "surrogateescape"), options


def content(path: Path, is_target: bool, block: int | None, **options: Any) -> list[Any]:
    """Return all that reading a file gives, or raises; row by row if `block` is None."""
    inputs = [DRINK, LEFT, MIXED, AGE, SIZE]
    roles: dict[str, Any] = {"inputs": inputs if is_target else [*inputs, LABEL]}
    roles |= {"targets": [LABEL]} if is_target else {}
    results: list[Any] = []
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        patch.setattr(csv_blocks, "MIN_SAMPLES", 1)
        patch.setattr(csv_blocks, "MIN_BYTES", 1 << 30 if block is None else 0)
        patch.setattr(csv_blocks, "BLOCK_BYTES", block or 1)
        try:
            for batch in read_samples(path, **roles, **options):
                targets = {name: target.array.tolist() for name, target in batch.targets.items()}
                numbers = {name: array.tobytes() for name, array in batch.numbers.items()}
                ids = {title: list(entries) for title, entries in batch.ids.items()}
                results.append((batch.evidence.tobytes(), tuple(batch.lines), batch.position))
                results.append((targets, ids, numbers, batch.unseen))
        except PinesyError as error:
            results.append((type(error), str(error)))
    return [*results, [str(warning.message) for warning in caught]]


@given(files(), st.booleans(), st.sampled_from([1, 40, 100, 1 << 20]))
def test_blocks_are_read_as_rows_are(
    file: tuple[bytes, dict[str, Any]], is_target: bool, block: int
) -> None:
    raw, options = file
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "data.csv"
        path.write_bytes(raw)
        expected = content(path, is_target, None, **options)
        assert content(path, is_target, block, **options) == expected


def test_without_pyarrow_rows_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.csv"
    rows = "".join(f"tea,{i % 3},3,{i},1,yes\n" for i in range(50))
    path.write_text(f"drink,left,mixed,age,size,label\n{rows}")
    expected = content(path, False, 1 << 20, batch=20)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert content(path, False, 1 << 20, batch=20) == expected


def test_values_that_the_rules_do_not_have_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    drinks = ["milk", "tea", "cocoa", "milk", "NA", " ", "cocoa", "milk"]
    rows = "".join(f"{drink},1,3,20,1,yes\n" for drink in drinks)
    path.write_text(f"drink,left,mixed,age,size,label\n{rows}")
    by_rows = content(path, True, None, batch=7)
    assert content(path, True, 1 << 20, batch=7) == by_rows
    assert by_rows[1][-1] == {"drink": {"milk": 2, "cocoa": 2}}
    assert "5 values" in by_rows[-1][0]


@given(st.text(max_size=8) | st.floats().map(str) | st.decimals().map(str))
@example("1e400")
@example("nan(1)")
@example("-NaN")
@example("１")
def test_numbers_are_those_of_python(text: str) -> None:
    """What pyarrow reads as a number, Python reads as the same bits."""
    import pyarrow

    options = FileOptions()
    try:
        array = pyarrow.array([text])
    except UnicodeEncodeError:
        return
    numbers = arrow_entries._text_numbers(array, options)
    if numbers is not None:
        assert numbers.tobytes() == np.array([options.number(text)]).tobytes()


def test_large_files_are_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a plain file no row goes through Python's reader, also around a block that is not."""
    path = tmp_path / "data.csv"
    plain = "".join(f'{i % 3},"tea",{i}\n' for i in range(30_000))
    path.write_text(f'left,drink,id\n{plain}0,tea,"a""b"\n{plain}')
    rows = list[int]()
    entries = arrow_entries.text_entries
    monkeypatch.setattr(csv_blocks, "BLOCK_BYTES", 1 << 16)
    monkeypatch.setattr(csv_blocks, "MIN_BYTES", 1 << 16)

    def counted(layout: Any, column: Any, array: Any) -> Any:
        rows.append(len(array))
        return entries(layout, column, array)

    monkeypatch.setattr(csv_blocks, "text_entries", counted)
    ids = [i for batch in read_samples(path, [LEFT, DRINK]) for i in batch.ids["id"]]
    assert ids == [*map(str, range(30_000)), 'a"b', *map(str, range(30_000))]
    assert sum(rows) > 3 * 45_000


@pytest.mark.parametrize(
    "block",
    [b'a"b,1\n"a" ,1\n', b'"a\n",1\n', b"a\rb\n", b"\n1\n", b"1\n\r\n2\r\n", b"\xff\n", b"a\0\n",
     b'"a\n', b"x" * 200_000],
)  # fmt: skip
def test_other_blocks_are_not_plain(block: bytes) -> None:
    assert plain_ends(block, ",") is None
    assert plain_ends(b"1,2\n" + block, ",") is None
