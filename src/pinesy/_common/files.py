"""Atomic writes: a file is written under a temporary name, then renamed; and safe reads."""

import os
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from glob import escape
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, TextIO

from pinesy.exceptions import DataError

#: Bytes that are read from a pipe or device at most: some never end.
MAX_STREAM = 1 << 27
#: Seconds after which a temporary file that is not locked is deleted.
ABANDONED = 60.0
#: How the names of temporary directories begin.
SCRATCH = "pinesy-scratch-"


def as_path(path: object) -> Path:
    """Return `path` as a `Path`, or raise `DataError` if it is not a path."""
    if not isinstance(path, str | os.PathLike):
        raise DataError(f"{path!r:.60} is no path of a file; give a text or a Path")
    return Path(path)


@contextmanager
def wrap_read_errors(path: object) -> Iterator[None]:
    """Raise `DataError` in place of an `OSError` that reading a file raises in the block."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        if "null" not in str(error):  # a name that no file can have
            raise
        raise DataError(f"{str(path)!r} cannot be read: {error}") from None


def read_text(path: Path) -> str:
    """Return the content of a UTF-8 file, or raise `DataError`."""
    try:
        with wrap_read_errors(path), path.open("rb") as file:
            is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            content = file.read() if is_file else file.read(MAX_STREAM + 1)
        if not is_file and len(content) > MAX_STREAM:
            raise DataError(f"{path}: a stream of more than {MAX_STREAM:,} bytes; give a file")
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: not UTF-8 text (byte {error.start}); is it a rules or data file?"
        ) from None
    except ValueError as error:  # a name that no file can have
        raise DataError(f"{str(path)!r} cannot be read: {error}") from None


def cache_directory(directory: str | os.PathLike[str] | None = None) -> Path:
    """Return the cache directory: `directory`, else ``$PINESY_CACHE``, else ``~/.cache/pinesy``.

    It need not exist yet.

    Examples
    --------
    >>> cache_directory("somewhere").name
    'somewhere'
    """
    return Path(directory or os.environ.get("PINESY_CACHE") or "~/.cache/pinesy").expanduser()


def make_directory(directory: Path) -> Path:
    """Create a directory if it does not exist, and return it; or raise `DataError`."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{directory}: cannot be made: {error.strerror or error}") from None
    return directory


@contextmanager
def atomic_text(path: Path) -> Iterator[TextIO]:
    """Open a UTF-8 text file for an atomic write; see `atomic_bytes`."""
    with atomic_bytes(path) as stream:
        text = TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace", newline="")
        try:
            yield text
        finally:
            text.detach()


@contextmanager
def atomic_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a binary file for an atomic write: it gets its name once it is complete on disk.

    A symbolic link stays one, and the mode of the old file is kept; pipes and devices are written
    directly.
    """
    stream: BinaryIO | None = None
    try:
        target = path.resolve()
        is_device = target.exists() and not target.is_file()  # a pipe or device must stay one
        with target.open("wb") if is_device else _open_replacement(target) as stream:
            yield stream
    except BrokenPipeError:
        raise
    except (RuntimeError, ValueError) as error:  # only those about the name come here
        if stream is not None:
            raise
        raise DataError(f"{str(path)!r} cannot be written: {error}") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror or error}") from None


def _sweep_abandoned(directory: Path, pattern: str) -> None:
    """Delete temporary files of killed processes: those that are old and not locked."""
    for path in directory.glob(pattern):
        with suppress(OSError):
            is_old = time.time() - path.lstat().st_mtime > ABANDONED
            with _lock_path(path) if is_old else nullcontext(False) as is_free:
                if is_free:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()


@contextmanager
def _lock_path(path: Path) -> Iterator[bool]:
    """Lock a file or directory in the block; yield whether the lock was acquired."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # it may be a pipe
    try:
        yield _try_lock(descriptor)
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    """Lock a file until it is closed; return whether the lock was acquired."""
    try:
        fcntl = import_module("fcntl")
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


@contextmanager
def scratch_directory() -> Iterator[Path]:
    """Yield a temporary directory, deleted after the block (by a later call if killed)."""
    try:
        _sweep_abandoned(Path(tempfile.gettempdir()), f"{SCRATCH}*")
        directory = Path(tempfile.mkdtemp(prefix=SCRATCH))
    except OSError as error:
        raise DataError(
            f"no temporary directory can be made: {error.strerror or error}; set TMPDIR to a "
            "directory with free space"
        ) from None
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        with suppress(OSError):  # where a directory cannot be opened it is not locked, nor swept
            stack.enter_context(_lock_path(directory))
        yield directory


def rotate_files(path: Path, count: int) -> None:
    """Rename a file to ``path.1``, that to ``path.2``, and so on; `count` files are kept.

    The last one is replaced. Raises `OSError`.
    """
    paths = [path, *(Path(f"{path}.{index}") for index in range(1, count))]
    for index in reversed(range(1, len(paths))):
        if paths[index - 1].exists():
            os.replace(paths[index - 1], paths[index])


def delete_leftovers(path: Path) -> None:
    """Delete temporary files of processes that were killed while they wrote `path`.

    Call it only if no other process writes the file now.
    """
    for leftover in path.parent.glob(f".{path.name}.*.tmp"):
        leftover.unlink(missing_ok=True)


@contextmanager
def _open_replacement(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside `path`, and rename it to `path` after the block."""
    # Not tempfile.mkstemp, whose files only their owner may read.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    _sweep_abandoned(path.parent, f".{escape(path.name)}.*.tmp")
    try:
        with temporary.open("xb") as stream:
            _try_lock(stream.fileno())
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if path.exists():
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    finally:  # once it has its name there is nothing to delete
        temporary.unlink(missing_ok=True)
