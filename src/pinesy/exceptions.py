"""The errors of pinesy: each says what was wrong, where, and the cure."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "CascadeError",
    "DataError",
    "DataWarning",
    "DegreeError",
    "DomainError",
    "InconsistentSystemError",
    "LearningError",
    "MissingPackageError",
    "PinesyError",
    "RuleSetError",
    "RulesTextError",
    "ShapeError",
    "TableError",
    "UnknownAttributeError",
    "UnreachableError",
    "UnusedColumnsWarning",
]


class PinesyError(Exception):
    """Base of every error that pinesy raises on purpose.

    What one carries beside its message has a default, so that it survives pickling.
    """


@contextmanager
def placed(where: str) -> Iterator[None]:
    """Put a location, such as ``"batch 3"``, before the message of any of these errors."""
    try:
        yield
    except PinesyError as error:
        error.args = (f"{where}: {error}", *error.args[1:])
        raise


class DomainError(PinesyError):
    """A value, attribute or subset does not fit a domain."""


class ShapeError(DomainError, ValueError):
    """Arrays whose shapes do not fit together; a `ValueError` too, as NumPy's own."""


class DegreeError(PinesyError):
    """A degree or distribution is not what possibility theory asks for."""


class InconsistentSystemError(PinesyError):
    """A solution was asked of a system of equations that has none.

    Attributes
    ----------
    distance : float
        The Chebyshev distance to the nearest second member for which there is a solution.
    """

    def __init__(self, message: str, distance: float = 0.0) -> None:
        super().__init__(message)
        self.distance = distance


class LearningError(PinesyError):
    """No sample is reliable enough to learn the parameters of a rule set from.

    Attributes
    ----------
    rule_set : str
        The output attribute of the set.
    smallest : float
        The smallest distance ``nabla`` of a sample: any tolerance above it keeps some.
    """

    def __init__(self, message: str, rule_set: str = "", smallest: float = 0.0) -> None:
        super().__init__(message)
        self.rule_set = rule_set
        self.smallest = smallest


class RuleSetError(PinesyError):
    """A rule, or a set of rules, cannot mean anything."""


class CascadeError(PinesyError):
    """Rule sets do not chain: a cycle, two sets for one attribute, an unknown name."""


class UnknownAttributeError(CascadeError, KeyError):
    """A name that no attribute has; a `KeyError` too, so that results are proper mappings."""

    __str__ = Exception.__str__  # KeyError's own would put the message in quotes


class UnreachableError(PinesyError):
    """No change of the inputs, of the kind asked for, makes a value win, or none was found.

    Attributes
    ----------
    proven : bool
        Whether there is none of that kind; if not, the search was given up.
    """

    def __init__(self, message: str, proven: bool = True) -> None:
        super().__init__(message)
        self.proven = proven


class DataError(PinesyError):
    """Data do not fit together, or a data or model file cannot be read or written."""


class MissingPackageError(DataError, ModuleNotFoundError):
    """A package is not installed that an extra of pinesy has; a `ModuleNotFoundError` too."""

    __str__ = Exception.__str__  # ImportError's own would not see what `placed` adds


@contextmanager
def needing(extra: str, purpose: str, other: str = "") -> Iterator[None]:
    """Turn a failed import into an error with its purpose, the extra to install, and a way out."""
    try:
        yield
    except ImportError as error:
        raise MissingPackageError(
            f"{purpose} {error.name}, which is not installed; pip install 'pinesy[{extra}]'{other}",
            name=error.name,
        ) from None


class DataWarning(UserWarning):
    """A part of the data was not used: the message names the part and the cure."""


class UnusedColumnsWarning(DataWarning):
    """Data have columns that no rule uses; they are ignored."""


class TableError(DataError, ValueError):
    """A table or array that a classifier cannot use; a `ValueError` too, as scikit-learn's own."""


class RulesTextError(DataError):
    """Text in the ``.rules`` format that cannot be read.

    Attributes
    ----------
    line, column : int
        Where the offending text starts, counted from 1.
    """

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
