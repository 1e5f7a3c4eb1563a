"""Plain text in columns, and tables for who has pandas."""

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from pinesy.exceptions import DataError


def text_table(lines: Iterable[Sequence[str]]) -> str:
    """Return lines of cells as text, each column as wide as its widest cell.

    Examples
    --------
    >>> print(text_table([["rule", "s"], ["1", "0.25"]]))
    rule  s
    1     0.25
    """
    lines = list(lines)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def data_frame(content: Any) -> Any:
    """Return a pandas DataFrame of what one is made of, or say what to install."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise DataError(
            "to_frame needs pandas; install it with: pip install 'pinesy[frame]'"
        ) from None
    return pandas.DataFrame(content)
