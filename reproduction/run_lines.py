"""Records of runs as lines of a JSON Lines file: those that are there are not made again."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pinesy._common.files import atomic_text, read_text
from reproduction.experiments import Experiment
from reproduction.store import is_finite, plain_json, refusing

Record = dict[str, Any]


def do_missing_runs(
    experiments: Sequence[Experiment],
    directory: Path,
    read: Callable[[Path], list[Record]],
    make: Callable[[Experiment], Record],
    say: Callable[[Record], object],
) -> list[Record]:
    """Make the records of runs that are not there yet, and return all; a file for each size."""
    records: list[Record] = []
    for experiment in experiments:
        path = directory / f"{experiment.problem}-{experiment.size}.jsonl"
        there = read(path) if path.exists() else []
        done = [r for r in there if all(r[key] == v for key, v in experiment.fields.items())]
        if not done:
            done = [make(experiment)]
            directory.mkdir(parents=True, exist_ok=True)
            with atomic_text(path) as stream:
                stream.write("".join(json.dumps(line) + "\n" for line in [*there, *done]))
            say(done[0])
        records += done
    return records


def read_runs(
    path: Path, title: str, file_format: str, numbers: Callable[[Record], Sequence[object]]
) -> list[Record]:
    """Return the records in a file, or raise `DataError`.

    Parameters
    ----------
    title : what the file should be, for the message
    file_format : the format that every record names
    numbers : the entries of a record that must be finite numbers
    """
    with refusing(path, f"not a file of {title}", "delete it"):
        records: list[Record] = [plain_json(line) for line in read_text(path).splitlines()]
        for record in records:
            if record["format"] != file_format:
                raise ValueError(f"its format is not {file_format}")
            Experiment(*(record[name] for name in Experiment.__dataclass_fields__))
            if not all(map(is_finite, numbers(record))):
                raise TypeError("its figures are no numbers")
    return records


def grouped_runs(records: Sequence[Record]) -> dict[tuple[int, str, str], list[Record]]:
    """Return the runs of each size, setting and transformation, sorted by these."""
    groups: dict[tuple[int, str, str], list[Record]] = {}
    for record in records:
        key = record["size"], record["setting"], record["transform"]
        groups.setdefault(key, []).append(record)
    return dict(sorted(groups.items()))
