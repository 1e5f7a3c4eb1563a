"""Where the records of pieces are kept: a file each, whole or not there."""

import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

from pinesy._files import read_text, writing
from pinesy.exceptions import DataError, DomainError
from pinesy.experiments.locks import locked
from pinesy.experiments.pieces import Piece

__all__ = ["Store"]

FORMAT: Final = "pinesy.record/1"
CURE: Final = "delete it, or move it elsewhere, and run pinesy reproduce again"


class Store:
    """The records of experiments in a directory; several processes may share it.

    Parameters
    ----------
    directory : is made if it is not there

    Examples
    --------
    >>> import tempfile
    >>> piece = Piece("sudoku", 4, "normal", "antipignistic", 0)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     store = Store(place)
    ...     store.write(piece, {"accuracy": 0.97})
    ...     store.has(piece), store.read(piece)["accuracy"]
    (True, 0.97)
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)

    def check_writable(self) -> None:
        """Raise `DataError` unless records can be written: better now than after hours."""
        with locked(self.directory / ".writable.lock"):
            pass

    def path(self, piece: Piece) -> Path:
        """Return the file of a piece's record."""
        return piece.path(self.directory)

    def has(self, piece: Piece) -> bool:
        """Tell whether a piece is done; a file that is not its record is an error."""
        return self.path(piece).exists() and bool(self.read(piece))

    def read(self, piece: Piece) -> dict[str, Any]:
        """Return the record of a piece, or raise `DataError`."""
        return _record(self.path(piece), piece)

    def write(self, piece: Piece, record: Mapping[str, Any]) -> None:
        """Write the record of a piece; the file takes its name once it is whole."""
        path = self.path(piece)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"{path}: cannot be written: {error.strerror or error}") from None
        content = {"format": FORMAT, **piece.fields, **record}
        text = json.dumps(content, indent=1, allow_nan=False)
        with writing(path) as stream:
            stream.write(text + "\n")

    def lock(self, piece: Piece) -> AbstractContextManager[bool]:
        """Give in a block whether this process is the one that works on a piece."""
        path = self.path(piece)
        return locked(path.with_name(f".{path.stem}.lock"))

    def sweep(self, piece: Piece) -> None:
        """Delete what a process left behind that was killed while it wrote a piece's record.

        Only for who has its lock: nobody else writes there then.
        """
        path = self.path(piece)
        for left in path.parent.glob(f".{path.name}.*.tmp"):
            left.unlink(missing_ok=True)

    def records(self) -> list[dict[str, Any]]:
        """Return all records in the directory and below it, those of trials too."""
        files = sorted(self.directory.rglob("run-*.json"))
        return [_record(path) for path in files]


def _record(path: Path, piece: Piece | None = None) -> dict[str, Any]:
    """Return the record in a file, if it is one, of the piece that belongs there."""
    try:
        content = json.loads(read_text(path))
    except ValueError as error:
        raise DataError(f"{path}: not a whole record ({error}); {CURE}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f"{path}: not a record of pinesy ({FORMAT}); {CURE}")
    found = _piece(path, content)
    if found.path(Path()).parts != path.parts[-4:] or piece not in (None, found):
        raise DataError(f"{path}: the record of another piece ({found}); {CURE}")
    return content


def _piece(path: Path, content: Mapping[str, Any]) -> Piece:
    try:
        return Piece(*(content[name] for name in Piece.__dataclass_fields__))
    except (DomainError, KeyError, TypeError) as error:
        raise DataError(f"{path}: a record of no piece ({error}); {CURE}") from None
