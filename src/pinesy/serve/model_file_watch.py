"""Watches the file of a model, and loads a new one that passes its checks."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

from pinesy._common.validation import printable
from pinesy.exceptions import DataError, PinesyError
from pinesy.serve.served_model import ServedModel

log = logging.getLogger("pinesy.serve")
#: What a file looked like: its inode, size and time of change; None if it cannot be seen.
Look = tuple[int, int, int] | None


class ModelFileWatch:
    """Loads a model again when its file changes.

    Parameters
    ----------
    path : the file
    load : returns the model in the file
    seconds : between two looks at the file

    Attributes
    ----------
    problem : why the file as it is now was not taken; empty if it was
    """

    def __init__(self, path: Path, load: Callable[[], ServedModel], seconds: float = 1.0) -> None:
        self.path, self.load, self.seconds = path, load, seconds
        self.problem = ""
        self._look = _look(path)

    def has_changed(self) -> bool:
        """Return whether the file looks other than when it was read last."""
        return _look(self.path) != self._look

    def changed_model(self, current: ServedModel) -> ServedModel | None:
        """Return the model in the file if it is another one that passes its checks.

        It must be readable, have the inputs and outputs of the current one, and answer a sample of
        which nothing is known. Otherwise `problem` says why the current one stays.
        """
        look = _look(self.path)
        try:
            model = self.load()
            if model.sha256 == current.sha256:
                self.problem = ""
                return None
            if changes := current.changes_to(model):
                raise DataError(
                    f"{self.path}: the new model does not fit its clients: {'; '.join(changes)}; "
                    "start the service again to take it"
                )
            model.check()
        except PinesyError as error:
            self.fail(error)
            return None
        finally:
            self._look = look
        self.problem = ""
        log.warning("the model is replaced: %s, SHA-256 %s", self.path, model.sha256)
        return model

    def fail(self, error: Exception) -> None:
        """Report why the model is not replaced."""
        self.problem = printable(str(error)) or type(error).__name__
        log.error("the model is not replaced: %s", self.problem)


def _look(path: Path) -> Look:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
