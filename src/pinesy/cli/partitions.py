"""Inference of many data files, each by itself: in one process, several, or on a Dask cluster."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from glob import escape, glob, has_magic
from importlib import import_module
from pathlib import Path
from typing import Any

from pinesy._common.cluster_tasks import ClusterTasks
from pinesy._common.files import make_directory, wrap_read_errors
from pinesy._common.names import first_duplicate
from pinesy._common.reports import count_text
from pinesy._common.validation import listed
from pinesy.cli.column_writers import BatchForm, FileInference, form_of
from pinesy.cli.worker_processes import results_in_order
from pinesy.exceptions import DataError, needing
from pinesy.samples.sample_file import READERS

#: Seconds in which a scheduler must answer.
TIMEOUT = 10


@dataclass(frozen=True)
class DataPart:
    """A data file, the file of its results, and how these are written."""

    source: Path
    target: Path
    form: BatchForm


def is_partitioned(data: Path) -> bool:
    """Return whether data are a directory or a pattern of files, such as ``data/*.parquet``."""
    with wrap_read_errors(data):
        return data.is_dir() or (has_magic(str(data)) and not data.exists())


def data_files(data: Path) -> list[Path]:
    """Return the data files of a pattern or a directory, in the order of their names."""
    with wrap_read_errors(data):
        pattern = f"{escape(str(data))}/*" if data.is_dir() else str(data)
        matches = sorted(map(Path, [str(data)] if data.is_file() else glob(pattern)))
        files = [path for path in matches if path.is_file() and path.suffix.lower() in READERS]
    if not files:
        endings = ", ".join(READERS)
        raise DataError(f"{data}: no file matches that ends in one of {endings}")
    _check_columns(files)
    return files


def partitions_of(
    files: Sequence[Path], directory: Path, file_format: str | None, formulas: bool
) -> list[DataPart]:
    """Return each file with that of its results, of the same name; make the directory.

    Results have a format, or that of the data; for `formulas` see `CsvForm`.
    """
    names = [f"{path.stem}.{file_format}" if file_format else path.name for path in files]
    if (duplicate := first_duplicate(names)) is not None:
        raise DataError(f"two data files would give {duplicate}; infer them one after the other")
    with wrap_read_errors(directory):
        if directory.exists() and not directory.is_dir():
            raise DataError(f"{directory}: is a file; of several data files -o is a directory")
        existing = list(directory.iterdir()) if directory.exists() else []
        inputs = [path for path in files if path.resolve().parent == directory.resolve()]
    others = [path.name for path in existing if path.name not in names]
    if inputs or others:
        files_text = listed([repr(name)[:60] for name in others] or [inputs[0].name])
        raise DataError(
            f"{directory}: has other files ({files_text}); give a new directory for the results"
        )
    make_directory(directory)
    return [
        DataPart(path.resolve(), directory.resolve() / name, form_of(name, formulas))
        for path, name in zip(files, names, strict=True)
    ]


def infer_partitions(
    files: FileInference, partitions: Sequence[DataPart], jobs: int, scheduler: str | None
) -> str:
    """Write the results of all partitions; return the numbers of files and samples as text."""
    finished: Iterator[tuple[int, Sequence[Warning]]]
    if scheduler is not None:
        finished = iter(_on_cluster(files, partitions, scheduler))
    else:
        finished = results_in_order(partial(_share, files, partitions), min(jobs, len(partitions)))
    n_samples = 0
    for n, notices in finished:
        n_samples += n
        for notice in notices:
            warnings.warn(notice, stacklevel=2)
    return f"{count_text(len(partitions), 'file')}, {count_text(n_samples, 'sample')}"


def _share(
    files: FileInference, partitions: Sequence[DataPart], share: tuple[int, int]
) -> Iterator[tuple[int, Sequence[Warning]]]:
    """Write the results of each n-th partition."""
    for partition in partitions[share[0] :: share[1]]:
        yield infer_partition(files, partition)


def infer_partition(files: FileInference, partition: DataPart) -> tuple[int, Sequence[Warning]]:
    """Write the results of one file; return the number of its samples, and warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        n = replace(files, form=partition.form).write(partition.source, partition.target)
    return n, [w.message for w in caught if isinstance(w.message, Warning)]


def _on_cluster(
    files: FileInference, partitions: Sequence[DataPart], scheduler: str
) -> list[tuple[int, Sequence[Warning]]]:
    """Infer each partition in a task of a Dask cluster, which sees the same files."""
    with needing("dask", "work on a cluster needs Dask's"):
        distributed = import_module("distributed")
    try:
        client = distributed.Client(scheduler, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise DataError(
            f"the Dask scheduler {scheduler!r:.80} cannot be reached ({error!s:.120}); give its "
            "address, such as tcp://10.0.0.1:8786, and see that it runs"
        ) from None
    with client:
        tasks = ClusterTasks(client)
        shared = tasks.share(files)
        futures = [
            tasks.submit(infer_partition, shared, partition, where=str(partition.source))
            for partition in partitions
        ]
        return tasks.results(futures)


def _check_columns(files: Sequence[Path]) -> None:
    """Raise for the first Parquet file whose columns are not those of the first one."""
    parquet_files = [path for path in files if path.suffix.lower() == ".parquet"]
    if len(parquet_files) < 2:
        return
    with needing("parquet", f"{parquet_files[0]}: Parquet files are read with"):
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    schemas: list[dict[str, Any]] = []
    for path in parquet_files:
        try:
            with wrap_read_errors(path):
                schema = parquet.read_schema(path)
        except pyarrow.ArrowException as error:
            raise DataError(f"{path}: cannot be read as a Parquet file: {error}") from None
        schemas.append({field.name: str(field.type) for field in schema})
        if schemas[-1] != schemas[0]:
            names = [
                n for n in {**schemas[0], **schemas[-1]} if schemas[0].get(n) != schemas[-1].get(n)
            ]
            types = [schema.get(names[0], "not there") for schema in (schemas[-1], schemas[0])]
            raise DataError(
                f"{path}: its columns are not those of {parquet_files[0]}: {names[0]!r:.80} is "
                f"{types[0]} here, {types[1]} there; infer files of other columns on their own"
            )
