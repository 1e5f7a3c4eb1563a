"""Checks shared by all layers: one wording, the value and the cure in every message."""

import difflib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from pinesy.exceptions import DegreeError

FloatArray = npt.NDArray[np.float64]


def suggestion(name: object, known: Iterable[object]) -> str:
    """Return ``"; did you mean 'x'?"`` if a known name is near, else the known names."""
    names = [str(k) for k in known]
    near = difflib.get_close_matches(str(name), names, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    shown = ", ".join(names[:8]) + (f", ... ({len(names)} in all)" if len(names) > 8 else "")
    return f"; known: {shown or 'none'}"


def check_degree(degree: object, what: str) -> float:
    """Return `degree` as a float of [0, 1] (-0.0 becomes 0.0), or raise `DegreeError`."""
    try:
        number = float("nan" if isinstance(degree, str | bytes) else degree)  # type: ignore[arg-type]
    except (OverflowError, TypeError, ValueError):
        raise DegreeError(f"{what} is {degree!r:.60}; it must be a number in [0, 1]") from None
    if not 0.0 <= number <= 1.0:
        raise DegreeError(f"{what} is {degree!r:.60}; it must be a number in [0, 1]")
    return number + 0.0


def check_distribution(degrees: FloatArray, domain: tuple[object, ...], where: str) -> None:
    """Raise `DegreeError` unless `degrees` is a normalised possibility distribution.

    Parameters
    ----------
    degrees : array of shape ``(len(domain),)``
    domain : the values that the degrees belong to, for the message
    where : the place, such as ``"attribute 'left', row 3"``
    """
    for value, degree in zip(domain, degrees.tolist(), strict=True):
        check_degree(degree, f"{where}: the possibility of {value!r}")
    top = float(degrees.max())
    if top != 1.0:
        raise DegreeError(
            f"{where}: the distribution is not normalised (its largest degree is {top!r}); some "
            "value must have possibility exactly 1: divide by the largest degree, or make "
            "possibilities from probabilities with pinesy.antipignistic"
        )
