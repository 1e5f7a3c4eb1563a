"""Checks of what sample generators are given."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy.exceptions import DataError, DomainError


def check_rng(rng: object) -> None:
    """Raise `DomainError` unless `rng` is a NumPy generator."""
    if not isinstance(rng, np.random.Generator):
        raise DomainError(
            f"rng is {rng!r:.60}; give a NumPy generator, such as numpy.random.default_rng(0)"
        )


def check_count(count: object, what: str, least: int = 1) -> int:
    """Return `count` as an int of at least `least`, or raise `DomainError`."""
    whole = isinstance(count, int | np.integer) and not isinstance(count, bool)
    if not whole or int(count) < least:  # type: ignore[call-overload]
        raise DomainError(f"{what} is {count!r:.60}; it must be a whole number, at least {least}")
    return int(count)  # type: ignore[call-overload, no-any-return]


def check_labels(labels: object) -> npt.NDArray[Any]:
    """Return `labels` as an array of one integer an image, or raise `DataError`."""
    array = np.asarray(labels)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise DataError(
            f"labels has shape {array.shape} and type {array.dtype}; it must hold one integer for "
            "each image"
        )
    return array
