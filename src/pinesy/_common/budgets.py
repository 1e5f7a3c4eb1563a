"""How much a text may ask for: what a file of a few lines could make without end is counted first.

A budget is open while a text is read, and every attribute takes its values from it before they are
made. Who makes attributes in Python has none: there only single attributes are bounded.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

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


@dataclass
class Budget:
    """How many values a text may ask for in all, how many of them are left, and those listed."""

    most: int
    left: int
    listed: int = 0


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
    token = _open.set(Budget(most, most))
    try:
        yield
    finally:
        _open.reset(token)


def take_values(values: int, what: str) -> None:
    """Take values from the budget that is open, if one is, or raise where not so many are left."""
    current = _open.get()
    if current is None:
        return
    if values > current.left:
        raise DomainError(
            f"{what} would have {values:,} values, and the rules {current.most:,} at most in all "
            f"({current.left:,} are left){CURE}"
        )
    current.left -= values


def list_values(values: int) -> None:
    """Count the values of a set in the budget that is open, if one is, or raise for too many."""
    current = _open.get()
    if current is None:
        return
    current.listed += values
    if current.listed > LISTED * current.most:
        raise DomainError(
            f"the sets of this text list more than {LISTED * current.most:,} values{CURE}"
        )
