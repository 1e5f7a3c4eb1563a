"""Records of experiments, read for the report: checked, sorted, a row of a table for each."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import pandas as pd

from pinesy.exceptions import DataError
from reproduction.environment import SYMBOLIC, TIMED
from reproduction.experiments import SETTINGS
from reproduction.store import CURE, is_finite, read_record

#: What the runs of one experiment have in common; records are sorted by it, and by the run.
PLACE: Final = ["scale", "problem", "size", "setting", "transform"]
HOW: Final = "make records with python -m reproduction, or say with --results where they are"


def read_records(directory: Path) -> pd.DataFrame:
    """Return the records under a directory: a row for each, sorted.

    Columns are what records say, and ``path``; ``scale`` is empty for an experiment as large as the
    paper's, else what the trial is called; ``accuracy`` and ``digit_accuracy`` are in %, and
    ``seconds``, ``all_learning_s`` and ``inference_ms`` (of one sample) are times.

    Raises
    ------
    DataError
        There is none, or some file is not a record, or two are of the same run.
    """
    if not directory.is_dir():
        raise DataError(f"{directory}: there is no such directory; {HOW}")
    # Where a file is tells what it is of, also if the directory is called "." or "..".
    paths = sorted(directory.resolve().rglob("run-*.json"))
    if not paths:
        raise DataError(f"{directory}: no records of experiments are there; {HOW}")
    table = pd.DataFrame([{**_read(path), "path": path} for path in paths])
    table["scale"] = [_scale(content) for content in table.to_dict("records")]
    table["setting"] = pd.Categorical(table["setting"], SETTINGS, ordered=True)
    table = table.sort_values([*PLACE, "run"], ignore_index=True)
    twice = table.loc[table.duplicated([*PLACE, "run"], keep=False), "path"].tolist()
    if twice:
        raise DataError(f"{twice[0]} and {twice[1]} are records of the same run; keep one of them")
    times = seconds_table(table["seconds"])
    tests = table["samples"].map(lambda samples: samples["test"])
    return table.assign(
        accuracy=100.0 * table["accuracy"],
        digit_accuracy=100.0 * table["digit_accuracy"].astype(float),
        all_learning_s=times.sum(axis=1) - times["inference"],
        inference_ms=1000.0 * times["inference"] / tests,
    )


def _scale(content: Mapping[str, Any]) -> str:
    marked = content.get("quick") is True or content.get("trial") is True
    return str(content.get("scale") or ("trial" if marked else ""))


def seconds_table(seconds: Iterable[Mapping[str, float]]) -> pd.DataFrame:
    """Return the seconds of each of `TIMED`, a row for each record; what was not done took none."""
    return pd.DataFrame(list(seconds), columns=list(TIMED)).astype(float).fillna(0.0)


def whole_seconds(records: pd.DataFrame) -> tuple[float, float]:
    """Return the symbolic seconds of all records, and all seconds they took.

    One network serves many experiments: its training and prediction are counted once.
    """
    times = seconds_table(records["seconds"])
    networks = [str(n.get("fingerprint") or n.get("file")) for n in records["network"]]
    once = times.groupby(networks)[["training", "prediction"]].max()
    symbolic = float(times[list(SYMBOLIC)].to_numpy().sum())
    return symbolic, symbolic + float(times["samples"].sum() + once.to_numpy().sum())


def _read(path: Path) -> dict[str, Any]:
    content = read_record(path)
    for name, kinds in _FIELDS.items():
        if name not in content:
            raise _refused(path, f"it has no {name!r}")
        value = content[name]
        is_odd = isinstance(value, int | float) and not is_finite(value)
        if not isinstance(value, kinds) or is_odd:
            raise _refused(path, f"its {name!r} is {value!r:.60}")
    _check_parts(path, content)
    _check_start(path, content)
    _check_counts(path, content)
    return content


_NUMBER: Final = (int, float)
_UNKNOWN: Final = (int, float, type(None))
_FIELDS: Final[dict[str, tuple[type, ...]]] = {
    "supervision": (str,),
    "accuracy": _NUMBER,
    "right": (int,),
    "ambiguous": (int,),
    "samples": (dict,),
    "digit_accuracy": _UNKNOWN,
    "thresholds": (dict,),
    "reliable": (dict,),
    "largest_parameter": _UNKNOWN,
    "distance": _UNKNOWN,
    "seconds": (dict,),
    "memory_mb": _UNKNOWN,
    "network": (dict,),
    "environment": (dict,),
}


def _refused(path: Path, reason: str) -> DataError:
    return DataError(f"{path}: not a record of an experiment ({reason}); {CURE}")


def _check_parts(path: Path, content: dict[str, Any]) -> None:
    """Raise `DataError` unless the numbers within a record are numbers."""
    triples = content["reliable"].values()
    if not all(isinstance(t, list) and len(t) == 3 for t in triples):
        raise _refused(path, "its 'reliable' is not of three numbers for each group")
    numbers_by_name = {
        name: list(content[name].values()) for name in ("samples", "thresholds", "seconds")
    }
    numbers_by_name["reliable"] = [number for triple in triples for number in triple]
    for name, numbers in numbers_by_name.items():
        odd = [n for n in numbers if not is_finite(n)]
        if odd:
            raise _refused(path, f"its {name!r} has {odd[0]!r:.60}")


def _check_start(path: Path, content: dict[str, Any]) -> None:
    """Raise `DataError` if the start of a network that learned from answers is incomplete."""
    if "start" not in content["network"]:
        return
    start = content["network"]["start"]
    is_told = isinstance(start, dict) and isinstance(start.get("scores"), dict)
    numbers = [*start["scores"].values(), start.get("corrected")] if is_told else [None]
    numbers.append(content["digit_accuracy"])
    if not all(map(is_finite, numbers)) or "reading" not in content:
        raise _refused(path, "its network learned from answers, and it does not say how")


def _check_counts(path: Path, content: dict[str, Any]) -> None:
    """Raise `DataError` unless the accuracy is that of the counts: percent are no fractions."""
    samples, right = content["samples"], content["right"]
    tests = samples.get("test", 0)
    if "train" not in samples or not 0 <= right <= tests or tests < 1:
        raise _refused(path, f"{right} right, of the samples {samples!r:.60}")
    if not abs(content["accuracy"] - right / tests) <= 1e-6:
        raise _refused(path, f"accuracy {content['accuracy']!r}, but {right} of {tests} right")
