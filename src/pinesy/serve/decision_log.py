"""The log of decisions: JSON Lines that are whole or the last, in files of a bounded size.

A line describes a model (``"kind": "model"``), with its rules, or a decision of it (``"kind":
"decision"``). Each file begins with the model, so that it can be read without the others.
"""

import hashlib
import hmac
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from pinesy._common.files import as_path, rotate_files, wrap_read_errors
from pinesy._common.reports import count_text
from pinesy._common.validation import check_integer
from pinesy.exceptions import DataError, PinesyError
from pinesy.samples.file_formats import decode_json
from pinesy.samples.file_layout import MAX_LINE
from pinesy.serve.served_model import ServedModel

#: What a line has of the inputs: all of them, their digest, or nothing.
InputLogging = Literal["full", "hashed", "none"]
#: Bytes of a file before the next one begins, and the number of files.
MAX_BYTES, FILES = 100_000_000, 10


def canonical_json(content: object) -> str:
    """Return JSON that is the same for equal content: keys in order, without blanks.

    Examples
    --------
    >>> canonical_json({"b": 1.5, "a": None})
    '{"a":null,"b":1.5}'
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


class DecisionLog:
    """Writes a log of decisions.

    Parameters
    ----------
    path : the file that is written; the one before is ``path.1``, and so on
    inputs : what a line has of the inputs of a decision
    key : of the digests of inputs, so that nobody without it can find inputs by trying
    max_bytes : a file of more bytes becomes ``path.1``
    files : the number of files that are kept, this one included

    Raises
    ------
    DataError : if the file cannot be written, or another process writes it
    """

    def __init__(
        self,
        path: Path | str,
        inputs: InputLogging = "full",
        key: bytes = b"",
        max_bytes: int = MAX_BYTES,
        files: int = FILES,
    ) -> None:
        if inputs not in get_args(InputLogging):
            raise DataError(f"inputs is {inputs!r:.60}; it is 'full', 'hashed' or 'none'")
        if key and inputs != "hashed":
            raise DataError("a key is of hashed inputs; give inputs='hashed' (--log-inputs hashed)")
        self.path, self.inputs, self.key = as_path(path), inputs, key
        self.max_bytes = check_integer(max_bytes, "max_bytes", 1, error=DataError)
        self.files = check_integer(files, "files", 2, error=DataError)
        self._model: ServedModel | None = None
        self._descriptor = -1
        self._size, self._is_cut = 0, False
        self._open()
        if self._size and not self._ends_in_line():
            # The last line of a process that was killed: it stays the last of its file.
            self._rotate()

    def describe(self, model: ServedModel) -> None:
        """Write a line on a model, before its first decision."""
        self._model = model
        self._append(self._model_line())

    def write(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Write the lines of decisions at once; a new file begins where this one is full."""
        self._append("".join(map(_line, records)).encode())

    def record(
        self,
        model: ServedModel,
        endpoint: str,
        request: str,
        index: int,
        content: Mapping[str, Any],
        answer: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Return the line of a decision as plain data.

        Parameters
        ----------
        endpoint : ``"infer"`` or ``"decide"``
        request, index : the id of the request, and of the sample in it, from 0
        content : the sample as the request has it
        answer : the answer to it
        """
        logged = {
            name: {key: part for key, part in output.items() if key not in ("answer", "because")}
            for name, output in answer["outputs"].items()
        }
        facts = {key: answer[key] for key in ("outcome", "certainty") if key in answer}
        return {
            "kind": "decision",
            "time": time_text(),
            "request": request,
            "sample": index,
            "endpoint": endpoint,
            "model": model.sha256,
            "pinesy": model.identity["pinesy"],
            "transform": model.transform,
            **self._inputs(content),
            **facts,
            "outputs": logged,
        }

    def _inputs(self, content: Mapping[str, Any]) -> dict[str, Any]:
        if self.inputs == "full":
            return {"inputs": content}
        if self.inputs == "none":
            return {}
        text = canonical_json(content).encode()
        if self.key:
            return {"inputs_hmac_sha256": hmac.new(self.key, text, hashlib.sha256).hexdigest()}
        return {"inputs_sha256": hashlib.sha256(text).hexdigest()}

    def _model_line(self) -> bytes:
        assert self._model is not None
        model = self._model
        record = {
            "kind": "model",
            "time": time_text(),
            "model": model.sha256,
            "file": model.path.name,
            "pinesy": model.identity["pinesy"],
            "inputs": [a.name for a in model.rules.inputs],
            "outputs": [a.name for a in model.outputs],
            "rules": model.rule_texts,
        }
        return _line(record).encode()

    def _append(self, content: bytes) -> None:
        """Write whole lines by one call; a part of them is taken back.

        Where the file was moved or deleted meanwhile, a new one begins.
        """
        if self._is_gone():
            self.close()
            self._open()
            if not self._size and self._model is not None:
                content = self._model_line() + content
        if self._is_cut or (self._size and self._size + len(content) > self.max_bytes):
            self._rotate()
            if self._model is not None:
                content = self._model_line() + content
        try:
            written = os.write(self._descriptor, content)
        except OSError as error:
            raise self._error(error) from None
        if written < len(content):
            self._is_cut = True
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
                self._is_cut = False
            raise DataError(f"{self.path}: cannot be written: no space is left")
        self._size += written

    def _open(self) -> None:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        try:
            self._descriptor = os.open(self.path, flags, 0o600)
            self._size, self._is_cut = os.fstat(self._descriptor).st_size, False
        except OSError as error:
            raise self._error(error) from None
        try:
            fcntl = import_module("fcntl")
        except ImportError:  # where there are no such locks
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.close()
            raise DataError(
                f"{self.path}: another process writes to it; give each service a log of its own"
            ) from None

    def _is_gone(self) -> bool:
        """Return whether the file of that name is another one now, or there is none."""
        try:
            return not os.path.samestat(os.stat(self.path), os.fstat(self._descriptor))
        except OSError:
            return True

    def _ends_in_line(self) -> bool:
        os.lseek(self._descriptor, self._size - 1, os.SEEK_SET)
        return os.read(self._descriptor, 1) == b"\n"

    def _rotate(self) -> None:
        """Begin a new file: this one becomes ``path.1``, and that ``path.2``; the last is lost."""
        try:
            rotate_files(self.path, self.files)
        except OSError as error:
            raise self._error(error) from None
        self.close()
        self._open()

    def _error(self, error: OSError) -> DataError:
        return DataError(f"{self.path}: cannot be written: {error.strerror or error}")

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, separators=(",", ":"), allow_nan=False) + "\n"


def time_text() -> str:
    """Return the time in UTC as text, with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class LogLine(NamedTuple):
    """A line of a log."""

    file: str
    number: int
    record: dict[str, Any]


class LogReader:
    """Reads the lines of logs.

    Parameters
    ----------
    skip : whether to skip lines that cannot be read, rather than raise an error

    Attributes
    ----------
    notices : what was skipped, as texts
    """

    def __init__(self, skip: bool = False) -> None:
        self.skip = skip
        self.notices: list[str] = []

    def lines(self, path: Path | str) -> Iterator[LogLine]:
        """Yield the lines of a file.

        A last line that was cut off is skipped; another one that cannot be read raises `DataError`.
        """
        path = as_path(path)
        n_skipped, first = 0, 0
        with wrap_read_errors(path), path.open("rb") as file:
            number = 0
            while raw := file.readline(MAX_LINE + 1):
                number += 1
                if len(raw) > MAX_LINE:
                    raise DataError(f"{path}, line {number}: longer than {MAX_LINE:,} bytes")
                if not raw.strip():
                    continue
                try:
                    record = _record(raw)
                except PinesyError as error:
                    if not raw.endswith(b"\n"):
                        self.notices.append(
                            f"{path}, line {number}: the last line is cut off, and is skipped"
                        )
                        continue
                    if not self.skip:
                        raise DataError(
                            f"{path}, line {number}: {error}; --skip-bad-lines skips such lines"
                        ) from None
                    n_skipped, first = n_skipped + 1, first or number
                    continue
                yield LogLine(str(path), number, record)
        if n_skipped:
            lines = count_text(n_skipped, "line")
            self.notices.append(f"{path}: {lines} skipped, the first is line {first}")


def _record(raw: bytes) -> dict[str, Any]:
    """Return what a line has, or raise `DataError`."""
    try:
        content = decode_json(raw.decode().rstrip())
    except (ValueError, RecursionError):
        raise DataError("is no JSON") from None
    if not isinstance(content, dict) or content.get("kind") not in ("model", "decision"):
        raise DataError("is no line of a log of decisions")
    outputs = content.get("outputs")
    if content["kind"] == "model":
        is_valid = isinstance(content.get("model"), str)
    else:
        is_valid = (
            isinstance(content.get("model"), str)
            and content.get("endpoint") in ("infer", "decide")
            and isinstance(content.get("transform"), str)
            and isinstance(content.get("inputs", {}), dict)
            and isinstance(outputs, dict)
            and all(isinstance(output, dict) for output in outputs.values())
        )
    if not is_valid:
        raise DataError("lacks a part that a line of a log of decisions has")
    return content
