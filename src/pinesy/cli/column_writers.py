"""Writers of results in columns: CSV and JSON Lines as rows are written, and Parquet.

The text of a result is made once for all samples of a batch that share it.
"""

import csv
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol, TextIO

import numpy as np

from pinesy._common.files import atomic_bytes, wrap_read_errors
from pinesy._common.names import first_duplicate
from pinesy._common.validation import object_array, printable_json
from pinesy.cli.output import cell_writer, open_output, with_progress
from pinesy.cli.result_columns import BatchResults, OutputColumns, OutputResult
from pinesy.cli.worker_processes import results_in_order
from pinesy.exceptions import DataError, needing
from pinesy.samples import Batch, read_samples
from pinesy.samples.conversion import UnseenValues, add_unseen, warn_unseen

#: Rows that a group of a Parquet file has at least, if the file has as many.
GROUP_ROWS = 50_000


class BatchForm(Protocol):
    """How results are written: `body` may be called in other threads and processes."""

    def header(self, results: BatchResults) -> Any:
        """Return what stands before the first batch."""

    def body(self, results: BatchResults) -> Any:
        """Return the results of a batch as they are written."""


@dataclass(frozen=True)
class CsvForm:
    """CSV: a header, then a row for each sample, as `write_csv` writes them.

    Attributes
    ----------
    formulas : whether to write texts that spreadsheets run as formulas unchanged
    is_screen : whether to escape control characters
    """

    formulas: bool = False
    is_screen: bool = False

    def header(self, results: BatchResults) -> str:
        """Return the titles of the columns."""
        titles = [output.result(0).titles() for output in results.outputs]
        return self._lines([[*results.samples.ids, *chain(*titles)]])[0]

    def body(self, results: BatchResults) -> str:
        """Return the rows of a batch."""
        parts: list[Iterable[str]] = []
        ids = results.samples.ids.values()
        if ids:
            cells = (["" if entry is None else entry for entry in entries] for entries in ids)
            parts.append(self._cells(zip(*cells, strict=True)))
        for index, output in enumerate(results.outputs):
            distinct, indices = output.distinct
            texts = self._cells(result.cells() for result in distinct)
            if index == len(results.outputs) - 1:
                texts = [f"{text[:-1]}\n" for text in texts]
            parts.append(_taken(texts, indices))
        return _joined(parts)

    def _cells(self, rows: Iterable[Sequence[Any]]) -> list[str]:
        """Return the cells of rows as text, with a comma after each."""
        return [line[:-1] for line in self._lines([*cells, ""] for cells in rows)]

    def _lines(self, rows: Iterable[Sequence[Any]]) -> list[str]:
        cell_text = cell_writer(self.formulas, self.is_screen)
        lines: list[str] = []
        writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\n")
        writer.writerows(map(cell_text, cells) for cells in rows)
        return lines


@dataclass(frozen=True)
class JsonLinesForm:
    """JSON Lines: an object for each sample, as `write_json_lines` writes them."""

    def header(self, _: BatchResults) -> str:
        """Return nothing: the first line is a sample."""
        return ""

    def body(self, results: BatchResults) -> str:
        """Return the lines of a batch."""
        parts: list[Iterable[str]] = []
        start = "{"
        for title, entries in results.samples.ids.items():
            parts += [repeat(f"{start}{printable_json(title)}: "), _json_texts(entries)]
            start = ", "
        for output in results.outputs:
            distinct, indices = output.distinct
            begin = f"{start}{printable_json(output.attribute.name)}: "
            end = "}\n" if output is results.outputs[-1] else ""
            texts = [f"{begin}{printable_json(result.to_dict())}{end}" for result in distinct]
            parts.append(_taken(texts, indices))
            start = ", "
        return _joined(parts)


def _json_texts(entries: Sequence[Any]) -> list[str]:
    """Return entries as texts of JSON, all by one call: no text has a line end in it."""
    if any(isinstance(entry, dict | list | tuple) for entry in entries):
        return list(map(printable_json, entries))
    return printable_json(list(entries), separators=("\n", ": "))[1:-1].split("\n")


def _taken(texts: Sequence[Any], indices: Any) -> list[Any]:
    entries: list[Any] = object_array(texts)[indices].tolist()
    return entries


def _joined(parts: Sequence[Iterable[str]]) -> str:
    """Return the first of each part, then the second of each, and so on, as one text."""
    if len(parts) == 1:
        return "".join(parts[0])
    return "".join(chain.from_iterable(zip(*parts, strict=False)))


