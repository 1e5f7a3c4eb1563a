"""Samples in Parquet files: what they become, and what is said of bad ones."""

import sys
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from messages import raises_saying
from pinesy import Attribute, DataError, PinesyError, antipignistic
from pinesy.exceptions import DataWarning
from pinesy.samples import Batch, SampleFile, read_samples

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

LEFT = Attribute("left", range(4))
DRINK = Attribute("drink", ["tea", "iced coffee"])
PAIR = Attribute.product("pair", Attribute("x", [0, 1]), Attribute("y", [False, True]))
MIXED = Attribute("mixed", [3, "3", True, "true", 0.5])


def save(tmp_path: Path, columns: Any, row_group_size: int | None = None) -> Path:
    path = tmp_path / "data.parquet"
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    pq.write_table(table, path, row_group_size=row_group_size)
    return path


def read(tmp_path: Path, columns: Any, *inputs: Attribute, **options: Any) -> Batch:
    """Write a file and read it in one batch."""
    (batch,) = read_samples(save(tmp_path, columns), inputs or (LEFT,), **options)
    return batch


def evidence(tmp_path: Path, columns: Any, *inputs: Attribute, **options: Any) -> Any:
    return read(tmp_path, columns, *inputs, **options).evidence.tolist()


# --- forms -------------------------------------------------------------------------------------

TOP_2 = [[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([2, 1, 2]),
        pa.array([2, 1, 2], pa.uint8()),
        pa.array(["2", "1", "2"]),
        pa.array(["2", "1", "2"], pa.large_string()),
        pa.array(["2", "1", "2"]).dictionary_encode(),
        pa.array([2, 1, 2]).dictionary_encode(),
        pa.array([2.0, 1.0, 2.0]),
    ],
    ids=lambda array: str(array.type),
)
def test_columns_of_values(values: Any, tmp_path: Path) -> None:
    assert evidence(tmp_path, {"left": values}) == TOP_2


@pytest.mark.parametrize(
    ("values", "places"),
    [([3], [0]), (["3"], [1]), ([True, True], [2, 2]), (["true"], [3]), ([0.5], [4])],
    ids=str,
)
def test_a_value_is_the_value_of_its_type(values: Any, places: list[int], tmp_path: Path) -> None:
    batch = read(tmp_path, {"left": [0] * len(values), "mixed": values}, targets=[MIXED])
    assert batch.targets["mixed"].array.tolist() == places


def test_tuples_are_values_by_their_text(tmp_path: Path) -> None:
    columns = {"pair": ["(1, false)", "(0, true)"], "left=3": [1.0, 1.0]}
    batch = read(tmp_path, columns, targets=[PAIR])
    assert batch.targets["pair"].array.tolist() == [2, 1]
    assert evidence(tmp_path, {"pair=(1, false)": [1.0], "pair=(0, true)": [0.25]}, PAIR) == [
        [0.0, 0.25, 1.0, 0.0]
    ]


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.float16()], ids=str)
def test_columns_of_degrees(kind: Any, tmp_path: Path) -> None:
    columns = {
        "left=3": pa.array(np.array([1, 0.5], kind.to_pandas_dtype())),
        "drink": ["tea", "iced coffee"],
        "left=0": pa.array([0, 1], pa.int8()),
    }
    assert evidence(tmp_path, columns, LEFT, DRINK) == [
        [0.0, 0.0, 0.0, 1.0, 1.0, 0.0],
        [1.0, 0.0, 0.0, 0.5, 0.0, 1.0],
    ]


@pytest.mark.parametrize(
    "kind",
    [pa.list_(pa.float64()), pa.list_(pa.float32(), 4), pa.large_list(pa.float64())],
    ids=str,
)
def test_lists_of_degrees(kind: Any, tmp_path: Path) -> None:
    rows = [[1.0, 0.5, 0.0, 0.0], [0.0, 0.0, 0.25, 1.0], [0.0, 1.0, 1.0, 0.0]]
    columns = {"left": pa.array(rows, kind), "drink": ["tea"] * 3}
    batches = list(read_samples(save(tmp_path, columns), [LEFT], known=[DRINK], batch=2))
    assert np.concatenate([b.evidence for b in batches]).tolist() == rows
    target = read(tmp_path, columns, DRINK, targets=[LEFT]).targets["left"].array
    assert target.tolist() == rows
    assert target.dtype == np.float64


