"""The records of experiments: a file each, whole or not there, locked while it is made."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from math import isfinite
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

from pinesy._common.files import atomic_text, delete_leftovers, make_directory, read_text
from pinesy.exceptions import DataError, DomainError, PinesyError
from reproduction.experiments import Experiment

FORMAT: Final = "pinesy.record/1"
CASES: Final = "pinesy.cases/1"
#: What an explained sample has.
CASE: Final = ("title", "summary", "explanation", "why_not", "picture", "images")
EMBEDDED: Final = "data:image/png;base64,"
#: What to do about a file that is not what its name says.
CURE: Final = "delete it, or move it elsewhere, and run python -m reproduction again"

#: What reading content of another form may raise.
DAMAGES: Final = (
    *(AttributeError, DomainError, KeyError, OverflowError, RecursionError, TypeError, ValueError),
)
#: Of a whole number: more are beyond all floats.
MOST_DIGITS: Final = 300
#: Seconds in which a lock that its holder just deleted is tried again.
PATIENCE: Final = 0.1


class BusyError(PinesyError):
    """Another process is at work on what is needed."""


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Give whether this process has the lock in the block; False if another one has it.

    The system holds the lock, so that it is free as soon as its holder is gone, however it went.
    """
    lock = FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=PATIENCE, poll_interval=PATIENCE / 4)
    except Timeout:
        pass
    except OSError as error:
        raise DataError(
            f"{path}: cannot be locked: {error.strerror or error}; give a directory where files "
            "can be written and locked"
        ) from None
    try:
        yield lock.is_locked
    finally:
        if lock.is_locked:
            with suppress(OSError):  # where an open file cannot be deleted, it stays
                path.unlink()
            lock.release()


class Store:
    """The records of experiments in a directory; several processes may share it.

    Parameters
    ----------
    directory : is made if it is not there

    Examples
    --------
    >>> import tempfile
    >>> experiment = Experiment("sudoku", 4, "normal", "antipignistic", 0)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     store = Store(place)
    ...     store.write(experiment, {"accuracy": 0.97})
    ...     store.has(experiment), store.read(experiment)["accuracy"]
    (True, 0.97)
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)

    def check_writable(self) -> None:
        """Raise `DataError` unless records can be written: better now than after hours."""
        with locked(self.directory / ".writable.lock"):
            pass

    def path(self, experiment: Experiment) -> Path:
        """Return the file of an experiment's record."""
        return experiment.path(self.directory)

    def has(self, experiment: Experiment) -> bool:
        """Return whether an experiment is done; a file that is not its record is an error."""
        return self.path(experiment).exists() and bool(self.read(experiment))

    def read(self, experiment: Experiment) -> dict[str, Any]:
        """Return the record of an experiment, or raise `DataError`."""
        return read_record(self.path(experiment), experiment)

    def write(self, experiment: Experiment, record: Mapping[str, Any]) -> None:
        """Write the record of an experiment; the file takes its name once it is whole."""
        path = self.path(experiment)
        make_directory(path.parent)
        content = {"format": FORMAT, **experiment.fields, **record}
        text = json.dumps(content, indent=1, allow_nan=False)
        with atomic_text(path) as stream:
            stream.write(text + "\n")

    def write_cases(
        self, experiment: Experiment, cases: Sequence[Mapping[str, Any]], trial: str = ""
    ) -> None:
        """Write explained samples of an experiment, or of a trial of it, beside its record."""
        path = self._cases_path(experiment)
        make_directory(path.parent)
        name = f"{trial} {experiment}".lstrip()
        titled = [{**case, "title": f"{name}: {case['title']}"} for case in cases]
        with atomic_text(path) as stream:
            stream.write(json.dumps({"format": CASES, "cases": titled}, indent=1) + "\n")

    def _cases_path(self, experiment: Experiment) -> Path:
        return self.path(experiment).with_name(f"cases-{experiment.run:02d}.json")

    def cases(self) -> list[dict[str, Any]]:
        """Return all explained samples in the directory and below it."""
        return [
            case for path in sorted(self.directory.rglob("cases-*.json")) for case in _cases(path)
        ]

    def lock(self, experiment: Experiment) -> AbstractContextManager[bool]:
        """Give in a block whether this process is the one that works on an experiment."""
        path = self.path(experiment)
        return locked(path.with_name(f".{path.stem}.lock"))

    def sweep(self, experiment: Experiment) -> None:
        """Delete what a process left behind that was killed while it wrote an experiment's files.

        Only for who has its lock: nobody else writes there then.
        """
        delete_leftovers(self.path(experiment))
        delete_leftovers(self._cases_path(experiment))


@contextmanager
def refusing(path: Path, problem: str, cure: str = CURE) -> Iterator[None]:
    """Say what a file is, in a `DataError`, if reading it shows that it has another form."""
    try:
        yield
    except DAMAGES as error:
        raise DataError(f"{path}: {problem} ({error!s:.200}); {cure}") from None


def plain_json(text: str) -> Any:
    """Return JSON data; `ValueError` for numbers beyond all floats, or texts that are no text."""
    content = json.loads(text, parse_int=_integer)
    json.dumps(content, ensure_ascii=False).encode()  # half a surrogate pair cannot be written
    return content


def is_finite(value: object) -> bool:
    """Return whether a value of a record is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _cases(path: Path) -> list[dict[str, Any]]:
    """Return the explained samples in a file, if it holds some."""
    with refusing(path, "not a file of explained samples"):
        content = plain_json(read_text(path))
        if content["format"] != CASES:
            raise ValueError(f"its format is {content['format']!r:.60}")
        cases = [{key: case[key] for key in CASE} for case in content["cases"]]
        for case in cases:
            if not all(isinstance(case[key], str) for key in CASE if key != "images"):
                raise TypeError("a text of it is none")
            if not all(image.startswith(EMBEDDED) for image in case["images"].values()):
                raise ValueError("an image of it is elsewhere")
        return cases


def read_record(path: Path, experiment: Experiment | None = None) -> dict[str, Any]:
    """Return the record in a file, if it is one, of the experiment that belongs there."""
    with refusing(path, "not a whole record"):
        content = plain_json(read_text(path))
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f"{path}: not a record of pinesy ({FORMAT}); {CURE}")
    with refusing(path, "a record of no experiment"):
        recorded = Experiment(*(content[name] for name in Experiment.__dataclass_fields__))
    if recorded.path(Path()).parts != path.parts[-4:] or experiment not in (None, recorded):
        raise DataError(f"{path}: the record of another experiment ({recorded}); {CURE}")
    return content
