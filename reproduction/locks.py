"""Locks between processes: a file that one of them holds, until it is done or dead."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pinesy.exceptions import DataError, PinesyError

__all__ = ["BusyError", "locked"]


class BusyError(PinesyError):
    """Another process is at work on what is needed."""


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Give whether this process has the lock in the block; False if another one has it.

    The system holds the lock, so that it is free as soon as its holder is gone, however it went.
    """
    descriptor = _acquired(path)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            with suppress(OSError):  # where an open file cannot be deleted, it stays
                path.unlink()
            os.close(descriptor)


def _acquired(path: Path) -> int | None:
    """Return the open file of a lock that is ours, or None."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
            if not _try_lock(descriptor):
                os.close(descriptor)
                return None
            if _is_at(descriptor, path):
                return descriptor
            os.close(descriptor)  # its holder deleted it after we had opened it
    except OSError as error:
        raise DataError(
            f"{path}: cannot be locked: {error.strerror or error}; give a directory where files "
            "can be written and locked"
        ) from None


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
