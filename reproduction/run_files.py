"""Records of runs, a JSON file for each: a run whose file is there is not done again."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pinesy._common.files import atomic_text, make_directory, read_text
from reproduction.run_lines import Record
from reproduction.store import is_finite, plain_json, refusing


def do_missing_files(paths: Mapping[Any, Path], make: Callable[[Any], Record]) -> None:
    """Make the records whose files are not there yet, and write each when it is done."""
    for key, path in paths.items():
        if not path.is_file():
            record = make(key)
            make_directory(path.parent)
            with atomic_text(path) as stream:
                stream.write(json.dumps(record, indent=1, allow_nan=False) + "\n")


def read_file(
    path: Path, file_format: str, numbers: Callable[[Record], Iterable[object]], cure: str
) -> Record:
    """Return the record in a file, or raise `DataError`.

    Parameters
    ----------
    file_format : the format that the record names
    numbers : the entries that must be finite numbers; it may raise an error for other entries
    cure : what to do with a file that is no such record
    """
    with refusing(path, f"not a record of {file_format}", cure):
        record: Any = plain_json(read_text(path))
        if not isinstance(record, dict) or record.get("format") != file_format:
            raise ValueError("it is of another format")
        if not all(map(is_finite, numbers(record))):
            raise TypeError("its figures are no numbers")
    return record
