"""The rows that the search for a change may infer; how far it is can be seen while it lasts."""

from collections.abc import Iterator
from contextlib import contextmanager

from pinesy._common.console import Bar, progress


class SearchEffort:
    """A number of rows that may be inferred, in all parts of a search together."""

    def __init__(self, rows: int, bar: Bar) -> None:
        self._bar = bar
        self.left = rows

    def spend(self, rows: int) -> None:
        """Count rows that are going to be inferred; who watches the search may end it here."""
        self.left -= rows
        self._bar.advance(rows)


@contextmanager
def search_effort(rows: int) -> Iterator[SearchEffort]:
    """Give the effort for one search."""
    with progress("searching the smallest change", rows) as bar:
        yield SearchEffort(rows, bar)
