"""Reports that take long: each is made once, whoever asks for it, and the last are remembered."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")
#: Reports that are remembered.
REMEMBERED = 12


class _Entry:
    """A report, once it is made; who comes while it is being made waits."""

    def __init__(self) -> None:
        self.lock, self.content = Lock(), None


class RememberedReports:
    """The last reports, by what they are of."""

    def __init__(self) -> None:
        self._entries: dict[Hashable, Any] = {}
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the report of a key; make it if there is none. An error is not remembered."""
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            for old in list(self._entries)[:-REMEMBERED]:
                del self._entries[old]
        with entry.lock:
            if entry.content is None:
                entry.content = make()
            found: T = entry.content
            return found
