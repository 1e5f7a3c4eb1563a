"""Where the records of pieces are kept: a file each, whole or not there."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

from pinesy._common.files import made, read_text, sweep, writing
from pinesy.exceptions import DataError, DomainError
from reproduction.locks import locked
from reproduction.pieces import Piece

__all__ = ["CURE", "Store", "read_record"]

FORMAT: Final = "pinesy.record/1"
CASES: Final = "pinesy.cases/1"
#: What an explained sample has.
CASE: Final = ("title", "summary", "explanation", "why_not", "picture", "images")
EMBEDDED: Final = "data:image/png;base64,"
#: What to do about a file that is not what its name says.
CURE: Final = "delete it, or move it elsewhere, and run python -m reproduction again"


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
        return read_record(self.path(piece), piece)

    def write(self, piece: Piece, record: Mapping[str, Any]) -> None:
        """Write the record of a piece; the file takes its name once it is whole."""
        path = self.path(piece)
        made(path.parent)
        content = {"format": FORMAT, **piece.fields, **record}
        text = json.dumps(content, indent=1, allow_nan=False)
        with writing(path) as stream:
            stream.write(text + "\n")

    def write_cases(
        self, piece: Piece, cases: Sequence[Mapping[str, Any]], trial: str = ""
    ) -> None:
        """Write explained samples of a piece, or of a trial of it, beside its record."""
        path = self._cases_path(piece)
        made(path.parent)
        name = f"{trial} {piece}".lstrip()
        titled = [{**case, "title": f"{name}: {case['title']}"} for case in cases]
        with writing(path) as stream:
            stream.write(json.dumps({"format": CASES, "cases": titled}, indent=1) + "\n")

    def _cases_path(self, piece: Piece) -> Path:
        return self.path(piece).with_name(f"cases-{piece.run:02d}.json")

    def cases(self) -> list[dict[str, Any]]:
        """Return all explained samples in the directory and below it."""
        return [
            case for path in sorted(self.directory.rglob("cases-*.json")) for case in _cases(path)
        ]

    def lock(self, piece: Piece) -> AbstractContextManager[bool]:
        """Give in a block whether this process is the one that works on a piece."""
        path = self.path(piece)
        return locked(path.with_name(f".{path.stem}.lock"))

    def sweep(self, piece: Piece) -> None:
        """Delete what a process left behind that was killed while it wrote a piece's files.

        Only for who has its lock: nobody else writes there then.
        """
        sweep(self.path(piece))
        sweep(self._cases_path(piece))


def _cases(path: Path) -> list[dict[str, Any]]:
    """Return the explained samples in a file, if it holds some."""
    try:
        content = json.loads(read_text(path))
        if content["format"] != CASES:
            raise ValueError(f"its format is {content['format']!r:.60}")
        cases = [{key: case[key] for key in CASE} for case in content["cases"]]
        for case in cases:
            if not all(image.startswith(EMBEDDED) for image in case["images"].values()):
                raise ValueError("an image of it is elsewhere")
        return cases
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: not a file of explained samples ({error}); {CURE}") from None


def read_record(path: Path, piece: Piece | None = None) -> dict[str, Any]:
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
