"""Groups of samples: a column, or conditions that may overlap."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pinesy._common.validation import BoolArray, listed, object_array, suggestion
from pinesy.exceptions import DataError, ShapeError

#: The name of the group of all samples.
ALL_SAMPLES = "all samples"
#: A column with the name of a group for each sample, or by name whether each sample is in a group.
Groups = Any


@dataclass(frozen=True, eq=False)
class Memberships:
    """Which groups samples are in.

    Attributes
    ----------
    names : of the groups
    certain : whether a sample is known to be in a group, shape ``(n, groups)``
    possible : the same, or unknown because its entry is blank
    overlapping : whether conditions were given, not a column
    """

    names: tuple[str, ...]
    certain: BoolArray
    possible: BoolArray
    overlapping: bool

    @classmethod
    def of(cls, groups: Groups, n: int, known: tuple[str, ...] | None = None) -> "Memberships":
        """Return the groups of `n` samples; of new samples all must be `known` from calibration."""
        if isinstance(groups, Mapping):
            return cls._of_conditions(groups, n, known)
        column = object_array([_name(entry) for entry in np.asarray(groups, object).ravel()])
        if np.shape(groups) not in ((n,), ()) or len(column) != n:
            raise ShapeError(
                f"groups has shape {np.shape(groups)}; name the group of each of {n} samples, or "
                "give a dict of conditions"
            )
        names = known or tuple(sorted({name for name in column if name is not None}))
        if not names:
            raise DataError("groups is blank for every sample; name at least one group")
        for name in dict.fromkeys(column):
            if name is not None and name not in names:
                raise DataError(
                    f"group {name!r} was never calibrated{suggestion(name, names)}; calibrated are "
                    f"{listed(list(names))}. Calibrate on samples of it, or leave it blank: a "
                    "blank sample has the largest set of all groups"
                )
        certain = column[:, None] == object_array(names)
        is_blank = np.array([name is None for name in column], dtype=np.bool_)
        return cls(names, certain, certain | is_blank[:, None], False)

    @classmethod
    def _of_conditions(
        cls, groups: Mapping[Any, Any], n: int, known: tuple[str, ...] | None
    ) -> "Memberships":
        by_name = {str(name): content for name, content in groups.items()}
        names = known or tuple(by_name)
        for name in by_name:
            if name not in names:
                raise DataError(
                    f"condition {name!r} was never calibrated{suggestion(name, names)}; calibrated "
                    f"are {listed(list(names))}"
                )
        certain = np.zeros((n, len(names)), dtype=np.bool_)
        possible = np.ones((n, len(names)), dtype=np.bool_)  # one that is not given is unknown
        for index, name in enumerate(names):
            if name in by_name:
                certain[:, index], possible[:, index] = _condition(by_name[name], name, n)
        return cls(names, certain, possible, True)


def _name(entry: object) -> str | None:
    """Return the name of a group; None for a blank: None, NaN and an empty text."""
    if entry is None or entry != entry or (isinstance(entry, str) and not entry.strip()):
        return None
    return str(entry)


def _condition(content: Any, name: str, n: int) -> tuple[BoolArray, BoolArray]:
    """Return where a condition is known to hold, and where it may hold."""
    entries = np.atleast_1d(np.asarray(content, dtype=object))
    if entries.shape != (n,):
        raise ShapeError(f"condition {name!r} has shape {entries.shape}; give one of {n} samples")
    is_blank = np.array([_name(entry) is None for entry in entries], dtype=np.bool_)
    values = np.where(is_blank, False, entries)
    wrong = [entry for entry in values.tolist() if entry not in (True, False)]
    if wrong:
        raise DataError(f"condition {name!r} has {wrong[0]!r:.60}; it holds (True) or not (False)")
    holds = values.astype(np.bool_)
    return holds, holds | is_blank
