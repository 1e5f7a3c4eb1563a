"""How much a text may ask for: what a file of a few lines could make without end is counted first.

A budget is open while a text is read, and every attribute takes its values from it before they are
made. Who makes attributes in Python has none: there only single attributes are bounded.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from pinesy._common.validation import check_integer
from pinesy.exceptions import DomainError

#: Values of all attributes that the rules of one text or file may have (some 300 MB).
MAX_VALUES = 2_000_000
#: For each of them, so many values may be listed in the sets of propositions and conditions.
LISTED = 5
#: The variable that sets another number for a process.
VARIABLE = "PINESY_MAX_VALUES"
#: Values of an output: a program has a subset for each, of as many bits.
MAX_OUTPUT, OUTPUT_VARIABLE = 100_000, "PINESY_MAX_OUTPUT"
CURE = (
    "; if you trust the file, raise the limit: load(path, max_values=...), or the environment "
    f"variable {VARIABLE}"
)


class Budget:
    """Counts down the values that a text may still ask for.

    Parameters
    ----------
    most : how many in all
    """

    def __init__(self, most: int) -> None:
        self.most = self.left = most
        self.listed = 0

    def take(self, values: int, what: str) -> None:
        """Take some values, or raise `DomainError` if there are not so many left."""
        if values > self.left:
            raise DomainError(
                f"{what} would have {values:,} values, and the rules {self.most:,} at most in all "
                f"({self.left:,} are left){CURE}"
            )
        self.left -= values

    def list(self, values: int) -> None:
        """Count values of a set, or raise `DomainError` if the sets of the text list too many."""
        self.listed += values
        if self.listed > LISTED * self.most:
            raise DomainError(
                f"the sets of this text list more than {LISTED * self.most:,} values{CURE}"
            )


_open: ContextVar[Budget | None] = ContextVar("open budget", default=None)


def value_limit(given: int | None) -> int:
    """Return how many values rules may have: as given, else as the environment says.

    Examples
    --------
    >>> value_limit(10)
    10
    """
    if given is not None:
        return check_integer(given, "max_values", least=1)
    return _limit(VARIABLE, MAX_VALUES)


def _limit(variable: str, usual: int) -> int:
    """Return the limit that an environment variable says, or the usual one."""
    said = os.environ.get(variable, "")
    if said and not (said.isdecimal() and len(said) < 20):
        raise DomainError(f"{variable} is {said!r:.60}; it must be a whole number")
    return int(said or usual)


def check_output(name: str, size: int) -> None:
    """Raise `DomainError` for an output of so many values that its subsets fill the memory."""
    if size > MAX_OUTPUT and size > (most := _limit(OUTPUT_VARIABLE, MAX_OUTPUT)):
        raise DomainError(
            f"the output {name!r} has {size:,} values, whose subsets take {size * size / 16e9:.1f} "
            f"GB; at most {most:,} are inferred: ask for propositions on it, or for other outputs, "
            f"or raise the limit by the environment variable {OUTPUT_VARIABLE}"
        )


@contextmanager
def budget(most: int) -> Iterator[None]:
    """Let the attributes that are made in the block have so many values in all."""
    token = _open.set(Budget(most))
    try:
        yield
    finally:
        _open.reset(token)


def take_values(values: int, what: str) -> None:
    """Take values from the budget that is open, if one is."""
    current = _open.get()
    if current is not None:
        current.take(values, what)


def list_values(values: int) -> None:
    """Count the values of a set in the budget that is open, if one is."""
    current = _open.get()
    if current is not None:
        current.list(values)
