"""Work that is counted in calls of functions: a measure that no other program disturbs."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Self


class Calls:
    """Counts the calls of functions, of Python and of C, while it is used."""

    def __init__(self) -> None:
        self.count = 0

    def _see(self, _frame: FrameType | None, event: str, _argument: object) -> None:
        self.count += event in ("call", "c_call")

    def __enter__(self) -> Self:
        self._before = sys.getprofile()
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_error: object) -> None:
        sys.setprofile(self._before)


def calls(work: Callable[[], object]) -> int:
    """Return how many calls some work makes."""
    with Calls() as counted:
        work()
    return counted.count
