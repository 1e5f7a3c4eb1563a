"""Resource limits: a file of a few lines must not exhaust memory or time.

A budget is open while a text is read. Every attribute takes its values from the budget before they
are created. All work is counted in steps before it is done (`take_steps`): tokens that templates
read again, values that sets list, objects, and conditions on the values of a domain. A step is
about 0.1 microseconds, or 15 bytes of memory. Every token of a text adds the steps of its own
reading (`allow_tokens`), so that only expansion beyond the length of the text is limited.
Attributes that are created in Python have no budget: there each attribute is bounded by itself.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from pinesy._common.console import check_stop
from pinesy._common.validation import check_integer
from pinesy.exceptions import DomainError

#: Values of all attributes of one text or file, at most (about 300 MB).
MAX_VALUES = 2_000_000
#: Steps of work for each value of the limit (at the default limit, about 2 seconds).
STEPS = 10
#: Steps that each token of a text adds (more than it takes, as a text whose comparisons lack cuts
#: is read twice).
TOKEN_ALLOWANCE = 80
#: Steps between two calls of `check_stop`.
STOP_EVERY = 100_000
#: Steps of reading a token again, of an operand of an expression, of listing a value of a set, and
#: of storing it in a variable.
TOKEN, OPERAND, LISTED, HELD = 10, 25, 1, 4
#: Steps of creating an attribute, a value of its domain, a proposition, a rule, a rule set, and a
#: node of a formula.
ATTRIBUTE, VALUE, PROPOSITION, RULE, RULE_SET, NODE = 60, 3, 20, 150, 150, 40
#: Characters of a name, and bits of a subset, that take one step.
CHARACTERS, BITS = 15, 120
#: The environment variable that sets another limit.
VARIABLE = "PINESY_MAX_VALUES"
#: Values of an output, at most: a program has a mask for each, of as many bits.
MAX_OUTPUT, OUTPUT_VARIABLE = 100_000, "PINESY_MAX_OUTPUT"
CURE = (
    "; if you trust the file, raise the limit: load(path, max_values=...), or the environment "
    f"variable {VARIABLE}"
)


@dataclass
class Budget:
    """The limit of values of a text, and the values and steps that remain."""

    max_values: int
    values: int = 0
    steps: int = 0
    next_check: int = 0

    def __post_init__(self) -> None:
        self.steps = self.next_check = STEPS * self.max_values
        self.restart()

    def restart(self) -> None:
        """Reset the values, before a text is read once more; steps are not reset."""
        self.values = self.max_values

    @property
    def is_spent(self) -> bool:
        """Whether more steps were taken than the limit."""
        return self.steps < 0

    def take(self, steps: int) -> None:
        """Take steps from the budget, or raise `DomainError` if too few remain."""
        self.steps -= steps
        if self.steps < 0:
            raise DomainError(
                f"these rules take more than {STEPS * self.max_values:,} steps to read: use "
                f"smaller ranges, domains or sets{CURE}"
            )
        if self.steps < self.next_check:
            self.next_check = self.steps - STOP_EVERY
            check_stop()


_current: ContextVar[Budget | None] = ContextVar("open budget", default=None)


def value_limit(max_values: int | None) -> int:
    """Return the limit of values: `max_values`, else that of the environment variable.

    Examples
    --------
    >>> value_limit(10)
    10
    """
    if max_values is not None:
        return check_integer(max_values, "max_values", least=1)
    return _environment_limit(VARIABLE, MAX_VALUES)


def _environment_limit(variable: str, default: int) -> int:
    """Return the limit that an environment variable sets, or the default."""
    setting = os.environ.get(variable, "")
    if setting and not (setting.isdecimal() and len(setting) < 20):
        raise DomainError(f"{variable} is {setting!r:.60}; it must be an integer")
    return int(setting or default)


def check_output_size(name: str, size: int) -> None:
    """Raise `DomainError` for an output with more values than the limit."""
    if size > MAX_OUTPUT and size > (most := _environment_limit(OUTPUT_VARIABLE, MAX_OUTPUT)):
        raise DomainError(
            f"the output {name!r} has {size:,} values, whose subsets take {size * size / 16e9:.1f} "
            f"GB; at most {most:,} are inferred: infer propositions on it, or other outputs, "
            f"or raise the limit by the environment variable {OUTPUT_VARIABLE}"
        )


@contextmanager
def budget(max_values: int) -> Iterator[Budget]:
    """Open a budget for the block, in this thread."""
    current = Budget(max_values)
    token = _current.set(current)
    try:
        yield current
    finally:
        _current.reset(token)


@contextmanager
def open_budget() -> Iterator[Budget]:
    """Yield the open budget; open one with the default limit if there is none."""
    current = _current.get()
    if current is not None:
        yield current
        return
    with budget(value_limit(None)) as default:
        yield default


def take_values(values: int, name: str) -> None:
    """Take values from the open budget, if any; raise `DomainError` if too few remain."""
    current = _current.get()
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
    """Take steps from the open budget, if any; raise `DomainError` if too few remain."""
    current = _current.get()
    if current is not None:
        current.take(steps)


def allow_tokens(count: int) -> None:
    """Add the steps of a text's tokens to the open budget, if any."""
    current = _current.get()
    if current is not None:
        current.steps += TOKEN_ALLOWANCE * count
