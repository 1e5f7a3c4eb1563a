"""Groups of samples: a column, or conditions that may overlap."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pinesy._common.validation import BoolArray, listed, suggestion
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
        column, is_blank = _names(groups)
        if column.shape != (n,):
            raise ShapeError(
                f"groups has shape {np.shape(groups)}; name the group of each of {n} samples, or "
                "give a dict of conditions"
            )
        present = tuple(np.unique(column[~is_blank]).tolist())
        names = known or present
        if not names:
            raise DataError("groups is blank for every sample; name at least one group")
        for name in present:
            if name not in names:
                raise DataError(
                    f"group {name!r} was never calibrated{suggestion(name, names)}; calibrated are "
                    f"{listed(list(names))}. Calibrate on samples of it, or leave it blank: a "
                    "blank sample has the largest set of all groups"
                )
        certain = (column[:, None] == np.array(names)) & ~is_blank[:, None]
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


def _names(groups: Any) -> tuple[npt.NDArray[np.str_], BoolArray]:
    """Return names of groups as text, and which are blank: None, NaN and empty texts."""
    entries = groups if isinstance(groups, np.ndarray) else np.asarray(groups, dtype=object)
    entries = np.atleast_1d(entries)
    if entries.dtype.kind == "f" and (np.isnan(entries) | (entries == np.rint(entries))).all():
        integers = np.nan_to_num(entries).astype(np.int64).astype(object)
        entries = np.asarray(np.where(np.isnan(entries), np.array(None), integers))  # 2.0 is 2
    entries = entries.astype(object)
    is_blank = _is_missing(entries)
    names = np.where(is_blank, "", entries).astype(str)
    return names, is_blank | (np.char.strip(names) == "")


def _is_missing(entries: npt.NDArray[Any]) -> BoolArray:
    """Return which objects are None or NaN, which does not equal itself."""
    return np.asarray((entries == None) | (entries != entries), dtype=np.bool_)  # noqa: E711


def _condition(content: Any, name: str, n: int) -> tuple[BoolArray, BoolArray]:
    """Return where a condition is known to hold, and where it may hold."""
    entries = np.atleast_1d(np.asarray(content, dtype=object))
    if entries.shape != (n,):
        raise ShapeError(f"condition {name!r} has shape {entries.shape}; give one of {n} samples")
    is_blank = _is_missing(entries)
    holds = np.asarray(entries == True, dtype=np.bool_)  # noqa: E712
    wrong = ~(holds | is_blank | np.asarray(entries == False, dtype=np.bool_))  # noqa: E712
    if wrong.any():
        entry = entries[int(wrong.argmax())]
        raise DataError(f"condition {name!r} has {entry!r:.60}; it holds (True) or not (False)")
    return holds, holds | is_blank
