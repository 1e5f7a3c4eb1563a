"""Data files as tables of pandas, for rules that are yet to be induced."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pinesy.exceptions import DataError


def read_table(path: Path, separator: str | None, decimal: str) -> Any:
    """Read a file as a table of pandas; truth values are the texts they are in the file."""
    try:
        import pandas
    except ImportError:
        raise DataError(
            "inducing rules from a file needs pandas; install it with: pip install 'pinesy[frame]'"
        ) from None
    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    try:
        table = _READERS[path.suffix](pandas, path, separator, decimal)
    except KeyError:
        raise DataError(f"{path}: a table is a file that ends in {', '.join(_READERS)}") from None
    except (ValueError, UnicodeError, OSError, ImportError) as error:
        raise DataError(f"{path}: it cannot be read as a table: {error}") from None
    truths = list(table.select_dtypes("bool"))
    return table.astype(dict.fromkeys(truths, str))


def _read_csv(pandas: Any, path: Path, separator: str | None, decimal: str) -> Any:
    if separator is None:
        with path.open(encoding="utf-8") as file:
            separator = max(",;\t", key=file.readline().count)
    return pandas.read_csv(path, sep=separator, decimal=decimal, skipinitialspace=True)


def _read_lines(pandas: Any, path: Path, *_: Any) -> Any:
    return pandas.read_json(path, lines=path.suffix != ".json")


_READERS: dict[str, Callable[..., Any]] = {
    ".csv": _read_csv,
    ".jsonl": _read_lines,
    ".ndjson": _read_lines,
    ".json": _read_lines,
    ".parquet": lambda pandas, path, *_: pandas.read_parquet(path),
}