@dataclass(frozen=True)
class ParquetForm:
    """Parquet: the columns of CSV; numbers and truth values keep their types.

    A cell that is empty in CSV is null.
    """

    def header(self, results: BatchResults) -> None:
        """Check the titles of the columns."""
        titles = [output.result(0).titles() for output in results.outputs]
        duplicate = first_duplicate([*results.samples.ids, *chain(*titles)])
        if duplicate is not None:
            raise DataError(
                f"two columns would be called {duplicate!r:.80}; write CSV or JSON Lines, or give "
                "the attribute another name"
            )

    def body(self, results: BatchResults) -> Any:
        """Return the results of a batch as a table of pyarrow."""
        pyarrow = import_module("pyarrow")
        columns = {title: _id_column(title, e) for title, e in results.samples.ids.items()}
        for output in results.outputs:
            columns |= _parquet_columns(output)
        return pyarrow.table(columns)


def _parquet_columns(output: OutputColumns) -> dict[str, Any]:
    """Return the columns of one output, by title."""
    pyarrow = import_module("pyarrow")
    distinct, indices = output.distinct
    name = output.attribute.name

    def column(entries: Iterable[Any], kind: Any = None) -> Any:
        return pyarrow.array(entries, kind or pyarrow.string()).take(rows)

    rows = pyarrow.array(indices)
    columns = {
        name: column(*_best_values(distinct, output)),
        f"{name} outcome": column(result.outcome for result in distinct),
        f"{name} verdict": column(_text(result.verdict) for result in distinct),
        f"{name} {output.title}": column(_text(result.remaining) for result in distinct),
    }
    for fact in output.facts:
        columns[f"{name} {fact}"] = column((r.facts[fact] for r in distinct), pyarrow.float64())
    texts = distinct[0].texts
    for index, text in enumerate(texts):
        columns[_text(f"{name}={text}")] = pyarrow.array(
            np.ascontiguousarray(output.degrees[:, index])
        )
    if output.lower is not None:
        for index, text in enumerate(texts):
            bounds = (result.lower_bounds[index] for result in distinct)
            columns[_text(f"{name} lower={text}")] = column(bounds, pyarrow.float64())
    return columns


def _best_values(distinct: Sequence[OutputResult], output: OutputColumns) -> tuple[list[Any], Any]:
    """Return the best values, None where there is none, and their type."""
    pyarrow = import_module("pyarrow")
    types = {type(value) for value in output.attribute.domain}
    values: Sequence[Any] = output.attribute.domain
    if types == {bool}:
        kind = pyarrow.bool_()
    elif types <= {int, float} and all(abs(value) < 2**53 for value in values):
        kind = pyarrow.int64() if types == {int} else pyarrow.float64()
    else:
        kind, values = pyarrow.string(), [_text(text) for text in distinct[0].texts]
    return [None if r.best is None else values[r.best] for r in distinct], kind


def _id_column(title: str, entries: Sequence[Any]) -> Any:
    pyarrow = import_module("pyarrow")
    try:
        texts = (_text(entry) if isinstance(entry, str) else entry for entry in entries)
        column = pyarrow.array(texts)
    except (pyarrow.ArrowException, OverflowError):
        raise DataError(
            f"the ids {title!r:.80} are of several types, which no column of a Parquet file can "
            "have; write CSV or JSON Lines"
        ) from None
    return column.cast(pyarrow.string()) if column.type == pyarrow.null() else column


