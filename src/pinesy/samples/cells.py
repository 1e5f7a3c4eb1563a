"""How cells of a table are read, in every command: what is blank, a number, or a category."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Protocol

import numpy as np

from pinesy._common.validation import object_array
from pinesy.evidence.plain_values import is_missing

#: Texts that say that nothing is known, unless they are values of an attribute.
BLANK_WORDS = frozenset(
    ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None"]
)
_WHOLE = re.compile(r"[-+]?\d{1,18}")


class NumberReader(Protocol):
    """What reads numbers, such as `FileOptions`."""

    def number(self, text: str) -> float:
        """Read a number; raise `ValueError` if it is none."""


def is_blank(entry: object) -> bool:
    """Return whether an entry says that nothing is known: None, NaN, or a blank word.

    Examples
    --------
    >>> [is_blank(entry) for entry in (None, float("nan"), " ", "NA", "no", 0)]
    [True, True, True, True, False, False]
    """
    if isinstance(entry, str):
        return entry.strip() in BLANK_WORDS
    return not isinstance(entry, dict | list) and is_missing(entry)


def read_column(entries: Sequence[Any], options: NumberReader) -> Any:
    """Return the entries of a column as numbers, if all are, else as values; blanks are unknown.

    Examples
    --------
    >>> from pinesy.samples.file_layout import FileOptions
    >>> read_column(["1.5", "NA"], FileOptions()).tolist(), read_column([" a", "1"], FileOptions())
    ([1.5, nan], array(['a', '1'], dtype=object))
    """
    cells = [None if is_blank(e) else e.strip() if isinstance(e, str) else e for e in entries]
    known = [cell for cell in cells if cell is not None]
    if not known or not all(type(cell) in (str, int, float) for cell in known):
        return object_array(cells)
    with suppress(ValueError, OverflowError):
        if len(known) == len(cells) and all(_WHOLE.fullmatch(str(cell)) for cell in known):
            return np.array([int(cell) for cell in known], dtype=np.int64)
        return np.array([np.nan if c is None else options.number(str(c)) for c in cells])
    return object_array(cells)
