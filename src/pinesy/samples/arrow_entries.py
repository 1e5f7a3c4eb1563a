"""Columns of pyarrow as NumPy's arrays, or as distinct entries: nothing is done row by row."""

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import FloatArray
from pinesy.exceptions import DataError
from pinesy.samples.file_layout import (
    BLANK_WORDS,
    MAX_LINE,
    Column,
    DistinctEntries,
    FileOptions,
    Layout,
    RowError,
)

#: Types of columns, by the names that pyarrow shows.
WHOLE = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
LISTS = ("list<", "large_list<", "fixed_size_list<")


def parquet_entries(layout: Layout, column: Column, array: Any) -> Any:
    """Return the entries of a column of a Parquet file, as `RawBatch` has them."""
    if column.is_id:
        is_encoded = hasattr(array, "dictionary")
        entries = _distinct(column, array).in_rows() if is_encoded else array.to_pylist()
        return [v if isinstance(v, str | int | float | None) else str(v) for v in entries]
    if column.position is not None:
        _check_nulls(column, array, np.arange(len(array)))
        return _numbers(array)
    if str(array.type).startswith(LISTS):
        return _lists(column, array)
    is_number = str(array.type) in WHOLE or str(array.type) in ("float", "double")
    if is_number and layout.wanted[column.name].scale is not None:
        return _numbers(array).astype(np.float64)
    return _distinct(column, array)


def text_entries(layout: Layout, column: Column, array: Any) -> Any:
    """Return the entries of a column of texts, as `RawBatch` has them."""
    if column.is_id:
        return array.to_pylist()
    options = layout.options
    if column.position is not None:
        numbers = _text_numbers(array, options)
        return array.to_pylist() if numbers is None else numbers
    is_numeric = layout.wanted[column.name].scale is not None
    # Of a scale whose intervals have names such as NA, these are no blanks.
    if is_numeric and not any(layout.has_value(column.name, text) for text in BLANK_WORDS):
        numbers = _measured_texts(array, options)
        if numbers is not None:
            return numbers
    return _distinct(column, array)


def _measured_texts(array: Any, options: FileOptions) -> FloatArray | None:
    """Return the numbers of texts, NaN for blank ones; None if a text is neither."""
    numbers = _text_numbers(array, options)
    if numbers is not None:
        return numbers
    pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    is_blank = compute.is_in(array, value_set=pyarrow.array(sorted(BLANK_WORDS)))
    if not is_blank.true_count:
        return None
    return _text_numbers(
        compute.if_else(is_blank, pyarrow.scalar(None, array.type), array), options
    )


def _text_numbers(array: Any, options: FileOptions) -> FloatArray | None:
    """Return the numbers of texts, NaN for null; None unless pyarrow reads all as numbers.

    What it reads, Python reads as the same number, because both round to nearest; but they do not
    agree on what is NaN.
    """
    pyarrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    if options.decimal == ",":
        if compute.any(compute.match_substring(array, ".")).as_py():
            return None
        array = compute.replace_substring(array, ",", ".")
    try:
        numbers = _numbers(compute.cast(array, pyarrow.float64()))
    except pyarrow.ArrowInvalid:
        return None
    return None if np.count_nonzero(np.isnan(numbers)) > array.null_count else numbers


def _lists(column: Column, array: Any) -> Any:
    """Return lists of degrees as an array with a row for each, if they are equally long."""
    if array.null_count:
        return array.to_pylist()
    lengths = _numbers(import_module("pyarrow.compute").list_value_length(array))
    degrees = array.flatten()
    _check_nulls(column, degrees, np.repeat(np.arange(len(array)), lengths))
    if (lengths != lengths[0]).any():
        return array.to_pylist()
    return _numbers(degrees).reshape(len(array), lengths[0])


def _distinct(column: Column, array: Any) -> DistinctEntries:
    """Return the distinct values of an array, each made only once; None for a null."""
    n = len(array)
    if array.null_count == n:
        return DistinctEntries([None], np.zeros(n, np.intp))
    # One that is encoded stays so: a long text in many rows is there once.
    encoded = array if hasattr(array, "dictionary") else array.dictionary_encode()
    codes = _numbers(encoded.indices.fill_null(len(encoded.dictionary))).astype(np.intp)
    first_rows = np.full(len(encoded.dictionary) + 1, n)  # the last one is null
    first_rows[codes[::-1]] = np.arange(n)[::-1]
    present = np.argsort(first_rows, kind="stable")[: np.count_nonzero(first_rows < n)]
    entries = [_entry(column, encoded.dictionary, code, first_rows) for code in present.tolist()]
    index_of = np.zeros(len(first_rows), np.intp)
    index_of[present] = np.arange(len(present))
    return DistinctEntries(entries, index_of[codes])


def _entry(column: Column, dictionary: Any, code: int, first_rows: npt.NDArray[np.int64]) -> Any:
    """Return a value of a dictionary, or raise `RowError` with its first row."""
    try:
        value = dictionary[code].as_py() if code < len(dictionary) else None
    except UnicodeDecodeError:
        problem = DataError(f"attribute {column.name!r}: not UTF-8 text")
        raise RowError(int(first_rows[code]), problem) from None
    if isinstance(value, str) and len(value) > MAX_LINE:
        problem = DataError(f"a text of {len(value):,} characters; at most {MAX_LINE:,} are read")
        raise RowError(int(first_rows[code]), problem)
    return value


def _check_nulls(column: Column, array: Any, rows: npt.NDArray[np.int64]) -> None:
    """Raise for a null; `rows` has the row of each entry of the array."""
    if array.null_count:
        problem = DataError(
            f"attribute {column.name!r}: null in column {column.title!r:.80}; every row needs "
            "an entry there (degree 0 where a value is impossible)"
        )
        raise RowError(rows[np.argmax(_numbers(array.is_null()))], problem)


def _numbers(array: Any) -> npt.NDArray[Any]:
    numbers: npt.NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return numbers
