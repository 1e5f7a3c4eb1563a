"""How much a text may ask for: what a file of a few lines could make without end is counted first.

A budget is open while a text is read. Every attribute takes its values from it before they are
made, and all work is counted in steps before it is done (`take_steps`): tokens that templates read
again, values that sets list, objects, and conditions on the values of a domain. A step stands for
about 0.1 microseconds, or 15 bytes that stay. Written text brings the steps of its own reading, so
that what is limited is what a text asks for beyond its length. Who makes attributes in Python has
no budget: there only single attributes are bounded.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from pinesy._common.console import check_stop
from pinesy._common.validation import check_integer
from pinesy.exceptions import DomainError

#: Values of all attributes that the rules of one text or file may have (some 300 MB).
MAX_VALUES = 2_000_000
#: Steps of work for each value that the rules may have (at the usual limit, some 2 seconds).
STEPS = 10
#: Steps that each token of a text brings, for what is written out (more than it takes, as
#: numbers that comparisons lack cuts for are read twice).
TOKEN_ALLOWANCE = 80
#: Steps between two checks whether the work is to be stopped.
STOP_EVERY = 100_000
#: Steps that things take: reading a token again, or an operand of an expression; listing a value
#: of a set, or holding it in a variable.
TOKEN, OPERAND, LISTED, HELD = 10, 25, 1, 4
#: Making an attribute, a value of its domain, a proposition, a rule, a rule set, and a node of a
#: formula.
ATTRIBUTE, VALUE, PROPOSITION, RULE, RULE_SET, NODE = 60, 3, 20, 150, 150, 40
#: Characters of a name, and bits of a subset, that take one step.
CHARACTERS, BITS = 15, 120
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
    """How many values and steps a text may ask for in all, and how many of them are left."""

    max_values: int
    values: int = 0
    steps: int = 0
    next_check: int = 0

    def __post_init__(self) -> None:
        self.steps = self.next_check = STEPS * self.max_values
        self.restart()

    def restart(self) -> None:
        """Give all values back, before a text is read once more; steps stay taken."""
        self.values = self.max_values

    @property
    def is_spent(self) -> bool:
        """Whether more steps were asked for than there are."""
        return self.steps < 0

    def take(self, steps: int) -> None:
        """Take steps, or raise `DomainError` if not so many are left."""
        self.steps -= steps
        if self.steps < 0:
            raise DomainError(
                f"these rules take more than {STEPS * self.max_values:,} steps to read: use "
                f"smaller ranges, domains or sets{CURE}"
            )
        if self.steps < self.next_check:
            self.next_check = self.steps - STOP_EVERY
            check_stop()


_open: ContextVar[Budget | None] = ContextVar("open budget", default=None)


def value_limit(max_values: int | None) -> int:
    """Return how many values rules may have: `max_values`, else as the environment says.

    Examples
    --------
    >>> value_limit(10)
    10
    """
    if max_values is not None:
        return check_integer(max_values, "max_values", least=1)
    return _limit(VARIABLE, MAX_VALUES)


def _limit(variable: str, usual: int) -> int:
    """Return the limit that an environment variable sets, or the usual one."""
    setting = os.environ.get(variable, "")
    if setting and not (setting.isdecimal() and len(setting) < 20):
        raise DomainError(f"{variable} is {setting!r:.60}; it must be a whole number")
    return int(setting or usual)


def check_output_size(name: str, size: int) -> None:
    """Raise `DomainError` for an output of so many values that its subsets fill the memory."""
    if size > MAX_OUTPUT and size > (most := _limit(OUTPUT_VARIABLE, MAX_OUTPUT)):
        raise DomainError(
            f"the output {name!r} has {size:,} values, whose subsets take {size * size / 16e9:.1f} "
            f"GB; at most {most:,} are inferred: ask for propositions on it, or for other outputs, "
            f"or raise the limit by the environment variable {OUTPUT_VARIABLE}"
        )


@contextmanager
def budget(max_values: int) -> Iterator[Budget]:
    """Let the attributes that are made in the block have so many values in all."""
    current = Budget(max_values)
    token = _open.set(current)
    try:
        yield current
    finally:
        _open.reset(token)


@contextmanager
def any_budget() -> Iterator[Budget]:
    """Let the block use the budget that is open, or the usual one if none is."""
    current = _open.get()
    if current is not None:
        yield current
        return
    with budget(value_limit(None)) as usual:
        yield usual


def take_values(values: int, name: str) -> None:
    """Take values from the budget that is open, if one is, or raise where not so many are left."""
    current = _open.get()
    if current is None:
        return
    if values > current.values:
        raise DomainError(
            f"{name} would have {values:,} values, and the rules {current.max_values:,} at most in "
            f"all ({current.values:,} are left){CURE}"
        )
    current.values -= values
    current.take(VALUE * values)


def take_steps(steps: int) -> None:
    """Take steps of work from the budget that is open, if one is, or raise if there are too few."""
    current = _open.get()
    if current is not None:
        current.take(steps)


def allow_tokens(count: int) -> None:
    """Add the steps that written tokens bring to the budget that is open, if one is."""
    current = _open.get()
    if current is not None:
        current.steps += TOKEN_ALLOWANCE * count
