"""Records of runs, a JSON file for each: a run whose file is there is not done again."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
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


def mean_and_error(figures: Sequence[float], digits: int = 1) -> str:
    """Return the mean and, of several runs, its standard error.

    Examples
    --------
    >>> mean_and_error([98.0, 96.0]), mean_and_error([50.0], digits=2)
    ('97.0 ± 1.0', '50.00')
    """
    mean = f"{fmean(figures):.{digits}f}"
    if len(figures) == 1:
        return mean
    return f"{mean} ± {stdev(figures) / sqrt(len(figures)):.{digits}f}"


def share_and_error(shares: Sequence[float], n_samples: int, digits: int = 1) -> str:
    """Return the mean of shares in % and the larger of two standard errors.

    One is over runs; the other is that of so many test samples, each right or wrong: few runs may
    agree by chance, and runs may share their samples, which then count once.

    Examples
    --------
    >>> share_and_error([0.5, 0.5], n_samples=100), share_and_error([0.4, 0.6], n_samples=10_000)
    ('50.0 ± 5.0', '50.0 ± 10.0')
    """
    mean = fmean(shares)
    over_runs = stdev(shares) / sqrt(len(shares)) if len(shares) > 1 else 0.0
    of_samples = sqrt(mean * (1.0 - mean) / n_samples)
    return f"{100 * mean:.{digits}f} ± {100 * max(over_runs, of_samples):.{digits}f}"