def _text(text: str) -> str:
    """Return a text that UTF-8 can hold, as text files have it."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


#: Writes what a `BatchForm` returns.
Write = Callable[[Any], object]


@dataclass(frozen=True, eq=False)
class WrittenBatch:
    """The results of a batch as they are written, with what is reported of it.

    Attributes
    ----------
    header, body : what a `BatchForm` returns
    n_samples, position, unseen : as of `Batch`
    notices : warnings of another process since its last batch
    """

    header: Any
    body: Any
    n_samples: int
    position: int
    unseen: UnseenValues
    notices: Sequence[Warning] = ()

    def __len__(self) -> int:
        """Return the number of samples."""
        return self.n_samples


@dataclass(frozen=True, eq=False)
class FileInference:
    """Infers the samples of data files, and writes the results.

    Attributes
    ----------
    inference : returns the results of a batch
    form : how results are written
    reading : the arguments of `read_samples` besides the file, by name
    """

    inference: Callable[[Batch], BatchResults]
    form: BatchForm
    reading: Mapping[str, Any]

    def batches(self, source: Any, share: tuple[int, int] = (0, 1)) -> Iterator[WrittenBatch]:
        """Yield the results of a share of the batches of a file, as `read_samples` shares them."""
        for batch in read_samples(source, share=share, **self.reading):
            results = self.inference(batch)
            header, body = self.form.header(results), self.form.body(results)
            yield WrittenBatch(header, body, len(batch), batch.position, batch.unseen)

    def _recorded(self, source: Any, share: tuple[int, int]) -> Iterator[WrittenBatch]:
        """Yield the same, each with the warnings since the last, in place of raising these.

        Every process sees the columns of the file, and the first one reports them.
        """
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for batch in self.batches(source, share):
                messages = [w.message for w in caught if isinstance(w.message, Warning)]
                caught.clear()
                yield replace(batch, notices=messages if share[0] == 0 else ())

    def write(self, source: Any, output: Path | None, jobs: int = 1, label: str = "") -> int:
        """Write the results of all samples of a file, and return their number.

        `label` is what a progress bar calls the file; empty for no bar.
        """
        data = Path(source) if isinstance(source, str | Path) else None
        size = None
        if data is not None:
            with wrap_read_errors(data):  # its name may be too long
                size = data.stat().st_size if data.is_file() else None
        n, unseen = 0, dict[str, Any]()
        work = partial(self._recorded if jobs > 1 else self.batches, source)
        with (
            _open_form(self.form, output) as write,
            closing(results_in_order(work, jobs)) as results,
            closing(with_progress(results, label, size)) as watched_batches,
        ):
            for batch in watched_batches:
                for notice in batch.notices:
                    warnings.warn(notice, stacklevel=2)
                if n == 0:
                    write(batch.header)
                write(batch.body)
                n += len(batch)
                add_unseen(unseen, batch.unseen)
            if jobs > 1:
                warn_unseen(str(source), unseen)
        return n


@contextmanager
def _open_form(form: BatchForm, output: Path | None) -> Iterator[Write]:
    if isinstance(form, ParquetForm):
        assert output is not None
        with open_parquet(output) as write:
            yield write
    else:
        with open_output(output) as stream:
            yield stream.write


@contextmanager
def open_parquet(path: Path) -> Iterator[Write]:
    """Yield a function that writes tables to a Parquet file, atomically; groups of rows are large.

    Memory holds one group.
    """
    with needing("parquet", f"{path}: Parquet files are written with", ", or write CSV"):
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    tables: list[Any] = []
    writers: list[Any] = []

    def flush() -> None:
        if tables:
            writers[0].write_table(pyarrow.concat_tables(tables))
            tables.clear()

    def write(table: Any) -> None:
        if table is None:  # the header
            return
        if not writers:
            writers.append(parquet.ParquetWriter(stream, table.schema))
        tables.append(_with_schema(table, writers[0].schema))
        if sum(map(len, tables)) >= GROUP_ROWS:
            flush()

    with atomic_bytes(path) as stream:
        try:
            yield write
            flush()
        finally:
            for writer in writers:
                writer.close()


def _with_schema(table: Any, schema: Any) -> Any:
    """Return a table with the types of the first one: ids may have others."""
    if table.schema == schema:
        return table
    pyarrow = import_module("pyarrow")
    for field in schema:
        column = table.column(field.name)
        if column.type == field.type:
            continue
        if column.null_count < len(column):
            raise DataError(
                f"the ids {field.name!r:.80} are of type {field.type}, and later {column.type}, "
                "which no column of a Parquet file can have; write CSV or JSON Lines"
            )
        empty = pyarrow.nulls(len(column), field.type)
        table = table.set_column(schema.get_field_index(field.name), field, empty)
    return table


def form_of(name: str, formulas: bool, stream: TextIO | None = None) -> BatchForm:
    """Return the form of a file of results, by its suffix: JSON Lines if it is no other.

    A stream that is a screen gets no control characters.
    """
    suffix = f".{name.lower().rpartition('.')[2]}"
    if suffix == ".parquet":
        return ParquetForm()
    is_screen = stream is not None and stream.isatty()
    return CsvForm(formulas, is_screen) if suffix == ".csv" else JsonLinesForm()