def test_targets(tmp_path: Path) -> None:
    columns = {"left": [1, 2], "drink": ["tea", "iced coffee"], "pair=(1, true)": [1.0, 1.0]}
    batch = read(tmp_path, columns, targets=[PAIR, DRINK, MIXED])
    assert {n: t.array.tolist() for n, t in batch.targets.items()} == {
        "drink": [0, 1],
        "pair": [[0.0, 0.0, 0.0, 1.0]] * 2,
    }
    assert batch.targets["drink"].array.dtype == np.uint32


def test_what_is_transformed(tmp_path: Path) -> None:
    p = [0.1, 0.6, 0.3, 0.0]
    columns = {"left": [p, p], "drink": ["tea"] * 2, "pair": pa.array([[0.5, 1.0, 0.5, 0.0]] * 2)}
    batch = read(tmp_path, columns, LEFT, DRINK, targets=[PAIR], transform=antipignistic)
    assert batch.evidence.tolist() == [[*antipignistic(np.array(p)).tolist(), 1.0, 0.0]] * 2
    assert batch.targets["pair"].array.tolist() == columns["pair"].to_pylist()

    def refuse(degrees: Any) -> Any:
        raise AssertionError(degrees)

    assert evidence(tmp_path, {"left": [2, 1, 2]}, transform=refuse) == TOP_2


def test_categories_that_do_not_occur_are_not_looked_at(tmp_path: Path) -> None:
    values = pa.DictionaryArray.from_arrays([1, 1], ["milk", "tea"])
    assert evidence(tmp_path, {"drink": values}, DRINK) == [[1.0, 0.0]] * 2


