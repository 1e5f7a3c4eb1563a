"""Records of experiments, read for the report: checked, sorted, each with the file it is in."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from pinesy.exceptions import DataError
from reproduction.experiments import SETTINGS
from reproduction.store import CURE, read_record

#: The parts of an experiment's time that are symbolic, and all of them.
SYMBOLIC: Final = ("transform", "thresholds", "learning", "inference")
TIMED: Final = ("training", "prediction", "samples", *SYMBOLIC)
HOW: Final = "make records with python -m reproduction, or say with --results where they are"


@dataclass(frozen=True)
class Record:
    """One run of one experiment.

    Attributes
    ----------
    path : the file it is from
    content : what the file says
    """

    path: Path
    content: Mapping[str, Any]

    @property
    def place(self) -> tuple[str, int, str, str]:
        """Problem, size, setting and transformation."""
        c = self.content
        return c["problem"], c["size"], c["setting"], c["transform"]

    @property
    def run(self) -> int:
        """The number of the run."""
        return int(self.content["run"])

    @property
    def scale(self) -> str:
        """Empty for an experiment as large as the paper's; else what the trial is called."""
        name = str(self.content.get("scale") or "")
        marked = self.content.get("quick") or self.content.get("trial")
        return name or ("trial" if marked else "")

    @property
    def seconds(self) -> dict[str, float]:
        """The seconds of each of `TIMED`; what was not done took none."""
        found = self.content["seconds"]
        return {part: float(found.get(part) or 0.0) for part in TIMED}

    @property
    def symbolic_seconds(self) -> float:
        """The seconds of transformation, thresholds, learning and inference."""
        return sum(self.seconds[part] for part in SYMBOLIC)

    @property
    def order(self) -> tuple[Any, ...]:
        """What records are sorted by."""
        problem, size, setting, transform = self.place
        return self.scale, problem, size, SETTINGS.index(setting), transform, self.run


def read_records(directory: Path) -> list[Record]:
    """Return the records under a directory, in order.

    Raises
    ------
    DataError
        There is none, or some file is not a record, or two are of the same run.
    """
    if not directory.is_dir():
        raise DataError(f"{directory}: there is no such directory; {HOW}")
    # Where a file is tells what it is of, also if the directory is called "." or "..".
    paths = sorted(directory.resolve().rglob("run-*.json"))
    records = sorted(map(_read, paths), key=lambda r: r.order)
    if not records:
        raise DataError(f"{directory}: no records of experiments are there; {HOW}")
    for first, second in pairwise(records):
        if first.order == second.order:
            raise DataError(
                f"{first.path} and {second.path} are records of the same run; keep one of them"
            )
    return records


def _read(path: Path) -> Record:
    content = read_record(path)
    for name, kinds in _FIELDS.items():
        if name not in content:
            raise _refused(path, f"it has no {name!r}")
        value = content[name]
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise _refused(path, f"its {name!r} is {value!r:.60}")
    _check_parts(path, content)
    _check_start(path, content)
    _check_counts(path, content)
    return Record(path, content)


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
    found = {name: list(content[name].values()) for name in ("samples", "thresholds", "seconds")}
    found["reliable"] = [number for triple in triples for number in triple]
    for name, numbers in found.items():
        odd = [n for n in numbers if not isinstance(n, _NUMBER) or isinstance(n, bool)]
        if odd:
            raise _refused(path, f"its {name!r} has {odd[0]!r:.60}")


def _check_start(path: Path, content: dict[str, Any]) -> None:
    """Raise `DataError` if it is not told in full how a network began that learned from answers."""
    if "start" not in content["network"]:
        return
    start = content["network"]["start"]
    is_told = isinstance(start, dict) and isinstance(start.get("scores"), dict)
    numbers = [*start["scores"].values(), start.get("corrected")] if is_told else [None]
    numbers.append(content["digit_accuracy"])
    if not all(isinstance(n, _NUMBER) for n in numbers) or "reading" not in content:
        raise _refused(path, "its network learned from answers, and it does not say how")


def _check_counts(path: Path, content: dict[str, Any]) -> None:
    """Raise `DataError` unless the accuracy is that of the counts: percent are no fractions."""
    samples, right = content["samples"], content["right"]
    tests = samples.get("test", 0)
    if "train" not in samples or not 0 <= right <= tests or tests < 1:
        raise _refused(path, f"{right} right, of the samples {samples!r:.60}")
    if not abs(content["accuracy"] - right / tests) <= 1e-6:
        raise _refused(path, f"accuracy {content['accuracy']!r}, but {right} of {tests} right")