def test_names_with_dots_and_signs(tmp_path: Path) -> None:
    odd = [Attribute(n, [0, 1]) for n in ("a", "a.b", "a.list", "x=0", 'say "x"', " ", "日本")]
    columns = {a.name: pa.array([[0.5, 1.0]]) if i % 2 else [i // 2 % 2] for i, a in enumerate(odd)}
    wanted = [[0.5, 1.0] if i % 2 else np.eye(2)[i // 2 % 2].tolist() for i in range(len(odd))]
    for a, degrees in zip(odd, wanted, strict=True):
        assert evidence(tmp_path, columns, a, known=odd) == [degrees]
    assert evidence(tmp_path, columns, *odd) == [list(chain(*wanted))]


# --- batches -----------------------------------------------------------------------------------


def test_batches_and_what_they_know(tmp_path: Path) -> None:
    path = save(tmp_path, {"left": [0, 1, 2, 3, 0, 1, 2]}, row_group_size=2)
    batches = list(read_samples(path, [LEFT], batch=3))
    assert [list(b.lines) for b in batches] == [[1, 2, 3], [4, 5, 6], [7]]
    assert list(map(len, batches)) == [3, 3, 1]
    size = path.stat().st_size
    assert [b.position for b in batches] == [size * 3 // 7, size * 6 // 7, size]


def test_a_file_read_several_times(tmp_path: Path) -> None:
    path = save(tmp_path, {"left": [0, 1, 2], "drink": ["tea"] * 3})
    file = SampleFile(path, [LEFT], targets=[DRINK], batch=2)
    for _ in range(2):
        assert [(e.argmax(axis=1).tolist(), t["drink"].array.tolist()) for e, t in file] == [
            ([0, 1], [0, 0]),
            ([2], [0]),
        ]
    assert file.n_bytes == path.stat().st_size


def test_without_inputs_there_are_still_samples(tmp_path: Path) -> None:
    path = save(tmp_path, {"drink": ["tea"] * 3})
    (batch,) = read_samples(path, [], targets=[DRINK])
    assert (batch.evidence.shape, batch.targets["drink"].array.tolist()) == ((3, 0), [0, 0, 0])


# --- errors ------------------------------------------------------------------------------------

CALM = [1.0] * 19
ONES = [[1.0, 0.0, 0.0, 0.0]] * 19


def with_17(rows: list[Any], entry: Any) -> list[Any]:
    return [*rows[:16], entry, *rows[17:]]


NULL = "null in column '{}'; every row needs an entry there (degree 0 where a value is impossible)"
ROW_ERRORS = {
    "text": ({"left": with_17(["1"] * 19, "9")}, "attribute 'left' has no value '9'; known: 0, 1"),
    "word": ({"drink": with_17(["tea"] * 19, "tae")}, "attribute 'drink' has no value 'tae'; did"),
    "number": ({"left": with_17([1] * 19, 9)}, "attribute 'left' has no value 9; known: 0, 1, 2"),
    "decimal": ({"left": with_17(CALM, 0.3)}, "attribute 'left' has no value 0.3; known: 0, 1"),
    "boolean": ({"drink": with_17(["tea"] * 19, "true")}, "attribute 'drink' has no value 'true'"),
    "null degree": (
        {"left=0": with_17(CALM, None)},
        "attribute 'left': " + NULL.format("left=0"),
    ),
    "null in list": (
        {"left": with_17(ONES, [0, 0, 1, None])},
        "attribute 'left': " + NULL.format("left"),
    ),
    "short list": (
        {"left": with_17(ONES, [1.0, 0])},
        "attribute 'left' has 4 values; got a list of 2 degrees",
    ),
    "empty list": (
        {"left": with_17(ONES, [])},
        "attribute 'left' has 4 values; got a list of 0 degrees",
    ),
    "low": ({"left=0": with_17(CALM, 0.5)}, "attribute 'left': the distribution is not normalised"),
    "low list": (
        {"left": with_17(ONES, [0.5, 0, 0, 0])},
        "attribute 'left': the distribution is not normalised (its largest degree is 0.5)",
    ),
    "high": ({"left=0": with_17(CALM, 1.5)}, "attribute 'left': the possibility of 0 is 1.5"),
    "nan": ({"left=0": with_17(CALM, np.nan)}, "attribute 'left': the possibility of 0 is nan"),
}


@pytest.mark.parametrize("role", ["input", "target"])
@pytest.mark.parametrize("batch", [100, 10])
@pytest.mark.parametrize("case", ROW_ERRORS)
def test_bad_rows(case: str, batch: int, role: str, tmp_path: Path) -> None:
    columns, told = ROW_ERRORS[case]
    wanted = DRINK if "drink" in columns else LEFT
    if wanted is DRINK and role == "input":
        with pytest.warns(DataWarning, match="'drink': 1 values"):
            read = list(read_samples(save(tmp_path, columns), [DRINK], batch=batch))
        assert np.concatenate([part.evidence for part in read])[16].tolist() == [1.0, 1.0]
        return
    given: dict[str, Any] = (
        {"inputs": [wanted]} if role == "input" else {"inputs": [], "targets": [wanted]}
    )
    path = save(tmp_path, columns)
    with raises_saying(PinesyError, f"data.parquet, row 17: {told}"):
        list(read_samples(path, **given, batch=batch))


UNKNOWN: dict[str, Any] = {
    "nan": with_17([1.0] * 19, np.nan),
    "null": with_17([1] * 19, None),
    "null text": with_17(["1"] * 19, None),
    "null category": pa.array(with_17(["1"] * 19, None)).dictionary_encode(),
    "null list": with_17([[0.0, 1.0, 0.0, 0.0]] * 19, None),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_nothing_known(case: str, tmp_path: Path) -> None:
    path = save(tmp_path, {"left": UNKNOWN[case]})
    rows = next(iter(read_samples(path, [LEFT]))).evidence.tolist()
    assert rows == with_17([[0, 1, 0, 0]] * 19, [1, 1, 1, 1])
    with raises_saying(DataError, "row 17: attribute 'left': no target is given"):
        list(read_samples(path, [], targets=[LEFT], batch=10))


def test_a_column_of_nulls(tmp_path: Path) -> None:
    path = save(tmp_path, {"left": [None, None]})
    (batch,) = read_samples(path, [LEFT])
    assert batch.evidence.tolist() == [[1.0] * 4] * 2


def test_ids(tmp_path: Path) -> None:
    days = pa.array([0, 1], pa.date32())
    path = save(tmp_path, {"id": [7, 8], "day": days, "left": [1, 2]})
    (batch,) = read_samples(path, [LEFT], ids=["day"])
    assert batch.ids == {"id": [7, 8], "day": ["1970-01-01", "1970-01-02"]}
    (batch,) = read_samples(path, [LEFT], ids=["left", "day"])
    assert batch.ids["left"] == [1, 2]
    assert batch.evidence.tolist() == [[0, 1, 0, 0], [0, 0, 1, 0]]


def test_a_list_of_a_fixed_size_that_is_wrong(tmp_path: Path) -> None:
    columns = {"left": pa.array([[1.0, 0.0]] * 2, pa.list_(pa.float64(), 2))}
    with raises_saying(DataError, "data.parquet, row 1: attribute 'left' has 4 values; got a list"):
        read(tmp_path, columns)


def test_text_that_is_none(tmp_path: Path) -> None:
    values = pa.array([b"1", b"1", b"\xff"]).view(pa.string())
    with raises_saying(DataError, "data.parquet, row 3: attribute 'left': not UTF-8 text"):
        read(tmp_path, {"left": values})


def test_bad_probabilities_name_their_row(tmp_path: Path) -> None:
    columns = {"left=0": [1.0, 0.5], "left=1": [0.0, 0.25]}
    with raises_saying(PinesyError, "row 2: attribute 'left': the probabilities sum to 0.75"):
        read(tmp_path, columns, transform=antipignistic)


FILE_ERRORS = {
    "unknown": ({"lfet": [1]}, "column 'lfet' is neither an input nor input=value; did you mean"),
    "value": ({"left=9": [1.0]}, "attribute 'left' has no value '9'; known: 0, 1, 2, 3"),
    "missing": ({"drink": ["tea"]}, "nothing is given for left; where nothing is known"),
    "twice": ({"left": [1], "left=1": [1.0]}, "column 'left=1': an earlier column gives the same"),
    "texts": ({"left=0": ["1"]}, "column 'left=0' is of type string; degrees are decimals or"),
    "flags": ({"left=0": [True]}, "column 'left=0' is of type bool; degrees are decimals or"),
    "dates": (
        {"left": pa.array([0], pa.date32())},
        "column 'left' is of type date32[day]; values are texts, numbers, true and false",
    ),
    "dictionary": (
        {"left": pa.array([b"1"]).dictionary_encode()},
        "column 'left' is of type dictionary<values=binary",
    ),
    "struct": ({"left": [{"3": 1.0}]}, "column 'left' is of type struct<3: double>; values are"),
    "list": ({"left": [["1"]]}, "column 'left' is of type list<"),
}


@pytest.mark.parametrize("case", FILE_ERRORS)
def test_bad_columns(case: str, tmp_path: Path) -> None:
    columns, told = FILE_ERRORS[case]
    with raises_saying(DataError, f"data.parquet: {told}"):
        read(tmp_path, columns, known=[DRINK])


def test_columns_of_one_name(tmp_path: Path) -> None:
    table = pa.table([pa.array([1]), pa.array([1])], names=["left", "left"])
    with raises_saying(DataError, "data.parquet: column 'left': an earlier column gives the same"):
        read(tmp_path, table)


def test_files_that_are_not_parquet(tmp_path: Path) -> None:
    path = save(tmp_path, {"left": list(range(4)) * 100})
    whole = path.read_bytes()
    for content in (b"", b"left\n1\n", whole[:-9], whole[: len(whole) // 2]):
        path.write_bytes(content)
        with raises_saying(DataError, "data.parquet: cannot be read as a Parquet file: "):
            list(read_samples(path, [LEFT]))
    with raises_saying(DataError, "none.parquet: cannot be read: No such file"):
        list(read_samples(tmp_path / "none.parquet", [LEFT]))


def test_names_of_columns_that_are_not_text(tmp_path: Path) -> None:
    path = save(tmp_path, {"left": [1]})
    path.write_bytes(path.read_bytes().replace(b"left", b"l\xfft!"))
    with raises_saying(DataError, "data.parquet: cannot be read as a Parquet file: 'utf-8' codec"):
        list(read_samples(path, [LEFT]))


def test_damaged_pages(tmp_path: Path) -> None:
    path = save(tmp_path, {"left": pa.array([f"{i % 4}" for i in range(500)])})
    content = bytearray(path.read_bytes())
    content[4:60] = b"\xff" * 56
    path.write_bytes(content)
    with raises_saying(DataError, "data.parquet: cannot be read as a Parquet file: "):
        list(read_samples(path, [LEFT]))


def test_no_rows(tmp_path: Path) -> None:
    with raises_saying(DataError, "data.parquet: no samples in it"):
        read(tmp_path, {"left": pa.array([], pa.int64())})


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(tmp_path, {"left": [1]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with raises_saying(DataError, "data.parquet: ", "pyarrow", "pip install 'pinesy[parquet]'"):
        list(read_samples(path, [LEFT]))
